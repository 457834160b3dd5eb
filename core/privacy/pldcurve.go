package privacy

import (
	"math"
	"sort"
)

// pldEpsilons is ε by steps. It is worked out, in order and when first asked
// for, after some of the steps; in between it is what it will be at the next of
// them, which is an upper bound because ε never falls. There are the more of
// them the longer the run, so that all cost a small share of it.
func pldEpsilons(delta float64, step, start spent, maxSteps int) func(int) float64 {
	if step.infinite || start.infinite || maxSteps == 0 || len(step.sampled) == 0 {
		return func(steps int) float64 {
			e, _ := start.plus(step, steps).pld(delta)
			return e
		}
	}
	if start.plus(step, maxSteps).beyond(delta) != "" {
		return rdpEpsilons(delta, step, start)
	}
	c := &pldCurve{delta: delta, step: step, start: start, rdp: rdpEpsilons(delta, step, start)}
	points := min(100, max(12, maxSteps/16))
	for k := 1; k <= points; k++ {
		// Evenly in √steps, as ε grows about so.
		x := float64(k) / float64(points)
		if at := int(math.Ceil(x * x * float64(maxSteps))); len(c.at) == 0 || at > c.at[len(c.at)-1] {
			c.at = append(c.at, at)
		}
	}
	c.end(maxSteps)
	c.zero, _ = start.pld(delta)
	c.zero = min(c.zero, c.last) // what costs less has a bound that may be the looser
	// A quarter of the usual grid costs one to three per cent of ε and keeps
	// each answer under a millisecond.
	c.size = max(1<<11, startSize(c.terms)/4)
	c.spectrum(remove) // nearly always the side that counts: now, not at a step
	return c.epsilon
}

// A pldCurve is the state behind pldEpsilons.
type pldCurve struct {
	delta       float64
	step, start spent
	rdp         func(int) float64
	at          []int     // steps at which it is worked out
	values      []float64 // ε there, as far as asked for
	zero, last  float64   // ε before the first step and after the last
	terms       []term    // of the whole run
	moments     *moments
	size        int // of the spectra
	spectra     [2]*spectrum
}

// end works out ε after the last step, by itself and to full precision, and what
// the other steps need.
func (c *pldCurve) end(steps int) {
	whole := c.start.plus(c.step, steps)
	c.last, _ = whole.pld(c.delta)
	c.terms = whole.terms()
	c.moments = newMoments(c.terms, reach(c.terms, c.delta, c.rdp(steps)))
}

func (c *pldCurve) epsilon(steps int) float64 {
	if steps == 0 {
		return c.zero
	}
	i := sort.SearchInts(c.at, steps)
	if i == len(c.at)-1 {
		return c.last
	}
	for len(c.values) <= i {
		floor := c.zero
		if n := len(c.values); n > 0 {
			floor = c.values[n-1]
		}
		c.values = append(c.values, max(floor, c.work(c.at[len(c.values)])))
	}
	return min(c.values[i], c.rdp(steps), c.last)
}

// work is ε after that many steps.
func (c *pldCurve) work(steps int) float64 {
	now := c.start.plus(c.step, steps)
	if now.exact() != nil || c.step.precision > 0 {
		e, _ := now.pld(c.delta)
		return e
	}
	counts := make([]float64, len(c.terms))
	for i, t := range c.terms {
		counts[i] = now.count(t)
	}
	worst := 0.0
	for _, sd := range []side{remove, add} {
		a := c.moments.aim(sd, counts, c.delta)
		if sd == add && a.epsilon < worst {
			break
		}
		e, ok := c.spectrum(sd).compose(counts).epsilon(upper, c.delta)
		if !ok {
			return c.rdp(steps)
		}
		worst = max(worst, e)
	}
	if !(worst >= now.low(c.delta)) {
		return c.rdp(steps)
	}
	return worst
}

// spectrum is the spectrum of one side, made for the whole run: the window that holds the
// longest sum holds all shorter ones.
func (c *pldCurve) spectrum(sd side) *spectrum {
	if c.spectra[sd] == nil {
		a := c.moments.aim(sd, counts(c.terms), c.delta)
		c.spectra[sd] = newSpectrum(c.terms, sd, upper, a.window(0, c.size))
	}
	return c.spectra[sd]
}

// plus is s followed by times runs of t.
func (s spent) plus(t spent, times int) *spent {
	sum := spent{precision: s.precision, selected: s.selected, infinite: s.infinite, sampled: append([]term(nil), s.sampled...), distance: s.distance, ends: s.ends}
	if times == 0 {
		return &sum
	}
	sum.precision += float64(times) * t.precision
	sum.selected = sum.selected.plus(t.selected, times)
	sum.infinite = sum.infinite || t.infinite
	sum.distance += float64(times) * t.distance
	for _, e := range t.ends {
		e.count *= float64(times)
		sum.addEnd(e)
	}
	for _, u := range t.sampled {
		u.count *= times
		sum.addTerm(u)
	}
	return &sum
}

// count returns the number of times that t is in s; the Gaussian of a whole run, which is a term of
// rate 1, counts once.
func (s *spent) count(t term) float64 {
	if t.sampleRate == 1 {
		return 1
	}
	for _, u := range s.sampled {
		if u.sampleRate == t.sampleRate && u.noiseMultiplier == t.noiseMultiplier {
			return float64(u.count)
		}
	}
	return 0
}
