package ui

import (
	"fmt"
	"math"
	"strconv"

	"clipscope/core/run"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// privacyCard is the fourth card: what is promised, and what it takes.
type privacyCard struct {
	app.Compo
	Form    *Form
	Ledger  LedgerView
	Actions ledgerActions
}

func (c *privacyCard) CompoID() string { return "privacy-" + strconv.Itoa(c.Form.Epoch) }

func (c *privacyCard) Render() app.UI {
	f := c.Form
	keys := []string{"noise_multiplier", "target_epsilon", "target_delta", "expected_batch_size", "epochs", "steps", "accountant", "noise_mode", "blind", "sample_rate", "plan"}
	head := card{cardPrivacy, "4", "Privacy", privacyLine(f), keys}
	return head.view(f,
		c.answer(),
		segments("budget", "Decide by", budget(f.Full), []option{
			{"target_epsilon", "ε"}, {"noise_multiplier", "noise σ"}, {"no_privacy", "no noise"},
		}, f.Editor),
		c.noise(),
		field{key: "target_delta", label: "Failure probability δ", help: "Well below 1 over the number of rows."}.number(f),
		field{key: "expected_batch_size", label: "Expected batch size", unit: "rows", help: "Each row enters a batch by its own coin toss; this many do on average."}.number(f),
		segments("length", "Length in", length(f.Full), []option{{"epochs", "epochs"}, {"steps", "steps"}}, f.Editor),
		c.duration(),
		segments("noise_mode", "Noise as", f.Full.NoiseMode, []option{{"float", "float"}, {"secure", "secure integers"}}, f.Editor),
		message("f-noise_mode-fault", "fault", f.Faults["noise_mode"]),
		app.P().Class("help").Text(noiseHelp[f.Full.NoiseMode]),
		field{key: "blind", label: "Hide diagnostics until the end", help: blindHelp}.tick(f),
		&ledgerBlock{View: c.Ledger, Actions: c.Actions},
		advanced(field{key: "accountant", label: "Accountant", help: "How ε is proven from the steps; both are upper bounds."}.
			choice(f, []option{{"rdp", "RDP"}, {"pld", "PLD"}})),
	)
}

var noiseHelp = map[string]string{
	"float":  "Fast. Floating-point numbers leave holes: whoever sees every bit of a release may be able to rule values out with certainty, whatever ε says.",
	"secure": "Gradients on a grid of integers, discrete Gaussian noise: no such holes. Slower.",
}

const blindHelp = "A run is charged for all of its steps, also when it is stopped. That covers stopping it for what it released, not for what amber charts show: hidden, they cannot have decided."

// budget names what decides the noise.
func budget(c run.Config) string {
	switch {
	case c.NoPrivacy || c.Method == "none":
		return "no_privacy"
	case c.NoiseMultiplier != nil:
		return "noise_multiplier"
	default:
		return "target_epsilon"
	}
}

func length(c run.Config) string {
	if c.Steps > 0 {
		return "steps"
	}
	return "epochs"
}

func (c *privacyCard) noise() app.UI {
	f := c.Form
	switch budget(f.Full) {
	case "noise_multiplier":
		return field{key: "noise_multiplier", label: "Noise multiplier σ", help: "The noise's standard deviation is σ·C on the sum."}.number(f)
	case "no_privacy":
		return app.Div().Class("field").Body(
			app.P().Class("warning").Text("Nothing is protected: ε is ∞. For comparison only."))
	default:
		return field{key: "target_epsilon", label: "Privacy budget ε", help: "Smaller is more private: an outcome becomes at most e^ε times as likely by one row."}.number(f)
	}
}

func (c *privacyCard) duration() app.UI {
	if length(c.Form.Full) == "steps" {
		return field{key: "steps", label: "Steps", help: "An empty batch takes a step too."}.number(c.Form)
	}
	return field{key: "epochs", label: "Epochs", help: "One epoch is as many steps as it takes to draw each row once on average."}.number(c.Form)
}

// answer is what the planner says the choices come to.
func (c *privacyCard) answer() app.UI {
	f := c.Form
	class := "plan"
	if f.Planning {
		class += " pending"
	}
	return app.Div().Class(class).Aria("live", "polite").Body(
		app.If(f.Plan != nil, func() app.UI { return figures(f.Plan) }),
		message("f-plan-fault", "fault", f.Faults["plan"]),
		app.If(f.Plan == nil && f.Faults["plan"] == "", func() app.UI {
			return app.P().Class("help").Text(map[bool]string{true: "Calculating…", false: "No figures yet: see the field that needs attention."}[f.Planning || len(f.Faults) == 0])
		}),
	)
}

func figures(p *run.PlanInfo) app.UI {
	row := func(symbol, value, name string) app.UI {
		return app.Div().Body(app.Dt().Text(symbol), app.Dd().Text(value), app.Dd().Class("name").Text(name))
	}
	return app.Dl().Class("figures").Body(
		row("ε", words.Epsilon(float64(p.Epsilon)), "epsilon"),
		row("σ", words.Number(p.NoiseMultiplier, 4), "noise_multiplier"),
		row("q", words.Number(p.SampleRate, 3), "sample_rate"),
		row("T", words.Count(p.Steps), "steps"),
	)
}

func privacyLine(f *Form) string {
	p := f.Plan
	if p == nil {
		return "δ " + words.Upper(f.Full.TargetDelta, 2)
	}
	if math.IsInf(float64(p.Epsilon), 1) {
		return fmt.Sprintf("no guarantee, %s", words.Plural(p.Steps, "step"))
	}
	return fmt.Sprintf("ε %s, δ %s, σ %s, %s", words.Epsilon(float64(p.Epsilon)), words.Upper(p.Delta, 2), words.Number(p.NoiseMultiplier, 3), words.Plural(p.Steps, "step"))
}
