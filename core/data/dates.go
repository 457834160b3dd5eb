package data

import (
	"math"
	"slices"
	"time"
)

// Private bounds of dates and times come from a public calendar: quarters where most data of our time are, and years and
// decades around them. Where these have too few rows to stand out of the noise, neighbours are taken together, up to
// half a century. That looks at noisy counts alone.

// dateLevels lists the lengths, in months, of the spans that bins are joined to, the finest first.
var dateLevels = []int{3, 12, 24, 60, 120, 300, 600}

// dateMonths lists the first month of each bin, and the end of the last, in months since the year 0.
var dateMonths = func() (all []int) {
	years := func(from, to, months int) {
		for m := 12 * from; m < 12*to; m += months {
			all = append(all, m)
		}
	}
	years(1800, 1900, 600)
	years(1900, 1940, 120)
	years(1940, 2010, 12)
	years(2010, 2035, 3)
	years(2035, 2060, 12)
	years(2060, 2100, 120)
	return append(all, 12*2100, 12*2150)
}()

// dateEdges lists the edges of the bins, in days since 1970 began. The first and the last bin hold what is beyond, too.
var dateEdges = func() (all []float64) {
	for _, m := range dateMonths {
		all = append(all, float64(time.Date(m/12, time.Month(1+m%12), 1, 0, 0, 0, 0, time.UTC).Unix()/86_400))
	}
	return all
}()

// dateTests counts the spans of a column of dates that can stand out, over all levels.
var dateTests = func() (n int) {
	for _, months := range dateLevels {
		n += len(dateGroups(months))
	}
	return n
}()

// dateGroups returns the first bin of each span of so many months, and the end of the last. A bin may be longer.
func dateGroups(months int) (first []int) {
	for i, m := range dateMonths[:len(dateMonths)-1] {
		if i == 0 || m/months != dateMonths[i-1]/months {
			first = append(first, i)
		}
	}
	return append(first, len(dateMonths)-1)
}

// dateBin returns the bin of a day since 1970 began.
func dateBin(days float64) int {
	i, found := slices.BinarySearch(dateEdges, days)
	if !found {
		i--
	}
	return min(max(i, 0), len(dateEdges)-2)
}

// dateSpan returns the bounds that noisy counts show. It is the span of the finest level that leaves no more outside
// than noise may be; where nothing stands out, it is the fullest span of the coarsest level, and not sure. threshold is
// the count that stands out in one bin; sigma is the standard deviation of a count's noise.
func dateSpan(counts []float64, threshold, sigma float64) (b Bound, sure bool) {
	const tail = 3 // standard deviations
	for _, months := range dateLevels {
		groups := dateGroups(months)
		lo, hi, most, fullest := -1, -1, math.Inf(-1), 0
		for g := range groups[1:] {
			from, to := groups[g], groups[g+1]
			count := sum(counts[from:to])
			if count > most {
				most, fullest = count, g
			}
			if count >= threshold*math.Sqrt(float64(to-from)) {
				if lo < 0 {
					lo = from
				}
				hi = to
			}
		}
		if lo < 0 {
			if !sure {
				b = Bound{dateEdges[groups[fullest]], dateEdges[groups[fullest+1]]}
			}
			continue
		}
		b, sure = Bound{dateEdges[lo], dateEdges[hi]}, true
		outside := len(counts) - (hi - lo)
		if sum(counts[:lo])+sum(counts[hi:]) <= max(0.5, tail*sigma*math.Sqrt(float64(outside))) {
			break
		}
	}
	return b, sure
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}
