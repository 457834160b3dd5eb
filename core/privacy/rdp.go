package privacy

import "math"

// orders are the Rényi orders that are tried. They hold every order that Opacus
// (1.1 … 10.9, 12 … 63) and Google's dp_accounting (… 11 … 63, 128, 256, 512,
// 1024) try, and more at both ends: orders near 1 matter where ε is large, high
// ones where q is tiny or σ large.
var orders = makeOrders()

func makeOrders() []float64 {
	o := []float64{1.001, 1.002, 1.005}
	for i := 1; i < 10; i++ {
		o = append(o, 1+float64(i)/100)
	}
	for i := 1; i < 100; i++ {
		o = append(o, 1+float64(i)/10)
	}
	for i := 11; i < 64; i++ {
		o = append(o, float64(i))
	}
	for lo := 64; lo < 1024; lo *= 2 {
		for i := range 8 {
			o = append(o, float64(lo+lo*i/8))
		}
	}
	for a := 1024; a <= 1<<17; a *= 2 {
		o = append(o, float64(a))
	}
	return o
}

// A rdpCurve is ρ(α) for each of orders.
type rdpCurve []float64

// rdp is the Rényi curve of everything in s.
//
// Guarantee: an upper bound at every order α, up to relative rounding: 2e-12 and, where
// what a sample with the row in it may release begins to count, 2⁻⁵²·(α/σ)², which at
// every order that is not priced without sampling is less than 1e-9.
func (s *spent) rdp() rdpCurve { return s.renyi().all() }

// rho is ρ at orders[i]; one has what of each of s.sampled the orders have in common.
func (s *spent) rho(i int, one []*sampling) float64 {
	if s.infinite {
		return math.Inf(1)
	}
	rho := orders[i] * s.precision / 2
	if s.selected != nil {
		rho += s.selected[i]
	}
	for j, t := range s.sampled {
		rho += float64(t.count) * one[j].rdp(orders[i])
	}
	return rho
}

// plus is rho with other added times times; nil is a curve of zeros.
func (rho rdpCurve) plus(other rdpCurve, times int) rdpCurve {
	if other == nil || times == 0 {
		return rho
	}
	sum := make(rdpCurve, len(orders))
	copy(sum, rho)
	for i, r := range other {
		sum[i] += float64(times) * r
	}
	return sum
}

// epsilon converts to (ε, delta), minimised over orders:
//
//	ε = ρ + ln((α−1)/α) − (ln δ + ln α)/(α−1)
//
// (Canonne, Kamath & Steinke 2020, Proposition 12; Balle et al. 2020, Theorem
// 21), never below 0, and 0 outright where √(1−exp(−ρ)) < δ: by Bretagnolle and
// Huber's inequality the total variation is then below δ.
func (rho rdpCurve) epsilon(delta float64) float64 {
	best := math.Inf(1)
	for i, r := range rho {
		if delta*delta+math.Expm1(-r) > 0 {
			return 0
		}
		best = min(best, r+rdpOffset(orders[i], delta))
	}
	return max(best, 0)
}

// rdpOffset is the part of the conversion that does not depend on ρ.
func rdpOffset(order, delta float64) float64 {
	return math.Log1p(-1/order) - (ln(delta)+math.Log(order))/(order-1)
}

// rdpOffsets returns the offsets of orders.
func rdpOffsets(delta float64) []float64 {
	offset := make([]float64, len(orders))
	for i, a := range orders {
		offset[i] = rdpOffset(a, delta)
	}
	return offset
}

// delta is the smallest δ for which the curve shows (epsilon, δ).
func (rho rdpCurve) delta(epsilon float64) float64 {
	best := 1.0
	for i, r := range rho {
		if math.IsInf(r, 1) {
			continue // says nothing, not even at ε = +Inf
		}
		a := orders[i]
		logDelta := (a-1)*(r-epsilon+math.Log1p(-1/a)) - math.Log(a)
		best = min(best, exp(logDelta), math.Sqrt(-math.Expm1(-r)))
	}
	return best
}

// rdpAccountant composes Rényi curves (Mironov 2017).
type rdpAccountant struct{ spent spent }

func (a *rdpAccountant) Compose(e Event) error {
	s, err := flatten(e, 1)
	if err != nil {
		return err
	}
	return a.spent.merge(s)
}

func (a *rdpAccountant) Epsilon(delta float64) (float64, error) {
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	return a.spent.at(delta, a.spent.renyi().epsilon), nil
}

