package nn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
)

// smallModels returns the models that the laws run on: every layer is in one of them.
func smallModels() []Spec {
	return append([]Spec{
		chain(SoftmaxCE, "", 7, 3),
		chain(Squared, "", 5, 2),
		chain(SoftmaxCE, "relu", 9, 17, 10),
		chain(SigmoidBCE, "tanh", 33, 12, 6, 4),
		chain(Squared, "relu", 4, 8, 8, 1),
	}, slices.Concat(sequences, pictures, partly, inPart, formedAnew)...)
}

// eachModel runs f on every backend there is for all small models.
func eachModel(t *testing.T, f func(t *testing.T, be compute.Backend, spec Spec)) {
	for name, open := range computetest.Backends(t) {
		for _, spec := range smallModels() {
			t.Run(fmt.Sprintf("%s/%s/%s", name, written(spec), spec.Loss), func(t *testing.T) {
				be := open()
				defer be.Close()
				f(t, be, spec)
			})
		}
	}
}

// chain is a list of dense layers with an activation between each two.
func chain(loss Loss, activation string, widths ...int) Spec {
	var layers []string
	for i, w := range widths[1:] {
		if i > 0 {
			layers = append(layers, activation)
		}
		layers = append(layers, fmt.Sprintf("dense:%d", w))
	}
	return must(Read(Shape{Channels: widths[0]}, layers, widths[len(widths)-1], loss))
}

func must(s Spec, err error) Spec {
	if err != nil {
		panic(err)
	}
	return s
}

// pictures are models with every layer that works on them.
var pictures = []Spec{
	must(Read(Shape{6, 5, 2}, []string{"conv:3:3:p1", "relu", "maxpool:2:s1", "conv:4:2:s2", "tanh", "flatten", "dense:7", "tanh", "dense"}, 3, SoftmaxCE)),
	must(Read(Shape{8, 8, 1}, []string{"avgpool:2:s1", "conv:5:4:s2:p2", "tanh", "avgpool:2", "conv:6:1", "relu", "globalpool", "dense"}, 4, SigmoidBCE)),
	must(Read(Shape{7, 6, 2}, []string{"wsconv:4:3:p1", "groupnorm:2", "tanh", "wsconv:3:2:s2", "tanh", "flatten", "dense"}, 3, SoftmaxCE)),
	must(Read(Shape{6, 6, 1}, []string{
		"conv:4:3:p1", "groupnorm:2", "tanh", "skip:6:s2", "conv:6:3:s2:p1", "groupnorm:3", "tanh", "conv:6:3:p1", "add",
		"skip", "bias", "conv:6:1", "add", "tanh", "globalpool", "dense",
	}, 2, Squared)),
}

// sequences are models whose rows are tokens.
var sequences = []Spec{
	must(Read(Shape{Channels: 7}, []string{"embedding:4:5", "conv:3:1", "tanh", "globalpool", "dense"}, 3, SoftmaxCE)),
	must(Read(Shape{Channels: 2}, []string{"embedding:9:2", "bias", "flatten", "dense"}, 2, Squared)),
	must(Read(Shape{Channels: 9}, []string{"embedding:6:3", "mean", "dense"}, 3, SoftmaxCE)),
	must(Read(Shape{Channels: 6}, []string{"embedding:5:4", "conv1d:3:2", "tanh", "conv1d:4:3", "relu", "mean", "dense"}, 3, SoftmaxCE)),
	must(Read(Shape{Channels: 5}, []string{"embedding:30:4", "skip", "conv:4:1", "tanh", "add", "mean", "tanh", "dense"}, 2, SigmoidBCE)),
	must(Read(Shape{Channels: 4}, []string{"embedding:5:4", "position", "attention:2", "gelu", "mean", "dense"}, 2, Squared)),
	must(Read(Shape{Channels: 5}, []string{
		"embedding:6:6", "position", "skip", "layernorm:e12", "attention:3", "add", "skip", "layernorm", "conv1d:8:1", "gelu", "conv1d:6:1", "add", "layernorm", "mean", "dense",
	}, 3, SoftmaxCE)),
	must(Read(Shape{Channels: 5}, []string{"embedding:3:4:t2", "position", "attention:2", "mean", "dense"}, 3, SoftmaxCE)),
	must(Read(Shape{Channels: 5}, []string{"embedding:6:3", "lstm:4", "tanh", "lstm:3", "last", "dense"}, 3, SoftmaxCE)),
	must(Read(Shape{Channels: 6}, []string{"embedding:4:3", "skip:4", "lstm:4", "add", "conv1d:3:2", "first", "dense"}, 2, Squared)),
}

