package train

import "testing"

// TestSeriesIsBounded: of however many values, evenly spaced ones are kept.
func TestSeriesIsBounded(t *testing.T) {
	for n, want := range map[int]struct{ kept, apart int }{
		0: {0, 1}, 5: {5, 1}, mostKept: {mostKept, 1}, mostKept + 1: {mostKept/2 + 1, 2}, 3 * mostKept: {3 * mostKept / 4, 4},
	} {
		var s series
		for i := range n {
			s.addValue(float64(i))
		}
		if len(s.values) != want.kept {
			t.Errorf("of %d values %d are kept, want %d", n, len(s.values), want.kept)
		}
		for i, v := range s.values {
			if v != float64(i*want.apart) {
				t.Fatalf("of %d values the %d. that is kept is %v", n, i, v)
			}
		}
	}
}
