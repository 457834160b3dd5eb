package data

import (
	"fmt"
	"math"
	"slices"
)

// BoundsHistogram finds bounds of numeric features, and of targets that are numbers,
// privately: for each a histogram over bins whose edges are powers of two, noised once,
// and the span of the bins that stand out of the noise. The idea of exponential bins is
// ApproxBounds of Wilson et al., "Differentially Private SQL with Bounded User
// Contribution" (2020); here the noise is Gaussian and all share one release.
//
// Guarantee: when one example is added or removed, counts change by 1 in one bin of each
// feature, and by the targets' weight in one bin of each target, so the release of the
// whole histogram has the L2 sensitivity that [Sought] says. With Gaussian noise of
// noise_multiplier × Sensitivity it is one privacy.Gaussian{noise_multiplier} over all
// training rows; the bounds are computed from the noisy counts alone.
type BoundsHistogram struct {
	Sought
	features []int
	known    []Bound   // of the other features
	counts   []float64 // of the features, then of the targets
}

// Sought counts the columns for which private bounds are looked for.
type Sought struct{ Features, Targets int }

func (s Sought) columns() int { return s.Features + s.Targets }

// Len returns the number of counts that noise is added to.
func (s Sought) Len() int { return s.columns() * binsPer }

// weight returns the count that a row adds to a target's bin; it adds 1 to a feature's. Wrong bounds of a
// feature lose that feature, wrong bounds of the target lose everything: among many features, the features
// take an eighth more noise so that the target is seen well. The weight is a whole number, as noise
// on a grid needs.
func (s Sought) weight() float64 {
	return max(1, math.Floor(math.Sqrt(float64(s.Features)/float64(max(1, s.Targets)))/2))
}

// Sensitivity returns the L2 sensitivity of a histogram of the columns,
// √(features + weight²·targets); 0 where there are none, and then there is nothing to
// release.
func (s Sought) Sensitivity() float64 {
	return math.Sqrt(float64(s.Features) + s.weight()*s.weight()*float64(s.Targets))
}

// Obstacle measures the noise that private bounds of a column face, in rows: the standard
// deviation of the noise on every count, and how many rows have to lie within a factor of
// two for bounds to show them, not counting what noise does to them.
type Obstacle struct{ Std, Least float64 }

// Noise returns the obstacles of a feature's and a target's bounds, before a row is looked
// at; nothing where no such column is sought.
//
// Guarantee: it depends on what is public alone, and is what [BoundsHistogram.Bounds]
// decides by.
func (s Sought) Noise(noiseMultiplier float64) (feature, target Obstacle) {
	std := noiseMultiplier * s.Sensitivity()
	if s.Features > 0 {
		feature = Obstacle{std, s.standsOut(std)}
	}
	if s.Targets > 0 {
		target = Obstacle{std / s.weight(), s.standsOut(std) / s.weight()}
	}
	return feature, target
}

// standsOut returns the number of rows that a bin of a feature has to hold to count as occupied, sigma
// being the noise's standard deviation.
func (s Sought) standsOut(sigma float64) float64 {
	const falseAlarm = 0.01
	// P(N(0,1) > t) ≤ exp(−t²/2)/2, summed over all bins.
	return max(0.5, sigma*math.Sqrt(2*math.Log(float64(binsPer*s.columns())/(2*falseAlarm))))
}

// The bins of a feature: magnitudes below 2^lowest, then 2^k … 2^(k+1) for each
// k, positive and negative; the last also holds everything larger.
const (
	lowest  = -20
	highest = 40
	octaves = highest - lowest
	binsPer = 1 + 2*octaves
)

// NewBoundsHistogram counts the training rows of ds: their numeric features, their
// targets, which have to be numbers, or both. The counts are private: they leave only
// through Bounds.
func NewBoundsHistogram(ds *Dataset, features, targets bool) *BoundsHistogram {
	h := &BoundsHistogram{known: ds.KnownBounds()}
	if features {
		h.features = ds.NumericFeatures()
	}
	h.Features = len(h.features)
	if targets {
		h.Targets = ds.Outputs
	}
	h.counts = make([]float64, binsPer*h.columns())
	weight := h.weight()
	for i := range ds.Train.N {
		for k, f := range h.features {
			h.counts[k*binsPer+bin(float64(ds.Train.value(i*ds.Features+f)))]++
		}
		for k, y := range ds.Train.Y[i*h.Targets : (i+1)*h.Targets] {
			h.counts[(h.Features+k)*binsPer+bin(float64(y))] += weight
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

// edges returns the bounds of bin i.
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

// PrivateBounds are the bounds that [BoundsHistogram.Bounds] releases.
type PrivateBounds struct {
	Features []Bound // of all features of the data set
	Targets  []Bound // nil where they were not sought
	// How many of either are guesses, as no bin stood out of the noise.
	UncertainFeatures, UncertainTargets int
}

// Bounds releases the histogram once, through noise, which must add independent
// Gaussian noise of standard deviation sigma to each element, and returns
// bounds for all features of the data set: [0, 1] for those of categories, and
// what was declared of columns. A
// bin counts as occupied when noise alone would lift any empty bin so high with
// probability at most 1 %. Where no bin stands out, the fullest does, and the bounds
// are uncertain. Call it once: a second call is a second release.
func (h *BoundsHistogram) Bounds(noise func(dst []float64), sigma float64) (*PrivateBounds, error) {
	if !(sigma >= 0) || math.IsInf(sigma, 0) {
		return nil, fmt.Errorf("data: private bounds: want a finite sigma of at least 0, have %v", sigma)
	}
	found := &PrivateBounds{Features: slices.Clone(h.known)}
	if h.columns() == 0 {
		return found, nil
	}
	noisy := append([]float64(nil), h.counts...)
	noise(noisy)
	threshold := h.standsOut(sigma)
	of := func(k int, uncertain *int) Bound {
		b, sure := span(noisy[k*binsPer:(k+1)*binsPer], threshold)
		if !sure {
			*uncertain++
		}
		return b
	}
	for k, f := range h.features {
		found.Features[f] = of(k, &found.UncertainFeatures)
	}
	for k := range h.Targets {
		found.Targets = append(found.Targets, of(h.Features+k, &found.UncertainTargets))
	}
	return found, nil
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
