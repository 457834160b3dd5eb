package run

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Number is a float64 that survives JSON. What JSON cannot write, NaN and the
// infinities, is an object with one key, [numberKey], and the number's name, as in
// MongoDB's Extended JSON. No text, whoever wrote it, is taken for one: the page
// can turn every such object into a number without a list of fields (hear in
// web/wire.js), and sends its own numbers in the same form.
type Number float64

// numberKey is the key of a number that JSON cannot write.
const numberKey = "$numberDouble"

// unwritable are the numbers that JSON cannot write, by name.
var unwritable = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if !math.IsNaN(f) && !math.IsInf(f, 0) {
		return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
	}
	name := "NaN"
	if f > 0 {
		name = "Infinity"
	} else if f < 0 {
		name = "-Infinity"
	}
	return fmt.Appendf(nil, "{%q:%q}", numberKey, name), nil
}

// UnmarshalJSON reads what MarshalJSON wrote, and null as NaN. What is no number
// is a [json.UnmarshalTypeError].
func (n *Number) UnmarshalJSON(b []byte) error {
	f := math.NaN()
	if b[0] == '{' {
		var o map[string]string
		err := json.Unmarshal(b, &o)
		v, known := unwritable[o[numberKey]]
		if err != nil || !known || len(o) != 1 {
			return &json.UnmarshalTypeError{Value: "object", Type: reflect.TypeFor[float64]()}
		}
		f = v
	} else if err := json.Unmarshal(b, &f); err != nil {
		return err // its context is added by whoever reads the whole
	}
	*n = Number(f)
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
