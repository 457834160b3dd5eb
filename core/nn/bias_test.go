package nn

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
)

// biased is a model with a bias layer of its own between two dense ones.
func biased(t *testing.T, be compute.Backend, capacity int) *Model {
	t.Helper()
	const in, out = 5, 3
	m := New(be, must(Read(Shape{Channels: in}, []string{"dense:4", "bias", "tanh", "dense"}, out, SoftmaxCE)), capacity, 1)
	d := m.All().Len()
	rng := rand.New(rand.NewPCG(1, 1))
	v := make([]float32, d)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	be.Write(m.params, v)
	return m
}

// TestBiasEqualsOneExampleAtATime holds everything that clipping asks of a layer against one
// example at a time.
func TestBiasEqualsOneExampleAtATime(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		be := open()
		const n, c = 7, 0.1
		m := biased(t, be, n)
		rng := rand.New(rand.NewPCG(2, 2))
		b := randomBatch(rng, m.Spec, n)
		d := m.All().Len()
		a, inv, lin, factors := make([]float32, d), make([]float32, d), make([]float32, d), make([]float32, n)
		for j := range a {
			v := math.Exp(rng.NormFloat64())
			a[j], inv[j] = float32(0.1*rng.NormFloat64()), float32(v)
			lin[j] = float32(float64(a[j]) * v)
		}
		weighed, clamped := make([]float64, d), make([]float64, d)
		norms, squares, dots := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			factors[i] = rng.Float32()
			if i == 3 {
				factors[i] = 0
			}
			for j, g := range gradients(t, be, m, b.row(i, n), 1, nil) {
				x := float64(g)
				weighed[j] += float64(factors[i]) * x
				clamped[j] += min(max(x, -c), c)
				norms[i] = math.Hypot(norms[i], x)
				squares[i] += (x - float64(a[j])) * (x - float64(a[j])) * float64(inv[j])
				dots[i] += x * float64(a[j])
			}
		}
		near := func(what string, got []float32, want []float64, low float64) {
			for i, x := range got {
				if diff := float64(x) - want[i]; math.Abs(diff) > 1e-4*(1+math.Abs(want[i])) || diff < -low*math.Abs(want[i]) {
					t.Errorf("%s: %s[%d] is %g, want %g", name, what, i, x, want[i])
				}
			}
		}
		pass(be, m, b, n)
		column := func(f func(dst compute.Buffer)) []float32 {
			dst := be.New(n)
			f(dst)
			return read(t, be, dst, n)
		}
		cut := func(v []float32) (parts []compute.Buffer) {
			for _, p := range m.Params() {
				parts = append(parts, buffer(be, v[:p.Len()]))
				v = v[p.Len():]
			}
			return parts
		}
		near("norm", column(func(dst compute.Buffer) { m.Norms([]compute.Buffer{dst}) }), norms, 1e-7)
		near("dot", column(func(dst compute.Buffer) { m.Dots(dst, cut(a)) }), dots, 1)
		co := Coordinates{Inv: cut(inv), Lin: cut(lin), Largest: 100}
		offsets := make([]float64, len(m.Sites()))
		at := 0
		for i, s := range m.Sites() {
			for _, p := range s.Params() {
				for end := at + p.Len(); at < end; at++ {
					offsets[i] += float64(a[at]) * float64(a[at]) * float64(inv[at])
				}
			}
		}
		co.Offsets = upwards(be, offsets)
		near("scaled norm", column(func(dst compute.Buffer) { m.ScaledSqNorms(dst, co) }), squares, 1e-6)
		all := sums(be, m)
		m.Add(all, nil, kernel.Clamped(c))
		near("clamped sum", flat(t, be, all), clamped, 1)
		near("weighed sum", gradients(t, be, m, b, n, factors), weighed, 1)
		if _, err := NewBounds(m, Growth{}); err == nil || !strings.Contains(err.Error(), "layer 2, bias, has no Lipschitz bound") {
			t.Errorf("%s: value clipping takes a layer without a bound: %v", name, err)
		}
		be.Close()
	}
}
