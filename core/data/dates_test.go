package data

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// dated returns rows of a column of dates, which are given in days since 1970 began, and of one of numbers.
func dated(days []float64) *Dataset {
	ds := &Dataset{Task: Regression, Features: 2, Outputs: 1, Columns: []Column{{Name: "day", Kind: Numeric, First: 0, Date: "ymd", Offset: Millennium}, {Name: "x", Kind: Numeric, First: 1}}}
	ds.Train.N = len(days)
	for _, d := range days {
		ds.Train.F32 = append(ds.Train.F32, float32(d-Millennium), 3)
	}
	return ds
}

func dayOf(year, month int) float64 {
	return float64(time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC).Unix() / 86_400)
}

// TestDateBinsCoverTheCalendar: each day has one bin, and spans of every length join whole bins.
func TestDateBinsCoverTheCalendar(t *testing.T) {
	for i, lo := range dateEdges[:len(dateEdges)-1] {
		hi := dateEdges[i+1]
		if !(lo < hi) || dateBin(lo) != i || dateBin(math.Nextafter(hi, lo)) != i {
			t.Fatalf("bin %d is %v to %v, days in it are in %d and %d", i, lo, hi, dateBin(lo), dateBin(math.Nextafter(hi, lo)))
		}
	}
	if last := len(dateEdges) - 2; dateBin(-1e30) != 0 || dateBin(1e30) != last || !slices.Contains(dateEdges, dayOf(2019, 1)) {
		t.Error("the calendar does not reach as far as days do")
	}
	for _, months := range dateLevels {
		groups := dateGroups(months)
		if groups[0] != 0 || groups[len(groups)-1] != len(dateEdges)-1 || !slices.IsSorted(groups) {
			t.Errorf("spans of %d months begin at %v", months, groups)
		}
	}
}

// TestDateHistogramSensitivity takes away one row at a time.
func TestDateHistogramSensitivity(t *testing.T) {
	days := []float64{dayOf(1890, 1), dayOf(1955, 3), dayOf(2019, 7), dayOf(2019, 7) + 3.5, 1e6, -1e6}
	whole := NewBoundsHistogram(dated(days), true, false)
	if whole.Sought != (Sought{Features: 2, Dates: 1}) || whole.Len() != binsPer+len(dateEdges)-1 || whole.Sensitivity() != math.Sqrt2 {
		t.Fatalf("%+v: %d counts of sensitivity %v", whole.Sought, whole.Len(), whole.Sensitivity())
	}
	for i := range days {
		sum := 0.0
		for k, c := range NewBoundsHistogram(dated(slices.Delete(slices.Clone(days), i, i+1)), true, false).counts {
			sum += (whole.counts[k] - c) * (whole.counts[k] - c)
		}
		if sum != 2 {
			t.Errorf("without row %d the histogram moves by √%v", i, sum)
		}
	}
}

// TestPrivateBoundsOfDates: dates of two years have bounds of about two years, those of two months of some quarters, and those
// of a century, of which no year stands out, of about a century. A wrong span comes of noise in less than 1 % of runs, so
// that of 200 runs 10 or more are wrong with probability below 5e-5.
func TestPrivateBoundsOfDates(t *testing.T) {
	for _, tc := range []struct {
		name     string
		rows     int
		from, to float64 // days of the rows
		lo, hi   float64 // what bounds may be
	}{
		{"two years", 4000, dayOf(2019, 1), dayOf(2021, 1), dayOf(2019, 1), dayOf(2021, 1)},
		{"two months", 4000, dayOf(2020, 2), dayOf(2020, 4), dayOf(2020, 1), dayOf(2020, 7)},
		{"a century", 4000, dayOf(1925, 1), dayOf(2010, 1), dayOf(1850, 1), dayOf(2050, 1)},
		{"before the quarters", 4000, dayOf(1950, 1), dayOf(1970, 1), dayOf(1950, 1), dayOf(1970, 1)},
	} {
		rng := rand.New(rand.NewPCG(1, 9))
		var days []float64
		for range tc.rows {
			days = append(days, math.Floor(tc.from+rng.Float64()*(tc.to-tc.from)))
		}
		h := NewBoundsHistogram(dated(days), true, false)
		sigma, wrong := 8*h.Sensitivity(), 0
		for range 200 {
			found, err := h.Bounds(normalNoise(rng, sigma), sigma)
			if err != nil {
				t.Fatal(err)
			}
			lo, hi := found.Features[0].Lo+Millennium, found.Features[0].Hi+Millennium
			within := 0
			for _, d := range days {
				if lo <= d && d <= hi {
					within++
				}
			}
			if found.UncertainFeatures != 0 || lo < tc.lo || hi > tc.hi || 10*within < 9*len(days) {
				wrong++
			}
		}
		t.Logf("%s: %d of 200 are wrong", tc.name, wrong)
		if wrong >= 10 {
			t.Errorf("%s: %d of 200 bounds are wrong", tc.name, wrong)
		}
	}
	found, err := NewBoundsHistogram(dated([]float64{dayOf(2019, 3)}), true, false).Bounds(func([]float64) {}, 0)
	if want := (Bound{dayOf(2019, 1) - Millennium, dayOf(2019, 4) - Millennium}); err != nil || found.Features[0] != want {
		t.Errorf("without noise a day has the bounds %v, want %v, %v", found.Features[0], want, err)
	}
}
