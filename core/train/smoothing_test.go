package train

import (
	"math"
	"testing"

	"clipscope/core/compute/computetest"
	"clipscope/core/data"
	"clipscope/core/run"
)

// smoothedStep takes one step of clipped gradient descent on all rows of a linear model that begins
// at 0, with smoothed targets, each row's loss times the weight of its class where there are weights, one
// row at a time in float64.
func smoothedStep(ds *data.Dataset, weights []float64, smoothing, c, rate float64) []float64 {
	d, k := ds.Features, ds.Outputs
	moved := make([]float64, (d+1)*k)
	for i := range ds.Train.N {
		x := ds.Train.F32[i*d : (i+1)*d]
		square := 1.0
		for _, v := range x {
			square += float64(v) * float64(v)
		}
		gradient, length := make([]float64, k), 0.0 // by the outputs, all of which are 0
		for j := range gradient {
			if ds.Task == data.MultiLabel {
				gradient[j] = 0.5 - ((1-smoothing)*float64(ds.Train.Y[i*k+j]) + smoothing/2)
			} else {
				target := smoothing / float64(k)
				if int(ds.Train.Y[i]) == j {
					target += 1 - smoothing
				}
				gradient[j] = 1/float64(k) - target
			}
			if weights != nil {
				gradient[j] *= weights[int(ds.Train.Y[i])]
			}
			length += gradient[j] * gradient[j]
		}
		factor := min(1, c/math.Sqrt(length*square)) * rate / float64(ds.Train.N)
		for j, g := range gradient {
			for f, v := range x {
				moved[f*k+j] -= factor * g * float64(v)
			}
			moved[d*k+j] -= factor * g
		}
	}
	return moved
}

// TestSmoothedLabels: a step on all rows is that of smoothed targets, one row at a time, for classes
// and for labels; what is told of losses and scores is of the labels themselves.
func TestSmoothedLabels(t *testing.T) {
	t.Parallel()
	for name, ds := range map[string]*data.Dataset{"softmax": firstRows(t), "linear": fiveLabels(2, 150, 7)} {
		for on, open := range computetest.Backends(t) {
			for _, smoothing := range []float64{0, 0.1, 0.9} {
				be := open()
				cfg := run.Config{
					Method: "constant", Model: run.Model{Kind: name}, Scaling: run.Scaling{Kind: "none"}, LabelSmoothing: smoothing, LearningRate: 0.5, MaxGradNorm: 0.8,
					ExpectedBatchSize: float64(ds.Train.N), Steps: 1, NoiseMultiplier: ptr(0.0), NoPrivacy: true, Seed: ptr(uint64(1)),
				}
				r := startOn(t, cfg, ds, be)
				events, res := finish(t, r)
				for i, want := range smoothedStep(ds, nil, smoothing, 0.8, 0.5) {
					if have := float64(res.Released.Parameters[i]); math.Abs(have-want) > 1e-5*(1+math.Abs(want)) {
						t.Errorf("%s on %s, %g smoothed: parameter %d is %g, want %g", name, on, smoothing, i, have, want)
						break
					}
				}
				loss := map[string]float64{"softmax": math.Log(float64(ds.Outputs)), "linear": 5 * math.Ln2}[name]
				if have := float64(events[0].Diag.TrainLoss); math.Abs(have-loss) > 1e-3 {
					t.Errorf("%s on %s, %g smoothed: a loss of %g, and that of the labels is %g", name, on, smoothing, have, loss)
				}
				r.Close()
				be.Close()
			}
		}
	}
}
