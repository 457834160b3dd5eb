package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

func togetherOf(rows, parties, tolerance int) (run.Config, data.Meta) {
	m := data.Meta{Name: "m", Task: data.Classification, Features: 20, Outputs: 3, TrainRows: rows / parties, FeatureBytes: 4}
	return run.Config{
		Method: "constant", Accountant: "rdp", Scaling: run.Scaling{Kind: "row"}, NumExamples: rows,
		Together: run.Together{Parties: parties, Tolerance: tolerance},
	}, m
}

// TestTwoEpsilons holds both against figures that were worked out elsewhere: N rows of k parties, q = 0.1,
// T steps, RDP, δ = 10⁻⁵. Where ε is large those have too few orders, and ours may be less, though not
// less than PLD's.
func TestTwoEpsilons(t *testing.T) {
	for _, c := range []struct {
		k, n, t              int
		central, none, fifth float64
	}{
		{5, 10_000, 200, 2, 5.9, 5.0}, {5, 10_000, 200, 4, 16.2, 12.9}, {30, 6_000, 100, 2, 107, 56}, {100, 6_000, 100, 2, 1248, 909},
	} {
		for tolerance, want := range map[int]float64{0: c.none, c.k / 5: c.fifth} {
			cfg, m := togetherOf(c.n, c.k, tolerance)
			cfg.TargetEpsilon, cfg.TargetDelta, cfg.ExpectedBatchSize, cfg.Steps = &c.central, 1e-5, float64(c.n)/10, c.t
			p, err := New(cfg, m)
			if err != nil {
				t.Fatal(err)
			}
			info := p.Info()
			if e := float64(info.Epsilon); e > c.central || e < 0.999*c.central {
				t.Errorf("%d parties, %d tolerated: ε = %v for %v", c.k, tolerance, e, c.central)
			}
			cfg.Accountant, cfg.TargetEpsilon, cfg.NoiseMultiplier = privacy.PLD, nil, &info.NoiseMultiplier
			q, err := New(cfg, m)
			if err != nil {
				t.Fatal(err)
			}
			least := float64(q.Info().Together.EpsilonAlone)
			if e := float64(info.Together.EpsilonAlone); e > 1.02*want || e < least || want < 10 && e < 0.98*want {
				t.Errorf("%d parties, %d tolerated: ε of one alone is %.4g, want %.4g; PLD says %.4g", c.k, tolerance, e, want, least)
			}
		}
	}
}

// TestSilentPartiesCostNothing: with every number of parties that are silent or known and tolerated, ε is
// no more than what is promised; with one more it is more; and it is what the accountants say of an event
// that is written out here.
func TestSilentPartiesCostNothing(t *testing.T) {
	for _, method := range []string{"constant", "quantile", "dc-e"} {
		for _, accountant := range privacy.Names() {
			for parties := 2; parties <= 5; parties++ {
				for tolerance := range parties {
					cfg, m := togetherOf(2000, parties, tolerance)
					sigma := 1.3
					cfg.Method, cfg.Accountant, cfg.NoiseMultiplier, cfg.ExpectedBatchSize, cfg.Steps = method, accountant, &sigma, 100, 20
					p, err := New(cfg, m)
					if err != nil {
						t.Fatal(err)
					}
					promised, last := p.Epsilon(20), math.Inf(1)
					for known := parties - 1; known >= 0; known-- { // or silent
						e := p.EpsilonOfShares(parties - known)
						if known <= tolerance && e > promised*(1+1e-9) {
							t.Errorf("%s, %s, %d parties: with %d of %d silent ε is %v, promised are %v", method, accountant, parties, known, tolerance, e, promised)
						}
						if known > tolerance && !(e > promised) {
							t.Errorf("%s, %s, %d parties: with %d silent where %d are tolerated ε is %v", method, accountant, parties, known, tolerance, e)
						}
						if e > last {
							t.Errorf("%s, %s: ε grows with shares", method, accountant)
						}
						last = e
						worth := math.Sqrt(float64(parties-known) / float64(parties-tolerance))
						// Both parts of a step with that part of their noise: σ of all is less by the same factor.
						want, err := privacy.Epsilon(accountant, cfg.WithDefaultsFor(m.Facts()).TargetDelta, privacy.SelfComposed{
							Of: privacy.PoissonSampled{SampleRate: 0.05, Of: privacy.Gaussian{NoiseMultiplier: sigma * worth}}, Count: 20,
						})
						if err != nil || e < want*(1-1e-6) || e > want*(1+1e-6) {
							t.Errorf("%s, %s, %d of %d parties: ε = %v, want %v (%v)", method, accountant, parties-known, parties, e, want, err)
						}
					}
				}
			}
		}
	}
}

