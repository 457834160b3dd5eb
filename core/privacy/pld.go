package privacy

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
)

// A side is one of the two ways in which neighbours differ. The mechanism's
// output has distribution P on the data set asked about and Q on its neighbour.
type side int

const (
	remove side = iota // P saw the example: P = (1−q)·N(0,σ²)+q·N(1,σ²), Q = N(0,σ²)
	add                // the other way round
)

// A bound says on which side of the truth a figure is.
type bound int

const (
	upper bound = iota
	lower
)

// A loss is a privacy loss distribution on the grid {i·h}: mass p[j] at loss
// (first+j)·h and inf at +∞.
type loss struct {
	first int
	p     []float64
	inf   float64
}

// discretize puts one release's privacy loss ln(P/Q) on a grid of step h. The
// mass between two grid points is divided between them so that both its P and
// its Q mass stay what they are: the piecewise linear interpolation of δ over
// e^ε ("connect the dots", Doroshenko et al. 2022), the tightest upper bound on
// that grid. Outputs beyond ±reach·σ are cut: those of high loss count as
// infinite, those of low loss are rounded up to the lowest grid point.
//
// Guarantee: the result dominates the true distribution. Bin masses are
// differences of normal tails; each is raised by a bound on its rounding error.
//
// Likewise what lies far above the window, or far below the rest, so that the
// grid stays short.
func discretize(t term, s side, w window) loss {
	lo, hi := t.span(s, w)
	n := hi - lo + 1
	l := loss{first: lo, p: make([]float64, n)}
	place := func(i int) *float64 { return &l.p[i] } // for the i-th point of the remove side's grid
	if s == add {
		place = func(i int) *float64 { return &l.p[n-1-i] }
		l.first = -hi
	}
	ch := -math.Expm1(-w.h)
	var near tangent
	point := func(i int) edge { return edgeAt(t, t.lossPoint(float64(lo+i)*w.h, &near)) }
	low := point(0)
	below := massBetween(t, edgeAt(t, math.Inf(-1)), low)
	for i := range n - 1 {
		high := point(i + 1)
		m := massBetween(t, low, high)
		low = high
		// The bin's P and Q mass, its lower loss, and where its upper and
		// lower losses are.
		p, q, x := m.mix+m.mixErr, m.zero-m.zeroErr, float64(lo+i)*w.h
		above, under := place(i+1), place(i)
		if s == add {
			p, q, x = m.zero+m.zeroErr, m.mix-m.mixErr, -x-w.h
			above, under = under, above
		}
		up := min(p, max(0, p-exp(min(x, 700))*max(0, q))/ch)
		*above += up
		*under += p - up
	}
	above := massBetween(t, low, edgeAt(t, math.Inf(1)))
	if s == remove {
		*place(0) += below.mix + below.mixErr
		l.inf = above.mix + above.mixErr + t.group.left()
	} else {
		*place(n - 1) += above.zero + above.zeroErr
		l.inf = below.zero + below.zeroErr
	}
	return l
}

// lowest is the first grid point of the remove side's loss.
func (t term) lowest(w window) int {
	return index(math.Floor(t.lossAt(-w.reach*t.noiseMultiplier) / w.h))
}

// index is x, an integer, or the nearest whose float64 neighbours are still
// integers: a grid that has to go as far is cut by span.
func index(x float64) int { return int(min(max(x, -0x1p52), 0x1p52)) }

// span is the range of the remove side's grid, of which the add side's is the
// mirror image.
func (t term) span(s side, w window) (lo, hi int) {
	lo = t.lowest(w)
	hi = index(math.Ceil(t.lossAt(w.reach*t.noiseMultiplier) / w.h))
	if s == remove {
		hi = min(hi, w.top+w.n)
		lo = max(lo, hi-4*w.n)
	} else {
		lo = max(lo, -w.top-w.n)
		hi = min(hi, lo+4*w.n)
	}
	return lo, max(hi, lo+1)
}

// An edge is an output, with its distances from the two means in standard
// deviations and the tails beyond; more are the tails of a group's further means.
type edge struct {
	z, z0, z1, t0, t1 float64
	more              []float64
}

