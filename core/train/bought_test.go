package train

import (
	"maps"
	"math"
	"slices"
	"testing"

	"clipscope/core/data/load"
	"clipscope/core/run"
)

// TestBoughtBoundsAreDeclaredForNothing: the bounds that a run has bought, declared for the next one on the same
// table, scale it as they did, and nothing is bought again.
func TestBoughtBoundsAreDeclaredForNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		label  string
		target string
		leave  []string
		want   []string
	}{
		"classes":    {"kind", "", []string{"street"}, []string{"age", "price", "since"}},
		"numbers":    {"price", "private", []string{"street"}, []string{"age", "price", "since"}},
		"one column": {"kind", "", []string{"street", "price", "since", "colour"}, []string{"age"}},
	} {
		csv := run.CSV{Missing: "zero", Label: tc.label, Columns: map[string]string{}}
		for _, column := range tc.leave {
			csv.Columns[column] = "ignored"
		}
		rows := applyTable(applyRows(3, 4000))
		made := func() (*Run, run.Result) {
			ds, _, err := load.Load(t.Context(), rows, applyTable(applyRows(4, 20)), csv, nil)
			if err != nil {
				t.Fatal(err)
			}
			cfg := base("constant")
			cfg.NoiseMultiplier, cfg.TargetEpsilon, cfg.Steps, cfg.Seed, cfg.CSV = ptr(0.8), nil, 3, nil, csv
			cfg.Scaling = run.Scaling{Kind: "private", Target: tc.target}
			if tc.target != "" && len(csv.Bounds) > 0 {
				cfg.Scaling.Target = "declared"
			}
			r := started(t, cfg, ds)
			_, res := finish(t, r)
			return r, res
		}
		first, res := made()
		bought := res.Released.Bounds
		if got := slices.Sorted(maps.Keys(bought)); !slices.Equal(got, tc.want) {
			t.Fatalf("%s: bounds of %v are bought", name, got)
		}
		csv.Bounds = bought
		second, res := made()
		if len(res.Released.Bounds) > 0 || second.plan.Info().ScalingShare > 0 {
			t.Errorf("%s: %v are bought again, for %v of ε", name, res.Released.Bounds, second.plan.Info().ScalingShare)
		}
		scaled := func(r *Run) map[string]run.Bounds {
			all := map[string]run.Bounds{}
			for _, c := range r.feed.ds.Columns {
				if c.Kind == "numeric" {
					b := r.feed.scale.Bounds()[c.First]
					all[c.Name] = run.Bounds{Lo: b.Lo + c.Offset, Hi: b.Hi + c.Offset}
				} else if c.Kind == "label" && tc.target != "" {
					b := r.feed.targetScale.Bounds()[0]
					all[c.Name] = run.Bounds{Lo: b.Lo, Hi: b.Hi}
				}
			}
			return all
		}
		is := scaled(second)
		for column, was := range scaled(first) {
			now, width := is[column], was.Hi-was.Lo
			if !(math.Abs(now.Lo-was.Lo) <= 1e-6*width && math.Abs(now.Hi-was.Hi) <= 1e-6*width) {
				t.Errorf("%s: %s is scaled by %v, and was by %v", name, column, now, was)
			}
		}
		first.Close()
		second.Close()
	}
}

// TestWithoutNoiseNothingIsBought: bounds that were measured are released to nobody.
func TestWithoutNoiseNothingIsBought(t *testing.T) {
	ds, _, err := load.Load(t.Context(), applyTable(applyRows(3, 400)), nil, run.CSV{Missing: "zero", Columns: map[string]string{"street": "ignored"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := base("constant")
	cfg.NoPrivacy, cfg.NoiseMultiplier, cfg.TargetEpsilon, cfg.Steps, cfg.Scaling.Kind = true, ptr(0.0), nil, 2, "private"
	r := started(t, cfg, ds)
	defer r.Close()
	if _, res := finish(t, r); len(res.Released.Bounds) > 0 {
		t.Errorf("%v", res.Released.Bounds)
	}
}
