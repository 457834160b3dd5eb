package nn

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
)

// TestTrainableIsAPart: what is frozen of models, by the layer before which that ends.
func TestTrainableIsAPart(t *testing.T) {
	mlp := chain(SoftmaxCE, "relu", 9, 8, 7, 5)
	for _, c := range []struct {
		spec  Spec
		what  string
		first string // layer that is trained, with all behind it
		at    int    // its number, from 0
	}{
		{mlp, "", "dense:8", 0},
		{mlp, "all", "dense:8", 0},
		{mlp, "head", "dense:5", 4},
		{mlp, "last:1", "dense:7", 2},
		{mlp, "last:2", "dense:8", 0},
		{chain(SoftmaxCE, "", 4, 3), "head", "dense:3", 0},
		{pictures[0], "head", "dense", 8},
		{pictures[0], "last:2", "conv:4:2:s2", 3},
		{pictures[2], "last:1", "wsconv:3:2:s2", 3}, // a norm is of the block before it
		{pictures[3], "last:1", "skip", 9},
		{pictures[3], "last:2", "skip:6:s2", 3},
		{pictures[3], "last:3", "conv:4:3:p1", 0},
		{sequences[0], "last:2", "embedding:4:5", 0},
		{sequences[5], "last:1", "attention:2", 2},
		{sequences[6], "head", "dense", 14},
		{sequences[6], "last:1", "skip", 2}, // the attention's, and not the last one
		{sequences[8], "last:1", "lstm:3", 3},
		{must(Read(Shape{Channels: 3}, []string{"tanh", "dense"}, 2, SoftmaxCE)), "head", "tanh", 0}, // nothing before it is trained anyway
		{must(Read(Shape{6, 5, 2}, []string{"avgpool:2", "conv:4:2", "relu", "flatten", "dense"}, 2, SoftmaxCE)), "last:1", "avgpool:2", 0},
		{must(Read(Shape{Channels: 3}, []string{"dense:4", "relu", "dense:2", "bias"}, 2, SoftmaxCE)), "head", "dense:2", 2}, // and its bias
	} {
		s, err := c.spec.Trainable(c.what)
		if err != nil {
			t.Fatalf("%s, %q: %v", written(c.spec), c.what, err)
		}
		if s.frozen.layers != c.at || s.Layers[c.at].Text != c.first {
			t.Errorf("%s, %q: %d layers are frozen, before %s; want %d, before %s", written(c.spec), c.what, s.frozen.layers, s.Layers[s.frozen.layers].Text, c.at, c.first)
		}
		if c.what == "head" && s.Frozen() > 0 && c.spec.Head() != c.at {
			t.Errorf("%s: the head begins with layer %d, and not %d", written(c.spec), c.spec.Head(), c.at)
		}
		New(purego.New(), s, 1, 1)
		frozen := 0
		for i, l := range s.Layers {
			was := c.spec.Layers[i]
			if l.Parameters+l.Frozen != was.Parameters || (l.Frozen > 0) && i >= c.at || (l.Parameters > 0) && i < c.at || l.Floats > was.Floats {
				t.Errorf("%s, %q: layer %d trains %d, and not %d of %d", written(s), c.what, i+1, l.Parameters, l.Frozen, was.Parameters)
			}
			frozen += l.Frozen
		}
		if frozen != s.Frozen() || s.Params()+s.Frozen() != c.spec.Params() {
			t.Errorf("%s, %q: %d trained and %d frozen of %d", written(s), c.what, s.Params(), s.Frozen(), c.spec.Params())
		}
	}
	for _, c := range []struct {
		spec       Spec
		what, says string
	}{
		{mlp, "last:3", "there are 2 blocks"},
		{mlp, "last:0", "there are 2 blocks"},
		{mlp, "last:-1", "there are 2 blocks"},
		{mlp, "last:99999999999999999999", "there are 2 blocks"},
		{mlp, "last:", "there are 2 blocks"},
		{mlp, "Head", "names no part of a model; write all, head"},
		{mlp, "last", "names no part of a model; write all, head"},
		{chain(SoftmaxCE, "", 4, 3), "last:1", "there are 0 blocks"},
		{sequences[6], "last:2", "there are 1 blocks"},
	} {
		if _, err := c.spec.Trainable(c.what); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %q: %v, want …%s…", written(c.spec), c.what, err, c.says)
		}
	}
}

