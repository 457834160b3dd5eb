package table

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestRepeatedCellsAreCountedAlike: a cell that was seen before counts for what it did then, as where no list
// of values tells that it was.
func TestRepeatedCellsAreCountedAlike(t *testing.T) {
	cells := []string{"1", "1,5", "1.234,5", "2,345.6", "2020-01-02", "1.2.2020", "1/2/2020", "-", "none", "NaN", "", "text", "12 %", "$5", "(3)", "1E5", "inf", "007"}
	rng := rand.New(rand.NewPCG(7, 7))
	in := source.NewReading(t.Context(), run.CSV{})
	none := in.Limits
	none.Categories = 0 // so that there is no list
	for round := range 50 {
		some := cells[:1+rng.IntN(len(cells))]
		var sc [2]scan
		var c [2]tally
		for k := range c {
			c[k].distinct = map[string]int32{}
		}
		for range 200 {
			s := some[rng.IntN(len(some))]
			sc[0].add(&c[0], s, nil, 1, &in.Limits)
			sc[1].add(&c[1], s, nil, 1, &none)
		}
		seen := 0
		for _, n := range c[0].times {
			seen += int(n)
		}
		if seen != c[0].cells+c[0].noNumbers || c[1].distinct != nil {
			t.Fatalf("round %d: %d of %d cells are listed, %v", round, seen, c[0].cells+c[0].noNumbers, c[1].distinct)
		}
		for k := range c {
			c[k].distinct, c[k].times, c[k].sets, c[k].listing, c[k].recent, c[k].held = nil, nil, nil, nil, nil, 0
			c[k].countRun()
			c[k].runSet = 0
			sc[k].texts = 0
		}
		if !reflect.DeepEqual(c[0], c[1]) || !reflect.DeepEqual(sc[0], sc[1]) {
			t.Errorf("round %d, of %q:\n%s\n%s", round, some, fmt.Sprintf("%+v", c[0]), fmt.Sprintf("%+v", c[1]))
		}
	}
}
