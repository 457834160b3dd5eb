package train

import (
	"context"
	"fmt"

	"clipscope/core/chacha"
	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/plan"
	"clipscope/core/privacy"
)

// secure is the state of secure noise: clipped gradients are rounded to whole
// multiples of a grid's unit, summed exactly, and noised with whole numbers.
//
// # Guarantee
//
// With threshold C, and a unit u that C is [plan.Grid.Units] times, an example's integer
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
	units, left float64 // of the plan that the run began with: see [plan.Grid]
	grid        float64 // the unit
	// Where numbers are joined:
	noise privacy.JoinedNoise
	table compute.Buffer
	// Where numbers are drawn one by one:
	parts compute.Buffer // the sum, in two parts
	noisy []float32      // on this side, of all parameters
}

func init() {
	register(kind{name: "secure", counts: gridNoise, open: func(w *workspace) mechanism { return newSecure(newGaussian(w)) },
		fits: func(_ *clip.Clipper, n plan.Noise) bool { _, alone := n.(plan.Secure); return alone }})
}

func newSecure(g *gaussian) *secure {
	noise := g.terms.Noise.(plan.Secure)
	grid := noise.Grid(&g.terms)
	if noise.Exact {
		return newDrawn(g, grid)
	}
	s := &secure{gaussian: g, units: grid.Units(), left: grid.Shrink()}
	s.noise, _ = grid.Joined() // or the plan would be exact
	s.table = g.be.New(chacha.TableLen)
	g.be.Write(s.table, privacy.Table())
	return s
}

// newDrawn makes secure noise that is drawn number by number.
func newDrawn(g *gaussian, grid plan.Grid) *secure {
	d := g.terms.Spec.Params()
	return &secure{gaussian: g, units: grid.Units(), left: grid.Shrink(), parts: g.be.New(2 * d), noisy: make([]float32, 2*d)}
}

func (s *secure) begin() {
	s.grid = s.clipper.Rule.C() / s.units * (1 + 0x1p-50) // no less than that
}

// mostSecure keeps a factor in units of the grid within float32: C and so the grid
// are at least 10⁻¹².
const mostSecure = 0x1p60

func (s *secure) limits() []kernel.Limit { return s.limitsOf(s.left, mostSecure) }

// addGradients rounds the gradients to the grid and adds them.
func (s *secure) addGradients(p Part, n int, factors []compute.Buffer, _ compute.Buffer) {
	for _, f := range factors {
		kernel.Scale(s.be, n, float32(1/s.grid), f)
	}
	s.model.Add(p.sums, factors, kernel.Rounded())
}

// ahead draws nothing: such noise is drawn and added in one.
func (s *secure) ahead(int) {}

// release adds the discrete noise and writes the released sum to the gradient.
func (s *secure) release(ctx context.Context, p Part, step int) error {
	if s.noisy != nil {
		return s.releaseDrawn(ctx, p, step)
	}
	for i, dst := range s.grads {
		key, err := s.noiseKey(i, step)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		kernel.Discrete(s.be, dst.Len(), s.grid, s.noise.Multipliers(), s.table, key, p.sums[i], dst)
	}
	s.checkReleased(p, step)
	return nil
}

// releaseDrawn is release with numbers that are drawn one by one, on this side: the
// sums are waited for.
func (s *secure) releaseDrawn(ctx context.Context, p Part, step int) error {
	noise, err := privacy.NewGridNoise(s.terms.GradNoise*s.sensitivity(), s.grid)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	at := 0
	err = s.eachDrawn(ctx, p, step, noise, func(_ int, z, noise int64) {
		s.noisy[at] = float32(float64(z+noise) * s.grid)
		at++
	})
	if err != nil {
		return err
	}
	s.be.Write(s.gradient, s.noisy[:at])
	s.checkReleased(p, step)
	return nil
}

// eachDrawn hands over each number of a part's sums, tensor by tensor, with the noise that it gets.
func (s *secure) eachDrawn(ctx context.Context, p Part, step int, noise *privacy.GridNoise, to func(tensor int, z, noise int64)) error {
	d := s.terms.Spec.Params()
	at := 0
	for _, sum := range p.sums {
		n := sum.Len()
		kernel.Split(s.be, n, sum, s.parts.Slice(at, n), s.parts.Slice(d+at, n))
		at += n
	}
	if err := compute.Read(ctx, s.be, s.noisy, s.parts); err != nil {
		return fmt.Errorf("train: reading integer sums: %w", err)
	}
	at = 0
	for i, sum := range p.sums {
		key, err := s.noiseKey(i, step)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		src := chacha.NewStream(key.Key, key.Nonce)
		for end := at + sum.Len(); at < end; at++ {
			to(i, int64(float64(s.noisy[at])+float64(s.noisy[d+at])), noise.Draw(src))
		}
	}
	return nil
}

// sensitivity is the clipper's own: all sums are exact, and rounding has been
// taken out of C.
func (s *secure) sensitivity() float64 { return s.statedSensitivity() }

func (s *secure) unit() float64 { return s.grid }

// gridNoise draws n numbers for a release of multiples of unit, a power of two,
// with noise of deviation std, as multiples of a much smaller one. Their sums
// with such multiples below 2⁴⁰ are exact.
func gridNoise(key privacy.Key, purpose privacy.Purpose, step int, std, unit float64, n int) ([]float64, error) {
	src := key.Stream(purpose, 0, uint64(step))
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

// checkReleased tests secure noise, which is never alone in memory: what was released less
// the sum, both in units of the grid.
func (s *secure) checkReleased(p Part, step int) {
	t := s.watch
	if t == nil {
		return
	}
	t.added++
	if !t.due(step) || !s.measurable() {
		return
	}
	size := func(i int) int { return min(plan.TestedNumbers, s.grads[i].Len()) }
	if t.spare.Memory == nil {
		t.spare = s.be.New(3 * plan.TestedNumbers)
	}
	for i, sum := range p.sums {
		n := size(i)
		high, low, z := t.spare.Slice(0, n), t.spare.Slice(n, n), t.spare.Slice(2*n, n)
		kernel.Split(s.be, n, sum, high, low)
		kernel.Copy(s.be, n, z, s.grads[i].Slice(0, n))
		kernel.Scale(s.be, n, float32(1/s.grid), z)
		kernel.Axpy(s.be, n, -1, high, z)
		kernel.Axpy(s.be, n, -1, low, z)
		kernel.RowNorms(s.be, 1, n, z, t.lengths.Slice(i, 1))
	}
	least, most := t.promised()
	t.expect(least/s.grid, most/s.grid*1.01, size)
}

// measurable reports whether what is released less the sum is the noise, in float32: noise is
// not below the grid, where whole numbers have another deviation, and rounding a released sum
// as large as there may be adds less than a hundredth to its variance.
func (s *secure) measurable() bool {
	least, _ := s.watch.promised()
	rows := float64(2 * s.terms.Likely())
	return least/s.grid >= max(1, 0x1p-21*s.sensitivity()/s.grid*rows)
}

// likeliest: no whole number is likelier than that.
func (s *secure) likeliest(std float64) float64 { return 0.5 * s.grid / std }
