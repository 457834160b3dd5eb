package train

import (
	"context"
	"fmt"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// A mechanism is how the gradients of a step are measured, bounded, summed and
// noised. There is one file for each, and [Run.mechanism] picks.
type mechanism interface {
	// begin makes ready for the sum of a step.
	begin()
	// norms writes upper bounds on the norms that factors are made from, of n rows,
	// to dst: all parameters in one or each group in its own.
	norms(n int, dst []compute.Buffer)
	// limit bounds the factors of a step.
	limit() kernel.Limit
	// add adds the weighed gradients of n rows to the sum. keep is 0 for examples
	// that are refused and 1 for the others; all factors of the former are 0.
	add(n int, factors []compute.Buffer, keep compute.Buffer)
	// ahead draws the noise of the step to come where nothing more has to be known for
	// it: threads that have nothing to do meanwhile draw it while rows are fetched. What
	// fails here fails again in release.
	ahead()
	// release adds the step's noise to the sum and leaves the outcome in the
	// gradient.
	release(ctx context.Context) error
	// unnoised leaves the sum without noise in the gradient, in the coordinates in which
	// sensitivity bounds a row: only of rows that are made up.
	unnoised()
	// mean turns the released mean, in the coordinates it was noised in, into a
	// gradient, and learns from it.
	mean()
	// state is what steps change of it, on the backend, and restored says that it has
	// been written anew.
	state() []compute.Buffer
	restored()
	// sensitivity is the most, in L2 norm, that one row moves the computed sum.
	sensitivity() float64
	// spread is the expected squared norm of the noise on the sum, of deviation 1
	// in the coordinates that are clipped.
	spread(context.Context) (float64, error)
	// unit is what the sum is in multiples of; 1 for plain numbers.
	unit() float64
}

// mechanism picks one.
func (r *Run) mechanism() mechanism {
	g := &gaussian{r: r}
	switch {
	case r.clipper.Geometry != nil:
		return newAdaClip(g)
	case r.clipper.Coordinates:
		return &clamped{g}
	case r.cfg.NoiseMode == "secure":
		return newSecure(g)
	default:
		return g
	}
}

// gaussian is the usual mechanism: gradients scaled as a whole, and noise in
// floating point.
type gaussian struct {
	r     *Run
	drawn drawnNoise // what is in the gradient's memory
}

// drawnNoise is noise that nothing has been added to yet: whose step's, and its deviation.
type drawnNoise struct {
	yes  bool
	step int
	std  float32
}

func (g *gaussian) begin() {
	for _, s := range g.r.sums {
		kernel.Clear(g.r.be, s)
	}
}

func (g *gaussian) norms(n int, dst []compute.Buffer) {
	for _, b := range dst {
		kernel.Fill(g.r.be, n, 0, b)
	}
	g.r.model.Norms(dst)
}

func (g *gaussian) limit() kernel.Limit {
	return kernel.Limit{C: below(g.r.clipper.GroupThreshold(len(g.r.report.norms))), Most: kernel.GreatestFactor}
}

func (g *gaussian) add(_ int, factors []compute.Buffer, _ compute.Buffer) {
	g.r.model.Add(g.r.sums, factors, kernel.Plain())
}

// release adds Gaussian noise once for each step, however many physical batches
// there were.
//
// Guarantee: the standard deviation is at least σ_T times the sensitivity of the
// computed sum, every tensor and step draws from a stream of its own, and what is
// released is one rounding of the computed sum plus noise: a function of that
// number, so post-processing. That the noise ends is charged to δ ([Plan.checkEnd]); what
// its own rounding tells is not covered.
func (g *gaussian) release(context.Context) error {
	return g.addNoise(g.sensitivity(), nil)
}

// addNoise leaves the sum with noise for that sensitivity in the gradient. stretch,
// where it is not nil, changes a tensor's noise before it is added.
func (g *gaussian) addNoise(sensitivity float64, stretch func(tensor int)) error {
	if err := g.draw(sensitivity); err != nil {
		return err
	}
	g.drawn.yes = false
	g.r.checkDrawn()
	for i, dst := range g.r.grads {
		if stretch != nil {
			stretch(i)
		}
		kernel.Settle(g.r.be, dst.Len(), g.r.sums[i], dst)
	}
	return nil
}

// draw draws the present step's noise for that sensitivity into the gradient, unless it
// is there. The largest tensor's is the last, as others may still be at it afterwards.
func (g *gaussian) draw(sensitivity float64) error {
	std := 0.0
	if g.r.sigma > 0 {
		std = g.r.gradNoise * sensitivity
	}
	want := drawnNoise{true, g.r.done, above(std)}
	if g.drawn == want {
		return nil
	}
	for _, i := range g.r.bySize {
		key, err := g.r.noiseKey(i)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		dst := g.r.grads[i]
		kernel.Noise(g.r.be, dst.Len(), want.std, key, dst)
	}
	g.drawn = want
	return nil
}

func (g *gaussian) ahead() { _ = g.draw(g.sensitivity()) }

func (g *gaussian) unnoised() {
	kernel.Fill(g.r.be, g.r.gradient.Len(), 0, g.r.gradient)
	for i, dst := range g.r.grads {
		kernel.Settle(g.r.be, dst.Len(), g.r.sums[i], dst)
	}
}

func (g *gaussian) mean() {}

func (g *gaussian) state() []compute.Buffer { return nil }

func (g *gaussian) restored() {}

func (g *gaussian) sensitivity() float64 { return g.r.rounded(1) }

func (g *gaussian) spread(context.Context) (float64, error) { return float64(g.r.spec.Params()), nil }

func (g *gaussian) unit() float64 { return 1 }
