package lab

import (
	"math"

	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// board owns one canvas of web/lab.js: it renders it empty and hands it over when it is
// mounted, so that the virtual DOM never touches what is drawn.
type board struct {
	app.Compo
	Kind  string // plane, u or field
	Label string
	Hands *hands

	moved app.Func
	js    app.Value
}

// CompoID keeps one board's canvas from being given to another.
func (b *board) CompoID() string { return b.Kind }

func (b *board) Render() app.UI {
	c := app.Canvas().ID("lab-"+b.Kind).Class("lab-board").Aria("label", b.Label)
	if b.Kind == "field" {
		return c.Role("img")
	}
	return c.Role("slider").TabIndex(0)
}

func (b *board) OnMount(app.Context) {
	s := script()
	if s == nil {
		return
	}
	b.moved = app.FuncOf(func(_ app.Value, args []app.Value) any {
		defer browser.Survive()
		b.Hands.moved(args[0].Float())
		return nil
	})
	b.js = s.Call(b.Kind, b.JSValue(), b.moved)
	b.Hands.mounted(b.Kind, b.js)
}

func (b *board) OnDismount() {
	if b.js == nil {
		return
	}
	b.Hands.mounted(b.Kind, nil)
	b.js.Call("release")
	b.moved.Release()
	b.js = nil
}

// mounted takes up a board, which shows at once what is known.
func (h *hands) mounted(kind string, js app.Value) {
	switch kind {
	case "u":
		h.u = js
	case "field":
		if h.field = js; js != nil && h.bench != nil {
			h.outline()
		}
	case "plane":
		if h.plane = js; js != nil && h.bench != nil {
			js.Call("show", h.bench.Look().Arrays)
		}
	}
	if js != nil {
		h.paint()
		h.moveBoards()
	}
}

// slider is a range whose value a hand changes many times a second: it is read, and its
// text written, past the virtual DOM.
type slider struct {
	app.Compo
	ID, Label     string
	Min, Max      float64 // of the logarithm to base 10
	Now           float64 // the value, not its logarithm
	Moved         func(value float64)
	Rested        func()
	Class, Output string // Output is the id of the text beside it
}

func (s *slider) Render() app.UI {
	now := math.Log10(s.Now)
	if math.IsNaN(now) || math.IsInf(now, 0) {
		now = s.Min
	}
	value := func(ctx app.Context) float64 {
		ctx.PreventUpdate()
		return math.Pow(10, ctx.JSSrc().Get("valueAsNumber").Float())
	}
	return app.Label().Class("lab-slider "+s.Class).For(s.ID).Body(
		app.Span().Class("lab-slider-head").Body(app.Span().Text(s.Label), app.Span().Class("figure").ID(s.Output)),
		app.Input().Type("range").ID(s.ID).Min(s.Min).Max(s.Max).Step(0.02).Value(now).
			OnInput(func(ctx app.Context, _ app.Event) { s.Moved(value(ctx)) }, app.EventScope(s.ID)).
			OnChange(func(ctx app.Context, _ app.Event) {
				ctx.PreventUpdate()
				s.Rested()
			}, app.EventScope(s.ID)),
	)
}
