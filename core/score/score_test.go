package score

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/run"
)

func near(a run.Number, b float64) bool {
	return math.IsNaN(float64(a)) && math.IsNaN(b) || math.Abs(float64(a)-b) < 1e-9
}

// two makes a binary classifier's logits of a probability for class 1.
func two(p float64) []float32 { return []float32{0, float32(math.Log(p / (1 - p)))} }

// TestScoresEqualThoseByHand: worked out by hand.
func TestScoresEqualThoseByHand(t *testing.T) {
	c := NewClasses([]string{"no", "yes"})
	for _, row := range []struct {
		class int
		p     float64
	}{{1, 0.9}, {0, 0.8}, {1, 0.7}, {0, 0.4}, {0, 0.3}, {0, 0.2}} {
		c.Add(row.class, two(row.p))
	}
	s := c.Scores()
	// Of the 2·4 pairs of a yes and a no, one is the wrong way round.
	if s.Positive != "yes" || !near(s.ROCArea, 7.0/8) || !near(s.AveragePrecision, 0.5*1+0.5*2/3) {
		t.Errorf("%q: areas %v and %v", s.Positive, s.ROCArea, s.AveragePrecision)
	}
	if m := s.Confusion; m[0][0] != 3 || m[0][1] != 1 || m[1][0] != 0 || m[1][1] != 2 {
		t.Errorf("confusion %v", m)
	}
	if !near(s.Balanced, (3.0/4+1)/2) {
		t.Errorf("balanced %v", s.Balanced)
	}
	yes := c.Class(1)
	if yes.Rows != 2 || !near(yes.Recall, 1) || !near(yes.Precision, 2.0/3) {
		t.Errorf("%+v", yes)
	}
	// Sure of 0.9, 0.8, 0.8, 0.7, 0.7 and 0.6; the second is wrong.
	want := math.Abs(0.6-1) + math.Abs(1.4-2) + math.Abs(1.6-1) + math.Abs(0.9-1)
	if got := float64(s.CalibrationError); math.Abs(got-want/6) > 1e-6 {
		t.Errorf("calibration error %v, want %v", got, want/6)
	}
	if s.ROC[0] != (run.Point{}) || s.ROC[len(s.ROC)-1] != (run.Point{X: 1, Y: 1}) {
		t.Errorf("the curve goes from %v to %v", s.ROC[0], s.ROC[len(s.ROC)-1])
	}
}

// TestConstantIsChance: who says the same of every row is no better than chance, however
// often that is right.
func TestConstantIsChance(t *testing.T) {
	c := NewClasses([]string{"sound", "ill"})
	for i := range 1000 {
		class := 0
		if i%40 == 0 {
			class = 1
		}
		c.Add(class, []float32{3, 0})
	}
	s := c.Scores()
	if s.Positive != "ill" || !near(s.ROCArea, 0.5) || !near(s.AveragePrecision, 0.025) || !near(s.Balanced, 0.5) {
		t.Errorf("%+v", s)
	}
	if ill := c.Class(1); !near(ill.Recall, 0) || !near(ill.Precision, math.NaN()) {
		t.Errorf("%+v", ill)
	}
}

// TestAreaIsTheShareOfPairs in order, ties counting half, by brute force.
func TestAreaIsTheShareOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 2 + rng.IntN(40)
		truth, share := make([]int, n), make([]float64, n)
		for i := range n {
			truth[i], share[i] = rng.IntN(3), float64(rng.IntN(8))/8
		}
		pairs, right := 0.0, 0.0
		for i := range n {
			for j := range n {
				if truth[i] == 1 && truth[j] != 1 {
					pairs++
					switch {
					case share[i] > share[j]:
						right++
					case share[i] == share[j]:
						right += 0.5
					}
				}
			}
		}
		if got := ranked(truth, share, 1, false).area; !near(run.Number(got), right/pairs) {
			t.Fatalf("%v, want %v: %v %v", got, right/pairs, truth, share)
		}
	}
}

