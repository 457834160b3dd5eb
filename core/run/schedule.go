package run

import "math"

// Schedules lists the courses that a learning rate may take over the steps of a run.
func Schedules() []string { return []string{"constant", "linear", "cosine", "step"} }

// RateAt returns the learning rate of step k, from 0, of so many: more than 0, and at most
// LearningRate. In the first WarmupSteps it rises in equal parts to LearningRate; over the steps
// after them it
//
//	constant: stays
//	linear:   falls in equal parts, towards 0
//	cosine:   falls along half a cosine, towards 0 (Loshchilov & Hutter 2017, without restarts)
//	step:     is a tenth after half of them, and a hundredth after three quarters (He et al. 2016)
//
// Guarantee: it depends on the number of the step alone, and on no row.
func (c *Config) RateAt(k, steps int) float64 {
	if k < c.WarmupSteps {
		return c.LearningRate * float64(k+1) / float64(c.WarmupSteps)
	}
	// A run may go on for longer than was planned, at the rate of the last step.
	last := 1 - 1/float64(max(2, steps))
	done := math.Min(float64(k-c.WarmupSteps)/float64(max(1, steps-c.WarmupSteps)), last)
	factor := 1.0
	switch {
	case c.LearningRateSchedule == "linear":
		factor = 1 - done
	case c.LearningRateSchedule == "cosine":
		factor = (1 + math.Cos(math.Pi*done)) / 2
	case c.LearningRateSchedule == "step" && done >= 0.75:
		factor = 0.01
	case c.LearningRateSchedule == "step" && done >= 0.5:
		factor = 0.1
	}
	return c.LearningRate * factor
}
