package privacy

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"testing"
)

// sketchOf is the sketch of the numbers from lo to hi, hashed with a salt.
func sketchOf(salt string, lo, hi int) []string {
	var s Sketch
	for i := lo; i < hi; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", salt, i))
		s.Add(sum[:])
	}
	hashes, err := hashesOf(s.Text())
	if err != nil {
		panic(err)
	}
	return hashes
}

func common(a, b []string) bool {
	in := map[string]bool{}
	for _, h := range a {
		in[h] = true
	}
	return slices.ContainsFunc(b, func(h string) bool { return in[h] })
}

// TestSketchIsExactWhereItIsWhole: up to SketchSize members one in common is noticed, and
// sets without one are told apart.
func TestSketchIsExactWhereItIsWhole(t *testing.T) {
	for _, n := range []int{0, 1, 60, SketchSize - 1, SketchSize} {
		a := sketchOf("", 0, n)
		if len(a) != n {
			t.Errorf("of %d members %d are kept", n, len(a))
		}
		if n > 0 && !common(a, sketchOf("", n-1, 2*n-1)) {
			t.Errorf("%d members: the one in common is missed", n)
		}
		if common(a, sketchOf("", n, 2*n)) {
			t.Errorf("%d members: others are taken for the same", n)
		}
	}
	// The order and repetitions do not matter.
	var one, two Sketch
	for i := range 3 * SketchSize {
		a, b := sha256.Sum256([]byte{byte(i), byte(i >> 8)}), sha256.Sum256([]byte{byte(3*SketchSize - 1 - i), byte((3*SketchSize - 1 - i) >> 8)})
		one.Add(a[:])
		two.Add(b[:])
		two.Add(b[:])
	}
	if one.Text() != two.Text() || len(one.Text()) != (8*SketchSize+2)/3*4 {
		t.Errorf("a sketch depends on the order: %d and %d bytes", len(one.Text()), len(two.Text()))
	}
}

// TestSketchMissesAsStated: of large sets that share a part, pairs of sketches miss it no
// more often than Sketch states. With the bound at 2(1 − m/n)^4096 = 0.033 the mean of 60
// pairs is at most 2 misses, and more than 10 have a probability below 10⁻⁴ (Poisson). The first
// row, of 1/200, is never missed: 60·3·10⁻⁹.
func TestSketchMissesAsStated(t *testing.T) {
	const n, pairs = 10_000, 60
	for _, c := range []struct{ shared, most int }{{n / 200, 0}, {n / 1000, 10}} {
		missed := 0
		for i := range pairs {
			salt := fmt.Sprint(c.shared, i)
			if !common(sketchOf(salt, 0, n), sketchOf(salt, n-c.shared, 2*n-c.shared)) {
				missed++
			}
		}
		if missed > c.most {
			t.Errorf("%d of %d pairs that share %d of %d are missed; stated are %.2g", missed, pairs, c.shared, n, 2*math.Pow(1-float64(c.shared)/n, SketchSize))
		}
	}
	if common(sketchOf("a", 0, n), sketchOf("b", 0, n)) {
		t.Error("under another salt the same set has common hashes")
	}
}

func TestSketchRefusesDamage(t *testing.T) {
	for _, bad := range []string{"x", "AAAA", "AAAAAAAAAA=="} {
		if _, err := hashesOf(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