// A sampling is one Gaussian release with noise multiplier σ on a Poisson sample of
// rate q, 0 < q ≤ 1, 0 < σ < ∞, of which ρ is asked at many orders.
type sampling struct {
	q, sigma float64
	step     float64  // between nodes, in units of σ
	ends     []node   // of stretches, from leftmost on; those that an order has come to so far
	between  [][]node // the nodes between one end and the next, where they mattered so far and are kept
	spare    []node   // memory for those that are not
}

// A node is a place x of the quadrature, with what no order changes of the integrand.
type node struct {
	x, y float64 // y is the logarithm of what a row multiplies the density at x by
	u    float64 // q·(exp(y)−1), whose mean is 0
	l    float64 // ln(1+u)
	w    float64 // exp(−x²/2)
}

// leftmost is the start of quadratures: the integral below it is less than e⁻⁷² of the whole.
const leftmost = -12.0

func newSampling(q, sigma float64) *sampling {
	return &sampling{q: q, sigma: sigma, step: 0.4 * min(1, sigma)}
}

// rdp is ρ(α) for α > 1 (Mironov, Talwar & Zhang 2019): ln A/(α−1) with
//
//	A = E_{z~N(0,σ²)} (1 − q + q·exp((2z−1)/2σ²))^α.
//
// It works with A − 1, which is what is left when A is near 1: tiny q lose no
// digits. It is 0 rather than an error where A − 1 underflows, and never
// overflows below +Inf.
func (s *sampling) rdp(order float64) float64 {
	if s.q == 1 || order > s.highest() {
		return order / (2 * s.sigma * s.sigma)
	}
	var logExcess float64
	if order == math.Trunc(order) && order <= 128 {
		logExcess = logExcessSum(s.q, s.sigma, int(order))
	} else {
		logExcess = s.logExcessIntegral(order)
	}
	return log1pexp(logExcess) / (order - 1)
}

// highest is the highest order of which ρ is worked out. What is beyond is far beyond any
// that decides ε, and costly: it is what the release costs without sampling, which never
// costs less.
func (s *sampling) highest() float64 {
	if s.q == 1 {
		return math.Inf(1)
	}
	return 2000 * s.sigma
}

// logExcessSum is ln(A−1) for an integer order: all terms of
//
//	A − 1 = Σ_{k≥2} C(α,k)·(1−q)^(α−k)·q^k·(exp(k(k−1)/2σ²) − 1)
//
// are positive, so nothing cancels.
func logExcessSum(q, sigma float64, order int) float64 {
	logQ, logP := ln(q), math.Log1p(-q)
	logChoose := math.Log(float64(order)) // ln C(order, 1)
	var sum logSum
	for k := 2; k <= order; k++ {
		logChoose += math.Log(float64(order-k+1) / float64(k))
		x := float64(k) * float64(k-1) / (2 * sigma * sigma)
		sum.addLog(logChoose + float64(order-k)*logP + float64(k)*logQ + logExpm1(x))
	}
	return sum.log()
}

// logExcessIntegral is ln(A−1) for any order > 1. As u has mean 0, A − 1 is the
// mean of (1+u)^α − 1 − αu, which is never negative, so
// again nothing cancels. The trapezium rule converges geometrically, as the
// integrand is analytic within πσ of the real line (z in units of σ): the step
// makes its relative error less than 1e-15. Stretches whose ends lie e⁻⁶⁰ below
// the largest are skipped: the logarithm's curvature is at least −1 but for a dip
// to 0 at u = 0, so over a width of 3.2 their inside cannot matter either.
func (s *sampling) logExcessIntegral(order float64) float64 {
	width := s.step * float64(s.perStretch())
	stretches := int((order/s.sigma+12-leftmost)/width) + 1
	s.reach(stretches)
	logs := make([]float64, stretches+1)
	peak := math.Inf(-1)
	for i := range logs {
		logs[i] = s.ends[i].logExcess(order, s.q)
		peak = max(peak, logs[i])
	}
	if math.IsInf(peak, -1) {
		return peak
	}
	scale := 0.0 // exp(−peak), where that and its inverse are far from the ends of what a float64 holds
	if math.Abs(peak) < 300 {
		scale = exp(-peak)
	}
	sum := 0.0 // over exp(peak)
	for i := range stretches {
		if max(logs[i], logs[i+1]) < peak-60 {
			continue
		}
		sum += exp(logs[i] - peak)
		for _, n := range s.stretch(i) {
			sum += n.excess(order, s.q, peak, scale)
		}
	}
	return peak + math.Log(sum) + math.Log(s.step) - math.Log(2*math.Pi)/2
}

// perStretch returns the number of nodes of a stretch, one of its ends among them.
func (s *sampling) perStretch() int { return int(3.2/s.step + 0.5) }