// partly are models of which a part is trained.
var partly = []Spec{
	must(chain(SoftmaxCE, "relu", 9, 8, 7, 5).Trainable("head")),
	must(pictures[0].Trainable("last:1")),
	must(pictures[2].Trainable("last:1")),
	must(pictures[3].Trainable("last:2")),
	must(sequences[5].Trainable("head")),
	must(sequences[6].Trainable("last:1")),
	must(sequences[8].Trainable("last:1")),
}

// inPart are models of whose layers before the head a part is trained.
var inPart = []Spec{
	must(chain(SoftmaxCE, "relu", 9, 8, 7, 5).Trainable("biases")),
	must(pictures[2].Trainable("biases")),
	must(pictures[3].Trainable("biases")),
	must(sequences[6].Trainable("biases")),
	must(sequences[8].Trainable("biases")),
	must(sequences[5].WithLowRank(LowRank{Rank: 2, Alpha: 3, Targets: []string{"value", "query"}})),
	must(sequences[6].WithLowRank(LowRank{Rank: 3, Alpha: 2, Targets: []string{"query", "key", "value", "dense"}})),
	must(sequences[6].WithLowRank(LowRank{Rank: 1, Alpha: 1, Targets: []string{"dense", "value"}, FreezeA: true})),
}

// formedAnew are models whose convolutions have room for the gradients of one, two, four or eight examples, some of
// each in one model.
var formedAnew = []Spec{
	pictures[0].FormedAnew(1),
	pictures[1].FormedAnew(180),
	pictures[2].FormedAnew(300),
	pictures[3].FormedAnew(400),
	sequences[6].FormedAnew(120),
	sequences[9].FormedAnew(100),
}

func written(s Spec) string {
	var all []string
	for _, l := range s.Layers {
		all = append(all, l.Text)
	}
	if s.frozen.listed > s.frozen.layers {
		all = slices.Insert(all, s.frozen.listed, "|")
	}
	if s.frozen.layers > 0 {
		all = slices.Insert(all, s.frozen.layers, "|")
	}
	if s.anew > 0 {
		all = append(all, fmt.Sprint("formed anew in ", s.anew))
	}
	return fmt.Sprint(s.Input, " ", strings.Join(all, " "))
}

// batch is random input for a spec.
type batch struct{ x, targets []float32 }

func randomBatch(rng *rand.Rand, spec Spec, n int) batch {
	in, out := spec.Input.Len(), spec.Outputs()
	b := batch{x: make([]float32, n*in)}
	for i := range b.x {
		b.x[i] = float32(rng.NormFloat64())
		if e, ok := spec.placed[0].layerSpec.(tokenSpec); ok {
			b.x[i] = float32(rng.IntN(e.vocabulary() + 1)) // the last is none
		}
	}
	width := out
	if spec.Loss == SoftmaxCE {
		width = 1
	}
	b.targets = make([]float32, n*width)
	for i := range b.targets {
		switch spec.Loss {
		case SoftmaxCE:
			b.targets[i] = float32(rng.IntN(out))
		case SigmoidBCE:
			b.targets[i] = float32(rng.IntN(2))
		default:
			b.targets[i] = float32(rng.NormFloat64())
		}
	}
	return b
}

func (b batch) row(i, n int) batch {
	in, width := len(b.x)/n, len(b.targets)/n
	return batch{b.x[i*in : (i+1)*in], b.targets[i*width : (i+1)*width]}
}

func buffer(be compute.Backend, v []float32) compute.Buffer {
	b := be.New(max(len(v), 1))
	be.Write(b, v)
	return b
}

func read(t *testing.T, be compute.Backend, b compute.Buffer, n int) []float32 {
	t.Helper()
	return fetch(t, be, b, n)()
}

func newModel(t *testing.T, be compute.Backend, spec Spec, capacity int) *Model {
	t.Helper()
	m := New(be, spec, capacity, 1)
	m.Init(rand.New(rand.NewPCG(1, 2)))
	var all []func() []float32
	for _, p := range m.Params() {
		all = append(all, fetch(t, be, p, p.Len()))
	}
	if n := spec.Frozen(); n > 0 {
		still, rng := make([]float32, n), rand.New(rand.NewPCG(4, 0))
		for i := range still {
			still[i] = float32(0.3 * rng.NormFloat64())
		}
		be.Write(m.Still(), still)
	}
	for i, p := range m.Params() { // biases and convex models start at zero: move them off it
		v := all[i]()
		rng := rand.New(rand.NewPCG(3, uint64(i)))
		for j := range v {
			v[j] += float32(0.1 * rng.NormFloat64())
		}
		be.Write(p, v)
	}
	return m
}

