package train

import (
	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// Part holds what some rows of a step add up to: sums of weighed gradients on the backend,
// the threshold rule's statistic, and a tally for the owner. Parts add: those of a batch's
// physical batches are added as they come, and a step releases one part, once. All of it is
// private until a mechanism has released it.
//
// # Guarantee
//
// The proof at [rounded] is about a part: one row moves the sums of a part by no more than
// the mechanism's sensitivity, and its statistic by no more than the query's.
type Part struct {
	sums      []compute.Sums // Σ f_i·g_i, by tensor
	all       compute.Sums   // all of these, where the backend has them side by side
	weights   []compute.Sums // further sums of a mechanism, of the factors; mostly none
	statistic []float64      // the rule's; nil without one
	tally     *tally
}

// newPart makes an empty part for a run, with further sums of one number each.
func newPart(w *workspace, weights int) Part {
	p := Part{tally: &tally{}}
	p.all, p.sums = w.be.NewSumsOf(w.lengths()...)
	for range weights {
		p.weights = append(p.weights, w.be.NewSums(1))
	}
	if w.query != nil {
		p.statistic = make([]float64, w.query.Len)
	}
	return p
}

// clear returns the part of no rows, with the same sums: the statistic and the tally of the step
// before may still be waited for.
func (p Part) clear(be compute.Backend) Part {
	for _, s := range p.weights {
		kernel.Clear(be, s)
	}
	p.clearSums(be)
	p.statistic, p.tally = make([]float64, len(p.statistic)), &tally{}
	return p
}

// runs returns the sums of all tensors as one where they stand side by side, and else one by one.
func (p Part) runs() []compute.Sums {
	if p.all.Memory != nil {
		return []compute.Sums{p.all}
	}
	return p.sums
}

func (p Part) clearSums(be compute.Backend) {
	for _, s := range p.runs() {
		kernel.Clear(be, s)
	}
}

// settleIn adds the sums to the gradient of all tensors and rounds once.
func (p Part) settleIn(be compute.Backend, gradient compute.Buffer) {
	for _, s := range p.runs() {
		kernel.Settle(be, s.Len(), s, gradient)
		gradient = gradient.Slice(s.Len(), gradient.Len()-s.Len())
	}
}

// count takes in the report of a physical batch whose gradients have been added.
func (p Part) count(v view, q *clip.Query) { p.tally.addBatch(v, q, p.statistic) }

// addPart adds another part of the same step, of other rows.
//
// Guarantee: sums of whole numbers below 2⁴⁸, as secure noise has them, are added exactly;
// others to 48 digits.
func (p Part) addPart(be *compute.Scope, o Part) {
	for i, to := range [][]compute.Sums{p.runs(), p.weights} {
		for j, from := range [][]compute.Sums{o.runs(), o.weights}[i] {
			n := from.Len()
			halves := be.New(2 * n)
			high, low := halves.Slice(0, n), halves.Slice(n, n)
			kernel.Split(be, n, from, high, low)
			kernel.AddScaled(be, n, 1, high, to[j])
			kernel.AddScaled(be, n, 1, low, to[j])
			be.Free(halves)
		}
	}
	for i, x := range o.statistic {
		p.statistic[i] += x
	}
	p.tally.join(o.tally)
}
