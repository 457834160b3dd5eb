package train

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/audit/crowd"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

func readCoordinates(t *testing.T, p *Run, a, b []float32) {
	t.Helper()
	c := p.clipping.mech.(*adaClip)
	for dst, from := range map[*[]float32]compute.Buffer{&a: c.a, &b: c.b} {
		if err := compute.Read(context.Background(), p.work.be, *dst, from); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCoordinatesStayFinite: centre and scale, whatever was released.
func TestCoordinatesStayFinite(t *testing.T) {
	p := begun(t, "adaclip", hostile(50), 1)
	rng := rand.New(rand.NewPCG(6, 6))
	a, b := make([]float32, p.work.terms.Spec.Params()), make([]float32, p.work.terms.Spec.Params())
	for range 300 {
		for _, g := range p.work.grads {
			v := make([]float32, g.Len())
			for i := range v {
				v[i] = []float32{0, float32(rng.NormFloat64()), float32(math.NaN()), float32(math.Inf(1)), 3e38, -3e38, 1e-45}[rng.IntN(7)]
			}
			p.work.be.Write(g, v)
		}
		p.clipping.mech.mean()
		readCoordinates(t, p, a, b)
		for i := range a {
			m, scale := float64(a[i]), float64(b[i])
			if math.IsNaN(m) || math.IsInf(m, 0) || !(scale > 0) || math.IsInf(scale, 1) {
				t.Fatalf("centre %g, scale %g", m, scale)
			}
		}
	}
}

// TestAdaptiveNoiseIsAFactorDBelow is AC §4.3: when one coordinate of d carries all variance
// μ², the noise b∘𝒩(0, σ²) has expected square σ²·Σ b² = σ²μ², a factor d below
// that of clipping the whole gradient at μ.
func TestAdaptiveNoiseIsAFactorDBelow(t *testing.T) {
	const d, mu, sigma = 400, 1.0, 0.1
	cfg := meanEstimation("adaclip", 1)
	cfg.Seed = ptr(uint64(1)) // with so little noise no run has a guarantee
	cfg.Params = map[string]float64{"beta_mean": 0.99, "beta_spread": 0.9, "h1": 1e-20, "h2": 10}
	p := started(t, cfg, builtin.MeanEstimation(10, d))
	p.work.terms.GradNoise = 0 // the gradients written below have none
	rng := rand.New(rand.NewPCG(9, 9))
	for range 400 {
		for _, g := range p.work.grads {
			kernel.Fill(p.work.be, g.Len(), 0, g)
		}
		p.work.be.Write(p.work.grads[0], []float32{float32(mu * float64(1-2*rng.IntN(2)))})
		p.clipping.mech.mean()
	}
	a, b := make([]float32, p.work.terms.Spec.Params()), make([]float32, p.work.terms.Spec.Params())
	readCoordinates(t, p, a, b)
	sum := 0.0
	for _, v := range b {
		sum += float64(v) * float64(v)
	}
	if got, want := sigma*sigma*sum, sigma*sigma*mu*mu; got < 0.5*want || got > 2*want {
		t.Errorf("expected squared noise is %g, want about σ²μ² = %g (whole gradient: %g)", got, want, d*want)
	}
	if spread, err := p.clipping.mech.spread(context.Background()); err != nil || math.Abs(spread/sum-1) > 1e-4 {
		t.Errorf("Σb² is %g, (Σs)² %g (%v)", sum, spread, err)
	}
}

// TestWeightsAddUpExactly: factors that are as large as the floor under norms lets
// them be, in the unit of their sum, add up to no more of these than what is read of
// sums can hold.
func TestWeightsAddUpExactly(t *testing.T) {
	r := begun(t, "adaclip", hostile(50), 1)
	c := r.clipping.mech.(*adaClip)
	for _, n := range []int{1, 50, 60_000, 100_000_000} {
		r.work.rows = n
		for _, away := range []float64{1e-30, 1e-3, 1, 1e9} {
			most := r.work.clipper.Rule.C() / (1.001 / centred * away)
			if units := most / (c.reach() / away) * float64(n); units > 1<<kernel.SplitDigits {
				t.Errorf("%d rows, centre %g: factors up to %g add up to %g units", n, away, most, units)
			}
		}
	}
}

// TestCentreWeighsNoMoreThanItMay: f·‖a/b‖ ≤ centred·C where gradients lie at the
// centre, so that their own norms allow for much more.
func TestCentreWeighsNoMoreThanItMay(t *testing.T) {
	cfg := base("adaclip")
	cfg.ExpectedBatchSize, cfg.Model, cfg.Scaling = 4, run.Model{Kind: "linear"}, run.Scaling{Kind: "none"}
	r := started(t, cfg, crowd.Alike.Data(8, false, 1))
	c, a, b := r.clipping.mech.(*adaClip), make([]float32, 3), make([]float32, 3)
	for _, deviation := range []float64{1e-8, 1e-4, 1e-2, 1} {
		centreOnAlike(r)
		kernel.Fill(r.work.be, 3, float32(math.Sqrt(deviation)), c.root)
		c.rescale()
		readCoordinates(t, r, a, b)
		away := 0.0
		for i := range a {
			away = math.Hypot(away, float64(a[i])/float64(b[i]))
		}
		added(t, r, []int{0, 1, 2})
		var f [3]float32
		if err := compute.Read(context.Background(), r.work.be, f[:], r.work.factors[0].Slice(0, 3)); err != nil {
			t.Fatal(err)
		}
		most := min(centred*r.work.clipper.Rule.C(), away) // factors are 1 at most
		for i, x := range f {
			if got := float64(x) * away; got > most || got < 0.99*most {
				t.Errorf("deviation %g, row %d: factor %g of ‖a/b‖ = %g, want %g at most and nearly", deviation, i, x, away, most)
			}
		}
	}
}
