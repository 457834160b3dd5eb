package privacy

import (
	"errors"
	"fmt"
	"math"
)

// A Budget is the privacy that a run may spend. Its methods answer the three questions of
// calibration, each from the safe side: what they return never costs more than
// Epsilon at Delta, and comes within a thousandth of Epsilon where the answer is
// continuous and lies inside the range that is searched.
type Budget struct {
	Accountant string // a name of [Names]
	Epsilon    float64
	Delta      float64
	Spent      []Event // what is charged before the first step
	Distance   float64 // of the noise of a step from a Gaussian's: see [Inexact]
	Values     int     // how many numbers the noise of a step is, where it ends: see [FloatNoise]
}

// The noise multipliers that are searched. Below the first, ε is beyond any use;
// above the second, nothing is left of the data.
const (
	minNoise = 0.02
	maxNoise = 1e6
)

// maxSteps is the most steps that [Budget.Steps] answers.
const maxSteps = 100_000_000

// NoiseMultiplier is the smallest noise multiplier in [0.02, 1e6] with which
// steps Gaussian releases on Poisson samples stay in the budget.
func (b Budget) NoiseMultiplier(sampleRate float64, steps int) (float64, error) {
	if err := b.checkTarget(); err != nil {
		return 0, err
	}
	eps := func(x float64) (float64, error) { return b.cost(sampleRate, exp(x), steps) }
	hint := func(b Budget) (float64, error) { return b.NoiseMultiplier(sampleRate, steps) }
	x, ok, err := b.safest(eps, math.Log(maxNoise), math.Log(minNoise), hint)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, fmt.Errorf("privacy: no noise_multiplier up to %g reaches target_epsilon %g at target_delta %g with sample_rate %g and %d steps: raise target_epsilon, or take fewer steps or a smaller batch",
			float64(maxNoise), b.Epsilon, b.Delta, sampleRate, steps)
	}
	return exp(x), nil
}

// SampleRate is the largest sample rate in [0, 1] with which steps releases with
// that noise stay in the budget.
func (b Budget) SampleRate(noiseMultiplier float64, steps int) (float64, error) {
	if err := b.checkTarget(); err != nil {
		return 0, err
	}
	eps := func(x float64) (float64, error) { return b.cost(exp(x), noiseMultiplier, steps) }
	hint := func(b Budget) (float64, error) { return b.SampleRate(noiseMultiplier, steps) }
	x, ok, err := b.safest(eps, math.Log(1e-12), 0, hint)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, fmt.Errorf("privacy: no sample_rate reaches target_epsilon %g at target_delta %g with noise_multiplier %g and %d steps: raise noise_multiplier or target_epsilon, or take fewer steps",
			b.Epsilon, b.Delta, noiseMultiplier, steps)
	}
	return exp(x), nil
}

