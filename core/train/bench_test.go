package train

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/data"
	"clipscope/core/run"
)

// BenchmarkSecure is a step on an MLP 784-128-10 with 128 examples, without noise, with
// float and with secure noise, the three by turns: the best of each, and their ratios.
func BenchmarkSecure(b *testing.B) {
	const rows, features, inner = 2000, 784, 5
	rng := rand.New(rand.NewPCG(1, 2))
	ds := &data.Dataset{Name: "noise", Task: data.Classification, Features: features, Outputs: 10, Train: data.Split{N: rows}}
	ds.Classes = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	for range rows {
		for range features {
			ds.Train.F32 = append(ds.Train.F32, max(0, float32(rng.NormFloat64())))
		}
		ds.Train.Y = append(ds.Train.Y, float32(rng.IntN(10)))
	}
	names := []string{"plain", "float", "secure"}
	best := make([]float64, len(names))
	var runs []*Run
	for i, name := range names {
		best[i] = math.Inf(1)
		cfg := run.Config{
			Method: "constant", Model: run.Model{Kind: "mlp", Hidden: []int{128}}, Accountant: "rdp", NoiseMultiplier: ptr(5.0),
			ExpectedBatchSize: 128, Steps: 50_000, LearningRate: 0.1, Blind: true, MaxGradNorm: 1,
		}
		switch name {
		case "plain":
			cfg.Method, cfg.NoiseMultiplier = "none", nil
		case "secure":
			cfg.NoiseMode = "secure"
		}
		r := startOn(b, cfg, ds, computetest.Fast(b))
		runs = append(runs, r)
	}
	step := func(r *Run) {
		for range inner {
			if err := r.step(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
		r.waiting = r.waiting[:0]
		if err := compute.Read(context.Background(), r.work.be, make([]float32, 1), r.work.scalar); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for i, r := range runs {
			began := time.Now()
			step(r)
			best[i] = min(best[i], time.Since(began).Seconds()*1000/inner)
		}
	}
	for i, name := range names {
		b.ReportMetric(best[i], name+"_ms")
		b.ReportMetric(best[i]/best[0], name+"/plain")
	}
}
