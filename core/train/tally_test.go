package train

import (
	"math"
	"testing"

	"clipscope/core/run"
)

// Bins have their edges where they were in the step before, at 10^(k/run.LogBins), and
// no norm is left out: those that are shorter than the first count in it.
func TestLogarithmicBinsHoldEveryNorm(t *testing.T) {
	for _, tt := range []struct {
		norms []float64
		min   float64
		bins  int
	}{
		{[]float64{1.01, 1.02, 9.9, 10.1}, 1, 21},
		{[]float64{0.5, 0.5}, math.Pow(10, -7./20), 1},
		{[]float64{0, 1e-30, 0.5, 1.01}, math.Pow(10, -119./20), 120},
		{[]float64{0, 0}, 0, 0},
	} {
		counts, low := logCounts(tt.norms)
		sum := 0
		for i, n := range counts {
			sum += n
			lo, hi := tt.min*math.Pow(10, float64(i)/run.LogBins), tt.min*math.Pow(10, float64(i+1)/run.LogBins)
			inside := 0
			for _, n := range tt.norms {
				if n < hi && (n >= lo || i == 0) {
					inside++
				}
			}
			if n != inside {
				t.Errorf("%v: bin %d has %d, not %d", tt.norms, i, n, inside)
			}
		}
		if float64(low) != tt.min || len(counts) != tt.bins || tt.bins > 0 && sum != len(tt.norms) {
			t.Errorf("%v: %d bins from %v count %d", tt.norms, len(counts), low, sum)
		}
	}
}
