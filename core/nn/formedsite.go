package nn

import (
	"math/bits"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// formedSite is the site of gradients that are simply there: example i's is row i of g.
// Of several views of an example it is the sum of theirs, which are gathered one
// after the other: rows are passed with all first views before all second ones.
//
// Guarantee: what is measured is what is added. Norms are those of g as it was
// computed, roundings included, and what an example adds is that row times its
// factor, rounded once. Where gradients are not kept, each question has them formed anew
// by the same calls of the same kernels on the same values, for the same rows at a time, and a
// kernel's result depends on nothing else: they are the same to the bit.
type formedSite struct {
	be       compute.Backend
	views    *views
	capacity int
	p        compute.Buffer // [d]

	rows int            // views of the last pass
	n    int            // examples
	g    compute.Buffer // [capacity×d], of the last pass; none where gradients are formed anew

	anew   *anew                         // nil: they are kept
	form   formation                     // of the last pass
	change func(n int, g compute.Buffer) // of gradients once they are formed; nil: none

	norm compute.Buffer // [capacity]
	one  compute.Buffer // ones [capacity×1]
	gg   scratch
}

// formation writes the gradients of n rows, the first of which is row from, to dst [n×d].
type formation func(from, n int, dst compute.Buffer)

// anew is the memory of gradients that are not kept, which sites share, for so many values and at
// least a row at a time. It is made in one piece, and never grows: what it left behind might be of no use to others.
type anew struct {
	values int64 // 0: all are kept
	most   int   // values that the largest site forms at a time
	g, gg  scratch
	row    scratch // of Gram
}

// formsAnew reports whether gradients of d values are formed anew where so many values are there for these: of
// less, thousands of rows take no more than that.
func formsAnew(values int64, d int) bool { return int64(d) > values>>12 && values > 0 }

// together returns the number of rows whose gradients of d values are formed at a time. It divides
// the rows of a block of sums, or is a multiple of them: so the pieces in which
// one layer's rows are added up are parts of those of another.
func together(values int64, d int) int {
	n := int(min(values/int64(d), 1<<30))
	if n >= compute.BlockRows {
		return n - n%compute.BlockRows
	}
	return 1 << max(bits.Len(uint(n))-1, 0)
}

// newFormedSite makes the site of d parameters, with memory for their gradients, or with memory that it shares.
func newFormedSite(b *builder, d int, shared *anew) *formedSite {
	s := &formedSite{
		be: b.be, views: b.views, capacity: b.capacity, p: b.from.take(d), anew: shared,
		norm: b.examples(1), one: ones(b.be, b.capacity), gg: scratch{be: b.be},
	}
	if shared == nil {
		s.g = b.examples(d)
	}
	return s
}

// gather forms g from the rows of the last pass, or notes how it is formed: what form reads has to stay
// until the next one.
func (s *formedSite) gather(form formation) {
	s.n = s.rows / s.views.count
	if s.form = form; s.anew == nil {
		s.formRows(0, s.n, s.g)
	}
}

// formRows forms the gradients of n examples.
func (s *formedSite) formRows(from, n int, g compute.Buffer) {
	s.form(from, n, g)
	size := n * s.p.Len()
	for v := 1; v < s.views.count; v++ {
		one := s.views.spare.of(size)
		s.form(v*s.n+from, n, one)
		kernel.Axpy(s.be, size, 1, one, g)
	}
	if s.change != nil {
		s.change(n, g)
	}
}

// eachPart calls f with the gradients of some examples after others, the first of which is example from.
func (s *formedSite) eachPart(f func(from, n int, g compute.Buffer)) {
	if s.anew == nil {
		f(0, s.n, s.g)
		return
	}
	d := s.p.Len()
	some := min(together(s.anew.values, d), s.capacity)
	for from := 0; from < s.n; from += some {
		n, g := min(some, s.n-from), s.anew.g.of(s.anew.most)
		s.formRows(from, n, g)
		f(from, n, g)
	}
}

func (s *formedSite) Params() []compute.Buffer { return []compute.Buffer{s.p} }

func (s *formedSite) Norms(dst compute.Buffer) {
	s.eachPart(func(from, n int, g compute.Buffer) {
		kernel.JoinRowNorms(s.be, n, s.p.Len(), g, dst.Slice(from, n))
	})
}

func (s *formedSite) Add(dst []compute.Sums, factors compute.Buffer, each kernel.Each) {
	d := s.p.Len()
	s.eachPart(func(from, n int, g compute.Buffer) {
		some := s.one
		if factors.Memory != nil {
			some = factors.Slice(from, n)
			kernel.DropRows(s.be, n, d, some, g)
		}
		kernel.AddOuter(s.be, n, 1, d, each, some, g, dst[0])
	})
}

// ScaledSqNorms is like that of [outerSite], with an input of 1 and no bias: the same
// bounds hold with fewer roundings.
func (s *formedSite) ScaledSqNorms(dst compute.Buffer, c Coordinates) {
	be, d := s.be, s.p.Len()
	slack := 2 * gamma(d+33)
	s.eachPart(func(from, n int, g compute.Buffer) {
		gg, to := s.squares(n), dst.Slice(from, n)
		kernel.Mul(be, n*d, gg, g, g)
		kernel.Scale(be, n*d, 1+float32(slack), gg)
		kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, n, 1, d, gg, c.Inv[0], 1, to)
		kernel.Copy(be, n*d, gg, g)
		kernel.Scale(be, n*d, -2, gg)
		kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, n, 1, d, gg, c.Lin[0], 1, to)
		const terms = 4
		addLost(be, n, d, g, s.norm, c, terms, slack, to)
	})
}

// squares is memory for as many values as the gradients of n examples have.
func (s *formedSite) squares(n int) compute.Buffer {
	if s.anew != nil {
		return s.anew.gg.of(s.anew.most)
	}
	return s.gg.of(n * s.p.Len())
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
	s.eachPart(func(from, n int, g compute.Buffer) {
		kernel.Gemm(s.be, kernel.NoTrans, kernel.NoTrans, n, 1, s.p.Len(), g, v[0], 1, dst.Slice(from, n))
	})
}

// Gram has all gradients of a part times one after the other, where they are not all there at once.
func (s *formedSite) Gram(dst compute.Buffer) {
	be, d := s.be, s.p.Len()
	s.eachPart(func(from, n int, g compute.Buffer) {
		if n == s.n {
			kernel.Gemm(be, kernel.NoTrans, kernel.Transpose, n, n, d, g, g, 1, dst)
			return
		}
		for i := range s.n {
			one, column := s.anew.row.of(d), dst.Slice(from*s.n+i, (n-1)*s.n+1)
			s.formRows(i, 1, one)
			kernel.Columns(be, n, 1, s.n, column, 1, s.norm)
			kernel.Gemm(be, kernel.NoTrans, kernel.Transpose, n, 1, d, g, one, 1, s.norm)
			kernel.Columns(be, n, 1, 1, s.norm, s.n, column)
		}
	})
}
