package train

import (
	"clipscope/core/clip"
	"clipscope/core/compute/kernel"
	"clipscope/core/nn"
)

// normSource provides the norms of gradients, and so settles the order in which a
// physical batch goes through the model.
type normSource interface {
	// prepareStep is called once a step, before its batch.
	prepareStep()
	// pass goes back through the model and measures, as far as no threshold is needed for it.
	pass(n int)
	// take adds the weighed gradients of the n rows just passed to the sum, and says whether
	// their report has norms and factors.
	take(n int) (weighed bool)
}

func newSource(c *clipping) (normSource, error) {
	switch {
	case c.clipper.NonPrivate:
		return free{c}, nil
	case c.clipper.Source == clip.Bounded:
		bounds, err := nn.NewBounds(c.model, nn.Growth(c.clipper.Growth))
		if err != nil {
			return nil, c.terms.Unbounded(err)
		}
		return bounded{c, bounds}, nil
	default:
		return exact{c}, nil
	}
}

// free is the baseline that bounds nothing.
type free struct{ *clipping }

func (free) prepareStep() {}

func (s free) pass(int) { s.model.Backward() }

func (s free) take(n int) bool {
	s.teacher.teach(n, false)
	s.model.Add(s.part.sums, nil, kernel.Plain())
	return false
}

// exact measures the gradients and then weighs their sum: two passes over the
// layers' memory, one backward pass.
type exact struct{ *clipping }

func (exact) prepareStep() {}

func (s exact) pass(n int) {
	s.model.Backward()
	s.mech.norms(n, s.report.norms)
}

func (s exact) take(n int) bool {
	s.weigh(n)
	s.teacher.teach(n, true)
	s.addWeighed(n)
	return true
}

// bounded weighs the losses by bounds known before the backward pass (value
// clipping).
type bounded struct {
	*clipping
	bounds *nn.Bounds
}

func (s bounded) prepareStep() { s.bounds.Refresh() }

func (s bounded) pass(int) {}

func (s bounded) take(n int) bool {
	s.bounds.Norms(n, s.report.losses, s.report.norms[0])
	s.weigh(n)
	if s.teacher.teaching() { // the true gradient needs a backward pass of its own here
		s.model.Backward()
		s.teacher.teach(n, false)
	}
	s.model.WeighLosses(s.factors[0])
	s.model.Backward()
	kernel.Copy(s.be, n, s.factors[0], s.report.keep) // the losses carry the factors
	s.addWeighed(n)
	return true
}
