package clip

import "math"

// histogram is the statistic that both DC-SGD rules are fed by: the batch's
// unclipped norms in equal bins over [0, R], everything above R in the last bin
// (DC-SGD, Algorithm 2; its max(n−1, ·) is read as min(b−1, ·)).
//
// Guarantee: an example adds 1 to one bin, so the sensitivity is 1.
type histogram struct {
	bins int
	r    float64
	std  float64
}

func (h *histogram) query() *Query {
	return &Query{Len: h.bins, Value: h.count, Sensitivity: 1, NoiseStd: h.std}
}

func (h *histogram) count(dst []float64, n Norms) { dst[h.bin(n.Whole)]++ }

// bin is computed so that no quotient overflows an int.
func (h *histogram) bin(n float64) int {
	if n >= h.r {
		return h.bins - 1
	}
	return min(h.bins-1, int(float64(h.bins)*(n/h.r)))
}

func (h *histogram) mid(k int) float64 { return (float64(k) + 0.5) * h.r / float64(h.bins) }

func (h *histogram) setRange(r float64) { h.r = clampThreshold(r, h.r) }

// histogramStd is DC's noise for a step of multiplier sigma (§VI-B, of DC-SGD-P; here of both): growing with sigma, so that the gradient's share stays nearly all.
func histogramStd(given, sigma float64) float64 {
	switch {
	case given > 0:
		return given
	case sigma > 12/1.5:
		// Beyond the papers' range: keep the ratio that makes σ_T 1.34·σ.
		return 1.5 * sigma
	case sigma > 3:
		return 12
	case sigma >= 2:
		return 8
	default:
		return 5
	}
}

func total(h []float64) float64 {
	s := 0.0
	for _, v := range h {
		s += v
	}
	return s
}

// usableTotal reports whether noise has left a histogram something to read.
func usableTotal(s float64) bool { return s > 0 && !math.IsInf(s, 1) }

func histogramParams(r0 float64) []Param {
	return []Param{
		{Name: "bins", Label: "Bins b", Default: 20, Min: 2, Max: 1000, Integer: true, Log: true,
			Help: "Bins of the noisy histogram of gradient norms."},
		{Name: "r0", Label: "First range R₀", Default: r0, Min: 1e-6, Max: 1e6, Log: true,
			Help: "The histogram first covers norms from 0 to R₀; the range then follows what it finds."},
		{Name: "sigma_h", Label: "Histogram noise σ_H", Default: 0, Min: 0, Max: 1e6,
			Help: "Standard deviation of the noise in each bin; 0 takes 5, 8 or 12 by noise_multiplier, as DC says for DC-SGD-P, and 1.5 times it above 8."},
	}
}

func newHistogram(e Env) histogram {
	return histogram{bins: int(e.Params["bins"]), r: e.Params["r0"], std: histogramStd(e.Params["sigma_h"], e.NoiseMultiplier)}
}
