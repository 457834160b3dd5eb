package train

import (
	"math"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/run"
)

// TestGradientDiagnostics: without clipping the two gradients agree; with a
// tight threshold they differ by what was cut off.
func TestGradientDiagnostics(t *testing.T) {
	for _, m := range clip.Methods() {
		cfg := base(m.Name)
		cfg.Model = run.Model{Kind: "mlp", Hidden: []int{8}}
		cfg.Steps, cfg.DiagnosticsEvery, cfg.MaxPhysicalBatchSize = 5, 2, 40
		events, _ := finish(t, mustPlan(t, cfg, small(t)))
		for i, e := range events {
			g := e.Diag.Gradient
			if (g != nil) != (i%2 == 0) {
				t.Fatalf("%s: step %d has diagnostics: %v", m.Name, i+1, g != nil)
			}
			if g == nil {
				continue
			}
			if !(g.TrueNorm > 0) || !(g.Cosine > 0.3 && g.Cosine <= 1.0001) || !(g.Bias >= 0) {
				t.Errorf("%s: %+v", m.Name, *g)
			}
		}
	}
	cfg := base("constant")
	cfg.Steps, cfg.DiagnosticsEvery, cfg.MaxGradNorm = 1, 1, 1e6
	events, _ := finish(t, mustPlan(t, cfg, small(t)))
	g := events[0].Diag.Gradient
	if math.Abs(float64(g.Cosine)-1) > 1e-6 || float64(g.Bias) > 1e-6*float64(g.TrueNorm) || len(g.BySize) != sizeParts {
		t.Errorf("nothing was clipped, yet %+v", *g)
	}
	if want := run.Number(math.Pow(1e6/100, 2) * 12); math.Abs(float64(g.NoiseVariance/want)-1) > 1e-9 {
		t.Errorf("noise variance %g, want σ²C²d/B² = %g", g.NoiseVariance, want)
	}
}

// TestIterates: the average lies between, the random one is one of the steps',
// and neither costs anything.
func TestIterates(t *testing.T) {
	end := map[string]run.Result{}
	for _, policy := range []string{"last", "ema", "random"} {
		cfg := base("constant")
		cfg.Iterate = policy
		_, end[policy] = finish(t, mustPlan(t, cfg, small(t)))
		if end[policy].Epsilon != end["last"].Epsilon {
			t.Errorf("%s costs ε = %v, last %v", policy, end[policy].Epsilon, end["last"].Epsilon)
		}
	}
	same := func(a, b string) bool {
		for i, x := range end[a].Released.Parameters {
			if x != end[b].Released.Parameters[i] {
				return false
			}
		}
		return true
	}
	if same("last", "ema") || same("last", "random") {
		t.Error("an iterate policy made no difference")
	}
	cfg := base("constant")
	cfg.Iterate, cfg.EMADecay, cfg.Steps = "ema", 0.5, 1
	_, ema := finish(t, mustPlan(t, cfg, small(t)))
	cfg.Iterate = "last"
	_, last := finish(t, mustPlan(t, cfg, small(t)))
	for i, w := range ema.Released.Parameters {
		if math.Abs(float64(w-last.Released.Parameters[i])) > 1e-6*(1+math.Abs(float64(w))) {
			t.Fatalf("after one step the average is %g, the last %g", w, last.Released.Parameters[i])
		}
	}
}
