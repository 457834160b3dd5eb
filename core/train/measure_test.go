package train

import (
	"context"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// TestStepTimeIsMeasuredForEveryPlan: of every kind of plan a step is measured, on no rows of
// anybody's.
func TestStepTimeIsMeasuredForEveryPlan(t *testing.T) {
	pictures := data.Meta{
		Task: data.Classification, Features: 64, Shape: []int{8, 8}, Outputs: 3, TrainRows: 1000, TestRows: 100, FeatureBytes: 1,
	}
	table := data.Meta{Task: data.Regression, Features: 5, Outputs: 1, TrainRows: 40, FeatureBytes: 4}
	labels := data.Meta{Task: data.MultiLabel, Features: 5, Outputs: 4, TrainRows: 400, FeatureBytes: 4}
	for name, tt := range map[string]struct {
		cfg  run.Config
		meta data.Meta
	}{
		"mlp":        {run.Config{}, pictures},
		"target":     {run.Config{TargetEpsilon: ptr(1.0), Epochs: 2, ExpectedBatchSize: 50}, pictures},
		"layers":     {run.Config{Model: run.Model{Kind: "layers", Layers: []string{"conv:2:3", "relu", "dense:3"}}}, pictures},
		"crops":      {run.Config{Model: run.Model{Kind: "layers", Layers: []string{"conv:2:3", "relu", "dense:3"}}, Augmentation: run.Augmentation{Kind: "crop", Multiplicity: 2}}, pictures},
		"adaclip":    {run.Config{Method: "adaclip"}, pictures},
		"secure":     {run.Config{NoiseMode: "secure"}, pictures},
		"no privacy": {run.Config{NoPrivacy: true}, pictures},
		"private":    {run.Config{Scaling: run.Scaling{Kind: "private"}}, table},
		"directions": {run.Config{PCA: run.PCA{Components: 3}}, pictures},
		"all rows":   {run.Config{ExpectedBatchSize: 1000, MaxPhysicalBatchSize: 10}, pictures},
		"few rows":   {run.Config{ExpectedBatchSize: 40}, table},
		"labels":     {run.Config{}, labels},
	} {
		p, err := plan.New(tt.cfg, tt.meta)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if took, err := StepTime(context.Background(), p, purego.New()); err != nil || took <= 0 {
			t.Errorf("%s: %v a step, %v", name, took, err)
		}
		ended, end := context.WithCancel(context.Background())
		end()
		if _, err := StepTime(ended, p, purego.New()); err == nil {
			t.Errorf("%s: measured after it was called off", name)
		}
	}
}
