// Package train shows the Train page: the state of an experiment, its data and its runs,
// and the frame of the charts.
package train

import (
	"cmp"
	"maps"
	"reflect"
	"time"

	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/ledger"
	"clipscope/ui/link"
	"clipscope/ui/motion"
	"clipscope/ui/preset"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Client is the page's way to the trainer: window.clipscope, and in tests
// something that answers at once. Callbacks come later, on the page's thread.
type Client interface {
	// Ready calls back when the others may be called.
	Ready(func(error))
	// Open opens built-in data by name, or files (an array of File objects).
	// The returned function cancels it.
	Open(source any, csv run.CSV, progress func(source.Progress), done func(client.Opened, error)) (cancel func())
	Plan(cfg run.Config, d client.Handle, done func(run.PlanInfo, error))
	// Train starts a run on opened data; paused, it waits for Step or Resume.
	Train(cfg run.Config, d client.Handle, paused bool, started func(client.Run, error))
}

// Controller is the state of the page on which one trains: an experiment, its data
// and its runs. It outlives the components that show it, so that reading the
// help does not end a run. Everything in it happens on the page's one thread.
type Controller struct {
	*env
	client   Client
	exp      *experiment
	data     *dataSource
	start    *startWeights // nil: nothing reads saved models
	public   *publicRows   // nil: nothing keeps public rows
	ledger   *ledger.Ledger
	trials   *trials
	keptRuns *keptRuns
	results  *resultsTable
	sweep    *sweep
	address  *address
	together *together

	interrupted *interruptedRuns
	frame       *frame

	table    bool   // how the table is read is shown in place of the charts
	sheet    bool   // the cards are shown over the charts, on a narrow page
	problem  string // what keeps the whole page from working
	about    string // what the preset shows that was chosen; "" once anything differs from it
	hasBegun bool
	touched  bool // the settings were changed or used here: they are kept for the next visit
	restored bool // the settings are those of an earlier visit
	watched  bool // requests are counted, or will be
	sent     widget.Requests
}

// New returns the controller of a page that was not shown yet.
func New(c Client) *Controller {
	e, exp := newEnv(), newExperiment(preset.First())
	s := &Controller{env: e, client: c, exp: exp, address: &address{env: e, exp: exp}}
	s.data = &dataSource{env: e, client: c, exp: exp, name: exp.cfg.Data, wanted: exp.cfg.Data,
		adopted: s.adopted, show: func() { s.point("data") }, taken: s.takeSaved}
	if f, ok := c.(Featurer); ok {
		s.data.backbone = &backbone{data: s.data, client: f}
	}
	adopted := func() { s.touched = true; s.edited() }
	if w, ok := c.(Weigher); ok {
		s.start = &startWeights{choice: choice{env: e}, client: w, exp: exp, adopted: adopted}
		s.data.startFrom = s.startFrom
	}
	if o, ok := c.(Opener); ok {
		s.public = &publicRows{choice: choice{env: e}, client: o, exp: exp, adopted: adopted}
	}
	exp.reading = func() bool { return s.data.loading }
	kept, _ := c.(ledger.Client)
	s.ledger = ledger.New(kept, s.files, func() *run.PlanInfo { return exp.plan }, func() { s.changed() })
	s.ledger.OnForget = s.forget
	store, _ := c.(RunStore)
	s.keptRuns = &keptRuns{env: e, store: store}
	s.results = newResultsTable(e, s.keptRuns)
	s.keptRuns.onKeep = s.results.addEnded
	continuer, _ := c.(Continuer)
	s.interrupted = &interruptedRuns{env: e, client: continuer, files: s.files}
	s.keptRuns.isInterrupted = s.interrupted.has
	s.trials = &trials{env: e, client: c, exp: exp, data: s.data, ledger: s.ledger, keptRuns: s.keptRuns, interrupted: s.interrupted, charts: chart.New(1),
		launching: func() { s.table = false; s.cover(false); s.touch() }, point: s.point}
	s.trials.replay = motion.NewReplay(s.trials.replayed, func() { s.trials.draw(); s.changed() },
		func(d time.Duration, f func()) func() bool { return e.after(d, f) }, func() time.Time { return e.now() })
	s.interrupted.onContinue = s.trials.goOn
	s.sweep = newSweep(s)
	s.trials.over, s.trials.answered = s.sweep.over, s.sweep.answered
	gatherer, _ := c.(Gatherer)
	s.together = &together{env: e, client: gatherer, exp: exp, data: s.data, address: s.address, taken: s.takeAgreed}
	s.trials.together = s.together
	s.frame = &frame{Controller: s}
	s.trials.frame = s.frame
	s.keptRuns.onShow, s.keptRuns.onDelete = func(t *trial) { s.table = false; s.trials.open(t) }, s.trials.dropped
	s.trials.follow(newTrial(e))
	return s
}

// files is the data at hand where it is a person's own; nil otherwise.
func (s *Controller) files() client.Handle {
	if s.data.name != form.Files {
		return nil
	}
	return s.data.handle
}

// Set takes a text that was typed or chosen in a control.
func (s *Controller) Set(key, text string) {
	s.touched = true
	if key == "data" {
		s.data.openNamed(text)
		return
	}
	s.exp.keepLabel(key, text, s.data.view().Table)
	parties := s.exp.cfg.Together.Parties
	if err := s.exp.set(key, text, s.data.rows()); err != nil {
		s.changed()
		return
	}
	if key == "together.parties" {
		s.exp.declareFor(parties, s.data.rows())
	}
	reads := form.Reads(key) || (key == "num_examples" || key == "together.parties") && s.data.holdOutByRow()
	s.edited()
	if reads {
		s.data.reopen()
	}
}

// Settle ends the typing in a control.
func (s *Controller) Settle(key string) {
	s.exp.settle(key)
	s.changed()
}

// Open opens a card, and closes it when it is open.
func (s *Controller) Open(card form.Card) {
	if s.exp.openCard == card {
		card = form.Foot
	}
	s.show(card)
}

// show opens a card, or none, and brings it in sight.
func (s *Controller) show(card form.Card) {
	s.exp.open(card)
	s.sweep.follow()
	s.changed()
	if card != form.Foot {
		browser.Reveal("card-" + string(card))
	}
}

// point brings in sight what a name stands for. In the foot nothing opens.
func (s *Controller) point(name string) {
	s.table = s.table || form.Reads(name) || name == "scaling.target" || name == "scaling.kind" && s.together.several() // whose bounds are a column's
	if card := form.Find(name).Card; card != form.Foot {
		s.show(card)
		return
	}
	browser.Reveal("foot")
}

// edited follows a change of the configuration with the URL and a new plan.
func (s *Controller) edited() {
	s.trials.fault, s.about = "", ""
	s.address.write()
	s.leave()
	s.replan()
}

// adopted follows other data in the same way. Before anything is spent on a table
// it is shown how that is read.
func (s *Controller) adopted(edited bool) {
	s.trials.fault = ""
	s.table = !s.trials.last.phase.active()
	reads := false
	if c := &s.exp.cfg; c.Together.Parties > 0 && c.NumExamples == 0 && s.data.agreed == nil && s.data.rows() > 0 { // parties came first
		s.exp.declareFor(c.Together.Parties, s.data.rows())
		edited, reads = true, s.data.holdOutByRow()
	}
	if edited {
		s.address.write()
	}
	if s.files() != nil {
		s.touched = true
	}
	s.leave()
	s.replan()
	if reads {
		s.data.reopen()
	}
}

// replace puts another whole configuration in place: from a link, a preset.
func (s *Controller) replace(cfg run.Config) {
	s.exp.replace(cfg)
	s.data.chosenFiles = nil // its own way of reading files comes with it
	s.data.fresh, s.data.left, s.data.recalled, s.data.columnNames = false, false, false, ""
	s.touched, s.restored = false, false
	s.trials.fault, s.about = "", ""
	s.start.forgetFault()
	s.public.forgetFault()
	switch full := s.exp.full(); {
	case full.Data != s.data.wanted || s.data.fault != "":
		s.data.openNamed(full.Data)
	case full.Data == form.Files && !reflect.DeepEqual(s.exp.cfg.CSV, s.data.csv):
		s.data.reopen()
	}
	s.replan()
}

// take puts the settings of a run in the place of the present ones. What follows from the facts of
// its data all the same stays free to follow. Files of that name are to be chosen where none are open.
func (s *Controller) take(cfg run.Config, facts run.Facts, name string) {
	s.data.lost, s.address.lost = "", ""
	if cfg.Data == form.Files {
		s.data.lost = name
	}
	s.replace(form.Shortest(cfg, facts))
	s.address.write()
	s.touch()
}

// takeAgreed puts what parties have agreed on in the place of the settings, but for the data. A table is read as agreed. Anybody
// may have made the room, so that all of it is read as a link is.
func (s *Controller) takeAgreed(a run.Agreed) {
	cfg := a.Config
	cfg.CSV = a.CSV
	hash, err := cfg.Hash()
	if err != nil { // no configuration of JSON
		return
	}
	cfg, names, more := link.ReadRun(hash)
	s.address.leaveOut("invitation", names, more)
	a.CSV = cfg.CSV
	cfg.Data, cfg.CSV = s.exp.cfg.Data, s.exp.cfg.CSV
	if s.data.agreed = &a; len(a.Columns) > 0 {
		cfg.Data = form.Files
	}
	if s.files() != nil {
		s.data.readAsAgreed(&cfg.CSV, s.data.columns())
		cfg.CSV.HoldOut = cmp.Or(cfg.CSV.HoldOut, "row") // as the number of rows is declared
	}
	s.replace(cfg)
}

// takeSaved takes the settings of a file. Anybody may have written it, so they are read as a link is: what
// is not understood is left out, and named.
func (s *Controller) takeSaved(cfg run.Config) {
	hash, err := cfg.Hash()
	if err != nil { // no configuration of JSON
		return
	}
	cfg, names, more := link.ReadRun(hash)
	s.take(cfg, run.Facts{}, "")
	s.address.leaveOut("file", names, more)
}

// startFrom has the next run start from a saved model.
func (s *Controller) startFrom(file app.Value) {
	s.start.ChooseStart(file)
	s.show(form.Model)
}

// startFromShown has the next run start from the model of the run that is shown.
func (s *Controller) startFromShown() {
	if t := s.trials.shown; s.start != nil && t.startable() {
		s.cover(true)
		s.startFrom(t.model.Named("run-"+t.ended.Format("15-04-05")+".safetensors", &t.record.Config))
	}
}

// takeShown takes the settings of the run that is shown.
func (s *Controller) takeShown() {
	if t := s.trials.shown; t.record != nil {
		s.take(t.record.Config, t.data.Facts(), t.data.Name)
	}
}

// takeBounds declares those bounds. They are released, so it costs nothing, and the next run buys none.
func (s *Controller) takeBounds() {
	cfg, all := s.exp.cfg, map[string]run.Bounds{}
	maps.Copy(all, cfg.CSV.Bounds)
	maps.Copy(all, s.trials.shown.bought(s.data))
	cfg.CSV.Bounds = all
	s.replace(cfg)
	s.address.write()
	s.touch()
}

// replan asks what the configuration comes to, once the data is there.
func (s *Controller) replan() {
	s.sweep.follow()
	if s.data.lack() == "" {
		s.exp.replan(s.env, s.askPlan, func() {
			s.ledger.Follow()
			s.frame.planned()
			s.together.compare()
			s.changed()
		})
	} else {
		s.exp.unplan(s.data.loading)
		if !s.data.loading {
			s.frame.planned()
			s.together.compare()
		}
	}
	s.changed()
}

func (s *Controller) askPlan(cfg run.Config, done func(run.PlanInfo, error)) {
	s.client.Plan(cfg, s.data.handle, done)
}

// usePreset starts from a preset.
func (s *Controller) usePreset(name string) {
	for _, p := range preset.All() {
		if p.Name == name {
			s.replace(p.Config)
			s.exp.example, s.about = &p.Config, p.About
			s.address.write()
			s.touch()
		}
	}
}

// beginWork takes the configuration from the address, as a link within the site may have led here,
// and the first time starts the page's work.
func (s *Controller) beginWork() {
	s.follow()
	if s.hasBegun {
		return
	}
	s.hasBegun = true
	s.restore()
	s.client.Ready(func(err error) {
		if err != nil {
			s.hasBegun, s.problem = false, err.Error()
			s.changed()
			return
		}
		browser.AskBeforeLeaving(s.unsafe)
		s.keptRuns.followStore()
		s.interrupted.followStore()
		s.data.openFirst()
		s.frame.attach()
	})
}

// unsafe reports whether leaving the page would lose what was paid for: a run in
// progress, or one that is not in storage.
func (s *Controller) unsafe() bool {
	return s.trials.last.phase.active() || s.sweep.busy() || len(s.keptRuns.inMemory) > 0
}

// follow takes the configuration from the URL, if it holds another.
func (s *Controller) follow() {
	if in, ok := s.address.invitation(); ok {
		s.together.follow(in)
		return
	}
	s.together.leave()
	if cfg, ok := s.address.read(); ok {
		s.replace(cfg)
	}
}

// tabled reports whether there is a table to be shown.
func (s *Controller) tabled() bool {
	return len(s.data.columns()) > 0
}

// ShowTable shows how the table is read in place of the charts, or no more.
func (s *Controller) ShowTable(shown bool) {
	s.table = shown
	s.cover(false)
	s.changed()
	browser.Focus(map[bool]string{true: "table", false: "act-start"}[shown])
}

// cover shows the cards over the charts, or no more.
func (s *Controller) cover(sheet bool) {
	s.sheet = sheet
	browser.Cover(sheet, ".sheet-close")
}

func (s *Controller) toggleSheet() {
	s.cover(!s.sheet)
	s.changed()
	to := "act-start"
	if s.sheet {
		to = "experiment-first"
	}
	browser.Focus(to)
}

// watchRequests counts from when the page is ready: its program and the first worker have
// been loaded.
func (s *Controller) watchRequests() {
	if s.watched || !app.IsClient || !browser.Glue().Truthy() {
		return
	}
	s.watched = true
	browser.Glue().Call("watchRequests", app.FuncOf(func(_ app.Value, args []app.Value) any {
		s.sent = widget.Requests{Known: true, Count: args[0].Int(), Names: args[1].String()}
		s.changed()
		return nil
	}))
}

// Show says who is to be told, from now on, when there is something new to show.
func (s *Controller) Show(changed func()) {
	s.env.changed, s.frame.shown = changed, true
	s.watchRequests()
}

// Hide says that nothing is shown.
func (s *Controller) Hide() { s.env.changed, s.frame.shown = func() {}, false }

// Used says who takes the model of a run that is to be applied, as a File.
func (s *Controller) Used(f func(file app.Value)) { s.env.used = f }

// Checked says who takes a file that is to be checked.
func (s *Controller) Checked(f func(file app.Value)) { s.env.checked = f }

// Config is the experiment's configuration, with its defaults.
func (s *Controller) Config() run.Config { return s.exp.full() }

// Sent returns the requests that left the page for the network.
func (s *Controller) Sent() widget.Requests {
	r := s.sent
	r.ToRoom, r.FromRoom = s.together.moved(s.trials.last)
	return r
}
