package train

import (
	"slices"

	"clipscope/ui/browser"
	"clipscope/ui/cards"
	"clipscope/ui/chart"
	"clipscope/ui/form"
	"clipscope/ui/ledger"
	"clipscope/ui/preset"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Page is the page: the experiment at the left, its run at the right.
type Page struct {
	app.Compo
	Session *Controller

	hashChange app.Func
	escape     app.Func
}

func (p *Page) OnMount(ctx app.Context) {
	p.Session.Show(func() { ctx.Dispatch(nil) })
	p.hashChange = app.FuncOf(func(app.Value, []app.Value) any { p.Session.follow(); return nil })
	app.Window().Call("addEventListener", "hashchange", p.hashChange)
	p.escape = app.FuncOf(func(_ app.Value, args []app.Value) any {
		if args[0].Get("key").String() != "Escape" {
			return nil
		}
		switch s := p.Session; {
		case s.data.looking:
			s.data.StopLooking()
		case s.sheet:
			s.toggleSheet()
		}
		return nil
	})
	app.Window().Call("addEventListener", "keydown", p.escape)
	p.Session.beginWork()
	p.Session.given(browser.Early().Call("take"))
	if p.Session.data.ready && browser.Hash() == "" {
		p.Session.address.write()
	}
}

func (p *Page) OnDismount() {
	p.Session.Hide()
	app.Window().Call("removeEventListener", "hashchange", p.hashChange)
	app.Window().Call("removeEventListener", "keydown", p.escape)
	p.hashChange.Release()
	p.escape.Release()
}

func (p *Page) Render() app.UI {
	s := p.Session
	t := s.trials.shown
	class := "page train"
	if s.sheet {
		class += " sheet-open"
	}
	return app.Div().Class(class).OnDrop(p.dropped).Body(
		app.A().Class("skip").Href("#runbar").Text("Skip to the run"),
		&widget.Header{Page: "train", Sent: s.Sent()},
		app.Main().Class("bench").Body(
			app.H1().Class("visually-hidden").Text("Train with differential privacy"),
			p.experiment(),
			app.Div().Class("stage").Body(
				&runBar{View: s.trials.view(), Actions: s.trials, Steering: s.trials.steering(), Setup: s, Sheet: s.sheet},
				app.If(s.untouched(), s.firstView),
				widget.Message("problem", "fault", s.problem),
				widget.Message("link-lost", "note", s.address.lost),
				&ledger.Ask{Question: s.ledger.Question(), Answer: s.trials},
				s.interrupted.view(s.trials.last.phase.active()),
				s.together.view(s.trials.last, s.interrupted.list),
				&caption{View: s.caption(), Actions: captioned{s.keptRuns, s.trials, s.takeShown, s.takeBounds, s.startFromShown}},
				s.sweep.view(),
				s.results.view(),
				app.If(s.trials.still(), func() app.UI { return s.trials.replay.View() }),
				// A table takes the place of a result, as both would leave neither room.
				app.If(t.result != nil && !(s.table && s.tabled()), func() app.UI {
					return &resultView{ID: t.id, Result: t.result, Training: t.training(), Writing: t.writing, Saver: t, Home: s.start.home(t.record)}
				}),
				app.If(s.table && s.tabled(), func() app.UI { return &cards.Preview{Form: s.exp.formFor(s), View: s.data.view(), Shows: s} }).
					Else(func() app.UI { return p.charts() }),
			),
		),
	)
}

// firstView says what the page is and what to press. Where the setup is not in sight, on a phone, it leads to one's own files.
func (s *Controller) firstView() app.UI {
	text := "Train a model with differential privacy, in this tab: no row leaves your device. Start shows it on drawn digits; “Your files” takes your own."
	if s.restored {
		text = s.welcome()
	}
	button := func(id, label string, press func()) app.HTMLButton {
		return app.Button().Type("button").ID(id).Text(label).OnClick(func(app.Context, app.Event) { press() }, app.EventScope(id))
	}
	check := app.A().Class("first-check").Hidden(s.restored).Href(widget.Link("/check")).Title("Whether the ε of somebody’s model or statement holds").Text("Check a file")
	return app.Div().Class("first").Body(
		app.P().Text(text),
		check,
		button("first-files", "Your files", func() {
			s.cover(true)
			s.show(form.Data)
			browser.Focus("experiment-first")
		}),
		app.If(s.restored, func() app.UI { return button("start-afresh", "Start afresh", s.startAfresh) }),
	)
}

// untouched reports whether no run is shown, and no files are chosen either, but for those of an earlier visit.
func (s *Controller) untouched() bool {
	return s.trials.shown.record == nil && !s.together.several() && (s.restored || s.exp.full().Data != form.Files && s.data.fault == "")
}

func (p *Page) dropped(_ app.Context, e app.Event) {
	e.PreventDefault()
	browser.Settle(browser.Early().Call("dropped", e.Get("dataTransfer")), func(files app.Value, rejected bool) {
		if !rejected {
			p.Session.given(files)
		}
	})
}

// given opens files that came by another way than the data's card. On a narrow page the cards are then shown, as
// what is wrong with the files stands in one.
func (s *Controller) given(files app.Value) {
	if files.Truthy() && files.Length() > 0 {
		s.cover(true)
		s.data.OpenFiles(files)
	}
}

func (p *Page) experiment() app.UI {
	s, x := p.Session, p.Session.exp
	f := x.formFor(s, s.next()...)
	return app.Div().Class("experiment").ID("experiment").Role("region").Aria("label", "Experiment").Body(
		&presetMenu{Epoch: x.epoch, About: s.about, Session: s},
		&cards.Data{Form: f, View: s.data.view(), Loader: s.data, Features: s.data.featurer(), Shows: s},
		&cards.Model{Form: f, Plan: x.plan, Start: s.start.shown(), Starter: s.start.starter(), Public: s.public.shown(), Mixer: s.public.mixer()},
		&cards.Clipping{Form: f},
		&cards.Privacy{Form: f, Plan: x.plan, Rows: s.data.rows(), Ledger: s.ledger.View(), Actions: s.ledger},
		&cards.Optimiser{Form: f},
		&cards.Together{Form: f, Rooms: s.together.rooms()},
		s.sweep.card(f),
		&cards.Script{Form: f, Plan: x.plan},
		&cards.Foot{Form: f, Said: s.address.said, Sharer: s.address},
	)
}

func (p *Page) charts() app.UI {
	panels := p.Session.trials.panels()
	class := "charts"
	if slices.ContainsFunc(panels, func(p *chart.Panel) bool { return p.ID == "curves" }) {
		class += " with-curves"
	}
	return app.Div().Class(class).Body(app.Range(panels).Slice(func(i int) app.UI { return panels[i] }))
}

// presetMenu chooses an experiment to start from.
type presetMenu struct {
	app.Compo
	Epoch   int
	About   string // what the one that was chosen shows
	Session *Controller
}

func (m *presetMenu) Render() app.UI {
	list := preset.All()
	s := m.Session
	return app.Div().Class("preset").Body(
		app.Label().For("experiment-first").Text("Start from"),
		app.Select().ID("experiment-first").OnChange(func(ctx app.Context, _ app.Event) {
			name := ctx.JSSrc().Get("value").String()
			ctx.JSSrc().Set("value", widget.NoChoice)
			s.usePreset(name)
		}).Body(
			app.Option().Value(widget.NoChoice).Text("an example").Selected(true),
			app.Range(list).Slice(func(i int) app.UI { return app.Option().Value(list[i].Name).Text(list[i].Title) }),
		),
		app.Button().Type("button").Class("plain sheet-close").Aria("label", "Close the setup").OnClick(func(app.Context, app.Event) { s.toggleSheet() }).Body(widget.Icon("close")),
		app.Button().Type("button").ID("own-files").Text("Your files").OnClick(func(app.Context, app.Event) { s.show(form.Data) }),
		widget.Message("preset-about", "help", m.About),
	)
}
