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

// resultView is what a run ended with, and how it was asked for.
type resultView struct {
	app.Compo
	Result *run.Result
	Saver  saver

	diagnostics bool
}

func (v *resultView) Render() app.UI {
	r := v.Result
	save := func(kind string) app.EventHandler {
		return func(app.Context, app.Event) { v.Saver.save(kind, v.diagnostics) }
	}
	return app.Section().Class("result").ID("result").Aria("label", "Result").Body(
		app.Dl().Class("result-figures").Body(
			score(r),
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
		v.tick(),
		&statementView{Result: r},
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

func score(r *run.Result) app.UI {
	if a := float64(r.TestAccuracy); !math.IsNaN(a) {
		return resultFigure("test accuracy", words.Percent(a, 1), chart.Diagnostic)
	}
	return resultFigure("test loss", words.Number(float64(r.TestLoss), 3), chart.Diagnostic)
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
