package data

import (
	"fmt"
	"math"
	"slices"
)

// BoundsHistogram finds bounds of the numeric features privately: per feature a
// histogram over bins whose edges are powers of two, noised once, and the span
// of the bins that stand out of the noise. The idea of exponential bins is
// ApproxBounds of Wilson et al., "Differentially Private SQL with Bounded User
// Contribution" (2020); here the noise is Gaussian and all features share one
// release.
//
// Guarantee: counts change by 1 in one bin per numeric feature when one example
// is added or removed, so the release of the whole histogram has L2 sensitivity
// √features (see Sensitivity). With Gaussian noise of noise_multiplier ×
// Sensitivity it is one privacy.Gaussian{noise_multiplier} over all training
// rows; the bounds are computed from the noisy counts alone.
type BoundsHistogram struct {
	features []int
	known    []Bound // of the other features
	counts   []float64
}

// The bins of a feature: magnitudes below 2^lowest, then 2^k … 2^(k+1) for each
// k, positive and negative; the last also holds everything larger.
const (
	lowest  = -20
	highest = 40
	octaves = highest - lowest
	binsPer = 1 + 2*octaves
)

// NewBoundsHistogram counts the training rows of ds. The counts are private:
// they leave only through Bounds.
func NewBoundsHistogram(ds *Dataset) *BoundsHistogram {
	h := &BoundsHistogram{features: ds.NumericFeatures(), known: ds.knownBounds()}
	h.counts = make([]float64, binsPer*len(h.features))
	for i := range ds.Train.N {
		for k, f := range h.features {
			h.counts[k*binsPer+bin(float64(ds.Train.value(i*ds.Features+f)))]++
		}
	}
	return h
}

// bin orders the bins by value: negative ones from the largest magnitude, the
// one around zero in the middle.
func bin(x float64) int {
	const middle = octaves
	m := math.Abs(x)
	if !(m >= math.Ldexp(1, lowest)) {
		return middle
	}
	k := min(math.Ilogb(m)-lowest, octaves-1) + 1
	if x < 0 {
		return middle - k
	}
	return middle + k
}

// edges are the bounds of bin i.
func edges(i int) Bound {
	const middle = octaves
	edge := func(k int) float64 { return math.Ldexp(1, lowest+k) }
	switch k := i - middle; {
	case k == 0:
		return Bound{-edge(0), edge(0)}
	case k > 0:
		return Bound{edge(k - 1), edge(k)}
	default:
		return Bound{-edge(-k), -edge(-k - 1)}
	}
}

// Sensitivity is the L2 sensitivity of the histogram, √features; 0 where no
// feature is numeric, and then there is nothing to release.
func (h *BoundsHistogram) Sensitivity() float64 { return math.Sqrt(float64(len(h.features))) }

// Len is the number of counts that noise is added to.
func (h *BoundsHistogram) Len() int { return len(h.counts) }

// Bounds releases the histogram once, through noise, which must add independent
// Gaussian noise of standard deviation sigma to each element, and returns
// bounds for all features of the data set: [0, 1] for those of categories, and
// what was declared of columns. A
// bin counts as occupied when noise alone would lift any empty bin so high with
// probability at most 1 %. Where no bin stands out, the fullest does, and
// uncertain counts the features for which that was so. Call it once: a second
// call is a second release.
func (h *BoundsHistogram) Bounds(noise func(dst []float64), sigma float64) (bounds []Bound, uncertain int, err error) {
	if !(sigma >= 0) || math.IsInf(sigma, 0) {
		return nil, 0, fmt.Errorf("data: private bounds: want a finite sigma of at least 0, have %v", sigma)
	}
	bounds = slices.Clone(h.known)
	if len(h.features) == 0 {
		return bounds, 0, nil
	}
	noisy := append([]float64(nil), h.counts...)
	noise(noisy)
	threshold := standsOut(len(h.features), sigma)
	for k, f := range h.features {
		b, sure := span(noisy[k*binsPer:(k+1)*binsPer], threshold)
		bounds[f] = b
		if !sure {
			uncertain++
		}
	}
	return bounds, uncertain, nil
}

// standsOut is how many rows a bin has to hold to count as occupied, sigma being the
// noise's standard deviation.
func standsOut(features int, sigma float64) float64 {
	const falseAlarm = 0.01
	// P(N(0,1) > t) ≤ exp(−t²/2)/2, summed over all bins.
	return max(0.5, sigma*math.Sqrt(2*math.Log(float64(binsPer*features)/(2*falseAlarm))))
}

// BoundsNoise is what private bounds come up against, before a row is looked at: the
// standard deviation of the noise on every count, in rows, and how many rows have to
// lie within a factor of two for bounds to show them, not counting what noise does to them.
// Both are 0 where no feature is numeric.
//
// Guarantee: it depends on what is public alone, and is what [BoundsHistogram.Bounds]
// decides by.
func (m Meta) BoundsNoise(noiseMultiplier float64) (std, least float64) {
	n := len(m.NumericFeatures())
	if n == 0 {
		return 0, 0
	}
	std = noiseMultiplier * math.Sqrt(float64(n))
	return std, standsOut(n, std)
}

// span covers the bins that reach threshold, or the fullest alone.
func span(counts []float64, threshold float64) (b Bound, sure bool) {
	first, last, most := -1, -1, 0
	for i, c := range counts {
		if c > counts[most] {
			most = i
		}
		if c >= threshold {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	sure = first >= 0
	if !sure {
		first, last = most, most
	}
	return Bound{edges(first).Lo, edges(last).Hi}, sure
}
