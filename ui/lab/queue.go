package lab

import (
	"fmt"
	"math"
	"slices"
	"time"

	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/motion"
	"clipscope/ui/series"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Client is the laboratory's way to the trainer.
type Client interface {
	Ready(func(error))
	Open(source any, csv run.CSV, progress func(source.Progress), done func(client.Opened, error)) (cancel func())
	Plan(cfg run.Config, d client.Handle, done func(run.PlanInfo, error))
	Train(cfg run.Config, d client.Handle, paused bool, started func(client.Run, error))
	// Lab looks at the model of a configuration on a batch, and returns what cancels that.
	Lab(cfg run.Config, done func(client.Lab, error)) func()
	// Text fetches a file of this site.
	Text(url string, done func([]byte, error))
	Ask(function string, request any, done func([]byte, error)) (cancel func())
}

// attempt is a queued run: it waits for a core, goes on, or has ended.
type attempt struct {
	cfg    run.Config
	desk   *desk          // where it goes on; nil before and after
	runner client.Run     // while it goes on
	record *series.Record // nil until it has started
	result *run.Result    // nil until it has ended well
	fault  string         // why it did not
	ending bool           // it was told to stop where it is

	// Over the steps at which gradients were compared: squared distances of the released from
	// the true one, and cosines.
	squares, cosine average
}

// average is a running mean.
type average struct {
	sum float64
	n   int
}

func (m *average) addValue(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

// value returns the mean, NaN of nothing.
func (m *average) value() float64 { return m.sum / float64(m.n) }

func (a *attempt) ended() bool { return a.result != nil || a.fault != "" }

// stopped is the fault of a run that was called off.
const stopped = "stopped"

// score returns the accuracy on the test rows at the end, of regression the loss; NaN before.
func (a *attempt) score() float64 {
	switch {
	case a.result == nil || a.result.TestRows == 0:
		return math.NaN()
	case len(a.result.TestClasses) == 0:
		return float64(a.result.TestLoss)
	}
	return float64(a.result.TestAccuracy)
}

// perStep returns the time of a step in seconds, NaN until the end.
func (a *attempt) perStep() float64 {
	if a.result == nil || a.result.Steps == 0 {
		return math.NaN()
	}
	return a.result.TrainSeconds / float64(a.result.Steps)
}

// walk returns the thresholds of the run's steps, nil where they are all the same.
func (a *attempt) walk() []float64 {
	if a.record.Len() == 0 {
		return nil
	}
	if cs := a.record.Column(series.C); slices.Min(cs) < slices.Max(cs) {
		return cs
	}
	return nil
}

// short reports whether the run was stopped before its last step.
func (a *attempt) short() bool { return a.result != nil && a.result.Steps < a.result.PlannedSteps }

// state says how far the run is.
func (a *attempt) state() string {
	switch {
	case a.fault != "":
		return a.fault
	case a.short():
		return fmt.Sprintf("stopped at step %s of %s", words.Count(a.result.Steps), words.Count(a.result.PlannedSteps)) + a.changed()
	case a.result != nil:
		return "done" + a.changed()
	case a.record.Len() > 0:
		return fmt.Sprintf("step %s of %s", words.Count(a.record.Last.Step), words.Count(a.record.Last.Steps))
	}
	return "waits"
}

// changed says of a run that it was steered away from what its lane says.
func (a *attempt) changed() string {
	if len(a.record.Changes) == 0 {
		return ""
	}
	return ", changed on its way"
}

// desk is a worker with its data open. It takes one run after the other, as it takes longer to
// start one than many a run does.
type desk struct {
	data   string
	handle client.Handle
}

// jobs is the state of a queue, which alone changes it and then calls came.
type jobs struct {
	width          int // runs at a time
	waiting, going []*attempt
	speed          float64 // in steps a second; [motion.Full]
	paused         bool    // paused: nothing goes on, and nothing starts
}

func (j *jobs) busy() bool { return len(j.waiting)+len(j.going) > 0 }

// queue takes runs side by side, as many as there are cores, each on one thread and in a
// worker of its own; the others wait.
type queue struct {
	*jobs
	client Client
	after  func(time.Duration, func()) (stop func() bool)
	onNews func()         // called when something has come in, at most every [showEvery]
	onEnd  func(*attempt) // called when one has ended
	quiet  bool           // only the end of a run is heard

	free []*desk
	due  bool // came is about to be called
}

// showEvery is the least time between two calls of came: four workers post many events.
const showEvery = 100 * time.Millisecond

// mostWorkers bounds the memory taken: a worker has tens of megabytes.
const mostWorkers = 8

// newQueue returns a queue that keeps its state in jobs.
func newQueue(j *jobs, c Client, came func(), over func(*attempt)) queue {
	j.width = 1
	if app.IsClient {
		if cores := app.Window().Get("navigator").Get("hardwareConcurrency"); cores.Type() == app.TypeNumber { // some browsers do not tell
			j.width = min(max(cores.Int(), 1), mostWorkers)
		}
	}
	return queue{jobs: j, client: c, after: browser.After, onNews: came, onEnd: over}
}

// addRuns queues runs.
func (q *queue) addRuns(all ...*attempt) {
	q.waiting = append(q.waiting, all...)
	q.client.Ready(func(err error) {
		if err != nil {
			for _, a := range q.waiting {
				a.fault = err.Error()
			}
			q.waiting = nil
			q.show()
			return
		}
		q.fill()
	})
}

// fill starts waiting runs while there are cores. Where nothing is left to do, it closes the
// workers.
func (q *queue) fill() {
	for !q.paused && len(q.going) < q.width && len(q.waiting) > 0 {
		a := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.going = append(q.going, a)
		q.launch(a)
	}
	if !q.busy() {
		for _, d := range q.free {
			d.handle.Close()
		}
		q.free = nil
	}
}

// launch starts a run on a desk that has its data, or on a new one.
func (q *queue) launch(a *attempt) {
	started := func(r client.Run, err error) { q.started(a, r, err) }
	if i := slices.IndexFunc(q.free, func(d *desk) bool { return d.data == a.cfg.Data }); i >= 0 {
		a.desk = q.free[i]
		q.free = slices.Delete(q.free, i, i+1)
		q.client.Train(a.cfg, a.desk.handle, false, started)
		return
	}
	q.client.Open(a.cfg.Data, a.cfg.CSV, func(source.Progress) {}, func(o client.Opened, err error) {
		switch {
		case !slices.Contains(q.going, a):
			if err == nil {
				o.Handle.Close()
			}
		case err != nil:
			a.fault = err.Error()
			q.end(a)
		default:
			a.desk = &desk{a.cfg.Data, o.Handle}
			q.client.Train(a.cfg, a.desk.handle, false, started)
		}
	})
}

func (q *queue) started(a *attempt, r client.Run, err error) {
	switch {
	case !slices.Contains(q.going, a):
		if err == nil {
			r.Dispose()
		}
		return
	case err != nil:
		a.fault = err.Error()
		q.end(a)
		return
	}
	a.runner, a.record = r, series.NewRecord(a.cfg.WithDefaults(), r.Plan())
	events := func(events []run.Event) {
		a.record.Add(events)
		for i := range events {
			if d := events[i].Diag; d != nil && d.Gradient != nil {
				a.squares.addValue(float64(d.Gradient.Bias*d.Gradient.Bias + d.Gradient.NoiseVariance))
				a.cosine.addValue(float64(d.Gradient.Cosine))
			}
		}
		q.show()
	}
	if q.quiet {
		events = nil
	}
	r.Watch(client.Listener{
		Events: events,
		Place:  func(run.Place) {},
		Trial:  func(run.Trial) {},
		Within: func(run.Within) {},
		Done: func(res run.Result, err error) {
			if a.ended() {
				return
			}
			if err != nil {
				a.fault = err.Error()
			} else {
				a.result = &res
				a.record.End(&res)
			}
			q.end(a)
		},
	})
	if q.speed != motion.Full {
		r.Pace(q.speed)
	}
	if q.paused {
		r.Pause()
	}
}

// end gives the core of a run that has ended to the next.
func (q *queue) end(a *attempt) {
	if a.runner != nil {
		a.runner.Dispose()
		a.runner = nil
	}
	if a.desk != nil {
		q.free = append(q.free, a.desk)
		a.desk = nil
	}
	q.going = slices.DeleteFunc(q.going, func(b *attempt) bool { return a == b })
	q.onEnd(a)
	q.fill()
	q.show()
}

// drop calls off the runs named, or all where none is named.
func (q *queue) drop(some ...*attempt) {
	called := func(a *attempt) bool { return len(some) == 0 || slices.Contains(some, a) }
	for _, a := range slices.Concat(q.going, q.waiting) {
		if called(a) {
			a.fault = stopped
			if a.runner != nil {
				a.runner.Dispose()
				a.runner = nil
			}
			if a.desk != nil { // it is busy with the end of the run
				a.desk.handle.Close()
				a.desk = nil
			}
		}
	}
	q.going, q.waiting = slices.DeleteFunc(q.going, called), slices.DeleteFunc(q.waiting, called)
	if !q.busy() {
		q.paused = false
	}
	q.fill()
	q.show()
}

// stop ends what goes on where it is, with its result so far, and calls off what waits. A run
// that has no step yet, or that was asked before, is called off as well.
func (q *queue) stop() {
	q.paused = false
	off := slices.Clone(q.waiting)
	for _, a := range q.going {
		if a.runner == nil || a.ending || a.record.Len() == 0 {
			off = append(off, a)
			continue
		}
		a.ending = true
		a.runner.Stop()
	}
	if len(off) > 0 {
		q.drop(off...)
	}
}

// each calls f with the runs that go on.
func (q *queue) each(f func(client.Run)) {
	for _, a := range q.going {
		if a.runner != nil {
			f(a.runner)
		}
	}
}

// hold pauses what goes on, or has it go on.
func (q *queue) hold(held bool) {
	q.paused = held
	if held {
		q.each(client.Run.Pause)
	} else {
		q.each(client.Run.Resume)
	}
	q.fill()
	q.show()
}

// pace sets the speed of what goes on, and of what follows.
func (q *queue) pace(perSecond float64) {
	q.speed = perSecond
	q.each(func(r client.Run) { r.Pace(perSecond) })
	q.show()
}

// show has came called soon.
func (q *queue) show() {
	if q.due {
		return
	}
	q.due = true
	q.after(showEvery, func() {
		q.due = false
		q.onNews()
	})
}
