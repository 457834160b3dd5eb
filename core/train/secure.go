package train

import (
	"cmp"
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
// With threshold C, and a unit u that C is [Plan.units] times, an example's integer
// vector z has ‖z‖₂ ≤ C/u: its gradient is clipped to C·shrink, and rounding moves each
// of d coordinates by half a unit at most, √d/2 units together, which shrink
// leaves room for. The sums of a piece of rows stay within ±2²⁴, so float32 adds
// them without error, and pieces are added in float64, which is exact to 2⁵³.
// Noise of deviation σ_T·C is added in whole units and exactly, and what is released
// is that whole number times u, rounded to float32: a function of it, whatever the
// data, so the holes that floating-point noise leaves around a true value (Mironov
// 2012; opacus#616) do not exist.
//
// The noise is joined from samples of a table where the sums are
// ([privacy.JoinedNoise]: what it costs is proven there, and what the table is
// inexact by is charged to δ), or drawn number by number on this side where the plan
// says so ([privacy.GridNoise]).
type secure struct {
	*gaussian
	units, left float64 // of the plan that the run began with: see [Plan.units], [Plan.shrink]
	grid        float64 // the unit
	// Where numbers are joined:
	noise privacy.JoinedNoise
	table compute.Buffer
	// Where numbers are drawn one by one:
	parts compute.Buffer // the sum, in two parts
	noisy []float32      // on this side, of all parameters
}

// exactly is the largest magnitude up to which float32 holds every whole number.
const exactly = 1 << 24

// arithmetic covers the relative rounding of the unit, of factors and of products in
// float32, before they are rounded to the grid: six roundings of 2⁻²⁴ each, with room.
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
	c := p.first
	if c.Geometry != nil || c.Coordinates {
		return fault("noise_mode", "secure noise needs gradients clipped as a whole; %s measures coordinates on their own. Choose another method or float noise", p.cfg.Method)
	}
	if p.query != nil && p.query.Joined {
		return fault("noise_mode", "secure noise has no grid for the statistic of %s; choose another threshold rule or float noise", cmp.Or(p.cfg.Threshold, p.cfg.Method))
	}
	if p.pcaNoise > 0 {
		return fault("noise_mode", "PCA is released with float noise; leave out one of them")
	}
	if p.gradNoise > 1<<12 {
		return fault("noise_multiplier", "%.4g is more than secure noise is drawn for (4096)", p.gradNoise)
	}
	if _, ok := p.joined(); !ok {
		p.exact = true
	}
	if p.shrink() < 0.5 {
		return fault("noise_mode", "%d parameters are too many for the integer grid: rounding would take more than half of the clipping bound. Take a smaller model or float noise", p.spec.Params())
	}
	return nil
}

// mostUnits is what C is at most in units of the grid, for sums of a full piece to be
// exact.
const mostUnits = exactly / compute.PieceRows

// littleRounding is the part of C that rounding may take for the sake of fewer samples:
// nobody chooses C as finely as that.
const littleRounding = 0x1p-8

// joined is the noise of a step, for a grid as fine as exact sums allow, or coarser
// where that has it joined from fewer samples: by a tenth, or as far as rounding takes
// but little of C. ok is false where there is no such noise, as where there is little.
func (p *Plan) joined() (noise privacy.JoinedNoise, ok bool) {
	least := min(p.roundingUnits()/littleRounding, 0.9*mostUnits)
	return privacy.NewJoinedNoise(p.gradNoise*least, p.gradNoise*mostUnits)
}

// units is what C is in units of the grid, whatever C is.
func (p *Plan) units() float64 {
	if noise, ok := p.joined(); ok && !p.exact {
		return noise.Deviation() / p.gradNoise
	}
	return mostUnits
}

// roundingUnits is the most that rounding to the grid moves a gradient by, in units.
func (p *Plan) roundingUnits() float64 { return math.Sqrt(float64(p.spec.Params())) / 2 }

// distance is what a step's noise lies off what it is priced with, in total variation:
// that of a table, unless the plan is exact. It is that where noise is so small that no
// samples of the table join to it, or ε so large that δ does not pay for the table.
func (p *Plan) distance() float64 {
	if p.cfg.NoiseMode != "secure" || p.exact || p.nonPrivate() {
		return 0
	}
	return privacy.JoinedDistance(p.spec.Params())
}

// shrink is what of C is left for a gradient when rounding has taken its part.
func (p *Plan) shrink() float64 { return (1 - p.roundingUnits()/p.units()) * arithmetic }

func newSecure(g *gaussian) *secure {
	s := &secure{gaussian: g, units: g.r.units(), left: g.r.shrink()}
	if d := g.r.spec.Params(); g.r.exact {
		s.parts, s.noisy = g.r.be.New(2*d), make([]float32, 2*d)
	} else {
		s.noise, _ = g.r.joined() // or the plan would be exact
		s.table = g.r.be.New(chacha.TableLen)
		g.r.be.Write(s.table, privacy.Table())
	}
	return s
}

func (s *secure) begin() {
	s.grid = s.r.clipper.Rule.C() / s.units * (1 + 0x1p-50) // no less than that
	s.gaussian.begin()
}

// mostSecure keeps a factor in units of the grid within float32: C and so the grid
// are at least 10⁻¹².
const mostSecure = 0x1p60

