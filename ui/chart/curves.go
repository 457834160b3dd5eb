package chart

import (
	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// curves charts the errors that the rule weighs to choose a threshold, where it draws
// curves of it.
func curves() *Chart {
	return &Chart{
		Title: "Estimated error", Ink: Released,
		Empty: "What noise and clipping would cost at other thresholds; the rule takes the least.",
		Spec: Spec{Kind: "lines", X: Axis{Label: "C"}, Mark: "vertical", MarkLabel: "least at",
			Series: []Line{{Label: "noise", Ink: Released, Width: 1}, {Label: "clipping", Ink: Released, Width: 1}, {Label: "sum", Ink: Released, Width: 2.5}}},
		fits: func(c *run.Config, _ data.Task, _ *series.Record) bool {
			_, ok := form.Rule(c).(clip.Curver)
			return ok
		},
		has:      func(r *series.Record) bool { return r.Curves != nil },
		draw:     drawCurves,
		sentence: func(r *series.Record) string { return words.Trade(r.Moment()) },
		rows:     curveRows,
	}
}

func drawCurves(f *Feed, runs []*series.Record) {
	e := runs[len(runs)-1].Curves
	if e == nil || len(e.C) == 0 {
		return
	}
	sum := make([]float64, len(e.C))
	for i := range e.C {
		sum[i] = e.Variance[i] + e.Bias[i]
	}
	f.Lines(e.C[len(e.C)-1], e.C[least(e)], e.C, e.Variance, e.Bias, sum)
}

// least returns the index at which the sum of both curves is least.
func least(e *run.ErrorCurves) int {
	best := 0
	for i := range e.C {
		if e.Variance[i]+e.Bias[i] < e.Variance[best]+e.Bias[best] {
			best = i
		}
	}
	return best
}

func curveRows(r *series.Record) []Row {
	e := r.Curves
	if e == nil || len(e.C) == 0 {
		return []Row{{"curves", words.Missing, Released}}
	}
	best := least(e)
	return []Row{
		{"least at C", words.Number(e.C[best], 3), Released},
		{"noise there", words.Number(e.Variance[best], 3), Released},
		{"clipping there", words.Number(e.Bias[best], 3), Released},
	}
}
