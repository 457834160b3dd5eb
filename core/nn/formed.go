package nn

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// formed is the site of gradients that are simply there: example i's is row i of g.
//
// Guarantee: what is measured is what is added. Norms are those of g as it was
// computed, roundings included, and what an example adds is that row times its
// factor, rounded once.
type formed struct {
	be compute.Backend
	p  compute.Buffer // [d]

	n int
	g compute.Buffer // [n×d], of the last pass; not owned

	norm compute.Buffer // [capacity]
	zero compute.Buffer // [capacity]
	one  compute.Buffer // ones [capacity×1]
	gg   scratch
}

func newFormed(be compute.Backend, from *arena, d, capacity int) *formed {
	return &formed{
		be: be, p: from.take(d), norm: be.New(capacity), zero: be.New(capacity),
		one: ones(be, capacity), gg: scratch{be: be},
	}
}

func (s *formed) Params() []compute.Buffer { return []compute.Buffer{s.p} }

func (s *formed) Norms(dst compute.Buffer) {
	kernel.RowNorms(s.be, s.n, s.p.Len(), s.g, s.norm)
	kernel.JoinNorms(s.be, s.n, s.zero, s.norm, dst)
}

func (s *formed) Add(dst []compute.Sums, factors compute.Buffer, each kernel.Each) {
	if factors.Memory == nil {
		factors = s.one
	} else {
		kernel.DropRows(s.be, s.n, s.p.Len(), factors, s.g)
	}
	kernel.AddOuter(s.be, s.n, 1, s.p.Len(), each, factors, s.g, dst[0])
}

// ScaledSqNorms is as that of outer, with an input of 1 and no bias: the same
// bounds hold with fewer roundings.
func (s *formed) ScaledSqNorms(dst compute.Buffer, c Coordinates) {
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
	lost := underflows(terms, 1, d, c.Largest)
	kernel.RowNorms(be, n, d, s.g, s.norm)
	kernel.Mul(be, n, s.norm, s.norm, s.norm)
	kernel.Axpy(be, n, float32(lost), s.norm, dst)
	kernel.Fill(be, n, float32(3*lost), s.norm)
	kernel.AddRow(be, n, 1, c.Offsets, s.norm)
	kernel.Axpy(be, n, 1+float32(slack), s.norm, dst)
}

func (s *formed) Dots(dst compute.Buffer, v []compute.Buffer) {
	kernel.Gemm(s.be, kernel.NoTrans, kernel.NoTrans, s.n, 1, s.p.Len(), s.g, v[0], 1, dst)
}
