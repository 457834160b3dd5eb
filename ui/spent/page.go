// Package spent shows the Spent page, which lists the runs on files that this browser's
// ledger counts.
package spent

import (
	"encoding/json"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Client reads the ledger.
type Client interface {
	Ready(func(error))
	// Ledger calls a function of the ledger. The answer is JSON.
	Ledger(function string, done func([]byte, error), args ...any)
	// WatchLedger calls f after every change, those of other tabs too.
	WatchLedger(f func())
}

// Entry is a run's line in the ledger.
type Entry struct {
	run.Line
	State string `json:"state"` // running, closed or lost
}

// Spent holds the ledger's entries. It outlives the page that shows them. Everything in it
// happens on the page's one thread.
type Spent struct {
	client  Client
	changed func()

	watched bool
	read    bool // entries are the ledger's
	entries []Entry
	fault   string
}

// New returns the page's state before the ledger was read.
func New(c Client) *Spent { return &Spent{client: c, changed: func() {}} }

// start reads the ledger, now and after every change.
func (s *Spent) start() {
	s.client.Ready(func(err error) {
		if err != nil {
			s.settle(nil, err)
			return
		}
		if !s.watched {
			s.watched = true
			s.client.WatchLedger(s.load)
		}
		s.load()
	})
}

func (s *Spent) load() { s.client.Ledger("entries", s.settle) }

func (s *Spent) settle(b []byte, err error) {
	var entries []Entry
	if err == nil {
		err = json.Unmarshal(b, &entries)
	}
	s.read, s.entries, s.fault = err == nil, entries, ""
	if err != nil {
		s.fault = err.Error()
	}
	s.changed()
}

// Page lists the runs on files.
type Page struct {
	app.Compo
	Around widget.Around
	Spent  *Spent
}

func (p *Page) OnMount(ctx app.Context) {
	p.Spent.changed = func() { ctx.Dispatch(nil) }
	p.Around.Show(p.Spent.changed)
	p.Spent.start()
}

func (p *Page) OnDismount() {
	p.Spent.changed = func() {}
	p.Around.Hide()
}

func (p *Page) Render() app.UI {
	return app.Div().Class("page prose").Body(
		&widget.Header{Page: "spent", Sent: p.Around.Sent()},
		app.Main().Class("article").Body(
			app.H1().Text("Runs on your files"),
			p.Spent.view(),
		),
	)
}

func (s *Spent) view() app.UI {
	return app.Div().Body(
		app.P().Text("Each run on files spends some of their privacy, and is charged for all of its planned steps. This list is kept in this browser alone."),
		widget.Message("spent-fault", "fault", s.fault),
		app.P().ID("spent-none").Class("help").Hidden(len(s.entries) > 0 || s.fault != "").Text(s.none()),
		app.If(len(s.entries) > 0, func() app.UI { return table(s.entries) }),
		app.P().Class("help").Body(
			app.Text("The ε of a data set stands beside its files, on "), app.A().Href(widget.Link("/")).Text("Train"), app.Text(", where its entries can be deleted."),
		),
	)
}

func (s *Spent) none() string {
	if !s.read {
		return "Looking into the ledger…"
	}
	return "No run on files has been counted here. Runs on built-in data are not."
}

// table has a row for each run, the newest first.
func table(entries []Entry) app.UI {
	return app.Div().Class("spent-runs").TabIndex(0).Role("region").Aria("label", "Runs").Body(app.Table().ID("spent").Body(
		app.THead().Body(app.Tr().Body(
			app.Th().Scope("col").Text("data"), app.Th().Scope("col").Text("begun"), app.Th().Scope("col").Text("steps charged"),
			app.Th().Scope("col").Text("guarantee"), app.Th().Scope("col").Text("state"),
		)),
		app.TBody().Body(app.Range(entries).Slice(func(i int) app.UI {
			e := entries[len(entries)-1-i]
			day, _, _ := strings.Cut(e.Started, "T")
			return app.Tr().Body(
				app.Th().Scope("row").Text(words.Count(e.Data)+": "+data.Shown(e.Label)),
				app.Td().Text(day),
				app.Td().Class("figure").Text(words.Count(e.Charged)),
				app.Td().Text(guarantee(e)),
				app.Td().Text(states[e.State]),
			)
		})),
	))
}

// states are the entries' states as a person reads them.
var states = map[string]string{"running": "running", "closed": "ended", "lost": "ended without notice"}

func guarantee(e Entry) string {
	switch {
	case e.Unprotected:
		return "none"
	case e.Unknown:
		return "yes, counted for all data"
	}
	return "yes"
}
