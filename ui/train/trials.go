package train

import (
	"cmp"
	"slices"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/cards"
	"clipscope/ui/chart"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/ledger"
	"clipscope/ui/motion"
	"clipscope/ui/series"
)

// trials are the runs of an experiment: the last, which the run bar acts on, if
// only to start it, and the one that is shown, which may be one that was kept.
type trials struct {
	*env
	client   Client
	exp      *experiment
	data     *dataSource
	ledger   *ledger.Ledger
	keptRuns *keptRuns
	// interrupted are runs that may go on.
	interrupted *interruptedRuns
	together    *together
	frame       *frame
	// launching is called when a run is about to start, and point with the name
	// of a field, or of a card, that keeps one from it.
	launching func()
	// over is called when a run has ended, or was called off before it began, and answered with the answer to the ledger's
	// question: whether that was for a run of a sweep.
	over     func(*trial)
	answered func(yes bool) bool
	point    func(name string)

	last   *trial
	shown  *trial
	fault  string // why no run starts
	charts *chart.Set
	replay *motion.Replay // of the run that is shown
	speed  float64        // of teaching runs, in steps a second; [motion.Full]
}

// show puts a run on the stage; the last one goes on.
func (s *trials) show(t *trial) {
	s.shown = t
	s.replay.Close()
	s.charts.Clear()
	s.draw()
}

// follow makes a run the last one, and shows it.
func (s *trials) follow(t *trial) {
	if s.last != nil && s.last != t {
		s.last.leave()
	}
	s.last, s.fault = t, ""
	s.show(t)
}

// open shows a run of the list. It becomes the last one, unless that goes on.
func (s *trials) open(t *trial) {
	if t.id == s.last.id {
		t = s.last
	}
	if s.last.phase.active() {
		s.show(t)
	} else {
		s.follow(t)
	}
}

// back shows the last run again.
func (s *trials) back() {
	s.show(s.last)
	s.changed()
}

// dropped removes a deleted run from the stage.
func (s *trials) dropped(id string) {
	if s.last.id == id {
		s.follow(newTrial(s.env))
	} else if s.shown.id == id {
		s.show(s.last)
	}
}

func (s *trials) draw() {
	if r := s.shown.record; r != nil {
		s.charts.Draw([]*series.Record{s.replay.At(r)})
	}
}

// start starts a run, or lets a paused one go on.
func (s *trials) start() {
	switch t := s.last; {
	case t.phase == paused:
		s.replay.Close()
		t.resume()
	case t.phase.active():
	default:
		s.launch(false)
	}
}

// step takes one step: of the paused run, or the first of a new one.
func (s *trials) step() {
	switch t := s.last; {
	case t.phase == paused:
		s.replay.Close()
		t.runner.Step()
	case s.together.has(t): // the others go on
	case t.phase == running:
		t.pause()
	case !t.phase.active():
		s.launch(true)
	}
}

// Pace sets the speed of the last run if it is one for teaching, and of those to come.
func (s *trials) Pace(perSecond float64) {
	s.speed = perSecond
	if s.last.teaching() {
		s.last.runner.Pace(perSecond)
		s.last.pace.rest()
	}
	s.changed()
}

// paced has a run that begins keep to the speed that was chosen.
func (s *trials) paced() {
	if s.speed != motion.Full {
		s.Pace(s.speed)
	}
}

// Change has the last run go on with other numbers.
func (s *trials) Change(c run.Change) { s.last.change(c) }

// Fault says why a number was not understood.
func (s *trials) Fault(why string) {
	s.last.refused = why
	s.changed()
}

// steering is the last run's, while there is one that can be changed, and before the first
// what speed one that could be would have.
func (s *trials) steering() *motion.Steering {
	t := s.last
	all := &motion.Steering{Name: "steer", Speed: s.speed, Fault: t.refused, To: s}
	switch {
	case t.teaching():
		all.Records = []*series.Record{t.record}
	case t.phase != idle || s.exp.cfg.Seed == nil:
		return nil
	}
	return all
}

// replayed is the run that is shown.
func (s *trials) replayed() []motion.Run { return []motion.Run{{Record: s.shown.record}} }

// still reports whether the run that is shown has something to replay, and does not go on.
func (s *trials) still() bool {
	p := s.shown.phase
	return (p == paused || !p.active()) && s.replay.Some()
}

func (s *trials) pause() {
	if !s.together.has(s.last) {
		s.last.pause()
	}
}
func (s *trials) stop() { s.last.stop() }

// reset empties the stage, and calls off a run that is being started. One that has
// taken a step ends only by itself or by Stop, and is kept.
func (s *trials) reset() {
	if p := s.last.phase; p == starting || !p.active() {
		off := s.last
		s.follow(newTrial(s.env))
		s.over(off)
		s.changed()
	}
}

// launch begins a new run. What is shown stays until it has.
func (s *trials) launch(step bool) {
	if s.data.lack() != "" || len(s.exp.faults) > 0 {
		s.blocked()
		return
	}
	as := s.together.trainer(s.ledger)
	if as == nil {
		as = s.ledger.Trainer(s.client.Train)
	}
	s.begin(as, s.exp.effective(), step, func(err error) {
		if !s.ledger.Asks(err, step) {
			s.refused(err)
		}
	})
}

