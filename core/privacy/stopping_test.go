package privacy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// walk is the privacy loss of Gaussian releases with multiplier sigma, one a step
// and on all rows, watched at some of its steps: a random walk whose increment
// over d steps is normal with mean ±d/2σ² and variance d/σ², + where the row is
// among the data. Whoever sees what is released and knows both data sets knows
// the loss.
type walk struct {
	sigma float64
	steps []int // when it is looked at; the last is the end of the plan
}

// tilts are drifts under which paths are drawn, in multiples of the true one:
// under the larger ones a loss above ε, which is as rare as δ, is common. A path
// that ends at step t with loss l then counts for 1/mean(density ratios), as in
// multiple importance sampling with the balance heuristic, and weights are at
// most len(tilts).
var tilts = []float64{1, 2, 4}

// draw writes a path's losses at w.steps.
func (w walk) draw(rng *rand.Rand, path []float64) {
	tilt := tilts[rng.IntN(len(tilts))]
	loss, last := 0.0, 0
	for i, t := range w.steps {
		d := float64(t - last)
		loss += tilt*d/(2*w.sigma*w.sigma) + math.Sqrt(d)/w.sigma*rng.NormFloat64()
		path[i], last = loss, t
	}
}

// weight is the density of reaching loss at step t with the row, over that with
// which it was drawn.
func (w walk) weight(t int, loss float64) float64 {
	sum := 0.0
	for _, a := range tilts {
		// exp(∫ (a−1) dL/2 − (a²−1)/8 dt/σ²), Girsanov's.
		sum += math.Exp((a-1)/2*loss - (a*a-1)/8*float64(t)/(w.sigma*w.sigma))
	}
	return float64(len(tilts)) / sum
}

// estimate is a mean with its standard error.
type estimate struct{ sum, squares, n float64 }

func (e *estimate) add(x float64) { e.sum, e.squares, e.n = e.sum+x, e.squares+x*x, e.n+1 }

func (e *estimate) mean() float64 { return e.sum / e.n }

func (e *estimate) err() float64 {
	return math.Sqrt(max(e.squares/e.n-e.mean()*e.mean(), 0) / e.n)
}

// TestOptionalStoppingTellsNoMoreThanTheStatement plays the attacker whom the ε at the step that was reached
// does not stop: who looks at released values alone and ends the run once they
// tell more than that ε allows. Against the quoted (ε, δ) his run shows
// δ' = E[max(0, 1 − e^(ε − L))], L the loss where he stopped, and ε what the
// statement quotes of a run that was stopped there.
//
// With the ε of the step δ' is several times δ. With that of the plan it never is
// more, for any rule: e^(−L) is a martingale and max(0, 1 − e^ε·x) is convex, so
// the mean grows with time and is largest when nobody stops.
//
// The false-alarm rate is that of six deviations on either side, below 1e-8.
func TestOptionalStoppingTellsNoMoreThanTheStatement(t *testing.T) {
	paths := 2_000_000
	if testing.Short() {
		paths = 50_000
	}
	w := walk{sigma: 40}
	for n := 20.0; n < 10_000; n *= 1.1 {
		w.steps = append(w.steps, int(n))
	}
	w.steps = append(w.steps, 10_000)
	for _, c := range []struct{ delta, least float64 }{{1e-3, 5}, {1e-4, 8}} {
		at, quoted := quotes(t, w, c.delta)
		rng := rand.New(rand.NewPCG(8, 6))
		path := make([]float64, len(w.steps))
		var old, plan, never, greedy estimate
		shown := func(e *estimate, k int, epsilon float64) {
			e.add(w.weight(w.steps[k], path[k]) * max(0, -math.Expm1(epsilon-path[k])))
		}
		last := len(path) - 1
		for range paths {
			w.draw(rng, path)
			k := w.first(path, func(k int) float64 { return at[k] + 0.25*math.Sqrt(float64(w.steps[k]))/w.sigma })
			shown(&old, k, at[k])
			shown(&plan, k, quoted[k])
			g := w.first(path, func(k int) float64 { return quoted[k] })
			shown(&greedy, g, quoted[g])
			shown(&never, last, quoted[last])
		}
		t.Logf("δ = %g, ε = %.4g at the end: δ' = %.3g ± %.1g by the ε of the step (%.1f times), %.3g ± %.1g by the plan's; stopped at once above it %.3g ± %.1g, never stopped %.3g ± %.1g",
			c.delta, quoted[last], old.mean(), old.err(), old.mean()/c.delta, plan.mean(), plan.err(), greedy.mean(), greedy.err(), never.mean(), never.err())
		if old.mean()-6*old.err() < c.least*c.delta {
			t.Errorf("δ = %g: the rule shows %v ± %v against the ε of the step, want %v times δ: it does not try", c.delta, old.mean(), old.err(), c.least)
		}
		for name, e := range map[string]*estimate{"the rule": &plan, "stopped at once": &greedy, "never stopped": &never} {
			if e.mean()-6*e.err() > c.delta {
				t.Errorf("δ = %g, %s: a stopped run shows δ = %v ± %v at the ε that its statement quotes", c.delta, name, e.mean(), e.err())
			}
		}
		// The simulation knows the truth: δ at the plan's ε, when nobody stops.
		truth := gaussianDelta(math.Sqrt(float64(w.steps[last]))/w.sigma, quoted[last])
		if math.Abs(never.mean()-truth) > 6*never.err() {
			t.Errorf("δ = %g: never stopped shows %v ± %v, the truth is %v", c.delta, never.mean(), never.err(), truth)
		}
	}
}

// first is the first look at which the loss is above the bound, or the last.
func (w walk) first(path []float64, bound func(k int) float64) int {
	for k := range path {
		if path[k] > bound(k) {
			return k
		}
	}
	return len(path) - 1
}

// quotes are, for each look, ε had the run been planned to end there, and what the
// statement of a run quotes that was stopped there.
func quotes(t *testing.T, w walk, delta float64) (at, quoted []float64) {
	t.Helper()
	for _, n := range w.steps {
		s, err := NewStatement(Statement{
			NoiseMultiplier: w.sigma, SampleRate: 1, Steps: n, Planned: w.steps[len(w.steps)-1], Delta: delta, Accountant: PLD, PerStep: Gaussian{w.sigma},
		})
		if err != nil {
			t.Fatal(err)
		}
		at, quoted = append(at, s.EpsilonAtStep()), append(quoted, s.Epsilon())
	}
	return at, quoted
}
