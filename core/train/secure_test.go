package train

import (
	"math"
	"testing"

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
				if z := x / p.mech.unit(); z != math.Trunc(z) {
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
// step's parameters are the released sum itself.
func TestSecureOutputsAreOnTheGrid(t *testing.T) {
	cfg := secureConfig("constant")
	cfg.Model, cfg.Steps = run.Model{Kind: "softmax"}, 1
	cfg.ExpectedBatchSize, cfg.LearningRate = 128, 128
	_, r := finish(t, started(t, cfg, small(t)))
	unit := gridUnit(1)
	for i, w := range r.Released.Parameters {
		if z := float64(w) / unit; z != math.Trunc(z) {
			t.Errorf("parameter %d is %g units", i, z)
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
		if _, err := New(cfg, small(t).Meta()); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
