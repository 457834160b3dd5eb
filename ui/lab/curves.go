package lab

import (
	"math"

	"clipscope/core/run"
)

// noise is what a step's noise depends on beside C: the multiplier σ, the expected batch
// size B and the number of parameters d.
type noise struct{ sigma, batch, dim float64 }

// variance is the mean of its squared length in a step's mean gradient, σ²C²d/B².
func (n noise) variance(c float64) float64 {
	deviation := n.sigma * c / n.batch
	return deviation * deviation * n.dim
}

// axis is what is shown of C: whole decades, four of them.
type axis struct{ lo, hi float64 }

// perDecade is how many thresholds of a decade are measured.
const perDecade = 8

// firstAxis is about 1, where thresholds mostly are.
func firstAxis() axis { return axis{0.01, 100} }

// toward is the axis for gradients of a median length. It stays where it is while that is
// within its middle, and else moves by whole decades.
func (a axis) toward(median float64) axis {
	if !(median > 0) || math.IsInf(median, 1) || median >= a.lo*10 && median <= a.hi/10 {
		return a
	}
	middle := math.Round(math.Log10(median))
	return axis{math.Pow(10, middle-2), math.Pow(10, middle+2)}
}

// within is c, or the end that is next to it.
func (a axis) within(c float64) float64 { return min(max(c, a.lo), a.hi) }

// points are the thresholds that are measured.
func (a axis) points() []float64 {
	n := int(math.Round(math.Log10(a.hi/a.lo))) * perDecade
	cs := make([]float64, n+1)
	for i := range cs {
		cs[i] = a.lo * math.Pow(10, float64(i)/perDecade)
	}
	return cs
}

// floats are numbers as they are.
func floats(v []run.Number) []float64 {
	x := make([]float64, len(v))
	for i := range v {
		x[i] = float64(v[i])
	}
	return x
}

// total is the error of a curve: what clipping costs and what the noise adds.
func total(c run.ClipReply, n noise) []float64 {
	sum := floats(c.Bias2)
	for i := range sum {
		sum[i] += n.variance(c.MaxGradNorm[i])
	}
	return sum
}

// least is where a curve over log c is lowest, between its points as on the parabola
// through the lowest three on paper of two logarithms; c is 0 where it has no positive value.
func least(cs, y []float64) (c, lowest float64) {
	at := -1
	for i, v := range y {
		if v > 0 && !math.IsInf(v, 1) && (at < 0 || v < y[at]) {
			at = i
		}
	}
	if at < 0 {
		return 0, 0
	}
	c, lowest = cs[at], y[at]
	if at == 0 || at == len(y)-1 || !(y[at-1] > 0) || !(y[at+1] > 0) {
		return c, lowest
	}
	l, m, r := math.Log(y[at-1]), math.Log(y[at]), math.Log(y[at+1])
	bend := l - 2*m + r
	if !(bend > 0) || math.IsInf(bend, 1) {
		return c, lowest
	}
	by := (l - r) / (2 * bend) // in steps, at most half of one
	return c * math.Pow(cs[at+1]/cs[at], by), math.Exp(m - (l-r)*(l-r)/(8*bend))
}

// decades are whole powers of ten about the least and the greatest of what is to be seen.
func decades(low, high float64) (bottom, top float64) {
	if !(low > 0) || !(high >= low) || math.IsInf(high, 1) {
		return 0.01, 10
	}
	bottom, top = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	if top <= bottom {
		top = 10 * bottom
	}
	return bottom, top
}
