package lab

import (
	"math"
	"reflect"
	"time"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/form"
)

func (startSweep) apply(l *Lab) {
	s := &l.sweep
	l.sweepQueue.drop()
	s.drawings++
	made, of := s.drawings, l.config
	l.pinned(of, func(base run.Config, err error) {
		if made != s.drawings {
			return // it was started again
		}
		if s.fault = ""; err != nil {
			s.fault = err.Error()
			return
		}
		s.of = of
		l.sweepQueue.addRuns(s.makeCurves(base)...)
		browser.Scroll("sweep-said")
	})
}

// makeCurves makes the curves, and returns their runs: seed by seed, so that the whole curve is seen
// soon.
func (s *sweep) makeCurves(base run.Config) []*attempt {
	s.base, s.curves, s.shown = base, nil, false
	chosen := s.chosen
	if len(chosen) == 0 {
		chosen = []string{epsilonNow(&s.base)}
	}
	var looks []chart.Lane
	for i, epsilon := range chosen {
		label := "ε = " + epsilon
		switch {
		case epsilon == "" && s.base.NoiseMultiplier == nil: // a method that has none
			label = "no noise"
		case epsilon == "":
			label = "σ = " + form.Format(*s.base.NoiseMultiplier)
		}
		looks = append(looks, chart.Lane{Label: label, Place: i})
		s.curves = append(s.curves, &swept{label: label, epsilon: epsilon, runs: make([][]*attempt, len(grid))})
	}
	s.chart = chart.NewSwept(looks, s.regression())
	var all []*attempt
	for seed := range uint64(manySeeds) {
		for _, v := range s.curves {
			for i, c := range grid {
				a := &attempt{cfg: s.at(v.epsilon, c, seed)}
				v.runs[i] = append(v.runs[i], a)
				all = append(all, a)
			}
		}
	}
	return all
}

// at returns the experiment with one C, for one ε and with another seed. It shows nothing before
// its end, which takes time and changes nothing that is released.
func (s *sweep) at(epsilon string, c float64, more uint64) run.Config {
	cfg := s.base
	if epsilon != "" {
		setBudget(&cfg, epsilon)
	}
	seed := *cfg.Seed + more
	cfg.MaxGradNorm, cfg.Seed, cfg.Threads = c, &seed, 1
	cfg.Blind, cfg.DiagnosticsEvery, cfg.EvalSteps = true, 0, 0
	return cfg
}

// draw draws the chart.
func (s *sweep) draw() {
	if s.chart == nil {
		return
	}
	mark := math.NaN()
	var all []chart.Curve
	for _, v := range s.curves {
		all = append(all, s.curve(v))
	}
	if i := s.best(all[0]); i >= 0 && !s.jobs.busy() && !s.stopped() {
		mark = grid[i]
	}
	s.chart.Draw(grid, mark, all)
}

// ended notes when the workers are warm and, for a lesson, where the first curve is best once
// all of it is known.
func (s *sweep) ended(note func(name string, value float64)) {
	done, of := s.progress()
	if done == s.jobs.width {
		s.warm = time.Now()
	}
	if done == of {
		s.facts(note)
	}
}

// again has an earlier sweep of the very experiment that a step has set count as made in the
// step, and hides it as one made in the step is hidden.
func (s *sweep) again(now run.Config, note func(name string, value float64)) {
	done, of := s.progress()
	now.MaxGradNorm = s.of.MaxGradNorm
	if of == 0 || done < of || s.stopped() || !reflect.DeepEqual(now, s.of) || s.curves[0].epsilon != epsilonNow(&now) {
		return
	}
	s.shown = false
	s.facts(note)
}

func (stopSweep) apply(l *Lab) { l.sweepQueue.drop() }

func (c sweepOver) apply(l *Lab) { l.sweep.chosen = toggled(l.sweep.chosen, c.epsilon) }
func (c predict) apply(l *Lab)   { l.sweep.predict = c.first }
func (c guessC) apply(l *Lab)    { l.sweep.guess = c.c }

func (showSweep) apply(l *Lab) {
	l.sweep.shown = true
	l.sweep.draw()
}
