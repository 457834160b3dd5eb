package train

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/chacha"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
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
// leaves room for. The sums of a piece of rows stay within ±2²⁴, so float32 adds
// them without error, and pieces are added in float64, which is exact to 2⁵³.
// Noise of deviation σ_T·C is drawn exactly, in whole units; what it costs is
// proven at [privacy.GridNoise]. What is released is a whole multiple of u
// whatever the data, so the holes that floating-point noise leaves around a true
// value (Mironov 2012; opacus#616) do not exist.
type secure struct {
	sum   []float64 // Σ z_i of the largest tensor
	noisy []float32
	unit  float64
}

// exactly is the largest magnitude up to which float32 holds every whole number.
const exactly = 1 << 24

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
// full piece allow.
func gridUnit(c float64) float64 {
	return math.Exp2(math.Ceil(math.Log2(c * compute.PieceRows / exactly)))
}

// shrink is what of C is left for a gradient when rounding has taken its part.
// It is the same for every C but for the rounding of the unit to a power of
// two, which at worst doubles it: that worst is taken.
func (p *Plan) shrink() float64 {
	units := float64(exactly) / compute.PieceRows / 2
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
	return &secure{sum: make([]float64, largest), noisy: make([]float32, largest)}
}

// threshold is what each of the groups is clipped to.
func (p *Plan) threshold(groups int) float64 {
	c := p.clipper.GroupThreshold(groups)
	if p.st.secure != nil {
		c *= p.shrink()
	}
	return c
}

// sumRounded adds a physical batch, already weighed on the backend, to the sums,
// in whole units. With weighed set the losses carry the factors and only the grid
// is missing.
func (p *Plan) sumRounded(n int, weighed bool) {
	s := p.st
	for _, f := range s.factors {
		if weighed {
			kernel.Copy(p.be, n, f, s.keep)
		}
		kernel.Scale(p.be, n, float32(1/s.secure.unit), f) // a power of two: exact
	}
	s.model.Add(s.sums, s.factors, kernel.Rounded())
}

// addIntegers adds the discrete noise and writes the released sum, a multiple of
// the unit, to the gradient buffers.
func (p *Plan) addIntegers(ctx context.Context) error {
	s := p.st
	noise, err := privacy.NewGridNoise(p.gradNoise*p.sensitivity(), s.secure.unit)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	for i, g := range s.grads {
		key, err := p.noiseKey(i)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		sum, noisy := s.secure.sum[:g.Len()], s.secure.noisy[:g.Len()]
		if err := kernel.ReadSums(ctx, p.be, sum, s.sums[i]); err != nil {
			return fmt.Errorf("train: reading integer sums: %w", err)
		}
		src := chacha.NewStream(key.Key, key.Nonce)
		for j, z := range sum {
			noisy[j] = float32(float64(int64(z)+noise.Draw(src)) * s.secure.unit)
		}
		p.be.Write(g, noisy)
	}
	return nil
}

// addIntegerStatistic noises the threshold rule's counts, all of them multiples
// of ½, on a grid much finer than the noise.
func (p *Plan) addIntegerStatistic() error {
	z, err := p.gridNoise(p.query.NoiseStd, 0.5, p.stream(privacy.Statistic, p.st.done), len(p.st.stat))
	for i := range z {
		p.st.stat[i] += z[i]
	}
	return err
}

// gridNoise draws n numbers for a release of multiples of unit, a power of two,
// with noise of deviation std, as multiples of a much smaller one. Their sums
// with such multiples below 2⁴⁰ are exact.
func (p *Plan) gridNoise(std, unit float64, src *chacha.Stream, n int) ([]float64, error) {
	unit = privacy.FineUnit(std, unit)
	noise, err := privacy.NewGridNoise(std, unit)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	z := make([]float64, n)
	for i := range z {
		z[i] = float64(noise.Draw(src)) * unit
	}
	return z, nil
}
