package worker

import (
	"testing"
	"time"

	"clipscope/core/run"
)

// event returns the event of a step with all bulky parts and, where eval is true, an evaluation.
func event(step int, eval bool) run.Event {
	e := run.Event{Step: step, Diag: &run.Diag{Norms: &run.Norms{Counts: []int{step}}}}
	e.Released.Histogram = []float64{float64(step)}
	e.Released.HistogramRange = 1
	e.Released.Curves = &run.ErrorCurves{C: []float64{float64(step)}}
	if eval {
		e.Diag.Eval = &run.Eval{Rows: step}
	}
	return e
}

// The newest comparison of gradients is rare and must not be thinned away.
func TestOutboxKeepsTheLastComparison(t *testing.T) {
	for _, n := range []int{10, 100, 1000, 5000} {
		var o Outbox
		for i := 1; i <= n; i++ {
			e := event(i, false)
			if i%7 == 3 {
				e.Diag.Gradient = &run.GradientDiag{TrueNorm: run.Number(i)}
			}
			o.Add(e)
		}
		last := 0
		for _, e := range o.Take(time.Unix(0, 0)) {
			if e.Diag.Gradient != nil {
				last = e.Step
			}
		}
		if want := (n-3)/7*7 + 3; last != want {
			t.Errorf("of %d steps the last comparison is step %d's, want %d's", n, last, want)
		}
	}
}

func TestOutboxKeepsWhatMatters(t *testing.T) {
	tests := []struct {
		name        string
		n           int
		evalEvery   int // 0: never
		most, least int // length of the message
	}{
		{"few", 5, 0, 5, 5},
		{"exactly a message", 64, 0, 64, 64},
		{"one more", 65, 0, 64, 60},
		{"many", 1000, 0, 64, 32},
		{"many with evaluations", 1000, 100, 80, 32},
		{"more evaluations than fit", 1000, 5, 201, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var o Outbox
			evals := 0
			for i := 1; i <= tt.n; i++ {
				eval := tt.evalEvery > 0 && i%tt.evalEvery == 0
				if eval {
					evals++
				}
				o.Add(event(i, eval))
			}
			got := o.Take(time.Unix(0, 0))
			if len(got) > tt.most || len(got) < tt.least {
				t.Errorf("%d events in the message, want %d … %d", len(got), tt.least, tt.most)
			}
			if last := got[len(got)-1].Step; last != tt.n {
				t.Errorf("the last event is of step %d, want %d", last, tt.n)
			}
			kept := 0
			for i, e := range got {
				if e.Diag.Eval != nil {
					kept++
				}
				if i > 0 && e.Step <= got[i-1].Step {
					t.Errorf("step %d follows step %d", e.Step, got[i-1].Step)
				}
				bulky := e.Diag.Norms != nil || e.Released.Histogram != nil || e.Released.Curves != nil
				if bulky != (i == len(got)-1) {
					t.Errorf("event %d of %d bulky: %v", i+1, len(got), bulky)
				}
			}
			if kept != evals {
				t.Errorf("%d of %d evaluations survived", kept, evals)
			}
		})
	}
}

// Thinning that favoured one end would bend a chart.
func TestOutboxThinsEvenly(t *testing.T) {
	var o Outbox
	const n = 256
	for i := 1; i <= n; i++ {
		o.Add(event(i, false))
	}
	got := o.Take(time.Unix(0, 0))
	for i := 1; i < len(got); i++ {
		if gap := got[i].Step - got[i-1].Step; gap > 2*n/len(got) {
			t.Errorf("a gap of %d steps before step %d in a message of %d", gap, got[i].Step, len(got))
		}
	}
}

func TestOutboxKeepsBulkOfLatestThatHasIt(t *testing.T) {
	var o Outbox
	o.Add(event(1, false))
	o.Add(event(2, false))
	o.Add(run.Event{Step: 3, Diag: &run.Diag{}})
	got := o.Take(time.Unix(0, 0))
	if got[0].Diag.Norms != nil || got[1].Diag.Norms == nil || got[1].Released.Curves == nil || got[1].Released.Histogram == nil {
		t.Errorf("the histograms of step 2, the latest there are, should travel: %+v", got)
	}
}

func TestOutboxLeavesEventsAlone(t *testing.T) {
	a, b := event(1, false), event(2, false)
	var o Outbox
	o.Add(a)
	o.Add(b)
	o.Take(time.Unix(0, 0))
	if a.Diag.Norms == nil || b.Diag.Norms == nil {
		t.Error("the events' own Diag was changed")
	}
}

func TestOutboxWaitsForAcknowledgements(t *testing.T) {
	now := time.Unix(100, 0)
	var o Outbox
	if o.Ready(now) {
		t.Error("ready with nothing to send")
	}
	send := func() { o.Add(event(1, false)); o.Take(now) }
	o.Add(event(1, false))
	if !o.Ready(now) {
		t.Error("the first event should go at once")
	}
	send()
	o.Add(event(2, false))
	if o.Ready(now.Add(minInterval / 2)) {
		t.Error("ready before the interval is over")
	}
	now = now.Add(minInterval)
	if !o.Ready(now) {
		t.Error("not ready after the interval")
	}
	send() // two unacknowledged
	o.Add(event(3, false))
	now = now.Add(time.Hour)
	if o.Ready(now) {
		t.Error("ready with two messages unacknowledged")
	}
	o.Ack()
	if !o.Ready(now) {
		t.Error("not ready after an acknowledgement")
	}
	for range 10 {
		o.Ack()
	}
	send()
	now = now.Add(time.Hour)
	send()
	now = now.Add(time.Hour)
	o.Add(event(4, false))
	if o.Ready(now) {
		t.Error("surplus acknowledgements were counted")
	}
}

func TestOutboxIsBounded(t *testing.T) {
	var o Outbox
	for i := range 100_000 {
		o.Add(event(i, false))
		if len(o.pending) > pendingLimit {
			t.Fatalf("%d events held after %d", len(o.pending), i)
		}
	}
}
