package train

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/run"
)

// TestBytesTrainAsTheNumbersTheyAre trains on bytes, which become features on the backend, and on
// the same rows as numbers, which do so on this side.
func TestBytesTrainAsTheNumbersTheyAre(t *testing.T) {
	const rows, features = 90, 7
	rng := rand.New(rand.NewPCG(3, 4))
	ds := &data.Dataset{Name: "bytes", Task: data.Classification, Features: features, Outputs: 2, Classes: []string{"a", "b"}}
	for _, split := range []*data.Split{&ds.Train, &ds.Test} {
		split.N = rows
		for range rows {
			for range features {
				split.U8 = append(split.U8, uint8(rng.Uint32()))
			}
			split.Y = append(split.Y, float32(rng.IntN(2)))
		}
	}
	numbers := *ds
	for _, split := range []*data.Split{&numbers.Train, &numbers.Test} {
		for _, b := range split.U8 {
			split.F32 = append(split.F32, float32(b))
		}
		split.U8 = nil
	}
	cfg := run.Config{
		Method: "constant", Model: run.Model{Kind: "mlp", Hidden: []int{5}}, NoiseMultiplier: ptr(1.0), Seed: ptr(uint64(7)), Scaling: run.Scaling{Kind: "none"},
		ExpectedBatchSize: 20, Steps: 12, LearningRate: 0.01, MaxGradNorm: 1, MaxPhysicalBatchSize: 8,
	}
	var params [2][]float32
	var losses [2]run.Number
	for i, ds := range []*data.Dataset{ds, &numbers} {
		r := startOn(t, cfg, ds, deferred.New(purego.New()))
		if have, want := r.feed.bytes != nil, i == 0; have != want {
			t.Fatalf("data set %d: rows of bytes are %v", i, have)
		}
		_, res := finish(t, r)
		losses[i] = res.TestLoss
		params[i] = make([]float32, r.work.model.All().Len())
		if err := compute.Read(context.Background(), r.work.be, params[i], r.work.model.All()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(params[0], params[1]) || losses[0] != losses[1] {
		t.Errorf("bytes train otherwise than the numbers they are: losses %v", losses)
	}
}
