package train

import (
	"fmt"
	"strings"
	"testing"

	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestTimesOfAMinuteAreLearned: what happened before and after half of a minute is told apart, where times are milliseconds
// or dates with a clock, and so are days that are near as integers.
func TestTimesOfAMinuteAreLearned(t *testing.T) {
	table := func(write func(i int) string) []source.File {
		var b strings.Builder
		b.WriteString("t,x,group\n")
		for i := range 600 {
			fmt.Fprintf(&b, "%s,%d,%s\n", write(i), i%5, []string{"before", "after"}[i/300])
		}
		return []source.File{source.Bytes("t.csv", []byte(b.String()))}
	}
	declared := func(lo, hi float64) run.CSV {
		return run.CSV{Bounds: map[string]run.Bounds{"t": {Lo: lo, Hi: hi}, "x": {Lo: 0, Hi: 4}}}
	}
	for name, tc := range map[string]struct {
		files []source.File
		csv   run.CSV
		kind  string
	}{
		"milliseconds":           {table(func(i int) string { return fmt.Sprint(1707954127790 + 100*i) }), run.CSV{}, "measured"},
		"milliseconds, declared": {table(func(i int) string { return fmt.Sprint(1707954127790 + 100*i) }), declared(1707954127790, 1707954187790), "declared"},
		"clock":                  {table(func(i int) string { return fmt.Sprintf("2024-02-14 09:17:%02d.%d", i/10, i%10) }), run.CSV{}, "measured"},
		"days":                   {table(func(i int) string { return fmt.Sprint(20200103 + i/300*2) }), declared(20200103, 20200105), "declared"},
	} {
		ds, _, err := load.Load(t.Context(), tc.files, nil, tc.csv, nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg := base("none")
		cfg.NoiseMultiplier, cfg.Steps, cfg.LearningRate, cfg.Scaling.Kind = nil, 600, 1, tc.kind
		_, res := finish(t, started(t, cfg, ds))
		if acc := res.TestAccuracy; !(acc > 0.95) {
			t.Errorf("%s: an accuracy of %v", name, acc)
		} else {
			t.Logf("%s: an accuracy of %v", name, acc)
		}
	}
}
