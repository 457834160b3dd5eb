// Package ledger shows what runs on a person's files have spent, and asks before a run
// that would go over a limit. The ledger itself is kept by the client.
package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Client is a client that keeps a ledger of what runs on files spend.
type Client interface {
	// Ledger calls a function of the ledger with its arguments, of which a
	// handle stands for its data. The answer is JSON.
	Ledger(function string, done func([]byte, error), args ...any)
	// WatchLedger calls f after every change, those of other tabs too.
	WatchLedger(f func())
	// TrainAnyway is Train in spite of the limit, or of a ledger that cannot
	// be written.
	TrainAnyway(cfg run.Config, d client.Handle, paused bool, started func(client.Run, error))
}

// Train is a way to start a run.
type Train func(cfg run.Config, d client.Handle, paused bool, started func(client.Run, error))

// Ledger is the page's view of the ledger. All of it is about the open files;
// built-in data has none.
type Ledger struct {
	client  Client
	files   func() client.Handle
	plan    func() *run.PlanInfo
	changed func()
	// OnForget is called when what is known of the open files is deleted.
	OnForget func()

	watch  bool
	busy   bool
	stale  bool
	total  *run.SpentReply
	fault  string
	draft  *string // of the limit
	wrong  string  // what is wrong with it
	sure   bool    // deleting was asked for and has to be confirmed
	ask    *Question
	anyway bool // the coming run was confirmed
}

// Question is asked before a run that would go over the limit, has no guarantee,
// or cannot be written down.
type Question struct {
	Text string
	Kind string
	step bool
}

// New is the view of the ledger that c keeps; nil: none is kept. files are the
// open ones, nil where there are none, plan is that of the run to come, nil while
// it is not known, and changed is called when there is something new to show.
func New(c Client, files func() client.Handle, plan func() *run.PlanInfo, changed func()) *Ledger {
	return &Ledger{client: c, files: files, plan: plan, changed: changed, OnForget: func() {}}
}

// Follow asks anew what the open files have cost, and would with the run that is
// planned.
func (l *Ledger) Follow() {
	files := l.files()
	if l.client == nil || files == nil {
		l.total, l.ask = nil, nil
		return
	}
	if !l.watch {
		l.watch = true
		l.client.WatchLedger(l.Follow)
	}
	if l.busy {
		l.stale = true
		return
	}
	l.busy, l.stale = true, false
	var next any
	if p := l.plan(); p != nil {
		next = p.Entry()
	}
	l.client.Ledger("total", func(b []byte, err error) {
		l.busy = false
		if l.stale || files != l.files() {
			l.Follow()
			return
		}
		l.fault, l.total = "", nil
		var t run.SpentReply
		if err == nil {
			err = json.Unmarshal(b, &t)
		}
		if err != nil {
			l.fault = err.Error()
		} else {
			l.total = &t
		}
		l.changed()
	}, files, next)
}

// Together calls back with the cost of the open files after some runs that are to come, unless there is
// no ledger of them.
func (l *Ledger) Together(next []run.Entry, done func(run.SpentReply, error)) {
	files := l.files()
	if l.client == nil || files == nil {
		return
	}
	l.client.Ledger("total", func(b []byte, err error) {
		var t run.SpentReply
		if err == nil {
			err = json.Unmarshal(b, &t)
		}
		done(t, err)
	}, files, next)
}

// Overrules returns the way to start a run in spite of the ledger; nil: there is no ledger.
func (l *Ledger) Overrules() Train {
	if l.client == nil {
		return nil
	}
	return l.client.TrainAnyway
}

// Trainer returns the function that starts the coming run: as ever, or in spite of the ledger.
func (l *Ledger) Trainer(as Train) Train {
	if l.Anyway() {
		return l.client.TrainAnyway
	}
	return as
}

// Anyway reports whether the coming run is to start in spite of the ledger. It says so once.
func (l *Ledger) Anyway() bool {
	yes := l.anyway && l.client != nil
	l.anyway = false
	return yes
}

// Asks turns a refusal that can be overruled into a question.
func (l *Ledger) Asks(err error, step bool) bool {
	f := (*client.Fault)(nil)
	if !errors.As(err, &f) || l.client == nil || !slices.Contains([]string{client.OverLimit, client.NoGuarantee, client.NoLedger}, f.Kind) {
		return false
	}
	l.ask = &Question{f.Message, f.Kind, step}
	return true
}

// Question returns the question that a run waits for; nil where there is none.
func (l *Ledger) Question() *Question { return l.ask }

