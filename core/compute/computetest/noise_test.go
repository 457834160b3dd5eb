package computetest

import (
	"math"
	"os"
	"testing"

	"clipscope/core/chacha"
)

// radius32 returns the radius of a radius word r ≥ 2¹⁶ and the u it is made from, in the
// float32 arithmetic of noise.ts, where multiply-add is two operations, and of noise.wgsl.
func radius32(r uint32) (radius, u float32) {
	madd := func(a, b, c float32) float32 { return float32(a*b) + c }
	x := madd(float32(int32(r)), 0x1p-32, 0x1p-33)
	if u = x; r >= 1<<31 {
		u = x + 1
	}
	k := (int32(math.Float32bits(u)) - 0x3f3504f3) >> 23
	f := x
	if k != 0 {
		f = math.Float32frombits(math.Float32bits(u)-uint32(k<<23)) - 1
	}
	p := madd(0.20383489, f, -0.32048795)
	for _, c := range []float32{0.3427426, -0.39849004, 0.49966535, -0.6666849, 1} {
		p = madd(p, f, c)
	}
	p = madd(p, float32(f*f), float32(f*-2))
	p = madd(float32(k), -1.38629436, p)
	return float32(math.Sqrt(float64(p))), u
}

// sine32 returns the sine and the cosine that are computed of an angle word, without
// quarter turns, in the same arithmetic.
func sine32(a uint32) (sin, cos float32) {
	madd := func(a, b, c float32) float32 { return float32(a*b) + c }
	y := float32(int32((a+1<<29)&0x3fffff00)-0x1fffff80) * 1.46291807927e-9
	yy := y * y
	s := madd(madd(-0.00019495568, yy, 0.008331978), yy, -0.16666651)
	c := madd(madd(madd(-0.0013652403, yy, 0.041661277), yy, -0.5), yy, 1)
	return madd(float32(yy*y), s, y), c
}

// TestFloat32NoiseIsExactButForRounding: in the kernels' arithmetic no radius, sine or cosine is 0, each is
// the exact one but for rounding, and no radius has more words than rounding gives it. It
// takes the words beside every bound at which a formula or a digit changes; with
// CLIPSCOPE_EXHAUST=1 all of them, in some minutes.
//
// Rounding merges neighbours twice: u, or 1 − u below 1 − √½, keeps 24 digits, so that up
// to 2⁸ words have one; and the root does, where a unit in its last place is as wide as
// 2³²·u·radius·ulp words. The logarithm is rounded as well, a few times, and its digits are
// spread unevenly, so a radius is allowed four times the larger number, and three more.
func TestFloat32NoiseIsExactButForRounding(t *testing.T) {
	const window = uint64(1 << 13)
	var starts []uint64
	for bit := 16; bit <= 32; bit++ {
		starts = append(starts, max(1<<16, 1<<bit-window), min(1<<32-window, 1<<bit))
	}
	starts = append(starts, 3037000499-window/2, 3<<30, 5<<29) // √½, ¾, ⅝
	angles := []uint64{0, 1<<21 - 1<<11, 1<<21 + 1<<11, 1 << 22, 1<<23 + 5<<12, 1<<24 - window}
	if os.Getenv("CLIPSCOPE_EXHAUST") != "" {
		starts, angles = nil, nil
		for at := uint64(1 << 16); at < 1<<32; at += window {
			starts = append(starts, at)
		}
		for at := uint64(0); at < 1<<24; at += window {
			angles = append(angles, at)
		}
	}
	leastRadius, leastSide := float32(math.MaxFloat32), float32(math.MaxFloat32)
	far := 0.0
	for _, start := range starts {
		words := map[float32]int{}
		for r := start; r < start+window; r++ {
			radius, u := radius32(uint32(r))
			words[radius]++
			leastRadius = min(leastRadius, radius)
			exact := math.Sqrt(-2 * math.Log1p((float64(r)+0.5)*0x1p-32-1))
			far = max(far, math.Abs(float64(radius)/exact-1))
			ulp := float64(math.Nextafter32(radius, 99) - radius)
			kept := 1.0
			if v := min(float64(u), 1-float64(u)); v > 0 { // words that the digits of x take for one
				kept = max(1, math.Exp2(math.Floor(math.Log2(v))-23+32))
			}
			if u >= 0.5 && u < math.Sqrt2/2 {
				kept = 1 << 8
			}
			if most := 4*max(kept, 0x1p32*float64(u)*float64(radius)*ulp) + 3; float64(words[radius]) > most {
				t.Fatalf("%d words from %d have the radius %v, of which rounding explains %.3g", words[radius], start, radius, most)
			}
		}
	}
	for _, start := range angles {
		sines := map[float32]int{}
		for a := start; a < start+window; a++ {
			sin, cos := sine32(uint32(a << 8))
			leastSide = min(leastSide, max(sin, -sin), cos)
			if sines[sin]++; sines[sin] > 1 {
				t.Fatalf("angles from %d have the sine %v twice", start, sin)
			}
		}
	}
	t.Logf("the least radius is %v, sine %v; no radius is further than %.2g from the exact one, relatively", leastRadius, leastSide, far)
	if !(leastRadius >= 0x1p-16 && leastSide > 1.87e-7 && leastRadius*leastSide > 0x1p-126 && far < 1e-6) {
		t.Error("a number is too small, or too far off")
	}
}

// TestHostileKeysAreHostile: the words of their blocks are at the bounds that they are
// listed for.
func TestHostileKeysAreHostile(t *testing.T) {
	near := func(word, bound, distance uint32) bool { return word-(bound-distance) < 2*distance }
	found := map[string]int{}
	for _, h := range hostileKeys {
		var words [16]uint32
		chacha.Block(&[8]uint32{}, 0, &[3]uint32{0, 0, h}, &words)
		for i := 0; i < 16; i += 2 {
			for name, is := range map[string]bool{
				"radius 1": near(words[i], 0, 128) && words[i] > 1<<31, "radius 0": words[i] < 4, "half": near(words[i], 1<<31, 8),
				"axis": near(words[i+1], 0, 256), "quarter": near(words[i+1], 1<<30, 256), "eighth": near(words[i+1], 1<<29, 256),
				"two": near(words[i+1], 2<<30, 256), "three": near(words[i+1], 3<<30, 256),
			} {
				if is {
					found[name]++
				}
			}
		}
	}
	for name, least := range map[string]int{"radius 1": 4, "radius 0": 2, "half": 2, "axis": 4, "quarter": 2, "eighth": 4, "two": 2, "three": 2} {
		if found[name] < least {
			t.Errorf("%d words of hostile keys are %s, not %d", found[name], name, least)
		}
	}
}
