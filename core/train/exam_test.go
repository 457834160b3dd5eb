package train

import (
	"math"
	"testing"

	"clipscope/core/run"
	"clipscope/core/train/traintest"
)

// TestCreditFallsWithTheLoss: what a row adds to a score lies in [0, 1] for every loss there is,
// falls with it, and tells a model that is sure of the rare class from one that never names it.
func TestCreditFallsWithTheLoss(t *testing.T) {
	for _, loss := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, mostLoss, 100} {
		if c := credit(loss); c != 0 {
			t.Errorf("a loss of %v counts %v", loss, c)
		}
	}
	if credit(0) != 1 || credit(-1e-7) != 1 || credit(mostLoss/2) != 0.5 {
		t.Errorf("credits of %v, %v and %v", credit(0), credit(-1e-7), credit(mostLoss/2))
	}
	before := 1.0
	for loss := 0.0; loss < 6; loss += 1e-3 {
		c := credit(loss)
		if !(c >= 0 && c <= before) || c != math.Trunc(c*(1<<20))/(1<<20) {
			t.Fatalf("a loss of %v counts %v, and a smaller one %v", loss, c, before)
		}
		before = c
	}
	// Of 1,000 rows 25 are of the rare class. Both models have as many rows right.
	never := 975*credit(-math.Log(0.975)) + 25*credit(-math.Log(0.025))
	sees := 975*credit(-math.Log(0.99)) + 25*credit(-math.Log(0.4))
	if !(sees > never+15) {
		t.Errorf("%v for a model that sees the rare class, %v for one that does not", sees, never)
	}
}

// TestDefaultsRankAScarceClass: where 2.5 % of the rows are sought, the defaults at ε = 2
// put them before the others, though an accuracy would not show it. The area under the
// ROC curve is 0.979 ± 0.007 over six choices of the seed: 0.95 is four deviations away.
func TestDefaultsRankAScarceClass(t *testing.T) {
	t.Parallel()
	ds := traintest.Scarce(1)
	_, res := finish(t, started(t, run.Config{TargetEpsilon: ptr(2.0), Seed: ptr(uint64(1)), Accountant: "rdp"}, ds))
	t.Logf("area %v, accuracy %v, base rate %v", res.TestScores.ROCArea, res.TestAccuracy, res.LargestShare())
	if !(float64(res.TestScores.ROCArea) >= 0.95) {
		t.Errorf("an area of %v under the ROC curve", res.TestScores.ROCArea)
	}
}
