package train

import (
	"fmt"
	"math"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/scores"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// saver receives the events of the result's downloads.
type saver interface {
	save(kind string, diagnostics bool)
	saveModel(form string)
	// use hands the model to the page that applies it.
	use()
}

// resultView is the outcome of a run.
type resultView struct {
	app.Compo
	ID       string // of the run
	Result   *run.Result
	Training scores.Training
	// Writing is what is being written for a download.
	Writing string
	Saver   saver
	// Home are more forms of the model, each with its label, of a run that started from a checkpoint whose files are open here.
	Home [][2]string

	diagnostics bool
}

// CompoID keeps the tick of one run from standing at another.
func (v *resultView) CompoID() string { return "result-" + v.ID }

func (v *resultView) Render() app.UI {
	r, beside := v.Result, scores.Beside(v.Result)
	runs, all := spentByAll(r.Statement)
	save := func(kind string) app.EventHandler {
		return func(app.Context, app.Event) { v.Saver.save(kind, v.diagnostics) }
	}
	return app.Section().Class("result").ID("result").Aria("label", "Result").Body(
		app.Dl().Class("result-figures").Body(
			app.If(scores.Headline(r) != nil, func() app.UI { return scores.Figure(scores.Headline(r)[0], scores.Headline(r)[1], chart.Diagnostic) }),
			app.Range(beside).Slice(func(i int) app.UI { return scores.Figure(beside[i][0], beside[i][1], chart.Diagnostic) }),
			scores.Epsilon("ε", r.Epsilon, r.Guarantee),
			app.If(r.Stopped && r.Steps > 0, func() app.UI {
				return scores.Epsilon("ε, planned for "+words.Count(r.Steps), r.EpsilonAtStep, r.Guarantee)
			}),
			app.If(runs > 1, func() app.UI {
				return scores.Figure(fmt.Sprintf("ε, all %s runs", words.Count(runs)), words.Epsilon(all), chart.Released)
			}),
			scores.Figure("δ", words.Upper(r.Delta, 2), chart.Released),
			scores.Figure("steps", stepsDone(r), chart.Released),
			app.If(r.Selected != nil, func() app.UI {
				return scores.Figure("C, chosen", words.Number(r.Selected.MaxGradNorm, 3), chart.Released)
			}),
			app.Div().Class("value-diagnostic").Title(placed(r)).Body(app.Dt().Text("time"), app.Dd().Class("figure").Text(words.Duration(r.TrainSeconds))),
		),
		app.If(!r.Charged, func() app.UI { return v.models() }), // or else nothing was released
		widget.Message("self-check", "fault", doubt(r)),
		widget.Message("flattered", "warning", scores.Flattered(r)),
		app.Range(r.Notes).Slice(func(i int) app.UI { return app.P().Class("warning").Text(r.Notes[i]) }),
		app.Div().Class("result-words").Body(
			app.P().Class("guarantee").Text(r.Guarantee),
			widget.Message("result-spent", "warning", spentBefore(r.Statement)),
			widget.Message("self-checked", "help", checked(r)),
			app.If(r.Selected != nil, func() app.UI { return selected(r.Selected) }),
			app.If(r.Chosen != "", func() app.UI { return app.P().Class("help").ID("chosen").Text(r.Chosen) }),
			widget.Message("advice", "help", scores.Advice(r, v.Training)),
		),
		app.If(r.TestScores != nil, func() app.UI { return scores.View(r) }),
		app.If(r.Tried != nil, func() app.UI { return triedTable(r.Tried, r.ScoredBy) }),
		&statementView{Result: r},
		app.Div().Class("buttons downloads").Body(
			widget.Download("json", "Run, JSON", save("json")),
			widget.Download("csv", "Run, CSV", save("csv")),
			v.tick(),
		),
	)
}

// doubt says which of the run's checks of itself failed; "" where none did.
func doubt(r *run.Result) string {
	var failed []string
	for _, c := range r.Checks {
		if !c.OK {
			failed = append(failed, fmt.Sprintf("Failed: “%s”. %s", c.Name, c.Detail))
		}
	}
	if len(failed) == 0 {
		return ""
	}
	return "The run checked itself, and a check failed. No ε is claimed. " + strings.Join(failed, " ") + " Do not publish the model. Please report this with the run’s settings."
}

// checked says that the run's checks of itself passed; "" where there were none or one failed.
func checked(r *run.Result) string {
	if len(r.Checks) == 0 || doubt(r) != "" {
		return ""
	}
	return "The run checked itself: tensors, norms, noise, batch sizes and ε are as they should be."
}

// models draws the actions on the model.
func (v *resultView) models() app.UI {
	return app.Div().Class("buttons downloads").Body(
		app.Button().Type("button").ID("use-model").Class("primary").Text("Use it").Title("Answer new rows with this model").Disabled(v.Result.Unusable != "").Aria("describedby", "unusable").OnClick(func(ctx app.Context, _ app.Event) {
			v.Saver.use()
			ctx.Navigate(widget.Link("/use"))
		}),
		v.model("zip", "Model (.zip)"), v.model("json", "JSON"), v.model("safetensors", "safetensors"), v.model("onnx", "ONNX"),
		app.Range(v.Home).Slice(func(i int) app.UI { return v.model(v.Home[i][0], v.Home[i][1]) }),
		widget.Message("unusable", "help", unusable(v.Result)),
		widget.Message("writing", "help", v.Writing),
	)
}

// unusable says why the model answers nothing here, "" where it does.
func unusable(r *run.Result) string {
	if r.Unusable == "" {
		return ""
	}
	return "It cannot be used here. " + r.Unusable
}

// model is a button that saves the model in a form.
func (v *resultView) model(form, label string) app.UI {
	return widget.Download("model-"+form, label, func(app.Context, app.Event) { v.Saver.saveModel(form) })
}

// tick adds to a file what the guarantee does not cover.
func (v *resultView) tick() app.UI {
	return app.Label().Class("tick").Body(
		app.Input().Type("checkbox").ID("with-diagnostics").Checked(v.diagnostics).OnChange(func(ctx app.Context, _ app.Event) {
			v.diagnostics = ctx.JSSrc().Get("checked").Bool()
		}),
		app.Span().Text("with diagnostics, which no guarantee covers"),
	)
}

func stepsDone(r *run.Result) string {
	switch {
	case r.Rested:
		return words.Count(r.Steps) + " of " + words.Count(r.PlannedSteps) + ", at rest"
	case r.Stopped:
		return words.Count(r.Steps) + " of " + words.Count(r.PlannedSteps) + ", stopped"
	}
	return words.Count(r.Steps)
}

// placed says what a run was computed on, and how long a step took.
func placed(r *run.Result) string {
	place, perStep := placeOf(r)
	return runView{Place: place, PerStep: perStep}.placed()
}

// placeOf returns the hardware that a run ended on, and the seconds of a step; NaN of none.
func placeOf(r *run.Result) (run.Place, float64) {
	if r.Steps == 0 {
		return run.Place{}, math.NaN()
	}
	return run.Place{Backend: r.Backend, Threads: r.Threads, Device: r.Device, Why: r.Chosen}, r.TrainSeconds / float64(r.Steps)
}