// TestCutsCountRows, as counting them one by one does.
func TestCutsCountRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	c := NewClasses([]string{"well", "ill"})
	var truth []int
	var odds []float64
	for range 300 {
		class := rng.IntN(4) / 3
		z := float32(rng.NormFloat64())
		c.Add(class, []float32{0, z})
		truth, odds = append(truth, class), append(odds, float64(z))
	}
	s := c.Scores()
	if s.Positive != "ill" || len(s.Cuts) != 203 {
		t.Fatalf("%d cuts of %s", len(s.Cuts), s.Positive)
	}
	for i, cut := range s.Cuts {
		found, alarms := 0, 0
		least := math.Log(float64(cut.From) / (1 - float64(cut.From)))
		for k, z := range odds {
			switch {
			case z < least-1e-9:
			case truth[k] == 1:
				found++
			default:
				alarms++
			}
		}
		if cut.Found != found || cut.Alarms != alarms || i > 0 && cut.From <= s.Cuts[i-1].From {
			t.Errorf("%+v, want %d and %d", cut, found, alarms)
		}
	}
	if half := s.Cuts[101]; half.Found != s.Confusion[1][1] || half.Alarms != s.Confusion[0][1] {
		t.Errorf("half way %+v, answered %v", half, s.Confusion)
	}
}

// TestWhatNoRowSaysIsNaN: what no row says anything of is NaN, and rows that a model has lost
// its way on are counted.
func TestWhatNoRowSaysIsNaN(t *testing.T) {
	c := NewClasses([]string{"a", "b", "c"})
	if s := c.Scores(); !near(s.ROCArea, math.NaN()) || !near(s.Balanced, math.NaN()) || !near(s.CalibrationError, math.NaN()) || s.Calibration != nil {
		t.Errorf("of no rows: %+v", s)
	}
	c.Add(1, []float32{0, 2, 1})
	c.Add(0, []float32{0, float32(math.NaN()), 1})
	c.Add(0, []float32{float32(math.Inf(1)), 0, 1})
	s := c.Scores()
	if s.Unanswered != 2 || !near(s.Balanced, 0.5) || !near(s.ROCArea, math.NaN()) || c.Class(0).Rows != 2 {
		t.Errorf("%+v", s)
	}
	if s := NewNumbers(1).Scores(); !near(s.MeanError, math.NaN()) || !near(s.R2, math.NaN()) || !near(s.MedianError, math.NaN()) || !near(s.OfMean, math.NaN()) {
		t.Errorf("of no rows: %+v", s)
	}
}

// TestManyPointsAreThinned, and many classes have no table.
func TestManyPointsAreThinned(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := NewClasses([]string{"a", "b"})
	for range 5000 {
		c.Add(rng.IntN(2), []float32{0, float32(rng.NormFloat64())})
	}
	s := c.Scores()
	if len(s.ROC) != mostPoints || len(s.PR) != mostPoints || s.ROC[mostPoints-1] != (run.Point{X: 1, Y: 1}) {
		t.Errorf("%d and %d points, the last %v", len(s.ROC), len(s.PR), s.ROC[len(s.ROC)-1])
	}
	if math.Abs(float64(s.ROCArea)-0.5) > 0.05 { // six deviations: √(5001/(12·2500²)) is 0.008
		t.Errorf("area %v of nothing but chance", s.ROCArea)
	}
	many := NewClasses(make([]string, mostShown+1))
	many.Add(0, make([]float32, mostShown+1))
	if many.Scores().Confusion != nil {
		t.Error("a table that nobody reads")
	}
}

