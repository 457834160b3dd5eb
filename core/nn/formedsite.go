package nn

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// formedSite is the site of gradients that are simply there: example i's is row i of g.
// Of several views of an example it is the sum of theirs, which are gathered one
// after the other: rows are passed with all first views before all second ones.
//
// Guarantee: what is measured is what is added. Norms are those of g as it was
// computed, roundings included, and what an example adds is that row times its
// factor, rounded once.
type formedSite struct {
	be    compute.Backend
	views *views
	p     compute.Buffer // [d]

	rows int            // views of the last pass
	n    int            // examples
	g    compute.Buffer // [capacity×d], of the last pass

	norm compute.Buffer // [capacity]
	zero compute.Buffer // [capacity]
	one  compute.Buffer // ones [capacity×1]
	gg   scratch
}

// newFormedSite makes the site of d parameters, with memory for their gradients.
func newFormedSite(b *builder, d int) *formedSite {
	return &formedSite{
		be: b.be, views: b.views, p: b.from.take(d),
		g: b.examples(d), norm: b.examples(1), zero: b.examples(1), one: ones(b.be, b.capacity), gg: scratch{be: b.be},
	}
}

// gather forms g from the rows of the last pass: form writes the gradients of n
// rows, the first of which is row from, to dst [n×d].
func (s *formedSite) gather(form func(from, n int, dst compute.Buffer)) {
	s.n = s.rows / s.views.count
	form(0, s.n, s.g)
	size := s.n * s.p.Len()
	for v := 1; v < s.views.count; v++ {
		one := s.views.spare.of(size)
		form(v*s.n, s.n, one)
		kernel.Axpy(s.be, size, 1, one, s.g)
	}
}

func (s *formedSite) Params() []compute.Buffer { return []compute.Buffer{s.p} }

func (s *formedSite) Norms(dst compute.Buffer) {
	kernel.RowNorms(s.be, s.n, s.p.Len(), s.g, s.norm)
	kernel.JoinNorms(s.be, s.n, s.zero, s.norm, dst)
}

func (s *formedSite) Add(dst []compute.Sums, factors compute.Buffer, each kernel.Each) {
	if factors.Memory == nil {
		factors = s.one
	} else {
		kernel.DropRows(s.be, s.n, s.p.Len(), factors, s.g)
	}
	kernel.AddOuter(s.be, s.n, 1, s.p.Len(), each, factors, s.g, dst[0])
}

// ScaledSqNorms is like that of [outerSite], with an input of 1 and no bias: the same
// bounds hold with fewer roundings.
func (s *formedSite) ScaledSqNorms(dst compute.Buffer, c Coordinates) {
	be, n, d := s.be, s.n, s.p.Len()
	slack := 2 * gamma(d+33)
	gg := s.gg.of(n * d)
	kernel.Mul(be, n*d, gg, s.g, s.g)
	kernel.Scale(be, n*d, 1+float32(slack), gg)
	kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, n, 1, d, gg, c.Inv[0], 1, dst)
	kernel.Copy(be, n*d, gg, s.g)
	kernel.Scale(be, n*d, -2, gg)
	kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, n, 1, d, gg, c.Lin[0], 1, dst)
	const terms = 4
	addLost(be, n, d, s.g, s.norm, c, terms, slack, dst)
}

// addLost adds to the scaled squared norms dst [n] of gradients g [n×d] what underflow may have
// taken from so many terms of each, and the part that is the same for all. spare [n] is written.
func addLost(be compute.Backend, n, d int, g, spare compute.Buffer, c Coordinates, terms int, slack float64, dst compute.Buffer) {
	lost := underflows(terms, 1, d, c.Largest)
	kernel.RowNorms(be, n, d, g, spare)
	kernel.Mul(be, n, spare, spare, spare)
	kernel.Axpy(be, n, float32(lost), spare, dst)
	kernel.Fill(be, n, float32(3*lost), spare)
	kernel.AddRow(be, n, 1, c.Offsets, spare)
	kernel.Axpy(be, n, 1+float32(slack), spare, dst)
}

func (s *formedSite) Dots(dst compute.Buffer, v []compute.Buffer) {
	kernel.Gemm(s.be, kernel.NoTrans, kernel.NoTrans, s.n, 1, s.p.Len(), s.g, v[0], 1, dst)
}

func (s *formedSite) Gram(dst compute.Buffer) {
	kernel.Gemm(s.be, kernel.NoTrans, kernel.Transpose, s.n, s.n, s.p.Len(), s.g, s.g, 1, dst)
}