func edgeAt(t term, z float64) edge {
	e := edge{z: z, z0: z / t.noiseMultiplier, z1: (z - 1) / t.noiseMultiplier}
	e.t0, e.t1 = tail(e.z0), tail(e.z1)
	e.more = t.group.tails(z, t.noiseMultiplier)
	return e
}

// rounding bounds the rounding of a difference of two normal tails, in units of the larger.
const rounding = 0x1p-50

// A mass is the probability that N(0,σ²) and the mixture give to an interval, with bounds on
// the rounding errors.
type mass struct{ zero, mix, zeroErr, mixErr float64 }

func massBetween(t term, a, b edge) mass {
	q := t.sampleRate
	m := mass{
		zero:    between(a.z0, b.z0, a.t0, b.t0),
		zeroErr: rounding * roundoff(a.z0, b.z0, a.t0, b.t0),
	}
	if t.group != nil {
		m.mix, m.mixErr = t.group.massBetween(t.noiseMultiplier, m, a, b)
		return m
	}
	m.mix = (1-q)*m.zero + q*between(a.z1, b.z1, a.t1, b.t1)
	m.mixErr = (1-q)*m.zeroErr + q*rounding*roundoff(a.z1, b.z1, a.t1, b.t1)
	return m
}

// discretizeLow bounds from the other side. The outputs are divided into cells
// such that P(cell)/Q(cell) is exp of a grid point: each ends about as far above
// its grid point as it begins below it. Where no end does that, the cell's loss
// is rounded down. To tell only the cell is post-processing, so no δ grows. What
// discretize counts as infinite has here the least loss that it can have, or is
// left out, which lowers δ too.
//
// Guarantee: the true distribution dominates the result: a cell's loss is rounded
// down from what it is at least, given bounds on the rounding of its masses.
func discretizeLow(t term, s side, w window) loss {
	q, sigma, h := t.sampleRate, t.noiseMultiplier, w.h
	lo, hi := t.span(s, w)
	l := loss{first: lo - 1, p: make([]float64, hi-lo+3)}
	if s == add {
		l.first = -hi - 1
	}
	first := lossPoint(q, sigma, (float64(lo)-0.5)*h)
	if t.lowest(w) == lo {
		first = math.Inf(-1)
	}
	begin := edgeAt(t, first)
	for i := lo; i < hi && float64(i)*h < 600; i++ {
		x := float64(i) * h
		from, to := lossPoint(q, sigma, x), lossPoint(q, sigma, x+h)
		if begin.z >= from {
			continue
		}
		end, ok := cellEnd(t, s, begin, from, to, x)
		if !ok {
			end = edgeAt(t, lossPoint(q, sigma, x+h/2))
		}
		m := massBetween(t, begin, end)
		if m.zero <= 0 || m.mix <= 0 {
			begin = end
			continue
		}
		p, q := m.mix-m.mixErr, m.zero+m.zeroErr
		if s == add {
			p, q = m.zero-m.zeroErr, m.mix+m.mixErr
		}
		if p > 0 {
			if k := int(math.Floor(math.Log(p/q)/h)) - l.first; k >= 0 && k < len(l.p) {
				l.p[k] += p
			}
		}
		begin = end
	}
	if s == remove {
		// All that is left has at least the loss at begin.
		k := int(math.Floor(lossAt(q, sigma, begin.z)/h-0.01)) - l.first
		if m := massBetween(t, begin, edgeAt(t, math.Inf(1))); k >= 0 {
			l.p[min(k, len(l.p)-1)] += max(0, m.mix-m.mixErr)
		}
	}
	return l
}

// cellEnd solves P/Q = exp(x) for the end of the cell that starts at begin,
// between from, where the loss is x, and to: a little too far or too short, so
// that the cell's loss is on the side of x that rounds down to it.
func cellEnd(t term, s side, begin edge, from, to, x float64) (edge, bool) {
	e := exp(x)
	excess := func(z float64) (edge, float64) {
		end := edgeAt(t, z)
		m := massBetween(t, begin, end)
		return end, m.mix - e*m.zero
	}
	if math.IsInf(from, -1) {
		return edge{}, false
	}
	if _, f := excess(to); f < 0 {
		return edge{}, false
	}
	// The excess falls until from and rises after it, at first quadratically.
	z := math.Min(to, 2*from-begin.z)
	lo, hi := from, to
	for range 60 {
		end, f := excess(z)
		if f < 0 {
			lo = z
		} else {
			hi = z
		}
		slope := math.Expm1(lossAt(t.sampleRate, t.noiseMultiplier, z)-x) * e * exp(-end.z0*end.z0/2) / (math.Sqrt(2*math.Pi) * t.noiseMultiplier)
		next := z - f/slope
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-z) <= 1e-5*(to-from) {
			if s == add {
				return edgeAt(t, next-2e-5*(to-from)), true
			}
			return edgeAt(t, next+2e-5*(to-from)), true
		}
		z = next
	}
	return edge{}, false
}

