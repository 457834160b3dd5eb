package train

import "math"

// pace estimates the time a run has left from what it did in the last few seconds:
// how fast it began says nothing of how fast it is.
type pace struct {
	marks []mark // oldest first
}

// mark is a step and when it had been done, in seconds of any clock.
type mark struct {
	at   float64
	step int
}

// recent is the number of seconds that the estimate looks back, or to the last message but
// one where those come more rarely.
const recent = 5

// see notes that step had been done at the time now.
func (p *pace) see(now float64, step int) {
	for len(p.marks) > 1 && now-p.marks[1].at >= recent {
		p.marks = append(p.marks[:0], p.marks[1:]...)
	}
	p.marks = append(p.marks, mark{now, step})
}

// rest forgets the steps so far, as between them and the next a run was paused.
func (p *pace) rest() { p.marks = p.marks[:0] }

// perStep is the seconds that a step takes, NaN when unknown.
func (p *pace) perStep() float64 {
	if len(p.marks) == 0 {
		return math.NaN()
	}
	first, last := p.marks[0], p.marks[len(p.marks)-1]
	if last.step <= first.step || last.at <= first.at {
		return math.NaN()
	}
	return (last.at - first.at) / float64(last.step-first.step)
}

// left is the seconds until steps are done, NaN when unknown.
func (p *pace) left(steps int) float64 {
	if len(p.marks) == 0 {
		return math.NaN()
	}
	return p.perStep() * float64(max(0, steps-p.marks[len(p.marks)-1].step))
}