// Steps is the largest number of steps, up to 1e8, that stays in the budget.
func (b Budget) Steps(sampleRate, noiseMultiplier float64) (int, error) {
	if err := b.checkTarget(); err != nil {
		return 0, err
	}
	cost, err := b.costs(sampleRate, noiseMultiplier)
	if err != nil {
		return 0, err
	}
	fits := func(n int) (bool, error) {
		e, err := cost(n)
		return e <= b.Epsilon, err
	}
	if ok, err := fits(1); err != nil || !ok {
		if err == nil {
			err = fmt.Errorf("privacy: not one step with noise_multiplier %g and sample_rate %g fits target_epsilon %g at target_delta %g: raise noise_multiplier or target_epsilon",
				noiseMultiplier, sampleRate, b.Epsilon, b.Delta)
		}
		return 0, err
	}
	lo, hi := 1, 2 // lo fits
	if b.Accountant != RDP {
		if n, err := b.loose().Steps(sampleRate, noiseMultiplier); err == nil {
			if ok, err := fits(n); err == nil && ok {
				lo, hi = n, n+n/8+1
			}
		}
	}
	for hi < maxSteps {
		ok, err := fits(hi)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		lo, hi = hi, hi*2
	}
	hi = min(hi, maxSteps+1)
	slack := 1
	if b.Accountant != RDP {
		slack = max(1, lo/4000) // a finer search would only tell rounding apart
	}
	for hi-lo > slack {
		mid := lo + (hi-lo)/2
		ok, err := fits(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, nil
}

func (b Budget) checkTarget() error {
	if err := checkDelta(b.Delta); err != nil {
		return err
	}
	if !(b.Epsilon > 0) {
		return fmt.Errorf("privacy: target_epsilon %v is not positive: take 1, for example; smaller is more private", b.Epsilon)
	}
	e, err := Epsilon(b.Accountant, b.Delta, b.Spent...)
	if err != nil {
		return err
	}
	if e > b.Epsilon {
		return fmt.Errorf("privacy: what is charged before the first step costs ε = %s, more than target_epsilon %g: raise target_epsilon", atMost(e), b.Epsilon)
	}
	return nil
}

// cost is ε of the whole run.
func (b Budget) cost(sampleRate, noiseMultiplier float64, steps int) (float64, error) {
	cost, err := b.costs(sampleRate, noiseMultiplier)
	if err != nil {
		return 0, err
	}
	return cost(steps)
}

// costs is cost by the number of steps: the Rényi curve, which takes longest where
// there is little noise, is worked out once for one of them.
func (b Budget) costs(sampleRate, noiseMultiplier float64) (func(steps int) (float64, error), error) {
	if !(noiseMultiplier > 0) {
		return nil, fmt.Errorf("privacy: noise_multiplier %v is not positive: without noise there is no privacy", noiseMultiplier)
	}
	var one Event = PoissonSampled{sampleRate, Gaussian{noiseMultiplier}}
	if b.Values > 0 {
		one = FloatNoise{one, b.Values}
	}
	step, err := flatten(Inexact{one, b.Distance}, 1)
	if err != nil {
		return nil, err
	}
	before, err := flatten(Composed{b.Spent}, 1)
	if err != nil {
		return nil, err
	}
	slope, base := step.renyi(), before.renyi()
	return func(steps int) (float64, error) {
		if _, err := multiply(1, steps); err != nil {
			return 0, err
		}
		rho := base.plus(slope, steps)
		whole := before.plus(step, steps)
		return whole.at(b.Delta, func(delta float64) float64 { return whole.by(b.Accountant, rho, delta) }), nil
	}, nil
}

// loose is the budget by the accountant that is cheaper to ask and never answers
// less.
func (b Budget) loose() Budget {
	b.Accountant = RDP
	return b
}

// safest looks between safe, where eps is least, and bold, where it is most, for
// the point nearest to bold with eps ≤ Epsilon: regula falsi on ln ε with a
// bisection whenever that is slow. It starts from what hint answers for the
// cheaper accountant. ok is false where not even safe fits.
func (b Budget) safest(eps func(float64) (float64, error), safe, bold float64, hint func(Budget) (float64, error)) (x float64, ok bool, err error) {
	const tolerance = 2e-4 // of ε, well within the promise
	low, high := 0.0, math.Inf(1)
	if h, err := b.hint(hint); err == nil {
		start := math.Log(h)
		if e, err := eps(start); err == nil && e <= b.Epsilon {
			safe, low = start, e
			end, step := bold, math.Copysign(0.1, bold-start)
			for math.Abs(end-safe) > math.Abs(step) {
				e, err := eps(safe + step)
				if err != nil {
					return 0, false, err
				}
				if e > b.Epsilon {
					bold, high = safe+step, e
					break
				}
				safe, low = safe+step, e
				step *= 2
			}
		}
	}
	if low == 0 {
		if low, err = eps(safe); err != nil || low > b.Epsilon {
			return 0, false, err
		}
	}
	if math.IsInf(high, 1) {
		if high, err = eps(bold); err != nil || high <= b.Epsilon {
			return bold, err == nil, err
		}
	}
	for i := 0; low < b.Epsilon*(1-tolerance) && math.Abs(bold-safe) > 1e-9; i++ {
		x := (safe + bold) / 2
		if i%3 != 2 && low > 0 && !math.IsInf(high, 1) {
			// Aim just inside the tolerance.
			w := (math.Log(b.Epsilon*(1-tolerance/2)) - math.Log(low)) / (math.Log(high) - math.Log(low))
			x = safe + (bold-safe)*w
		}
		e, err := eps(x)
		if err != nil {
			return 0, false, err
		}
		if e <= b.Epsilon {
			safe, low = x, e
		} else {
			bold, high = x, e
		}
	}
	return safe, true, nil
}

func (b Budget) hint(ask func(Budget) (float64, error)) (float64, error) {
	if b.Accountant == RDP {
		return 0, errNoHint
	}
	return ask(b.loose())
}

var errNoHint = errors.New("privacy: no cheaper accountant")
