// Package scores shows a model's scores on rows whose answers are known: a run's test
// rows, or those of a file.
package scores

import (
	"math"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/core/score"
	"clipscope/ui/chart"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// View draws the scores beyond accuracy, folded up.
func View(r *run.Result) app.UI {
	figures := areas(r)
	return app.Details().Class("scores").ID("scores").Body(
		app.Summary().Text("Test rows in detail"),
		app.Dl().Class("areas").Body(app.Range(figures).Slice(func(i int) app.UI {
			return Figure(figures[i][0], figures[i][1], chart.Diagnostic)
		})),
		app.If(len(r.Mistakes) > 0, func() app.UI { return mistakes(r.Mistakes) }),
		app.If(len(r.TestScores.ROC) > 0, func() app.UI { return &curves{Of: r.TestScores, Base: baseRate(r)} }),
		app.If(len(r.TestScores.Cuts) > 0, func() app.UI { return &decision{Of: r.TestScores} }),
		app.If(len(r.Answers) > 0, func() app.UI { return &fitted{Of: r.Answers} }),
		app.Div().Class("score-tables").Body(
			app.If(len(r.TestClasses) > 0, func() app.UI { return classScores(r) }),
			app.If(len(r.TestScores.Labels) > 0, func() app.UI { return labelScores(r.TestScores) }),
			app.If(r.TestScores.Confusion != nil, func() app.UI { return confusion(r) }),
			app.If(len(r.TestScores.Calibration) > 0, func() app.UI { return calibration(r.TestScores) }),
			app.If(len(r.TestScores.Fit) > 0, func() app.UI { return fit(r.TestScores) }),
		),
		app.If(r.TestScores.MeanError > 0 && r.TestRows < score.LeastParted, func() app.UI {
			return app.P().Class("help").Text("Answers are put beside the truth in parts of the rows from " + words.Plural(score.LeastParted, "row") + " on.")
		}),
		app.P().Class("help").Text("Diagnostics, like test accuracy: computed from the test rows without noise, and in no file unless asked for."),
	)
}

// baseRate is the share that the positive class has of the rows.
func baseRate(r *run.Result) float64 {
	positive, all := 0, 0
	for _, c := range r.TestClasses {
		if all += c.Rows; c.Class == r.TestScores.Positive {
			positive = c.Rows
		}
	}
	return float64(positive) / float64(all)
}

// areas are the figures that say in one number how good a model is, those that there are.
func areas(r *run.Result) [][2]string {
	s := r.TestScores
	area, balanced, precision := "area under ROC", "balanced accuracy", "average precision"
	if s.LabelMean != nil {
		area, balanced, precision = "mean area under ROC", "mean balanced accuracy", "mean average precision"
	}
	if s.Positive != "" {
		area += " of " + data.Shown(s.Positive)
	}
	var all [][2]string
	for _, f := range []struct {
		name   string
		value  run.Number
		format func(float64) string
	}{
		{balanced, s.Balanced, percent}, {area, s.ROCArea, digits}, {precision, s.AveragePrecision, digits},
		{"calibration error", s.CalibrationError, percent},
		{"mean absolute error", s.MeanError, amount}, {"median absolute error", since(s, s.MedianError), amount}, {"root mean squared error", s.RootError, amount}, {"R²", s.R2, digits},
	} {
		if x := float64(f.value); !math.IsNaN(x) {
			all = append(all, [2]string{f.name, f.format(x)})
		}
	}
	if s.Unanswered > 0 {
		all = append(all, [2]string{"rows without an answer", words.Count(s.Unanswered)})
	}
	return all
}

func percent(x float64) string { return words.Percent(x, 1) }
func digits(x float64) string  { return words.Number(x, 3) }

// classScores is a table of the classes: an accuracy says little where one class is most
// of the rows.
func classScores(r *run.Result) app.UI {
	list := r.TestClasses[:min(len(r.TestClasses), mostClasses)]
	return Table("By class", []string{"class", "test rows", "found", "answers right"}, len(list), func(i int) []string {
		c := list[i]
		return []string{data.Shown(c.Class), words.Count(c.Rows), percent(float64(c.Recall)), percent(float64(c.Precision))}
	})
}

// labelScores is a table of the labels of a row, with the means over all at its end.
func labelScores(s *run.Scores) app.UI {
	list := s.Labels[:min(len(s.Labels), mostClasses)]
	figure := func(format func(float64) string, x run.Number) string {
		if math.IsNaN(float64(x)) {
			return "–"
		}
		return format(float64(x))
	}
	return Table("By label", []string{"label", "rows with it", "accuracy", "all alike", "balanced", "F1", "area"}, len(list)+1, func(i int) []string {
		name, rows, l := "mean", "", *s.LabelMean
		if i < len(list) {
			l = list[i]
			name, rows = data.Shown(l.Label), words.Count(l.Rows)
		}
		return []string{name, rows, figure(percent, l.Accuracy), figure(percent, l.Majority), figure(percent, l.Balanced), figure(digits, l.F1), figure(digits, l.ROCArea)}
	})
}

// confusion counts rows by their class and by what was answered.
func confusion(r *run.Result) app.UI {
	head := []string{"rows of ↓ answered →"}
	for _, c := range r.TestClasses {
		head = append(head, data.Shown(c.Class))
	}
	return Table("What was answered", head, len(r.TestClasses), func(i int) []string {
		cells := []string{data.Shown(r.TestClasses[i].Class)}
		for _, n := range r.TestScores.Confusion[i] {
			cells = append(cells, words.Count(n))
		}
		return cells
	})
}

// calibration says how far to believe the model's probabilities.
func calibration(s *run.Scores) app.UI {
	return Table("How sure, and how right", []string{"sure of", "rows", "right"}, len(s.Calibration), func(i int) []string {
		c := s.Calibration[i]
		return []string{percent(float64(c.Sure)), words.Count(c.Rows), percent(float64(c.Accuracy))}
	})
}

// fit says where on the scale answers can be believed: a model that was clipped much, or has
// learned little, keeps near the mean.
func fit(s *run.Scores) app.UI {
	return Table("Answers beside the truth, on average", []string{"answers", "rows", "truth", "off by"}, len(s.Fit), func(i int) []string {
		f := s.Fit[i]
		return []string{amount(float64(f.Answer)), words.Count(f.Rows), amount(float64(f.Target)), amount(float64(f.Off))}
	})
}

// amount is a number of the data's, its thousands apart.
func amount(x float64) string {
	if a := math.Abs(x); a >= 1000 && a < 1e6 {
		return words.Count(int(math.Round(x)))
	}
	return digits(x)
}

// Table has the first cell of each row for its head.
func Table(caption string, head []string, rows int, row func(int) []string) app.UI {
	return app.Div().Class("scroll").TabIndex(0).Role("region").Aria("label", caption).Body(app.Table().Body(
		app.Caption().Text(caption),
		app.THead().Body(app.Tr().Body(app.Range(head).Slice(func(i int) app.UI { return app.Th().Scope("col").Text(head[i]) }))),
		app.TBody().Body(app.Range(make([]struct{}, rows)).Slice(func(i int) app.UI {
			cells := row(i)
			return app.Tr().Body(app.Th().Scope("row").Text(cells[0]), app.Range(cells[1:]).Slice(func(j int) app.UI { return app.Td().Text(cells[j+1]) }))
		})),
	))
}

// mostClasses limits the classes in the table.
const mostClasses = 100

// Headline is the figure on the test rows, after its name; nothing where none were
// tested. Of numbers it is R², as a loss is of scaled ones.
func Headline(r *run.Result) []string {
	switch a, l := float64(r.TestAccuracy), float64(r.TestLoss); {
	case ofLabels(r) != nil:
		return []string{"test accuracy of a label", percent(float64(ofLabels(r).Accuracy))}
	case !math.IsNaN(a):
		return []string{"test accuracy", words.Percent(a, 1)}
	case r.TestScores != nil && !math.IsNaN(float64(r.TestScores.R2)):
		return []string{"test R²", digits(float64(r.TestScores.R2))}
	case !math.IsNaN(l):
		return []string{"test loss", words.Number(l, 3)}
	}
	return nil
}

// since is a figure of numbers that results had not always; NaN where it is missing.
func since(s *run.Scores, x run.Number) run.Number {
	if x == 0 && s.MeanError > 0 {
		return run.Number(math.NaN())
	}
	return x
}

// ofLabels returns the means over the labels of multi-label data; nil of other data.
func ofLabels(r *run.Result) *run.LabelScore {
	if r.TestScores == nil {
		return nil
	}
	return r.TestScores.LabelMean
}

// Beside are the figures that the headline is to be read with, after their names: what the
// largest class alone would come to, of several labels what answering all rows alike would, and of numbers how far answers are off, and the mean.
func Beside(r *run.Result) (all [][2]string) {
	if share := r.LargestShare(); !math.IsNaN(share) {
		return [][2]string{{"largest class", percent(share)}}
	}
	s := r.TestScores
	if l := ofLabels(r); l != nil {
		return [][2]string{{"all rows alike", percent(float64(l.Majority))}, {"rows with all labels right", percent(float64(r.TestAccuracy))}}
	}
	if s == nil || math.IsNaN(float64(s.R2)) {
		return nil
	}
	all = [][2]string{{"mean absolute error", amount(float64(s.MeanError))}}
	if x := float64(since(s, s.OfMean)); !math.IsNaN(x) {
		all = append(all, [2]string{"of the mean alone", amount(x)})
	}
	return all
}

// Epsilon is ε of a run that has ended, under a name that says so where it is no bound:
// guarantee is the run's sentence.
func Epsilon(name string, e run.Number, guarantee string) app.UI {
	ink := chart.Released
	if strings.HasPrefix(guarantee, run.NoGuarantee) && !math.IsInf(float64(e), 1) {
		name, ink = name+", no guarantee", chart.Plain
	}
	return Figure(name, words.Epsilon(float64(e)), ink)
}

// Figure is a value with its name, in the ink of what it is.
func Figure(name, value string, ink chart.Ink) app.UI {
	return app.Div().Class("value-"+string(ink)).Body(app.Dt().Text(name), app.Dd().Class("figure").Text(value))
}