// reach has the ends of so many stretches known.
func (s *sampling) reach(stretches int) {
	for i := len(s.ends); i <= stretches; i++ {
		s.ends = append(s.ends, s.node(i*s.perStretch()))
		s.between = append(s.between, nil)
	}
}

// mostKept is the most nodes of a stretch that are kept for other orders: those that the
// smallest noise has that is searched. Of smaller noise they would take 40 MB, and few are
// met twice.
const mostKept = 400

// stretch is the nodes within a stretch whose ends are known, until the next call.
func (s *sampling) stretch(i int) []node {
	if s.between[i] != nil {
		return s.between[i]
	}
	per := s.perStretch()
	nodes := s.spare
	if nodes == nil {
		nodes = make([]node, per-1)
	}
	for j := range nodes {
		nodes[j] = s.node(i*per + 1 + j)
	}
	if per > mostKept {
		s.spare = nodes
	} else {
		s.between[i] = nodes
	}
	return nodes
}

// node is the one with a number, from leftmost on.
func (s *sampling) node(i int) node {
	n := node{x: leftmost + float64(i)*s.step}
	n.y = n.x/s.sigma - 1/(2*s.sigma*s.sigma)
	n.u = s.q * math.Expm1(n.y)
	if n.y > 600 { // u is q·exp(y), which overflows on the way for tiny q
		n.u = exp(n.y + ln(s.q))
	}
	n.l = math.Log1p(n.u)
	n.w = exp(-n.x * n.x / 2)
	return n
}

// excess is ((1+u)^a − 1 − a·u)·exp(−x²/2 − ref), for a > 1 and a finite ref; scale is
// exp(−ref), or 0 where there is no such number.
func (n node) excess(a, q, ref, scale float64) float64 {
	switch {
	case scale == 0 || n.w < 1e-150 || n.l > 500:
		return exp(n.logExcess(a, q) - ref)
	case a*n.l < 30:
		return n.power(a) * n.w * scale
	default:
		return exp(a*n.l-n.x*n.x/2-ref) * (1 - (1+a*n.u)*exp(-a*n.l))
	}
}

// logExcess is ln of ((1+u)^a − 1 − a·u)·exp(−x²/2), a > 1: −Inf at u = 0.
func (n node) logExcess(a, q float64) float64 {
	tail := -n.x * n.x / 2
	if l := n.y + ln(q); l > 550 { // 1+u is q·exp(y) to all digits
		return a*l + math.Log1p(-exp(math.Log(a)-(a-1)*l)) + tail
	}
	switch {
	case n.near(a):
		return math.Log(n.series(a)) + 2*math.Log(math.Abs(n.u)) + tail
	case a*n.l < 30:
		return math.Log(n.power(a)) + tail
	default:
		return a*n.l + math.Log1p(-(1+a*n.u)*exp(-a*n.l)) + tail
	}
}

// power is (1+u)^a − 1 − a·u, for a > 1 and a·ln(1+u) < 30. Below some 1e-300 it is 0.
func (n node) power(a float64) float64 {
	if n.near(a) {
		return n.series(a) * n.u * n.u
	}
	return math.Expm1(a*n.l) - a*n.u
}

// near says whether what is left of (1+u)^a without 1 + a·u would lose digits.
func (n node) near(a float64) bool { return math.Abs(n.u) <= 0.1 && math.Abs(a*n.u) <= 0.5 }

// series is ((1+u)^a − 1 − a·u)/u² where it is near: the binomial series.
func (n node) series(a float64) float64 {
	sum, t := 0.0, 1.0
	for k := 2.0; math.Abs(t) > 1e-17*math.Abs(sum); k++ {
		sum += t
		t *= (a - k) / (k + 1) * n.u
	}
	return a * (a - 1) / 2 * sum
}

// logExpm1 is ln(exp(x)−1) for x > 0.
func logExpm1(x float64) float64 {
	if x > 1 {
		return x + math.Log1p(-exp(-x))
	}
	return math.Log(math.Expm1(x))
}

// log1pexp is ln(1+exp(x)).
func log1pexp(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(exp(-x))
	}
	return math.Log1p(exp(x))
}

// logSum adds numbers given by their logarithms. The zero value is the empty
// sum.
type logSum struct {
	max, sum float64 // Σ exp(x−max)
}

func (s *logSum) addLog(x float64) {
	switch {
	case math.IsInf(x, -1):
	case s.sum == 0:
		s.max, s.sum = x, 1
	case x <= s.max:
		s.sum += exp(x - s.max)
	default:
		s.sum = s.sum*exp(s.max-x) + 1
		s.max = x
	}
}

func (s *logSum) log() float64 {
	if s.sum == 0 {
		return math.Inf(-1)
	}
	return s.max + math.Log(s.sum)
}
