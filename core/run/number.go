package run

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number is a float64 that survives JSON: NaN is null, the infinities are the
// strings "Infinity" and "-Infinity".
type Number float64

func (n Number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsNaN(f):
		return []byte("null"), nil
	case math.IsInf(f, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
	}
}

func (n *Number) UnmarshalJSON(b []byte) error {
	switch s := string(bytes.Trim(b, `"`)); s {
	case "null":
		*n = Number(math.NaN())
	case "Infinity", "-Infinity":
		*n = Number(math.Inf(map[bool]int{true: 1, false: -1}[s[0] == 'I']))
	default:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("run: number %q: %w", s, err)
		}
		*n = Number(f)
	}
	return nil
}

// RoundUp is the least number of at most so many significant decimal digits that
// is not below x: how ε, and δ as a guarantee, are shown and written wherever
// they are not written in full. What is no finite number stays as it is.
//
// Guarantee: RoundUp(x, digits) ≥ x.
func RoundUp(x float64, digits int) float64 {
	if x < 0 {
		return -RoundDown(-x, digits)
	}
	return rounded(x, digits, func(y float64) bool { return y >= x }, 1)
}

// RoundDown is the greatest number of at most so many significant decimal digits
// that is not above x, for lower bounds.
//
// Guarantee: RoundDown(x, digits) ≤ x.
func RoundDown(x float64, digits int) float64 {
	if x < 0 {
		return -RoundUp(-x, digits)
	}
	return rounded(x, digits, func(y float64) bool { return y <= x }, -1)
}

// rounded is x ≥ 0 to the nearest such number, or the one beside it on the side
// of unit if the nearest does not do. It works on the digits, as multiplying by
// powers of ten rounds on its own.
func rounded(x float64, digits int, does func(float64) bool, unit int64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	s := strconv.FormatFloat(x, 'e', max(digits, 1)-1, 64)
	if y, err := strconv.ParseFloat(s, 64); err == nil && does(y) {
		return y
	}
	mantissa, exponent, _ := strings.Cut(s, "e")
	n, _ := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1), 10, 64)
	e, _ := strconv.Atoi(exponent)
	e -= max(digits, 1) - 1
	if unit < 0 && strings.TrimRight(mantissa, "0.") == "1" {
		n, e = 10*n, e-1 // below a power of ten the units are smaller
	}
	y, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", n+unit, e), 64) // beyond the range: +Inf
	return y
}

// UpText is RoundUp as text in the form of %g, +Inf as ∞.
func UpText(x float64, digits int) string { return text(RoundUp(x, digits), digits) }

// DownText is RoundDown as text in the form of %g, +Inf as ∞.
func DownText(x float64, digits int) string { return text(RoundDown(x, digits), digits) }

func text(x float64, digits int) string {
	if math.IsInf(x, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.*g", digits, x)
}

// MaxGroup is the largest number of rows of one person that is priced.
const MaxGroup = 1000
