package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
)

// LowRank describes maps of low rank that are trained beside those of attentions, which stand still (LoRA, Hu et al. 2022):
// places go through W + (Alpha/Rank)·A·B, with A [channels×Rank] and B [Rank×channels].
type LowRank struct {
	Rank  int
	Alpha float64
	// Targets are the maps: query, key, value and dense, the one of what heads have seen.
	Targets []string
	// FreezeA keeps A as it was drawn, so that the sum is linear in what is trained (FFA-LoRA, Sun et al. 2024).
	FreezeA bool
}

// lowRankTargets are all maps of an attention. The first three stand side by side.
var lowRankTargets = []string{"query", "key", "value", "dense"}

// WithLowRank returns s with such maps and the head trained, and all else frozen. Its error says what does not fit.
//
// Guarantee: that of [Spec.Trainable].
func (s Spec) WithLowRank(low LowRank) (Spec, error) {
	switch {
	case low.Rank < 1 || low.Rank > maxNumber:
		return s, fmt.Errorf("nn: a rank of %d is not between 1 and %d", low.Rank, maxNumber)
	case !(low.Alpha >= 1e-6 && low.Alpha <= 1e6):
		return s, fmt.Errorf("nn: an alpha of %v is not between 10⁻⁶ and 10⁶", low.Alpha)
	case len(low.Targets) == 0:
		return s, fmt.Errorf("nn: no maps are named; choose among query, key, value and dense")
	}
	for i, t := range low.Targets {
		if !slices.Contains(lowRankTargets, t) || slices.Contains(low.Targets[:i], t) {
			return s, fmt.Errorf("nn: %q names no map of an attention, or one twice; choose among query, key, value and dense", clipped(t))
		}
	}
	for _, o := range s.Layers {
		if c := o.Out.Channels; o.attends() && low.Rank > c {
			return s, fmt.Errorf("nn: a rank of %d is more than the %d channels of %s", low.Rank, c, o.Text)
		}
	}
	s.frozen.low = low
	blocks := s.blocks()
	return s.between(blocks[len(blocks)-1], lowRank)
}

func (l LowRank) scale() float64 { return l.Alpha / float64(l.Rank) }

// has reports whether a map has another beside it.
func (l LowRank) has(target string) bool { return slices.Contains(l.Targets, target) }

// added counts the values of the maps beside a part's.
func (p placed) added(low LowRank) (n int) {
	switch l := p.layerSpec.(type) {
	case attentionSpec:
		return 2 * len(low.Targets) * low.Rank * p.in.Channels
	case residualSpec:
		for _, within := range l.layers {
			n += within.added(low)
		}
	}
	return n
}

// outline adds the maps to the outline of an attention: what they are, their gradients, and what they are made with.
func (l LowRank) outline(o *Outline) {
	if !o.attends() {
		return
	}
	c, r := o.Out.Channels, l.Rank
	for _, name := range lowRankTargets {
		if l.has(name) {
			o.LowRank = append(o.LowRank, Tensor{Name: name + ".lora_a", Shape: []int{c, r}, Still: l.FreezeA}, Tensor{Name: name + ".lora_b", Shape: []int{r, c}})
		}
	}
	places, within := int64(o.Out.Height), int64((c+1)*(r+1))
	more := 2 * (places*int64(c+2*r) + within) // for the first three, and for the last
	o.Floats += more
	o.Back += more
	o.Once += int64(4*c*c + 2*(c*c+c*r))
}

// attends reports whether the layer is an attention.
func (o *Outline) attends() bool { return len(o.Tensors) > 0 && o.Tensors[0].Name == "in_weight" }

// lowMap is a map of low rank beside some columns of another.
type lowMap struct {
	first int            // column
	a, b  compute.Buffer // [in×rank], [rank×columns]
	at    int            // of its gradient in a row's; a's comes first, where that is trained
}

// adapted is a map of places whose own weights W stand still, with maps of low rank beside it.
type adapted struct {
	*conv
	low     LowRank
	columns int // of each of the maps
	maps    []lowMap
	site    *formedSite

	sum    compute.Buffer // [in×out]: W and the products of the maps
	block  compute.Buffer // [in×columns] of it
	a      compute.Buffer // an a, scaled
	d      compute.Buffer // gradients by a map's columns [rows×places×columns]; none where these are all
	up     compute.Buffer // what an a makes of places [rows×places×rank]
	down   compute.Buffer // gradients by that
	formed compute.Buffer // of a or b, with those by biases that they do not have
}

