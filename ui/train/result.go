package train

import (
	"math"

	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// saver is where the result's downloads go.
type saver interface {
	save(kind string, diagnostics bool)
	saveParameters()
}

// resultView is what a run ended with.
type resultView struct {
	app.Compo
	ID     string // of the run
	Result *run.Result
	Saver  saver

	diagnostics bool
}

// CompoID keeps the tick of one run from standing at another.
func (v *resultView) CompoID() string { return "result-" + v.ID }

func (v *resultView) Render() app.UI {
	r := v.Result
	save := func(kind string) app.EventHandler {
		return func(app.Context, app.Event) { v.Saver.save(kind, v.diagnostics) }
	}
	return app.Section().Class("result").ID("result").Aria("label", "Result").Body(
		app.Dl().Class("result-figures").Body(
			app.If(score(r) != nil, func() app.UI { return resultFigure(score(r)[0], score(r)[1], chart.Diagnostic) }),
			resultFigure("ε", words.Epsilon(float64(r.Epsilon)), chart.Released),
			app.If(r.Stopped && r.Steps > 0, func() app.UI {
				return resultFigure("ε, planned for "+words.Count(r.Steps), words.Epsilon(float64(r.EpsilonAtStep)), chart.Released)
			}),
			resultFigure("δ", words.Upper(r.Delta, 2), chart.Released),
			resultFigure("steps", stepsDone(r), chart.Released),
			resultFigure("time", words.Duration(r.TrainSeconds)+perStep(r), chart.Diagnostic),
			resultFigure("back end", r.Backend, chart.Released),
		),
		app.Div().Class("buttons downloads").Body(
			widget.Download("json", "Run, JSON", save("json")),
			widget.Download("csv", "Run, CSV", save("csv")),
			widget.Download("parameters", "Model", func(app.Context, app.Event) { v.Saver.saveParameters() }),
		),
		app.Div().Class("result-words").Body(
			app.P().Class("guarantee").Text(r.Guarantee),
			app.Range(r.Notes).Slice(func(i int) app.UI { return app.P().Class("warning").Text(r.Notes[i]) }),
		),
		&statementView{Result: r},
		v.tick(),
	)
}

// tick adds to a file what the guarantee does not cover.
func (v *resultView) tick() app.UI {
	return app.Label().Class("tick").Body(
		app.Input().Type("checkbox").ID("with-diagnostics").Checked(v.diagnostics).OnChange(func(ctx app.Context, _ app.Event) {
			v.diagnostics = ctx.JSSrc().Get("checked").Bool()
		}),
		app.Span().Text("with diagnostics: the guarantee then does not cover the file, which can tell about single rows"),
	)
}

// score is the figure on the test rows, after its name; nothing where none were
// tested.
func score(r *run.Result) []string {
	switch a, l := float64(r.TestAccuracy), float64(r.TestLoss); {
	case !math.IsNaN(a):
		return []string{"test accuracy", words.Percent(a, 1)}
	case !math.IsNaN(l):
		return []string{"test loss", words.Number(l, 3)}
	}
	return nil
}

func resultFigure(name, value string, ink chart.Ink) app.UI {
	return app.Div().Class("value-"+string(ink)).Body(app.Dt().Text(name), app.Dd().Class("figure").Text(value))
}

func stepsDone(r *run.Result) string {
	if r.Stopped {
		return words.Count(r.Steps) + " of " + words.Count(r.PlannedSteps) + ", stopped"
	}
	return words.Count(r.Steps)
}

func perStep(r *run.Result) string {
	if r.Steps == 0 {
		return ""
	}
	return ", " + words.Duration(r.TrainSeconds/float64(r.Steps)) + " a step"
}
