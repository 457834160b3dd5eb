package train

import "math"

// pace estimates the time a run has left from the steps it did lately.
type pace struct {
	at    float64 // seconds, any clock
	step  int
	per   float64 // seconds a step, smoothed; 0 is unknown
	armed bool
}

// smoothing is the weight of the newest measurement.
const smoothing = 0.1

// see notes that step had been done at the time now.
func (p *pace) see(now float64, step int) {
	if p.armed && step > p.step && now > p.at {
		per := (now - p.at) / float64(step-p.step)
		if p.per == 0 {
			p.per = per
		}
		p.per += smoothing * (per - p.per)
	}
	p.at, p.step, p.armed = now, step, true
}

// rest forgets the clock, as when a run was paused, but not the pace.
func (p *pace) rest() { p.armed = false }

// left is the seconds until steps are done, NaN when unknown.
func (p *pace) left(steps int) float64 {
	if p.per == 0 {
		return math.NaN()
	}
	return p.per * float64(max(0, steps-p.step))
}
