package privacy

import "math"

// tail is P(Z > |x|) of a standard normal Z, to full relative precision until
// it underflows beyond 38.
func tail(x float64) float64 { return math.Erfc(math.Abs(x)/math.Sqrt2) / 2 }

// between is P(a < Z < b) for a ≤ b, given the tails at both: a difference of
// the smaller tails, so that it is good to 2⁻⁵² of the larger of them.
func between(a, b, tailA, tailB float64) float64 {
	switch {
	case a >= 0:
		return tailA - tailB
	case b <= 0:
		return tailB - tailA
	default:
		return 1 - tailA - tailB
	}
}

// logUpper is ln P(Z > x), also where P underflows.
func logUpper(x float64) float64 {
	switch {
	case x < 0:
		return math.Log1p(-tail(x))
	case x < 36:
		return math.Log(tail(x))
	default:
		// Asymptotic series; the first term left out is below 3e-13.
		i := 1 / (x * x)
		return -x*x/2 - math.Log(x*math.Sqrt(2*math.Pi)) + math.Log1p(-i*(1-3*i*(1-5*i*(1-7*i))))
	}
}

// ln is math.Log, also below 2.3e-308, where math.Log on amd64 answers −709
// down to 5e-324.
func ln(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p60) - 60*math.Ln2
	}
	return math.Log(x)
}

// density returns the density of a standard normal.
func density(x float64) float64 { return exp(-x*x/2) / math.Sqrt(2*math.Pi) }

// mills is Mills' ratio R(x) = P(Z > x)/density(x), and slope is −R′(x), which
// is 1−x·R(x); for x > −1, to some 1e-15 of each. From 3 on it is Laplace's continued
// fraction 1/(x+1/(x+2/(x+3/…))), whose depth of 50 leaves less than exp(−2x·√100).
func mills(x float64) (ratio, slope float64) {
	if x < 3 {
		r := math.Erfc(x/math.Sqrt2) / 2 / density(x)
		return r, 1 - x*r
	}
	c := 0.0
	for k := 50.0; k >= 1; k-- {
		c = k / (x + c)
	}
	return 1 / (x + c), c / (x + c)
}

// millsFall is R(a) − R(a+width) for a > −1 and a width of at most 0.1, by Gauss's
// rule on four points: its error is below 1e-16 of the whole.
func millsFall(a, width float64) float64 {
	sum := 0.0
	for _, node := range [...]struct{ at, weight float64 }{
		{0.06943184420297371, 0.17392742256872692},
		{0.33000947820757187, 0.32607257743127308},
		{0.66999052179242813, 0.32607257743127308},
		{0.93056815579702629, 0.17392742256872692},
	} {
		_, slope := mills(a + node.at*width)
		sum += node.weight * slope
	}
	return sum * width
}

// gaussianDelta is the exact δ(ε), ε ≥ 0, of one Gaussian with noise multiplier
// 1/mu (Balle & Wang 2018, Theorem 8),
//
//	Φ(−near) − exp(ε)·Φ(−far),  near, far = ε/μ ∓ μ/2,
//
// without the cancellation that this form has for small μ and the loss of all
// digits that it has for large ε: exp(ε)·density(far) is density(near), so it is
// density(near)·(R(near) − R(far)) with Mills' ratio R.
//
// Guarantee: never below the truth where that is above 1e-300: near is lowered
// by its rounding and the result raised by more than what the rest can err.
func gaussianDelta(mu, epsilon float64) float64 {
	middle := epsilon / mu
	switch {
	case mu == 0 || math.IsInf(epsilon, 1):
		return 0
	case math.IsInf(mu, 1):
		return 1
	case math.IsInf(middle, 1):
		return 0
	}
	far := middle + mu/2
	near := middle - mu/2 - 0x1p-52*far
	var d float64
	switch {
	case near > 40: // the tail beyond 39 is less than any number above 0
		return 0
	case mu < 0.1:
		d = density(near) * millsFall(near, mu)
	case near < 0:
		r, _ := mills(far)
		d = 1 - tail(near) - density(near)*r
	default:
		r, _ := mills(near)
		s, _ := mills(far)
		d = density(near) * (r - s)
	}
	return min(1, d*(1+0x1p-44))
}

// sampledDelta is the exact δ(ε), ε ≥ 0, of one Gaussian release on a Poisson
// sample, the larger of adding and removing an example. The privacy loss rises
// with z, so the best test is z above some point, which for removing is the best
// test at y = ln(1 + (exp(ε)−1)/q) without sampling (Balle, Barthe & Gaboardi
// 2018, Theorem 8) and for adding that at −y, y = ln(1 + (exp(−ε)−1)/q):
//
//	removing: q·δ(y),  adding: q·exp(ε+y)·δ(−y).
func sampledDelta(q, sigma, epsilon float64) float64 {
	remove := q * gaussianDelta(1/sigma, unsampledLoss(q, epsilon))
	add := 0.0
	if y := unsampledLoss(q, -epsilon); !math.IsInf(y, -1) {
		add = q * exp(epsilon+y) * gaussianDelta(1/sigma, -y)
	}
	return min(1, max(remove, add))
}

// unsampledLoss is the y with ln(1−q+q·exp(y)) = x, −Inf where x is below
// everything.
func unsampledLoss(q, x float64) float64 {
	if q == 1 {
		return x
	}
	if x < -1 { // where exp(x)−1+q cancels, and 1−q does not, as nothing is that low unless q is above ½
		rest := exp(x) - (1 - q)
		if rest <= 0 {
			return math.Inf(-1)
		}
		return ln(rest / q)
	}
	e := math.Expm1(x)
	switch {
	case x > 600:
		return x - ln(q) + math.Log1p(-(1-q)*exp(-x))
	case e <= -q:
		return math.Inf(-1)
	case e > 1e300*q: // e/q may overflow
		return ln(e) - ln(q)
	}
	return math.Log1p(e / q)
}

// lossPoint is the z at which ln(1−q+q·exp((2z−1)/2σ²)) = x, −Inf where x is
// below everything.
func lossPoint(q, sigma, x float64) float64 { return sigma*sigma*unsampledLoss(q, x) + 0.5 }

// lossAt is the inverse of lossPoint.
func lossAt(q, sigma, z float64) float64 {
	y := (2*z - 1) / (2 * sigma * sigma)
	switch {
	case q == 1:
		return y
	case y < -1:
		return math.Log(1 - q + q*exp(y))
	case y > 600:
		return y + ln(q) + math.Log1p((1-q)/q*exp(-y))
	}
	return math.Log1p(q * math.Expm1(y))
}

// smallestEpsilon is the least ε ≥ 0 with delta(ε) ≤ target, for a falling delta,
// from above to 1e-12 relative: at most target is spent at what it returns. It is
// +Inf where no ε is large enough.
func smallestEpsilon(target float64, delta func(float64) float64) float64 {
	if delta(0) <= target {
		return 0
	}
	lo, hi := 0.0, 1e-12
	for !(delta(hi) <= target) {
		lo, hi = hi, hi*2
		if math.IsInf(hi, 1) {
			return hi
		}
	}
	for hi-lo > 1e-12*hi {
		mid := lo + (hi-lo)/2
		if delta(mid) <= target {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
