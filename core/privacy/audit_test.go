package privacy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The published constants of jax_privacy's auditing tests: n = 10,000 scores
// in and out, at the normal quantiles (i+½)/n and shifted; one-sided guesses at
// every threshold on the convex frontier, with Bonferroni's correction.
func TestOneRunKnownAnswers(t *testing.T) {
	const n, delta, significance = 10000, 1e-6, 0.05
	for _, c := range []struct{ shift, want, gdp float64 }{
		{1, 1.13346, 2.164749}, {2, 2.311945, 4.7218075}, {4, 4.395568, 9.133752},
	} {
		type point struct{ tn, fn int }
		var frontier []point
		// Thresholds in rising order: out scores o_i and in scores o_i+shift.
		cross := func(a, b, c point) int {
			return (b.tn-a.tn)*(c.fn-b.fn) - (c.tn-b.tn)*(b.fn-a.fn)
		}
		push := func(p point) {
			for k := len(frontier); k >= 2 && cross(frontier[k-2], frontier[k-1], p) <= 0; k-- {
				frontier = frontier[:k-1]
			}
			frontier = append(frontier, p)
		}
		q := func(i int) float64 { return normalQuantile((float64(i) + 0.5) / n) }
		fn := 0
		for tn := 0; tn <= n; tn++ {
			at := math.Inf(1)
			if tn < n {
				at = q(tn)
			}
			for fn < n && q(fn)+c.shift < at {
				push(point{tn, fn})
				fn++
			}
			push(point{tn, fn})
		}
		best, bestGDP := 0.0, 0.0
		for i := len(frontier) - 1; i >= 0; i-- { // the best are among the high thresholds
			p := frontier[i]
			a := OneRunAudit{Canaries: 2 * n, Guesses: 2*n - p.tn - p.fn, Correct: n - p.fn}
			if a.Guesses == 0 || float64(a.Correct)/float64(a.Guesses) <= 1/(1+math.Exp(-best)) || 2*a.Correct <= a.Guesses {
				continue
			}
			s := significance / float64(len(frontier))
			if a.PValue(best+1e-7, 0) <= s && a.PValue(best+1e-7, delta) <= s {
				e, err := a.Epsilon(delta, s)
				if err != nil {
					t.Fatal(err)
				}
				best = max(best, e)
			}
			if a.refutesGDP(gaussianMu(bestGDP+1e-7, delta), s) {
				e, err := a.GDPEpsilon(delta, s)
				if err != nil {
					t.Fatal(err)
				}
				bestGDP = max(bestGDP, e)
			}
		}
		if !within(best, c.want, 1e-4) || !within(bestGDP, c.gdp, 1e-4) {
			t.Errorf("shift %v: ε ≥ %v and %v, want %v and %v (%d thresholds)", c.shift, best, bestGDP, c.want, c.gdp, len(frontier))
		}
	}
}

func TestOneRunBoundsNothingFromNothing(t *testing.T) {
	for _, c := range []struct {
		a    OneRunAudit
		want float64
	}{
		{OneRunAudit{0, 0, 0}, 0},
		{OneRunAudit{100, 0, 0}, 0},
		{OneRunAudit{100, 100, 50}, 0},
		// All of r right: refuted while (e^ε/(1+e^ε))^r ≤ 0.05.
		{OneRunAudit{100, 100, 100}, -math.Log(math.Pow(0.05, -0.01) - 1)},
	} {
		got, err := c.a.Epsilon(0, 0.05)
		if err != nil || math.Abs(got-c.want) > 1e-5 {
			t.Errorf("%+v: ε ≥ %v, %v; want %v", c.a, got, err, c.want)
		}
	}
	for _, a := range []OneRunAudit{{10, 11, 1}, {10, 5, 6}, {10, 5, -1}} {
		if _, err := a.Epsilon(0, 0.05); err == nil {
			t.Errorf("no error for %+v", a)
		}
	}
	a := OneRunAudit{1000, 200, 180}
	if a.PValue(1, 1e-5) <= a.PValue(1, 0) || a.PValue(2, 0) <= a.PValue(1, 0) {
		t.Error("the p-value does not grow with ε and δ")
	}
}

// Randomised response with ε = 1 is exactly ε-DP: a 95 % bound may exceed 1 in
// one audit of 20; more than 6 of 40 has probability 0.003. With ε = 3 claimed
// to be 1 it is caught.
func TestOneRunBoundsHoldForRandomisedResponse(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	audit := func(epsilon float64) float64 {
		canaries := make([]CanaryScore, 1000)
		for i := range canaries {
			in := rng.IntN(2) == 1
			said := in == (rng.Float64() < 1/(1+math.Exp(-epsilon)))
			score := rng.Float64()
			if said {
				score++
			}
			canaries[i] = CanaryScore{in, score}
		}
		audits, err := NewOneRunAudits(canaries, 200, 600)
		if err != nil {
			t.Fatal(err)
		}
		best := 0.0
		for _, a := range audits {
			e, err := a.Epsilon(1e-6, 0.05/2)
			if err != nil {
				t.Fatal(err)
			}
			best = max(best, e)
		}
		return best
	}
	over := 0
	for range 40 {
		if audit(1) > 1 {
			over++
		}
	}
	if over > 6 {
		t.Errorf("%d of 40 bounds exceed the truth", over)
	}
	if e := audit(3); e < 2 {
		t.Errorf("ε = 3 gives only %v", e)
	}
	if _, err := NewOneRunAudits(make([]CanaryScore, 3), 4); err == nil {
		t.Error("no error for more guesses than canaries")
	}
}

// TestTwoSampleAuditEqualsClopperPearson: where all are right the share of hits is at least
// (α/4)^(1/n), and of false ones at most 1 minus that; coins, and an auditor who
// is always wrong, show nothing.
func TestTwoSampleAuditEqualsClopperPearson(t *testing.T) {
	for _, a := range []TwoSampleAudit{{100, 100, 0}, {200, 200, 0}, {200, 0, 200}, {200, 100, 100}} {
		for _, delta := range []float64{0, 1e-5, 0.5} {
			got, err := a.Epsilon(delta, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			if p := math.Pow(0.05/4, 1/float64(a.Runs)); a.Included == a.Runs {
				want = math.Log((p - delta) / (1 - p))
			}
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%+v at δ = %v: ε ≥ %v, want %v", a, delta, got, want)
			}
		}
	}
	for _, a := range []TwoSampleAudit{{0, 0, 0}, {10, 11, 0}, {10, 0, -1}} {
		if _, err := a.Epsilon(0, 0.05); err == nil {
			t.Errorf("%+v was accepted", a)
		}
	}
}
