package scores

import (
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// TestAnAccuracyOfTheLargestClassSaysSo: an accuracy that the largest class would have is said to
// be one.
func TestAnAccuracyOfTheLargestClassSaysSo(t *testing.T) {
	classes := []run.ClassScore{{Class: "sick", Rows: 25}, {Class: "well", Rows: 975}}
	nan := run.Number(math.NaN())
	for _, tt := range []struct {
		accuracy run.Number
		classes  []run.ClassScore
		want     string
	}{
		{0.975, classes, "No better than answering “well” always, which is right for 97.5 % of the test rows."},
		{0.4, classes, "No better than answering “well” always, which is right for 97.5 % of the test rows."},
		{0.976, classes, ""},
		{nan, nil, ""},
	} {
		r := &run.Result{TestAccuracy: tt.accuracy, TestClasses: tt.classes, TestRows: 1000}
		if got, advice := Flattered(r), Advice(r, Training{}); got != tt.want || (advice == "") != (tt.want == "") {
			t.Errorf("accuracy %v: %q, want %q", tt.accuracy, got, tt.want)
		}
	}
}

// TestAModelOfNumbersIsHeldAgainstTheirMean: a model of numbers is held against their mean.
func TestAModelOfNumbersIsHeldAgainstTheirMean(t *testing.T) {
	nan := run.Number(math.NaN())
	for r2, want := range map[run.Number]string{-2.76: "No better than answering the mean always: R² is −2.76.", 0: "R² is 0.", 0.01: "", nan: ""} {
		r := &run.Result{TestAccuracy: nan, TestRows: 10, TestScores: &run.Scores{MeanError: 3, R2: r2}}
		if got, advice := Flattered(r), Advice(r, Training{}); !strings.HasSuffix(got, want) || (got == "") != (want == "") || (advice == "") != (want == "") {
			t.Errorf("R² %v: %q, want %q", r2, got, want)
		}
	}
	for of, want := range map[run.Number]string{10: "nearer to the truth than the mean is", 3.5: "No better than answering the mean"} {
		if got := Flattered(&run.Result{TestAccuracy: nan, TestRows: 10, TestScores: &run.Scores{MeanError: 3, OfMean: of, R2: -0.001}}); !strings.Contains(got, want) {
			t.Errorf("the mean is off by %v: %q", of, got)
		}
	}
	if got := Flattered(&run.Result{TestAccuracy: nan, TestRows: 10, TestScores: &run.Scores{MeanError: nan}}); got != "" {
		t.Errorf("of classes: %q", got)
	}
}

// TestADivergedModelSaysSo: of a model that answers nothing any more it is not said that it
// answers little.
func TestADivergedModelSaysSo(t *testing.T) {
	nan, inf := run.Number(math.NaN()), run.Number(math.Inf(1))
	for name, tt := range map[string]struct {
		scores run.Scores
		want   string
	}{
		"classes without answers":     {run.Scores{Unanswered: 6, MeanError: nan, OfMean: nan, R2: nan}, "6 of 10 rows have no answer."},
		"rows that are out of bounds": {run.Scores{Unanswered: 5, MeanError: nan, OfMean: nan, R2: nan}, ""},
		"answers that are no numbers": {run.Scores{MeanError: nan, OfMean: 4, R2: nan}, "no numbers"},
		"answers without bounds":      {run.Scores{MeanError: inf, OfMean: 4, R2: -inf}, "no numbers"},
		"answers far off":             {run.Scores{MeanError: 12_345, OfMean: 4, R2: -1e9}, "off by 12,345 on average, and the mean of the rows by 4."},
		"answers off":                 {run.Scores{MeanError: 119, OfMean: 4, R2: -900}, ""},
		"targets that are all alike":  {run.Scores{MeanError: 3, OfMean: 0, R2: nan}, ""},
	} {
		r := &run.Result{TestAccuracy: nan, TestLoss: nan, TestRows: 10, TestScores: &tt.scores}
		got, advice := Flattered(r), Advice(r, Training{})
		if said := strings.HasPrefix(got, "The model diverged: "); said != (tt.want != "") || !strings.Contains(got, tt.want) || said && !strings.Contains(advice, "learning rate") {
			t.Errorf("%s: %q, %q", name, got, advice)
		}
	}
}

// TestCurvesSayWhatGuessingComesTo: beside each curve stands the one of answers that look
// at no row, and in words whose curve it is, and why.
func TestCurvesSayWhatGuessingComesTo(t *testing.T) {
	points := []run.Point{{X: 0.5, Y: 0.75}, {X: 1, Y: 1}}
	pr := append(slices.Clone(points), run.Point{X: 1, Y: 0.5}) // all are found before
	for rare, why := range map[int]string{25: "“sick”, the rarer of the two classes: 2.5 % of the rows", 975: "“sick”, the first of two classes that have as many rows"} {
		r := &run.Result{TestClasses: []run.ClassScore{{Class: "sick", Rows: rare}, {Class: "well", Rows: 975}},
			TestScores: &run.Scores{Positive: "sick", ROCArea: 0.9, AveragePrecision: 0.6, ROC: points, PR: pr}}
		base := float64(rare) / float64(rare+975)
		c := &curves{Of: r.TestScores, Base: baseRate(r)}
		html := app.HTMLString(c)
		for _, want := range []string{why, "area 0.9, where guessing has 0.5", "average precision 0.6, where guessing has " + digits(base), "The line at " + percent(base)} {
			if !strings.Contains(html, want) {
				t.Errorf("no %q in %s", want, html)
			}
		}
		c.draw()
		nan := math.NaN()
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if got := c.roc.Numbers[5:]; !slices.EqualFunc(got, []float64{0, 0.5, 1, nan, 0.75, 1, 0, nan, 1, 0}, same) {
			t.Errorf("the ROC curve is sent as %v", got)
		}
		if got := c.pr.Numbers[5:]; !slices.EqualFunc(got, []float64{0, 0.5, 1, nan, 0.75, 1, base, nan, base, 0}, same) {
			t.Errorf("the curve of precision is sent as %v", got)
		}
	}
}

func TestEpsilonSaysWhereItIsNoBound(t *testing.T) {
	for _, c := range []struct {
		e         run.Number
		guarantee string
		want      string
	}{
		{2, "(ε = 2, δ = 1e-05)-differential privacy for every training row.", "<dt>ε</dt>"},
		{2, run.NoGuarantee + "the seed is fixed.", "<dt>ε, no guarantee</dt>"},
		{run.Number(math.Inf(1)), run.NoGuarantee + "this run adds no noise (ε = ∞).", "<dt>ε</dt>"}, // which says it
	} {
		if html := app.HTMLString(Epsilon("ε", c.e, c.guarantee)); !strings.Contains(html, c.want) {
			t.Errorf("%v, %q: no %s in %s", c.e, c.guarantee, c.want, html)
		}
	}
}

// TestLabelsAreHeldAgainstAnswersThatAreAllAlike: the figure of several labels is the mean accuracy of one, beside what answering all
// rows alike comes to; a model that is no better says so, whatever share of rows is right as a whole.
func TestLabelsAreHeldAgainstAnswersThatAreAllAlike(t *testing.T) {
	for _, tt := range []struct {
		accuracy run.Number
		want     string
	}{{0.9, "No better than answering all rows alike, which is right for 90.0 % of the labels."}, {0.91, ""}} {
		r := &run.Result{TestAccuracy: 0.7, TestRows: 100, TestScores: &run.Scores{
			Labels:    []run.LabelScore{{Label: "a", Rows: 10, Accuracy: tt.accuracy, Majority: 0.9}},
			LabelMean: &run.LabelScore{Accuracy: tt.accuracy, Majority: 0.9},
		}}
		if got, advice := Flattered(r), Advice(r, Training{}); got != tt.want || (advice == "") != (tt.want == "") {
			t.Errorf("accuracy %v: %q, want %q; %q", tt.accuracy, got, tt.want, advice)
		}
		if h := Headline(r); h[0] != "test accuracy of a label" || !strings.HasPrefix(h[1], "9") {
			t.Errorf("the headline is %q", h)
		}
		if b := Beside(r); len(b) != 2 || b[0] != [2]string{"all rows alike", "90.0 %"} || b[1] != [2]string{"rows with all labels right", "70.0 %"} {
			t.Errorf("beside stands %q", b)
		}
	}
}

// TestAnswersOfNumbersAreDrawn: beside the truth with the diagonal, and what they are off by around 0, in
// the order of what is below; without answers there are no such figures.
func TestAnswersOfNumbersAreDrawn(t *testing.T) {
	r := &run.Result{TestRows: 3, TestAccuracy: run.Number(math.NaN()), TestScores: &run.Scores{MeanError: 1}, Answers: []run.Answered{{Target: 5, Answer: 4}, {Target: -2, Answer: 1}, {Target: 3, Answer: 3}}}
	if html := app.HTMLString(View(r)); !strings.Contains(html, `id="fitted"`) || strings.Count(html, "<figure>") != 2 {
		t.Errorf("no figures: %s", html)
	}
	f := &fitted{Of: r.Answers}
	f.draw()
	nan := math.NaN()
	for name, c := range map[string]struct{ got, want []float64 }{
		"answers":   {f.answers.Numbers, []float64{3, 3, 0, nan, 0, -2, 3, 5, -2, nan, 5, 1, 3, 4, 0}},
		"residuals": {f.residuals.Numbers, []float64{3, 3, 0, nan, 0, 1, 3, 4, 0, nan, 0, 3, 0, -1, 0}},
	} {
		if !slices.EqualFunc(c.got, c.want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Errorf("%s: sent %v, want %v", name, c.got, c.want)
		}
	}
	r.Answers = nil
	if strings.Contains(app.HTMLString(View(r)), `id="fitted"`) {
		t.Error("figures of no answers")
	}
}
