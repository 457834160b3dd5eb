package train

import (
	"fmt"
	"math"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// TestPapersTuningPaidFor is DC's headline, Tables II and III, at ε = 2 in all: a constant threshold
// chosen among DC's ten, with every run of the choice paid for, against rules that run once with all of ε.
// LT is Theorem 1's random stopping, RDP the composition of the ten runs. Nothing but C is tuned. It runs
// on the drawn digits with softmax.
func TestPapersTuningPaidFor(t *testing.T) {
	papers(t)
	ds := builtin.Digits(1, 6000, 1000)
	for _, optimizer := range []string{"sgd", "adam"} {
		base := run.Config{
			Method: "constant", Model: run.Model{Kind: "softmax"}, Accountant: "rdp", TargetEpsilon: ptr(2.0), TargetDelta: 1e-5,
			MaxGradNorm: 1, ExpectedBatchSize: 512, Epochs: 20, Optimizer: optimizer, LearningRate: map[string]float64{"sgd": 0.3, "adam": 0.01}[optimizer],
		}
		say("\n### DC, Tables II and III: drawn digits, softmax, %s, η = %g, B = 512, 20 epochs, ε = 2 at δ = 1e−5 in all\n", optimizer, base.LearningRate)
		tuningPaidFor(t, ds, base, 5)
	}
}

// TestPapersTuningPaidForMNIST is the same on MNIST with the MLP and Adam at its defaults, as DC has it.
func TestPapersTuningPaidForMNIST(t *testing.T) {
	papers(t)
	say("\n### DC, Tables II and III: MNIST, MLP 784-128-10, Adam, η = 0.001, B = 256, five epochs, ε = 2 at δ = 1/60,000 in all\n")
	tuningPaidFor(t, images(t, "mnist"), dcMNIST("constant", "adam", 2), 2)
}

// tuningPaidFor prints the table for base, a constant threshold's run, on so many seeds.
func tuningPaidFor(t *testing.T, ds *data.Dataset, base run.Config, seeds int) {
	t.Helper()
	const runs = 10
	epsilon, delta := *base.TargetEpsilon, base.TargetDelta
	thresholds := []float64{0.1, 0.2, 0.5, 0.8, 1, 2, 4, 6, 8, 10} // DC, Table VII
	// Each of ten runs that cost ε together has the noise of one that is ten times as long.
	together := func(cfg run.Config) run.Config {
		p, err := plan.New(with(cfg, func(c *run.Config) { c.Epochs *= runs }), ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		return with(cfg, func(c *run.Config) {
			sigma := p.Terms().NoiseMultiplier
			c.TargetEpsilon, c.NoiseMultiplier = nil, &sigma
		})
	}
	stopped := func(cfg run.Config) run.Config {
		return with(cfg, func(c *run.Config) {
			one := privacy.LiuTalwarDelta(delta, runs)
			each := (epsilon - 3*math.Sqrt(2*one)) / 3
			c.TargetEpsilon, c.TargetDelta = &each, one
		})
	}
	var lines [][]any
	for _, way := range []struct {
		name string
		cfg  run.Config
	}{{"constant, tuning not paid for", base}, {"constant, ten runs by RDP", together(base)}, {"constant, ten by LT", stopped(base)}} {
		if _, err := plan.New(way.cfg, ds.Meta()); err != nil { // LT's δ₁ may be below what float noise can promise
			say("- %s: %v", way.name, err)
			continue
		}
		var grid []choice
		for _, c := range thresholds {
			grid = append(grid, choice{fmt.Sprintf("C=%g", c), with(way.cfg, func(cfg *run.Config) { cfg.MaxGradNorm = c })})
		}
		chosen := best(try(t, way.name, ds, grid, tuning(1)))
		p, err := plan.New(chosen.cfg, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, []any{way.name, chosen.label, fmt.Sprintf("%.3f", p.Terms().NoiseMultiplier), scores(t, chosen.cfg, ds, measuring(seeds))})
	}
	for _, method := range []string{"dc-e", "quantile", "auto-s"} {
		cfg := with(base, func(c *run.Config) { c.Method = method })
		lines = append(lines, []any{method + ", once", "C₀=1", "", scores(t, cfg, ds, measuring(seeds))})
	}
	say("")
	table(lines, "way", "chosen", "σ of a run", fmt.Sprintf("test accuracy %%, %d seeds", seeds))
}
