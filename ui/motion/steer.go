package motion

import (
	"cmp"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/series"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Steer receives the events of [Steering].
type Steer interface {
	Pace(perSecond float64)
	Change(run.Change)
	// Fault says why what was typed is not even asked for.
	Fault(why string)
}

// Steering is the pace of teaching runs, and the three numbers that they can be told
// anew while they do.
type Steering struct {
	Name    string           // begins the ids of what it shows
	Records []*series.Record // of the runs that are told; none before they begin
	Speed   float64
	Fault   string // why the last change was refused
	To      Steer
}

// numbers lists the numbers that can be changed.
var numbers = []struct{ field, name string }{
	{"max_grad_norm", "Threshold C (max_grad_norm)"},
	{"noise_multiplier", "Noise multiplier σ"},
	{"learning_rate", "Learning rate η"},
}

// View is the speed and the three numbers. What is typed holds from the next step on, once
// it was entered. Before there are runs only the speed is there.
func (s Steering) View() app.UI {
	return app.Div().Class("steer").Role("group").Aria("label", "While this teaching run goes on").Body(
		app.Label().Class("steer-speed").Body(app.Span().Text("Speed"), speed(s.Name+"-speed", "Speed of the run", s.Speed, s.To.Pace)),
		app.If(len(s.Records) > 0, func() app.UI { return app.Range(numbers).Slice(func(i int) app.UI { return s.number(i) }) }),
		widget.Message(s.Name+"-fault", "fault", s.Fault),
	)
}

func (s Steering) number(i int) app.UI {
	n, to := numbers[i], s.To
	now, why := s.Records[0].Now(n.field), ""
	text := form.Format(form.Round(now, 4))
	for _, r := range s.Records {
		why = cmp.Or(why, r.Plan.Held[n.field])
		if r.Now(n.field) != now {
			text = ""
		}
	}
	if r := s.Records[0]; why != "" && n.field == "max_grad_norm" && r.Len() > 0 {
		text = form.Format(form.Round(r.Last.Released.MaxGradNorm, 3)) // where a rule has moved it
	}
	title := n.name
	if why != "" {
		title += ": " + why
	}
	return app.Label().Title(title).Body(
		app.Span().Text(words.Symbol(n.field)),
		app.Input().Type("text").Attr("inputmode", "decimal").Attr("autocomplete", "off").ID(s.Name+"-"+n.field).
			Aria("label", n.name).Disabled(why != "").Value(text).Placeholder("differs").
			OnChange(func(ctx app.Context, _ app.Event) {
				v, err := form.Parse(ctx.JSSrc().Get("value").String())
				if err != nil {
					to.Fault(words.Symbol(n.field) + ": " + err.Error())
					return
				}
				to.Change(run.Change{n.field: v})
			}, app.EventScope(s.Name, n.field)).
			// What was refused stands there only as long as it is being typed.
			OnBlur(func(ctx app.Context, _ app.Event) { ctx.JSSrc().Set("value", text) }, app.EventScope(s.Name, n.field, text)),
	)
}
