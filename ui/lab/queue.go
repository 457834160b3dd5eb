package lab

import (
	"math"
	"slices"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/motion"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// attempt is one run: it waits for a core, goes on, or has ended.
type attempt struct {
	cfg    run.Config
	desk   *desk          // where it goes on; nil before and after
	runner client.Run     // while it goes on
	record *series.Record // nil until it has started
	result *run.Result    // nil until it has ended well
	fault  string         // why it did not
	ending bool           // it was asked to stop where it is

	noise, cosine average // over the steps at which gradients were compared
}

// average is a mean in the making.
type average struct {
	sum float64
	n   int
}

func (m *average) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

// value is NaN of nothing.
func (m *average) value() float64 { return m.sum / float64(m.n) }

func (a *attempt) ended() bool { return a.result != nil || a.fault != "" }

// stopped is the fault of a run that was called off.
const stopped = "stopped"

// accuracy is that on the test rows at the end, NaN before; of regression minus the loss,
// so that more is better of either.
func (a *attempt) accuracy() float64 {
	switch {
	case a.result == nil || a.result.TestRows == 0:
		return math.NaN()
	case len(a.result.TestClasses) == 0:
		return -float64(a.result.TestLoss)
	}
	return float64(a.result.TestAccuracy)
}

// desk is a worker with its data open, which takes one run after the other: it takes
// longer to start one than many a run does.
type desk struct {
	data   string
	handle client.Handle
}

// queue takes runs side by side, as many as there are cores, each on one thread and in a
// worker of its own; the others wait.
type queue struct {
	client Client
	width  int
	after  func(time.Duration, func()) (stop func() bool)
	came   func()         // something has come in, at most every [showEvery]
	over   func(*attempt) // one has ended

	// ends has nothing of a run be heard but its end.
	ends bool

	waiting, going []*attempt
	free           []*desk
	speed          float64 // in steps a second; [motion.Full]
	held           bool    // paused: nothing goes on, and nothing starts
	due            bool    // came is about to be called
}

// showEvery is how often what comes in is shown: four workers tell much.
const showEvery = 100 * time.Millisecond

// mostWorkers bounds the memory that is taken: a worker has tens of megabytes.
const mostWorkers = 8

func newQueue(c Client, came func(), over func(*attempt)) queue {
	width := 1
	if app.IsClient {
		if cores := app.Window().Get("navigator").Get("hardwareConcurrency"); cores.Type() == app.TypeNumber { // some browsers do not tell
			width = min(max(cores.Int(), 1), mostWorkers)
		}
	}
	return queue{client: c, width: width, after: browser.After, came: came, over: over}
}

func (q *queue) busy() bool { return len(q.waiting)+len(q.going) > 0 }

// add has runs wait for their turn.
func (q *queue) add(all ...*attempt) {
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

// fill starts what waits, as far as there are cores. Where nothing is left to do, no
// worker is kept.
func (q *queue) fill() {
	for !q.held && len(q.going) < q.width && len(q.waiting) > 0 {
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
	if i := slices.IndexFunc(q.free, func(d *desk) bool { return d.data == a.cfg.Data }); i >= 0 {
		a.desk = q.free[i]
		q.free = slices.Delete(q.free, i, i+1)
		q.train(a)
		return
	}
	q.client.Open(a.cfg.Data, a.cfg.CSV, func(data.Progress) {}, func(o client.Opened, err error) {
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
			q.train(a)
		}
	})
}

func (q *queue) train(a *attempt) {
	q.client.Train(a.cfg, a.desk.handle, false, func(r client.Run, err error) { q.started(a, r, err) })
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
				a.noise.add(float64(d.Gradient.NoiseVariance))
				a.cosine.add(float64(d.Gradient.Cosine))
			}
		}
		q.show()
	}
	if q.ends {
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
	if q.held {
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
	q.over(a)
	q.fill()
	q.show()
}

// drop calls off some runs, or with none named all.
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
		q.held = false
	}
	q.fill()
	q.show()
}

// stop ends what goes on where it is, with what it has so far as its result, and calls off
// what waits. A run that has nothing yet, or that was asked before, is called off as well.
func (q *queue) stop() {
	q.held = false
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

// hold pauses what goes on, or has it go on.
func (q *queue) hold(held bool) {
	q.held = held
	for _, a := range q.going {
		if a.runner == nil {
			continue
		}
		if held {
			a.runner.Pause()
		} else {
			a.runner.Resume()
		}
	}
	q.fill()
	q.show()
}

// pace sets the speed of what goes on, and of what follows.
func (q *queue) pace(perSecond float64) {
	q.speed = perSecond
	for _, a := range q.going {
		if a.runner != nil {
			a.runner.Pace(perSecond)
		}
	}
	q.show()
}

// step takes one step of each that is paused.
func (q *queue) step() {
	for _, a := range q.going {
		if a.runner != nil {
			a.runner.Step()
		}
	}
}

// show has what came in be shown soon.
func (q *queue) show() {
	if q.due {
		return
	}
	q.due = true
	q.after(showEvery, func() {
		q.due = false
		q.came()
	})
}

// firstClick calls f at a click, but not at the second of a double click: that was meant for
// what stood there before, such as the button that has started what this one stops.
func firstClick(f func()) app.EventHandler {
	return func(_ app.Context, e app.Event) {
		if e.Get("detail").Int() < 2 {
			f()
		}
	}
}
