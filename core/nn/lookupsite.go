package nn

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/sequence"
)

// lookupSite is the site of a table [v×d] of which an example uses the rows of its t tokens:
// of its gradient all other rows are 0, so that the rows of its tokens are all that is kept, g
// [n×t×d] as [sequence.TokenGrad] forms it. An example has one view, as views are of pictures.
//
// Guarantee: what is measured is what is added. Norms are those of g as it was computed,
// roundings included; a row of the table stands in g once for each example, and what an example
// adds to it is that row times its factor, rounded once.
type lookupSite struct {
	be      compute.Backend
	v, t, d int
	p       compute.Buffer // [v×d]

	n int
	x compute.Buffer // tokens of the last pass [n×t]; not owned
	g compute.Buffer // [capacity×t×d]

	norm, zero, one compute.Buffer // [capacity]
	column          compute.Buffer // ones [t×d]
	looked          scratch        // [n×t×d]
}

func newLookupSite(b *builder, v, t, d int) *lookupSite {
	return &lookupSite{
		be: b.be, v: v, t: t, d: d, p: b.from.take(v * d),
		g: b.examples(t * d), norm: b.examples(1), zero: b.examples(1), one: ones(b.be, b.capacity), column: ones(b.be, t*d), looked: scratch{be: b.be},
	}
}

// gather forms g from the gradient dy [n×t×d] by the vectors of the tokens.
func (s *lookupSite) gather(dy compute.Buffer) {
	sequence.TokenGrad(s.be, s.n, s.t, s.v, s.d, s.x, dy, s.g)
}

func (s *lookupSite) Params() []compute.Buffer { return []compute.Buffer{s.p} }

func (s *lookupSite) Norms(dst compute.Buffer) {
	kernel.RowNorms(s.be, s.n, s.t*s.d, s.g, s.norm)
	kernel.JoinNorms(s.be, s.n, s.zero, s.norm, dst)
}

func (s *lookupSite) Add(dst []compute.Sums, factors compute.Buffer, each kernel.Each) {
	if factors.Memory == nil {
		factors = s.one
	}
	sequence.AddTokens(s.be, s.n, s.t, s.v, s.d, each, s.x, factors, s.g, dst[0])
}

// ScaledSqNorms is like that of [formedSite], with the coordinates of a row's tokens. Where g is
// 0 since the token stood before, the terms are 0 as well.
func (s *lookupSite) ScaledSqNorms(dst compute.Buffer, c Coordinates) {
	be, n, d := s.be, s.n, s.t*s.d
	slack := 2 * gamma(d+33)
	at := s.products(c.Inv[0])
	kernel.Mul(be, n*d, at, at, s.g)
	kernel.Scale(be, n*d, 1+float32(slack), at)
	kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, n, 1, d, at, s.column, 1, dst)
	at = s.products(c.Lin[0])
	kernel.Scale(be, n*d, -2, at)
	kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, n, 1, d, at, s.column, 1, dst)
	const terms = 6 // two more products than there, whose factors are at most the greatest
	addLost(be, n, d, s.g, s.norm, c, terms, slack, dst)
}

// products returns g [n×t×d] times the rows that the tokens of the last pass have in a table.
func (s *lookupSite) products(table compute.Buffer) compute.Buffer {
	size := s.n * s.t * s.d
	at := s.looked.of(size)
	sequence.Embed(s.be, s.n*s.t, s.v, s.d, s.x, table, at)
	kernel.Mul(s.be, size, at, at, s.g)
	return at
}

func (s *lookupSite) Dots(dst compute.Buffer, v []compute.Buffer) {
	kernel.Gemm(s.be, kernel.NoTrans, kernel.NoTrans, s.n, 1, s.t*s.d, s.products(v[0]), s.column, 1, dst)
}

func (s *lookupSite) Gram(dst compute.Buffer) {
	sequence.TokenGram(s.be, s.n, s.t, s.v, s.d, s.x, s.g, dst)
}
