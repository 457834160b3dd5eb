package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/motion"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// runView is the state of the run bar.
type runView struct {
	Phase       phase
	Stopped     bool        // before its last step
	Lack        string      // why no run can begin on the data; empty: one can
	Soon        bool        // one soon may: that is not worth a line
	Refused     []form.Card // where a setting is refused
	Warned      []form.Card // where the plan, or the reader of files, has a warning
	Noted       []form.Card // where the plan has notes alone
	Step, Steps int
	Within      float64         // how much of the present step is done, 0 … 1; a diagnostic
	Trial       run.Trial       // which run is tried, of several
	Of          *run.TuningPlan // nil: there is one run
	Left        float64         // seconds; NaN when unknown
	Spent       float64         // ε of a run planned to end here; NaN when nothing ran
	Whole       float64         // ε of the whole run, which it is charged; 0 when it is not known
	Pending     bool            // ε and steps are of other settings than those in the fields
	Calculating bool            // and the plan is being worked out
	Unbacked    bool            // there is noise, and no guarantee that ε would be a bound of
	Fault       string
	Place       run.Place // what it is computed on; of no backend: nobody knows yet
	PerStep     float64   // seconds, lately; NaN when unknown
	Moved       int64     // bytes to a GPU and back in the last step
	Together    bool      // several parties train, who cannot be paused
	Waiting     bool      // for them, before its start
	Late        bool      // somebody keeps the others waiting
	Here        int       // parties that are there before its start
	Parties     int       // for which it is
	Unbegun     bool      // it ended before its start
	Gathering   string    // what starting means then: to open a room, or to join one
}

// runActions receives the run bar's events.
type runActions interface {
	start()
	pause()
	step()
	stop()
	reset()
}

// setup receives the event of the button for the cards.
type setup interface{ toggleSheet() }

// runBar starts, paces and ends a run, and says how far it is.
type runBar struct {
	app.Compo
	View     runView
	Actions  runActions
	Steering *motion.Steering // nil: the run cannot be changed
	Setup    setup
	Sheet    bool // the cards are open over the charts
}

func (b *runBar) Render() app.UI {
	class, notice := b.View.notice()
	return app.Div().ID("runbar").Class("runbar").Role("region").Aria("label", "Run").Body(
		app.Div().Class("runbar-row").Body(
			b.buttons(),
			b.progress(),
			b.epsilon(),
		),
		app.If(b.Steering != nil, func() app.UI { return b.Steering.View() }),
		widget.Message("run-lack", "note", b.View.lacking()),
		widget.Message("run-warned", widget.Stale(class, b.View.Pending && class != "fault" || b.View.Calculating), notice),
		widget.Message("run-fault", "fault", b.View.Fault),
		app.P().ID("run-said").Class("visually-hidden").Role("status").Text(b.View.said()),
	)
}

// lacking is the line that says why the button to start is off.
func (v runView) lacking() string {
	if v.Soon || v.Phase.active() {
		return ""
	}
	return v.Lack
}

// notice sends one who is about to start to the worst that is said of the settings: a fault, a warning or a note. It may
// stand in a card that is closed or, on a narrow page, under all that is in sight.
func (v runView) notice() (class, text string) {
	class, do, cards := "note", "read", v.Noted
	switch {
	case len(v.Refused) > 0:
		class, do, cards = "fault", "mend", v.Refused
	case len(v.Warned) > 0:
		class, cards = "warning", v.Warned
	}
	if len(cards) == 0 || v.Lack != "" || v.Phase.active() {
		return class, ""
	}
	when := "the run"
	if v.Phase != idle {
		when = "the next run"
	}
	return class, "There is a " + class + " to " + do + " before " + when + ": see " + titles(cards) + "."
}

// said returns the text for screen readers, which is short: not every step.
func (v runView) said() string {
	switch v.Phase {
	case running:
		if v.Waiting {
			return fmt.Sprintf("You are in the room: %s of %s are here. The run has not started.", words.Count(v.Here), words.Plural(v.Parties, "party"))
		}
		if v.Late {
			return "The run waits for the others."
		}
		return "The run has started."
	case paused:
		return fmt.Sprintf("The run is paused after %s.", words.Plural(v.Step, "step"))
	case done:
		switch {
		case v.Unbegun:
			return "You have left the room. Nothing is charged."
		case v.Stopped && v.Step == 0:
			return "The run was stopped before its first step. Nothing was released."
		}
		price := "is charged ε " + words.Epsilon(v.Whole)
		if v.Unbacked || math.IsInf(v.Spent, 1) {
			price = "carries no guarantee"
		}
		return fmt.Sprintf("The run has ended after %s of %s; it %s.", words.Count(v.Step), words.Plural(v.Steps, "step"), price)
	default:
		return ""
	}
}

