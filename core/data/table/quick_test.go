package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestQuickNumbersAreTheNearest: what is read quickly is what strconv reads, to the bit; all else is left to it.
func TestQuickNumbersAreTheNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	all := []string{"0", "-0", "+0", "1", "-1", ".5", "5.", "-.5", "0.1", "123456789012345", "999999999999999", "0.00000000000001", "1.2345678901234", "00012.50"}
	for range 100_000 {
		digits := strconv.FormatUint(rng.Uint64N(1e15), 10)
		if at := rng.IntN(len(digits) + 1); rng.IntN(3) > 0 {
			digits = digits[:at] + "." + digits[at:]
		}
		all = append(all, []string{"", "-", "+"}[rng.IntN(3)]+digits)
	}
	for _, s := range all {
		want, err := strconv.ParseFloat(s, 64)
		if got, ok := quick(s, '.'); err != nil || !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: %v, %t; want %v, %v", s, got, ok, want, err)
		}
	}
	for _, s := range []string{"", "-", "+", ".", "-.", "1.2.3", "1,5", "1e5", "--1", "1-", "+-1", "1 2", "$5", "5%", "1234567890123456", "0.1234567890123456", "inf", "٣", "1_000", "0x1"} {
		if got, ok := quick(s, '.'); ok {
			t.Errorf("%q is read as %v", s, got)
		}
	}
	if got, ok := quick("1234,5", ','); !ok || got != 1234.5 {
		t.Errorf("with a comma: %v, %t", got, ok)
	}
	if got, ok := quick("1.5", ','); ok {
		t.Errorf("with the other mark: %v", got)
	}
}

// TestStylesOfOneMark: a point before other than three digits is no mark between thousands.
func TestStylesOfOneMark(t *testing.T) {
	for s, both := range map[string]bool{"1.234": true, "12.345": true, "1.23": false, "1.2345": false, "1234.567": false, "0.123": false, ".5": false, "5.": false, "-1.234": true} {
		want := styleSet(pointStyles)
		if both {
			want |= 1 << commaAndPoints
		}
		if got := fitting(s); got != want {
			t.Errorf("%s fits %b, want %s", s, got, fmt.Sprintf("%b", want))
		}
	}
}
