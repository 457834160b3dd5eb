package chacha

import (
	"math"
	"os"
	"slices"
	"testing"
)

var (
	testKey   = [8]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89} // π
	testNonce = [3]uint32{0x452821e6, 0x38d01377, 0xbe5466cf}
)

func normals(t testing.TB, key [8]uint32, nonce [3]uint32, n int) []float64 {
	t.Helper()
	z := make([]float64, n)
	if err := Normal(&key, &nonce, z); err != nil {
		t.Fatal(err)
	}
	return z
}

// The package comment, read literally: the pair i of lane l in group g.
func TestNormalIsTheDocumentedSequence(t *testing.T) {
	z := normals(t, testKey, testNonce, 5*groupLen)
	for g := range 5 {
		for l := range 4 {
			var words [16]uint32
			Block(&testKey, uint32(4*g+l), &testNonce, &words)
			for i := range 8 {
				u := (float64(words[2*i]) + 0.5) / (1 << 32)
				theta := 2 * math.Pi * (float64(words[2*i+1]>>8) + 0.5) / (1 << 24)
				radius := math.Sqrt(-2 * math.Log(u))
				at := 64*g + 8*i + l
				if got, want := z[at], radius*math.Cos(theta); math.Abs(got-want) > 1e-3 {
					t.Errorf("element %d = %v, want about %v", at, got, want)
				}
				if got, want := z[at+4], radius*math.Sin(theta); math.Abs(got-want) > 1e-3 {
					t.Errorf("element %d = %v, want about %v", at+4, got, want)
				}
			}
		}
	}
}

func TestNormalPrefixesAreEqual(t *testing.T) {
	all := normals(t, testKey, testNonce, 3*groupLen)
	for n := range all {
		if got := normals(t, testKey, testNonce, n); !slices.Equal(got, all[:n]) {
			t.Fatalf("the first %d are not a prefix of the first %d", n, len(all))
		}
	}
	short := make([]float32, 100)
	if err := Normal(&testKey, &testNonce, short); err != nil {
		t.Fatal(err)
	}
	for i, v := range short {
		if v != float32(all[i]) {
			t.Errorf("float32 element %d = %v, want %v", i, v, float32(all[i]))
		}
	}
}

func TestNormalRefusesACounterThatRepeats(t *testing.T) {
	if err := checkLen(MaxNormals); err != nil {
		t.Errorf("the longest sequence: %v", err)
	}
	if err := checkLen(MaxNormals + 1); err == nil {
		t.Error("a sequence whose counter repeats is not refused")
	}
}

func TestBoxMullerGivesKnownNormals(t *testing.T) {
	const quarter, step = 1 << 30, math.Pi * 0x1p-24 // half a step of the angles' grid, in radians
	most := [2]uint32{math.MaxUint32, math.MaxUint32}
	tests := []struct {
		name   string
		r      uint32
		e      [2]uint32
		a      uint32
		z0, z1 float64
	}{
		{"the smallest radius", math.MaxUint32, [2]uint32{}, 0, 0x1p-16, 0x1p-16 * step},
		{"the smallest radius, a quarter turn", math.MaxUint32, [2]uint32{}, quarter, -0x1p-16 * step, 0x1p-16},
		{"the second", 1<<32 - 2, [2]uint32{}, 0, 0x1p-16 * 1.7320508, 0x1p-16 * 1.7320508 * step},
		{"129 from the end", 1<<32 - 129, [2]uint32{}, 0, 2.44617e-4, 2.44617e-4 * step},
		{"above a half", 1 << 31, [2]uint32{}, 0, 1.17741, 1.17741 * step},
		{"below a half", 1<<31 - 1, [2]uint32{}, 0, 1.17741, 1.17741 * step},
		{"a quarter turn", 1 << 31, [2]uint32{}, quarter, -1.17741 * step, 1.17741},
		{"a half turn", 1 << 31, [2]uint32{}, 2 * quarter, -1.17741, -1.17741 * step},
		{"three quarters", 1 << 31, [2]uint32{}, 3 * quarter, 1.17741 * step, -1.17741},
		{"the last angle", 1 << 31, [2]uint32{}, math.MaxUint32, 1.17741, -1.17741 * step},
		{"the low byte of an angle is ignored", 1 << 31, [2]uint32{}, 255, 1.17741, 1.17741 * step},
		{"last before the tail ignores the extension", 1 << 16, most, 0, 4.70964, 4.70964 * step},
		{"first of the tail", 1<<16 - 1, most, 0, 4.70964, 4.70964 * step},
		{"tail", 1, [2]uint32{}, 0, 6.66044, 6.66044 * step},
		{"deeper", 0, [2]uint32{1 << 16}, 0, 8.157335, 8.157335 * step},
		{"deep in the tail", 0, [2]uint32{0, 1 << 16}, 0, 10.531075, 10.531075 * step},
		{"its end", 0, [2]uint32{}, quarter, -11.596252 * step, 11.596252},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			z0, z1 := boxMuller(tt.r, tt.e, tt.a)
			if math.Abs(z0/tt.z0-1) > 1e-5 || math.Abs(z1/tt.z1-1) > 1e-5 {
				t.Errorf("got (%.8g, %.8g), want (%.8g, %.8g)", z0, z1, tt.z0, tt.z1)
			}
			if max(math.Abs(z0), math.Abs(z1)) > MaxNormal {
				t.Errorf("(%v, %v) is beyond MaxNormal", z0, z1)
			}
		})
	}
}

