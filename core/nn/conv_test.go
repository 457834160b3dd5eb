package nn

import (
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
)

// TestPictureBoundsAreNeverExceeded: what layers on pictures stretch by is never above their bound,
// found by power iteration there and back, and the bound is no looser than the
// windows that overlap make it.
func TestPictureBoundsAreNeverExceeded(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		for _, tt := range []struct {
			text    string
			overlap float64
		}{
			{"conv:3:3:p1", 9}, {"conv:4:8:s2:p3", 16}, {"conv:5:2:s2", 1}, {"conv:2:3:s2:p1", 4}, {"conv:6:1", 1},
			{"avgpool:2", 1}, {"avgpool:3:s1", 9}, {"maxpool:2", 1}, {"maxpool:2:s1", 4}, {"globalpool", 1},
		} {
			be := open()
			m := New(be, must(Read(Shape{9, 9, 2}, []string{"relu", tt.text, "dense"}, 1, Squared)), 1, 1)
			rng := rand.New(rand.NewPCG(9, 1))
			m.Init(rng)
			l := m.layers[1].(Lipschitz)
			dst := be.New(2)
			l.Bound(dst)
			bound := read(t, be, dst, 2)
			in, out := m.Input.Len(), m.Layers[1].Out.Len()
			x := make([]float32, in)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			stretched, at := 0.0, be.New(in)
			for range 20 { // of five each, which are waited for together
				scale := float32(1 / norm(x))
				for i := range x {
					x[i] *= scale
				}
				be.Write(at, x)
				var from, to []func() []float32
				for range 5 {
					from = append(from, fetch(t, be, at, in))
					y := m.layers[1].Forward(at, 1)
					to = append(to, fetch(t, be, y, out))
					kernel.Copy(be, in, at, m.layers[1].Backward(y, true))
				}
				for i := range from {
					stretched = max(stretched, norm(to[i]())/norm(from[i]()))
				}
				x = read(t, be, at, in)
			}
			if b := float64(bound[0]); b < stretched || b > 1.05*math.Sqrt(tt.overlap)*stretched+1e-6 && tt.text[0] != 'm' {
				t.Errorf("%s, %s: bound %g, stretched by %g", name, tt.text, b, stretched)
			}
			if bound[1] < bound[0] || bound[1] < 1 {
				t.Errorf("%s, %s: bounds %v", name, tt.text, bound)
			}
			be.Close()
		}
	}
}

// TestPaddedBiasesCountAtEveryPlace: the bias is added at every place, so that it counts √places
// times in the bound of (x, 1) ↦ (y, 1).
func TestPaddedBiasesCountAtEveryPlace(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		be := open()
		m := New(be, must(Read(Shape{9, 9, 2}, []string{"conv:3:3:p1", "dense"}, 1, Squared)), 1, 1)
		c := m.layers[0].(*conv)
		kernel.Fill(be, 3, 2, c.b)
		dst := be.New(2)
		c.Bound(dst)
		y := c.Forward(buffer(be, make([]float32, 162)), 1)
		if got, want := float64(read(t, be, dst, 2)[1]), math.Hypot(norm(read(t, be, y, 243)), 1); got < want {
			t.Errorf("%s: (0, 1) becomes %g long, its bound is %g", name, want, got)
		}
		be.Close()
	}
}