// adapt returns a map of places with maps of low rank beside some of its blocks of columns, or the map itself where none is
// wanted.
func adapt(b *builder, c *conv, targets ...string) Layer {
	if b.how != lowRank || !slices.ContainsFunc(targets, b.low.has) {
		return c
	}
	in, r, at := c.window.Channels, b.low.Rank, 0
	l := &adapted{conv: c, low: b.low, columns: c.channels / len(targets)}
	for i, name := range targets {
		if !b.low.has(name) {
			continue
		}
		m := lowMap{first: i * l.columns, at: at}
		if at += r * l.columns; !b.low.FreezeA {
			at += in * r
		}
		l.maps = append(l.maps, m)
	}
	l.site = newFormedSite(b, at, nil)
	for i := range l.maps {
		m, p := &l.maps[i], &arena{l.site.p}
		p.take(m.at)
		if b.low.FreezeA {
			m.a = b.still.take(in * r)
		} else {
			m.a = p.take(in * r)
		}
		m.b = p.take(r * l.columns)
	}
	places := c.window.Places()
	l.sum, l.block, l.a = b.be.New(in*c.channels), b.be.New(in*l.columns), b.be.New(in*r)
	if l.columns < c.channels {
		l.d = b.rows(places * l.columns)
	}
	l.up, l.down, l.formed = b.rows(places*r), b.rows(places*r), b.rows(max((in+1)*r, (r+1)*l.columns))
	return l
}

func (l *adapted) Sites() []Site { return []Site{l.site} }

// Forward adds the products of the maps to W anew, as they may have moved.
func (l *adapted) Forward(x compute.Buffer, n int) compute.Buffer {
	in, out, r := l.window.Channels, l.channels, l.low.Rank
	kernel.Copy(l.be, in*out, l.sum, l.w)
	for _, m := range l.maps {
		kernel.Columns(l.be, in, l.columns, out, l.w.Slice(m.first, in*out-m.first), l.columns, l.block)
		l.scaled(m)
		kernel.Gemm(l.be, kernel.NoTrans, kernel.NoTrans, in, l.columns, r, l.a, m.b, 1, l.block)
		kernel.Columns(l.be, in, l.columns, l.columns, l.block, out, l.sum.Slice(m.first, in*out-m.first))
	}
	return l.forward(x, n, l.sum)
}

// scaled has a hold that of a map, times Alpha/Rank.
func (l *adapted) scaled(m lowMap) {
	kernel.Copy(l.be, m.a.Len(), l.a, m.a)
	kernel.Scale(l.be, m.a.Len(), float32(l.low.scale()), l.a)
}

func (l *adapted) Backward(dy compute.Buffer, want bool) compute.Buffer {
	l.site.rows = l.n
	l.site.gather(func(_, n int, dst compute.Buffer) {
		if n == 0 {
			return
		}
		for _, m := range l.maps {
			l.formMap(m, n, dy, dst)
		}
	})
	return l.backward(dy, want, l.sum)
}

// formMap writes the gradients by a map of n rows to its place in dst: with s = Alpha/Rank, xᵀ(δBᵀ)s by A and (xA)ᵀδs by B,
// summed over places.
func (l *adapted) formMap(m lowMap, n int, dy, dst compute.Buffer) {
	be, in, r, size := l.be, l.window.Channels, l.low.Rank, l.site.p.Len()
	places := l.window.Places()
	rows, d := n*places, dy
	if l.columns < l.channels {
		d = l.d
		kernel.Columns(be, rows, l.columns, l.channels, dy.Slice(m.first, rows*l.channels-m.first), l.columns, d)
	}
	part := func(at, length, bare int) { // the gradients by a matrix alone
		kernel.Columns(be, n, length, bare, l.formed, size, dst.Slice(at, n*size-at))
	}
	at := m.at
	if !l.low.FreezeA {
		kernel.Gemm(be, kernel.NoTrans, kernel.Transpose, rows, r, l.columns, d, m.b, 0, l.down)
		kernel.Scale(be, rows*r, float32(l.low.scale()), l.down)
		picture.ConvWeights(be, l.window, n, r, l.x, l.down, l.formed)
		part(at, in*r, (in+1)*r)
		at += in * r
	}
	l.scaled(m)
	kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, rows, r, in, l.x, l.a, 0, l.up)
	w := l.window
	w.Channels = r
	picture.ConvWeights(be, w, n, l.columns, l.up, d, l.formed)
	part(at, r*l.columns, (r+1)*l.columns)
}

// Init draws the As from −1/√channels to 1/√channels, as PEFT does, and sets the Bs to 0, so that training begins with the
// model as it was.
func (l *adapted) Init(rng *rand.Rand) {
	for _, m := range l.maps {
		if !l.low.FreezeA {
			l.be.Write(m.a, drawA(rng, l.window.Channels, l.low.Rank))
		}
		kernel.Fill(l.be, m.b.Len(), 0, m.b)
	}
}

func drawA(rng *rand.Rand, in, rank int) []float32 {
	most := 1 / math.Sqrt(float64(in))
	v := make([]float32, in*rank)
	for i := range v {
		v[i] = float32(most * (2*rng.Float64() - 1))
	}
	return v
}