func TestScoresOfNumbersEqualThoseByHand(t *testing.T) {
	c := NewNumbers(1)
	for _, r := range [][2]float32{{1, 2}, {2, 2}, {3, 2}, {6, 8}} {
		c.Add(r[:1], r[1:])
	}
	s := c.Scores()
	// Off by 1, 0, 1 and 2; the targets' mean is 3, and 4+1+0+9 their squares about it.
	if !near(s.MeanError, 1) || !near(s.RootError, math.Sqrt(6.0/4)) || !near(s.R2, 1-6.0/14) || !near(s.MedianError, 1) || !near(s.OfMean, (2+1+0+3)/4.0) {
		t.Errorf("%+v", s)
	}
	even := NewNumbers(2)
	even.Add([]float32{1, 2}, []float32{1, 2})
	even.Add([]float32{1, 2}, []float32{1, 2})
	if s := even.Scores(); !near(s.MeanError, 0) || !near(s.R2, math.NaN()) || !near(s.MedianError, 0) || !near(s.OfMean, 0) {
		t.Errorf("targets that are all the same: %+v", s)
	}
	// One target far from the others moves all but the median.
	far := NewNumbers(1)
	for i := range 99 {
		far.Add([]float32{float32(i)}, []float32{float32(i) + 0.5})
	}
	far.Add([]float32{1e7}, []float32{50})
	if s := far.Scores(); !near(s.MedianError, 0.5) || !(s.R2 < 1e-5) || !(s.MeanError < s.OfMean) {
		t.Errorf("one row far off: %+v", s)
	}
	odd := NewNumbers(1)
	odd.Add([]float32{1}, []float32{float32(math.NaN())})
	if s := odd.Scores(); !near(s.MedianError, math.NaN()) {
		t.Errorf("an answer that is none: %+v", s)
	}
}

// TestFitTellsAModelThatKeepsNearTheMean: a model that keeps near the mean is told by its fit, and
// rows of one answer are told apart nowhere.
func TestFitTellsAModelThatKeepsNearTheMean(t *testing.T) {
	c := NewNumbers(1)
	for i := range 1005 {
		y := float32((i*389)%1005) / 1005 // each once, in no order
		c.Add([]float32{y}, []float32{0.5 + (y-0.5)/2})
	}
	s := c.Scores()
	if len(s.Fit) != 10 {
		t.Fatalf("%d parts", len(s.Fit))
	}
	rows, off := 0, 0.0
	for i, f := range s.Fit {
		rows += f.Rows
		off += float64(f.Rows) * float64(f.Off)
		target := 0.05 + 0.1*float64(i)
		if math.Abs(float64(f.Target)-target) > 2e-3 || math.Abs(float64(f.Answer)-(0.5+(target-0.5)/2)) > 1e-3 || math.Abs(float64(f.Off)-math.Max(math.Abs(target-0.5)/2, 0.0125)) > 0.013 {
			t.Errorf("part %d: %+v", i, f)
		}
	}
	if rows != 1005 || math.Abs(off/1005-float64(s.MeanError)) > 1e-9 {
		t.Errorf("%d rows, off by %v, want %v", rows, off/1005, s.MeanError)
	}
	if got := c.Scores(); !slices.Equal(got.Fit, s.Fit) || got.MedianError != s.MedianError {
		t.Errorf("asked again: %+v, before %+v", got, s)
	}

	few, two, none, same := NewNumbers(1), NewNumbers(2), NewNumbers(1), NewNumbers(1)
	for i := range 30 {
		if i < 19 {
			few.Add([]float32{1}, []float32{2})
		}
		two.Add([]float32{1, 2}, []float32{1, 2})
		none.Add([]float32{1}, []float32{float32(math.NaN())})
		same.Add([]float32{float32(i)}, []float32{7})
	}
	if few.Scores().Fit != nil || two.Scores().Fit != nil || none.Scores().Fit != nil {
		t.Error("a fit of few rows, of two targets, or of no numbers")
	}
	if f := same.Scores().Fit; len(f) != 1 || f[0].Rows != 30 || f[0].Answer != 7 || f[0].Target != 14.5 {
		t.Errorf("of one answer: %+v", f)
	}
	for _, ties := range []int{1, 5, 15, 37, 55, 92, 95, 100} { // at the low end
		c, left := NewNumbers(1), 0
		for i := range 100 {
			c.Add([]float32{0}, []float32{float32(max(i, ties-1))})
		}
		for i, f := range c.Scores().Fit {
			if left += f.Rows; f.Rows < 10 || i == 0 && f.Rows < ties {
				t.Errorf("%d ties: %d rows in part %d", ties, f.Rows, i)
			}
		}
		if left != 100 {
			t.Errorf("%d ties: %d rows of 100", ties, left)
		}
	}
}