// gradients runs a batch and returns the (weighted) gradient sum, flattened.
func gradients(t *testing.T, be compute.Backend, m *Model, b batch, n int, factors []float32) []float32 {
	t.Helper()
	pass(be, m, b, n)
	dst := sums(be, m)
	var f []compute.Buffer
	if factors != nil {
		f = []compute.Buffer{buffer(be, factors)}
	}
	m.Add(dst, f, kernel.Plain())
	return flat(t, be, dst)
}

// formed are the gradients of a batch's rows, each by itself.
func formed(t *testing.T, be compute.Backend, m *Model, b batch, n int) (each [][]float32) {
	t.Helper()
	for i := range n {
		each = append(each, gradients(t, be, m, b.row(i, n), 1, nil))
	}
	return each
}

// sums are empty ones beside each of a model's parameters.
func sums(be compute.Backend, m *Model) []compute.Sums {
	var all []compute.Sums
	for _, p := range m.Params() {
		all = append(all, be.NewSums(p.Len()))
	}
	return all
}

// flat reads sums, one after the other, as float32: all at once, as a backend that is far
// away would be waited for at each.
func flat(t *testing.T, be compute.Backend, all []compute.Sums) []float32 {
	t.Helper()
	var out []float32
	for _, part := range split(t, be, all) {
		for i, high := range part[0]() {
			out = append(out, float32(float64(high)+float64(part[1]()[i])))
		}
	}
	return out
}

// split has the two parts of each sum brought over, which make it: see [kernel.Split].
func split(t *testing.T, be compute.Backend, all []compute.Sums) (parts [][2]func() []float32) {
	t.Helper()
	for _, s := range all {
		high, low := be.New(s.Len()), be.New(s.Len())
		kernel.Split(be, s.Len(), s, high, low)
		parts = append(parts, [2]func() []float32{fetch(t, be, high, s.Len()), fetch(t, be, low, s.Len())})
	}
	return parts
}

func pass(be compute.Backend, m *Model, b batch, n int) compute.Buffer {
	m.Forward(buffer(be, b.x), n, 1)
	losses := be.New(max(n, 1))
	m.Losses(buffer(be, b.targets), losses)
	m.Backward()
	return losses
}

func norm(v []float32) float64 {
	s := 0.0
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return math.Sqrt(s)
}

// TestGhostNormsEqualThoseOfFormedGradients holds both against the plain way: one example
// at a time, its gradient formed, measured, scaled and added up.
func TestGhostNormsEqualThoseOfFormedGradients(t *testing.T) {
	eachModel(t, func(t *testing.T, be compute.Backend, spec Spec) {
		const tol = 1e-5
		for _, n := range []int{0, 1, 2, 13} {
			rng := rand.New(rand.NewPCG(5, uint64(n)))
			b := randomBatch(rng, spec, n)
			m := newModel(t, be, spec, 16)
			factors := make([]float32, n)
			want := make([]float64, spec.Params())
			norms := make([]float64, n)
			for i := range n {
				factors[i] = rng.Float32()
				g := gradients(t, be, m, b.row(i, n), 1, nil)
				norms[i] = norm(g)
				for j, x := range g {
					want[j] += float64(factors[i]) * float64(x)
				}
			}
			pass(be, m, b, n)
			bounds := be.New(16)
			m.Norms([]compute.Buffer{bounds})
			for i, got := range read(t, be, bounds, n) {
				if math.Abs(float64(got)-norms[i]) > tol*norms[i] {
					t.Errorf("n=%d example %d: ghost norm %g, true norm %g", n, i, got, norms[i])
				}
			}
			got := gradients(t, be, m, b, n, factors)
			diff, size := 0.0, 0.0
			for j := range want {
				diff += (float64(got[j]) - want[j]) * (float64(got[j]) - want[j])
				size += want[j] * want[j]
			}
			if math.Sqrt(diff) > tol*math.Sqrt(size) {
				t.Errorf("n=%d: weighted sum is off by %g of %g", n, math.Sqrt(diff), math.Sqrt(size))
			}
		}
	})
}

