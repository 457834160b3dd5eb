package cards

import (
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/run"
)

// What a run was made of is told whole: what has a line of its own, and whatever
// else is not as it is by default.
func TestARunsDescriptionIsWhole(t *testing.T) {
	seed, sigma := uint64(7), 1.5
	r := &data.Report{Name: "cells.csv", Rows: 400, Features: 3, Outputs: 2, Task: data.Classification}
	p := &run.PlanInfo{Steps: 60, Epsilon: 2.4, Delta: 1e-5, NoiseMultiplier: 1.5, Parameters: 8}
	for _, c := range []struct {
		cfg  run.Config
		want string
	}{
		{run.Config{Steps: 60}, "digits, 400 × 3, 2 classes; softmax, 8 parameters; Constant threshold, C\u00a01; ε\u00a02.40, δ\u00a01e−5, σ\u00a01.5, 60 steps; batches of 256, 60 steps; SGD, η\u00a00.5; cryptographic randomness (CSPRNG)"},
		{run.Config{Data: "files", Method: "psac", Params: map[string]float64{"r": 0.1}, MaxGradNorm: 3, NoiseMultiplier: &sigma, Seed: &seed, Epochs: 5, ExpectedBatchSize: 40,
			Optimizer: "adam", Beta1: 0.8, Threshold: "quantile", NoiseMode: "secure", Blind: true, Iterate: "ema", Scaling: run.Scaling{Kind: "row"}},
			"cells.csv, 400 × 3, 2 classes; softmax, 8 parameters; Per-sample adaptive (DP-PSAC), C\u00a03; ε\u00a02.40 without guarantee, δ\u00a01e−5, σ\u00a01.5, 60 steps; batches of 40, 5 epochs; Adam, η\u00a00.001; seed 7; " +
				"scaling.kind row; threshold quantile; noise_mode secure; blind true; beta1 0.8; iterate ema; ema_decay 0.99; r 0.1"},
		{run.Config{Steps: 60, Optimizer: "momentum", Nesterov: true, LearningRateSchedule: "cosine", WarmupSteps: 5, WeightDecay: 0.01, LabelSmoothing: 0.1},
			"digits, 400 × 3, 2 classes; softmax, 8 parameters; Constant threshold, C\u00a01; ε\u00a02.40, δ\u00a01e−5, σ\u00a01.5, 60 steps; batches of 256, 60 steps; " +
				"SGD with momentum 0.9 (Nesterov), η\u00a00.05 cosine, decay 0.01, smoothing 0.1; cryptographic randomness (CSPRNG); warmup_steps 5"},
		{run.Config{Steps: 60, Model: run.Model{Kind: "layers", Layers: []string{"dense:2", "tanh", "dense"}, Dropout: 0.25}},
			"digits, 400 × 3, 2 classes; 3 layers, dropout 0.25, 8 parameters; Constant threshold, C\u00a01; ε\u00a02.40, δ\u00a01e−5, σ\u00a01.5, 60 steps; batches of 256, 60 steps; SGD, η\u00a00.5; cryptographic randomness (CSPRNG); " +
				"model.layers dense:2, tanh, dense"},
		{run.Config{Steps: 60, Start: run.Start{File: "before.zip", SHA256: strings.Repeat("0123456789abcdef", 4), Public: true}},
			"digits, 400 × 3, 2 classes; softmax, 8 parameters; Constant threshold, C\u00a01; ε\u00a02.40, δ\u00a01e−5, σ\u00a01.5, 60 steps; batches of 256, 60 steps; SGD, η\u00a00.5; cryptographic randomness (CSPRNG); " +
				"starts from before.zip (01234567); start.public true"},
	} {
		cfg := c.cfg.WithDefaults()
		p.Private = cfg.Seed == nil
		if got := strings.Join(Made(&cfg, p, r), "; "); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
