package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/run"
)

// TestGradientDiagnosticsMeasureWhatIsCutOff: without clipping the two gradients agree; with a
// tight threshold they differ by what was cut off.
func TestGradientDiagnosticsMeasureWhatIsCutOff(t *testing.T) {
	t.Parallel()
	for _, m := range clip.Methods() {
		cfg := base(m.Name)
		cfg.Model = run.Model{Kind: "mlp", Hidden: []int{8}}
		cfg.Steps, cfg.DiagnosticsEvery, cfg.MaxPhysicalBatchSize = 5, 2, 40
		events, _ := finish(t, started(t, cfg, small(t)))
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
	events, _ := finish(t, started(t, cfg, small(t)))
	g := events[0].Diag.Gradient
	if math.Abs(float64(g.Cosine)-1) > 1e-6 || float64(g.Bias) > 1e-6*float64(g.TrueNorm) || len(g.BySize) != sizeParts {
		t.Errorf("nothing was clipped, yet %+v", *g)
	}
	ds := small(t)
	rounding := 1 + rowSlack + sumSlack(ds.Train.N, ds.Train.N, math.MaxInt)
	if want := run.Number(math.Pow(1e6*rounding/100, 2) * 12); math.Abs(float64(g.NoiseVariance/want)-1) > 1e-9 {
		t.Errorf("noise variance %g, want σ²C²d/B² = %g", g.NoiseVariance, want)
	}
}

// TestIteratesCostNothing: the average lies between, the random one is one of the steps',
// and neither costs anything.
func TestIteratesCostNothing(t *testing.T) {
	t.Parallel()
	end := map[string]run.Result{}
	for _, policy := range []string{"last", "ema", "random"} {
		cfg := base("constant")
		cfg.Iterate = policy
		_, end[policy] = finish(t, started(t, cfg, small(t)))
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
	_, ema := finish(t, started(t, cfg, small(t)))
	cfg.Iterate = "last"
	_, last := finish(t, started(t, cfg, small(t)))
	for i, w := range ema.Released.Parameters {
		if math.Abs(float64(w-last.Released.Parameters[i])) > 1e-6*(1+math.Abs(float64(w))) {
			t.Fatalf("after one step the average is %g, the last %g", w, last.Released.Parameters[i])
		}
	}
}

// planted has all its variance in two of eight directions.
func planted() *data.Dataset {
	ds := &data.Dataset{Name: "planted", Task: data.Classification, Features: 8, Outputs: 2, Classes: []string{"a", "b"}}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		row := make([]float32, 8)
		side := float64(i%2)*2 - 1
		row[2], row[5] = float32(3*side), float32(2*rng.NormFloat64())
		for j := range row {
			row[j] += float32(0.02 * rng.NormFloat64())
		}
		ds.Train.F32, ds.Train.Y = append(ds.Train.F32, row...), append(ds.Train.Y, float32(i%2))
	}
	ds.Train.N = 400
	ds.Test = ds.Train
	return ds
}

// TestPCAFindsTheDirections with and without noise, and charges for them.
func TestPCAFindsTheDirections(t *testing.T) {
	for _, method := range []string{"none", "constant"} {
		cfg := run.Config{Model: run.Model{Kind: "softmax"}, Method: method, MaxGradNorm: 1, ExpectedBatchSize: 100, Steps: 30, LearningRate: 2, Seed: ptr(uint64(4)), PCA: run.PCA{Components: 2}}
		if method != "none" {
			cfg.TargetEpsilon = ptr(4.0)
		}
		p := started(t, cfg, planted())
		_, r := finish(t, p)
		if len(r.Released.Parameters) != (2+1)*2 {
			t.Fatalf("%d parameters", len(r.Released.Parameters))
		}
		v := p.feed.pca.Directions
		held := 0.0 // how much of the planted plane the two directions hold, 2 at most
		for j := range 2 {
			held += float64(v[2*2+j])*float64(v[2*2+j]) + float64(v[5*2+j])*float64(v[5*2+j])
		}
		if held < 1.9 {
			t.Errorf("%s: the directions hold %.2f of the plane's 2", method, held)
		}
		if !(r.TestAccuracy > 0.95) {
			t.Errorf("%s: accuracy %v", method, r.TestAccuracy)
		}
		if method != "none" {
			if eps := float64(r.Epsilon); !(eps <= 4 && eps > 3.9) {
				t.Errorf("the whole run costs ε = %v, want just under 4", eps)
			}
			alone := run.Config{Method: method, ExpectedBatchSize: 100, Steps: 30, TargetEpsilon: ptr(4.0), Seed: ptr(uint64(4))}
			if q := started(t, alone, planted()); q.plan.Info().NoiseMultiplier >= p.plan.Info().NoiseMultiplier {
				t.Errorf("PCA cost nothing: σ = %g with it, %g without", p.plan.Info().NoiseMultiplier, q.plan.Info().NoiseMultiplier)
			}
		}
	}
}

// TestPrivateBoundsAreCharged: values far from [0, 1] are brought there, at a price.
func TestPrivateBoundsAreCharged(t *testing.T) {
	ds := planted()
	for i := range ds.Train.F32 {
		ds.Train.F32[i] *= 1000
	}
	cfg := run.Config{Method: "constant", TargetEpsilon: ptr(4.0), ExpectedBatchSize: 100, Steps: 60, LearningRate: 2, Seed: ptr(uint64(4)), Scaling: run.Scaling{Kind: "private"}}
	p := started(t, cfg, ds)
	if p.work.terms.BoundsNoise == 0 || len(p.plan.Info().Events.Once) != 1 {
		t.Fatal("private bounds were not charged")
	}
	_, r := finish(t, p)
	if !(r.TestAccuracy > 0.9) || !(r.Epsilon <= 4) {
		t.Errorf("accuracy %v at ε = %v", r.TestAccuracy, r.Epsilon)
	}
}