// TestGradientsAreDerivatives compares with central differences of the loss, which are worked out
// where a pass is quickest: they take two for each parameter. That the losses are the same is
// compared as well.
func TestGradientsAreDerivatives(t *testing.T) {
	const n = 3
	passed := func(t *testing.T, be compute.Backend, spec Spec) (b batch, m *Model, losses, gradient []float32) {
		b = randomBatch(rand.New(rand.NewPCG(7, 7)), spec, n)
		m = newModel(t, be, spec, n)
		return b, m, read(t, be, pass(be, m, b, n), n), gradients(t, be, m, b, n, nil)
	}
	for _, spec := range smallModels() {
		fast := computetest.Fast(t)
		b, m, wantLosses, _ := passed(t, fast, spec)
		want := differences(t, fast, m, b, n)
		fast.Close()
		for name, open := range computetest.Backends(t) {
			t.Run(fmt.Sprintf("%s/%s/%s", name, written(spec), spec.Loss), func(t *testing.T) {
				be := open()
				defer be.Close()
				_, _, losses, gradient := passed(t, be, spec)
				for i, l := range losses {
					if w := float64(wantLosses[i]); math.Abs(float64(l)-w) > 1e-5*(1+math.Abs(w)) {
						t.Errorf("example %d: the loss is %g, want %g", i, l, w)
					}
				}
				bad := 0
				for j, d := range want {
					if math.Abs(d-float64(gradient[j])) > 2e-2*(1+math.Abs(d)) {
						bad++
					}
				}
				// A difference that straddles a ReLU's kink is not a derivative: a few may be off.
				if bad > spec.Params()/20 {
					t.Errorf("%d of %d derivatives are off", bad, spec.Params())
				}
			})
		}
	}
}

// differences are central ones of a batch's loss by each parameter.
func differences(t *testing.T, be compute.Backend, m *Model, b batch, n int) (all []float64) {
	t.Helper()
	const h = 1e-2
	x, targets, losses := buffer(be, b.x), buffer(be, b.targets), be.New(n)
	loss := func() (total float64) {
		m.Forward(x, n, 1)
		m.Losses(targets, losses)
		for _, l := range read(t, be, losses, n) {
			total += float64(l)
		}
		return total
	}
	for _, p := range m.Params() {
		v := read(t, be, p, p.Len())
		at := func(j int, value float32) float64 {
			old := v[j]
			v[j] = value
			be.Write(p, v)
			v[j] = old
			return loss()
		}
		for j, old := range v {
			all = append(all, (at(j, old+h)-at(j, old-h))/(2*h))
		}
		be.Write(p, v)
	}
	return all
}

// TestExamplesDoNotTouchEachOther: whatever one row holds, the others' norms and
// losses stay the same to the bit, and once dropped it adds nothing.
func TestExamplesDoNotTouchEachOther(t *testing.T) {
	poison := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 3e38, 1e-40}
	eachModel(t, func(t *testing.T, be compute.Backend, spec Spec) {
		const n, victim = 6, 2
		b := randomBatch(rand.New(rand.NewPCG(8, 8)), spec, n)
		m := newModel(t, be, spec, n)
		measure := func() (norms, losses []float32) {
			l := pass(be, m, b, n)
			bounds := be.New(n)
			m.Norms([]compute.Buffer{bounds})
			return read(t, be, bounds, n), read(t, be, l, n)
		}
		norms, losses := measure()
		keep := []float32{1, 1, 0, 1, 1, 1}
		want := gradients(t, be, m, b, n, keep)
		in := spec.Input.Len()
		for _, p := range poison {
			for j := range in {
				b.x[victim*in+j] = p
			}
			gotNorms, gotLosses := measure()
			for i := range n {
				if i != victim && (gotNorms[i] != norms[i] || gotLosses[i] != losses[i]) {
					t.Errorf("poison %g: example %d changed from (%g, %g) to (%g, %g)", p, i, norms[i], losses[i], gotNorms[i], gotLosses[i])
				}
			}
			k := buffer(be, keep)
			dst := sums(be, m)
			m.Add(dst, []compute.Buffer{k}, kernel.Plain())
			for at, x := range flat(t, be, dst) {
				if x != want[at] {
					t.Fatalf("poison %g: dropped example left a trace: %g, want %g", p, x, want[at])
				}
			}
		}
	})
}

// TestClampedSumsEqualOneExampleAtATime against one example at a time.
func TestClampedSumsEqualOneExampleAtATime(t *testing.T) {
	eachModel(t, func(t *testing.T, be compute.Backend, spec Spec) {
		const n, c = 9, 0.05
		b := randomBatch(rand.New(rand.NewPCG(9, 1)), spec, n)
		m := newModel(t, be, spec, n)
		want := make([]float64, spec.Params())
		for i := range n {
			for j, x := range gradients(t, be, m, b.row(i, n), 1, nil) {
				want[j] += min(max(float64(x), -c), c)
			}
		}
		pass(be, m, b, n)
		dst := sums(be, m)
		m.Add(dst, nil, kernel.Clamped(c))
		for at, x := range flat(t, be, dst) {
			if math.Abs(float64(x)-want[at]) > 1e-5*n*c {
				t.Fatalf("element %d is %g, want %g", at, x, want[at])
			}
		}
	})
}