// roundoff is the size of the numbers that between subtracts.
func roundoff(a, b, tailA, tailB float64) float64 {
	if a < 0 && b > 0 {
		return 1
	}
	return max(tailA, tailB)
}

// logMoment is ln Σ p·exp(lambda·x).
func (l loss) logMoment(h, lambda float64) float64 {
	var sum logSum
	for j, p := range l.p {
		if p > 0 {
			sum.addLog(math.Log(p) + lambda*h*float64(l.first+j))
		}
	}
	return sum.log()
}

// A window says where and how finely a composition is worked out.
type window struct {
	h      float64
	n      int     // grid points, a power of 2
	top    int     // index of the highest
	lambda float64 // of the tilt exp(λx) under which the sum is centred near ε
	chern  float64 // an exponent that bounds the mass above the window well
	reach  float64 // see discretize
}

// A tailSum is the composed privacy loss near the ε in question.
type tailSum struct {
	window
	mass  []float64 // exp(λx−k)·probability at grid points, index modulo n
	k     float64   // log moment at λ of the composition
	kErr  float64   // bound on its error
	err   float64   // bound on the error of one entry of mass
	above float64   // probability of +∞ and of everything above the window
	// wrapped bounds what probability from outside the window adds inside.
	wrapped float64
}

// A spectrum is the Fourier transform of one step's tilted loss, kept so that
// many powers of it can be taken.
type spectrum struct {
	window
	terms []spectralTerm
	fft   *fourier.FFT
	buf   []complex128
}

type spectralTerm struct {
	logAbs   []float64
	arg      []float64
	k        float64 // log moments at λ and chern
	kChern   float64
	logAlive float64 // ln(1 − inf)
}

// newSpectrum transforms the losses of the terms. The tilt exp(λx), which cancels
// out in the end, puts the centre of the composed sum where its tail is to be
// read, so that the tail has relative precision (cf. Koskela & Honkela 2021;
// Gopi et al. 2021 for the truncation).
func newSpectrum(terms []term, s side, b bound, w window) *spectrum {
	sp := &spectrum{window: w, fft: fourier.NewFFT(w.n), buf: make([]complex128, w.n/2+1)}
	seq := make([]float64, w.n)
	for _, t := range terms {
		l := discretize(t, s, w)
		if b == lower {
			l = discretizeLow(t, s, w)
		}
		k := l.logMoment(w.h, w.lambda)
		clear(seq)
		for j, p := range l.p {
			if p > 0 {
				i := l.first + j
				seq[i&(w.n-1)] += p * exp(w.lambda*w.h*float64(i)-k)
			}
		}
		sp.fft.Coefficients(sp.buf, seq)
		st := spectralTerm{
			logAbs:   make([]float64, len(sp.buf)),
			arg:      make([]float64, len(sp.buf)),
			k:        k,
			kChern:   l.logMoment(w.h, w.chern),
			logAlive: math.Log1p(-min(1, l.inf)),
		}
		for i, c := range sp.buf {
			st.logAbs[i] = math.Log(max(real(c)*real(c)+imag(c)*imag(c), 0x1p-1000)) / 2 // never −∞, which no times would make no number
			st.arg[i] = math.Atan2(imag(c), real(c))
		}
		sp.terms = append(sp.terms, st)
	}
	return sp
}

