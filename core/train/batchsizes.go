package train

import (
	"fmt"
	"math"

	"clipscope/core/run"
)

// batchSizes tests sizes of batches against Binomial(rows, rate). What it says where nothing
// is amiss follows from the number of rows that is public.
type batchSizes struct {
	rows          int
	rate          float64
	steps, sum    int
	near, far     int     // within window of the mean, and beyond limit
	window, limit float64 // half widths
	pNear, pFar   float64 // the probabilities of these
	public        float64 // pNear of the number of rows that is public
}

func newBatchSizes(rows int, rate float64) *batchSizes {
	b := &batchSizes{rows: rows, rate: rate}
	n := float64(rows)
	mean, sd := n*rate, math.Sqrt(n*rate*(1-rate))
	b.window, b.limit = max(0.5, sd/8), 4*sd+1
	if sd == 0 {
		b.pNear, b.public = 1, 1
		return b
	}
	inside := 0.0
	for k := int(math.Max(0, math.Ceil(mean-b.limit))); k <= int(math.Min(n, math.Floor(mean+b.limit))); k++ {
		p := binomial(n, float64(k), rate)
		inside += p
		if math.Abs(float64(k)-mean) <= b.window {
			b.pNear += p
		}
	}
	const rounding = 1e-6
	b.pNear, b.pFar = min(1, b.pNear*(1+rounding)), max(0, 1-inside)+rounding
	b.public = b.pNear
	return b
}

// binomial is P(K = k) for K ~ Binomial(n, p), 0 < p < 1.
func binomial(n, k, p float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return math.Exp(a - b - c + k*math.Log(p) + (n-k)*math.Log1p(-p))
}

func (b *batchSizes) addSize(n int) {
	b.steps++
	b.sum += n
	away := math.Abs(float64(n) - float64(b.rows)*b.rate)
	if away <= b.window {
		b.near++
	}
	if away > b.limit {
		b.far++
	}
}

// verdict judges three counts, each binomial, by Chernoff's bound.
func (b *batchSizes) verdict() run.Check {
	k := run.Check{Name: "batch sizes fit Poisson sampling", OK: true}
	x := math.Log(2 * 3 / falseAlarm)
	t := float64(b.steps)
	all := t * float64(b.rows)
	switch {
	case t == 0:
	case all*divergence(float64(b.sum)/all, b.rate) > x:
		k.OK, k.Detail = false, "Batches are larger or smaller than sample_rate says."
	case float64(b.near)/t > b.pNear && t*divergence(float64(b.near)/t, b.pNear) > x:
		k.OK, k.Detail = false, "Batches have nearly always the same size, which those of Poisson sampling have not: ε does not hold for shuffled batches of one size."
	case float64(b.far)/t > b.pFar && t*divergence(float64(b.far)/t, b.pFar) > x:
		k.OK, k.Detail = false, "Batch sizes vary more than those of Poisson sampling."
	}
	if !k.OK {
		return k
	}
	if b.public < 1 && -t*math.Log(b.public) <= x {
		k.Detail = "Too few steps to tell batches of one size from those of Poisson sampling."
		return k
	}
	k.Detail = fmt.Sprintf("Their mean and their spread over %s fit. A false alarm has a probability below 10⁻¹⁸.", plural(b.steps, "step"))
	return k
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// divergence returns the Kullback–Leibler divergence of Bernoulli(a) from Bernoulli(p).
func divergence(a, p float64) float64 {
	term := func(a, p float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/p)
	}
	return term(a, p) + term(1-a, 1-p)
}
