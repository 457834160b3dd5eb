package together_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data/builtin"
	"clipscope/core/model"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/together"
	"clipscope/core/train"
	"clipscope/core/train/traintest"
)

// TestPartiesStartFromWeights: parties agree on the hash of the weights that they start from, each brings them, and all
// begin with them; nobody joins without.
func TestPartiesStartFromWeights(t *testing.T) {
	ds, err := builtin.Make("moons", 1)
	if err != nil {
		t.Fatal(err)
	}
	const parties, steps = 2, 1
	weight, bias := traintest.Normals(1, 4), traintest.Normals(2, 2)
	w, err := model.ReadWeights("before.safetensors", traintest.Safetensors(t, nil, traintest.Tensor{Name: "layers.0.weight", Shape: []int{2, 2}, Values: weight}, traintest.Tensor{Name: "layers.0.bias", Shape: []int{2}, Values: bias}))
	if err != nil {
		t.Fatal(err)
	}
	sigma := 1.0
	cfg := run.Config{
		Method: "constant", Accountant: "rdp", Model: run.Model{Kind: "softmax"}, NoiseMultiplier: &sigma, Steps: steps, ExpectedBatchSize: 100, NumExamples: ds.Train.N, LearningRate: 1e-30, Optimizer: "sgd",
		Together: run.Together{Parties: parties}, Start: run.Start{File: w.Info.File, SHA256: w.Info.SHA256, Public: true},
	}
	bare, err := plan.New(cfg, share(ds, 0, parties).Meta())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := train.Join(t.Context(), bare, share(ds, 0, parties), purego.New(), nil); err == nil || !strings.Contains(err.Error(), "before.safetensors") {
		t.Errorf("a party joins without the weights: %v", err)
	}
	other := bare.Terms().Config
	other.Start.SHA256 = strings.Repeat("a", 64)
	mine, theirs := together.NewAgreement(bare.Terms().Config, bare.Terms().Meta, ds.Classes, [32]byte{5}), together.NewAgreement(other, bare.Terms().Meta, ds.Classes, [32]byte{5})
	if all, err := together.Differences(&mine, &theirs); err != nil || len(all) != 1 || all[0].Path != "config.start.sha256" {
		t.Errorf("agreements on other weights differ in %v: %v", all, err)
	}
	var plans []*plan.Plan
	var all []*together.Party
	for i := range parties {
		p, err := plan.New(cfg, share(ds, i, parties).Meta())
		if err == nil {
			p, err = p.StartFrom(w)
		}
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	enter := roomOf(t, ds, plans)
	for i := range parties {
		all = append(all, enter(i, nil))
	}
	all[0].Start(t.Context())
	results := make([]run.Result, parties)
	var done sync.WaitGroup
	for i, party := range all {
		done.Go(func() {
			r := joined(t, plans[i], share(ds, i, parties), party)
			if r == nil {
				return
			}
			defer r.Close()
			results[i] = trained(t, t.Context(), r)
		})
	}
	done.Wait()
	for i, res := range results {
		if !slices.Equal(res.Released.Parameters, slices.Concat(weight, bias)) {
			t.Errorf("party %d ends with %v, want %v", i+1, res.Released.Parameters, slices.Concat(weight, bias))
		}
	}
}
