package train

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/privacy"
)

// secure is the state of secure noise: clipped gradients are rounded to whole
// multiples of a grid's unit, summed exactly, and noised with whole numbers.
//
// # Guarantee
//
// With unit u (a power of two) and threshold C, an example's integer vector z
// has ‖z‖₂ ≤ C/u: its gradient is clipped to C·shrink, and rounding moves each
// of d coordinates by half a unit at most, √d/2 units together, which shrink
// leaves room for. Partial sums stay within ±2²⁴, so float32 adds them without
// error, and batches are added as int64. Discrete Gaussian noise of σ_T·C/u
// units is drawn exactly. What is released is a whole multiple of u whatever
// the data, so the holes that floating-point noise leaves around a true value
// (Mironov 2012; opacus#616) do not exist.
//
// The accountants price a Poisson sample of the discrete Gaussian as one of the
// continuous Gaussian. For the whole data set that is proven (Canonne, Kamath &
// Steinke 2020, Theorem 4); inside a sample it is not, but the two distributions
// differ by a factor of 1 ± 3·exp(−2π²s²) for a deviation of s units, and s is at
// least 10 for counts and thousands for gradients.
type secure struct {
	sum  []int64 // Σ z_i, all parameters
	part []float32
	unit float64
}

// exactly is the largest magnitude up to which float32 holds every whole number.
const exactly = 1 << 24

// secureRows bounds a physical batch in secure mode: fewer rows leave each a
// finer grid.
const secureRows = 512

// arithmetic covers the relative rounding of factors and products in float32,
// before they are rounded to the grid: four roundings of 2⁻²⁴ each, with room.
const arithmetic = 1 - 1e-6

// checkSecure refuses what secure noise has no proof for.
func (p *Plan) checkSecure() error {
	switch p.cfg.NoiseMode {
	case "float":
		return nil
	case "secure":
	default:
		return fault("noise_mode", "there is no noise mode %q; choose float or secure", p.cfg.NoiseMode)
	}
	if p.nonPrivate() {
		return fault("noise_mode", "a run without noise cannot be secure; choose float")
	}
	c := p.clipper
	if c.Geometry != nil || c.Coordinates {
		return fault("noise_mode", "secure noise needs gradients clipped as a whole; %s measures coordinates on their own. Choose another method or float noise", p.cfg.Method)
	}
	if p.query != nil && p.query.Joined {
		return fault("noise_mode", "secure noise has no grid for the statistic of %s; choose another threshold rule or float noise", p.cfg.Method)
	}
	if p.pcaNoise > 0 {
		return fault("noise_mode", "PCA is released with float noise; leave out one of them")
	}
	if p.shrink() < 0.5 {
		return fault("noise_mode", "%d parameters are too many for the integer grid: rounding would take more than half of the clipping bound. Take a smaller model or float noise", p.spec.Params())
	}
	if p.gradNoise > 1<<12 {
		return fault("noise_multiplier", "%.4g is more than secure noise is drawn for (4096)", p.gradNoise)
	}
	return nil
}

// gridUnit is the power of two that C is measured in: as fine as exact sums of a
// full physical batch allow.
func gridUnit(c float64) float64 {
	return math.Exp2(math.Ceil(math.Log2(c * secureRows / exactly)))
}

// shrink is what of C is left for a gradient when rounding has taken its part.
// It is the same for every C but for the rounding of the unit to a power of
// two, which at worst doubles it: that worst is taken.
func (p *Plan) shrink() float64 {
	units := float64(exactly) / secureRows / 2
	return (1 - math.Sqrt(float64(p.spec.Params()))/2/units) * arithmetic
}

func (p *Plan) newSecure(s *state) *secure {
	if p.cfg.NoiseMode != "secure" {
		return nil
	}
	largest := 0
	for _, w := range s.params {
		largest = max(largest, w.Len())
	}
	return &secure{sum: make([]int64, p.spec.Params()), part: make([]float32, largest)}
}

// threshold is what each of the groups is clipped to.
func (p *Plan) threshold(groups int) float64 {
	c := p.clipper.GroupThreshold(groups)
	if p.st.secure != nil {
		c *= p.shrink()
	}
	return c
}

// sumRounded adds a physical batch, already weighed on the backend, to the
// integer sum. With weighed set the losses carry the factors and only the grid
// is missing.
func (p *Plan) sumRounded(ctx context.Context, n int, weighed bool) error {
	s := p.st
	for _, f := range s.factors {
		if weighed {
			p.be.Fill(n, float32(1/s.secure.unit), f)
		} else {
			p.be.Scale(n, float32(1/s.secure.unit), f) // a power of two: exact
		}
	}
	for _, g := range s.grads {
		p.be.Fill(g.Len(), 0, g)
	}
	if err := s.model.RoundedGrads(s.grads, s.factors); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	rest := s.secure.sum
	for _, g := range s.grads {
		part := s.secure.part[:g.Len()]
		if err := p.be.Read(ctx, part, g); err != nil {
			return fmt.Errorf("train: reading integer sums: %w", err)
		}
		for j, x := range part {
			rest[j] += int64(x)
		}
		rest = rest[g.Len():]
	}
	return nil
}

// addIntegers adds the discrete noise and writes the released sum, a multiple of
// the unit, to the gradient buffers.
func (p *Plan) addIntegers() error {
	s := p.st
	noise, err := privacy.NewDiscreteGaussian(p.gradNoise * p.clipper.Sensitivity(p.spec.Params()) / s.secure.unit)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	rest := s.secure.sum
	for i, g := range s.grads {
		src := p.tensorStream(privacy.Noise, i, s.done)
		part := s.secure.part[:g.Len()]
		for j := range part {
			part[j] = float32(float64(rest[j]+noise.Draw(src)) * s.secure.unit)
		}
		p.be.Write(g, part)
		rest = rest[g.Len():]
	}
	clear(s.secure.sum)
	return nil
}

// addIntegerStatistic noises the threshold rule's counts with whole numbers. All
// of them are multiples of ½.
func (p *Plan) addIntegerStatistic() error {
	noise, err := privacy.NewDiscreteGaussian(2 * p.query.NoiseStd)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	src := p.tensorStream(privacy.Statistic, 0, p.st.done)
	for i, v := range p.st.stat {
		p.st.stat[i] = (math.Round(2*v) + float64(noise.Draw(src))) / 2
	}
	return nil
}
