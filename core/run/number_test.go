package run

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestRoundingIsUpOrDownAsNamed(t *testing.T) {
	for _, c := range []struct {
		x        float64
		digits   int
		up, down float64
	}{
		{0.0149, 1, 0.02, 0.01}, {2.5, 2, 2.5, 2.5}, {9.991, 2, 10, 9.9}, {123456, 3, 124000, 123000}, {1e-5, 2, 1e-5, 1e-5},
		{0.1, 17, 0.1, 0.1}, {1.0000000001, 4, 1.001, 1}, {0, 3, 0, 0}, {math.Inf(1), 3, math.Inf(1), math.Inf(1)},
		{math.MaxFloat64, 2, math.Inf(1), 1.7e308}, {5e-324, 1, 5e-324, 5e-324}, {-1.25, 2, -1.2, -1.3},
	} {
		if got := RoundUp(c.x, c.digits); got != c.up {
			t.Errorf("RoundUp(%v, %d) = %v, want %v", c.x, c.digits, got, c.up)
		}
		if got := RoundDown(c.x, c.digits); got != c.down {
			t.Errorf("RoundDown(%v, %d) = %v, want %v", c.x, c.digits, got, c.down)
		}
	}
	if !math.IsNaN(RoundUp(math.NaN(), 2)) {
		t.Error("NaN became a number")
	}
}

// No text that stands for an upper bound is below it, and none is further from it
// than one unit of its last digit.
func TestRoundingKeepsItsSide(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200_000 {
		x := math.Exp(rng.NormFloat64() * 8)
		digits := 1 + rng.IntN(9)
		up, err := strconv.ParseFloat(UpText(x, digits), 64)
		down, err2 := strconv.ParseFloat(DownText(x, digits), 64)
		unit := math.Pow(10, math.Floor(math.Log10(x))-float64(digits)+1) * (1 + 1e-9)
		if err != nil || err2 != nil || up < x || down > x || up-x > unit || x-down > unit {
			t.Fatalf("%v to %d digits: %v … %v", x, digits, down, up)
		}
	}
}