// begin begins a new run of a configuration on the open data, and returns it. Where it is refused the last run is as it was.
func (s *trials) begin(as ledger.Train, cfg run.Config, step bool, refused func(error)) *trial {
	t, before := s.coming()
	t.data, t.own = outline(s.data.report), s.data.name == form.Files
	t.start(as, cfg, s.exp.facts, s.data.handle, step, func(err error) {
		if err == nil {
			before.leave()
			s.follow(t)
			s.paced()
		} else {
			s.last = before
			refused(err)
			why := err.Error()
			if s.ledger.Question() != nil {
				why = ""
			}
			s.frame.unstarted(t, why)
		}
		s.changed()
	})
	s.changed()
	return t
}

// coming makes room for a run, which becomes the last one.
func (s *trials) coming() (t, before *trial) {
	s.launching()
	s.ledger.Answer(false)
	t, before = newTrial(s.env), s.last
	t.redraw = func() {
		if t == s.shown {
			s.draw()
		}
		s.frame.progress(t)
	}
	t.onEnd = func() {
		s.keptRuns.keepRun(t)
		s.together.ended(t)
		s.frame.ended(t)
		s.over(t)
	}
	s.last, s.fault, s.frame.run = t, "", t
	return t, before
}

// goOn has an interrupted run go on, on the data that it was on: of files and of features, those
// at hand.
func (s *trials) goOn(in run.KeptRun) {
	if s.last.phase.active() {
		return
	}
	t, before := s.coming()
	t.phase, t.own = starting, in.Builtin == ""
	var files client.Handle
	switch {
	case in.Builtin == "":
		files = s.interrupted.files()
	case in.Backbone != nil:
		files = s.data.handle
	}
	s.interrupted.client.ContinueRun(in.ID, files, func(r client.Run, report data.Report, err error) {
		switch {
		case t.detached && err == nil:
			r.Leave()
		case t.detached:
		case err != nil:
			s.last, s.interrupted.fault = before, err.Error()
			s.frame.unstarted(t, err.Error())
		default:
			t.data = outline(&report)
			s.keptRuns.removeContinued(in.ID)
			t.started(r, in.Config.WithDefaultsFor(report.Facts()), false)
			t.record.Resumed = in.Step
			before.leave()
			s.follow(t)
			s.paced()
		}
		s.changed()
	})
	s.changed()
}

// outline returns the part of the report on its data that a run keeps: no row and no name of a
// column.
func outline(r *data.Report) data.Report {
	return data.Report{Name: r.Name, Format: r.Format, Task: r.Task, Rows: r.Rows, TestRows: r.TestRows, Features: r.Features, Outputs: r.Outputs}
}

// blocked brings in sight what keeps a run from starting. What is amiss with the
// data stands under the button all the time.
func (s *trials) blocked() {
	if s.data.lack() != "" {
		s.point("data")
		return
	}
	field := form.Sorted(s.exp.faults)[0]
	s.point(field)
	s.fault = "A field needs attention before the run can start."
	if id, column := cards.ColumnField(field, s.data.columns()); id != "" {
		s.fault = "What is declared of column " + column + " needs attention before the run can start."
		browser.Focus(id)
	}
	s.changed()
}

func (s *trials) refused(err error) {
	s.fault = plainly(err)
	if f, ok := err.(*client.Fault); ok && f.Field != "" {
		s.exp.refuse(err)
		s.point(f.Field)
	}
}

// ConfirmRun starts the run that was asked about, this once.
func (s *trials) ConfirmRun() {
	browser.Focus("act-start") // the question takes its buttons with it
	if step, asked := s.ledger.Answer(true); asked && !s.answered(true) {
		s.launch(step)
	}
}

// DeclineRun takes the question away.
func (s *trials) DeclineRun() {
	browser.Focus("act-start")
	s.ledger.Answer(false)
	s.answered(false)
	s.changed()
}

// panels are the charts of the run that is shown, or of the one being edited.
func (s *trials) panels() []*chart.Panel {
	t := s.shown
	if t.record == nil {
		var task data.Task
		if r := s.data.report; r != nil {
			task = r.Task
		}
		return s.charts.Panels(nil, s.exp.full(), task, false)
	}
	return s.charts.Panels([]*series.Record{s.replay.At(t.record)}, t.record.Config, t.data.Task, t.phase == done)
}

// view is the last run in the numbers of the run bar.
func (s *trials) view() runView {
	v := s.last.view(s.exp.plan)
	v.Fault = cmp.Or(s.fault, v.Fault)
	v.Refused, v.Warned, v.Noted = s.exp.told()
	if r := s.data.report; r != nil && len(r.Doubts) > 0 && !slices.Contains(v.Warned, form.Data) {
		v.Warned = slices.Insert(v.Warned, 0, form.Data)
	}
	v.Gathering, v.Together = s.together.start(s.last)
	s.together.attendance(s.last, &v)
	v.Pending = s.last.record == nil && s.exp.pending()
	v.Calculating = v.Pending && s.exp.planning
	v.Lack, v.Soon = s.data.lack(), !s.data.ready || s.data.loading && !s.data.slow
	return v
}