// TestFrozenLayersAreNotTrained: a model of which a part is trained has the outputs and losses of the whole one, to the
// bit, and each row's gradient is the whole one's by the parameters that are trained.
func TestFrozenLayersAreNotTrained(t *testing.T) {
	const n = 7
	for name, open := range computetest.Backends(t) {
		for _, spec := range partly {
			be := open()
			whole := spec
			whole.Layers = slices.Clone(spec.Layers)
			for i := range whole.frozen.layers {
				whole.Layers[i].Parameters = whole.Layers[i].Frozen
			}
			whole.params, whole.frozen = spec.params+spec.Frozen(), frozen{}
			b := randomBatch(rand.New(rand.NewPCG(7, 7)), spec, n)
			part, all := newModel(t, be, spec, n), newModel(t, be, whole, n)
			still := spec.Frozen()
			be.Write(all.All(), slices.Concat(read(t, be, part.Still(), still), read(t, be, part.All(), spec.Params())))
			for i := range n {
				one, other := measure(t, be, part, b, []int{0, 1, 2, 3, 4, 5, 6}, i)(), measure(t, be, all, b, []int{0, 1, 2, 3, 4, 5, 6}, i)()
				// The sums' two halves come tensor by tensor, those of the last ones last.
				other.gradient, other.norm = other.gradient[2*still:], one.norm
				if !one.equal(other) {
					t.Errorf("%s, %s: row %d has another gradient than in the whole model", name, written(spec), i)
				}
			}
			be.Close()
		}
	}
}

// TestFrozenLayersTakeNoMemoryForGradients: what a model makes on its backend is less than the whole one by no less than outlines
// say.
func TestFrozenLayersTakeNoMemoryForGradients(t *testing.T) {
	for _, spec := range partly {
		const n = 50
		held := func(s Spec) int {
			c := &counting{Backend: purego.New()}
			defer c.Close()
			New(c, s, n, 1)
			return c.values
		}
		whole := must(Read(spec.Input, texts(spec), spec.Outputs(), spec.Loss))
		less, said := held(whole)-held(spec), n*(whole.Floats(1)-spec.Floats(1))
		said -= n * int64(spec.Input.Len()) // that by the inputs is not made, and counted
		if int64(less) < said {
			t.Errorf("%s: %d values less than the whole model, and its outlines say %d", written(spec), less, said)
		}
	}
}

// counting counts the values that are asked for.
type counting struct {
	compute.Backend
	values int
}

func (c *counting) New(n int) compute.Buffer {
	c.values += n
	return c.Backend.New(n)
}

func texts(s Spec) []string {
	var all []string
	for _, l := range s.Layers {
		all = append(all, l.Text)
	}
	return all
}