// TestScaledNormsAreNeverTooSmall holds ‖(g − a)/b‖ against the gradients formed one by one:
// never below, and tight up to rounding.
func TestScaledNormsAreNeverTooSmall(t *testing.T) {
	eachModel(t, func(t *testing.T, be compute.Backend, spec Spec) {
		const n = 7
		rng := rand.New(rand.NewPCG(10, 1))
		b := randomBatch(rng, spec, n)
		m := newModel(t, be, spec, n)
		each := formed(t, be, m, b, n)
		pass(be, m, b, n)
		for _, size := range []float64{0, 0.01, 1, 30} { // of the centre
			d := spec.Params()
			a, inv, lin := make([]float32, d), make([]float32, d), make([]float32, d)
			for j := range d {
				a[j] = float32(size * rng.NormFloat64())
				v := math.Exp(2 * rng.NormFloat64())
				inv[j], lin[j] = float32(v), float32(float64(a[j])*v)
			}
			want, scale := make([]float64, n), 0.0
			for i := range n {
				for j, x := range each[i] {
					want[i] += (float64(x) - float64(a[j])) * (float64(x) - float64(a[j])) * float64(inv[j])
					scale += float64(x)*float64(x)*float64(inv[j]) + float64(a[j])*float64(lin[j])
				}
			}
			c := Coordinates{Largest: float64(slices.Max(inv))}
			offsets := make([]float64, len(m.Sites()))
			at := 0
			for i, s := range m.Sites() {
				for _, p := range s.Params() {
					c.Inv, c.Lin = append(c.Inv, buffer(be, inv[at:at+p.Len()])), append(c.Lin, buffer(be, lin[at:at+p.Len()]))
					for end := at + p.Len(); at < end; at++ {
						offsets[i] += float64(a[at]) * float64(a[at]) * float64(inv[at])
					}
				}
			}
			c.Offsets = upwards(be, offsets)
			dst := be.New(n)
			m.ScaledSqNorms(dst, c)
			for i, got := range read(t, be, dst, n) {
				if float64(got) < want[i]*(1-1e-6) || float64(got) > want[i]+1e-3*(want[i]+scale) {
					t.Errorf("centre %g, example %d: %g, want a little above %g", size, i, got, want[i])
				}
			}
		}
	})
}

// TestGramEqualsProductsOfFormedGradients holds the inner products of a batch's gradients against
// those of gradients that are made one at a time; they are added to what is there.
func TestGramEqualsProductsOfFormedGradients(t *testing.T) {
	eachModel(t, func(t *testing.T, be compute.Backend, spec Spec) {
		const n, before = 7, 0.5
		rng := rand.New(rand.NewPCG(11, 1))
		b := randomBatch(rng, spec, n)
		m := newModel(t, be, spec, n+2) // more room than rows
		each := formed(t, be, m, b, n)
		pass(be, m, b, n)
		dst := be.New(n * n)
		kernel.Fill(be, n*n, before, dst)
		m.Gram(dst)
		for at, got := range read(t, be, dst, n*n) {
			u, v, want := each[at/n], each[at%n], before
			for k := range u {
				want += float64(u[k]) * float64(v[k])
			}
			if math.Abs(float64(got)-want) > 1e-5*(before+norm(u)*norm(v)) {
				t.Errorf("examples %d and %d: %g, want %g", at/n, at%n, got, want)
			}
		}
	})
}

// upwards is a buffer of v, rounded up as package train does.
func upwards(be compute.Backend, v []float64) compute.Buffer {
	f := make([]float32, len(v))
	for i, x := range v {
		f[i] = kernel.Above(x)
	}
	return buffer(be, f)
}

// trueNorm is the spectral norm by a full power iteration in float64 from many
// starts: from below, so a bound must not be under it.
func trueNorm(w []float32, rows, cols int, iterations int) float64 {
	best := 0.0
	for start := range 4 {
		v := make([]float64, cols)
		rng := rand.New(rand.NewPCG(uint64(start), 5))
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		s := 0.0
		for range iterations {
			u := make([]float64, rows)
			next := make([]float64, cols)
			for i := range rows {
				for j := range cols {
					u[i] += float64(w[i*cols+j]) * v[j]
				}
			}
			for i := range rows {
				for j := range cols {
					next[j] += float64(w[i*cols+j]) * u[i]
				}
			}
			s = 0
			for _, x := range next {
				s += x * x
			}
			s = math.Sqrt(s)
			if s == 0 {
				break
			}
			for j := range next {
				v[j] = next[j] / s
			}
		}
		best = max(best, math.Sqrt(s))
	}
	return best
}

