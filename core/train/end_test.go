package train

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// TestNoiseWithinReachOfARowHasNoGuarantee: a run of so little float noise goes on without a
// guarantee, and says why.
func TestNoiseWithinReachOfARowHasNoGuarantee(t *testing.T) {
	t.Parallel()
	for _, sigma := range []float64{0.1, 0.02, 1e-9} {
		cfg := run.Config{Method: "constant", Model: run.Model{Kind: "softmax"}, NoiseMultiplier: &sigma, TargetDelta: 1e-5, Steps: 50}
		p, err := plan.New(cfg, small(t).Meta())
		if err != nil {
			t.Fatal(err)
		}
		info := p.Info()
		warned := slices.ContainsFunc(info.Warnings, func(w run.Warning) bool {
			return w.Field == "noise_multiplier" && strings.Contains(w.Message, "11.6")
		})
		s, err := p.Statement(p.Terms().Steps)
		if err != nil {
			t.Fatal(err)
		}
		if info.Private || !math.IsInf(float64(info.Epsilon), 1) || !warned || !strings.HasPrefix(info.Guarantee, run.NoGuarantee) || len(s.Broken) == 0 {
			t.Errorf("σ = %v: private %t, ε = %v, warned %t: %s", sigma, info.Private, info.Epsilon, warned, info.Guarantee)
		}
	}
}

// TestFloatNoiseRefusesWhatItsEndTakes: by δ, noise mode and noise. What is planned has a
// finite ε that charges the end; what is refused names its field and the way out.
func TestFloatNoiseRefusesWhatItsEndTakes(t *testing.T) {
	t.Parallel()
	ds := small(t)
	for _, c := range []struct {
		mode, method   string
		delta          float64
		sigma, epsilon float64 // one of them 0
		field          string  // that is refused; empty: none
	}{
		{"float", "constant", 1e-5, 1, 0, ""},
		{"float", "constant", 1e-5, 0.4, 0, ""},
		{"float", "constant", 1e-10, 1, 0, ""},
		{"float", "constant", 1e-12, 0, 8, ""},
		{"float", "dc-e", 1e-12, 1, 0, ""},
		{"float", "quantile", 1e-15, 2, 0, ""},
		{"float", "constant", 1e-20, 1, 0, "target_delta"},
		{"float", "dc-e", 1e-20, 1, 0, "target_delta"},
		{"float", "constant", 1e-22, 0, 6, "target_delta"},
		{"float", "constant", 5e-324, 0, 6, "target_delta"},
		{"float", "constant", 1e-15, 0.45, 0, "target_delta"},
		{"secure", "constant", 1e-20, 1, 0, ""},
		{"secure", "constant", 1e-5, 0.1, 0, ""},
		{"secure", "constant", 1e-25, 0, 6, ""},
	} {
		cfg := run.Config{Method: c.method, NoiseMode: c.mode, Model: run.Model{Kind: "softmax"}, TargetDelta: c.delta, Steps: 50, Accountant: "rdp"}
		if c.sigma > 0 {
			cfg.NoiseMultiplier = &c.sigma
		} else {
			cfg.TargetEpsilon = &c.epsilon
		}
		p, err := plan.New(cfg, ds.Meta())
		var fault *run.ConfigError
		if c.field != "" {
			if !errors.As(err, &fault) || fault.Field != c.field || !strings.Contains(fault.Message, "noise_mode secure") || !strings.Contains(fault.Message, "11.6") {
				t.Errorf("%+v: %v", c, err)
			}
			cfg.Seed = ptr(uint64(1)) // which has no guarantee to break
			if cfg.TargetEpsilon == nil {
				if p, err = plan.New(cfg, ds.Meta()); err != nil || p.Info().Private || !math.IsInf(p.Epsilon(p.Terms().Steps), 1) {
					t.Errorf("%+v with a seed: %v", c, err)
				}
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		once, step := p.Events()
		end, err := privacy.NoiseEnd(append(once, privacy.SelfComposed{Of: step, Count: p.Terms().Steps})...)
		if err != nil || math.IsInf(p.Epsilon(p.Terms().Steps), 1) || (end > 0) != (c.mode == "float") || end > c.delta/50 {
			t.Errorf("%+v: ε = %v, and the end of noise takes %v (%v)", c, p.Epsilon(p.Terms().Steps), end, err)
		}
		if e, ok := step.(privacy.FloatNoise); c.mode == "float" && (!ok || e.Values < p.Info().Parameters) {
			t.Errorf("%+v: %d numbers of noise for %d parameters", c, e.Values, p.Info().Parameters)
		}
	}
}

// TestEveryFloatReleaseEnds: private bounds, principal components, steps with statistics and
// a choice among runs are all charged for the end of their noise.
func TestEveryFloatReleaseEnds(t *testing.T) {
	t.Parallel()
	ds := small(t)
	bare := func(e privacy.Event) bool {
		b, err := privacy.MarshalEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		return !strings.Contains(string(b), `"float_values"`)
	}
	for name, set := range map[string]func(*run.Config){
		"bounds": func(c *run.Config) { c.Scaling.Kind = "private" },
		"pca":    func(c *run.Config) { c.PCA.Components = 1 },
		"dc":     func(c *run.Config) { c.Method = "dc-e" },
		"count":  func(c *run.Config) { c.Method = "quantile" },
	} {
		cfg := run.Config{Method: "constant", Model: run.Model{Kind: "softmax"}, TargetEpsilon: ptr(4.0), Steps: 20, Accountant: "rdp"}
		set(&cfg)
		p, err := plan.New(cfg, ds.Meta())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		once, step := p.Events()
		if (name == "bounds" || name == "pca") != (len(once) == 1) {
			t.Errorf("%s: %d releases before the first step", name, len(once))
		}
		for _, e := range append(once, step) {
			if bare(e) {
				t.Errorf("%s: %v has no end", name, e)
			}
		}
	}
}
