package clip

import (
	"fmt"
	"math"
)

// Split divides the noise multiplier sigma that a step may cost between the
// gradient and the query q released beside it: it returns σ_T with
//
//	σ⁻² = σ_T⁻² + (NoiseStd/Sensitivity)⁻²
//
// (DC-SGD, Theorem 2), so that the pair costs exactly what one Gaussian release
// with multiplier sigma costs. Without a query, or with a joined one, σ_T is sigma. It refuses a query
// that alone would cost as much as the whole step, or more.
func Split(sigma float64, q *Query) (float64, error) {
	if q == nil || q.Joined || sigma == 0 {
		return sigma, nil
	}
	s := q.NoiseMultiplier()
	if !(s > sigma) {
		return 0, &ParamError{"noise_multiplier", fmt.Sprintf(
			"the statistic that moves the threshold has noise_multiplier %.4g of its own, which must be larger than the step's %.4g; raise the statistic's noise above %.4g or lower noise_multiplier below %.4g",
			s, sigma, sigma*q.Sensitivity, s)}
	}
	// 1/√(1/σ² − 1/s²) without cancellation for s ≫ σ.
	r := sigma / s
	return sigma / math.Sqrt((1-r)*(1+r)), nil
}
