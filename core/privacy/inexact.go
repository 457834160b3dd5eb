package privacy

import (
	"errors"
	"fmt"
	"math"
)

// reserve is the share of δ that is kept for the distances of [Inexact] events.
const reserve = 0x1p-20

// addInexact adds times runs of e.
func (s *spent) addInexact(e Inexact, times int) error {
	if !(e.Distance >= 0 && e.Distance <= 1) {
		return fmt.Errorf("privacy: a distance of %v from the noise that is priced: it has to be in [0, 1]", e.Distance)
	}
	s.distance += float64(times) * e.Distance * (1 + 0x1p-40) // a sum of doubles is no bound by itself
	return s.addEvent(e.Of, times)
}

// at is ε at delta, from what epsilon answers for the events with the noise that they
// are priced with.
//
// Guarantee: an upper bound if epsilon's answer is. Let M be the mechanism as it is
// priced and M̃ as it ran, whose outcomes on any data are within τ of M's in total
// variation. Where M is (ε, δ₀)-DP,
//
//	P(M̃(D) ∈ S) ≤ P(M(D) ∈ S) + τ ≤ e^ε·P(M(D′) ∈ S) + δ₀ + τ ≤ e^ε·P(M̃(D′) ∈ S) + δ₀ + (1+e^ε)τ
//
// so M̃ is (ε, δ₀ + (1+e^ε)τ)-DP. Here δ₀ is delta but for a 2⁻²⁰th, and where that
// share does not pay for the distance, the answer is +Inf. Distances of releases add
// up, however they depend on each other: exchange one draw after the other.
//
// What the ends of noise take of δ is taken first: see addFloatNoise.
func (s *spent) at(delta float64, epsilon func(delta float64) float64) float64 {
	if delta -= s.endMass(); !(delta > 0) {
		return math.Inf(1)
	}
	return s.paid(epsilon(s.left(delta)), delta)
}

// left returns the part of delta that is left to the events as they are priced.
func (s *spent) left(delta float64) float64 {
	if s.distance == 0 {
		return delta
	}
	return delta * (1 - reserve)
}

// along is at for a run of up to last steps.
func along(step, start spent, delta float64, last int, epsilons func(delta float64) func(steps int) float64) func(steps int) float64 {
	if delta -= start.endMass() + float64(last)*step.endMass(); !(delta > 0) {
		return func(int) float64 { return math.Inf(1) }
	}
	if step.distance == 0 && start.distance == 0 {
		return epsilons(delta)
	}
	priced := epsilons(delta * (1 - reserve))
	return func(steps int) float64 {
		s := spent{distance: start.distance + float64(steps)*step.distance}
		return s.paid(priced(steps), delta)
	}
}

// paid is epsilon if the share of delta that is kept pays for the distance there.
func (s *spent) paid(epsilon, delta float64) float64 {
	if s.distance > 0 && !(s.apart(epsilon) <= delta*reserve) {
		return math.Inf(1)
	}
	return epsilon
}

// Pays reports whether what is kept of δ pays for noise that lies off by distance in
// all, where ε is that much.
func Pays(distance, epsilon, delta float64) bool {
	s := spent{distance: distance}
	return s.paid(epsilon, delta) == epsilon
}

// beside returns the part of δ at epsilon that the distance and the ends of noise take.
func (s *spent) beside(epsilon float64) float64 { return s.apart(epsilon) + s.endMass() }

// apart returns the part of δ at epsilon that the distance takes.
func (s *spent) apart(epsilon float64) float64 {
	if s.distance == 0 {
		return 0
	}
	return s.distance * (1 + exp(epsilon)) * (1 + 1e-12)
}

// exactly refuses events whose noise is not what they are priced with.
func (s *spent) exactly() error {
	if s.distance > 0 || len(s.ends) > 0 {
		return errors.New("privacy: no proof of what a choice among runs costs whose noise is not exactly what they are priced with")
	}
	return nil
}

// lowAt is a lower bound on ε at delta, from what low answers for the events as they
// are priced: M is (ε, δ + (1+e^ε)τ)-DP if M̃ is (ε, δ)-DP, and noise that ends lies off by
// its own τ. The least share of δ is taken that pays.
func (s *spent) lowAt(delta float64, low func(delta float64) float64) float64 {
	distance := s.distance + s.unlike()
	if distance == 0 {
		return low(delta)
	}
	best := 0.0
	for _, share := range []float64{reserve, 0x1p-10, 0x1p-3} {
		most := math.Log(max(1, delta*share/distance-1)) * (1 - 1e-12) // up to there the share pays
		e := low(min(delta*(1+share), math.Nextafter(1, 0)))
		if best = max(best, min(most, e)); e <= most {
			break
		}
	}
	return best
}
