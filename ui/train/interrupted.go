package train

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Continuer is a client that stores checkpoints of runs, and continues runs that were interrupted.
type Continuer interface {
	// InterruptedRuns calls back with a list of [run.KeptRun] in JSON.
	InterruptedRuns(done func([]byte, error))
	// WatchInterrupted calls f when there may be others than before, of other tabs too.
	WatchInterrupted(f func())
	// ContinueRun continues a run, one on files with the data at hand.
	ContinueRun(id string, d client.Handle, started func(client.Run, data.Report, error))
	DiscardRun(id string, done func(error))
}

// interruptedRuns is the list of kept runs that were interrupted.
type interruptedRuns struct {
	*env
	client     Continuer            // nil: no run is stored
	onContinue func(run.KeptRun)    // has one go on
	files      func() client.Handle // the files at hand
	list       []run.KeptRun
	doubt      string // the id of the run that may be discarded
	fault      string
}

// has reports whether a run is in the list.
func (s *interruptedRuns) has(id string) bool {
	return slices.ContainsFunc(s.list, func(in run.KeptRun) bool { return in.ID == id })
}

// followStore reads the list, and follows its changes.
func (s *interruptedRuns) followStore() {
	if s.client != nil {
		s.client.WatchInterrupted(s.readList)
		s.readList()
	}
}

func (s *interruptedRuns) readList() {
	s.client.InterruptedRuns(func(b []byte, err error) {
		var list []run.KeptRun
		if err == nil {
			err = json.Unmarshal(b, &list)
		}
		if err != nil { // as where nothing may be stored, which the list of runs says
			list = nil
		}
		s.list = list
		s.changed()
	})
}

// discard asks whether a run is to be given up, and does so once its owner is sure; an
// empty id is a no.
func (s *interruptedRuns) discard(id string, sure bool) {
	s.fault = ""
	if !sure || id != s.doubt {
		s.doubt = id
		s.changed()
		return
	}
	s.doubt = ""
	s.client.DiscardRun(id, func(err error) {
		if err != nil {
			s.fault = err.Error()
		}
		s.changed()
	})
}

func (s *interruptedRuns) choose(in run.KeptRun) {
	s.fault, s.doubt = "", ""
	s.onContinue(in)
}

// view returns the list to show; busy says that a run is in progress.
func (s *interruptedRuns) view(busy bool) *interruptedView {
	return &interruptedView{List: s.list, Doubt: s.doubt, Fault: s.fault, Busy: busy, Files: s.files() != nil, Actions: s}
}

// interruptions receives the events of the list.
type interruptions interface {
	choose(run.KeptRun)
	discard(id string, sure bool)
}

// interruptedView shows the latest of the list: the others come when that one is seen to.
type interruptedView struct {
	app.Compo
	List    []run.KeptRun
	Doubt   string
	Fault   string
	Busy    bool // another run is in progress
	Files   bool // there are files at hand
	Actions interruptions
}

func (v *interruptedView) Render() app.UI {
	return app.Section().Class("interrupted").ID("interrupted").Aria("label", "Interrupted runs").Hidden(len(v.List) == 0 && v.Fault == "").Body(
		app.If(len(v.List) > 0, func() app.UI { return v.line(v.List[0]) }),
		widget.Message("interrupted-fault", "fault", v.Fault),
	)
}

func (v *interruptedView) line(in run.KeptRun) app.UI {
	if in.ID == v.Doubt {
		keep := widget.Then("interrupted-go-on", func() { v.Actions.discard("", false) })
		return app.Div().Class("interrupted-run").OnKeyDown(widget.Escape(keep)).Body(
			app.P().Class("warning").Text("What is stored of the run on "+cmp.Or(in.Data, "unknown data")+" will be deleted. What it spent stays spent."),
			app.Div().Class("buttons").Body(
				app.Button().Type("button").ID("interrupted-delete").Text("Delete").OnClick(widget.Then("act-start", func() { v.Actions.discard(in.ID, true) }), app.EventScope(in.ID)),
				app.Button().Type("button").ID("interrupted-keep").Text("Keep").OnClick(keep),
			),
		)
	}
	return app.Div().Class("interrupted-run").Body(
		app.P().Text(v.said(in)),
		app.Div().Class("buttons").Body(
			app.Button().Type("button").Class("primary").ID("interrupted-go-on").Disabled(v.Busy || in.Fault != "" || in.Builtin == "" && !v.Files).Text("Go on").
				OnClick(widget.Then("act-start", func() { v.Actions.choose(in) }), app.EventScope(in.ID)),
			app.Button().Type("button").ID("interrupted-discard").Text("Discard…").
				OnClick(widget.Then("interrupted-keep", func() { v.Actions.discard(in.ID, false) }), app.EventScope(in.ID)),
		),
	)
}

// said returns the sentences on an interrupted run.
func (v *interruptedView) said(in run.KeptRun) string {
	s := fmt.Sprintf("A run on %s was interrupted at step %s of %s.", in.Data, words.Count(in.Step), words.Count(in.Steps))
	if in.Fault != "" {
		s = fmt.Sprintf("A run on %s was interrupted: %s.", cmp.Or(in.Data, "unknown data"), in.Fault)
	}
	switch {
	case in.Fault != "":
	case in.Builtin != "":
	case v.Files:
		s += " It can go on if the file at hand is that one."
	default:
		s += " Open that file again, and it can go on."
	}
	if in.Backbone != nil && in.Fault == "" {
		s += " It was on features that a backbone made: make them again first, with the same file."
	}
	if more := len(v.List) - 1; more > 0 {
		s += fmt.Sprintf(" And %s more.", words.Count(more))
	}
	return s
}
