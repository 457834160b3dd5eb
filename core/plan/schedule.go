package plan

import (
	"math"

	"clipscope/core/run"
)

// Schedule is the length of a run and the size of its batches.
type Schedule struct {
	SampleRate float64 // q
	BatchSize  float64 // B, expected
	Steps      int     // T, or fewer where a change has the budget end sooner
	Horizon    int     // T
}

// newSchedule settles q and T on so many training rows. An epoch is N/B steps, rounded up.
func newSchedule(c *run.Config, rows int) (s Schedule, err error) {
	s.BatchSize = c.ExpectedBatchSize
	s.SampleRate = s.BatchSize / float64(rows)
	switch {
	case rows == 0:
		return s, Fault("data", "there are no training rows")
	case s.SampleRate > 1:
		return s, Fault("expected_batch_size", "%g is more than the %d training rows, so sample_rate would exceed 1; take at most %d", s.BatchSize, rows, rows)
	case c.Epochs > 0 && c.Steps > 0:
		return s, Fault("steps", "epochs and steps are both given; give one")
	}
	if s.Steps = c.Steps; s.Steps == 0 {
		// The margin keeps a quotient that is whole but for rounding from
		// costing a step more.
		steps := math.Ceil(c.Epochs/s.SampleRate - 1e-9)
		if !(steps <= MaxSteps) {
			return s, Fault("expected_batch_size", "%g epochs of batches of %g rows are %.3g steps, more than %g; take larger batches or fewer epochs", c.Epochs, s.BatchSize, steps, float64(MaxSteps))
		}
		s.Steps = max(1, int(steps))
	}
	s.Horizon = s.Steps
	return s, nil
}

// Likely returns the size that a Poisson batch is rarely above, B + 6√B: a little more
// capacity saves nearly empty second passes.
func (s *Schedule) Likely() int { return int(s.BatchSize+6*math.Sqrt(s.BatchSize)) + 1 }
