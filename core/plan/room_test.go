package plan

import (
	"math"
	"testing"

	"clipscope/core/data"
	"clipscope/core/run"
)

// TestCapacityInARoom: as many rows go through the model at once as a backend's memory holds and the
// run asks for, one more would not fit, and what a tab may fill bounds only what is the tab's.
func TestCapacityInARoom(t *testing.T) {
	m := data.Meta{Name: "m", Task: data.Classification, Features: 3072, Shape: []int{3, 32, 32}, Outputs: 10, TrainRows: 50_000, FeatureBytes: 1}
	for name, c := range map[string]run.Config{
		"mlp": {Model: run.Model{Kind: "mlp", Hidden: []int{20_000}}}, "resnet18": {Model: run.Model{Kind: "resnet18"}},
		"PCA": {Model: run.Model{Kind: "mlp", Hidden: []int{20_000}}, PCA: run.PCA{Components: 50}},
	} {
		c.Method, c.NoiseMultiplier, c.Accountant, c.Steps, c.ExpectedBatchSize, c.MaxPhysicalBatchSize = "constant", new(float64), "rdp", 10, 30_000, 1<<16
		*c.NoiseMultiplier = 1
		m := m
		if c.PCA.Components > 0 {
			m.Features, m.Shape = 900, nil
		}
		p, err := New(c, m)
		if err != nil {
			t.Fatal(name, err)
		}
		terms := p.terms
		most := terms.CapacityIn(math.MaxInt64)
		if most <= terms.Capacity {
			t.Errorf("%s: %d rows at once without a bound, and %d in a tab", name, most, terms.Capacity)
		}
		for room := int64(1); room < 1<<45; room = room*3/2 + 1 {
			n := terms.CapacityIn(room)
			if n > most || n < most && terms.Room(n+1) <= room || n > 0 && terms.Room(n) > room {
				t.Errorf("%s: %d rows at once in %d bytes, and they take %d, one more %d", name, n, room, terms.Room(n), terms.Room(n+1))
			}
		}
	}
}

// TestOnlyWhatIsAskedForBoundsARoom: max_physical_batch_size bounds every backend's physical batch, and its
// default only that of a tab.
func TestOnlyWhatIsAskedForBoundsARoom(t *testing.T) {
	m := data.Meta{Name: "m", Task: data.Classification, Features: 20, Outputs: 10, TrainRows: 50_000, FeatureBytes: 1}
	for _, tt := range []struct{ asked, tab, room int }{
		{0, run.DefaultPhysicalBatch, 4481}, {7, 7, 7}, {run.DefaultPhysicalBatch, run.DefaultPhysicalBatch, run.DefaultPhysicalBatch}, {4096, 4096, 4096},
	} {
		c := run.Config{Method: "constant", Model: run.Model{Kind: "softmax"}, ExpectedBatchSize: 4096, MaxPhysicalBatchSize: tt.asked, Steps: 10, LearningRate: 0.1}
		p, err := New(c, m)
		if err != nil {
			t.Fatal(err)
		}
		if tab, room := p.terms.Capacity, p.terms.CapacityIn(math.MaxInt64); tab != tt.tab || room != tt.room {
			t.Errorf("of %d: %d rows at once in a tab, and %d elsewhere, want %d and %d", tt.asked, tab, room, tt.tab, tt.room)
		}
	}
}