// TestPartsOfLayersHaveTheirGradients: a model of whose layers the biases, or maps of low rank, are trained has the outputs of
// the whole model with the parameters that [Spec.Join] makes of both, and each row's gradient follows from that model's: by
// biases it is the same, by a map A·B with s before it s·G·Bᵀ and s·Aᵀ·G, with G by the weights beside it.
func TestPartsOfLayersHaveTheirGradients(t *testing.T) {
	const n, tol = 4, 2e-5
	for name, open := range computetest.Backends(t) {
		t.Log("on " + name)
		for _, spec := range inPart {
			be := open()
			plain := must(Read(spec.Input, texts(spec), spec.Outputs(), spec.Loss))
			part, all := newModel(t, be, spec, n), New(be, plain, n, 1)
			still, trained := read(t, be, part.Still(), spec.Frozen()), read(t, be, part.All(), spec.Params())
			joined := spec.Join(still, trained)
			if spec.Total() != plain.Params() || len(joined) != plain.Params() {
				t.Fatalf("%s: %d parameters joined, %d counted, of %d", written(spec), len(joined), spec.Total(), plain.Params())
			}
			be.Write(all.All(), joined)
			b := randomBatch(rand.New(rand.NewPCG(7, 7)), spec, n)
			for i := range n {
				factors := make([]float32, n)
				factors[i] = 1
				got, of := gradients(t, be, part, b, n, factors), gradients(t, be, all, b, n, factors)
				near(t, name+", "+written(spec)+": outputs", read(t, be, part.Predictions(), n*spec.Outputs()), wide(read(t, be, all.Predictions(), n*spec.Outputs())), tol)
				near(t, name+", "+written(spec)+": gradient", got, partOf(spec, trained, still, of), tol)
			}
			be.Close()
		}
	}
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// partOf returns the gradient by the parameters that are trained, in part, as it follows from one by all weights and biases.
func partOf(spec Spec, trained, still, by []float32) (all []float64) {
	next := func(from *[]float32, n int) []float32 {
		v := (*from)[:n]
		*from = (*from)[n:]
		return v
	}
	for _, l := range spec.Layers {
		own := by
		for _, t := range l.Tensors {
			if g := next(&by, t.Len()); t.Still {
				next(&still, t.Len())
			} else {
				all = append(all, wide(g)...)
				next(&trained, t.Len())
			}
		}
		for i := 0; i < len(l.LowRank); i += 2 {
			ta := l.LowRank[i]
			c, r, s := ta.Shape[0], ta.Shape[1], spec.frozen.low.Alpha/float64(ta.Shape[1])
			a := &trained
			if ta.Still {
				a = &still
			}
			va, vb := next(a, c*r), next(&trained, r*c)
			at := func(i, j int) float64 { // by the weights of the map
				if target := strings.TrimSuffix(ta.Name, ".lora_a"); target != "dense" {
					return float64(own[i*3*c+map[string]int{"query": 0, "key": c, "value": 2 * c}[target]+j])
				}
				return float64(own[3*c*(c+1)+i*c+j])
			}
			for i := 0; i < c*r && !ta.Still; i++ {
				g := 0.0
				for j := range c {
					g += s * at(i/r, j) * float64(vb[i%r*c+j])
				}
				all = append(all, g)
			}
			for i := range r * c {
				g := 0.0
				for j := range c {
					g += s * float64(va[j*r+i/c]) * at(j, i%c)
				}
				all = append(all, g)
			}
		}
	}
	return all
}

// TestStartIsWhatJoinGives: a model in part that has started from parameters has these, with its maps of low rank adding
// nothing yet.
func TestStartIsWhatJoinGives(t *testing.T) {
	for _, spec := range slices.Concat(partly, inPart) {
		be := purego.New()
		m := New(be, spec, 1, 1)
		m.Init(rand.New(rand.NewPCG(1, 2)))
		given := make([]float32, spec.Total())
		for i := range given {
			given[i] = float32(i) + 0.5
		}
		still := m.Start(given, rand.New(rand.NewPCG(3, 4)))
		if got := read(t, be, m.Still(), spec.Frozen()); !slices.Equal(got, still) {
			t.Errorf("%s: what stands still is not what Start says", written(spec))
		}
		if got := spec.Join(still, read(t, be, m.All(), spec.Params())); !slices.Equal(got, given) {
			t.Errorf("%s: the model does not have what it was given", written(spec))
		}
		head := 0
		for _, l := range spec.Layers[spec.Head():] {
			for _, t := range l.Tensors {
				head += t.Len()
			}
		}
		last := read(t, be, m.All(), spec.Params())
		if m.Start(make([]float32, len(given)-head), rand.New(rand.NewPCG(3, 4))); !slices.Equal(read(t, be, m.All(), spec.Params())[len(last)-head:], last[len(last)-head:]) {
			t.Errorf("%s: parameters without a head changed the head", written(spec))
		}
		be.Close()
	}
}
