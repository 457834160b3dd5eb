package lab

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/lab/labtest"
)

func weight(t testing.TB, method string) clip.Weight {
	t.Helper()
	c, err := Clipper(method, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Weight
}

// gradients draws n of d dimensions whose lengths lie decades apart.
func gradients(rng *rand.Rand, n, d int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, d)
		scale := math.Pow(10, 2*rng.Float64()-1)
		for k := range all[i] {
			all[i][k] = scale * (rng.NormFloat64() + 0.3)
		}
	}
	return all
}

func gramOf(g [][]float64) []float32 {
	n := len(g)
	gram := make([]float32, n*n)
	for i := range g {
		for j := range g {
			gram[i*n+j] = float32(labtest.Dot(g[i], g[j]))
		}
	}
	return gram
}

// TestLabEqualsTheGradientsThemselves compares with what is computed from the gradients themselves.
func TestLabEqualsTheGradientsThemselves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {2, 3}, {17, 40}, {100, 7}} {
		n, d := size[0], size[1]
		g := gradients(rng, n, d)
		b, err := New(gramOf(g), n)
		if err != nil {
			t.Fatal(err)
		}
		unit := labtest.Length(labtest.Mean(g))
		near := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-5*max(unit, math.Abs(want))) {
				t.Errorf("%d×%d: %s is %v, want %v", n, d, what, got, want)
			}
		}
		near("the mean's norm", b.TrueNorm, unit)
		for _, method := range []string{"constant", "auto-s", "auto-v", "psac", "none", "dc-e"} {
			w := weight(t, method)
			for _, c := range []float64{0.01, 0.3, 1, 5, 1e3} {
				bias, along, length := labtest.Clip(g, func(norm float64) float64 { return w.Factor(norm, c) })
				p := b.At(w, c, make([]float64, n))
				near(method+": bias", math.Sqrt(p.Bias2), bias)
				near(method+": along", p.Along, along)
				near(method+": length", math.Hypot(p.Along, p.Across), length)
				if math.Abs(p.Cosine-along/length) > 1e-5 {
					t.Errorf("%d×%d: %s at %v: cosine %v", n, d, method, c, p.Cosine)
				}
			}
		}
	}
}

// TestNothingIsLostWithoutClipping holds what is true of every batch: nothing is lost where
// nothing is clipped, and an example has a length that its two parts give.
func TestNothingIsLostWithoutClipping(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	g := gradients(rng, 64, 20)
	b, err := New(gramOf(g), 64)
	if err != nil {
		t.Fatal(err)
	}
	factors := make([]float64, 64)
	constant := weight(t, "constant")
	if p := b.At(constant, 1e6, factors); p.Bias2 != 0 || p.Clipped != 0 || math.Abs(p.Cosine-1) > 1e-9 {
		t.Errorf("nothing is clipped: %+v", p)
	}
	if p := b.At(constant, 1e-9, factors); p.Clipped != 1 {
		t.Errorf("all are clipped: %+v", p)
	}
	last := math.Inf(1)
	for c := 0.01; c < 1e3; c *= 1.3 {
		if e := b.Estimate(c); e > last {
			t.Errorf("DC's estimate grows at %v", c)
		} else {
			last = e
			if p := b.At(constant, c, factors); p.Bias2 > e*(1+1e-6)+1e-9 {
				t.Errorf("at %v the bias² %v is above DC's estimate %v", c, p.Bias2, e)
			}
		}
	}
	for i := range b.Norms {
		if math.Abs(math.Hypot(b.Along[i], b.Across[i])-b.Norms[i]) > 1e-9*b.Norms[i] {
			t.Errorf("example %d is %v long, its parts %v and %v", i, b.Norms[i], b.Along[i], b.Across[i])
		}
	}
}

func TestHostileBatchesGiveFiniteNumbers(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, gram := range map[string][]float32{
		"nothing": {}, "NaN": {nan}, "infinite": {inf}, "negative": {-1}, "zero": {0},
		"one bad of two": {1, nan, nan, nan}, "impossible": {1, 5, 5, 1}, "largest": {math.MaxFloat32, -math.MaxFloat32, -math.MaxFloat32, math.MaxFloat32},
	} {
		n := int(math.Sqrt(float64(len(gram))))
		b, err := New(gram, n)
		if err != nil {
			t.Fatal(name, err)
		}
		p := b.At(weight(t, "constant"), 0.5, make([]float64, n))
		for what, v := range map[string]float64{"bias": p.Bias2, "along": p.Along, "across": p.Across, "true": b.TrueNorm} {
			if n > 0 && (math.IsNaN(v) || math.IsInf(v, 0)) {
				t.Errorf("%s: %s is %v", name, what, v)
			}
		}
	}
	for _, n := range []int{-1, 2, Most + 1} {
		if _, err := New(make([]float32, 3), n); err == nil {
			t.Errorf("3 products of %d examples", n)
		}
	}
}

func TestMethodsWithoutInnerProductsAreRefusedByName(t *testing.T) {
	for _, method := range []string{"adaclip", "coordinate", "value", "value-tight", "per-layer", "norm-bound"} {
		if _, err := Clipper(method, nil); err == nil || errors.As(err, new(*clip.ParamError)) {
			t.Errorf("%s is told from inner products", method)
		}
	}
}
