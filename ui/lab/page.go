package lab

import (
	"clipscope/ui/browser"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Page shows the laboratory.
type Page struct {
	app.Compo
	Around widget.Around
	Lab    *Lab

	hashChange app.Func
}

func (p *Page) OnMount(ctx app.Context) {
	p.Lab.changed = func() { ctx.Dispatch(nil) }
	p.Around.Show(p.Lab.changed) // the count of requests
	p.hashChange = app.FuncOf(func(app.Value, []app.Value) any { p.Lab.follow(); return nil })
	app.Window().Call("addEventListener", "hashchange", p.hashChange)
	p.Lab.follow()
	p.Lab.course.fetch()
	p.Lab.papers.fetch()
}

func (p *Page) OnDismount() {
	p.Lab.changed = func() {}
	p.Around.Hide()
	app.Window().Call("removeEventListener", "hashchange", p.hashChange)
	p.hashChange.Release()
}

func (p *Page) Render() app.UI {
	return app.Div().Class("page").Body(
		app.Button().Type("button").Class("skip").Text("Skip to the curves").OnClick(func(app.Context, app.Event) { browser.Focus("lab-u") }), // the address has the state
		&widget.Header{Page: "lab", Sent: p.Around.Sent()},
		app.Main().Class("lab").Body(
			app.H1().Class("visually-hidden").Text("Laboratory: clipping's bias against its noise"),
			p.Lab.setup.view(),
			widget.Message("lab-problem", "fault", p.Lab.problem),
			widget.Message("lab-lost", "note", p.Lab.address.lost),
			p.Lab.course.view(),
			widget.Message("lab-fault", "fault", p.Lab.fault),
			p.Lab.course.gameView(),
			widget.Message("lab-claim", "note", claim(p.Lab.papers.shown)),
			p.Lab.hands.view(),
			p.Lab.sweep.view(),
			p.Lab.lanes.view(),
			p.Lab.papers.view(),
		),
	)
}
