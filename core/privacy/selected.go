package privacy

import (
	"errors"
	"fmt"
	"math"

	"clipscope/core/run"
)

// addSelected adds times choices among runs.
//
// Guarantee: the Rényi curve is an upper bound. Neighbours differ in a row of one part
// alone, so a run's outcome, the number that tells how good it is included, diverges by
// no more than the largest of the parts' curves; a configuration that is drawn without a
// look at the rows diverges by no more than the worst of those that may be drawn, so
// Parts are to be what any of them costs at most. Of K runs, K ~ Poisson, the best then
// diverges by Papernot & Steinke's Theorem 6. That has ideal noise; where it ends, it is
// off by the sum over all runs, Runs of them on average, which is charged as of an
// [Inexact].
func (s *spent) addSelected(e Selected, times int) error {
	if !(e.Runs >= 1 && e.Runs <= run.MaxRuns) {
		return fmt.Errorf("privacy: a choice among %v runs on average: it has to be from 1 to %d", e.Runs, run.MaxRuns)
	}
	if len(e.Parts) == 0 {
		return errors.New("privacy: a choice among runs that do nothing")
	}
	one := make(rdpCurve, len(orders))
	for _, p := range e.Parts {
		part, err := flatten(p, 1)
		unlike := part.unlike()
		if part.ends = nil; err == nil {
			err = part.exactly()
		}
		if err != nil {
			return err
		}
		s.infinite = s.infinite || part.infinite && times > 0
		s.distance += float64(times) * e.Runs * unlike * (1 + 0x1p-40)
		for i, r := range part.rdp() {
			one[i] = max(one[i], r)
		}
	}
	s.selected = s.selected.plus(one.repeated(e.Runs, math.Inf(1)), times)
	return nil
}

// NoMoreThan is the least noise multiplier with which one Gaussian release on all rows
// costs no more than e at any Rényi order, so that beside e, on rows of its own, it costs
// nothing; 0 where e has no noise.
func NoMoreThan(e Event) (float64, error) {
	s, err := flatten(e, 1)
	if err != nil {
		return 0, err
	}
	least := 0.0
	for i, r := range s.rdp() {
		least = max(least, math.Sqrt(orders[i]/(2*r)))
	}
	return least, nil
}
