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
	case x < 25:
		return math.Log(tail(x))
	default:
		// Asymptotic series; the first term left out is below 1e-9.
		i := 1 / (x * x)
		return -x*x/2 - math.Log(x*math.Sqrt(2*math.Pi)) + math.Log1p(-i*(1-3*i*(1-5*i)))
	}
}

// gaussianDelta is the exact δ(ε) of one Gaussian with noise multiplier
// 1/mu (Balle & Wang 2018, Theorem 8).
func gaussianDelta(mu, epsilon float64) float64 {
	if mu == 0 {
		return 0
	}
	a := logUpper(epsilon/mu - mu/2)
	b := epsilon + logUpper(epsilon/mu+mu/2)
	return max(0, -math.Expm1(b-a)*math.Exp(a))
}

// sampledDelta is the exact δ(ε), ε ≥ 0, of one Gaussian release on a Poisson
// sample, the larger of adding and removing an example. The privacy loss rises
// with z, so each side is a difference of normal tails.
func sampledDelta(q, sigma, epsilon float64) float64 {
	mix := func(z float64, logNormal func(float64) float64) float64 {
		return (1-q)*math.Exp(logNormal(z/sigma)) + q*math.Exp(logNormal((z-1)/sigma))
	}
	lower := func(x float64) float64 { return logUpper(-x) }
	z := lossPoint(q, sigma, epsilon)
	remove := mix(z, logUpper) - math.Exp(epsilon+logUpper(z/sigma))
	add := 0.0
	if z := lossPoint(q, sigma, -epsilon); !math.IsInf(z, -1) {
		add = math.Exp(lower(z/sigma)) - math.Exp(epsilon)*mix(z, lower)
	}
	return max(remove, add, 0)
}

// lossPoint is the z at which ln(1−q+q·exp((2z−1)/2σ²)) = x, −Inf where x is
// below everything.
func lossPoint(q, sigma, x float64) float64 {
	var y float64
	switch e := math.Expm1(x); {
	case x > 600:
		y = x - math.Log(q) + math.Log1p(-(1-q)*math.Exp(-x))
	case e <= -q:
		return math.Inf(-1)
	default:
		y = math.Log1p(e / q)
	}
	return sigma*sigma*y + 0.5
}

// lossAt is the inverse of lossPoint.
func lossAt(q, sigma, z float64) float64 {
	y := (2*z - 1) / (2 * sigma * sigma)
	if y > 600 {
		return y + math.Log(q) + math.Log1p((1-q)/q*math.Exp(-y))
	}
	return math.Log1p(q * math.Expm1(y))
}

// smallestEpsilon is the least ε ≥ 0 with delta(ε) ≤ target, for a falling delta,
// from above to 1e-12 relative: at most target is spent at what it returns.
func smallestEpsilon(target float64, delta func(float64) float64) float64 {
	if delta(0) <= target {
		return 0
	}
	lo, hi := 0.0, 1e-12
	for delta(hi) > target {
		lo, hi = hi, hi*2
		if hi > 1e12 {
			return math.Inf(1)
		}
	}
	for hi-lo > 1e-12*hi {
		mid := lo + (hi-lo)/2
		if delta(mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
