package train

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"clipscope/ui/cards"
	"clipscope/ui/form"
	"clipscope/ui/motion"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// captionView is the caption above the charts: which run they show, what made it,
// and the list of the others.
type captionView struct {
	Title string
	Made  []string    // what the run was made of
	Start string      // the hash of the weights that it started from; empty: they were random
	Next  []form.Card // where the settings are no longer those of the run
	// Bought counts the columns of which the run has bought bounds that are not declared.
	Bought int
	// Onward says that the next run can start from the run's model.
	Onward bool
	Back   string // what leads back to the last run, where another is shown

	Runs   []entry
	Now    time.Time
	Open   bool           // the list is unfolded
	Replay *motion.Replay // nil: there is nothing to replay
	Doubt  string         // the id of the run that may be deleted
	Fault  string         // why runs are not stored
	// Compared are those of the runs that are drawn one over the other.
	Compared *comparison
	// Table has some of the runs; nil: there is none.
	Table *resultsTable
}

// captions receives the caption's events.
type captions interface {
	toggle()
	chooseRun(entry)
	compare(entry)
	removeRun(id string, sure bool)
	back()
	takeShown()
	takeBounds()
	takeModel()
}

// captioned takes those events.
type captioned struct {
	*keptRuns
	*trials
	taken, bounded, onward func()
}

func (c captioned) takeShown()  { c.taken() }
func (c captioned) takeBounds() { c.bounded() }
func (c captioned) takeModel()  { c.onward() }

// caption says which run is shown, and unfolds the list of runs.
type caption struct {
	app.Compo
	View    captionView
	Actions captions
}

func (c *caption) Render() app.UI {
	v := c.View
	return app.Section().Class("caption").ID("caption").Aria("label", "Runs").Hidden(v.Made == nil && len(v.Runs) == 0 && v.Fault == "").Body(
		app.Div().Class("caption-row").Body(
			app.P().Class("made").ID("made").Title(c.View.started()).Body(app.Strong().Text(v.Title), app.Text(strings.Join(v.Made, " · "))),
			c.buttons(),
		),
		widget.Message("changed", "note", next(v.Next)),
		widget.Message("runs-fault", "fault", v.Fault),
		app.If(v.Open && len(v.Runs) > 0, c.list),
	)
}

// started is the whole hash of the weights that the run started from.
func (v captionView) started() string {
	if v.Start == "" {
		return ""
	}
	return "Started from weights with SHA-256 " + v.Start
}

// next says which settings are not those of the run that is shown.
func next(cards []form.Card) string {
	if len(cards) == 0 {
		return ""
	}
	return "Not as in this run: " + titles(cards) + ". These settings are for the next run."
}

// titles returns the titles of cards.
func titles(cards []form.Card) string {
	names := make([]string, len(cards))
	for i, card := range cards {
		names[i] = "Seed"
		if card != form.Foot {
			names[i] = strings.ToUpper(string(card[:1])) + string(card[1:])
		}
	}
	return strings.Join(names, ", ")
}

func (c *caption) buttons() app.UI {
	v, a := c.View, c.Actions
	return app.Div().Class("buttons").Body(
		app.Button().Type("button").ID("take-settings").Hidden(len(v.Next) == 0).Text("Take these settings").Title("Set up the next run as this one was").OnClick(widget.Then("act-start", a.takeShown)),
		app.Button().Type("button").ID("take-bounds").Hidden(v.Bought == 0).Text("Take its bounds").
			Title("Declare the bounds that this run has bought and released: the next run buys none").OnClick(widget.Then("act-start", a.takeBounds)),
		app.Button().Type("button").ID("take-model").Hidden(!v.Onward).Text("Train on from it").
			Title("Have the next run start from this run’s model: its ε is not in that of the next").OnClick(widget.Then("start-file", a.takeModel)),
		app.If(v.Replay != nil, func() app.UI { return v.Replay.Button() }),
		app.Button().Type("button").ID("runs-back").Hidden(v.Back == "").Text(v.Back).OnClick(widget.Then("runs", a.back)),
		app.Button().Type("button").ID("runs").Hidden(len(v.Runs) == 0).Aria("expanded", strconv.FormatBool(v.Open)).Aria("controls", "runs-list").
			OnClick(func(app.Context, app.Event) { a.toggle() }).Text("Runs "+words.Count(len(v.Runs))),
		app.If(v.Table != nil, func() app.UI {
			return app.Button().Type("button").ID("results-toggle").Hidden(len(v.Runs) == 0).Aria("expanded", strconv.FormatBool(v.Table.open)).Aria("controls", "results").
				OnClick(func(app.Context, app.Event) { v.Table.toggle() }).Text("Results table")
		}),
	)
}

