package train

import (
	"math"
	"slices"
	"testing"

	"clipscope/core/compute/computetest"
	"clipscope/core/run"
)

// TestClassWeightsAreOfTheLoss: a step on all rows is that of weighed losses, one row at a time and
// clipped after they were weighed, on every backend, in one physical batch and in many; what is told
// of the loss is of the rows as they are.
func TestClassWeightsAreOfTheLoss(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	declared := map[string]float64{ds.Classes[0]: 4, ds.Classes[1]: 0.25}
	weights := make([]float64, ds.Outputs)
	for i, name := range ds.Classes {
		if weights[i] = 1; declared[name] > 0 {
			weights[i] = declared[name]
		}
	}
	for on, open := range computetest.Backends(t) {
		for _, physical := range []int{ds.Train.N, 7} {
			for _, smoothing := range []float64{0, 0.2} {
				be := open()
				r := startOn(t, run.Config{
					Method: "constant", Model: run.Model{Kind: "softmax"}, Scaling: run.Scaling{Kind: "none"}, LabelSmoothing: smoothing, ClassWeights: declared, LearningRate: 0.5, MaxGradNorm: 0.8,
					ExpectedBatchSize: float64(ds.Train.N), MaxPhysicalBatchSize: physical, Steps: 1, NoiseMultiplier: ptr(0.0), NoPrivacy: true, Seed: ptr(uint64(1)),
				}, ds, be)
				events, res := finish(t, r)
				for i, want := range smoothedStep(ds, weights, smoothing, 0.8, 0.5) {
					if have := float64(res.Released.Parameters[i]); math.Abs(have-want) > 1e-5*(1+math.Abs(want)) {
						t.Errorf("%s, %d rows at once, %g smoothed: parameter %d is %g, want %g", on, physical, smoothing, i, have, want)
						break
					}
				}
				if have, want := float64(events[0].Diag.TrainLoss), math.Log(float64(ds.Outputs)); math.Abs(have-want) > 1e-3 {
					t.Errorf("%s: a loss of %g, and that of the rows is %g", on, have, want)
				}
				r.Close()
				be.Close()
			}
		}
	}
}

// TestClassWeightsOfOneChangeNothing: a run with weights of 1 ends with the parameters of a run without,
// to the bit.
func TestClassWeightsOfOneChangeNothing(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	cfg := run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), Steps: 5, ExpectedBatchSize: 40, Accountant: "rdp", Seed: ptr(uint64(3))}
	ends := func(weights map[string]float64) []float32 {
		cfg.ClassWeights = weights
		r := started(t, cfg, ds)
		defer r.Close()
		_, res := finish(t, r)
		return res.Released.Parameters
	}
	plain, ones, other := ends(nil), ends(map[string]float64{ds.Classes[0]: 1}), ends(map[string]float64{ds.Classes[0]: 3})
	if !slices.Equal(plain, ones) || slices.Equal(plain, other) {
		t.Errorf("weights of 1 change nothing: %t, of 3 nothing: %t", slices.Equal(plain, ones), slices.Equal(plain, other))
	}
}
