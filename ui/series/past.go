package series

import (
	"math"
	"sort"

	"clipscope/core/run"
)

// Until is the record as it stood after a step, as far as that was kept: series and
// figures, but neither norms nor curves, of which there are only the newest. It shares
// memory with the record, and is valid until the next Add. Of a step that is not before
// the last it is the record itself.
func (r *Record) Until(step int) *Record {
	if r.Len() == 0 || step >= r.Last.Step {
		return r
	}
	steps := r.Column(Step)
	n := max(1, sort.Search(len(steps), func(i int) bool { return steps[i] > float64(step) }))
	points := r.log.points
	k := max(1, sort.Search(len(points), func(i int) bool { return points[i][Step] > float64(step) }))
	past := &Record{Config: r.Config, Plan: r.Plan, Weight: r.Weight, Whole: r.Whole, unbounded: r.unbounded, layers: r.layers, finite: r.finite, reach: r.Last.Step}
	for c := range Columns {
		past.series.cols[c] = r.series.cols[c][:n]
	}
	past.Last = points[k-1].event(r.Last.Steps)
	for i := k - 1; i >= 0; i-- {
		if p := points[i]; !math.IsNaN(p[TestLoss]) {
			past.Test, past.Tested = &run.Eval{Loss: run.Number(p[TestLoss]), Accuracy: run.Number(p[TestAcc])}, int(p[Step])
			break
		}
	}
	for _, c := range r.Changes {
		if c.Step <= past.Last.Step {
			past.Changes = append(past.Changes, c)
		}
	}
	return past
}

// Past reports whether the record is of a step before the last.
func (r *Record) Past() bool { return r.reach > 0 }

// Reach is the last step that is known, of a past record too.
func (r *Record) Reach() int { return max(r.reach, r.Last.Step) }

// event returns the event of so many steps, as far as its numbers were kept: of how
// many examples its batch was is not known, which -1 says.
func (p *Point) event(steps int) run.Event {
	e := run.Event{Step: int(p[Step]), Steps: steps, Released: run.Released{MaxGradNorm: p[C], Epsilon: run.Number(p[Epsilon]), GradNorm: run.Number(p[NoisyNorm])}}
	if n := p[Parties]; !math.IsNaN(n) {
		e.Released.Parties, e.Released.Void = int(n), n == 0
	}
	if rate := p[Rate]; !math.IsNaN(rate) {
		e.Released.LearningRate = rate
	}
	for c := Clipped; c.diagnostic(); c++ {
		if !math.IsNaN(p[c]) {
			e.Diag = &run.Diag{BatchSize: -1, ClipFraction: run.Number(p[Clipped]), TrainLoss: run.Number(p[TrainLoss]), TrainAcc: run.Number(p[TrainAcc])}
			break
		}
	}
	return e
}
