package computetest

import (
	"fmt"
	"math"
)

// value is the expected result of a kernel in float64, and the distance that a float32 one
// may be from it.
type value struct {
	v     float64
	tol   float64
	exact bool
	any   bool // float32 may overflow on the way; a bound stays one
	orNaN bool // it may be NaN instead
	// Of a norm: what must be NaN may be +Inf instead, as either is refused; with
	// refuse it must be one of them.
	bound, refuse bool
}

func (w value) String() string {
	return fmt.Sprintf("%v ± %.2g", w.v, w.tol)
}

// accepts applies the tolerance rule of the package comment. All NaNs are
// equal, but 0 and −0 differ only where the result must be exact.
func (w value) accepts(got float32) bool { return w.accepts64(float64(got)) }

func (w value) accepts64(g float64) bool {
	refused := math.IsNaN(g) || math.IsInf(g, 1)
	switch {
	case w.orNaN && math.IsNaN(g):
		return true
	case w.refuse:
		return refused
	case w.bound && (math.IsNaN(w.v) || math.IsInf(w.v, 1)):
		return refused
	case w.any:
		return !w.bound || refused || g >= w.v-w.tol
	case math.IsNaN(w.v):
		return math.IsNaN(g)
	case w.exact:
		return g == w.v
	case math.IsInf(w.v, 0):
		return g == w.v
	}
	return math.Abs(g-w.v) <= w.tol
}

func exactly(v float32) value { return value{v: float64(v), exact: true} }

// sum adds up a result with what its tolerance depends on.
type sum struct {
	s, abs float64
	finite float64 // of abs
	n      int
	high   bool
}

// function is the number of roundings that a call of exp, log, tanh … counts as.
const function = 16

// addTerms adds the terms to the result.
func (s *sum) addTerms(terms ...float64) {
	for _, t := range terms {
		s.s += t
		s.abs += math.Abs(t)
		if !math.IsInf(t, 0) && !math.IsNaN(t) {
			s.finite += math.Abs(t)
		}
		s.n++
	}
}

// add32 adds float32 terms.
func (s *sum) add32(terms ...float32) {
	for _, t := range terms {
		s.addTerms(float64(t))
	}
}

// via notes a partial result, which may overflow.
func (s *sum) via(partial float64) {
	if a := math.Abs(partial); a >= 0x1p127 && !math.IsInf(a, 1) {
		s.high = true
	}
}

// value is the result, where its terms took extra roundings beside the sum.
func (s *sum) value(extra int) value { return s.of(s.s, extra) }

// of is a result v whose error is that of the sum.
func (s *sum) of(v float64, extra int) value {
	s.via(s.finite)
	return value{v: v, tol: float64(s.n+extra) * (0x1p-24*s.abs + 0x1p-126), any: s.high}
}
