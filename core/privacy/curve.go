package privacy

import (
	"fmt"
	"math"
	"sync"
)

// A Curve is ε spent after each step of a run, at one δ: made once, then cheap
// enough to ask after every step. Runs side by side may ask one.
type Curve struct {
	mu       sync.Mutex // held while it is asked, as it works out more of itself
	epsilon  func(steps int) float64
	maxSteps int
}

// NewCurve prepares ε for a run of up to maxSteps times perStep after the
// one-off events in once, at δ = delta, by the accountant of that name.
func NewCurve(accountant string, delta float64, perStep Event, maxSteps int, once ...Event) (*Curve, error) {
	if err := checkDelta(delta); err != nil {
		return nil, err
	}
	if maxSteps < 0 {
		return nil, fmt.Errorf("privacy: a run cannot have %d steps", maxSteps)
	}
	step, err := flatten(perStep, 1)
	if err != nil {
		return nil, err
	}
	if _, err := flatten(perStep, maxSteps); err != nil {
		return nil, err
	}
	start, err := flatten(Composed{once}, 1)
	if err != nil {
		return nil, err
	}
	switch accountant {
	case PLD:
		return &Curve{maxSteps: maxSteps, epsilon: along(step, start, delta, maxSteps, func(delta float64) func(int) float64 {
			return pldEpsilons(delta, step, start, maxSteps)
		})}, nil
	case RDP:
		return &Curve{maxSteps: maxSteps, epsilon: along(step, start, delta, maxSteps, func(delta float64) func(int) float64 {
			return rdpEpsilons(delta, step, start)
		})}, nil
	default:
		return nil, unknownAccountant(accountant)
	}
}

// Epsilon is ε after that many steps; steps outside 0 … maxSteps count as the
// nearer end.
//
// Guarantee: an upper bound that never falls as steps grow.
func (c *Curve) Epsilon(steps int) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epsilon(min(max(steps, 0), c.maxSteps))
}

// rdpEpsilons is the conversion of [rdpCurve.epsilon] with all but the number
// of steps worked out beforehand.
func rdpEpsilons(delta float64, step, start spent) func(int) float64 {
	slope, base := step.rdp(), start.rdp()
	offset := rdpOffsets(delta)
	zero := -math.Log1p(-delta * delta) // below this ρ, ε is 0
	return func(steps int) float64 {
		best := math.Inf(1)
		for i, o := range offset {
			r := base[i]
			if steps > 0 {
				r += float64(steps) * slope[i]
			}
			if r < zero {
				return 0
			}
			best = min(best, r+o)
		}
		return max(best, 0)
	}
}
