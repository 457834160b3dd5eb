package check

import (
	"encoding/json"
	"fmt"
	"math"

	"clipscope/core/privacy"
)

// Bounds on what a run of the page can be: core/train refuses the same.
const (
	leastNoise = 1e-9
	mostNoise  = 1e9
	mostSteps  = 1e8
	mostKinds  = 64
	mostEvents = 4096
	mostGroup  = 100  // rows of one person
	mostValues = 1e12 // of one release's noise
)

// readEvents decodes a file's events and refuses those that no run of the page has, by the
// name of what is wrong.
func (j *judge) readEvents(raw []json.RawMessage) ([]privacy.Event, error) {
	if len(raw) > mostEvents {
		return nil, fmt.Errorf("%d events are more than the %d that are read", len(raw), mostEvents)
	}
	l := newLimits()
	var events []privacy.Event
	for i, b := range raw {
		if len(b) > 1<<16 {
			return nil, fmt.Errorf("event %d takes %d kB of text", i+1, len(b)>>10)
		}
		e, err := privacy.DecodeEvent(b)
		if err == nil {
			err = l.countEvent(e, 1)
		}
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		events = append(events, e)
	}
	for i, e := range events {
		if !j.grant(workOf(e).flat()) {
			break // what has no proof is refused by the accountants' calls, if these are granted
		}
		if err := privacy.Priced(e); err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return events, nil
}

// limits counts what accountants would have to work on.
type limits struct {
	events int
	kinds  map[string]bool
}

func newLimits() *limits { return &limits{kinds: map[string]bool{}} }

// countEvent counts an event, which runs as often as times says, and the events within it.
func (l *limits) countEvent(e privacy.Event, times float64) error {
	if l.events++; l.events > mostEvents {
		return fmt.Errorf("there are more than %d", mostEvents)
	}
	all := func(parts []privacy.Event) error {
		for _, p := range parts {
			if err := l.countEvent(p, times); err != nil {
				return err
			}
		}
		return nil
	}
	switch e := e.(type) {
	case privacy.Gaussian:
		if s := e.NoiseMultiplier; s != 0 && !(s >= leastNoise && s <= mostNoise) {
			return fmt.Errorf("noise_multiplier %g is not in %g … %g", s, leastNoise, mostNoise)
		}
	case privacy.Joint:
		for _, p := range e.Parts {
			if err := l.countEvent(p, times); err != nil {
				return err
			}
		}
	case privacy.PoissonSampled:
		if !(e.SampleRate > 0 && e.SampleRate <= 1) {
			return fmt.Errorf("sample_rate %g is not above 0 and at most 1", e.SampleRate)
		}
		if l.kinds[fmt.Sprintf("%#v", e)] = true; len(l.kinds) > mostKinds {
			return fmt.Errorf("there are more than %d kinds of release", mostKinds)
		}
		return l.countEvent(e.Of, times)
	case privacy.SelfComposed:
		if times *= float64(e.Count); !(times >= 1 && times <= mostSteps) {
			return fmt.Errorf("%g steps are not in 1 … %g", times, mostSteps)
		}
		return l.countEvent(e.Of, times)
	case privacy.Composed:
		return all(e.Parts)
	case privacy.FloatNoise:
		if !(e.Values >= 0 && float64(e.Values) <= mostValues) {
			return fmt.Errorf("noise of %d numbers", e.Values)
		}
		return l.countEvent(e.Of, times)
	case privacy.Inexact:
		if !(e.Distance >= 0 && e.Distance <= 1) {
			return fmt.Errorf("a distance of %g is not in 0 … 1", e.Distance)
		}
		return l.countEvent(e.Of, times)
	case privacy.Selected:
		if !(e.Runs > 0 && e.Runs <= 1e6) {
			return fmt.Errorf("the best of %g runs", e.Runs)
		}
		return all(e.Parts)
	}
	return nil
}

// steps sums up the steps among events: their number, and the rate and the noise multiplier
// of the last ones, for everything that a step releases together. NaN marks a figure that
// the events lack.
type steps struct {
	count       int
	rate, sigma float64
	stretches   int // of steps that differ in their noise
	once        int // releases besides the steps
	inexact     bool
	selected    bool
}

func stepsOf(events []privacy.Event) steps {
	s := steps{rate: math.NaN(), sigma: math.NaN()}
	s.addEvents(events)
	return s
}

func (s *steps) addEvents(events []privacy.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case privacy.SelfComposed:
			s.count += e.Count
			s.stretches++
			of := e.Of
			if in, ok := of.(privacy.Inexact); ok {
				of, s.inexact = in.Of, true
			}
			if in, ok := of.(privacy.FloatNoise); ok {
				of = in.Of
			}
			s.rate = math.NaN()
			if in, ok := of.(privacy.PoissonSampled); ok {
				s.rate, of = in.SampleRate, in.Of
			}
			s.sigma = together(of)
		case privacy.Selected:
			s.selected = true
			if len(e.Parts) > 0 {
				s.addEvents(e.Parts[:1])
			}
		case privacy.Composed:
			s.addEvents(e.Parts)
		default:
			s.once++
		}
	}
}

// together is the noise multiplier of what is released of the same rows at once.
func together(e privacy.Event) float64 {
	switch e := e.(type) {
	case privacy.Gaussian:
		return e.NoiseMultiplier
	case privacy.Joint:
		precision := 0.0
		for _, p := range e.Parts {
			precision += 1 / (p.NoiseMultiplier * p.NoiseMultiplier)
		}
		return 1 / math.Sqrt(precision)
	case privacy.NonPrivate:
		return 0
	}
	return math.NaN()
}