// list is the runs, with what it means that they are kept.
func (c *caption) list() app.UI {
	v := c.View
	return app.Div().Class("runs").ID("runs-list").Body(
		app.P().Class("help").Text(storageNote(v.Runs)),
		app.If(c.tabled(), func() app.UI {
			return app.Div().Class("buttons").Body(
				app.Span().Text("In the table:"),
				app.Button().Type("button").ID("results-all").Text("All").OnClick(func(app.Context, app.Event) { v.Table.chooseAll(true) }),
				app.Button().Type("button").ID("results-none").Text("None").OnClick(func(app.Context, app.Event) { v.Table.chooseAll(false) }),
			)
		}),
		app.Ul().Class(map[bool]string{true: "runs-all tabled", false: "runs-all"}[c.tabled()]).Body(app.Range(v.Runs).Slice(func(i int) app.UI { return c.run(v.Runs[i]) })),
		v.Compared.view(),
	)
}

// storageNote returns the sentence on where the runs are stored, how much room they take, and what
// they hold.
func storageNote(runs []entry) string {
	size, loose := int64(0), 0
	for _, e := range runs {
		size += e.Bytes
		if e.Bytes == 0 {
			loose++
		}
	}
	s := fmt.Sprintf("Kept in this browser, on this device only, until you delete them: %s, %s.", words.Plural(len(runs)-loose, "run"), words.Bytes(size))
	if loose > 0 {
		s += fmt.Sprintf(" %s in memory alone, and gone when this page is closed.", words.Are(loose))
	}
	return s + " They hold diagnostic values as well, for your eyes: whoever uses this browser can see them. Downloads hold released values unless you tick the box."
}

func (c *caption) run(e entry) app.UI {
	a := c.Actions
	if e.ID == c.View.Doubt {
		keep := widget.Then("runs", func() { a.removeRun("", false) })
		return app.Li().Class("run-sure").OnKeyDown(widget.Escape(keep)).Body(
			app.P().Class("warning").Text("The run of "+words.When(e.Ended, c.View.Now)+" will be deleted, with its model, charts and statement. What it spent stays spent."),
			app.Div().Class("buttons").Body(
				app.Button().Type("button").ID("run-delete").Text("Delete").OnClick(widget.Then("runs", func() { a.removeRun(e.ID, true) }), app.EventScope(e.ID)),
				app.Button().Type("button").ID("run-keep").Text("Keep").OnClick(keep),
			),
		)
	}
	return app.Li().Body(
		app.If(c.tabled(), func() app.UI { return c.choice(e) }),
		app.Button().Type("button").Class("plain run-open").OnClick(widget.Then("runs", func() { a.chooseRun(e) }), app.EventScope(e.ID)).Body(
			app.Span().Class("run-when figure").Text(words.When(e.Ended, c.View.Now)),
			app.Span().Class("run-what").Text(e.Method+" on "+e.Data),
			app.Span().Class("run-epsilon figure value-released").Text(e.cost()),
			app.Span().Class("run-score figure value-diagnostic").Text(e.Score),
			app.Span().Class("run-state").Text(e.State),
			app.Span().Class("run-size figure").Text(e.place()),
			app.If(e.Fault != "", func() app.UI { return app.Span().Class("run-fault").Text(e.Fault) }),
		),
		c.comparing(e),
		app.Button().Type("button").Class("plain run-remove").Aria("label", "Delete the run of "+words.When(e.Ended, c.View.Now)).
			OnClick(widget.Then("run-keep", func() { a.removeRun(e.ID, false) }), app.EventScope(e.ID)).Text("Delete…"),
	)
}