// TestEveryNormalWordHasItsOwnValue: no normal is 0, and each radius word has a radius of its own, as each
// angle has a sine and a cosine of its own but for those that symmetry makes equal. It
// takes the words beside every bound at which a formula or a digit changes;
// with CLIPSCOPE_EXHAUST=1 all 2³² radius words and all 2²⁴ angles, in some minutes.
//
// Words of one weight whose values all differ are the law: none is more likely than
// another. The least product of a radius and a sine is checked as well.
func TestEveryNormalWordHasItsOwnValue(t *testing.T) {
	const near = uint64(1 << 12)
	radii, angles := [][2]uint64{}, [][2]uint64{}
	for bit := 16; bit <= 32; bit++ {
		radii = append(radii, [2]uint64{max(tailBelow, 1<<bit-near), min(1<<32, 1<<bit+near)})
	}
	radii = append(radii, [2]uint64{3037000499 - near, 3037000499 + near}) // √½
	for turn := range uint64(9) {                                          // eighths
		angles = append(angles, [2]uint64{max(turn<<21, near) - near, min(1<<24, turn<<21+near)})
	}
	if os.Getenv("CLIPSCOPE_EXHAUST") != "" {
		radii, angles = [][2]uint64{{tailBelow, 1 << 32}}, [][2]uint64{{0, 1 << 24}}
	}
	least := math.Inf(1)
	decreasing := func(name string, last, radius float64) float64 {
		if !(radius < last && radius > 0) {
			t.Fatalf("%s: a radius of %v after one of %v", name, radius, last)
		}
		least = min(least, radius)
		return radius
	}
	for _, words := range radii {
		last := math.Inf(1)
		for r := words[0]; r < words[1]; r++ {
			last = decreasing("words", last, math.Sqrt(-2*logUniform(uint32(r), [2]uint32{})))
		}
	}
	last := math.Inf(1)
	for _, w := range [][3]uint32{{0, 0, 0}, {0, 0, 1}, {0, 0, math.MaxUint32}, {0, 1, 0}, {0, math.MaxUint32, 0}, {1, 0, 0}, {1, 1, 0}, {tailBelow - 1, math.MaxUint32, math.MaxUint32}, {tailBelow, 0, 0}} {
		last = decreasing("extensions", last, math.Sqrt(-2*logUniform(w[0], [2]uint32{w[1], w[2]})))
	}
	side := math.Inf(1)
	for _, words := range angles {
		for a := words[0]; a < words[1]; a++ {
			sin, cos := math.Sincos(2 * math.Pi * 0x1p-24 * (float64(a) + 0.5))
			next, nextCos := math.Sincos(2 * math.Pi * 0x1p-24 * (float64(a) + 1.5))
			side = min(side, math.Abs(sin), math.Abs(cos))
			if math.Hypot(next-sin, nextCos-cos) < math.Pi*0x1p-23*(1-1e-6) {
				t.Fatalf("angles %d and %d are closer than a step", a, a+1)
			}
		}
	}
	if product := least * side; !(least >= 0x1p-16*(1-1e-9) && side >= math.Pi*0x1p-24*(1-1e-6) && product > 2.8e-12 && float32(product) > 0x1p-126) {
		t.Errorf("the least radius is %v, the least sine %v", least, side)
	}
}

// A radius word under 2¹⁶ turns up in one block in 2¹³; its extension comes
// from the nonce with the flipped bit.
func TestNormalTailReadsItsExtension(t *testing.T) {
	found := 0
	for counter := uint32(0); found < 3; counter++ {
		var words, tail [16]uint32
		Block(&testKey, counter, &testNonce, &words)
		for i := range 8 {
			if words[2*i] >= tailBelow {
				continue
			}
			found++
			nonce := testNonce
			nonce[0] ^= 0x80000000
			Block(&testKey, counter, &nonce, &tail)
			var z [groupLen]float64
			normalGroup(&testKey, &testNonce, counter/4, &z)
			at := 8*i + int(counter%4)
			u := (float64(words[2*i])*(1<<32)+float64(tail[2*i]))*0x1p-64 + (float64(tail[2*i+1])+0.5)*0x1p-96
			if got, want := z[at]*z[at]+z[at+4]*z[at+4], -2*math.Log(u); math.Abs(got-want) > 1e-5 {
				t.Errorf("block %d, pair %d: squared radius %v, want %v", counter, i, got, want)
			}
		}
	}
}

