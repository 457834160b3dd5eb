package privacy

import (
	"fmt"
	"math"

	"clipscope/core/run"
)

// NewTuningCosts answers for runs configurations that each cost what of does.
//
// Guarantee: every figure is an upper bound for its way of tuning.
func NewTuningCosts(delta float64, of Event, runs int) (run.TuningReply, error) {
	if err := checkDelta(delta); err != nil {
		return run.TuningReply{}, err
	}
	if runs < 1 {
		return run.TuningReply{}, fmt.Errorf("privacy: %d runs cannot be compared", runs)
	}
	one, err := flatten(of, 1)
	if err == nil {
		err = one.exactly()
	}
	if err != nil {
		return run.TuningReply{}, err
	}
	all, err := flatten(of, runs)
	if err != nil {
		return run.TuningReply{}, err
	}
	composed, _ := all.pld(delta)
	stopped := math.Inf(1)
	delta1 := LiuTalwarDelta(delta, runs)
	if delta1 > 0 {
		epsilon1, _ := one.pld(delta1)
		stopped = 3*epsilon1 + 3*math.Sqrt(2*delta1)
	}
	repeated := func(shape float64) run.Number { return run.Number(one.repeatAndSelect(delta, float64(runs), shape)) }
	r := run.TuningReply{
		Runs: runs, Delta: delta,
		CompositionPLD: run.Number(composed), CompositionRDP: run.Number(all.renyi().epsilon(delta)), LiuTalwar: run.Number(stopped),
		Geometric: repeated(1), Logarithmic: repeated(0), Poisson: repeated(math.Inf(1)),
	}
	r.Cheapest = r.Least()
	return r, nil
}

// The constants of Liu and Talwar's random stopping in DC-SGD, Theorem 1: each
// round stops with probability γ = 1/(2G), at the latest after ln(1/δ₂)/γ.
const liuTalwarDelta2 = 1e-20

// LiuTalwarRounds is the hard limit on the number of runs for a grid of runs.
func LiuTalwarRounds(runs int) float64 {
	return -math.Log(liuTalwarDelta2) * 2 * float64(runs)
}

// LiuTalwarDelta is the δ₁ that each run may have when the tuning is to have
// delta: δ = 3·√(2δ₁)·rounds + δ₂. It is 0 where delta leaves nothing.
func LiuTalwarDelta(delta float64, runs int) float64 {
	root := max(0, delta-liuTalwarDelta2) / (3 * LiuTalwarRounds(runs))
	return root * root / 2
}

// RepeatAndSelect is ε at delta of running the mechanism K times, K ≥ 0 random
// with mean meanRuns ≥ 1, each time with a configuration drawn at random, and
// releasing only the best run (Papernot & Steinke 2022). K is a truncated
// negative binomial of that shape > −1 (1: geometric, 0: logarithmic) or, where
// shape is +Inf, Poisson.
func RepeatAndSelect(delta float64, run Event, meanRuns, shape float64) (float64, error) {
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	if !(meanRuns >= 1) || math.IsInf(meanRuns, 1) || !(shape > -1) {
		return 0, fmt.Errorf("privacy: repeating %v times on average with shape %v: the mean has to be at least 1 and the shape above -1", meanRuns, shape)
	}
	s, err := flatten(run, 1)
	if err == nil {
		err = s.exactly()
	}
	if err != nil {
		return 0, err
	}
	return s.repeatAndSelect(delta, meanRuns, shape), nil
}

func (s *spent) repeatAndSelect(delta, mean, shape float64) float64 {
	if s.infinite {
		return math.Inf(1)
	}
	return s.rdp().repeated(mean, shape).epsilonOnly(delta)
}

// repeated is the Rényi curve of the best of several runs of what has the curve rho.
func (rho rdpCurve) repeated(mean, shape float64) rdpCurve {
	out := make(rdpCurve, len(rho))
	if math.IsInf(shape, 1) {
		// Theorem 6: with (ε̂, δ̂) such that exp(ε̂) ≤ 1 + 1/(α−1).
		for i, r := range rho {
			hat := rho.delta(math.Log1p(1 / (orders[i] - 1)))
			out[i] = r + mean*hat + math.Log(mean)/(orders[i]-1)
		}
		return out
	}
	// Theorem 2, with the best α̂.
	gamma := repeatGamma(mean, shape)
	extra := math.Inf(1)
	for i, r := range rho {
		extra = min(extra, (1+shape)*((1-1/orders[i])*r-math.Log(gamma)/orders[i]))
	}
	for i, r := range rho {
		out[i] = r + extra + math.Log(mean)/(orders[i]-1)
	}
	return out
}

// epsilonOnly is epsilon without the rule that gives 0: the output may have no
// run in it, so the curve is not one of a Gaussian.
func (rho rdpCurve) epsilonOnly(delta float64) float64 {
	best := math.Inf(1)
	for i, r := range rho {
		best = min(best, r+rdpOffset(orders[i], delta))
	}
	return max(best, 0)
}

// repeatGamma is the γ of the truncated negative binomial with that mean.
func repeatGamma(mean, shape float64) float64 {
	expected := func(g float64) float64 {
		if shape == 0 {
			return (1/g - 1) / -math.Log(g)
		}
		return shape * (1 - g) / g / -math.Expm1(shape*math.Log(g))
	}
	lo, hi := math.Log(1e-300), -1e-12 // of ln γ; the mean falls in γ
	for range 200 {
		mid := (lo + hi) / 2
		if expected(exp(mid)) > mean {
			lo = mid
		} else {
			hi = mid
		}
	}
	return exp(lo)
}
