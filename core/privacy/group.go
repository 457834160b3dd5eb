package privacy

import (
	"fmt"
	"math"
)

// GroupEpsilon is ε at δ = delta of the events for data sets that differ by k rows
// of one person.
//
// Guarantee: an upper bound. A Poisson sample at rate q holds some of the k rows
// with probability 1 − (1 − q)^k, and what they add to a sum is at most k times
// what one does.
func GroupEpsilon(accountant string, k int, delta float64, events ...Event) (float64, error) {
	if k < 1 {
		return 0, fmt.Errorf("privacy: a group of %d rows: give a whole number from 1", k)
	}
	s, err := flatten(Composed{events}, 1)
	if err != nil {
		return 0, err
	}
	n := float64(k)
	var group []Event
	if s.infinite {
		group = append(group, NonPrivate{})
	}
	if s.precision > 0 {
		group = append(group, Gaussian{1 / math.Sqrt(s.precision) / n})
	}
	least := math.Inf(1)
	for _, t := range s.sampled {
		q := -math.Expm1(n * math.Log1p(-t.sampleRate))
		group = append(group, SelfComposed{PoissonSampled{min(q, 1), Gaussian{t.noiseMultiplier / n}}, t.count})
		least = min(least, t.noiseMultiplier/n)
	}
	if least < 0.3 && accountant == PLD {
		accountant = RDP
	}
	return Epsilon(accountant, delta, group...)
}
