package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestExpIsWithinUnitsOfTheSeries compares exp with the series in 200 digits.
func TestExpIsWithinUnitsOfTheSeries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	worst := 0.0
	for range 20_000 {
		x := (2*rng.Float64() - 1) * math.Exp2(float64(rng.IntN(30)-19))
		if math.Abs(x) >= 700 {
			continue
		}
		worst = max(worst, ulps(exp(x), bigExp(x)))
	}
	t.Logf("exp is off by at most %.3f units in the last place", worst)
	if worst > 1.1 {
		t.Errorf("exp is off by %v units in the last place", worst)
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 700, -700, 709.7, 710, -745.1, -746, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324} {
		if got, want := exp(x), math.Exp(x); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("exp(%v) = %v, want %v", x, got, want)
		}
	}
}

// ulps is by how many units of its last place got is off.
func ulps(got float64, want *big.Float) float64 {
	off := new(big.Float).Sub(new(big.Float).SetFloat64(got), want)
	unit := math.Nextafter(got, math.Inf(1)) - got
	f, _ := off.Quo(off, new(big.Float).SetFloat64(unit)).Float64()
	return math.Abs(f)
}

// bigExp is exp(x) by the series for x/2¹² and twelve squares.
func bigExp(x float64) *big.Float {
	const digits = 200
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(x) }
	r := number(x)
	r.SetMantExp(r, -12)
	sum, term := number(1), number(1)
	for i := 1.0; i < 40; i++ {
		term.Mul(term, r).Quo(term, number(i))
		sum.Add(sum, term)
	}
	for range 12 {
		sum.Mul(sum, sum)
	}
	return sum
}

func BenchmarkExp(b *testing.B) {
	for name, f := range map[string]func(float64) float64{"ours": exp, "math": math.Exp} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				f(float64(i&1023) - 512)
			}
		})
	}
}
