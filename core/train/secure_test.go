package train

import (
	"math"
	"testing"

	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

func secureConfig(method string) run.Config {
	cfg := base(method)
	cfg.NoiseMode, cfg.Model = "secure", run.Model{Kind: "mlp", Hidden: []int{16}}
	return cfg
}

// TestSecureSumsAreIntegersWithinTheBound: every example alone adds whole units
// of norm at most C/u.
func TestSecureSumsAreIntegersWithinTheBound(t *testing.T) {
	for _, method := range []string{"constant", "auto-s", "psac", "dc-e", "per-layer", "value-tight"} {
		ds := small(t)
		p := started(t, secureConfig(method), ds)
		const c = 1.0
		for row := range 200 {
			sum := added(t, p, []int{row})
			for _, x := range sum {
				if z := x / p.clipping.mech.unit(); x != math.Round(z)*p.clipping.mech.unit() {
					t.Fatalf("%s: row %d adds %g units", method, row, z)
				}
			}
			if n := length(sum); n > c || n == 0 {
				t.Fatalf("%s: row %d adds %g, C is %g", method, row, n, c)
			}
		}
	}
}

// TestSecureOutputsAreOnTheGrid: with η = B and plain SGD from zero weights, one
// step's parameters are the released sum itself: whole units, rounded once.
func TestSecureOutputsAreOnTheGrid(t *testing.T) {
	cfg := secureConfig("constant")
	cfg.Model, cfg.Steps = run.Model{Kind: "softmax"}, 1
	cfg.ExpectedBatchSize, cfg.LearningRate = 128, 128
	p := started(t, cfg, small(t))
	_, r := finish(t, p)
	unit := p.clipping.mech.unit()
	for i, w := range r.Released.Parameters {
		if z := float64(w) / unit; w != float32(math.Round(z)*unit) || math.Abs(z) > 1<<24 {
			t.Errorf("parameter %d is %g units", i, z)
		}
	}
}

// TestSecureNoiseIsNoLess than asked for, and hardly more, on the grid of a step.
func TestSecureNoiseIsNoLess(t *testing.T) {
	for _, sigma := range []float64{0.3, 0.7, 1, 3.3, 40} {
		for _, c := range []float64{1e-12, 0.35, 1, 1e12} {
			cfg := secureConfig("constant")
			cfg.NoiseMultiplier, cfg.MaxGradNorm = ptr(sigma), c
			p := started(t, cfg, small(t))
			if err := p.bound(t.Context(), p.beginStep()); err != nil {
				t.Fatal(err)
			}
			secure := p.work.terms.Noise.(plan.Secure)
			noise, _ := secure.Grid(&p.work.terms).Joined()
			if secure.Exact {
				t.Errorf("σ = %v: numbers are drawn one by one", sigma)
			}
			if got := noise.Deviation() * p.clipping.mech.unit(); got < sigma*c || got > sigma*c*(1+1e-12) {
				t.Errorf("σ = %v, C = %v: noise of deviation %v", sigma, c, got)
			}
		}
	}
}

// TestSecureEqualsFloat up to the grid and the noise's own size.
func TestSecureEqualsFloat(t *testing.T) {
	accuracy := func(mode string) float64 {
		cfg := secureConfig("constant")
		cfg.NoiseMode = mode
		_, r := finish(t, started(t, cfg, small(t)))
		return float64(r.TestAccuracy)
	}
	if f, s := accuracy("float"), accuracy("secure"); math.Abs(f-s) > 0.05 {
		t.Errorf("accuracy %v with float noise, %v with secure noise", f, s)
	}
}

// TestSecureDrawsNumberByNumber where noise is too small to be joined, or ε so large that
// δ does not pay for the table; and only there is nothing charged.
func TestSecureDrawsNumberByNumber(t *testing.T) {
	for name, c := range map[string]struct {
		exact bool
		edit  func(*run.Config)
	}{
		"usual":                {false, func(*run.Config) {}},
		"a large threshold":    {false, func(c *run.Config) { c.MaxGradNorm = 1e12 }},
		"a small threshold":    {false, func(c *run.Config) { c.MaxGradNorm = 1e-12 }},
		"little noise":         {true, func(c *run.Config) { c.NoiseMultiplier = ptr(0.03) }},
		"too little to join":   {true, func(c *run.Config) { c.NoiseMultiplier = ptr(0.002) }},
		"much noise":           {false, func(c *run.Config) { c.NoiseMultiplier = ptr(4096.0) }},
		"a large ε":            {true, func(c *run.Config) { c.NoiseMultiplier, c.Steps = ptr(0.12), 10_000 }},
		"a large ε to reach":   {true, func(c *run.Config) { c.NoiseMultiplier, c.TargetEpsilon = nil, ptr(400.0) }},
		"a usual ε to reach":   {false, func(c *run.Config) { c.NoiseMultiplier, c.TargetEpsilon = nil, ptr(2.0) }},
		"a δ that pays little": {false, func(c *run.Config) { c.TargetDelta = 1e-30 }},
	} {
		cfg := secureConfig("constant")
		c.edit(&cfg)
		p, err := plan.New(cfg, small(t).Meta())
		if err != nil {
			t.Fatal(name, err)
		}
		_, step := p.Events()
		exact := p.Terms().Noise.(plan.Secure).Exact
		if _, inexact := step.(privacy.Inexact); exact != c.exact || inexact == c.exact {
			t.Errorf("%s: number by number is %t, and a step is %T", name, exact, step)
		}
		if eps := p.Epsilon(p.Terms().Steps); math.IsInf(eps, 1) || cfg.TargetEpsilon != nil && (eps > *cfg.TargetEpsilon || eps < 0.99**cfg.TargetEpsilon) {
			t.Errorf("%s: ε = %v", name, eps)
		}
		cfg.Steps, cfg.Seed = 1, ptr(uint64(2))
		if cfg.TargetEpsilon == nil {
			cfg.Epochs = 0
			finish(t, started(t, cfg, small(t)))
		}
	}
}

func TestSecureRefuses(t *testing.T) {
	for name, edit := range map[string]func(*run.Config){
		"adaclip":    func(c *run.Config) { c.Method = "adaclip" },
		"coordinate": func(c *run.Config) { c.Method = "coordinate" },
		"slaclip":    func(c *run.Config) { c.Method = "slaclip" },
		"none":       func(c *run.Config) { c.Method = "none" },
		"mode":       func(c *run.Config) { c.NoiseMode = "loud" },
	} {
		cfg := secureConfig("constant")
		edit(&cfg)
		if _, err := plan.New(cfg, small(t).Meta()); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
