package scores

import (
	"cmp"
	"math"
	"slices"

	"clipscope/core/run"
	"clipscope/ui/chart"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// fitted draws what a model of numbers answered: beside the truth, and what is left between them.
type fitted struct {
	app.Compo
	Of []run.Answered

	answers, residuals chart.Feed
}

var (
	answersSpec   = scatterSpec("truth", "answers")
	residualsSpec = scatterSpec("answer", "off by")
)

// scatterSpec names the axes of points, and of the line on which an answer is right.
func scatterSpec(x, y string) chart.Spec {
	return chart.Spec{Kind: "lines", X: chart.Axis{Label: x, Free: true}, Y: chart.Axis{Free: true}, Values: chart.Diagnostic,
		Series: []chart.Line{{Label: "right", Ink: chart.Faint, Width: 1.5}, {Label: y, Ink: chart.Diagnostic, Points: true}}}
}

func (f *fitted) Render() app.UI {
	return app.Div().Class("score-curves").ID("fitted").Body(
		f.figure("Answers beside the truth", "Each point is a test row; on the line, the answer is right. Points that lie flatter than the line are answers that keep near the mean.", &answersSpec, &f.answers),
		f.figure("Residuals", "Each answer less the truth, by the answer. Around the line at 0 nothing is left to learn; a bend or a fan is what the model has missed.", &residualsSpec, &f.residuals),
	)
}

func (f *fitted) figure(title, about string, spec *chart.Spec, feed *chart.Feed) app.UI {
	return app.Figure().Body(
		app.FigCaption().Body(app.Strong().Text(title), app.Span().Text(" "+about)),
		app.Div().Class("plot-box").Body(&chart.Plot{Spec: spec, Feed: feed, Label: title + ", diagnostic. The tables have means of parts of the rows."}),
	)
}

func (f *fitted) OnMount(app.Context)  { f.draw() }
func (f *fitted) OnUpdate(app.Context) { f.draw() }

func (f *fitted) draw() {
	drawScatter(&f.answers, f.Of, 1, func(a run.Answered) (x, y float64) { return float64(a.Target), float64(a.Answer) })
	drawScatter(&f.residuals, f.Of, 0, func(a run.Answered) (x, y float64) {
		return float64(a.Answer), float64(a.Answer) - float64(a.Target)
	})
}

// drawScatter draws points in the order of their x, and the line y = slope·x.
func drawScatter(f *chart.Feed, of []run.Answered, slope float64, at func(run.Answered) (x, y float64)) {
	if len(of) == 0 {
		return
	}
	order := slices.Clone(of)
	slices.SortStableFunc(order, func(a, b run.Answered) int {
		x, _ := at(a)
		z, _ := at(b)
		return cmp.Compare(x, z)
	})
	x, y, line := make([]float64, len(order)), make([]float64, len(order)), slices.Repeat([]float64{math.NaN()}, len(order))
	for i, a := range order {
		x[i], y[i] = at(a)
	}
	line[0], line[len(line)-1] = slope*x[0], slope*x[len(x)-1]
	f.Lines(0, math.NaN(), x, line, y)
}
