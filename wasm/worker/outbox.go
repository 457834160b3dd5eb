package worker

import (
	"time"

	"clipscope/core/run"
)

const (
	maxUnacked   = 2                     // events messages that the page has not dealt with
	maxEvents    = 64                    // events in a message, beside those that are never dropped
	minInterval  = 50 * time.Millisecond // between two events messages
	pendingLimit = 4 * maxEvents         // events held before they are thinned in place
)

// Outbox holds a run's events until the page can take them. Memory is bounded
// whatever the page does, up to the events that carry an evaluation.
//
// When more events wait than a message may carry, it keeps the last one, every
// one that carries an evaluation, the last that compares gradients, and of the
// others an even selection. A
// histogram, a set of curves and a summary of norms travel once a message, with
// the latest event that has one: they are drawn, not listed.
type Outbox struct {
	pending []run.Event
	unacked int
	sent    time.Time
}

// Add appends an event. The outbox does not change what e points to.
func (o *Outbox) Add(e run.Event) {
	o.pending = append(o.pending, e)
	if len(o.pending) > pendingLimit {
		o.pending = thin(o.pending, pendingLimit/2)
	}
}

// Ready reports whether a message may be sent at now.
func (o *Outbox) Ready(now time.Time) bool {
	return len(o.pending) > 0 && o.unacked < maxUnacked && now.Sub(o.sent) >= minInterval
}

// Take returns the events that wait, thinned, and counts them as one unacknowledged
// message sent at now. The caller may ask Ready first: the last message of a run waits
// for nobody.
func (o *Outbox) Take(now time.Time) []run.Event {
	if len(o.pending) == 0 {
		return nil
	}
	events := lighten(thin(o.pending, maxEvents))
	o.pending = nil
	o.unacked++
	o.sent = now
	return events
}

// Ack notes that the page has dealt with a message. Too many are ignored.
func (o *Outbox) Ack() {
	if o.unacked > 0 {
		o.unacked--
	}
}

// thin keeps the last event, the evaluations, the last comparison of gradients,
// and evenly of the others, so that about limit remain; it reuses the slice.
func thin(events []run.Event, limit int) []run.Event {
	if len(events) <= limit {
		return events
	}
	loose, compared := 0, -1
	for i, e := range events {
		if e.Diag != nil && e.Diag.Gradient != nil {
			compared = i
		}
	}
	stays := func(i int, e run.Event) bool { return i == compared || mustStay(events, i, e) }
	for i, e := range events {
		if !stays(i, e) {
			loose++
		}
	}
	room := max(0, limit-(len(events)-loose))
	kept := events[:0]
	seen := 0
	for i, e := range events {
		if stays(i, e) {
			kept = append(kept, e)
			continue
		}
		// The seen-th loose event stays where the count of those to stay,
		// seen·room/loose, rises.
		if (seen+1)*room/loose > seen*room/loose {
			kept = append(kept, e)
		}
		seen++
	}
	clear(events[len(kept):])
	return kept
}

func mustStay(events []run.Event, i int, e run.Event) bool {
	return i == len(events)-1 || e.Diag != nil && e.Diag.Eval != nil
}

// lighten keeps each bulky part only on the latest event that has it.
func lighten(events []run.Event) []run.Event {
	var histogram, curves, norms bool
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.Released.Histogram != nil {
			if histogram {
				e.Released.Histogram, e.Released.HistogramRange = nil, 0
			}
			histogram = true
		}
		if e.Released.Curves != nil {
			if curves {
				e.Released.Curves = nil
			}
			curves = true
		}
		if e.Diag != nil && e.Diag.Norms != nil {
			if norms {
				d := *e.Diag // the event's own is not ours to change
				d.Norms = nil
				e.Diag = &d
			}
			norms = true
		}
	}
	return events
}
