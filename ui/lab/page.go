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
	refresh := func() { ctx.Dispatch(nil) }
	p.Around.Show(refresh) // the count of requests
	p.Lab.send(attach{"page", func(s *state, what aspect) {
		write(s, what)
		if what&thePage != 0 {
			refresh()
		}
	}})
	p.hashChange = app.FuncOf(func(app.Value, []app.Value) any { p.Lab.send(follow{browser.Hash()}); return nil })
	app.Window().Call("addEventListener", "hashchange", p.hashChange)
	p.Lab.send(follow{browser.Hash()})
	p.Lab.send(fetchLessons{})
	p.Lab.send(fetchFigures{})
}

func (p *Page) OnDismount() {
	p.Lab.send(detach{"page"})
	p.Around.Hide()
	app.Window().Call("removeEventListener", "hashchange", p.hashChange)
	p.hashChange.Release()
}

func (p *Page) Render() app.UI {
	return app.Div().Class("page").Body(
		app.Button().Type("button").Class("skip").Text("Skip to the curves").OnClick(func(app.Context, app.Event) { browser.Focus("lab-u") }), // the address has the state
		&widget.Header{Page: "lab", Sent: p.Around.Sent()},
		app.Main().Class("lab").Body(parts(p.Lab)...),
	)
}

// parts returns the parts of the page, drawn from a copy of the state.
func parts(l *Lab) []app.UI {
	p := section{l.state, l.send}
	lessons := &courseView{p}
	return []app.UI{
		app.H1().Class("visually-hidden").Text("Laboratory: clipping's bias against its noise"),
		(&setupView{p}).view(),
		widget.Message("lab-problem", "fault", p.problem),
		widget.Message("lab-lost", "note", p.lost),
		lessons.view(),
		widget.Message("lab-fault", "fault", p.fault),
		lessons.gameView(),
		widget.Message("lab-claim", "note", claim(p.papers.shown)),
		(&benchView{p}).view(),
		(&sweepView{p}).view(),
		(&lanesView{p}).view(),
		(&papersView{p}).view(),
	}
}
