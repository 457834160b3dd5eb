package privacy

import (
	"math"
	"math/big"
	"testing"
)

// χ² of frequencies against exp(−x²/2σ²), cells with fewer than 10 expected
// pooled. The seed is fixed; on a fresh one a right sampler fails with
// probability 1e-6 a row (χ² with k degrees of freedom above k + 5√(2k) + 15).
func TestDiscreteGaussianPassesChiSquared(t *testing.T) {
	const draws = 200_000
	for i, sigma := range []float64{0.25, 0.7, 1, 2.5, 13, 40} {
		d, err := NewDiscreteGaussian(sigma)
		if err != nil {
			t.Fatal(err)
		}
		if s := d.Sigma(); s < sigma || s > sigma+1./1024+1e-12 {
			t.Errorf("σ = %v became %v", sigma, s)
		}
		src := SeededKey(uint64(i)).Stream(Noise, 0, 0)
		count := map[int64]int{}
		for range draws {
			count[d.Draw(src)]++
		}
		total, s := 0.0, d.Sigma()
		weight := func(x int64) float64 { return math.Exp(-float64(x*x) / (2 * s * s)) }
		far := int64(12*s) + 2
		for x := -far; x <= far; x++ {
			total += weight(x)
		}
		chi, cells, rest, restWant := 0.0, 0, 0.0, 0.0
		for x := -far; x <= far; x++ {
			want := draws * weight(x) / total
			if want < 10 {
				rest += float64(count[x])
				restWant += want
				continue
			}
			diff := float64(count[x]) - want
			chi += diff * diff / want
			cells++
		}
		if restWant > 1 {
			chi += (rest - restWant) * (rest - restWant) / restWant
		} else if rest > 15 {
			t.Errorf("σ=%v: %v draws where %v are expected", sigma, rest, restWant)
		}
		if k := float64(cells); chi > k+5*math.Sqrt(2*k)+15 {
			t.Errorf("σ=%v: χ² = %v in %d cells", sigma, chi, cells)
		}
	}
}

// At the σ of secure mode: mean, variance, and Kolmogorov–Smirnov against the
// continuous Gaussian, from which a discrete one with σ = 2²⁰ is within 1e-6.
// False alarms: 6e-7 each for the moments, 2·exp(−2·2.7²) = 1e-6 for KS.
func TestDiscreteGaussianHasTheMomentsAtSecureSize(t *testing.T) {
	const draws = 50_000
	const sigma = 1 << 20
	d, err := NewDiscreteGaussian(sigma)
	if err != nil {
		t.Fatal(err)
	}
	src := SeededKey(77).Stream(Noise, 0, 0)
	var sum, squares float64
	const bins = 1000
	var below [bins]int // draws at or below the k/bins quantile
	for range draws {
		x := float64(d.Draw(src)) / sigma
		sum += x
		squares += x * x
		below[min(bins-1, int(normalCDF(x)*bins))]++
	}
	if m := sum / draws; math.Abs(m) > limit/math.Sqrt(draws) {
		t.Errorf("mean %v", m)
	}
	if v := squares / draws; math.Abs(v-1) > limit*math.Sqrt(2./draws) {
		t.Errorf("variance %v", v)
	}
	cum, worst := 0, 0.0
	for k, n := range below {
		cum += n
		worst = max(worst, math.Abs(float64(cum)/draws-float64(k+1)/bins))
	}
	if worst > 2.7/math.Sqrt(draws) {
		t.Errorf("Kolmogorov–Smirnov distance %v", worst)
	}
}

// Every choice both by floats and, as if the float were no help, by integers.
func TestCoinsHaveTheirBias(t *testing.T) {
	c := coins{SeededKey(3).Stream(Noise, 1, 0)}
	const n = 20_000
	check := func(what string, want float64, draw func() bool) {
		t.Helper()
		hits := 0
		for range n {
			if draw() {
				hits++
			}
		}
		if math.Abs(float64(hits)-n*want) > limit*math.Sqrt(n*want*(1-want))+1e-9 {
			t.Errorf("%s: %d of %d, want %v", what, hits, n, n*want)
		}
	}
	for _, r := range [][2]int64{{0, 1}, {1, 1000}, {2, 3}, {1, 1}, {7, 3}, {25, 4}} {
		a, b := big.NewInt(r[0]), big.NewInt(r[1])
		gamma := float64(r[0]) / float64(r[1])
		check("float", math.Exp(-gamma), func() bool {
			return c.exp(gamma, func() (*big.Int, *big.Int) { return a, b })
		})
		check("integer", math.Exp(-gamma), func() bool { return c.decide(c.src.Uint64(), a, b) })
	}
	check("below 3 is 0", 1./3, func() bool { x, _ := c.below(3); return x == 0 })
	check("below 3 is 0, with heads", 1./6, func() bool { x, heads := c.below(3); return x == 0 && heads })
	check("below 2⁶¹+1 is in the lower half", 0.5, func() bool { x, _ := c.below(1<<61 + 1); return x < 1<<60 })
	check("geometric ≥ 2", math.Exp(-2), func() bool { return c.geometric() >= 2 })
}

// expFixed to 200 digits against itself at 400, and to 50 against floats.
func TestExpFixedIsExactToItsDigits(t *testing.T) {
	for _, r := range [][2]int64{{0, 1}, {1, 1 << 40}, {1, 2}, {1, 1}, {10, 7}, {35, 1}, {1000, 3}, {1 << 40, 3}} {
		a, b := big.NewInt(r[0]), big.NewInt(r[1])
		short, long := expFixed(a, b, 200), expFixed(a, b, 400)
		if d := short.Sub(short, long.Rsh(long, 200)); d.CmpAbs(big.NewInt(1)) > 0 {
			t.Errorf("exp(-%d/%d) is %v units off", r[0], r[1], d)
		}
		got, _ := new(big.Float).SetInt(expFixed(a, b, 50)).Float64()
		if want := math.Exp(-float64(r[0])/float64(r[1])) * (1 << 50); math.Abs(got-want) > 1.5 {
			t.Errorf("exp(-%d/%d) = %v·2⁻⁵⁰, want %v", r[0], r[1], got, want)
		}
	}
}