func (b *runBar) buttons() app.UI {
	v, a := b.View, b.Actions
	act := func(f func()) app.EventHandler { return func(app.Context, app.Event) { f() } }
	off := v.Lack != "" && !v.Phase.active() || v.Phase == starting || v.Phase == stopping
	first := widget.Button("start", v.startLabel(), "primary", off, act(a.start)).Aria("describedby", "run-lack")
	if v.Phase == running {
		first = widget.Button("pause", "Pause", "primary", v.Together, act(a.pause))
	}
	return app.Div().Class("buttons").Body(
		first,
		widget.Button("step", "Step", "", off || v.Together, act(a.step)),
		widget.Button("stop", "Stop", "", v.Phase != running && v.Phase != paused, act(a.stop)),
		widget.Button("reset", "Reset", "", v.Phase == idle || v.Phase.active() && v.Phase != starting, act(a.reset)),
		app.Button().Type("button").Class("setup").Aria("expanded", strconv.FormatBool(b.Sheet)).Aria("controls", "experiment").
			OnClick(act(b.Setup.toggleSheet)).Body(widget.Icon("setup"), app.Span().Text("Setup")),
	)
}

func (v runView) startLabel() string {
	switch {
	case v.Phase == paused:
		return "Resume"
	case v.Gathering != "":
		return v.Gathering
	case v.Phase == done || v.Phase == failed:
		return "New run"
	default:
		return "Start"
	}
}

func (b *runBar) progress() app.UI {
	v := b.View
	bar := app.Progress().Max(1).Value(0).Aria("label", "Progress of the run")
	if v.Of != nil { // how many there will be is not told
		bar = app.Progress().Max(v.Trial.Steps).Value(v.Trial.Step).Aria("label", "Progress of this one run")
	} else if v.Steps > 0 {
		bar = app.Progress().Max(v.Steps).Value(float64(v.Step)+v.Within).Aria("label", "Progress of the run")
	}
	placed := v.placed()
	title := placed
	if v.Place.Why != "" {
		title += ". " + v.Place.Why
	}
	return app.Div().Class("progress").Body(
		app.Span().Class(widget.Stale("steps figure", v.Pending)).Text(stepText(v)),
		bar,
		app.Span().Class("left figure").Text(leftText(v)),
		app.Span().Class("place").ID("run-place").Title(title).Text(placed),
	)
}

// placed says how fast a run is, how much of it travels to a device and back, and what
// it is computed on.
func (v runView) placed() string {
	p := v.Place
	switch {
	case p.Backend == "":
		return ""
	case p.Trying:
		return "trying what is fastest…"
	case p.Compiling:
		return p.String() + " compiles its programs…"
	}
	var each []string
	if !math.IsNaN(v.PerStep) {
		each = append(each, words.Number(1000*v.PerStep, 3)+" ms")
	}
	if v.Moved > 0 {
		each = append(each, words.Bytes(v.Moved))
	}
	s := p.String()
	if p.Programs > 0 {
		s += fmt.Sprintf(", %s compiled in %s s", words.Plural(p.Programs, "program"), words.Number(float64(p.CompileSeconds), 2))
	}
	if each == nil {
		return s
	}
	return strings.Join(each, " and ") + " a step, " + s
}

func stepText(v runView) string {
	if v.Of != nil && v.Trial.Rehearsal {
		return fmt.Sprintf("rehearsal %d of %d, step %s / %s", v.Trial.Number, len(v.Of.Candidates), words.Count(v.Trial.Step), words.Count(v.Trial.Steps))
	}
	if v.Of != nil {
		return fmt.Sprintf("run %d of some %s, step %s / %s", v.Trial.Number, words.Number(v.Of.Runs, 3), words.Count(v.Trial.Step), words.Count(v.Trial.Steps))
	}
	if v.Steps == 0 {
		return "step –"
	}
	text := fmt.Sprintf("step %s / %s", words.Count(v.Step), words.Count(v.Steps))
	if v.Within > 0 {
		text += ", " + words.Percent(v.Within, 0) + " of the next"
	}
	return text
}

// leftText is the state in words, or while it runs the time that is left.
func leftText(v runView) string {
	switch {
	case v.Lack != "" && v.Phase == idle:
		return "waiting for data"
	case v.Phase == starting:
		return "starting…"
	case v.Phase == paused:
		return "paused"
	case v.Phase == stopping:
		return "stopping…"
	case v.Unbegun:
		return "not started"
	case v.Phase == done && v.Stopped:
		return "stopped"
	case v.Phase == done:
		return "finished"
	case v.Phase == failed:
		return "ended by an error"
	case v.Phase == running && v.Waiting:
		return "waiting"
	case v.Phase == running && v.Left < 1:
		return "under 1 s left"
	case v.Phase == running && !math.IsNaN(v.Left):
		return words.Duration(math.Ceil(v.Left)) + " left"
	case v.Phase == running:
		return "running"
	case v.Calculating:
		return "calculating…"
	case len(v.Refused) > 0:
		return "not ready"
	default:
		return "ready"
	}
}

func (b *runBar) epsilon() app.UI {
	v := b.View
	here, charged := "", v.Spent
	if v.Whole > 0 {
		here, charged = words.Epsilon(v.Spent)+" / ", v.Whole
	}
	title := "ε of a run planned to end here, and of the whole run, which is what it is charged"
	if v.Unbacked {
		title = "What the noise alone would be good for, here and after all steps: this run carries no guarantee"
	}
	return app.Div().Class(widget.Stale("spent figure", v.Pending)).Title(title).Body(
		app.Span().Class("symbol").Text("ε"),
		app.Span().Text(here),
		app.Strong().Text(words.Epsilon(charged)),
		app.If(v.Unbacked, func() app.UI { return app.Small().Text("no guarantee") }),
	)
}
