package train

import (
	"slices"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/run"
)

// TestPartsAdd: what two halves of a batch add up to, added, is released as what the batch adds
// up to. Whole numbers are the same to the bit, and so is the statistic; sums of floats are the
// same but for the rounding that noise covers.
func TestPartsAdd(t *testing.T) {
	ds := small(t)
	for name, cfg := range map[string]run.Config{
		"secure": {Method: "quantile", NoiseMode: "secure"}, "float": {Method: "dc-e"}, "adaclip": {Method: "adaclip"}, "per layer": {Method: "per-layer"},
		"thresholds of layers": {Method: "quantile", Grouping: "per-layer", NoiseMode: "secure"},
	} {
		cfg.Model, cfg.NoiseMultiplier, cfg.Seed = run.Model{Kind: "mlp", Hidden: []int{6}}, ptr(1.0), ptr(uint64(3))
		cfg.ExpectedBatchSize, cfg.Steps, cfg.Accountant = 60, 3, "rdp"
		r := started(t, cfg, ds)
		rows := slices.Repeat([]int{3, 14, 15, 92, 65, 35}, 7)
		summed := func(p Part, rows []int) Part {
			r.clipping.part = p
			e := r.beginStep()
			if err := r.addUp(t.Context(), rows, e); err != nil {
				t.Fatal(err)
			}
			if err := e.collect(t.Context(), r.work.query); err != nil {
				t.Fatal(err)
			}
			return e.part
		}
		released := func(p Part) []float32 {
			if err := r.clipping.mech.release(t.Context(), p, 0); err != nil {
				t.Fatal(err)
			}
			v := make([]float32, r.work.gradient.Len())
			if err := compute.Read(t.Context(), r.work.be, v, r.work.gradient); err != nil {
				t.Fatal(err)
			}
			return v
		}
		fresh := func() Part { return newPart(r.work, r.work.kind.weights) }
		// A part is released once: adaclip takes its centre away in place.
		whole := summed(fresh(), rows)
		statistic := slices.Clone(whole.statistic)
		want := released(whole)
		half := summed(fresh(), rows[:len(rows)/2])
		other := summed(fresh(), rows[len(rows)/2:])
		half.addPart(r.work.be, other)
		if !slices.Equal(half.statistic, statistic) {
			t.Errorf("%s: the statistic is %v, of the whole %v", name, half.statistic, statistic)
		}
		if half.tally.n != len(rows) || half.tally.hits != whole.tally.hits || len(half.tally.norms) != len(whole.tally.norms) {
			t.Errorf("%s: a tally of %d rows, want %d", name, half.tally.n, len(rows))
		}
		slack := float32(1e-5 * r.clipping.mech.sensitivity() * float64(len(rows)))
		if cfg.NoiseMode == "secure" {
			slack = 0
		}
		for i, x := range released(half) {
			if d := x - want[i]; !(d <= slack && -d <= slack) {
				t.Fatalf("%s: parameter %d is released as %v, of the whole as %v", name, i, x, want[i])
			}
		}
		if other.tally.n == 0 || slices.Equal(released(other), want) {
			t.Errorf("%s: a half is released as the whole, so that this shows nothing", name)
		}
	}
}