// TestTogetherIsRefused: what parties cannot agree on, and what has no proof, is refused by its field.
func TestTogetherIsRefused(t *testing.T) {
	seed, sigma := uint64(3), 1.0
	for field, change := range map[string]func(*run.Config){
		"together.parties":       func(c *run.Config) { c.Together = run.Together{Tolerance: 1} },
		"early_stopping.monitor": func(c *run.Config) { c.EarlyStopping.Monitor = "noisy_grad_norm" },
		"together.quorum":        func(c *run.Config) { c.Together.Quorum = 3 },
		"noise_mode":             func(c *run.Config) { c.NoiseMode = "float" },
		"num_examples":           func(c *run.Config) { c.NumExamples = 0 },
		"seed":                   func(c *run.Config) { c.Seed = &seed },
		"scaling.kind":           func(c *run.Config) { c.Scaling.Kind = "private" },
		"tuning.runs":            func(c *run.Config) { c.Tuning.Runs = 3 },
	} {
		cfg, m := togetherOf(2000, 5, 1)
		cfg.NoiseMultiplier, cfg.ExpectedBatchSize, cfg.Steps = &sigma, 100, 20
		if _, err := New(cfg, m); err != nil {
			t.Fatal(err)
		}
		change(&cfg)
		if _, err := New(cfg, m); !blames(err, field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, g := range []run.Together{{Parties: 1}, {Parties: -1}, {Parties: 5, Tolerance: 5}, {Parties: 5, Tolerance: -1}, {Parties: 1 << 20}} {
		cfg, m := togetherOf(2000, 5, 1)
		cfg.NoiseMultiplier, cfg.Together = &sigma, g
		if _, err := New(cfg, m); !blames(err, "together.parties") {
			t.Errorf("%+v: %v", g, err)
		}
	}
	for method, field := range map[string]string{"adaclip": "noise_mode", "coordinate": "noise_mode", "none": "noise_mode", "slaclip": "noise_mode"} {
		cfg, m := togetherOf(2000, 5, 1)
		if cfg.Method = method; method != "none" {
			cfg.NoiseMultiplier = &sigma
		}
		if _, err := New(cfg, m); !blames(err, field) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func blames(err error, field string) bool {
	fault := (*run.ConfigError)(nil)
	return errors.As(err, &fault) && fault.Field == field
}

// TestSharedSumsDoNotWrap: the sum of a batch whose rows all add the most to one number, and noise
// of some deviations of all parties, stay below 2³¹, for the gradient and for the statistic.
func TestSharedSumsDoNotWrap(t *testing.T) {
	for _, batch := range []float64{1, 100, 10_000, 1e6} {
		for _, sigma := range []float64{0.3, 1, 30} {
			cfg, m := togetherOf(10_000_000, 30, 10)
			cfg.Method, cfg.NoiseMultiplier, cfg.ExpectedBatchSize, cfg.Steps = "dc-e", &sigma, batch, 20
			cfg.Params = map[string]float64{"sigma_h": max(10, 3*sigma)}
			p, err := New(cfg, m)
			if err != nil {
				t.Fatal(err)
			}
			terms := p.Terms()
			n := terms.Noise.(Shared)
			units := n.Grid(&terms).Units()
			all := math.Sqrt(30. / 20)
			if most := units * (float64(terms.Likely()) + 8*all*terms.GradNoise); most > 1<<31 || most < 1<<21 {
				t.Errorf("batches of %v, σ = %v: sums reach %.3g units", batch, sigma, most)
			}
			q, unit := terms.query, n.StatisticUnit(&terms)
			if most := (float64(terms.Likely())*q.Sensitivity + 8*all*q.NoiseStd) / unit; most > 1<<31 || math.Log2(unit) != math.Floor(math.Log2(unit)) {
				t.Errorf("batches of %v, σ = %v: the statistic reaches %.3g units of %v", batch, sigma, most, unit)
			}
		}
	}
}

// TestBothEpsilonsAreSaid, always, and who is trusted for each; where nobody is tolerated, what that means.
func TestBothEpsilonsAreSaid(t *testing.T) {
	sigma := 1.0
	for tolerance := range 2 {
		cfg, m := togetherOf(2000, 5, tolerance)
		cfg.NoiseMultiplier, cfg.ExpectedBatchSize, cfg.Steps = &sigma, 100, 20
		p, err := New(cfg, m)
		if err != nil {
			t.Fatal(err)
		}
		info := p.Info()
		alone := run.UpText(float64(info.Together.EpsilonAlone), 4)
		if g := p.Terms().Config.Together; p.EpsilonOfShares(g.Quorum-min(tolerance, 1)) > p.Epsilon(20)*(1+1e-9) {
			t.Errorf("%d tolerated: one that colludes in a step of %d parties makes ε larger", tolerance, g.Quorum)
		}
		for _, want := range []string{"ε = " + run.UpText(float64(info.Epsilon), 4), "trusts no other it is " + alone, fmt.Sprintf("at least %d keep", 5-tolerance)} {
			if !strings.Contains(info.Guarantee, want) {
				t.Errorf("%d tolerated: %q is not said: %s", tolerance, want, info.Guarantee)
			}
		}
		warned := slices.ContainsFunc(info.Warnings, func(w run.Warning) bool { return w.Field == "together.quorum" })
		if warned != (tolerance == 0) {
			t.Errorf("%d tolerated: warned is %v", tolerance, warned)
		}
	}
}
