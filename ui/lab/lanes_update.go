package lab

import (
	"fmt"
	"slices"
	"strings"

	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/series"
)

// restoreLanes makes lanes of their text in an address or a lesson; they wait to be started.
func (l *Lab) restoreLanes(text string) error {
	list, err := link.ParseLanes(text)
	if err == nil {
		err = l.fillLanes(l.config, list, "accuracy")
	}
	return err
}

// fillLanes replaces the lanes by others, which wait to be started. The lanes stay where the
// others cannot be.
func (l *Lab) fillLanes(base run.Config, list []lesson.Lane, watch string) error {
	if base.Seed == nil {
		base.Seed = link.First().Seed
	}
	for _, one := range list {
		if _, err := base.With(one.Set); err != nil {
			return fmt.Errorf("%s: %w", one.Label, err)
		}
	}
	l.laneQueue.drop()
	s := &l.lanes
	s.base, s.watch, s.list, s.fault, s.target, s.about = base, watch, nil, "", "", nil
	for i, one := range list[:min(len(list), lesson.MostLanes)] {
		s.list = append(s.list, &lane{Lane: one, place: i})
	}
	s.remake()
	return nil
}

func (c vary) apply(l *Lab) {
	l.startIf(l.restoreLanes(c.key + "=" + c.values))
	l.writeHash()
}

func (addLane) apply(lab *Lab) {
	l, cfg := &lab.lanes, lab.config
	if len(l.list) == 0 {
		l.base, l.watch = cfg, "accuracy"
	}
	set, err := changesBetween(&l.base, &cfg)
	if err != nil || len(l.list) >= lesson.MostLanes {
		return
	}
	label := fmt.Sprintf("%s, C = %s, ε = %s", cfg.Method, form.Format(cfg.MaxGradNorm), epsilonNow(&cfg))
	for l.find(label) != nil {
		label += "′"
	}
	place := 0
	for slices.ContainsFunc(l.list, func(o *lane) bool { return o.place == place }) {
		place++
	}
	l.list = append(l.list, &lane{Lane: lesson.Lane{Label: label, Set: set}, place: place})
	l.remake()
}

// changesBetween returns the changes from one configuration to another: all fields of the other,
// and nil for those that it does not have.
func changesBetween(from, to *run.Config) (map[string]any, error) {
	was, err := from.Fields()
	if err != nil {
		return nil, err
	}
	set, err := to.Fields()
	if err != nil {
		return nil, err
	}
	for key := range was {
		if _, has := set[key]; !has {
			set[key] = nil
		}
	}
	return set, nil
}

func (c removeLane) apply(l *Lab) {
	one := l.lanes.find(c.label)
	if one == nil {
		return
	}
	if len(one.runs) > 0 {
		l.laneQueue.drop(one.runs...)
	}
	l.lanes.list = slices.DeleteFunc(l.lanes.list, func(o *lane) bool { return o == one })
	l.lanes.remake()
	l.writeHash()
}

// startIf starts the lanes unless an error, which it shows, kept them from being made.
func (l *Lab) startIf(err error) {
	if err != nil {
		l.lanes.fault = err.Error()
		return
	}
	l.startLanes()
}

func (startLanes) apply(l *Lab) { l.startLanes() }

// startLanes runs every lane that has not run.
func (l *Lab) startLanes() {
	s, made := &l.lanes, l.lanes.sets
	s.fault, s.refuse = "", ""
	s.replay.Close()
	l.pinned(s.base, func(base run.Config, err error) {
		switch {
		case made != s.sets || s.jobs.busy(): // there are others now, or these go on
		case err != nil:
			s.fault = err.Error()
		default:
			s.base = base
			l.queueLanes()
			browser.Scroll("lanes-charts")
		}
	})
}

// queueLanes queues what has not run: seed by seed, so that all lanes are seen soon.
func (lab *Lab) queueLanes() {
	l := &lab.lanes
	var all []*attempt
	for i := range l.seeds {
		for _, one := range l.list {
			if len(one.runs) > i && one.runs[i].fault == "" {
				continue
			}
			cfg, err := l.base.With(one.Set)
			if err != nil {
				l.fault = one.Label + ": " + err.Error()
				return
			}
			seed := *l.base.Seed + uint64(i)
			cfg.Seed, cfg.Threads = &seed, 1
			a := &attempt{cfg: cfg}
			if len(one.runs) > i {
				one.runs[i] = a
			} else {
				one.runs = append(one.runs, a)
			}
			all = append(all, a)
		}
	}
	lab.laneQueue.addRuns(all...)
}

func (rerunLanes) apply(l *Lab) {
	l.laneQueue.drop()
	for _, one := range l.lanes.list {
		one.runs = nil
	}
	l.lanes.remake()
	l.startLanes()
}