// Answer takes the question away, if there is one. A yes is for one run; step is
// whether that was to take one step.
func (l *Ledger) Answer(yes bool) (step, asked bool) {
	q := l.ask
	if q == nil {
		return false, false
	}
	l.ask, l.anyway = nil, yes
	return q.step, true
}

// SetLimit takes what was typed as the limit; empty is none.
func (l *Ledger) SetLimit(text string) {
	l.draft, l.wrong = &text, ""
	var limit any
	if text = strings.TrimSpace(text); text != "" {
		e, err := form.Parse(text)
		if err == nil && !(e > 0) {
			err = errors.New("a limit is a positive ε, or nothing for none")
		}
		if err != nil {
			l.wrong = err.Error()
			l.changed()
			return
		}
		limit = run.Limit{Epsilon: run.Number(e)}
	}
	if l.client != nil {
		l.client.Ledger("limit", func(_ []byte, err error) {
			if err != nil {
				l.wrong = err.Error()
			}
			l.draft = nil
			l.Follow()
			l.changed()
		}, jsonNull{limit})
	}
}

// jsonNull is an argument that is sent as null where it is nil, not left out.
type jsonNull struct{ value any }

func (n jsonNull) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// Export downloads the whole ledger.
func (l *Ledger) Export() {
	l.client.Ledger("export", func(b []byte, err error) {
		var text string
		if err == nil {
			err = json.Unmarshal(b, &text)
		}
		if err != nil {
			l.fault = err.Error()
			l.changed()
			return
		}
		browser.Save("clipscope-ledger.json", "application/json", text)
	})
}

// Forget deletes what is known of the open files, once that is confirmed.
func (l *Ledger) Forget(sure bool) {
	if !sure || !l.sure {
		l.sure = !sure && !l.sure
		l.changed()
		return
	}
	l.sure = false
	l.OnForget()
	l.client.Ledger("forget", func(_ []byte, err error) {
		if err != nil {
			l.fault = err.Error()
		}
		l.Follow()
		l.changed()
	}, l.files())
}

// Actions receives the ledger's events.
type Actions interface {
	SetLimit(text string)
	Export()
	Forget(sure bool)
}

// View is the ledger's state as the privacy card shows it.
type View struct {
	Shown bool
	Total *run.SpentReply
	Fault string
	Draft *string
	Wrong string
	Sure  bool
	Busy  bool // another total is coming
}

// View returns the state to show.
func (l *Ledger) View() View {
	return View{l.client != nil && l.files() != nil, l.total, l.fault, l.draft, l.wrong, l.sure, l.busy}
}

// Block draws the cost of the open files, in the privacy card.
type Block struct {
	app.Compo
	View    View
	Pending bool // the coming run is not planned yet
	Actions Actions
}

func (b *Block) Render() app.UI {
	v := b.View
	if !v.Shown {
		return app.Div().Class("ledger").Hidden(true)
	}
	return app.Section().Class("ledger").ID("ledger").Aria("label", "Budget of this data").Body(
		app.H3().Text("Budget of this data"),
		widget.Message("ledger-fault", "fault", v.Fault),
		app.P().Class("help").Hidden(v.Total != nil || v.Fault != "").Text("Looking into the ledger…"),
		app.If(v.Total != nil, func() app.UI { return b.spent() }),
		b.limit(),
		b.buttons(),
	)
}

func (b *Block) spent() app.UI {
	t := b.View.Total
	return app.Div().Class("ledger-spent").Body(
		app.Dl().Class("figures").Body(
			app.Div().Body(app.Dt().Text("spent"), app.Dd().ID("ledger-spent").Text(words.Epsilon(float64(t.Epsilon)))),
			app.Div().Hidden(t.Unprotected == 0).Body(app.Dt().Text("with a guarantee"), app.Dd().ID("ledger-guaranteed").Text(words.Epsilon(float64(t.GuaranteedEpsilon)))),
			app.Div().Class(widget.Stale("", b.Pending || b.View.Busy)).Hidden(t.NextEpsilon == nil).Body(app.Dt().Text("with the next run"), app.Dd().ID("ledger-next").Class(b.limitClass()).Text(words.Epsilon(next(t)))),
			app.Div().Body(app.Dt().Text("runs"), app.Dd().ID("ledger-runs").Text(words.Count(len(t.Runs)))),
		),
		app.P().Class("help").Text(spentLine(t)),
	)
}

func next(t *run.SpentReply) float64 {
	if t.NextEpsilon == nil {
		return math.NaN()
	}
	return float64(*t.NextEpsilon)
}

func (b *Block) limitClass() string {
	if t := b.View.Total; t.Limit != nil && next(t) > float64(*t.Limit) {
		return "over"
	}
	return ""
}

