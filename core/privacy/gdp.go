package privacy

import "math"

// gdp is ε at delta if the composition were exactly the Gaussian that it tends
// to by the central limit theorem, with
//
//	μ² = Σ T·q²·(exp(σ⁻²) − 1) + Σ σ⁻²
//
// over sampled releases and Gaussians (Bu, Dong, Long & Su 2020).
//
// Guarantee: none. It is an approximation that is often below the truth. NaN where there
// is a choice among runs, which tends to nothing of the kind.
func (s *spent) gdp(delta float64) float64 {
	if s.selected != nil {
		return math.NaN()
	}
	if s.infinite {
		return math.Inf(1)
	}
	mu2 := s.precision
	for _, t := range s.sampled {
		mu2 += float64(t.count) * t.sampleRate * t.sampleRate * math.Expm1(1/(t.noiseMultiplier*t.noiseMultiplier))
	}
	if math.IsNaN(mu2) {
		return math.Inf(1) // 0·∞: so little noise that nothing tends to anything
	}
	mu := math.Sqrt(mu2)
	return smallestEpsilon(delta, func(e float64) float64 { return gaussianDelta(mu, e) })
}
