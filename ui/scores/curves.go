package scores

import (
	"encoding/base64"
	"fmt"
	"math"

	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// curves are how recall, alarms and precision go together where rows are put in the order
// of their probability.
type curves struct {
	app.Compo
	Of *run.Scores

	roc, pr chart.Feed
}

var (
	rocSpec = curveSpec("taken", "found")
	prSpec  = curveSpec("found", "right")
)

// curveSpec names the axes in words that have room behind the last tick: the figure's
// caption says what they mean.
func curveSpec(x, y string) chart.Spec {
	return chart.Spec{Kind: "lines", X: chart.Axis{Label: x, Format: "percent", Max: 1}, Y: chart.Axis{Format: "percent", Max: 1},
		Series: []chart.Line{{Label: y, Ink: chart.Diagnostic, Width: 2}}}
}

func (c *curves) Render() app.UI {
	return app.Div().Class("score-curves").Body(
		c.figure("ROC", "Of the rows of “"+c.Of.Positive+"”, how many are found, and how many of the others are taken for them.", &rocSpec, &c.roc),
		c.figure("Precision and recall", "Of the rows that are taken for “"+c.Of.Positive+"”, how many are right; of all that are “"+c.Of.Positive+"”, how many are found.", &prSpec, &c.pr),
	)
}

func (c *curves) figure(title, about string, spec *chart.Spec, feed *chart.Feed) app.UI {
	return app.Figure().Body(
		app.FigCaption().Body(app.Strong().Text(title), app.Span().Text(" "+about)),
		app.Div().Class("plot-box").Body(&chart.Plot{Spec: spec, Feed: feed, Label: title + ", diagnostic"}),
	)
}

func (c *curves) OnMount(app.Context)  { c.draw() }
func (c *curves) OnUpdate(app.Context) { c.draw() }

func (c *curves) draw() {
	drawCurve(&c.roc, c.Of.ROC)
	drawCurve(&c.pr, c.Of.PR)
}

func drawCurve(f *chart.Feed, points []run.Point) {
	if len(points) == 0 {
		return
	}
	x, y := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		x[i], y[i] = float64(p.X), float64(p.Y)
	}
	f.Lines(1, math.NaN(), x, y)
}

// mistakes are the pictures that a model was surest of, and wrong.
func mistakes(list []run.Mistake) app.UI {
	return app.Div().Class("mistakes").Body(
		app.Strong().Text("Surest mistakes"),
		app.Ul().Class("thumbs").Aria("label", "Surest mistakes").Body(app.Range(list).Slice(func(i int) app.UI {
			m := list[i]
			text := fmt.Sprintf("%s, not %s", m.Answer, m.Class)
			return app.Li().Title("sure of " + percent(float64(m.Sure))).Body(&widget.Picture{
				Pixels: base64.StdEncoding.EncodeToString(m.Pixels), Height: m.Height, Width: m.Width, Text: text,
				Label: fmt.Sprintf("an image of class %s that was taken for %s, sure of %s", m.Class, m.Answer, percent(float64(m.Sure))),
			})
		})),
	)
}