// adversarial weights: where norms are hard to tell.
func adversarial(rng *rand.Rand, rows, cols int) map[string][]float32 {
	fill := func(f func(i, j int) float64) []float32 {
		w := make([]float32, rows*cols)
		for i := range rows {
			for j := range cols {
				w[i*cols+j] = float32(f(i, j))
			}
		}
		return w
	}
	return map[string][]float32{
		"random":      fill(func(int, int) float64 { return rng.NormFloat64() }),
		"rank one":    fill(func(i, j int) float64 { return float64(i%3) * float64(j%5) }),
		"identity":    fill(func(i, j int) float64 { return float64(btoi(i == j)) }),
		"one hidden":  fill(func(i, j int) float64 { return 1e-3*rng.NormFloat64() + 5*float64(btoi(i == 1 && j == 2)) }),
		"near ties":   fill(func(i, j int) float64 { return float64(btoi(i == j)) * (1 + 1e-4*float64(i)) }),
		"huge":        fill(func(int, int) float64 { return 1e15 * rng.NormFloat64() }),
		"tiny":        fill(func(int, int) float64 { return 1e-15 * rng.NormFloat64() }),
		"zero":        fill(func(int, int) float64 { return 0 }),
		"alternating": fill(func(i, j int) float64 { return math.Pow(-1, float64(i+j)) }),
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// spectralLaw reports weights for which bound is under the true norm.
func spectralLaw(bound func(w []float32, rows, cols int) float64) error {
	rng := rand.New(rand.NewPCG(11, 1))
	for _, s := range [][2]int{{3, 3}, {12, 5}, {5, 12}, {40, 33}} {
		for name, w := range adversarial(rng, s[0], s[1]) {
			if got, want := bound(w, s[0], s[1]), trueNorm(w, s[0], s[1], 400); got < want {
				return fmt.Errorf("%s %v: bound %g is under the norm %g", name, s, got, want)
			}
		}
	}
	return nil
}

func TestSpectralBoundIsNeverExceeded(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		be := open()
		bound := func(w []float32, rows, cols int) float64 {
			d := denseSpec{out: cols}.layer(&builder{be: be, from: &arena{be.New((rows + 1) * cols)}, capacity: 1, most: 1}, Shape{Channels: rows}, false).(*dense)
			be.Write(d.w, w)
			at := be.New(2)
			d.Bound(at)
			both := read(t, be, at, 2)
			plain, folded := float64(both[0]), float64(both[1])
			if !(folded >= plain && folded >= 1) {
				t.Errorf("folding the bias in gives %g from %g", folded, plain)
			}
			// Far from any use, where float32 loses squares, it may be loose.
			if true_ := trueNorm(w, rows, cols, 400); true_ < 1e9 && plain > 1.05*true_+1e-9 {
				t.Errorf("bound %g is loose: the norm is %g", plain, true_)
			}
			return plain
		}
		if err := spectralLaw(bound); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		be.Close()
	}
	// The planted fault: a few steps of power iteration approach from below.
	if spectralLaw(func(w []float32, rows, cols int) float64 { return trueNorm(w, rows, cols, 3) }) == nil {
		t.Error("power iteration passed for a bound")
	}
}

// TestGradientBoundsAreNeverExceeded: value clipping's bounds are above every true norm, on
// random networks and on examples that are wildly wrong or nearly right.
func TestGradientBoundsAreNeverExceeded(t *testing.T) {
	eachModel(t, func(t *testing.T, be compute.Backend, spec Spec) {
		const n = 11
		if spec.CheckLipschitz() != nil {
			return
		}
		type measured struct {
			of            string
			bounds, norms func() []float32
		}
		var trials []measured
		for trial := range 30 {
			rng := rand.New(rand.NewPCG(12, uint64(trial)))
			b := randomBatch(rng, spec, n)
			m := newModel(t, be, spec, n)
			grow := float32(math.Exp(rng.NormFloat64()))
			for _, p := range m.Params() {
				kernel.Scale(be, p.Len(), grow, p)
			}
			losses, norms := pass(be, m, b, n), be.New(n)
			m.Norms([]compute.Buffer{norms})
			measuredNorms := fetch(t, be, norms, n)
			for _, growth := range growths {
				bounds, err := NewBounds(m, growth)
				if err != nil {
					t.Fatal(err)
				}
				bounds.Refresh()
				dst := be.New(n)
				bounds.Norms(n, losses, dst)
				trials = append(trials, measured{fmt.Sprintf("trial %d, %+v", trial, growth), fetch(t, be, dst, n), measuredNorms})
			}
		}
		for _, m := range trials {
			bounds := m.bounds()
			for i, s := range m.norms() {
				if norm := float64(s); !(float64(bounds[i]) >= norm*(1-1e-6)) {
					t.Errorf("%s, example %d: bound %g, norm %g", m.of, i, bounds[i], norm)
				}
			}
		}
	})
}

// TestWeighedGradientsStayWithinCOnHostileWeights: a gradient whose loss is weighed by C over
// its bound is no longer than C, whatever underflow or overflow makes of it at the
// layers that it passes.
func TestWeighedGradientsStayWithinCOnHostileWeights(t *testing.T) {
	each := func(weight func(layer int) float32) (w []float32) {
		for i := range 63 {
			w = append(w, weight(i))
		}
		return w
	}
	for _, test := range []struct {
		name    string
		weights []float32 // of layers with one input and one output
		x, y    float32
		c       float64
	}{
		{"a short gradient", []float32{0.5, 3}, 1, -1, 1e-3},
		{"one that rounds up to 2⁻¹⁴⁹, stays there and is made long", each(func(i int) float32 {
			switch {
			case i == 0:
				return 1
			case i < 6:
				return 0x1p30
			case i == 6:
				return 0x1p20
			case i < 58:
				return 0.75
			}
			return 0x1p-30
		}), 0x1p-100, -1.5, 2},
		{"one of nothing and an input of infinity", each(func(i int) float32 {
			if i < 2 {
				return 1e9 * float32(1-2*i)
			}
			return 1e-30
		}), 1e30, -1, 1},
		{"one that is lost beside its input", []float32{0x1p-110, 0x1p-60}, 0x1p110, -1, 0x1.02p-40},
	} {
		for name, open := range computetest.Backends(t) {
			be := open()
			spec := chain(Squared, "relu", slices.Repeat([]int{1}, len(test.weights)+1)...)
			m := newModel(t, be, spec, 1)
			for i, w := range test.weights {
				be.Write(m.Params()[2*i], []float32{w})
				kernel.Fill(be, 1, 0, m.Params()[2*i+1])
			}
			losses, bound := pass(be, m, batch{[]float32{test.x}, []float32{test.y}}, 1), be.New(1)
			bounds, err := NewBounds(m, Growth{Tight: true})
			if err != nil {
				t.Fatal(err)
			}
			bounds.Refresh()
			bounds.Norms(1, losses, bound)
			b := float64(read(t, be, bound, 1)[0])
			factor := float32(min(test.c/b*(1-1e-6), 1))
			m.WeighLosses(buffer(be, []float32{factor}))
			m.Backward()
			sum := sums(be, m)
			m.Add(sum, nil, kernel.Plain())
			if got := norm(flat(t, be, sum)); factor > 0 && !(got <= test.c) {
				t.Errorf("%s, %s: bounded by %g, weighed by %g it is %g, want at most %g", name, test.name, b, factor, got, test.c)
			}
		}
	}
}

// TestBoundHoldsOverManyOutputs: a bound that is nearly the norm holds where the loss, which
// it is made from, is a long float32 sum.
func TestBoundHoldsOverManyOutputs(t *testing.T) {
	const k = 1 << 16
	for name, open := range computetest.Backends(t) {
		be := open()
		m := newModel(t, be, chain(Squared, "", 1, k), 1)
		bounds, err := NewBounds(m, Growth{Tight: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range []float32{0.3, 0.7, 1.1, 1.9, 2.3} {
			kernel.Fill(be, k, z, m.Params()[1])
			losses, bound := pass(be, m, batch{[]float32{0}, make([]float32, k)}, 1), be.New(1)
			bounds.Refresh()
			bounds.Norms(1, losses, bound)
			if got, want := float64(read(t, be, bound, 1)[0]), float64(z)*math.Sqrt(k); got < want {
				t.Errorf("%s: bounded by %v, and it is %v", name, got, want)
			}
		}
	}
}

// TestRowsAreComputedAlikeWhereverTheyStand: outputs, loss, norm and gradient of a
// row are the same to the bit in every batch, at every place. Package train
// couples batches that differ in one row, and could not if the others' parts moved.
func TestRowsAreComputedAlikeWhereverTheyStand(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		for _, spec := range []Spec{
			chain(SoftmaxCE, "", 7, 3),
			chain(SoftmaxCE, "tanh", 330, 33, 10),
			chain(Squared, "relu", 21, 40, 1),
			chain(SigmoidBCE, "relu", 64, 9, 17),
			pictures[0], pictures[1], pictures[2], large, sequences[0], partly[5],
		} {
			be := open()
			const most = 70
			rng := rand.New(rand.NewPCG(20, 1))
			b := randomBatch(rng, spec, most)
			m := newModel(t, be, spec, most)
			type placed struct {
				row, at, n int
				result     func() rowResult
			}
			alone, among := map[int]func() rowResult{}, []placed{}
			for _, n := range []int{2, 5, 6, 7, 8, 13, 16, 48, 63, 64, 65, 70} {
				order := rng.Perm(most)[:n]
				for _, at := range []int{0, n / 2, n - 1} {
					row := order[at]
					if alone[row] == nil {
						alone[row] = measure(t, be, m, b, []int{row}, 0)
					}
					among = append(among, placed{row, at, n, measure(t, be, m, b, order, at)})
				}
			}
			for _, p := range among {
				if !p.result().equal(alone[p.row]()) {
					t.Errorf("%s, %s: row %d is another at place %d of %d", name, written(spec), p.row, p.at, p.n)
				}
			}
			be.Close()
		}
	}
}

// large is past the sizes at which products are cut into blocks.
var large = must(Read(Shape{9, 9, 37}, []string{"conv:17:3:p1", "groupnorm:1", "relu", "conv:9:3:s2", "maxpool:2", "dense"}, 3, SoftmaxCE))

// rowResult is all that a pass says of one row.
type rowResult struct {
	outputs, gradient []float32
	loss, norm        float32
}

func (r rowResult) equal(s rowResult) bool {
	return slices.Equal(r.outputs, s.outputs) && slices.Equal(r.gradient, s.gradient) && r.loss == s.loss && r.norm == s.norm
}

// measure passes rows of b and returns what says, once, what becomes of the one at a
// place: so that a backend that is far away is not waited for in each pass.
func measure(t *testing.T, be compute.Backend, m *Model, b batch, rows []int, at int) func() rowResult {
	t.Helper()
	n, all := len(rows), len(b.x)/m.Input.Len()
	var part batch
	for _, i := range rows {
		r := b.row(i, all)
		part.x, part.targets = append(part.x, r.x...), append(part.targets, r.targets...)
	}
	losses, norms := pass(be, m, part, n), be.New(n)
	m.Norms([]compute.Buffer{norms})
	outputs := fetch(t, be, m.Predictions(), n*m.Outputs())
	only := make([]float32, n)
	only[at] = 1
	dst := sums(be, m)
	m.Add(dst, []compute.Buffer{buffer(be, only)}, kernel.Plain())
	parts := split(t, be, dst)
	loss, norm, k := fetch(t, be, losses, n), fetch(t, be, norms, n), m.Outputs()
	return sync.OnceValue(func() rowResult {
		r := rowResult{outputs: outputs()[at*k : (at+1)*k], loss: loss()[at], norm: norm()[at]}
		for _, p := range parts {
			r.gradient = append(append(r.gradient, p[0]()...), p[1]()...)
		}
		return r
	})
}

// fetch has n values brought over, which the function returned waits for.
func fetch(t *testing.T, be compute.Backend, b compute.Buffer, n int) func() []float32 {
	t.Helper()
	coming := be.Fetch(b.Slice(0, n))
	return sync.OnceValue(func() []float32 {
		v := make([]float32, n)
		if err := coming.Wait(context.Background(), v); err != nil {
			t.Fatal(err)
		}
		return v
	})
}

// TestScaledNormsOfDeepModelsAreNeverTooSmall: 64 layers, of which all but the first add less than
// half a unit in the last place of what is there already.
func TestScaledNormsOfDeepModelsAreNeverTooSmall(t *testing.T) {
	const layers = 64
	widths := make([]int, layers+1)
	for i := range widths {
		widths[i] = 1
	}
	for name, open := range computetest.Backends(t) {
		be := open()
		m := New(be, chain(Squared, "relu", widths...), 1, 1)
		for _, v := range []float32{0.3 * 0x1p-23, 0.49 * 0x1p-23, 0.9 * 0x1p-23} {
			// Weights 1, biases 0; the first layer as it is, the others with a centre
			// of (1, −1), at right angles to their gradient.
			c := Coordinates{Largest: 1}
			var offsets []float64
			for i, p := range m.Params() {
				kernel.Fill(be, 1, float32(1-i%2), p)
				inv, lin, offset := float32(1), float32(0), 0.0
				if i >= 2 {
					inv, lin, offset = v, v*float32(1-2*(i%2)), 2*float64(v)
				}
				c.Inv, c.Lin = append(c.Inv, buffer(be, []float32{inv})), append(c.Lin, buffer(be, []float32{lin}))
				if i%2 == 0 {
					offsets = append(offsets, offset)
				}
			}
			c.Offsets = upwards(be, offsets)
			for _, d := range []float32{1, 1.005} {
				pass(be, m, batch{[]float32{1}, []float32{1 - d}}, 1)
				dst := be.New(1)
				m.ScaledSqNorms(dst, c)
				delta := float64(read(t, be, m.dz, 1)[0])
				want := 2*delta*delta + (layers-1)*(2*delta*delta+2)*float64(v)
				if got := float64(read(t, be, dst, 1)[0]); got < want {
					t.Errorf("%s: the squared norm is bounded by %v, but is %v", name, got, want)
				}
			}
		}
		be.Close()
	}
}