// TestMistakesAreTheSurestWrongRows: of rows in any order, the surest wrong ones, as sorting all
// would give.
func TestMistakesAreTheSurestWrongRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 5, 13, 400} {
		c := NewClasses([]string{"a", "b", "c"})
		var all []Mistake
		for row := range n {
			z := []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
			class := rng.IntN(3)
			c.Add(class, z)
			answer, sum := 0, 0.0
			for j := range z {
				if z[j] > z[answer] {
					answer = j
				}
			}
			for j := range z {
				sum += math.Exp(float64(z[j] - z[answer]))
			}
			if answer != class {
				all = append(all, Mistake{row, class, answer, 1 / sum})
			}
		}
		c.Add(0, []float32{float32(math.NaN()), 0, 0})
		slices.SortStableFunc(all, func(a, b Mistake) int { return cmp.Compare(b.Sure, a.Sure) })
		all = all[:min(len(all), 12)]
		got := c.Mistakes()
		if len(got) != len(all) {
			t.Fatalf("%d rows: %d mistakes, not %d", n, len(got), len(all))
		}
		for i, m := range got {
			if m.Row != all[i].Row || m.Class != all[i].Class || m.Answer != all[i].Answer || math.Abs(m.Sure-all[i].Sure) > 1e-6 {
				t.Errorf("%d rows: %+v, not %+v", n, m, all[i])
			}
		}
	}
}

// TestAreasEqualThoseByPairs compares areas with those that pairs of rows come to, of classifiers
// that are as sure as can be, of few rows, of one class alone, and with ties.
func TestAreasEqualThoseByPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	// odds are a class's, by logarithm, so that the surest are told apart, too.
	odds := func(z []float32, class int) float64 {
		most, sum := math.Inf(-1), 0.0
		for j, v := range z {
			if j != class {
				most = max(most, float64(v))
			}
		}
		for j, v := range z {
			if j != class {
				sum += math.Exp(float64(v) - most)
			}
		}
		return float64(z[class]) - most - math.Log(sum)
	}
	for trial := range 3000 {
		k, n := 2+rng.IntN(3), rng.IntN(12)
		scale, alone, ties := math.Pow(10, float64(rng.IntN(5))), rng.IntN(4) == 0, k == 2 && rng.IntN(2) == 0
		c := NewClasses([]string{"a", "b", "c", "d"}[:k])
		var truth []int
		var logits [][]float32
		for range n {
			z := make([]float32, k)
			for j := range z {
				if z[j] = float32(scale * rng.NormFloat64()); ties {
					z[j] = float32(scale) * float32(rng.IntN(3))
				}
			}
			class := rng.IntN(k)
			if alone {
				class = 0
			}
			c.Add(class, z)
			truth, logits = append(truth, class), append(logits, z)
		}
		areas := func(class int) (area, precision float64) {
			pairs, right, all := 0.0, 0.0, 0.0
			for i := range truth {
				if truth[i] != class {
					continue
				}
				all++
				above, of := 0.0, 0.0
				for j := range truth {
					one, other := odds(logits[i], class), odds(logits[j], class)
					if other >= one {
						above++
						if truth[j] == class {
							of++
						}
					}
					if truth[j] != class {
						pairs++
						right += (1 + float64(cmp.Compare(one, other))) / 2
					}
				}
				precision += of / above
			}
			return right / pairs, precision / all
		}
		area, precision, counted := 0.0, 0.0, 0.0
		for class := range k {
			a, p := areas(class)
			if k == 2 && c.names[class] != c.Scores().Positive || math.IsNaN(a) {
				continue
			}
			area, precision, counted = area+a, precision+p, counted+1
		}
		if s := c.Scores(); !near(s.ROCArea, area/counted) || !near(s.AveragePrecision, precision/counted) {
			t.Fatalf("trial %d: areas %v and %v, by pairs %v and %v, of rows of %v with logits %v", trial, s.ROCArea, s.AveragePrecision, area/counted, precision/counted, truth, logits)
		}
	}
}

