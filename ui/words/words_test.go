package words

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"clipscope/core/run"
)

var nan, inf = math.NaN(), math.Inf(1)

func TestNumbersAreWrittenForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(0.63, 3), "0.63"}, {Number(1e-5, 2), "1e−5"}, {Number(1.5e-5, 2), "1.5e−5"}, {Number(-2, 3), "−2"},
		{Number(0, 3), "0"}, {Number(nan, 3), Missing}, {Number(inf, 3), "∞"}, {Number(-inf, 3), "−∞"},
		{Number(123456, 3), "123456"}, {Number(1.23456e7, 3), "1.23e7"}, {Number(0.001, 3), "0.001"}, {Number(99.96, 3), "100"},
		{Number(10, 2), "10"}, {Number(100, 3), "100"}, {Number(0.000999, 2), "1e−3"},
		{Epsilon(0.634), "0.64"}, {Epsilon(0.63), "0.63"}, {Epsilon(0.0149), "0.02"}, {Epsilon(0.0071), "0.01"}, {Epsilon(0.00491), "0.005"}, {Epsilon(9.9999), "10.00"}, {Upper(2.3711, 4), "2.372"}, {Upper(1.21e-5, 2), "1.3e−5"}, {Lower(2.3719, 4), "2.371"}, {Epsilon(2), "2.00"}, {Epsilon(inf), "∞"}, {Epsilon(nan), Missing}, {Epsilon(0.0012), "0.0012"}, {Epsilon(0), "0.00"},
		{Percent(0.624, 0), "62 %"}, {Percent(nan, 0), Missing}, {Percent(1, 1), "100.0 %"},
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(60000), "60,000"}, {Count(-1234567), "−1,234,567"},
		{Plural(1, "row"), "1 row"}, {Plural(2, "row"), "2 rows"}, {Plural(0, "row"), "0 rows"}, {Are(1), "1 is"}, {Are(0), "0 are"}, {Are(1200), "1,200 are"},
		{Duration(18.2), "18 s"}, {Duration(0.0024), "2.4 ms"}, {Duration(2.44), "2.4 s"}, {Duration(200), "3 min 20 s"}, {Duration(7200), "2 h 00 min"},
		{Duration(nan), Missing}, {Duration(-1), Missing}, {Duration(0), "0 µs"},
		{Brief("żółw", 4), "żółw"}, {Brief("abcdefghijkl", 6), "abc…kl"}, {Brief("", 3), ""},
		{Bytes(1), "1 byte"}, {Bytes(14e6), "14 MB"}, {Bytes(2.5e9), "2.5 GB"}, {Bytes(999), "999 bytes"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// No ε that is shown is below the true one, and none is above it by more than its
// last digit.
func TestEpsilonIsNeverRoundedDown(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	read := func(s string) float64 {
		x, err := strconv.ParseFloat(strings.ReplaceAll(s, "−", "-"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for range 100_000 {
		x := math.Exp(rng.NormFloat64() * 4)
		digits := 1 + rng.IntN(6)
		for _, c := range []struct {
			text string
			unit float64
		}{{Epsilon(x), 0.01}, {Upper(x, digits), math.Pow(10, math.Floor(math.Log10(x))+1-float64(digits))}} {
			if y := read(c.text); y < x || y > x+c.unit*(1+1e-9) {
				t.Fatalf("%v is shown as %s", x, c.text)
			}
		}
		if y := read(Lower(x, digits)); y > x {
			t.Fatalf("the lower bound %v is shown as %v", x, y)
		}
	}
}

func TestWhenSaysAsLittleAsNeeded(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 3, 25, 0, time.Local)
	for _, c := range []struct {
		t    time.Time
		want string
	}{
		{now, "14:03:25"}, {now.Add(-14 * time.Hour), "00:03:25"}, {now.Add(-15 * time.Hour), "20 Nov, 23:03"},
		{now.AddDate(-1, 0, 0), "21 Nov 2025, 14:03"}, {now.UTC(), "14:03:25"},
	} {
		if got := When(c.t, now); got != c.want {
			t.Errorf("%v is %q, want %q", c.t, got, c.want)
		}
	}
}

// moment is a step in the middle of a run.
func moment() Moment {
	return Moment{
		Event: run.Event{Step: 412, Steps: 1000,
			Released: run.Released{MaxGradNorm: 0.84, Epsilon: 0.63},
			Diag: &run.Diag{BatchSize: 128, ClipFraction: 0.62, TrainLoss: 0.321, TrainAcc: 0.9,
				Norms: &run.Norms{P10: 0.3, P50: 1.9, P90: 4, Max: 9}}},
		Test:    &run.Eval{Rows: 1000, Accuracy: 0.912, Loss: 0.3},
		Tested:  412,
		RecentC: 0.84, EarlierC: 1.2, EarlierSteps: 50, PlannedEpsilon: 1,
		Weight: func(n, c float64) float64 { return min(1, c/n) },
	}
}

func TestSentencesSayTheirNumbers(t *testing.T) {
	m, perLayer := moment(), moment()
	perLayer.PerLayer = true
	for _, c := range []struct{ name, got, want string }{
		{"clipping", Clipping(m), "62 % of the 128 examples in this step had gradients longer than C = 0.84."},
		{"clipping per layer", Clipping(perLayer), "62 % of the 128 examples in this step had a layer whose gradient is longer than its threshold."},
		{"threshold", Threshold(m), "C fell from about 1.2 to 0.84 in 50 steps."},
		{"norms", Norms(m), "Half of the gradients are longer than 1.9, a tenth longer than 4. The median one is scaled by 0.44."},
		{"learning", Learning(m), "91.2 % of 1,000 test rows are classified right. Loss on this batch 0.321."},
		{"spending", Spending(m), "ε = 0.63 for a run planned to end after 412 steps. This one is charged ε = 1.00 for all 1,000, stopped or not."},
		{"trade without curves", Trade(m), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestThresholdSaysWhyOnlyWhereTheCurvesDo(t *testing.T) {
	// curves at C = 0.6, 0.8 and 1.2: noise grows with C and clipping falls, each by
	// so much in all.
	curves := func(noise, clipping float64) *run.ErrorCurves {
		return &run.ErrorCurves{C: []float64{0.6, 0.8, 1.2}, Variance: []float64{0, noise / 2, noise}, Bias: []float64{clipping, clipping / 2, 0}}
	}
	for _, c := range []struct {
		name            string
		earlier, recent float64
		curves          *run.ErrorCurves
		want            string
	}{
		{"fell for the noise", 1.2, 0.8, curves(2, 1), "C fell from about 1.2 to 0.8 in 50 steps: less noise outweighs more clipping."},
		{"fell where clipping costs most", 1.2, 0.8, &run.ErrorCurves{C: []float64{0.8, 1.2}, Variance: []float64{1, 3}, Bias: []float64{4, 3}}, "C fell from about 1.2 to 0.8 in 50 steps: less noise outweighs more clipping."},
		{"fell against the curves", 1.2, 0.8, curves(1, 2), "C fell from about 1.2 to 0.8 in 50 steps."},
		{"rose for the bias", 0.6, 0.8, curves(1, 2), "C rose from about 0.6 to 0.8 in 50 steps: less clipping outweighs more noise."},
		{"rose against the curves", 0.6, 0.8, curves(2, 1), "C rose from about 0.6 to 0.8 in 50 steps."},
		{"beyond the curves", 5, 0.8, curves(2, 1), "C fell from about 5 to 0.8 in 50 steps."},
		{"steady", 0.81, 0.8, nil, "C is steady, about 0.8."},
		{"constant", 0.84, 0.84, nil, "C stays at 0.84."},
	} {
		m := moment()
		m.EarlierC, m.RecentC, m.Event.Released.Curves = c.earlier, c.recent, c.curves
		if got := Threshold(m); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSentencesHoldAtTheEdges(t *testing.T) {
	empty := moment()
	empty.Event.Diag = &run.Diag{ClipFraction: run.Number(nan), TrainLoss: run.Number(nan)}
	unbacked := moment()
	unbacked.Unbacked = true
	infinite := moment()
	infinite.Event.Released.Epsilon, infinite.Event.Released.MaxGradNorm = run.Number(inf), inf
	poisoned := moment()
	poisoned.Event.Diag.NonFinite = 1
	earlier, regression, blind := moment(), moment(), moment()
	earlier.Tested, regression.Tested = 400, 1
	regression.Test = &run.Eval{Rows: 1, Accuracy: run.Number(nan), Loss: 0.3}
	blind.Event.Diag = nil
	nothing := Moment{}
	for _, c := range []struct{ name, got, want string }{
		{"empty batch", Clipping(empty), "The batch of this step was empty; a step with noise alone was taken, and it counts."},
		{"tested earlier", Learning(earlier), "91.2 % of 1,000 test rows were classified right after step 400. Loss on this batch 0.321."},
		{"regression", Learning(regression), "Loss on 1 test row was 0.3 after step 1. Loss on this batch 0.321."},
		{"a blind run's end", Learning(blind), "91.2 % of 1,000 test rows are classified right."},
		{"no guarantee", Spending(unbacked), "This run carries no guarantee. Its noise alone would be good for ε = 0.63 after 412 steps and ε = 1.00 after all 1,000."},
		{"no privacy", Spending(infinite), "No noise is added: ε is ∞, nothing is protected."},
		{"no threshold", Threshold(infinite), ""},
		{"nothing clipping", Clipping(nothing), ""}, {"nothing norms", Norms(nothing), ""},
		{"nothing learning", Learning(nothing), ""}, {"nothing threshold", Threshold(nothing), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
	if got := Clipping(poisoned); !strings.Contains(got, "1 example had a gradient that is not finite") {
		t.Errorf("a gradient that is not finite is not told: %q", got)
	}
}

func TestTradeSaysWhereTheErrorIsLeast(t *testing.T) {
	m := moment()
	m.Event.Released.Curves = &run.ErrorCurves{C: []float64{1, 2, 3}, Variance: []float64{1, 4, 9}, Bias: []float64{9, 4, 3}}
	if got, want := Trade(m), "The estimated error is least at C = 2: 50 % noise, 50 % clipping."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m.Event.Released.Curves.Bias = nil
	if got := Trade(m); got != "" {
		t.Errorf("curves of different lengths gave %q", got)
	}
}
