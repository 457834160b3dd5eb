package privacy

import (
	"errors"
	"slices"
)

// Profile is δ at each of epsilons ≥ 0 for the events run one after the other, by
// the accountant of that name: one curve for little more than one of its points.
//
// Guarantee: every value is an upper bound. They are a little looser than
// [Delta]'s, which looks at one point at a time.
func Profile(accountant string, epsilons []float64, events ...Event) ([]float64, error) {
	for _, e := range epsilons {
		if !(e >= 0) {
			return nil, errors.New("privacy: a profile at an ε that is negative or no number")
		}
	}
	s, err := flatten(Composed{events}, 1)
	if err != nil {
		return nil, err
	}
	var delta func(float64) float64
	switch accountant {
	case PLD:
		delta = s.profile()
	case RDP:
		delta = s.rdp().delta
	default:
		return nil, unknownAccountant(accountant)
	}
	out := make([]float64, len(epsilons))
	for i, e := range epsilons {
		out[i] = min(1, delta(e)+s.beside(e))
	}
	return out, nil
}

// profileDeltas are the points at which the tail is looked at: each composition has relative
// precision for some decades about its own.
var profileDeltas = []float64{1e-2, 1e-4, 1e-7, 1e-11}

// profile is an upper bound on δ(ε).
func (s *spent) profile() func(epsilon float64) float64 {
	if s.infinite {
		return func(float64) float64 { return 1 }
	}
	if exact := s.exact(); exact != nil {
		return exact
	}
	loose := s.rdp()
	if s.beyond(profileDeltas[0]) != "" {
		return loose.delta
	}
	t := s.terms()
	var views [][2]*tailSum
	for _, d := range profileDeltas {
		m := newMoments(t, reach(t, d, loose.epsilon(d)))
		var both [2]*tailSum
		for _, sd := range []side{remove, add} {
			a := m.aim(sd, counts(t), d)
			both[sd] = newSpectrum(t, sd, upper, a.window(0, 2*startSize(t))).compose(counts(t))
		}
		views = append(views, both)
	}
	return func(epsilon float64) float64 {
		best := loose.delta(epsilon)
		for _, both := range views {
			r, okR := both[remove].atMost(epsilon)
			a, okA := both[add].atMost(epsilon)
			if okR && okA {
				best = min(best, max(r, a))
			}
		}
		if !(best >= s.lowDelta(epsilon)) {
			return loose.delta(epsilon)
		}
		return best
	}
}

// atMost bounds δ above the window too: there it is at most the mass above.
func (t *tailSum) atMost(epsilon float64) (delta float64, ok bool) {
	if epsilon >= t.h*float64(t.top) {
		return t.above, true
	}
	return t.delta(upper, epsilon)
}

// Epsilons is ε at delta after each of steps, which must rise, of a run that
// releases perStep in each. It is a [Curve] that is worked out at these points
// alone.
//
// Guarantee: upper bounds that never fall.
func Epsilons(accountant string, delta float64, perStep Event, steps []int) ([]float64, error) {
	if len(steps) == 0 {
		return nil, nil
	}
	if !slices.IsSorted(steps) {
		return nil, errors.New("privacy: the steps of a curve have to rise")
	}
	last := steps[len(steps)-1]
	curve, err := NewCurve(RDP, delta, perStep, last)
	if err != nil {
		return nil, err
	}
	at := curve.Epsilon
	switch accountant {
	case RDP:
	case PLD:
		step, err := flatten(perStep, 1)
		if err != nil {
			return nil, err
		}
		at = along(step, spent{}, delta, last, func(delta float64) func(int) float64 { return pldEpsilonsAt(delta, step, steps) })
	default:
		return nil, unknownAccountant(accountant)
	}
	out := make([]float64, len(steps))
	for i, n := range steps {
		out[i] = at(n)
	}
	return out, nil
}

// pldEpsilonsAt is [pldEpsilons] with the points chosen by the caller.
func pldEpsilonsAt(delta float64, step spent, steps []int) func(int) float64 {
	var none spent
	alone := func(n int) float64 {
		e, _ := none.plus(step, n).pld(delta)
		return e
	}
	points := slices.DeleteFunc(slices.Compact(slices.Clone(steps)), func(n int) bool { return n < 1 })
	if step.infinite || len(step.sampled) == 0 || len(points) == 0 {
		return alone
	}
	last := points[len(points)-1]
	if none.plus(step, last).beyond(delta) != "" {
		return rdpEpsilons(delta, step, none)
	}
	c := &pldCurve{delta: delta, step: step, rdp: rdpEpsilons(delta, step, none), at: points}
	c.end(last)
	c.size = startSize(c.terms)
	return c.epsilon
}