// TestCertaintyGrowsWithTheOdds: the answer's odds are what they are by definition, and grow with
// it, whether the others' share is a float or not.
func TestCertaintyGrowsWithTheOdds(t *testing.T) {
	last := math.Inf(-1)
	for z := float32(0); z < 2000; z += 0.25 {
		c := NewClasses([]string{"a", "b", "c"})
		c.Add(0, []float32{z, 0, -1})
		got, want := c.odds[0][0], float64(z)-math.Log(1+math.Exp(-1))
		if math.Abs(got-want) > 1e-12*max(want, 1) || got <= last {
			t.Fatalf("odds of %v above 0 and −1: e^%v after e^%v, want e^%v", z, got, last, want)
		}
		last = got
	}
}

// TestSortOddsSortsEverySign: as by comparing, whatever the signs and sizes.
func TestSortOddsSortsEverySign(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{0, 1, 2, 100, 5000} {
		v := make([]float64, n)
		for i := range v {
			switch rng.IntN(8) {
			case 0:
				v[i] = math.Inf(1 - 2*rng.IntN(2))
			case 1:
				v[i] = float64(rng.IntN(5) - 2)
			case 2:
				v[i] = rng.NormFloat64() * math.SmallestNonzeroFloat64 * 10
			default:
				v[i] = rng.NormFloat64() * 20
			}
		}
		want := slices.Clone(v)
		slices.Sort(want)
		if sortOdds(v); !slices.Equal(v, want) {
			t.Errorf("%d values are not sorted", n)
		}
	}
}

// TestAnswersAreAnEvenSelection: few rows are all there, of many there are no more than are drawn, from
// the first on; what is no number is left out, and so are rows of several targets.
func TestAnswersAreAnEvenSelection(t *testing.T) {
	for _, n := range []int{0, 1, 7, 500, 501, 1700} {
		c := NewNumbers(1)
		for i := range n {
			c.Add([]float32{float32(i)}, []float32{float32(i) + 0.5})
		}
		all := c.Answers()
		if len(all) != min(n, 500) {
			t.Fatalf("%d of %d rows", len(all), n)
		}
		widest := (n + 499) / 500
		for i, a := range all {
			if a.Answer != a.Target+0.5 || i == 0 && a.Target != 0 || i > 0 && (a.Target <= all[i-1].Target || float64(a.Target-all[i-1].Target) > float64(widest)) {
				t.Errorf("of %d rows, %v follows %v", n, a, all[max(0, i-1)])
			}
		}
	}
	c := NewNumbers(1)
	for _, a := range []float32{1, float32(math.NaN()), float32(math.Inf(-1)), 2} {
		c.Add([]float32{0}, []float32{a})
	}
	if got := c.Answers(); len(got) != 2 || got[0].Answer != 1 || got[1].Answer != 2 {
		t.Errorf("answers that are numbers: %v", got)
	}
	two := NewNumbers(2)
	two.Add([]float32{0, 1}, []float32{0, 1})
	if got := two.Answers(); got != nil {
		t.Errorf("of two targets: %v", got)
	}
}
