package nn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/compute"
)

// eachModel runs f on every backend there is for small models of every kind.
func eachModel(t *testing.T, f func(t *testing.T, be compute.Backend, spec Spec)) {
	specs := []Spec{
		{Widths: []int{7, 3}, Loss: SoftmaxCE},
		{Widths: []int{5, 2}, Loss: Squared},
		{Widths: []int{9, 17, 10}, Activation: "relu", Loss: SoftmaxCE},
		{Widths: []int{33, 12, 6, 4}, Activation: "tanh", Loss: SigmoidBCE},
		{Widths: []int{4, 8, 8, 1}, Activation: "relu", Loss: Squared},
	}
	for name, open := range backends(t) {
		for _, spec := range specs {
			t.Run(fmt.Sprintf("%s/%v/%s", name, spec.Widths, spec.Loss), func(t *testing.T) {
				be := open()
				defer be.Close()
				f(t, be, spec)
			})
		}
	}
}

// batch is random input for a spec.
type batch struct{ x, targets []float32 }

func randomBatch(rng *rand.Rand, spec Spec, n int) batch {
	in, out := spec.Widths[0], spec.Widths[len(spec.Widths)-1]
	b := batch{x: make([]float32, n*in)}
	for i := range b.x {
		b.x[i] = float32(rng.NormFloat64())
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
	v := make([]float32, n)
	if err := be.Read(context.Background(), v, b); err != nil {
		t.Fatal(err)
	}
	return v
}

func newModel(t *testing.T, be compute.Backend, spec Spec, capacity int) *Model {
	t.Helper()
	m, err := New(be, spec, capacity)
	if err != nil {
		t.Fatal(err)
	}
	m.Init(rand.New(rand.NewPCG(1, 2)))
	for i, p := range m.Params() { // biases and convex models start at zero: move them off it
		v := read(t, be, p, p.Len())
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
	var dst []compute.Buffer
	for _, p := range m.Params() {
		dst = append(dst, be.New(p.Len()))
	}
	var f []compute.Buffer
	if factors != nil {
		f = []compute.Buffer{buffer(be, factors)}
	}
	m.Grads(dst, f)
	var flat []float32
	for _, g := range dst {
		flat = append(flat, read(t, be, g, g.Len())...)
	}
	return flat
}

func pass(be compute.Backend, m *Model, b batch, n int) compute.Buffer {
	m.Forward(buffer(be, b.x), n)
	losses := m.Losses(buffer(be, b.targets))
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

// TestGhostNormsAndWeightedSums holds both against the plain way: one example
// at a time, its gradient formed, measured, scaled and added up.
func TestGhostNormsAndWeightedSums(t *testing.T) {
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
			sq := be.New(16)
			m.SqNorms([]compute.Buffer{sq})
			for i, s := range read(t, be, sq, n) {
				if got := math.Sqrt(float64(s)); math.Abs(got-norms[i]) > tol*norms[i] {
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

// TestGradientsAreDerivatives compares with central differences of the loss.
func TestGradientsAreDerivatives(t *testing.T) {
	eachModel(t, func(t *testing.T, be compute.Backend, spec Spec) {
		rng := rand.New(rand.NewPCG(7, 7))
		const n, h = 3, 1e-2
		b := randomBatch(rng, spec, n)
		m := newModel(t, be, spec, n)
		g := gradients(t, be, m, b, n, nil)
		loss := func() float64 {
			m.Forward(buffer(be, b.x), n)
			s := 0.0
			for _, l := range read(t, be, m.Losses(buffer(be, b.targets)), n) {
				s += float64(l)
			}
			return s
		}
		bad, at := 0, 0
		for _, p := range m.Params() {
			v := read(t, be, p, p.Len())
			for j := range v {
				old := v[j]
				v[j] = old + h
				be.Write(p, v)
				up := loss()
				v[j] = old - h
				be.Write(p, v)
				down := loss()
				v[j] = old
				be.Write(p, v)
				if d := (up - down) / (2 * h); math.Abs(d-float64(g[at])) > 2e-2*(1+math.Abs(d)) {
					bad++
				}
				at++
			}
		}
		// A difference that straddles a ReLU's kink is not a derivative: a few may be off.
		if bad > spec.Params()/20 {
			t.Errorf("%d of %d derivatives are off", bad, spec.Params())
		}
	})
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
			sq := be.New(n)
			m.SqNorms([]compute.Buffer{sq})
			return read(t, be, sq, n), read(t, be, l, n)
		}
		norms, losses := measure()
		keep := []float32{1, 1, 0, 1, 1, 1}
		want := gradients(t, be, m, b, n, keep)
		in := spec.Widths[0]
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
			m.Drop(k)
			var dst []compute.Buffer
			for _, q := range m.Params() {
				dst = append(dst, be.New(q.Len()))
			}
			m.Grads(dst, []compute.Buffer{k})
			at := 0
			for _, g := range dst {
				for _, x := range read(t, be, g, g.Len()) {
					if x != want[at] {
						t.Fatalf("poison %g: dropped example left a trace: %g, want %g", p, x, want[at])
					}
					at++
				}
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	for name, open := range backends(t) {
		be := open()
		if _, err := New(be, Spec{Widths: []int{3}}, 1); err == nil {
			t.Errorf("%s: a model of one width was accepted", name)
		}
		if _, err := New(be, Spec{Widths: []int{3, 2, 1}, Activation: "gelu"}, 1); err == nil {
			t.Errorf("%s: an unknown activation was accepted", name)
		}
		be.Close()
	}
}
