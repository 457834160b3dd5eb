package ui

import (
	"math"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// The charts of the page. All that share the axis of steps share the cursor.
const syncSteps = "steps"

var (
	stepAxis   = Axis{Label: "step"}
	stepHidden = Axis{Label: "step", Hidden: true}

	clippingSpec = &Spec{Kind: "lines", Sync: syncSteps, X: stepHidden, Y: Axis{Format: "percent", Max: 1},
		Series: []Line{{Label: "clipped", Ink: Diagnostic}}}
	thresholdSpec = &Spec{Kind: "lines", Sync: syncSteps, X: stepAxis, Y: Axis{Log: true},
		Series: []Line{{Label: "C", Ink: Released, Width: 2, Stepped: true}}}
	normsSpec = &Spec{Kind: "histogram", X: Axis{Label: "‖g‖"}, Y: Axis{}, Mark: "vertical", MarkLabel: "C",
		Series: []Line{{Label: "w", Ink: Released, Scale: "w", Width: 2}, {Ink: Diagnostic}}}
	accuracySpec = &Spec{Kind: "lines", Sync: syncSteps, X: stepHidden, Y: Axis{Format: "percent", Max: 1},
		Series: []Line{{Label: "batch", Ink: Diagnostic, Width: 1}, {Label: "test", Ink: Diagnostic, Width: 2, Points: true}}}
	lossSpec = &Spec{Kind: "lines", Sync: syncSteps, X: stepAxis, Y: Axis{},
		Series: []Line{{Label: "batch", Ink: Diagnostic, Width: 1}, {Label: "test", Ink: Diagnostic, Width: 2, Points: true}}}
	epsilonSpec = &Spec{Kind: "lines", Sync: syncSteps, X: stepAxis, Y: Axis{Format: "bound"}, Mark: "horizontal", MarkLabel: "charged",
		Series: []Line{{Label: "ε", Ink: Released, Width: 2}}}
	curvesSpec = &Spec{Kind: "lines", X: Axis{Label: "C"}, Y: Axis{}, Mark: "vertical", MarkLabel: "least at",
		Series: []Line{{Label: "noise", Ink: Released, Width: 1}, {Label: "clipping", Ink: Released, Width: 1}, {Label: "sum", Ink: Released, Width: 2.5}}}
)

// panels are the charts in the order in which they stack; the curves only
// where the rule has some.
func (s *session) panels() []*Panel {
	l, blank := s.run.live, true
	m := words.Moment{}
	if l != nil && l.series.Len() > 0 {
		m, blank = l.moment(), false
	}
	texts := sentences(m, blank)
	if !blank {
		texts[1] = join(texts[1], words.Gradient(l.gradient, l.gradientAt))
	}
	list := []*Panel{
		{ID: "clipping", Figures: s.figs.clipping, Text: texts[0]},
		{ID: "norms", Figures: s.figs.norms, Text: texts[1]},
		{ID: "learning", Figures: s.learning(), Text: texts[2]},
		{ID: "epsilon", Figures: s.figs.epsilon, Text: texts[3]},
	}
	if s.weighs() {
		list = append(list, &Panel{ID: "curves", Figures: s.figs.curves, Text: texts[4]})
	}
	hidden := s.hidden()
	for _, p := range list {
		p.Blank, p.Hidden = blank, hidden
		for _, f := range p.Figures {
			p.Without = append(p.Without, !blank && !f.has(l))
		}
		p.Rows = rows(p.ID, m, blank)
		if p.ID == "norms" && !blank {
			p.Rows = append(p.Rows, gradientRows(l.gradient)...)
		}
	}
	return list
}

// hidden says why diagnostics are not shown, if they are not.
func (s *session) hidden() string {
	c := s.full()
	if s.run.live != nil {
		c = s.run.live.cfg
	}
	switch {
	case !c.Blind:
		return ""
	case s.run.phase == done:
		return "Not measured: this run was blind."
	default:
		return "Not measured: the run is blind, so that only released values can decide when to stop it."
	}
}

// learning leaves accuracy out where the targets are not classes.
func (s *session) learning() []*figure {
	if r := s.data.report; r != nil && r.Task == data.Regression {
		return s.figs.learning[1:]
	}
	return s.figs.learning
}

// weighs reports whether the experiment's rule draws error curves.
func (s *session) weighs() bool {
	c := s.full()
	if s.run.live != nil {
		c = s.run.live.cfg
	}
	_, ok := ruleOf(c).(clip.Curver)
	return ok
}

func sentences(m words.Moment, blank bool) [5]string {
	if blank {
		return [5]string{}
	}
	return [5]string{
		join(words.Clipping(m), words.Threshold(m)), words.Norms(m), words.Learning(m), words.Spending(m), words.Trade(m),
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// figures are made once: their pointers tell the panels that nothing changed.
type figureSet struct{ clipping, norms, learning, epsilon, curves []*figure }

func newFigures(f *feeds) figureSet {
	return figureSet{
		clipping: []*figure{
			{Title: "Clipping frequency", Ink: Diagnostic, Spec: clippingSpec, Feed: &f.clipping, Empty: "The share of each batch whose gradients were longer than C.", None: "Nothing is clipped in this run.", has: column(series.Clipped)},
			{Title: "Threshold C", Ink: Released, Spec: thresholdSpec, Feed: &f.threshold, Empty: "The threshold of every step. Start a run to see it.", None: "This run has no threshold.", has: column(series.C)},
		},
		norms: []*figure{
			{Title: "Gradient norms of this batch", Ink: Diagnostic, Spec: normsSpec, Feed: &f.norms, Empty: "How long the gradients of the newest batch are, with C and the weight w(‖g‖) that each is scaled by.", None: "No norms are measured in this run.", has: func(l *live) bool { return l.norms != nil }},
		},
		learning: []*figure{
			{Title: "Accuracy", Ink: Diagnostic, Spec: accuracySpec, Feed: &f.accuracy, Empty: "Accuracy on each batch and on the test rows.", has: column(series.TrainAcc)},
			{Title: "Loss", Ink: Diagnostic, Spec: lossSpec, Feed: &f.loss, Empty: "Loss on each batch and on the test rows.", has: column(series.TrainLoss)},
		},
		epsilon: []*figure{
			{Title: "Privacy cost", Ink: Released, Spec: epsilonSpec, Feed: &f.epsilon, Empty: "ε of a run planned to end at each step, and that of the whole run, which is what it is charged.", None: "ε is ∞: nothing is protected.", has: column(series.Epsilon)},
		},
		curves: []*figure{
			{Title: "Estimated error", Ink: Released, Spec: curvesSpec, Feed: &f.curves, Empty: "What noise and clipping would cost at other thresholds; the rule takes the least.", has: func(l *live) bool { return l.curves != nil }},
		},
	}
}

func column(c series.Column) func(*live) bool { return func(l *live) bool { return l.seen[c] } }

// rows are the latest values of a panel.
func rows(id string, m words.Moment, blank bool) []Row {
	if blank {
		return []Row{{"nothing yet", words.Missing, Released}}
	}
	r := m.Event.Released
	d := m.Event.Diag
	if d == nil {
		nan := run.Number(math.NaN())
		d = &run.Diag{ClipFraction: nan, TrainLoss: nan, TrainAcc: nan}
	}
	switch id {
	case "clipping":
		size := words.Count(d.BatchSize)
		if m.Event.Diag == nil {
			size = words.Missing
		}
		return []Row{
			{"clipped", words.Percent(float64(d.ClipFraction), 1), Diagnostic},
			{"batch size", size, Diagnostic},
			{"max_grad_norm", words.Number(r.MaxGradNorm, 4), Released},
			{"noisy gradient norm", words.Number(float64(r.GradNorm), 4), Released},
		}
	case "norms":
		return normRows(d.Norms, r)
	case "learning":
		return learningRows(d, m.Test)
	case "epsilon":
		list := []Row{{"ε, planned to end here", words.Upper(float64(r.Epsilon), 4), Released}, {"step", words.Count(m.Event.Step), Released}}
		if m.PlannedEpsilon > 0 {
			list = append(list, Row{"ε of the whole run", words.Upper(m.PlannedEpsilon, 4), Released})
		}
		return list
	default:
		return curveRows(r.Curves)
	}
}

func normRows(n *run.Norms, r run.Released) []Row {
	if n == nil {
		return []Row{{"norms", words.Missing, Diagnostic}}
	}
	return []Row{
		{"10th percentile", words.Number(float64(n.P10), 3), Diagnostic},
		{"median", words.Number(float64(n.P50), 3), Diagnostic},
		{"90th percentile", words.Number(float64(n.P90), 3), Diagnostic},
		{"largest", words.Number(float64(n.Max), 3), Diagnostic},
		{"max_grad_norm", words.Number(r.MaxGradNorm, 4), Released},
	}
}

// gradientRows are the values of a comparison, if there was one.
func gradientRows(g *run.GradientDiag) []Row {
	if g == nil {
		return nil
	}
	return []Row{
		{"cosine of clipped and true mean", words.Number(float64(g.Cosine), 4), Diagnostic},
		{"norm of the true mean", words.Number(float64(g.TrueNorm), 3), Diagnostic},
		{"bias of clipping", words.Number(float64(g.Bias), 3), Diagnostic},
		{"variance of the noise", words.Number(float64(g.NoiseVariance), 3), Diagnostic},
	}
}

func learningRows(d *run.Diag, test *run.Eval) []Row {
	list := []Row{
		{"batch accuracy", words.Percent(float64(d.TrainAcc), 1), Diagnostic},
		{"batch loss", words.Number(float64(d.TrainLoss), 3), Diagnostic},
	}
	if test == nil {
		return list
	}
	return append(list,
		Row{"test accuracy", words.Percent(float64(test.Accuracy), 1), Diagnostic},
		Row{"test loss", words.Number(float64(test.Loss), 3), Diagnostic})
}

func curveRows(e *run.ErrorCurves) []Row {
	if e == nil || len(e.C) == 0 {
		return []Row{{"curves", words.Missing, Released}}
	}
	best := 0
	for i := range e.C {
		if e.Variance[i]+e.Bias[i] < e.Variance[best]+e.Bias[best] {
			best = i
		}
	}
	return []Row{
		{"least at C", words.Number(e.C[best], 3), Released},
		{"noise there", words.Number(e.Variance[best], 3), Released},
		{"clipping there", words.Number(e.Bias[best], 3), Released},
	}
}
