package privacy

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"clipscope/core/chacha"
)

// masses is what a table gives to each magnitude, in multiples of 2^−weightBits.
func masses(table []float32) []*big.Int {
	full := new(big.Int).Lsh(big.NewInt(1), chacha.ThresholdBits)
	mass := make([]*big.Int, chacha.TableColumns)
	for x := range mass {
		mass[x] = new(big.Int)
	}
	for x := range mass {
		alias, first, digits := chacha.Column(table, x)
		threshold := big.NewInt(int64(first))
		for _, d := range digits {
			threshold.Lsh(threshold, 24).Or(threshold, big.NewInt(int64(d)))
		}
		mass[x].Add(mass[x], threshold)
		mass[alias].Add(mass[alias], new(big.Int).Sub(full, threshold))
	}
	return mass
}

// distance is that of a table from the discrete Gaussian with σ, in total variation:
// each probability by itself, in 460 binary digits, and what lies beyond the table.
func distance(table []float32, sigma int64) float64 {
	const digits = 460
	density := func(x int64) *big.Int {
		e := expFixed(big.NewInt(x*x), big.NewInt(2*sigma*sigma), digits)
		return e.Lsh(e, uint(min(x, 1)))
	}
	var exact []*big.Int
	total := new(big.Int)
	for x := range int64(chacha.TableColumns + 600) { // beyond: under 2⁻³⁹⁰
		exact = append(exact, density(x))
		total.Add(total, exact[x])
	}
	mass := masses(table)
	sum := new(big.Int)
	for x, e := range exact {
		p := new(big.Int).Lsh(e, weightBits+digits)
		p.Quo(p, total) // a probability in multiples of 2^−(weightBits+digits)
		if x < len(mass) {
			p.Sub(p, new(big.Int).Lsh(mass[x], digits))
		}
		sum.Add(sum, p.Abs(p))
	}
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(sum), -weightBits-digits-1).Float64()
	return f
}

func TestTableIsTheDiscreteGaussian(t *testing.T) {
	t.Parallel()
	table := Table()
	total := new(big.Int)
	for _, m := range masses(table) {
		total.Add(total, m)
	}
	if total.Cmp(new(big.Int).Lsh(big.NewInt(1), weightBits)) != 0 {
		t.Error("the table's probabilities do not add up to 1")
	}
	d := distance(table, tableSigma)
	if t.Logf("distance 2^%.1f", math.Log2(d)); !(d > 0 && d <= TableDistance) {
		t.Errorf("the table is 2^%.1f from the discrete Gaussian, not 2⁻²⁷⁹", math.Log2(d))
	}
	// One of the least digits of one column.
	other := slices.Clone(table)
	alias, first, digits := chacha.Column(other, 100)
	digits[len(digits)-2] ^= 1
	chacha.SetColumn(other, 100, alias, first, digits)
	if d := distance(other, tableSigma); d <= TableDistance {
		t.Error("the test would not have noticed a wrong digit")
	}
}

// bigDensity is exp(−x²/2σ²) with many digits, for σ² = a.
func bigDensity(x, a int64) *big.Float {
	const digits = 400
	e := new(big.Float).SetPrec(600).SetInt(expFixed(big.NewInt(x*x), big.NewInt(2*a), digits))
	return e.SetMantExp(e, -digits)
}

// ripple is by how much the law of y + m·x leaves a discrete Gaussian's, x and y
// having σ² of a and of a·T: half the spread of the sums Σ_x exp(−(x−cz)²/2v²), in parts
// of them.
func ripple(a, T, m int64) float64 {
	least, most := new(big.Float), new(big.Float)
	for z := range m + 2 { // cz goes from one whole number beyond the next
		sum := new(big.Float).SetPrec(600)
		for x := int64(-40); x <= 41; x++ {
			p := bigDensity(z-m*x, a*T)
			sum.Add(sum, p.Mul(p, bigDensity(x, a)))
		}
		sum.Quo(sum, bigDensity(z, a*(T+m*m)))
		if z == 0 || sum.Cmp(least) < 0 {
			least.Set(sum)
		}
		if z == 0 || sum.Cmp(most) > 0 {
			most.Set(sum)
		}
	}
	d := new(big.Float).Sub(most, least)
	f, _ := d.Quo(d, most).Float64()
	return f / 2
}