// tabled reports whether runs can be put into a table that is shown.
func (c *caption) tabled() bool { return c.View.Table != nil && c.View.Table.open }

// choice is the tick that puts a run into the table.
func (c *caption) choice(e entry) app.UI {
	t := c.View.Table
	return app.Input().Type("checkbox").Class("run-tabled").Checked(t.chosen[e.ID]).Aria("label", "In the table, the run of "+words.When(e.Ended, c.View.Now)).
		OnChange(func(ctx app.Context, _ app.Event) { t.choose(e.ID, ctx.JSSrc().Get("checked").Bool()) }, app.EventScope(e.ID))
}

// comparing is the button that draws a run over others, where there are others.
func (c *caption) comparing(e entry) app.UI {
	place := c.View.Compared.place(e.ID)
	text := "Compare"
	if place >= 0 {
		text = fmt.Sprintf("Compared: %d", place+1)
	}
	return app.Button().Type("button").Class("plain run-compare").Hidden(len(c.View.Runs) < 2).Aria("pressed", strconv.FormatBool(place >= 0)).
		Aria("label", text+", the run of "+words.When(e.Ended, c.View.Now)).
		OnClick(func(app.Context, app.Event) { c.Actions.compare(e) }, app.EventScope(e.ID)).Text(text)
}

// cost returns the text of the run's charge.
func (e entry) cost() string {
	if !e.Private {
		return "no guarantee"
	}
	return "ε " + words.Epsilon(float64(e.Epsilon))
}

func (e entry) place() string {
	if e.Bytes == 0 {
		return "in memory"
	}
	return words.Bytes(e.Bytes)
}

// caption describes the run that is shown.
func (s *Controller) caption() captionView {
	t, v := s.trials.shown, captionView{Title: "No run is shown.", Now: s.now(), Runs: s.keptRuns.entries(), Open: s.keptRuns.open, Doubt: s.keptRuns.doubt, Fault: s.keptRuns.fault, Compared: &s.keptRuns.compared, Table: s.results}
	if t != s.trials.last {
		v.Back = "Back to the run in progress"
		if !s.trials.last.phase.active() {
			v.Back = "Back to the last run"
		}
	}
	if s.trials.still() {
		v.Replay = s.trials.replay
	}
	if t.record == nil {
		return v
	}
	v.Title = "Run " + t.state()
	if t.id != "" {
		v.Title = "Run of " + words.When(t.ended, v.Now) + ", " + t.state()
	}
	v.Title += ". " + t.inFull()
	if n := t.record.Resumed; n > 0 {
		v.Title += "Drawn from step " + words.Count(n) + ", where it was resumed. "
	}
	if t != s.trials.last { // whose fault stands in the run bar
		v.Title += t.fault
	}
	v.Made, v.Start = t.description(), t.record.Config.Start.SHA256
	v.Onward = s.start != nil && t.startable()
	v.Next, v.Bought = s.next(), len(t.bought(s.data))
	return v
}

// next are the cards on which the settings are not those of the run that is shown.
func (s *Controller) next() []form.Card {
	t := s.trials.shown
	if t.record == nil {
		return nil
	}
	full := s.exp.full()
	list := form.Differing(&full, &t.record.Config)
	if r := s.data.report; r != nil && !slices.Contains(list, form.Data) && cards.DataLine(&full, r) != cards.DataLine(&t.record.Config, &t.data) {
		list = slices.Insert(list, 0, form.Data)
	}
	return list
}
