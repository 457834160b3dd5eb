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
			app.If(!math.IsNaN(r.LargestShare()), func() app.UI {
				return resultFigure("largest class", words.Percent(r.LargestShare(), 1), chart.Diagnostic)
			}),
			resultFigure("ε", words.Epsilon(float64(r.Epsilon)), chart.Released),
			app.If(r.Stopped && r.Steps > 0, func() app.UI {
				return resultFigure("ε, planned for "+words.Count(r.Steps), words.Epsilon(float64(r.EpsilonAtStep)), chart.Released)
			}),
			resultFigure("δ", words.Upper(r.Delta, 2), chart.Released),
			resultFigure("steps", stepsDone(r), chart.Released),
			resultFigure("time on "+run.Place{Backend: r.Backend, Threads: r.Threads}.String(), words.Duration(r.TrainSeconds)+perStep(r), chart.Diagnostic),
		),
		app.Div().Class("buttons downloads").Body(
			widget.Download("json", "Run, JSON", save("json")),
			widget.Download("csv", "Run, CSV", save("csv")),
			widget.Download("parameters", "Model", func(app.Context, app.Event) { v.Saver.saveParameters() }),
		),
		app.Div().Class("result-words").Body(
			app.P().Class("guarantee").Text(r.Guarantee),
			app.If(r.Chosen != "", func() app.UI { return app.P().Class("help").ID("chosen").Text(r.Chosen) }),
			app.Range(r.Notes).Slice(func(i int) app.UI { return app.P().Class("warning").Text(r.Notes[i]) }),
		),
		app.If(len(r.TestClasses) > 0, func() app.UI { return classScores(r) }),
		&statementView{Result: r},
		v.tick(),
	)
}

// classScores is a table of the classes, folded up: an accuracy says little where one
// class is most of the rows.
func classScores(r *run.Result) app.UI {
	list := r.TestClasses[:min(len(r.TestClasses), mostClasses)]
	return app.Details().Class("by-class").Body(
		app.Summary().Text("Test rows by class"),
		app.Table().Body(
			app.THead().Body(app.Tr().Body(app.Th().Scope("col").Text("class"), app.Th().Scope("col").Text("test rows"), app.Th().Scope("col").Text("of them told"))),
			app.TBody().Body(app.Range(list).Slice(func(i int) app.UI {
				c := list[i]
				return app.Tr().Body(app.Th().Scope("row").Text(c.Class), app.Td().Text(words.Count(c.Rows)), app.Td().Text(words.Percent(float64(c.Recall), 1)))
			})),
		),
		app.P().Class("help").Text("A diagnostic, like test accuracy: computed from the test rows without noise, and in no file unless asked for."),
	)
}

// mostClasses is how many classes stand in the table.
const mostClasses = 100

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