// TestJoinsAreOffByNoMoreThanStated: what a join is off by, from its definition, against
// what [JoinedNoise] says: for small v, where that is large, and for about the least v
// that multipliers are chosen for.
func TestJoinsAreOffByNoMoreThanStated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, T, m int64 }{
		{4, 1, 3}, {4, 1, 4}, {9, 1, 3}, {9, 2, 7}, {25, 5, 12}, {100, 1, 5}, {100, 1, 7}, {100, 1, 16}, {729, 1, 12},
	} {
		v2 := float64(c.a) * float64(c.T) / float64(c.T+c.m*c.m)
		want := 2 * math.Exp(-2*math.Pi*math.Pi*v2)
		got := ripple(c.a, c.T, c.m)
		t.Logf("σ² = %d, T = %d, m = %d: v = %.3f, off by %.3g, said %.3g", c.a, c.T, c.m, math.Sqrt(v2), got, want)
		if !(got <= 1.001*want+0x1p-300 && got >= 0.5*want) {
			t.Errorf("σ² = %d, T = %d, m = %d: off by %g, said %g", c.a, c.T, c.m, got, want)
		}
	}
	// The first join of the table's own, with the largest multiplier.
	m := int64(math.Sqrt(mostGrowth - 1))
	if got := ripple(tableSigma*tableSigma, 1, m); !(got < 0x1p-143 && got > 0x1p-160) {
		t.Errorf("σ = %d, m = %d: off by 2^%.1f, said below 2⁻¹⁴³", tableSigma, m, math.Log2(got))
	}
}

// TestJoinedMultipliersAreWithinTheProof: whole, positive, each join one that the proof covers,
// and the deviation one that the noise pays for and that was asked for, wherever it is said that
// there are some: of all sizes that a grid of a step can have.
func TestJoinedMultipliersAreWithinTheProof(t *testing.T) {
	for s := 1.0; s < 1<<31; s *= 1.0013 {
		n, ok := NewJoinedNoise(0.9*s, s)
		if !ok {
			if s >= 8000 {
				t.Errorf("no multipliers for %v units", s)
			}
			continue
		}
		total := 0.0
		for j, m := range n.Multipliers() {
			before := total
			total += m * m
			if m != math.Trunc(m) || m < 1 || j == 0 && m != 1 || j > 0 && tableSigma*math.Sqrt(before/total) < 9./4 {
				t.Fatalf("%v units: multipliers %v", s, n.Multipliers())
			}
		}
		sigma, d := tableSigma*math.Sqrt(total), n.Deviation()
		if !(d >= 0.9*s && d <= s) || math.Sqrt(d*d+roundingVariance) > sigma || sigma != n.Sigma() || len(n.Multipliers()) > chacha.MostJoined {
			t.Errorf("%v units: deviation %v, multipliers %v", s, d, n.Multipliers())
		}
	}
	for _, s := range []float64{0, -1, math.NaN(), math.Inf(1), 1 << 31, 1e-300} {
		if _, ok := NewJoinedNoise(0.9*s, s); ok {
			t.Errorf("noise of %v units", s)
		}
	}
	for _, c := range [][2]float64{{2000, 1000}, {math.NaN(), 1e6}, {0, 1e6}, {-1, 1e6}} {
		if n, ok := NewJoinedNoise(c[0], c[1]); ok {
			t.Errorf("between %v and %v units: multipliers %v", c[0], c[1], n.Multipliers())
		}
	}
}

// TestJoinedNoiseTakesFewSamples: as many as it takes, where what is asked for is as wide as
// a grid leaves it, and the largest with them.
func TestJoinedNoiseTakesFewSamples(t *testing.T) {
	for _, c := range []struct {
		least, most float64
		want        []float64
	}{
		{1, 1e9, []float64{1}},
		{700, 900, []float64{1}},
		{1000, 1e9, []float64{1, 355}},
		{235_000, 262_144, []float64{1, 327}},
		{250_000, 284_500, []float64{1, 355}},
		{2_000_000, 2_240_000, []float64{1, 15, 2799}},
		{300_000, 340_000, []float64{1, 2, 424}},
	} {
		n, ok := NewJoinedNoise(c.least, c.most)
		if !ok || !slices.Equal(n.Multipliers(), c.want) {
			t.Errorf("from %v to %v: %v, want %v", c.least, c.most, n.Multipliers(), c.want)
		}
	}
}

