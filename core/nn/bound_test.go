package nn

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
)

// growths are the bounds that value clipping may be given.
var growths = []Growth{{}, {Linear: true}, {Least: -0.5}, {Offset: 2}, {Linear: true, Least: -3, Offset: 0.25}, {Tight: true}}

// crossEntropy returns the squared norm of softmax(z) − e_y and the loss, in float64.
func crossEntropy(z []float32, y int) (squared, loss float64) {
	top := math.Inf(-1)
	for _, v := range z {
		top = max(top, float64(v))
	}
	sum, others := 0.0, 0.0
	for j, v := range z {
		e := math.Exp(float64(v) - top)
		sum += e
		if j != y {
			others += e
		}
	}
	for j, v := range z {
		if j != y {
			squared += math.Pow(math.Exp(float64(v)-top)/sum, 2)
		}
	}
	if own := math.Exp(float64(z[y]) - top); own > 0 {
		return squared + math.Pow(others/sum, 2), math.Log1p(others / own)
	}
	return squared + math.Pow(others/sum, 2), math.Log(sum) - float64(z[y]) + top
}

// TestAppendixDHoldsForAnyOutputs is the inequality of VC's Appendix D by brute force, in
// real numbers and through the kernels: of any outputs and label, ‖∂f‖² ≤ 4‖x̃‖²·min{1, 2f},
// here for a model of one dense layer, whose gradient has the squared norm
// ‖softmax(z) − e_y‖²·‖(x, 1)‖² exactly.
func TestAppendixDHoldsForAnyOutputs(t *testing.T) {
	const n, features = 97, 3
	for name, open := range computetest.Backends(t) {
		for trial := range 60 {
			be, rng := open(), rand.New(rand.NewPCG(43, uint64(trial)))
			k := 2 + rng.IntN(18)
			m := newModel(t, be, chain(SoftmaxCE, "", features, k), n)
			w, bias := make([]float32, features*k), make([]float32, k)
			size := math.Exp(8 * rng.NormFloat64())
			for i := range w {
				w[i] = float32(size * rng.NormFloat64())
			}
			for i := range bias {
				bias[i] = float32(math.Exp(4*rng.NormFloat64()) * rng.NormFloat64())
			}
			be.Write(m.Params()[0], w)
			be.Write(m.Params()[1], bias)
			b := batch{make([]float32, n*features), make([]float32, n)}
			for i := range b.x {
				b.x[i] = float32(math.Exp(3*rng.NormFloat64()) * rng.NormFloat64())
			}
			for i := range b.targets {
				b.targets[i] = float32(rng.IntN(k))
			}
			losses := pass(be, m, b, n)
			z := read(t, be, m.z, n*k)
			for _, g := range growths {
				bounds, err := NewBounds(m, g)
				if err != nil {
					t.Fatal(err)
				}
				dst := be.New(n)
				bounds.Refresh()
				bounds.Norms(n, losses, dst)
				for i, got := range read(t, be, dst, n) {
					squared, f := crossEntropy(z[i*k:(i+1)*k], int(b.targets[i]))
					if capped := 4 * min(1, 2*f); squared > capped*(1+1e-12)+1e-300 {
						t.Fatalf("‖softmax(z) − e_y‖² = %g is above 4·min{1, 2f} = %g, of outputs %v", squared, capped, z[i*k:(i+1)*k])
					}
					x := norm(b.x[i*features : (i+1)*features])
					if want := math.Sqrt(squared * (x*x + 1)); !(float64(got) >= want) {
						t.Fatalf("%s, %+v, outputs %v: bound %g, norm %g", name, g, z[i*k:(i+1)*k], got, want)
					}
				}
			}
			be.Close()
		}
	}
}

// TestCapIsFreeAndSharper: the default bound is never above Algorithm 3's, equals it for
// losses below ½ and stands still above; f_lb and β₂ raise either by what they say.
func TestCapIsFreeAndSharper(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		be := open()
		m := newModel(t, be, chain(SoftmaxCE, "", 1, 2), 1)
		kernel.Fill(be, 2, 0, m.Params()[0])
		bound := func(f float64, g Growth) float64 {
			// Two outputs whose loss is f for label 0: e^f − 1 = e^(z₁ − z₀).
			be.Write(m.Params()[1], []float32{0, float32(math.Log(math.Expm1(f)))})
			losses, dst := pass(be, m, batch{[]float32{0}, []float32{0}}, 1), be.New(1)
			bounds, err := NewBounds(m, g)
			if err != nil {
				t.Fatal(err)
			}
			bounds.Refresh()
			bounds.Norms(1, losses, dst)
			v := float64(read(t, be, dst, 1)[0])
			return v * v
		}
		for _, test := range []struct {
			f    float64
			g    Growth
			want float64
		}{
			{0.1, Growth{}, 0.8}, {0.4, Growth{}, 3.2}, {0.6, Growth{}, 4}, {5, Growth{}, 4},
			{0.1, Growth{Linear: true}, 0.8}, {0.6, Growth{Linear: true}, 4.8}, {5, Growth{Linear: true}, 40},
			{0.1, Growth{Least: -0.2}, 2.4}, {0.1, Growth{Least: -1}, 4}, {0.1, Growth{Offset: 3}, 3.8},
			{5, Growth{Linear: true, Least: -1, Offset: 2}, 50},
		} {
			if got := bound(test.f, test.g); !(got >= test.want*(1-1e-7) && got <= test.want*(1+1e-3)) {
				t.Errorf("%s: loss %v, %+v: squared bound %g, want %g", name, test.f, test.g, got, test.want)
			}
		}
		be.Close()
	}
}

// TestBoundsThatAreNoneAreRefused: with f_lb above 0 a loss may lie below it, and its
// gradient would be bounded by less than nothing.
func TestBoundsThatAreNoneAreRefused(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		be := open()
		m := newModel(t, be, chain(SoftmaxCE, "", 1, 2), 1)
		for _, g := range []Growth{{Least: 0.1}, {Offset: -1}, {Least: math.NaN()}, {Offset: math.NaN()}} {
			if _, err := NewBounds(m, g); err == nil || !strings.Contains(err.Error(), "f_lb must be at most 0") {
				t.Errorf("%s: %+v: %v", name, g, err)
			}
		}
		be.Close()
	}
}
