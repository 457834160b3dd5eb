package train

import (
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/ledger"
	"clipscope/ui/series"
)

// trials are the runs of an experiment. The last of them is the one that is
// shown and that the run bar acts on; there always is one, if only to be started.
type trials struct {
	*env
	client Client
	exp    *experiment
	data   *source
	ledger *ledger.Ledger
	// launching is called when a run is about to start, and point with the name
	// of a field, or of a card, that keeps one from it.
	launching func()
	point     func(name string)

	list   []*trial
	charts *chart.Set
}

func (s *trials) last() *trial { return s.list[len(s.list)-1] }

// clear puts a run that has not begun in the place of all others.
func (s *trials) clear() {
	for _, t := range s.list {
		t.leave()
	}
	s.list = []*trial{newTrial(s.env, s.draw)}
	s.charts.Clear()
}

func (s *trials) records() []*series.Record {
	var list []*series.Record
	for _, t := range s.list {
		if t.record != nil {
			list = append(list, t.record)
		}
	}
	return list
}

func (s *trials) draw() { s.charts.Draw(s.records()) }

// start starts a run, or lets a paused one go on.
func (s *trials) start() {
	switch t := s.last(); {
	case t.phase == paused:
		t.resume()
	case t.phase.active():
	default:
		s.launch(false)
	}
}

// step takes one step: of the paused run, or the first of a new one.
func (s *trials) step() {
	switch t := s.last(); {
	case t.phase == paused:
		t.runner.Step()
	case t.phase == running:
		t.pause()
	case !t.phase.active():
		s.launch(true)
	}
}

func (s *trials) pause() { s.last().pause() }
func (s *trials) stop()  { s.last().stop() }

// reset takes the run away; the experiment stays.
func (s *trials) reset() {
	s.clear()
	s.changed()
}

// launch begins a new run in place of the last one.
func (s *trials) launch(step bool) {
	if s.data.lack() != "" || len(s.exp.faults) > 0 {
		s.blocked()
		return
	}
	s.clear()
	s.launching()
	s.ledger.Answer(false)
	t := s.last()
	t.start(s.ledger.Trainer(s.client.Train), s.exp.cfg, s.data.handle, step, func(err error) {
		if s.ledger.Asks(err, step) {
			t.say(idle, "")
		} else {
			s.refused(t, err)
		}
	})
	s.changed()
}

// blocked brings in sight what keeps a run from starting. What is amiss with the
// data stands under the button all the time.
func (s *trials) blocked() {
	if s.data.lack() != "" {
		s.point("data")
		return
	}
	s.point(form.Sorted(s.exp.faults)[0])
	s.last().fault = "A field needs attention before the run can start."
	s.changed()
}

func (s *trials) refused(t *trial, err error) {
	f, ok := err.(*client.Fault)
	if !ok || f.Field == "" {
		t.say(failed, err.Error())
		return
	}
	s.exp.refuse(err)
	s.point(f.Field)
	t.say(idle, err.Error())
}

// ConfirmRun starts the run that was asked about, this once.
func (s *trials) ConfirmRun() {
	browser.Focus("act-start") // the question takes its buttons with it
	if step, asked := s.ledger.Answer(true); asked {
		s.launch(step)
	}
}

// DeclineRun takes the question away.
func (s *trials) DeclineRun() {
	browser.Focus("act-start")
	s.ledger.Answer(false)
	s.changed()
}

// subject is the configuration that the charts are about: that of the run, or
// the one being edited.
func (s *trials) subject() run.Config {
	if r := s.last().record; r != nil {
		return r.Config
	}
	return s.exp.full()
}

func (s *trials) panels() []*chart.Panel {
	var task data.Task
	if r := s.data.report; r != nil {
		task = r.Task
	}
	return s.charts.Panels(s.records(), s.subject(), task, s.last().phase == done)
}

// view is the last run in the numbers of the run bar.
func (s *trials) view() runView {
	v := s.last().view(s.exp.plan)
	v.Lack, v.Soon = s.data.lack(), !s.data.ready || s.data.loading && !s.data.slow
	return v
}
