package train

import (
	"slices"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// TestOneMechanismFits: every run that is planned, of every method and noise mode, has one kind
// of mechanism and no second, and every kind has a run.
func TestOneMechanismFits(t *testing.T) {
	meta := small(t).Meta()
	var seen []string
	for _, m := range clip.Methods() {
		for _, mode := range append(plan.NoiseModes(), "together") {
			cfg := run.Config{Method: m.Name, NoiseMode: mode, Model: run.Model{Kind: "softmax"}, Steps: 1, ExpectedBatchSize: 20, Accountant: "rdp", Scaling: run.Scaling{Kind: "none"}}
			if m.Private {
				cfg.NoiseMultiplier = ptr(1.0)
			}
			if mode == "together" {
				cfg.NoiseMode, cfg.NumExamples, cfg.Together.Parties = "", meta.TrainRows, 3
			}
			p, err := plan.New(cfg, meta)
			if err != nil {
				continue // refused
			}
			terms := p.Terms()
			c, err := terms.NewClipper()
			if err != nil {
				t.Fatal(err)
			}
			var fit []string
			for _, k := range kinds {
				if k.fits(c, terms.Noise) {
					fit = append(fit, k.name)
				}
			}
			if len(fit) != 1 {
				t.Errorf("%s, %s noise: the mechanisms %q fit, want one: see fits in their files", m.Name, mode, fit)
			}
			seen = append(seen, fit...)
		}
	}
	for _, k := range kinds {
		if !slices.Contains(seen, k.name) {
			t.Errorf("no method and noise mode have the mechanism %s", k.name)
		}
	}
}
