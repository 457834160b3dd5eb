package scores

import (
	"math"
	"strings"
	"testing"

	"clipscope/core/run"
)

// TestALargerCIsAdvisedOnlyWhereItMayHelp: a larger C is advice only for a run that had one which
// stayed where it was set and clipped much, and for which no larger one was tried and was worse.
func TestALargerCIsAdvisedOnlyWhereItMayHelp(t *testing.T) {
	classes := []run.ClassScore{{Class: "sick", Rows: 25}, {Class: "well", Rows: 975}}
	chosen := func(c float64) *run.Candidate { return &run.Candidate{LearningRate: 0.1, MaxGradNorm: c} }
	tuning := run.Tuning{Runs: 5, MaxGradNorm: []float64{0.25, 1}}
	for _, tt := range []struct {
		name     string
		cfg      run.Config
		clipped  float64
		accuracy run.Number
		selected *run.Candidate
		want     bool
	}{
		{name: "constant, all clipped", cfg: run.Config{Method: "constant"}, clipped: 1, want: true},
		{name: "constant, 62 % clipped", cfg: run.Config{Method: "constant"}, clipped: 0.62, want: true},
		{name: "constant, 4 % clipped", cfg: run.Config{Method: "constant"}, clipped: 0.04},
		{name: "constant, none clipped", cfg: run.Config{Method: "constant"}, clipped: 0},
		{name: "constant, hidden", cfg: run.Config{Method: "constant"}, clipped: math.NaN()},
		{name: "constant, a good model", cfg: run.Config{Method: "constant"}, clipped: 1, accuracy: 0.99},
		{name: "smooth", cfg: run.Config{Method: "smooth"}, clipped: 0.62, want: true},
		{name: "per layer", cfg: run.Config{Method: "per-layer"}, clipped: 0.62, want: true},
		{name: "no privacy", cfg: run.Config{Method: "none"}, clipped: 1},
		{name: "normalised", cfg: run.Config{Method: "auto-s"}, clipped: 1},
		{name: "normalised, plain", cfg: run.Config{Method: "auto-v"}, clipped: 1},
		{name: "psac", cfg: run.Config{Method: "psac"}, clipped: 1},
		{name: "constant, normalised by its weight", cfg: run.Config{Method: "constant", Weight: "auto-s"}, clipped: 1},
		{name: "quantile", cfg: run.Config{Method: "quantile"}, clipped: 0.62},
		{name: "a falling schedule", cfg: run.Config{Method: "schedule"}, clipped: 0.62},
		{name: "dc-p", cfg: run.Config{Method: "dc-p"}, clipped: 0.62},
		{name: "dc-e", cfg: run.Config{Method: "dc-e"}, clipped: 0.62},
		{name: "constant, moved by a rule", cfg: run.Config{Method: "constant", Threshold: "quantile"}, clipped: 0.62},
		{name: "slack indicator", cfg: run.Config{Method: "slaclip"}, clipped: 0.62},
		{name: "a bound on rows in place of C", cfg: run.Config{Method: "norm-bound"}, clipped: 0.62},
		{name: "coordinates", cfg: run.Config{Method: "coordinate"}, clipped: 0.62},
		{name: "chosen, the smaller", cfg: run.Config{Method: "constant", Tuning: tuning}, clipped: 0.62, selected: chosen(0.25)},
		{name: "chosen, the largest", cfg: run.Config{Method: "constant", Tuning: tuning}, clipped: 0.62, selected: chosen(1), want: true},
		{name: "chosen by the rule, the smaller", cfg: run.Config{Method: "constant", Tuning: run.Tuning{Runs: 5}}, clipped: 0.62, selected: chosen(0.25)},
	} {
		if tt.accuracy == 0 {
			tt.accuracy = 0.975
		}
		r := &run.Result{TestAccuracy: tt.accuracy, TestClasses: classes, TestRows: 1000, Epsilon: 2, Selected: tt.selected}
		r.Released.NoiseMultiplier = 1
		got := Advice(r, Training{Config: tt.cfg.WithDefaults(), Clipped: tt.clipped})
		if said := strings.Contains(got, " C"); said != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
		if (got == "") != (tt.accuracy == 0.99) {
			t.Errorf("%s: the model is no better than one class always, and the advice is %q", tt.name, got)
		}
	}
}

// TestNoAdviceIsWhatARunHas: what a run has not, or has enough of, is no advice.
func TestNoAdviceIsWhatARunHas(t *testing.T) {
	classes := []run.ClassScore{{Class: "sick", Rows: 25}, {Class: "well", Rows: 975}}
	nan := run.Number(math.NaN())
	number := &run.Scores{MeanError: 3, OfMean: 3.1, R2: -1}
	for _, tt := range []struct {
		name    string
		result  run.Result
		sigma   float64
		model   string
		target  string
		with    string
		without string
	}{
		{name: "classes, private", result: run.Result{TestAccuracy: 0.975, TestClasses: classes, Epsilon: 2}, sigma: 1, with: "a larger ε may help"},
		{name: "classes, no noise", result: run.Result{TestAccuracy: 0.975, TestClasses: classes, Epsilon: run.Number(math.Inf(1))}, with: "More rows may help", without: "ε"},
		{name: "classes, ε is large", result: run.Result{TestAccuracy: 0.975, TestClasses: classes, Epsilon: 40}, sigma: 0.3, with: "More rows may help", without: "ε"},
		{name: "numbers, linear", result: run.Result{TestAccuracy: nan, TestScores: number, Epsilon: 2}, sigma: 1, model: "linear", target: "declared", with: "should be neither too narrow", without: "smaller model"},
		{name: "numbers, mlp", result: run.Result{TestAccuracy: nan, TestScores: number, Epsilon: 2}, sigma: 1, model: "mlp", target: "private", with: "a smaller model may help. So may bounds that you declare", without: "not scaled"},
		{name: "numbers, not scaled", result: run.Result{TestAccuracy: nan, TestScores: number, Epsilon: 2}, sigma: 1, model: "linear", target: "none", with: "A target far from 1", without: "bounds"},
		{name: "diverged, private", result: run.Result{TestAccuracy: nan, TestScores: &run.Scores{MeanError: 1e6, OfMean: 4, R2: -1e9}}, sigma: 1, with: "less noise"},
		{name: "diverged, no noise", result: run.Result{TestAccuracy: nan, TestScores: &run.Scores{MeanError: 1e6, OfMean: 4, R2: -1e9}}, with: "A smaller learning rate or fewer steps may help.", without: "noise"},
	} {
		tt.result.TestRows, tt.result.Released.NoiseMultiplier = 1000, tt.sigma
		got := Advice(&tt.result, Training{Config: run.Config{Model: run.Model{Kind: tt.model}}.WithDefaults(), Target: tt.target, Clipped: math.NaN()})
		if !strings.Contains(got, tt.with) || tt.without != "" && strings.Contains(got, tt.without) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
