package nn

import (
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
)

// TestViewsHaveTheMeanGradient: an example with several views has the mean of their losses and of
// their gradients, each of which is had by passing it alone.
func TestViewsHaveTheMeanGradient(t *testing.T) {
	eachModel(t, func(t *testing.T, be compute.Backend, spec Spec) {
		const n, count, tol = 5, 3, 1e-5
		if spec.Vocabulary() > 0 { // views are of pictures
			return
		}
		rng := rand.New(rand.NewPCG(31, 1))
		b := randomBatch(rng, spec, n*count)
		plain := newModel(t, be, spec, n*count)
		m := New(be, spec, n, count)
		kernel.Copy(be, spec.Params(), m.All(), plain.All())
		if still := spec.Frozen(); still > 0 {
			kernel.Copy(be, still, m.Still(), plain.Still())
		}

		each := read(t, be, pass(be, plain, b, n*count), n*count)
		means, losses, all := make([][]float64, n), make([]float64, n), make([]float64, spec.Params())
		factors := make([]float32, n)
		for i := range n {
			means[i], factors[i] = make([]float64, spec.Params()), rng.Float32()
			for v := range count {
				losses[i] += float64(each[v*n+i]) / count
				for j, g := range gradients(t, be, plain, b.row(v*n+i, n*count), 1, nil) {
					means[i][j] += float64(g) / count
				}
			}
			for j, g := range means[i] {
				all[j] += float64(factors[i]) * g
			}
		}

		m.Forward(buffer(be, b.x), n, count)
		got := be.New(n)
		m.Losses(buffer(be, b.targets), got)
		m.Backward()
		norms := be.New(n)
		m.Norms([]compute.Buffer{norms})
		dst := sums(be, m)
		m.Add(dst, []compute.Buffer{buffer(be, factors)}, kernel.Plain())
		for i, l := range read(t, be, got, n) {
			if math.Abs(float64(l)-losses[i]) > tol*(1+losses[i]) {
				t.Errorf("example %d: loss %g, want %g", i, l, losses[i])
			}
		}
		size := func(v []float64) float64 {
			s := 0.0
			for _, x := range v {
				s += x * x
			}
			return math.Sqrt(s)
		}
		for i, u := range read(t, be, norms, n) {
			if want := size(means[i]); math.Abs(float64(u)-want) > tol*want {
				t.Errorf("example %d: norm %g, want %g", i, u, want)
			}
		}
		off := make([]float64, len(all))
		for j, x := range flat(t, be, dst) {
			off[j] = float64(x) - all[j]
		}
		if size(off) > tol*size(all) {
			t.Errorf("the weighted sum is off by %g of %g", size(off), size(all))
		}

		// One view of each is what it is for any other model.
		one := b.row(0, count)
		m.Forward(buffer(be, one.x), n, 1)
		m.Losses(buffer(be, one.targets), got)
		for i, l := range read(t, be, got, n) {
			if math.Abs(float64(l-each[i])) > tol*(1+math.Abs(float64(each[i]))) {
				t.Errorf("example %d alone: loss %g, want %g", i, l, each[i])
			}
		}
	})
}

// TestStandardisedKernelsHaveMeanZeroAndLengthOne: the weights that a wsconv uses have mean 0 and
// length 1 for every channel, whatever its parameters are.
func TestStandardisedKernelsHaveMeanZeroAndLengthOne(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		be := open()
		m := newModel(t, be, must(Read(Shape{9, 8, 3}, []string{"wsconv:5:3:s2:p1", "globalpool", "dense"}, 2, SoftmaxCE)), 2)
		l := m.layers[0].(*wsconv)
		m.Forward(be.New(2*9*8*3), 2, 1)
		w := read(t, be, l.standard, 27*5)
		for c := range 5 {
			sum, sq := 0.0, 0.0
			for p := range 27 {
				v := float64(w[p*5+c])
				sum, sq = sum+v, sq+v*v
			}
			if math.Abs(sum) > 1e-5 || math.Abs(sq-1) > 1e-3 {
				t.Errorf("%s: channel %d sums to %g, its squares to %g", name, c, sum, sq)
			}
		}
		be.Close()
	}
	if _, err := Read(Shape{4, 4, 1}, []string{"wsconv:3:1", "globalpool", "dense"}, 2, SoftmaxCE); err == nil {
		t.Error("a kernel that sees one value was taken")
	}
}
