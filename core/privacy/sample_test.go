package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSamplerTakesAllOrNoneAtItsEdges(t *testing.T) {
	src := SeededKey(1).Stream(Sampling, 0, 0)
	for _, c := range []struct {
		n    int
		q    float64
		want []int
	}{
		{0, 0.5, nil}, {0, 1, nil}, {5, 0, nil}, {3, 1, []int{0, 1, 2}}, {4, 5e-324, nil},
	} {
		s, err := NewSampler(c.n, c.q)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Append(nil, src); !slices.Equal(got, c.want) {
			t.Errorf("n=%d q=%v: %v, want %v", c.n, c.q, got, c.want)
		}
	}
	for _, c := range []struct {
		n int
		q float64
	}{{-1, .5}, {1, -.1}, {1, 1.1}, {1, math.NaN()}} {
		if _, err := NewSampler(c.n, c.q); err == nil {
			t.Errorf("no error for n=%d q=%v", c.n, c.q)
		}
	}
	s, err := NewSampler(1000, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	kept := s.Append([]int{-7}, src)
	if kept[0] != -7 || !slices.IsSorted(kept) || kept[len(kept)-1] >= 1000 || len(slices.Compact(slices.Clone(kept))) != len(kept) {
		t.Errorf("not a sorted set appended: %v", kept)
	}
}

func FuzzSampler(f *testing.F) {
	f.Add(10, 0.5, uint64(1))
	f.Add(1, 1e-300, uint64(2))
	f.Add(1000, 1-1e-16, uint64(3))
	f.Fuzz(func(t *testing.T, n int, q float64, seed uint64) {
		s, err := NewSampler(min(n, 1000), q)
		if err != nil {
			return
		}
		got := s.Append(nil, rand.NewPCG(seed, 0))
		for i, v := range got {
			if v < 0 || v >= n || i > 0 && v <= got[i-1] {
				t.Fatalf("n=%d q=%v: %v", n, q, got)
			}
		}
	})
}

// scripted is a source that gives these and then those of another.
type scripted struct {
	first []uint64
	rest  rand.Source
	drawn int
}

func (w *scripted) Uint64() uint64 {
	w.drawn++
	if w.drawn <= len(w.first) {
		return w.first[w.drawn-1]
	}
	return w.rest.Uint64()
}

// Gaps against their definition in numbers of 4096 binary digits, with U chosen
// within a few units of 2⁻⁶⁴ of the powers, where 64 digits of U and a float64
// quotient cannot decide; and with any U.
func TestSamplerGapsAreExact(t *testing.T) {
	const digits = 4096
	rng := rand.New(rand.NewPCG(5, 6))
	undecided := 0
	for _, q := range []float64{1e-12, 1e-5, 128. / 60000, 0.1, 0.5, 0.75, 1 - 0x1p-53} {
		s, err := NewSampler(1000, q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 400 {
			at, _ := new(big.Float).SetMantExp(powerOf(q, rng.IntN(12), 200), 64).Uint64()
			first := []uint64{at + uint64(i%7) - 3, rng.Uint64()}
			if i%2 == 0 {
				first[0] = rng.Uint64()
			}
			if i%8 == 1 && at > 0 { // 64 digits and the next agree with a power
				power := new(big.Float).SetMantExp(powerOf(q, 1+rng.IntN(5), 300), 64)
				first[0], _ = power.Uint64()
				power.Sub(power, new(big.Float).SetUint64(first[0]))
				first[1], _ = power.SetMantExp(power, 64).Uint64()
			}
			src := &scripted{first: first, rest: rand.NewPCG(uint64(i), 7)}
			got := s.gap(s.n, src)
			if src.drawn > 1 {
				undecided++
			}
			// All digits of U that were drawn, and more.
			again := &scripted{first: first, rest: rand.NewPCG(uint64(i), 7)}
			u := new(big.Int)
			for range 16 {
				u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(again.Uint64()))
			}
			f := new(big.Float).SetPrec(digits).SetInt(u)
			f.SetMantExp(f, -16*64)
			want, power := 0, new(big.Float).SetPrec(digits).SetInt64(1)
			keep := new(big.Float).SetPrec(digits).Sub(big.NewFloat(1), big.NewFloat(q))
			for ; want < s.n; want++ {
				if power.Mul(power, keep); f.Cmp(power) >= 0 {
					break
				}
			}
			if got != want {
				t.Errorf("q=%v, U = %x…: gap %d, want %d", q, first, got, want)
			}
		}
	}
	if undecided < 100 {
		t.Errorf("only %d draws needed more than 64 digits", undecided)
	}
}

// It costs the batch: one word for each member and one to see that there is no
// other, but once in about 2⁴⁸·q draws.
func TestSamplerCostsTheBatch(t *testing.T) {
	s, err := NewSampler(60_000, 128./60_000)
	if err != nil {
		t.Fatal(err)
	}
	src := &scripted{rest: SeededKey(3).Stream(Sampling, 0, 0)}
	members := 0
	const rounds = 1000
	for range rounds {
		members += len(s.Append(nil, src))
	}
	if src.drawn > members+rounds {
		t.Errorf("%d words for %d members in %d batches", src.drawn, members, rounds)
	}
}

func BenchmarkSampler(b *testing.B) {
	s, err := NewSampler(60_000, 128./60_000)
	if err != nil {
		b.Fatal(err)
	}
	src := SeededKey(3).Stream(Sampling, 0, 0)
	var batch []int
	for b.Loop() {
		batch = s.Append(batch[:0], src)
	}
}

// The seeds are fixed, so the statistical tests below pass or fail for good;
// the rates say how likely a right sampler was to fail on a fresh seed: each
// compares one statistic with 5 standard deviations of its own, 6e-7.
const limit = 5

func TestSamplerDrawsEachRowAtItsRate(t *testing.T) {
	const n, rounds = 200, 20000
	for i, q := range []float64{0.01, 0.1, 0.5, 0.9} {
		s, err := NewSampler(n, q)
		if err != nil {
			t.Fatal(err)
		}
		src := SeededKey(uint64(i)).Stream(Sampling, 0, 0)
		var count [n]int
		var neighbours, far int // pairs (k, k+1) and (k, k+50) drawn together
		var sum, squares, empty float64
		var batch []int
		for range rounds {
			batch = s.Append(batch[:0], src)
			var in [n]bool
			for _, v := range batch {
				in[v] = true
				count[v]++
			}
			for k := range n - 50 {
				if in[k] && in[k+1] {
					neighbours++
				}
				if in[k] && in[k+50] {
					far++
				}
			}
			d := float64(len(batch)) - n*q
			sum += d
			squares += d * d
			if len(batch) == 0 {
				empty++
			}
		}
		// χ² of the inclusion counts: n terms, so mean n, variance 2n.
		chi := 0.0
		for _, c := range count {
			d := float64(c) - rounds*q
			chi += d * d / (rounds * q * (1 - q))
		}
		check := func(what string, got, mean, std float64) {
			if math.Abs(got-mean) > limit*std {
				t.Errorf("q=%v: %s = %v, want %v ± %v", q, what, got, mean, std)
			}
		}
		check("χ² of inclusions", chi, n, math.Sqrt(2*n))
		// Pairs overlap (k, k+1 and k+1, k+2), which adds covariance
		// 2·q³(1−q) to each pair's variance q²(1−q²).
		pairs := float64(n-50) * rounds
		pairStd := math.Sqrt(pairs * (q*q*(1-q*q) + 2*q*q*q*(1-q)))
		check("neighbouring pairs", float64(neighbours), pairs*q*q, pairStd)
		check("pairs 50 apart", float64(far), pairs*q*q, pairStd)
		v := n * q * (1 - q)
		check("mean batch size", sum/rounds, 0, math.Sqrt(v/rounds))
		// Var of the squared deviation is 2v² + v(1−6q(1−q)).
		check("batch size variance Nq(1−q)", squares/rounds, v, math.Sqrt((2*v*v+v*(1-6*q*(1-q)))/rounds))
		p := math.Pow(1-q, n)
		check("empty batches", empty/rounds, p, math.Sqrt(p*(1-p)/rounds)+1e-12)
	}
}

// N = 100 and q = 0.001: nine batches in ten are empty.
func TestSamplerDrawsEmptyBatches(t *testing.T) {
	s, err := NewSampler(100, 0.001)
	if err != nil {
		t.Fatal(err)
	}
	src := SeededKey(9).Stream(Sampling, 0, 0)
	const rounds = 50000
	empty := 0
	for range rounds {
		if len(s.Append(nil, src)) == 0 {
			empty++
		}
	}
	p := math.Pow(0.999, 100)
	if d := float64(empty) - rounds*p; math.Abs(d) > limit*math.Sqrt(rounds*p*(1-p)) {
		t.Errorf("%d of %d batches are empty, want %v", empty, rounds, rounds*p)
	}
}
