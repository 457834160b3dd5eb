// Package labtest computes the answers of package lab from the gradients themselves. That
// is the obvious way, with which the tests of that package, and of the code that measures
// for it, compare.
package labtest

import "math"

// Length is ‖v‖.
func Length(v []float64) float64 { return math.Sqrt(Dot(v, v)) }

// Dot is ⟨a, b⟩, of one length.
func Dot(a, b []float64) float64 {
	s := 0.0
	for k, x := range a {
		s += x * b[k]
	}
	return s
}

// Mean is the mean of gradients [n][d], n > 0.
func Mean(g [][]float64) []float64 {
	return weighed(g, func(float64) float64 { return 1 })
}

// weighed is the mean of gradients times the factors of their norms.
func weighed(g [][]float64, factor func(norm float64) float64) []float64 {
	mean := make([]float64, len(g[0]))
	for _, v := range g {
		f := factor(Length(v))
		for k, x := range v {
			mean[k] += f * x / float64(len(g))
		}
	}
	return mean
}

// Clip measures the effect of factors on the mean of gradients [n][d], n > 0: how far it moves, its
// part along the mean as it was, and its length.
func Clip(g [][]float64, factor func(norm float64) float64) (bias, along, length float64) {
	mean, clipped := Mean(g), weighed(g, factor)
	lost := make([]float64, len(mean))
	for k := range lost {
		lost[k] = mean[k] - clipped[k]
	}
	return Length(lost), Dot(clipped, mean) / Length(mean), Length(clipped)
}