func spentLine(t *run.SpentReply) string {
	s := fmt.Sprintf("ε (δ = %s) of all runs on these files in this browser together. Each is charged for all of its planned steps.", words.Upper(t.Delta, 2))
	if t.Reason != "" {
		s += " " + t.Reason
	}
	if t.Open > 0 {
		s += fmt.Sprintf(" %s still open: running, or ended without notice.", words.Are(t.Open))
	}
	if n := len(t.Unknown); n > 0 {
		s += fmt.Sprintf(" %s counted for every data set: the ledger was deleted during the run, so nobody can tell whose rows it used.", words.Are(n))
	}
	switch n := len(t.Changed); {
	case n == 1:
		s += " The ledger's entry of 1 run was changed by something other than this page: the larger charge counts."
	case n > 1:
		s += fmt.Sprintf(" The ledger's entries of %s runs were changed by something other than this page: the larger charge counts.", words.Count(n))
	}
	if day, _, _ := strings.Cut(t.Deleted, "T"); day != "" {
		s += fmt.Sprintf(" The ledger was deleted on %s: what had been spent before is not counted.", day)
	}
	return strings.TrimSpace(words.Unprotected(len(t.Runs), t.Unprotected, float64(t.GuaranteedEpsilon)) + " " + s)
}

func (b *Block) limit() app.UI {
	v, a := b.View, b.Actions
	text := ""
	if v.Total != nil && v.Total.Limit != nil {
		text = form.Format(float64(*v.Total.Limit))
	}
	if v.Draft != nil {
		text = *v.Draft
	}
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(app.Label().For("ledger-limit").Text("Limit on ε per data set")),
		app.Input().Type("text").ID("ledger-limit").Class("number").Attr("inputmode", "decimal").AutoComplete(false).Spellcheck(false).
			Placeholder("none").Value(text).Aria("describedby", "ledger-limit-fault ledger-limit-help").Aria("invalid", strconv.FormatBool(v.Wrong != "")).
			OnChange(func(ctx app.Context, _ app.Event) { a.SetLimit(ctx.JSSrc().Get("value").String()) }),
		widget.Message("ledger-limit-fault", "fault", v.Wrong),
		app.P().Class("help").ID("ledger-limit-help").Text("You are asked before a run that would go over it, and before any without a guarantee."),
	)
}

func (b *Block) buttons() app.UI {
	v, a := b.View, b.Actions
	if v.Sure {
		keep := widget.Then("ledger-forget", func() { a.Forget(false) })
		return app.Div().Class("ledger-sure").OnKeyDown(widget.Escape(keep)).Body(
			app.P().Class("warning").Text("The entries of these files will be deleted. What was spent stays spent; only the record goes, and later totals will be too low. Settings kept for the next visit go with it."),
			app.Div().Class("buttons").Body(
				app.Button().Type("button").ID("ledger-delete").Text("Delete").OnClick(widget.Then("ledger-forget", func() { a.Forget(true) })),
				app.Button().Type("button").ID("ledger-keep").Text("Keep").OnClick(keep),
			),
		)
	}
	return app.Div().Class("buttons").Body(
		app.A().ID("ledger-all").Class("button plain").Href(widget.Link("/spent")).Text("All runs"),
		app.Button().Type("button").ID("ledger-export").Body(widget.Icon("save"), app.Span().Text("Export")).OnClick(func(app.Context, app.Event) { a.Export() }),
		app.Button().Type("button").ID("ledger-forget").Text("Delete…").OnClick(widget.Then("ledger-keep", func() { a.Forget(false) })),
	)
}

// Answers receives the answer to the question.
type Answers interface {
	ConfirmRun()
	DeclineRun()
}

// Ask is the question before a run.
type Ask struct {
	app.Compo
	Question *Question
	Answer   Answers
}

func (q *Ask) Render() app.UI {
	if q.Question == nil {
		return app.Div().Class("ask").Role("alert")
	}
	yes := "Run all the same"
	if q.Question.Kind == client.NoLedger {
		yes = "Run without counting"
	}
	return app.Div().Class("ask shown").Role("alert").ID("ledger-ask").Body(
		app.P().Text(q.Question.Text),
		app.Div().Class("buttons").Body(
			app.Button().Type("button").ID("ask-no").Class("primary").Text("Do not run").OnClick(func(app.Context, app.Event) { q.Answer.DeclineRun() }),
			app.Button().Type("button").ID("ask-yes").Text(yes).OnClick(func(app.Context, app.Event) { q.Answer.ConfirmRun() }),
		),
	)
}