// statistics of one million normals. The key is fixed, so the tests either
// always pass or always fail; their false-alarm rate is the probability that a
// true normal sequence under a random key fails.
const draws = 1_000_000

// False-alarm rate 10⁻⁶: Kolmogorov's distribution, P(√n·D > x) ≈ 2·exp(−2x²).
func TestNormalPassesKolmogorovSmirnov(t *testing.T) {
	z := normals(t, testKey, testNonce, draws)
	slices.Sort(z)
	d := 0.0
	for i, v := range z {
		p := 0.5 * math.Erfc(-v/math.Sqrt2)
		d = max(d, math.Abs(p-float64(i)/draws), math.Abs(p-float64(i+1)/draws))
	}
	limit := math.Sqrt(-math.Log(1e-6/2) / 2)
	if x := math.Sqrt(draws) * d; x > limit {
		t.Errorf("√n·D = %.3f, want at most %.3f", x, limit)
	}
}

// False-alarm rate 6·10⁻⁷ a row (five standard errors), 8 rows.
func TestNormalHasTheMoments(t *testing.T) {
	z := normals(t, testKey, testNonce, draws)
	mean := func(f func(i int) float64) float64 {
		s := 0.0
		for i := range z {
			s += f(i)
		}
		return s / draws
	}
	pow := func(p float64) func(int) float64 {
		return func(i int) float64 { return math.Pow(z[i], p) }
	}
	lag := func(k int) func(int) float64 {
		return func(i int) float64 { return z[i] * z[(i+k)%draws] }
	}
	for _, tt := range []struct {
		name      string
		f         func(i int) float64
		want, std float64 // of f
	}{
		{"z", pow(1), 0, 1},
		{"z²", pow(2), 1, math.Sqrt(2)},
		{"z³", pow(3), 0, math.Sqrt(15)},
		{"z⁴", pow(4), 3, math.Sqrt(105 - 9)},
		{"lag 1", lag(1), 0, 1},
		{"lag 4, the pairs", lag(4), 0, 1},
		{"lag 64, the groups", lag(64), 0, 1},
		{"squares of the pairs", func(i int) float64 {
			j := i ^ 4
			return (z[i]*z[i] - 1) * (z[j]*z[j] - 1)
		}, 0, 2 * math.Sqrt2}, // each pair counts twice
	} {
		got := mean(tt.f)
		if limit := 5 * tt.std / math.Sqrt(draws); math.Abs(got-tt.want) > limit {
			t.Errorf("%s: mean %.5f, want %.5f ± %.5f", tt.name, got, tt.want, limit)
		}
	}
}

// Beyond 4.7097 all normals come from extended radius words, which a lone 32-bit
// word would cut at 6.7. Their number beyond 4.7 among ten million is nearly
// Poisson with mean 26; false-alarm rate 1.1·10⁻⁶.
func TestNormalTailHasItsFrequency(t *testing.T) {
	if testing.Short() {
		t.Skip("ten million draws")
	}
	const n = 10_000_000
	z := make([]float32, n)
	if err := Normal(&testKey, &testNonce, z); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, v := range z {
		if v > 4.7 || v < -4.7 {
			count++
		}
	}
	want := n * math.Erfc(4.7/math.Sqrt2)
	t.Logf("%d beyond 4.7, expected %.1f", count, want)
	if count < 6 || count > 54 {
		t.Errorf("%d of %d beyond 4.7, want about %.1f", count, n, want)
	}
}

// flipped are a key and a nonce of which one bit is another: of word i, of 8 and then 3.
func flipped(i, bit int) (key [8]uint32, nonce [3]uint32) {
	key, nonce = testKey, testNonce
	if i < 8 {
		key[i] ^= 1 << bit
	} else {
		nonce[i-8] ^= 1 << bit
	}
	return key, nonce
}

func TestNormalKeysAndNoncesDiffer(t *testing.T) {
	seen := map[float64]string{}
	for i := range 11 {
		for bit := range 32 {
			key, nonce := flipped(i, bit)
			z := normals(t, key, nonce, 1)[0]
			if other, ok := seen[z]; ok {
				t.Errorf("word %d, bit %d gives the sequence of %s", i, bit, other)
			}
			seen[z] = "another"
		}
	}
}

func BenchmarkNormal(b *testing.B) {
	z := make([]float64, 1<<16)
	for b.Loop() {
		if err := Normal(&testKey, &testNonce, z); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(z)), "ns/value")
}
