package scores

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// curves relates recall, alarms and precision where rows are put in the order
// of their probability.
type curves struct {
	app.Compo
	Of   *run.Scores
	Base float64 // the positive class's share of the rows

	roc, pr chart.Feed
}

var (
	rocSpec = curveSpec("taken", "found", "chance")
	prSpec  = curveSpec("found", "right", "chance")
)

// curveSpec names the axes in words that have room behind the last tick: the figure's
// caption says what they mean. The second line is what answers without looking at a row
// would come to.
func curveSpec(x, y, blind string) chart.Spec {
	return chart.Spec{Kind: "lines", X: chart.Axis{Label: x, Format: "percent", Max: 1}, Y: chart.Axis{Format: "percent", Max: 1},
		Series: []chart.Line{{Label: y, Ink: chart.Diagnostic, Width: 2}, {Label: blind, Ink: chart.Faint, Width: 1}}}
}

func (c *curves) Render() app.UI {
	of, base := "“"+data.Shown(c.Of.Positive)+"”", percent(c.Base)
	return app.Div().Body(
		app.P().Class("help").Text("Both curves, and the areas under them, are of "+of+", "+c.why()+"."),
		app.Div().Class("score-curves").Body(
			c.figure("ROC", "Of the rows of "+of+", how many are found, and how many of the others are taken for them. The diagonal is what guessing comes to.",
				"area "+digits(float64(c.Of.ROCArea))+", where guessing has 0.5", &rocSpec, &c.roc),
			c.figure("Precision and recall", "Of the rows that are taken for "+of+", how many are right; of all that are "+of+", how many are found. The line at "+base+" is what guessing comes to.",
				"average precision "+digits(float64(c.Of.AveragePrecision))+", where guessing has "+digits(c.Base), &prSpec, &c.pr),
		),
	)
}

// why says why the positive class is that one.
func (c *curves) why() string {
	if c.Base == 0.5 {
		return "the first of two classes that have as many rows as each other"
	}
	return "the rarer of the two classes: " + percent(c.Base) + " of the rows"
}

func (c *curves) figure(title, about, says string, spec *chart.Spec, feed *chart.Feed) app.UI {
	return app.Figure().Body(
		app.FigCaption().Body(app.Strong().Text(title), app.Span().Text(" "+about)),
		app.Div().Class("plot-box").Body(&chart.Plot{Spec: spec, Feed: feed, Label: title + " of “" + data.Shown(c.Of.Positive) + "”, diagnostic: " + says}),
	)
}

func (c *curves) OnMount(app.Context)  { c.draw() }
func (c *curves) OnUpdate(app.Context) { c.draw() }

func (c *curves) draw() {
	drawCurve(&c.roc, c.Of.ROC, 0, 1)
	pr := c.Of.PR
	// Once all are found, to take more rows for them is no choice that anybody has.
	if all := slices.IndexFunc(pr, func(p run.Point) bool { return p.X >= 1 }); all >= 0 {
		pr = pr[:all+1]
	}
	drawCurve(&c.pr, pr, c.Base, c.Base)
}

// drawCurve draws a curve, and the straight line of what there is without a model.
func drawCurve(f *chart.Feed, points []run.Point, from, to float64) {
	if len(points) == 0 {
		return
	}
	nan := math.NaN()
	x, y, base := []float64{0}, []float64{nan}, []float64{from}
	for _, p := range points {
		x, y, base = append(x, float64(p.X)), append(y, float64(p.Y)), append(base, nan)
	}
	base[len(base)-1] = to
	f.Lines(1, nan, x, y, base)
}

// mistakes are the pictures that a model was surest of, and wrong.
func mistakes(list []run.Mistake) app.UI {
	return app.Div().Class("mistakes").Body(
		app.Strong().Text("Surest mistakes"),
		app.Ul().Class("thumbs").Aria("label", "Surest mistakes").Body(app.Range(list).Slice(func(i int) app.UI {
			m := list[i]
			answer, class := data.Shown(m.Answer), data.Shown(m.Class)
			text := fmt.Sprintf("%s, not %s", answer, class)
			return app.Li().Title("sure of " + percent(float64(m.Sure))).Body(&widget.Picture{
				Pixels: base64.StdEncoding.EncodeToString(m.Pixels), Height: m.Height, Width: m.Width, Text: text,
				Label: fmt.Sprintf("an image of class %s that was taken for %s, sure of %s", class, answer, percent(float64(m.Sure))),
			})
		})),
	)
}