func joinedDraws(t *testing.T, seed uint64, multipliers []float64, n int) []float64 {
	t.Helper()
	key, err := SeededKey(seed).NoiseKey(Noise, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	z := make([]float64, n)
	if err := chacha.Discrete(&key.Key, &key.Nonce, Table(), multipliers, z); err != nil {
		t.Fatal(err)
	}
	return z
}

// χ² of frequencies against exp(−x²/2σ²), as [TestDiscreteGaussianPassesChiSquared] has it:
// of the table alone, and of sums small enough for a few numbers to be counted by
// themselves, some two hundred a deviation. On a fresh seed false alarms come with 10⁻⁶ a row.
func TestJoinedNoisePassesChiSquared(t *testing.T) {
	t.Parallel()
	draws := 1_000_000
	if testing.Short() {
		draws = 200_000
	}
	for i, multipliers := range [][]float64{{1}, {1, 2}, {1, 1, 3}, {1, 5, 1, 2, 1}} {
		squares := 0.0
		for _, m := range multipliers {
			squares += m * m
		}
		s := tableSigma * math.Sqrt(squares)
		width := int64(s / 200)
		count := map[int64]int{}
		for _, z := range joinedDraws(t, uint64(i), multipliers, draws) {
			count[int64(math.Floor(z/float64(width)))]++
		}
		chi, cells := chiSquare(count, width, draws, s)
		t.Logf("%v: χ² = %.0f in %d cells", multipliers, chi, cells)
		if k := float64(cells); chi > k+5*math.Sqrt(2*k)+15 {
			t.Errorf("%v: χ² = %v in %d cells", multipliers, chi, cells)
		}
		if wrong, k := chiSquare(count, width, draws, s*1.04); wrong < float64(k)+5*math.Sqrt(2*float64(k))+15 {
			t.Errorf("%v: the test would not have noticed four per cent", multipliers)
		}
	}
}

// chiSquare has the counts of cells of that many numbers: cell c begins with c·width.
func chiSquare(count map[int64]int, width int64, draws int, s float64) (chi float64, cells int) {
	total := s * math.Sqrt(2*math.Pi) // up to a factor of 1 + 2exp(−2π²s²)
	rest, restWant := float64(draws), float64(draws)
	for c := -int64(8*s) / width; c <= int64(8*s)/width; c++ {
		want := 0.0
		for x := c * width; x < (c+1)*width; x++ {
			want += float64(draws) * math.Exp(-float64(x*x)/(2*s*s)) / total
		}
		if want < 10 {
			continue
		}
		diff := float64(count[c]) - want
		chi += diff * diff / want
		cells++
		rest -= float64(count[c])
		restWant -= want
	}
	return chi + (rest-restWant)*(rest-restWant)/restWant, cells
}

// TestJoinedNoiseIsNormalAtTheSizeOfAStep: a million numbers as a step has them, against the
// normal distribution, from which they are within 10⁻⁴ (Kolmogorov and Smirnov,
// 2·exp(−2x²) = 10⁻⁶), in their moments and in neighbours (5 standard errors, 6·10⁻⁷
// each), beyond 4.5 deviations (Poisson with mean 6.8: over 24 in 10⁻⁶ of cases), and in
// what they leave when divided by 64 (χ² with 63 degrees of freedom, 10⁻⁶).
func TestJoinedNoiseIsNormalAtTheSizeOfAStep(t *testing.T) {
	t.Parallel()
	for i, units := range []float64{8000, 131_073, 262_144, 3e6, 1e9, 1<<31 - 1} {
		n, ok := NewJoinedNoise(0.9*units, units)
		if !ok {
			t.Fatal(units)
		}
		draws := 1_000_000
		if testing.Short() {
			draws = 200_000
		}
		z := joinedDraws(t, uint64(10+i), n.Multipliers(), draws)
		var sum, squares, neighbours, far float64
		var left [64]float64
		for i, v := range z {
			left[uint64(int64(v))%64]++
			v /= n.Sigma()
			z[i] = v
			sum += v
			squares += v * v
			if i > 0 {
				neighbours += v * z[i-1]
			}
			if math.Abs(v) > 4.5 {
				far++
			}
		}
		d := float64(draws)
		chi := 0.0
		for _, k := range left {
			chi += (k - d/64) * (k - d/64) / (d / 64)
		}
		slices.Sort(z)
		worst := 0.0
		for i, v := range z {
			p := normalCDF(v)
			worst = max(worst, math.Abs(p-float64(i)/d), math.Abs(p-float64(i+1)/d))
		}
		x := math.Sqrt(d) * worst
		t.Logf("%v units, multipliers %v: √n·D = %.3f, mean %.5f, variance %.5f, neighbours %.5f, %v far, χ² of remainders %.1f",
			units, n.Multipliers(), x, sum/d, squares/d, neighbours/d, far, chi)
		if x > 2.7 || math.Abs(sum) > limit*math.Sqrt(d) || math.Abs(squares/d-1) > limit*math.Sqrt(2/d) || math.Abs(neighbours) > limit*math.Sqrt(d) || far > 24 || chi > 63+5*math.Sqrt(2*63)+15 {
			t.Errorf("%v units: not the noise that was asked for", units)
		}
	}
}

// TestJoinedNoiseIsTheSlowSamplers: both samplers' numbers in a hundred cells, a
// two-sample χ²; false-alarm rate 10⁻⁶.
func TestJoinedNoiseIsTheSlowSamplers(t *testing.T) {
	t.Parallel()
	n, _ := NewJoinedNoise(270_000, 300_000)
	slow, err := NewDiscreteGaussian(n.Sigma())
	if err != nil {
		t.Fatal(err)
	}
	const draws, cells = 100_000, 100
	var count [2][cells]float64
	add := func(which int, v float64) {
		count[which][min(cells-1, int(normalCDF(v/n.Sigma())*cells))]++
	}
	src := SeededKey(5).Stream(Noise, 0, 0)
	for _, v := range joinedDraws(t, 21, n.Multipliers(), draws) {
		add(0, v)
		add(1, float64(slow.Draw(src)))
	}
	chi := 0.0
	for i := range cells {
		a, b := count[0][i], count[1][i]
		chi += (a - b) * (a - b) / (a + b)
	}
	if t.Logf("χ² = %.1f", chi); chi > cells-1+5*math.Sqrt(2*(cells-1))+15 {
		t.Errorf("χ² = %v in %d cells", chi, cells)
	}
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		newTable(weights(tableSigma))
	}
}