// compose takes the i-th term counts[i] times.
func (sp *spectrum) compose(counts []float64) *tailSum {
	out := &tailSum{window: sp.window, mass: make([]float64, sp.n)}
	total, logAlive, kChern := 0.0, 0.0, 0.0
	for i, t := range sp.terms {
		c := counts[i]
		total += c
		out.k += c * t.k
		kChern += c * t.kChern
		logAlive += c * t.logAlive
	}
	sum := 0.0
	for j := range sp.buf {
		logAbs := 0.0
		for i, t := range sp.terms {
			logAbs += counts[i] * t.logAbs[j]
		}
		if !(logAbs > -60) {
			sp.buf[j] = 0
			continue
		}
		arg := 0.0
		for i, t := range sp.terms {
			arg += math.Mod(counts[i]*t.arg[j], 2*math.Pi)
		}
		abs := exp(logAbs) / float64(sp.n)
		sum += 2 * abs
		sin, cos := math.Sincos(arg)
		sp.buf[j] = complex(abs*cos, abs*sin)
	}
	sp.fft.Sequence(out.mass, sp.buf)
	// A transform's output is good to about log₂ n roundings of its norm. A
	// factor φ with that error in φ^c errs by c·|φ|^(c−1): at most 10c·|φ|^c
	// where |φ| ≥ 0.1 and at most 1 elsewhere.
	unit := 0x1p-53 * 4 * float64(bits.Len(uint(sp.n)))
	out.err = unit*((10*total+1)*sum+float64(len(sp.terms))) + exp(-60)
	out.kErr = total * 1e-14 // the tilt's own rounding
	edge, length := float64(sp.top)*sp.h, float64(sp.n)*sp.h
	out.above = -math.Expm1(logAlive) + exp(min(out.k+out.kErr-sp.lambda*edge, kChern-sp.chern*edge, 0))
	out.wrapped = exp(-sp.lambda*length) + exp(kChern-sp.chern*edge+sp.lambda*length)
	return out
}

// walk visits the grid points from the top down, with the index k, the mass a at
// or above it, and δ at it and at the grid point below, until visit returns
// true. The error of each entry of mass is added to it, or taken from it.
//
// What undoes the tilt, exp(k−λx), is worked out at each point: carried from
// point to point, it would stay 0 for good once it had underflowed at the top of
// a long window, and all the mass with it. It may overflow at the bottom, where
// a, a probability, is 1 already.
func (t *tailSum) walk(b bound, visit func(k int, a, here, below float64) bool) bool {
	down, ch := exp(-t.h), -math.Expm1(-t.h)
	moment, err := t.k+t.kErr, t.err
	if b == lower {
		moment, err = t.k-t.kErr, -t.err
	}
	a, d := 0.0, 0.0
	for k := t.top; k > t.top-t.n; k-- {
		// Not min and max, which are calls in WebAssembly; what is no number stays none.
		if m := t.mass[k&(t.n-1)] + err; !(m <= 0) {
			a += min(exp(moment-t.lambda*t.h*float64(k)), math.MaxFloat64) * m
		}
		if a > 1 {
			a = 1
		}
		here := d
		d = down*d + ch*a
		if visit(k, a, here, d) {
			return true
		}
	}
	return false
}

// epsilon is a bound on ε at delta; ok is false where the window does not hold it.
func (t *tailSum) epsilon(b bound, delta float64) (eps float64, ok bool) {
	target := delta*(1-1e-12) - t.above
	if b == lower {
		target = delta*(1+1e-12) + t.wrapped
	}
	if !(target > 0) {
		return 0, false
	}
	ok = t.walk(b, func(k int, a, here, below float64) bool {
		x := t.h * float64(k)
		if below > target {
			// On this stretch δ = a − exp(ε−x)·(a − δ(x)).
			eps = min(x+math.Log((a-target)/(a-here)), x)
			return true
		}
		return x-t.h <= 0
	})
	return max(eps, 0), ok && !math.IsNaN(eps)
}

// delta is a bound on δ at epsilon ≥ 0.
func (t *tailSum) delta(b bound, epsilon float64) (delta float64, ok bool) {
	if epsilon >= t.h*float64(t.top) {
		return 1, false
	}
	ok = t.walk(b, func(k int, a, here, below float64) bool {
		x := t.h * float64(k)
		if x-t.h > epsilon {
			return false
		}
		delta = a - exp(epsilon-x)*(a-here)
		return true
	})
	if b == lower {
		return max(0, delta*(1-1e-12)-t.wrapped), ok
	}
	return min(1, max(0, delta)*(1+1e-12)+t.above), ok
}
