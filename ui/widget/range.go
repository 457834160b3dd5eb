package widget

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// Range is a handle between two numbers. A browser keeps a handle within the bounds that it
// knows of by then, and attributes are set in no order: so bounds and place are set here.
type Range struct {
	app.Compo
	ID             string
	Label          string // "": a label of the page's own belongs to it
	Text           string // what is read out of where it stands; "": the number
	Min, Max, Step float64
	Now            float64
	Off            bool
	Moved          func(now float64)

	at place
}

// place is a handle's value, and its range.
type place struct{ min, max, now float64 }

func (r *Range) Render() app.UI {
	in := app.Input().Type("range").ID(r.ID).Step(r.Step).Disabled(r.Off).OnInput(func(ctx app.Context, _ app.Event) {
		r.at.now = ctx.JSSrc().Get("valueAsNumber").Float() // and the hand may be further by the time that it is drawn
		r.Moved(r.at.now)
	}, app.EventScope(r.ID))
	if r.Label != "" {
		in = in.Aria("label", r.Label)
	}
	if r.Text != "" {
		in = in.Aria("valuetext", r.Text)
	}
	return in
}

func (r *Range) OnMount(app.Context) { r.put() }

func (r *Range) OnUpdate(app.Context) {
	if r.at != (place{r.Min, r.Max, r.Now}) {
		r.put()
	}
}

// put sets the handle where it is to stand.
func (r *Range) put() {
	r.at = place{r.Min, r.Max, r.Now}
	handle := r.JSValue()
	handle.Set("min", r.Min)
	handle.Set("max", r.Max)
	handle.Set("value", r.Now)
}
