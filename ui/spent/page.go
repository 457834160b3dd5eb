// Package spent shows the Spent page, which lists the runs on files that this browser's
// ledger counts.
package spent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

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
	loads   int
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

// load shows the runs, and their prices as soon as those are worked out.
func (s *Spent) load() {
	s.loads++
	mine := s.loads
	s.client.Ledger("entries", func(b []byte, err error) {
		s.settle(b, err)
		if err != nil || len(s.entries) == 0 || mine != s.loads {
			return
		}
		s.client.Ledger("entries", func(b []byte, err error) {
			if mine == s.loads {
				s.settle(b, err)
			}
		}, priced{true})
	})
}

// priced asks for what each run costs.
type priced struct {
	Priced bool `json:"priced"`
}

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
			app.Text("ε of a run is what it costs by itself, of all its planned steps; runs together cost less than the sum. The entries of a data set are deleted beside its files, on "), app.A().Href(widget.Link("/")).Text("Train"), app.Text("."),
		),
	)
}

func (s *Spent) none() string {
	if !s.read {
		return "Looking into the ledger…"
	}
	return "No run on files has been counted here. Runs on built-in data are not."
}

// table has the data sets, those with the newest runs first, and under each its runs, the newest first.
func table(entries []Entry) app.UI {
	var order []int
	runs := map[int][]Entry{}
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		if runs[e.Data] == nil {
			order = append(order, e.Data)
		}
		runs[e.Data] = append(runs[e.Data], e)
	}
	return app.Div().Class("spent-runs").TabIndex(0).Role("region").Aria("label", "Runs").Body(app.Table().ID("spent").Body(
		app.THead().Body(app.Tr().Body(app.Range(head).Slice(func(i int) app.UI { return app.Th().Scope("col").Text(head[i]) }))),
		app.Range(order).Slice(func(i int) app.UI { return group(runs[order[i]], entries) }),
	))
}

var head = []string{"begun", "method", "ε", "steps charged", "state"}

// group is the runs on one data set, under its name and what all have spent together.
func group(runs, all []Entry) app.UI {
	return app.TBody().Body(
		app.Tr().Body(app.Th().Scope("rowgroup").ColSpan(len(head)).Body(app.Strong().Text(name(runs)), app.Br(), app.Text(together(runs, all)))),
		app.Range(runs).Slice(func(i int) app.UI {
			e := runs[i]
			cells := []string{cmp.Or(data.Shown(e.Method), words.Missing), epsilon(e), words.Count(e.Charged), state(e)}
			return app.Tr().Body(app.Th().Scope("row").Text(begun(e)), app.Range(cells).Slice(func(k int) app.UI {
				cell := app.Td().Text(cells[k])
				if k == 0 {
					cell.Attr("translate", "no")
				}
				return cell
			}))
		}),
	)
}

// name is a data set's number, and what its runs called it.
func name(runs []Entry) string {
	var labels []string
	for _, e := range runs {
		if label := data.Shown(e.Label); !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	return words.Count(runs[0].Data) + ": " + words.Brief(strings.Join(labels, ", "), mostOfName)
}

// mostOfName limits the characters of a data set's names.
const mostOfName = 120

// together says what the runs on a data set have spent, with those that count for all data.
func together(runs, all []Entry) string {
	p := runs[0].Price
	if p == nil {
		return words.Plural(len(runs), "run")
	}
	n, unprotected := 0, 0
	for _, e := range all {
		if e.Data == runs[0].Data || e.Unknown {
			if n++; e.Unprotected {
				unprotected++
			}
		}
	}
	if unprotected > 0 {
		return words.Unprotected(n, unprotected, float64(p.Guaranteed))
	}
	return fmt.Sprintf("ε = %s in all (δ = %s), %s", words.Epsilon(float64(p.Total)), words.Upper(p.Delta, 2), words.Plural(n, "run"))
}

// begun is the day and the minute, as clocks here have them.
func begun(e Entry) string {
	t, err := time.Parse(time.RFC3339, e.Started)
	if err != nil {
		return data.Shown(e.Started)
	}
	return t.Local().Format("2006-01-02 15:04")
}

// epsilon returns the cost of a run by itself.
func epsilon(e Entry) string {
	switch {
	case e.Unprotected:
		return "∞, no guarantee"
	case e.Price == nil:
		return words.Missing
	}
	return words.Epsilon(float64(e.Price.Epsilon))
}

// state says how far a run is, and where its charge is not simply its own.
func state(e Entry) string {
	said := states[e.State]
	if e.Unknown {
		said += ", counted for all data"
	}
	if e.Changed {
		said += ", entry changed: the larger charge counts"
	}
	return said
}

// states are the entries' states as a person reads them.
var states = map[string]string{"running": "running", "closed": "ended", "lost": "ended without notice"}
