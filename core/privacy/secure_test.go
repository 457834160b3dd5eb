package privacy

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

func gridOf(t testing.TB, c float64, dim int, sigma float64) *Grid {
	t.Helper()
	g, err := NewGrid(c, dim, sigma)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// exactNorm checks the integer sensitivity without the code under test.
func exactNorm(sum []int64) uint128 {
	var n uint128
	for _, x := range sum {
		n.addSquare(uint64(max(x, -x)))
	}
	return n
}

func FuzzGridSensitivity(f *testing.F) {
	f.Add(1.0, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x80})
	f.Add(0.3, []byte{0, 0, 0xc0, 0x7f})                       // NaN
	f.Add(28.0, []byte{0, 0, 0x80, 0x7f, 1, 0, 0, 0})          // +Inf, denormal
	f.Add(1e-3, []byte{0xff, 0xff, 0x7f, 0x7f, 1, 1, 1, 0xc1}) // the largest float
	f.Fuzz(func(t *testing.T, c float64, b []byte) {
		v := make([]float32, len(b)/4)
		finite := true
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
			finite = finite && !math.IsNaN(float64(v[i])) && !math.IsInf(float64(v[i]), 0)
		}
		g, err := NewGrid(c, len(v), 1)
		if err != nil {
			return
		}
		sum := make([]int64, len(v))
		ok := g.Add(sum, v)
		if !exactNorm(sum).atMost(uint64(g.Units())) {
			t.Errorf("C=%v: %v became %v, longer than %d", c, v, sum, g.Units())
		}
		if ok && !finite {
			t.Errorf("%v was added", v)
		}
		for _, x := range sum {
			if !ok && x != 0 {
				t.Errorf("rejected, but added %v", sum)
			}
		}
	})
}

func TestGridRoundsClippedVectorsFaithfully(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, dim := range []int{1, 3, 100, 7850, 101_770} {
		g := gridOf(t, 1.5, dim, 1)
		v := make([]float32, dim)
		for range 3 {
			norm := 0.0
			for i := range v {
				v[i] = float32(rng.NormFloat64())
				norm += float64(v[i]) * float64(v[i])
			}
			for i := range v {
				v[i] *= float32(g.Bound(dim) / math.Sqrt(norm))
			}
			sum := make([]int64, dim)
			if !g.Add(sum, v) {
				t.Fatalf("dim %d: rejected", dim)
			}
			for i, s := range sum {
				if d := math.Abs(float64(s)*g.Step() - float64(v[i])); d > g.Step()/2*(1+1e-9) {
					t.Fatalf("dim %d: %v became %v steps of %v: a clipped vector was shortened", dim, v[i], s, g.Step())
				}
			}
			if !exactNorm(sum).atMost(uint64(g.Units())) {
				t.Errorf("dim %d: too long", dim)
			}
		}
		if b := g.Bound(dim); b < 1.5*(1-1.1e-3) {
			t.Errorf("dim %d: rounding takes too much: bound %v", dim, b)
		}
	}
}

func TestGridOutputs(t *testing.T) {
	const dim = 4000
	g := gridOf(t, 2, dim, 1.3)
	sum := make([]int64, dim)
	v := make([]float32, 3*dim)
	v[0], v[dim], v[2*dim+5] = 1, float32(math.NaN()), 100
	if n := g.AddVectors(sum, v); n != 1 {
		t.Errorf("%d rows rejected, want 1", n)
	}
	if f := float64(sum[5]) * g.Step(); f > 2 || f < 2*(1-1e-6) {
		t.Errorf("a long vector became %v, want its direction at length 2", f)
	}
	out := g.Release(sum, SeededKey(1).Stream(Noise, 0, 0))
	squares := 0.0
	for i, x := range out {
		if k := x / g.Step(); k != math.Trunc(k) {
			t.Fatalf("%v is not on the grid", x)
		}
		d := x - float64(sum[i])*g.Step()
		squares += d * d
	}
	// 5 standard errors: false alarms 6e-7.
	if v := squares / dim / (1.3 * 2 * 1.3 * 2); math.Abs(v-1) > limit*math.Sqrt(2./dim) {
		t.Errorf("noise variance is %v of (σC)²", v)
	}
	if z := g.NoiseMultiplier(); z < 1.3 || z > 1.3*(1+1e-6) {
		t.Errorf("noise multiplier %v", z)
	}
	for _, c := range []struct {
		c, sigma float64
		dim      int
	}{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {math.NaN(), 1, 1}, {math.Inf(1), 1, 1}, {1, math.Inf(1), 1}} {
		if _, err := NewGrid(c.c, c.dim, c.sigma); err == nil {
			t.Errorf("no error for %+v", c)
		}
	}
}
