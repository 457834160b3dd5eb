package train

import (
	"context"
	"fmt"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/plan"
)

// gaussian is the usual mechanism: gradients scaled as a whole, and noise in
// floating point.
type gaussian struct {
	*workspace
	drawn drawnNoise // what is in the gradient's memory
}

// drawnNoise is noise that nothing has been added to yet: whose step's, and its deviation.
type drawnNoise struct {
	yes  bool
	step int
	std  float32
}

func init() {
	register(kind{name: "gaussian", plain: true, counts: scaled, open: func(w *workspace) mechanism { return newGaussian(w) },
		fits: func(c *clip.Clipper, n plan.Noise) bool {
			return c.Geometry == nil && !c.Coordinates && !n.Discrete()
		}})
}

func newGaussian(w *workspace) *gaussian { return &gaussian{workspace: w} }

func (g *gaussian) begin() {}

func (g *gaussian) norms(n int, dst []compute.Buffer) {
	for _, b := range dst {
		kernel.Fill(g.be, n, 0, b)
	}
	g.model.Norms(dst)
}

func (g *gaussian) limits() []kernel.Limit { return g.limitsOf(1, kernel.GreatestFactor) }

// limitsOf keeps gradients to a part of the thresholds, and factors to at most so much.
func (w *workspace) limitsOf(part float64, most float32) []kernel.Limit {
	var all []kernel.Limit
	for _, c := range w.clipper.GroupThresholds(len(w.report.norms)) {
		all = append(all, kernel.Limit{C: below(c * part), Most: most})
	}
	return all
}

func (g *gaussian) addGradients(p Part, _ int, factors []compute.Buffer, _ compute.Buffer) {
	g.model.Add(p.sums, factors, kernel.Plain())
}

// release adds Gaussian noise once for each step, however many physical batches
// there were.
//
// Guarantee: the standard deviation is at least σ_T times the sensitivity of the
// computed sum, every tensor and step draws from a stream of its own, and what is
// released is one rounding of the computed sum plus noise: a function of that
// number, so post-processing. That the noise ends is charged to δ (core/plan); what
// its own rounding tells is not covered.
func (g *gaussian) release(_ context.Context, p Part, step int) error {
	return g.addNoise(p, step, g.sensitivity(), nil)
}

// addNoise leaves the sum with noise for that sensitivity in the gradient. stretch,
// where it is not nil, changes a tensor's noise before it is added.
func (g *gaussian) addNoise(p Part, step int, sensitivity float64, stretch func(tensor int)) error {
	if err := g.draw(step, sensitivity); err != nil {
		return err
	}
	g.drawn.yes = false
	g.watch.checkDrawn(step, g.grads)
	for i := range g.grads {
		if stretch != nil {
			stretch(i)
		}
	}
	p.settleIn(g.be, g.gradient)
	return nil
}

// draw draws a step's noise for that sensitivity into the gradient, unless it
// is there. The largest tensor's is the last, as others may still be at it afterwards.
func (g *gaussian) draw(step int, sensitivity float64) error {
	std := 0.0
	if g.terms.NoiseMultiplier > 0 {
		std = g.terms.GradNoise * sensitivity
	}
	want := drawnNoise{true, step, above(std)}
	if g.drawn == want {
		return nil
	}
	for _, i := range g.drawing {
		key, err := g.noiseKey(i, step)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		dst := g.grads[i]
		kernel.Noise(g.be, dst.Len(), want.std, key, dst)
	}
	g.drawn = want
	return nil
}

func (g *gaussian) ahead(step int) { _ = g.draw(step, g.sensitivity()) }

func (g *gaussian) unnoised(p Part) {
	kernel.Fill(g.be, g.gradient.Len(), 0, g.gradient)
	p.settleIn(g.be, g.gradient)
}

func (g *gaussian) mean() {}

func (g *gaussian) state() []compute.Buffer { return nil }

func (g *gaussian) restored() {}

func (g *gaussian) sensitivity() float64 { return rounded(g.workspace, 1) }

func (g *gaussian) spread(context.Context) (float64, error) {
	return float64(g.terms.Spec.Params()), nil
}

func (g *gaussian) unit() float64 { return 1 }

func (g *gaussian) narrowest(std float64) float64 { return std }

func (g *gaussian) likeliest(float64) float64 { return 0 }
