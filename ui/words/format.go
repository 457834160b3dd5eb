// Package words writes numbers and sentences for people. Every sentence is made
// from the numbers it is given; where they say nothing, it says nothing.
package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
)

// Missing stands where there is no number.
const Missing = "–"

// Number writes x with at most digits significant digits and a real minus sign;
// very small and very large values in powers of ten. NaN is [Missing], the
// infinities are "∞" and "−∞".
func Number(x float64, digits int) string {
	switch {
	case math.IsNaN(x):
		return Missing
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	case x == 0:
		return "0"
	}
	if a := math.Abs(x); a < 1e-3 || a >= 1e6 {
		return power(strconv.FormatFloat(x, 'e', digits-1, 64))
	}
	places := max(0, digits-1-int(math.Floor(math.Log10(math.Abs(x)))))
	return minus(trimZeros(strconv.FormatFloat(x, 'f', places, 64)))
}

// Brief leaves out the middle of a name that has more than most letters, and shows its
// bidirectional controls (see [data.Shown]).
func Brief(s string, most int) string {
	s = data.Shown(s)
	if r := []rune(s); len(r) > most {
		return string(r[:most/2]) + "…" + string(r[len(r)-most/2+1:])
	}
	return s
}

// power turns 1.50e-05 into 1.5e−5.
func power(s string) string {
	mantissa, exponent, _ := strings.Cut(s, "e")
	n, err := strconv.Atoi(exponent)
	if err != nil {
		return minus(s)
	}
	return minus(trimZeros(mantissa) + "e" + strconv.Itoa(n))
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// Fixed writes x with a fixed number of decimal places, so that a figure that
// changes while it is looked at keeps its width.
func Fixed(x float64, places int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Number(x, 3)
	}
	return minus(strconv.FormatFloat(x, 'f', places, 64))
}

// Epsilon writes ε: two decimals, values under 0.005 with two significant digits.
//
// Guarantee: what it writes is not below x.
func Epsilon(x float64) string {
	switch {
	case !(x > 0) || math.IsInf(x, 1):
		return Fixed(x, 2)
	case x < 0.005:
		return Upper(x, 2)
	case x < 0.01:
		return "0.01"
	default:
		return Fixed(run.RoundUp(x, 3+int(math.Floor(math.Log10(x)))), 2)
	}
}

// ShortHash returns the first characters of a hash, as a name of it.
func ShortHash(hash string) string { return hash[:min(8, len(hash))] }

// Upper writes an upper bound, such as ε or δ, with at most digits significant
// digits.
//
// Guarantee: what it writes is not below x.
func Upper(x float64, digits int) string { return Number(run.RoundUp(x, digits), digits) }

// Lower writes a lower bound with at most digits significant digits.
//
// Guarantee: what it writes is not above x.
func Lower(x float64, digits int) string { return Number(run.RoundDown(x, digits), digits) }

// Percent writes a share of 1 as a percentage with the given decimal places.
func Percent(share float64, places int) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return Missing
	}
	return Fixed(100*share, places) + " %"
}

// Count writes a whole number with thousands separated by commas.
func Count(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Plural is "1 row", "2 rows".
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, found := strings.CutSuffix(one, "y"); found && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return Count(n) + " " + stem + "ies"
	}
	return Count(n) + " " + one + "s"
}

// Are is "1 is", "2 are".
func Are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return Count(n) + " are"
}

// Duration writes seconds with the unit a person would choose.
func Duration(seconds float64) string {
	switch {
	case math.IsNaN(seconds) || math.IsInf(seconds, 0) || seconds < 0:
		return Missing
	case seconds < 1e-3:
		return Number(seconds*1e6, 2) + " µs"
	case seconds < 1:
		return Number(seconds*1e3, 2) + " ms"
	case seconds < 10:
		return Fixed(seconds, 1) + " s"
	case seconds < 90:
		return Fixed(seconds, 0) + " s"
	case seconds < 5400:
		return fmt.Sprintf("%d min %02d s", int(seconds)/60, int(seconds)%60)
	default:
		return fmt.Sprintf("%d h %02d min", int(seconds)/3600, int(seconds)/60%60)
	}
}

// Bytes writes a size in decimal units.
func Bytes(n int64) string {
	switch x := float64(n); {
	case n < 1000:
		return Plural(int(n), "byte")
	case n < 1e6:
		return Number(x/1e3, 3) + " kB"
	case n < 1e9:
		return Number(x/1e6, 3) + " MB"
	default:
		return Number(x/1e9, 3) + " GB"
	}
}

// When writes a time of the past as people name it now: without the day or the
// year where those are the present ones.
func When(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	switch {
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format("15:04:05")
	case t.Year() == now.Year():
		return t.Format("2 Jan, 15:04")
	default:
		return t.Format("2 Jan 2006, 15:04")
	}
}