// words repeats its words. A number that begins exactly like the probability
// has to be settled by the digits that follow.
type words []uint64

func (w *words) Uint64() uint64 {
	v := (*w)[0]
	*w = append((*w)[1:], v)
	return v
}

func TestDecideReadsFurtherDigitsAtATie(t *testing.T) {
	a, b := big.NewInt(1), big.NewInt(1)
	first := expFixed(a, b, 64).Uint64()
	next := new(big.Int).And(expFixed(a, b, 128), new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	for _, c := range []struct {
		second uint64
		want   bool
	}{{next - 10, true}, {next + 10, false}, {0, true}, {math.MaxUint64, false}} {
		src := words{c.second, 0}
		if got := (coins{&src}).decide(first, a, b); got != c.want {
			t.Errorf("digits %x %x: below is %t, want %t", first, c.second, got, c.want)
		}
	}
}

func TestDiscreteGaussianRefusesWhatIsNoDeviation(t *testing.T) {
	for _, s := range []float64{0, -1, math.NaN(), math.Inf(1), 1 << 32} {
		if _, err := NewDiscreteGaussian(s); err == nil {
			t.Errorf("no error for σ = %v", s)
		}
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) {
	d, err := NewDiscreteGaussian(1 << 20)
	if err != nil {
		b.Fatal(err)
	}
	src := SeededKey(1).Stream(Noise, 0, 0)
	for b.Loop() {
		d.Draw(src)
	}
}

// discreteDelta is δ at epsilon of one release of a whole number that a row moves
// by shift, with discrete Gaussian noise of deviation s on a Poisson sample, by
// summing over all outcomes: the worse of the two directions.
func discreteDelta(q, s float64, shift int, epsilon float64) float64 {
	far := int(14*s) + 20*shift
	total := 0.0
	for x := -far; x <= far; x++ {
		total += math.Exp(-float64(x*x) / (2 * s * s))
	}
	p := func(x int) float64 { return math.Exp(-float64(x*x)/(2*s*s)) / total }
	var remove, add float64
	for x := -far; x <= far+shift; x++ {
		without, with := p(x), (1-q)*p(x)+q*p(x-shift)
		remove += max(0, with-math.Exp(epsilon)*without)
		add += max(0, without-math.Exp(epsilon)*with)
	}
	return max(remove, add)
}

// TestGridNoiseCostsNoMoreThanGaussian: δ of the noise as drawn against what the
// accountants say, by brute force, where a unit is as large as the noise and
// every hole shows. Priced as Gaussian without GridNoise's share of variance it
// would cost up to 5 times more than said.
func TestGridNoiseCostsNoMoreThanGaussian(t *testing.T) {
	for _, sigma := range []float64{0.4, 0.7, 1, 2, 3, 10, 40} {
		g, err := NewGridNoise(sigma, 1)
		if err != nil {
			t.Fatal(err)
		}
		worst, bare := 0.0, 0.0
		for _, q := range []float64{1, 0.3, 0.01} {
			for _, shift := range []int{1, 2, 5} {
				s := sigma * float64(shift) // of the continuous release, in units of the shift
				for _, eps := range []float64{0, 0.1, 0.5, 1, 2, 4, 8} {
					claim := sampledDelta(q, s/float64(shift), eps)
					if q == 1 {
						claim = gaussianDelta(1/sigma, eps)
					}
					if claim < 1e-12 {
						continue // beyond what the sums below resolve
					}
					grid, err := NewGridNoise(s, 1)
					if err != nil {
						t.Fatal(err)
					}
					worst = max(worst, discreteDelta(q, grid.d.Sigma(), shift, eps)/claim)
					if shift == 1 {
						bare = max(bare, discreteDelta(q, s, shift, eps)/claim)
					}
				}
			}
		}
		t.Logf("σ = %v units: true over claimed δ at most %.4f; priced as before %.4f", sigma, worst, bare)
		if worst > 1+1e-9 {
			t.Errorf("σ = %v units: the true δ is %.6f times the claimed", sigma, worst)
		}
		if sigma <= 1 && bare < 1.5 {
			t.Errorf("σ = %v units: the test would not have noticed", sigma)
		}
		if v := g.d.Sigma(); v < math.Sqrt(sigma*sigma+roundingVariance) {
			t.Errorf("σ = %v is drawn with %v", sigma, v)
		}
	}
}

// TestFineUnitHardlyAddsToTheNoise: a power of two that divides the counts' unit and is far below
// the noise, which it makes next to no larger.
func TestFineUnitHardlyAddsToTheNoise(t *testing.T) {
	for _, sigma := range []float64{1e-9, 0.3, 0.5001, 1, 5, 12, 1e3, 1e8} {
		for _, unit := range []float64{0.5, 1} {
			u := FineUnit(sigma, unit)
			if frac, _ := math.Frexp(u); frac != 0.5 || math.Mod(unit, u) != 0 || u > sigma/1000 {
				t.Errorf("FineUnit(%v, %v) = %v", sigma, unit, u)
			}
			if larger := math.Sqrt(sigma*sigma+roundingVariance*u*u) / sigma; larger > 1+2.1e-6 {
				t.Errorf("FineUnit(%v, %v): noise is %v times as large", sigma, unit, larger)
			}
		}
	}
}
