package data

import (
	"fmt"
	"math"
	"slices"
)

// BoundsHistogram finds bounds of numeric features, and of targets that are numbers,
// privately: for each a histogram over bins whose edges are powers of two, or for dates and times
// quarters and years, noised once,
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
	grids    []grid    // of the features, then of the targets
	known    []Bound   // of the other features
	counts   []float64 // of the features, then of the targets
}

// Sought counts the columns for which private bounds are looked for. Dates are those of either kind that hold dates or
// times.
type Sought struct{ Features, Targets, Dates int }

func (s Sought) columns() int { return s.Features + s.Targets }

// Sought returns the columns of the data set for which private bounds of features, of targets, or of both are
// looked for.
func (d *Dataset) Sought(features, targets bool) (s Sought) {
	if features {
		s.Features = len(d.NumericFeatures())
		for _, c := range d.Columns {
			if c.Kind == Numeric && c.Instants() && c.Bounds == nil {
				s.Dates++
			}
		}
	}
	if targets {
		s.Targets = d.Outputs
		if d.targetDates() {
			s.Dates += s.Targets
		}
	}
	return s
}

// targetDates reports whether the targets are dates.
func (d *Dataset) targetDates() bool {
	return d.Task == Regression && slices.ContainsFunc(d.Columns, func(c Column) bool { return c.Kind == Label && c.Instants() })
}

// Len returns the number of counts that noise is added to.
func (s Sought) Len() int { return (s.columns()-s.Dates)*binsPer + s.Dates*(len(dateEdges)-1) }

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
// two, or of dates within a quarter, for bounds to show them, not counting what noise does to them.
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
	tests := (s.columns()-s.Dates)*binsPer + s.Dates*dateTests
	// P(N(0,1) > t) ≤ exp(−t²/2)/2, summed over all bins.
	return max(0.5, sigma*math.Sqrt(2*math.Log(float64(tests)/(2*falseAlarm))))
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
	h := &BoundsHistogram{Sought: ds.Sought(features, targets), known: ds.KnownBounds()}
	if features {
		h.features = ds.NumericFeatures()
	}
	dates, offsets := map[int]bool{}, ds.offsets()
	for _, c := range ds.Columns {
		dates[c.First] = c.Kind == Numeric && c.Instants()
	}
	for _, f := range h.features {
		h.addGrid(dates[f], offsets[f])
	}
	for range h.Targets {
		h.addGrid(ds.targetDates(), 0)
	}
	h.counts = make([]float64, h.Len())
	weight, dense := h.weight(), ds.Dense()
	for i := range ds.Train.N {
		for k, f := range h.features {
			h.counts[h.grids[k].bin(float64(ds.Train.value(i*dense+f)))]++
		}
		for k, y := range ds.Train.Y[i*h.Targets : (i+1)*h.Targets] {
			h.counts[h.grids[h.Features+k].bin(float64(y))] += weight
		}
	}
	return h
}

// grid says where the counts of a column are, and what each counts.
type grid struct {
	first, end int // its counts
	dates      bool
	offset     float64 // of dates: what was subtracted of days since 1970 began
}

func (h *BoundsHistogram) addGrid(dates bool, offset float64) {
	first, bins := 0, binsPer
	if n := len(h.grids); n > 0 {
		first = h.grids[n-1].end
	}
	if dates {
		bins = len(dateEdges) - 1
	}
	h.grids = append(h.grids, grid{first, first + bins, dates, offset})
}

func (g *grid) bin(x float64) int {
	if g.dates {
		return g.first + dateBin(x+g.offset)
	}
	return g.first + bin(x)
}

// span returns the bounds that the noisy counts of all columns show of this one, and whether they stand out.
func (g *grid) span(counts []float64, threshold, sigma float64) (Bound, bool) {
	own := counts[g.first:g.end]
	if !g.dates {
		return span(own, threshold)
	}
	b, sure := dateSpan(own, threshold, sigma)
	return Bound{b.Lo - g.offset, b.Hi - g.offset}, sure
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
	Features []Bound // of all dense features of the data set
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
		b, sure := h.grids[k].span(noisy, threshold, sigma)
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
