package train

import (
	"clipscope/core/clip"
	"clipscope/core/compute/kernel"
	"clipscope/core/nn"
)

// A source is where the norms of gradients come from, and so in what order a
// physical batch goes through the model.
type source interface {
	// begin is called once a step, before its batch.
	begin()
	// take adds the weighed gradients of the n rows just passed forward to the
	// sum, and says whether their report has norms and factors.
	take(n int) (weighed bool)
}

func (r *Run) newSource() (source, error) {
	switch {
	case r.clipper.NonPrivate:
		return free{r}, nil
	case r.clipper.Source == clip.Bounded:
		bounds, err := nn.NewBounds(r.model, r.clipper.Tight)
		if err != nil {
			return nil, r.unbounded(err)
		}
		return bounded{r, bounds}, nil
	default:
		return exact{r}, nil
	}
}

// free is the baseline that bounds nothing.
type free struct{ r *Run }

func (free) begin() {}

func (s free) take(n int) bool {
	s.r.model.Backward()
	s.r.teach(n, false)
	s.r.model.Add(s.r.sums, nil, kernel.Plain())
	return false
}

// exact measures the gradients and then weighs their sum: two passes over the
// layers' memory, one backward pass.
type exact struct{ r *Run }

func (exact) begin() {}

func (s exact) take(n int) bool {
	s.r.model.Backward()
	s.r.mech.norms(n, s.r.report.norms)
	s.r.weigh(n)
	s.r.teach(n, true)
	s.r.mech.add(n, s.r.factors, s.r.report.keep)
	return true
}

// bounded weighs the losses by bounds known before the backward pass (value
// clipping).
type bounded struct {
	r      *Run
	bounds *nn.Bounds
}

func (s bounded) begin() { s.bounds.Refresh() }

func (s bounded) take(n int) bool {
	s.bounds.Norms(n, s.r.report.losses, s.r.report.norms[0])
	s.r.weigh(n)
	if s.r.teaching() { // the true gradient needs a backward pass of its own here
		s.r.model.Backward()
		s.r.teach(n, false)
	}
	s.r.model.WeighLosses(s.r.factors[0])
	s.r.model.Backward()
	kernel.Copy(s.r.be, n, s.r.factors[0], s.r.report.keep) // the losses carry the factors
	s.r.mech.add(n, s.r.factors, s.r.report.keep)
	return true
}

// weigh turns the norms of n rows into factors. Examples whose gradient or loss is
// not finite get factor 0.
//
// Guarantee: example i's factor depends on its own norms and on C alone.
func (r *Run) weigh(n int) {
	p := r.report
	kernel.Fill(r.be, n, 1, p.keep)
	kernel.Finite(r.be, n, p.losses, p.keep)
	for _, u := range p.norms {
		kernel.Finite(r.be, n, u, p.keep)
	}
	for g, u := range p.norms {
		kernel.Weigh(r.be, n, r.limit, u, p.keep, r.weights.buffer, p.factors[g])
		kernel.Copy(r.be, n, r.factors[g], p.factors[g])
	}
}
