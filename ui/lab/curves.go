package lab

import (
	"math"
	"slices"

	"clipscope/core/run"
)

// noise is the numbers beside C that a step's noise depends on: the multiplier σ, the expected
// batch size B and the number of parameters d.
type noise struct{ sigma, batch, dim float64 }

// variance returns the noise's mean squared length in a step's mean gradient, σ²C²d/B².
func (n noise) variance(c float64) float64 {
	deviation := n.sigma * c / n.batch
	return deviation * deviation * n.dim
}

// of returns the place of the number that a slider sets.
func (n *noise) of(knob string) *float64 {
	return map[string]*float64{"sigma": &n.sigma, "batch": &n.batch, "width": &n.dim}[knob]
}

// axis is the range of C on the boards: four whole decades.
type axis struct{ lo, hi float64 }

// perDecade is the number of thresholds measured in a decade.
const perDecade = 8

// firstAxis returns the range about 1, where most thresholds are.
func firstAxis() axis { return axis{0.01, 100} }

// toward returns the axis for gradients of a median length. It is the same while the median is
// in its two middle decades; otherwise it moves by whole decades.
func (a axis) toward(median float64) axis {
	if !(median > 0) || math.IsInf(median, 1) || median >= a.lo*10 && median <= a.hi/10 {
		return a
	}
	middle := math.Round(math.Log10(median))
	return axis{math.Pow(10, middle-2), math.Pow(10, middle+2)}
}

// within returns c, or the nearer end where c lies outside.
func (a axis) within(c float64) float64 { return min(max(c, a.lo), a.hi) }

// points returns the thresholds to measure.
func (a axis) points() []float64 {
	n := int(math.Round(math.Log10(a.hi/a.lo))) * perDecade
	cs := make([]float64, n+1)
	for i := range cs {
		cs[i] = a.lo * math.Pow(10, float64(i)/perDecade)
	}
	return cs
}

// floats converts numbers.
func floats(v []run.Number) []float64 {
	x := make([]float64, len(v))
	for i := range v {
		x[i] = float64(v[i])
	}
	return x
}

// total returns the error along a curve: clipping's bias² and the noise's variance.
func total(c run.ClipReply, n noise) []float64 {
	sum := floats(c.Bias2)
	for i := range sum {
		sum[i] += n.variance(c.MaxGradNorm[i])
	}
	return sum
}

// least finds the minimum of a curve over log c, between its points by the parabola through
// the lowest three, in log–log; c is 0 where the curve has no positive value.
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

// decades returns the powers of ten that enclose low and high.
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

// ordered returns the finite numbers of v, ascending.
func ordered(v []float64) []float64 {
	x := slices.DeleteFunc(slices.Clone(v), func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) })
	slices.Sort(x)
	return x
}

// quantile returns a quantile of what is ordered, NaN of nothing.
func quantile(v []float64, share float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return v[int(share*float64(len(v)-1))]
}

// thin returns at most n of the positive finite numbers of v, the first and the last among them.
func thin(v []float64, n int) []float64 {
	out := []float64{}
	for i, x := range v {
		last := len(out) < n && (len(v) <= n || i == len(v)-1 || i*(n-1)/len(v) != (i-1)*(n-1)/len(v) || i == 0)
		if last && x > 0 && !math.IsInf(x, 1) {
			out = append(out, x)
		}
	}
	return out
}
