package privacy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSamplerEdges(t *testing.T) {
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

// The seeds are fixed, so the statistical tests below pass or fail for good;
// the rates say how likely a right sampler was to fail on a fresh seed: each
// compares one statistic with 5 standard deviations of its own, 6e-7.
const limit = 5

func TestSamplerFrequencies(t *testing.T) {
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
func TestSamplerMostlyEmpty(t *testing.T) {
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
