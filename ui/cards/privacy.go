package cards

import (
	"fmt"
	"math"
	"strconv"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/ledger"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Privacy is the fourth card: what is promised, and what it takes.
type Privacy struct {
	app.Compo
	Form    *widget.Form
	Plan    *run.PlanInfo // nil while it is not known
	Rows    int           // to train on, counted; 0 while there are none
	Ledger  ledger.View
	Actions ledger.Actions
}

func (c *Privacy) CompoID() string { return "privacy-" + strconv.Itoa(c.Form.Epoch) }

func (c *Privacy) Render() app.UI {
	f, rows := c.Form, form.On(form.Privacy)
	head := widget.Card{ID: form.Privacy, Number: "4", Title: "Privacy", Line: privacyLine(c.Plan, f.Full.TargetDelta), Planned: true}
	body := append([]app.UI{c.answer()}, f.Plain(rows)...)
	body = append(body, widget.Message("f-declared", "help", declared(f.Full.NumExamples, c.Rows)))
	return head.View(f, append(body, &ledger.Block{View: c.Ledger, Pending: f.Pending, Actions: c.Actions}, f.Advanced(rows))...)
}

// declared says how far a declared number is from the counted one; "" where nothing is declared,
// or the numbers agree.
//
// Guarantee: none. It is for the owner's eyes, and no file or event has it.
func declared(examples, rows int) string {
	if examples <= 0 || rows <= 0 || examples == rows {
		return ""
	}
	said := fmt.Sprintf("%s to train on, and %s declared. Only this page says so: no file and no statement has the counted number.", words.Plural(rows, "row"), words.Count(examples))
	if examples > 2*rows || rows > 2*examples {
		said += " They are far apart. A declaration nearer to the count costs less accuracy, or less noise."
	}
	return said
}

// answer draws the planner's answer for the choices.
func (c *Privacy) answer() app.UI {
	f := c.Form
	return app.Div().Class(widget.Stale("plan", f.Pending)).Aria("live", "polite").Body(
		app.If(c.Plan != nil, func() app.UI { return figures(c.Plan) }),
		widget.Message("f-plan-fault", "fault", f.Faults[form.Plan]),
		app.If(c.Plan == nil && f.Faults[form.Plan] == "", func() app.UI {
			return app.P().Class("help").Text(map[bool]string{true: "Calculating…", false: "No figures yet: see the field that needs attention."}[len(f.Faults) == 0])
		}),
	)
}

func figures(p *run.PlanInfo) app.UI {
	row := func(symbol, value, name string) app.UI {
		return app.Div().Body(app.Dt().Text(symbol), app.Dd().Attr("translate", "no").Text(value), app.Dd().Class("name").Text(name))
	}
	return app.Dl().Class("figures").Body(
		row("ε", words.Epsilon(float64(p.Epsilon)), epsilonName(p)),
		row("σ", words.Number(p.NoiseMultiplier, 4), "noise_multiplier"),
		row("q", words.Number(p.SampleRate, 3), "sample_rate"),
		row("T", words.Count(p.Steps), "steps"),
	)
}

func epsilonName(p *run.PlanInfo) string {
	if p.Unbacked() {
		return "epsilon of the noise alone: no guarantee"
	}
	return "epsilon"
}

func privacyLine(p *run.PlanInfo, delta float64) string {
	if p == nil {
		return "δ\u00a0" + words.Upper(delta, 2)
	}
	if math.IsInf(float64(p.Epsilon), 1) {
		return fmt.Sprintf("no guarantee, %s", words.Plural(p.Steps, "step"))
	}
	bound := ""
	if p.Unbacked() {
		bound = " without guarantee"
	}
	return fmt.Sprintf("ε\u00a0%s%s, δ\u00a0%s, σ\u00a0%s, %s", words.Epsilon(float64(p.Epsilon)), bound, words.Upper(p.Delta, 2), words.Number(p.NoiseMultiplier, 3), words.Plural(p.Steps, "step"))
}
