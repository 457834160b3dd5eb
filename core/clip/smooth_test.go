package clip

import (
	"math"
	"testing"
)

// TestSmoothWeightHasItsLimits: 1 far below C, C/n far above, 1/√2 at C.
func TestSmoothWeightHasItsLimits(t *testing.T) {
	for _, c := range []struct{ n, want float64 }{{0, 1}, {2e-6, 1}, {2, 1 / math.Sqrt2}, {2e6, 1e-6}, {math.MaxFloat64, 2 / math.MaxFloat64}} {
		if got := (smooth{}).Factor(c.n, 2); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("Factor(%g, 2) = %g, want %g", c.n, got, c.want)
		}
	}
}