func (stopLanes) apply(l *Lab) { l.laneQueue.stop() }

func (pauseLanes) apply(l *Lab) {
	l.lanes.replay.Close()
	l.laneQueue.hold(!l.lanes.jobs.paused)
}

func (stepLanes) apply(l *Lab) {
	l.lanes.replay.Close()
	l.laneQueue.each(client.Run.Step)
}

func (c seedLanes) apply(l *Lab) {
	if l.lanes.seeds = 1; c.many {
		l.lanes.seeds = manySeeds
	}
}

func (c sortLanes) apply(l *Lab) {
	if l.lanes.sort == c.column {
		c.column = "" // as they were made
	}
	l.lanes.sort = c.column
}

func (c keepLane) apply(lab *Lab) {
	l, one := &lab.lanes, lab.lanes.find(c.label)
	if one == nil || len(l.earlier) >= mostKept || len(one.runs) == 0 || one.runs[0].record.Len() == 0 {
		return
	}
	label := "kept: " + one.Label
	for n := 2; slices.ContainsFunc(l.earlier, func(k earlierRun) bool { return k.label == label }); n++ {
		label = fmt.Sprintf("kept: %s (%d)", one.Label, n)
	}
	l.earlier = append(l.earlier, earlierRun{label, one.runs[0].record, one.outcome(l.first())})
	l.remake()
}

func (c forgetLane) apply(l *Lab) {
	l.lanes.earlier = slices.DeleteFunc(l.lanes.earlier, func(k earlierRun) bool { return k.label == c.label })
	l.lanes.remake()
}

// remake makes the charts anew, for the present lanes.
func (l *lanes) remake() {
	l.sets++
	l.charts = nil
	if looks := l.looks(); len(looks) > 0 {
		l.charts = chart.Overlays(looks, strings.HasPrefix(l.base.Data, "regression"), l.watch == "loss")
	}
	l.draw()
}

// draw draws the charts.
func (l *lanes) draw() {
	var records []*series.Record
	for _, k := range l.earlier {
		records = append(records, l.replay.At(k.record))
	}
	for _, one := range l.list {
		var r *series.Record
		if len(one.runs) > 0 {
			r = one.runs[0].record
		}
		records = append(records, l.replay.At(r))
	}
	for _, c := range l.charts {
		c.Draw(records)
	}
}

func (c steerLane) apply(l *Lab) { l.lanes.target = c.label }
func (c paceLanes) apply(l *Lab) { l.laneQueue.pace(c.perSecond) }

// apply changes the steered runs, each from its own next step on. One that waits begins as
// its lane says: that is what it is compared for.
func (c changeRuns) apply(l *Lab) {
	l.lanes.refuse = ""
	for _, a := range l.lanes.steered() {
		a.runner.Change(c.change, answer(l, 0, func(reply run.ChangeReply, err error) {
			switch {
			case a.ended():
			case err != nil:
				l.lanes.refuse = err.Error()
				l.touched |= thePage
			default:
				a.record.Changed(reply)
			}
			l.laneQueue.show()
		}))
	}
}

func (c refuse) apply(l *Lab) { l.lanes.refuse = c.why }

// pinned calls done with cfg, with all defaults that depend on other fields written out: runs
// made from it differ only in what is then set. The facts of its data are asked for once.
func (l *Lab) pinned(cfg run.Config, done func(run.Config, error)) {
	done = answer(l, thePage, done)
	if f, known := l.facts[cfg.Data]; known {
		done(pin(cfg, f), nil)
		return
	}
	l.client.Ready(func(err error) {
		if err != nil {
			done(cfg, err)
			return
		}
		l.client.Open(cfg.Data, run.CSV{}, func(source.Progress) {}, func(o client.Opened, err error) {
			if o.Handle != nil {
				o.Handle.Close()
			}
			if err != nil {
				done(cfg, err)
				return
			}
			l.facts[cfg.Data] = o.Report.Facts()
			done(pin(cfg, l.facts[cfg.Data]), nil)
		})
	})
}

// pin sets the defaults of cfg on data of such facts.
func pin(cfg run.Config, f run.Facts) run.Config {
	full := cfg.WithDefaultsFor(f)
	cfg.Model, cfg.Optimizer, cfg.LearningRate = full.Model, full.Optimizer, full.LearningRate
	cfg.ExpectedBatchSize, cfg.Epochs, cfg.Steps, cfg.MaxGradNorm = full.ExpectedBatchSize, full.Epochs, full.Steps, full.MaxGradNorm
	if cfg.TargetEpsilon == nil && cfg.NoiseMultiplier == nil && !cfg.NoPrivacy {
		cfg.TargetEpsilon = full.TargetEpsilon
	}
	return cfg
}