func (s *secure) limit() kernel.Limit {
	return kernel.Limit{C: below(s.r.clipper.GroupThreshold(len(s.r.report.norms)) * s.left), Most: mostSecure}
}

// add rounds to the grid.
func (s *secure) add(n int, factors []compute.Buffer, _ compute.Buffer) {
	for _, f := range factors {
		kernel.Scale(s.r.be, n, float32(1/s.grid), f)
	}
	s.r.model.Add(s.r.sums, factors, kernel.Rounded())
}

// ahead draws nothing: such noise is drawn and added in one.
func (s *secure) ahead() {}

// release adds the discrete noise and writes the released sum to the gradient.
func (s *secure) release(ctx context.Context) error {
	if s.noisy != nil {
		return s.releaseDrawn(ctx)
	}
	for i, dst := range s.r.grads {
		key, err := s.r.noiseKey(i)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		kernel.Discrete(s.r.be, dst.Len(), s.grid, s.noise.Multipliers(), s.table, key, s.r.sums[i], dst)
	}
	s.checkReleased()
	return nil
}

// releaseDrawn is release with numbers that are drawn one by one, on this side: the
// sums are waited for.
func (s *secure) releaseDrawn(ctx context.Context) error {
	noise, err := privacy.NewGridNoise(s.r.gradNoise*s.sensitivity(), s.grid)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	d := s.r.spec.Params()
	at := 0
	for _, sum := range s.r.sums {
		n := sum.Len()
		kernel.Split(s.r.be, n, sum, s.parts.Slice(at, n), s.parts.Slice(d+at, n))
		at += n
	}
	if err := compute.Read(ctx, s.r.be, s.noisy, s.parts); err != nil {
		return fmt.Errorf("train: reading integer sums: %w", err)
	}
	at = 0
	for i, sum := range s.r.sums {
		key, err := s.r.noiseKey(i)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		src := chacha.NewStream(key.Key, key.Nonce)
		for end := at + sum.Len(); at < end; at++ {
			z := float64(s.noisy[at]) + float64(s.noisy[d+at])
			s.noisy[at] = float32(float64(int64(z)+noise.Draw(src)) * s.grid)
		}
	}
	s.r.be.Write(s.r.gradient, s.noisy[:d])
	s.checkReleased()
	return nil
}

// sensitivity is the clipper's own: all sums are exact, and rounding has been
// taken out of C.
func (s *secure) sensitivity() float64 { return s.r.clipper.Sensitivity(s.r.spec.Params()) }

func (s *secure) unit() float64 { return s.grid }

// countNoise draws n numbers of deviation std for a release of counts, multiples of
// unit, for one purpose and step: once each, or noise would repeat. Where noise is
// secure they are on a grid much finer than it.
func (r *Run) countNoise(purpose privacy.Purpose, step int, std, unit float64, n int) ([]float64, error) {
	switch {
	case std == 0:
		return make([]float64, n), nil
	case r.cfg.NoiseMode == "secure":
		return gridNoise(std, unit, r.stream(purpose, step), n)
	}
	z, err := r.normals(purpose, step, n)
	for i := range z {
		z[i] *= std
	}
	return z, err
}

// gridNoise draws n numbers for a release of multiples of unit, a power of two,
// with noise of deviation std, as multiples of a much smaller one. Their sums
// with such multiples below 2⁴⁰ are exact.
func gridNoise(std, unit float64, src *chacha.Stream, n int) ([]float64, error) {
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

// mostSecureNumbers of a tensor's are tested where noise is drawn and added in one.
const mostSecureNumbers = 1 << 10

// checkReleased tests secure noise, which is never alone in memory: what was released less
// the sum, both in units of the grid.
func (s *secure) checkReleased() {
	c, r := s.r.self, s.r
	if c == nil {
		return
	}
	c.added++
	if !c.due(r.done) || !s.measurable() {
		return
	}
	size := func(i int) int { return min(mostSecureNumbers, r.grads[i].Len()) }
	if c.spare.Memory == nil {
		c.spare = r.be.New(3 * mostSecureNumbers)
	}
	for i, sum := range r.sums {
		n := size(i)
		high, low, z := c.spare.Slice(0, n), c.spare.Slice(n, n), c.spare.Slice(2*n, n)
		kernel.Split(r.be, n, sum, high, low)
		kernel.Copy(r.be, n, z, r.grads[i].Slice(0, n))
		kernel.Scale(r.be, n, float32(1/s.grid), z)
		kernel.Axpy(r.be, n, -1, high, z)
		kernel.Axpy(r.be, n, -1, low, z)
		kernel.RowNorms(r.be, 1, n, z, c.lengths.Slice(i, 1))
	}
	least, most := r.promised()
	c.expect(r, least/s.grid, most/s.grid*1.01, size)
}

// measurable reports whether what is released less the sum is the noise, in float32: noise is
// not below the grid, where whole numbers have another deviation, and rounding a released sum
// as large as there may be adds less than a hundredth to its variance.
func (s *secure) measurable() bool {
	least, _ := s.r.promised()
	rows := float64(2 * s.r.likely())
	return least/s.grid >= max(1, 0x1p-21*s.sensitivity()/s.grid*rows)
}
