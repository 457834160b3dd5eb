package clip

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func newRule(t *testing.T, method string, edit func(*Env)) Rule {
	t.Helper()
	e := Env{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 100, ExpectedBatchSize: 256, Dim: 1000}
	if edit != nil {
		edit(&e)
	}
	c, err := New(Choice{Method: method}, e)
	if err != nil {
		t.Fatal(err)
	}
	return c.Rule
}

// gradient returns the norms of a gradient of norm n that is clipped as r says: each group, where there are
// several, has half as much as the one before.
func gradient(r Rule, n float64) Norms {
	d, ok := r.(Divided)
	if !ok {
		return Norms{n, math.Min(n, r.C()), []float64{n}}
	}
	g := Norms{Whole: n}
	left := n
	for i, c := range d.Thresholds() {
		part := left
		if i < len(d.Thresholds())-1 {
			part, left = left*math.Sqrt(0.75), left/2
		}
		g.Groups = append(g.Groups, part)
		g.Clipped = math.Hypot(g.Clipped, math.Min(part, c))
	}
	return g
}

// tell gives a rule the exact statistic of a batch of norms.
func tell(r Rule, batch []float64) {
	q := r.Query()
	sum := make([]float64, q.Len)
	for _, n := range batch {
		q.Value(sum, gradient(r, n))
	}
	r.Adapt(sum)
}

func normal(rng *rand.Rand, n int, mean, dev float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Abs(mean + dev*rng.NormFloat64())
	}
	return v
}

// TestPercentileIsWithinHalfABin: DC-SGD, Figure 2: norms from 𝒩(100, 20²), 256 draws. Without
// noise the threshold lies within half a bin, R/(2b), of the true percentile.
func TestPercentileIsWithinHalfABin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
		r := newRule(t, "dc-p", func(e *Env) { e.Params = Params{"p": p} }).(*dcp)
		for range 40 { // from C₀ = 1: the range must first grow to fit
			tell(r, normal(rng, 256, 100, 20))
		}
		batch := normal(rng, 256, 100, 20)
		width := r.r / float64(r.bins)
		tell(r, batch)
		slices.Sort(batch)
		true_ := batch[int(math.Ceil(p*256))-1]
		if math.Abs(r.C()-true_) > width/2*(1+1e-9) {
			t.Errorf("p = %g: threshold %g, true percentile %g, half a bin is %g", p, r.C(), true_, width/2)
		}
	}
}

// TestLeastErrorEqualsBruteForce: dc-e's curves and minimum equal brute force on the histogram.
func TestLeastErrorEqualsBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	r := newRule(t, "dc-e", func(e *Env) { e.MaxGradNorm = 4; e.Dim = 100_000; e.ExpectedBatchSize = 128 }).(*dce)
	sigmaT := 1 / math.Sqrt(1-1.0/25)
	for range 60 {
		batch := normal(rng, 128, 5, 2)
		h := make([]float64, r.bins)
		for _, n := range batch {
			h[min(r.bins-1, int(float64(r.bins)*n/r.r))]++
		}
		width := r.r / float64(r.bins)
		e := func(c float64) float64 {
			s := sigmaT * sigmaT * c * c * 1e5 / (128 * 128)
			for k, v := range h {
				if mid := (float64(k) + 0.5) * width; mid > c {
					s += v / 128 * (mid - c) * (mid - c)
				}
			}
			return s
		}
		tell(r, batch)
		best := math.Inf(1)
		for _, c := range r.curves.C {
			best = min(best, e(c))
		}
		for i, c := range r.curves.C {
			if got := r.curves.Variance[i] + r.curves.Bias[i]; math.Abs(got-e(c)) > 1e-9*e(c) {
				t.Fatalf("E(%g) = %g, brute force %g", c, got, e(c))
			}
		}
		if got := e(r.C()); got > best*(1+1e-9) {
			t.Fatalf("C = %g costs %g, the best candidate %g", r.C(), got, best)
		}
	}
}

// TestErrorMinimiserEndsAlikeFromAnywhere: whichever threshold it starts from, dc-e ends
// at the same least error.
func TestErrorMinimiserEndsAlikeFromAnywhere(t *testing.T) {
	var ends []float64
	for _, c0 := range []float64{0.01, 1, 100} {
		rng := rand.New(rand.NewPCG(5, 6))
		r := newRule(t, "dc-e", func(e *Env) { e.MaxGradNorm = c0; e.Dim = 100_000 })
		for range 30 {
			tell(r, normal(rng, 256, 8, 2))
		}
		ends = append(ends, r.C())
	}
	if slices.Max(ends) > 1.25*slices.Min(ends) {
		t.Errorf("from C₀ = 0.01, 1 and 100 it ends at %v", ends)
	}
}

// TestErrorMinimiserStaysWithoutSignal: in a histogram that is all noise the
// least error may lie at 0; C and R then stay where they are.
func TestErrorMinimiserStaysWithoutSignal(t *testing.T) {
	for name, h := range map[string][]float64{
		"negative mean":   {30, 2, 0, -9, -8},
		"negative spread": {40, 0, 0, 0, -1.5},
		"negative sum":    {-30, 2, 0, 9, 8},
		"NaN":             {math.NaN(), 1, 1, 1, 1},
	} {
		r, err := newDCE(Env{MaxGradNorm: 3, NoiseMultiplier: 1, Steps: 10, ExpectedBatchSize: 30, Dim: 10, Params: map[string]float64{"bins": 5, "r0": 10, "sigma_h": 8}})
		if err != nil {
			t.Fatal(err)
		}
		r.Adapt(h)
		if d := r.(*dce); d.c != 3 || d.r != 10 {
			t.Errorf("%s: C = %g, R = %g", name, d.c, d.r)
		}
	}
}

// TestQuantileReachesItsTarget within 100 steps and 0.05, from a tenth and
// ten times its threshold, with the method's own noise.
func TestQuantileReachesItsTarget(t *testing.T) {
	for _, method := range []string{"quantile", "slaclip"} {
		for _, c0 := range []float64{1, 100} { // e^(−η_C·γ) a step at worst: a factor 10 takes 58
			for _, gamma := range []float64{0.2, 0.5, 0.8} {
				rng := rand.New(rand.NewPCG(7, 8))
				r := newRule(t, method, func(e *Env) { e.MaxGradNorm = c0; e.Params = Params{"gamma": gamma} })
				for range 100 {
					q := r.Query()
					sum := make([]float64, q.Len)
					for _, n := range normal(rng, 256, 10, 4) {
						q.Value(sum, gradient(r, n))
					}
					std := q.NoiseStd
					if q.Joined {
						std = r.C()
					}
					for i := range sum {
						sum[i] += std * rng.NormFloat64()
					}
					r.Adapt(sum)
				}
				below := 0
				sample := normal(rng, 20_000, 10, 4)
				for _, n := range sample {
					if n <= r.C() {
						below++
					}
				}
				// slaclip counts norms up to C·√(1 − 1/16), so a little more lies within C.
				tol := 0.05
				if method == "slaclip" {
					tol = 0.08
				}
				if got := float64(below) / 20_000; math.Abs(got-gamma) > tol {
					t.Errorf("%s from C₀ = %g: %g of the norms lie within C, want %g", method, c0, got, gamma)
				}
			}
		}
	}
}

// TestPSACWeightFollowsThePapersCurve: PS, Figure 2: about C at 0, a single peak at
// √r − r, and about C/n far out.
func TestPSACWeightFollowsThePapersCurve(t *testing.T) {
	for _, r := range []float64{0.001, 0.01, 0.1, 0.5} {
		w := psac{r}
		if f := w.Factor(0, 1); math.Abs(f-1) > 1e-12 {
			t.Errorf("r = %g: weight at 0 is %g, want 1", r, f)
		}
		if f := w.Factor(1e6, 1) * 1e6; math.Abs(f-1) > 1e-5 {
			t.Errorf("r = %g: n·weight far out is %g, want 1", r, f)
		}
		peak := math.Sqrt(r) - r
		for n := peak / 1000; n < 100; n *= 1.05 {
			a, b := w.Factor(n, 1), w.Factor(n*1.01, 1)
			if n*1.01 < peak && b < a || n > peak && b > a {
				t.Errorf("r = %g: the weight turns at %g, want one peak at %g", r, n, peak)
				break
			}
		}
		if top := w.Factor(peak, 1); math.Abs(top-1/(2*math.Sqrt(r)-r)) > 1e-9*top {
			t.Errorf("r = %g: the peak is %g high, want %g", r, top, 1/(2*math.Sqrt(r)-r))
		}
	}
}

func TestSplitPartsCostTheWhole(t *testing.T) {
	q := &Query{Sensitivity: 0.5, NoiseStd: 1}
	// z = 1.5, σ_b = 1, as Opacus accounts for it, gives 2.268.
	got, err := Split(1.5, q)
	if err != nil || math.Abs(got-2.2677868) > 1e-6 {
		t.Errorf("Split(1.5) = %v, %v", got, err)
	}
	for _, sigma := range []float64{0.2, 1, 1.999} {
		s, err := Split(sigma, q)
		if err != nil {
			t.Fatal(err)
		}
		if back := 1 / math.Sqrt(1/(s*s)+1/4.0); math.Abs(back-sigma) > 1e-9*sigma {
			t.Errorf("the parts of %g cost %g together", sigma, back)
		}
	}
	var pe *ParamError
	if _, err := Split(2, q); !errors.As(err, &pe) || pe.Key != "noise_multiplier" {
		t.Errorf("a statistic that costs everything was accepted: %v", err)
	}
	if s, err := Split(3, &Query{Joined: true}); s != 3 || err != nil {
		t.Errorf("a joined query took a share: %v, %v", s, err)
	}
}

// TestScheduleEnds: at ρ_C·C₀, falling all the way, for each ρ_C of DC's Table VII:
// "{0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9}".
func TestScheduleEnds(t *testing.T) {
	for _, share := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} {
		r := newRule(t, "schedule", func(e *Env) { e.MaxGradNorm = 6; e.Params = Params{"end_share": share} })
		for range 100 {
			before := r.C()
			if r.Adapt(nil); !(r.C() < before) {
				t.Fatalf("ρ_C = %g: C goes from %g to %g", share, before, r.C())
			}
		}
		if math.Abs(r.C()-6*share) > 1e-12 {
			t.Errorf("after all steps C is %g, want %g·6", r.C(), share)
		}
	}
}

// TestAdaClipBeginsAsPrinted: AC, Algorithm 1, line 2: "Initialize m⁰ = 0·1, s⁰ = √(h₁h₂)·1".
func TestAdaClipBeginsAsPrinted(t *testing.T) {
	for _, test := range []struct {
		h1, h2          float64
		literal         bool
		first, smallest float64
	}{
		{1e-12, 1e-2, true, 1e-7, 1e-7},
		{1e-2, 4, true, 0.2, 0.1},
		{1e-20, 1e-19, true, 1e-10, 1e-10}, // float32 could not divide by its square
		{1e-12, 1e-2, false, math.Sqrt(1e-7), 1e-6},
	} {
		g := Geometry{Least: test.h1, Greatest: test.h2, Literal: test.literal}
		if first, smallest := g.First(), g.Smallest(); math.Abs(first/test.first-1) > 1e-9 || math.Abs(smallest/test.smallest-1) > 1e-9 {
			t.Errorf("%+v begins at s = %g and stays above %g, want %g and %g", g, first, smallest, test.first, test.smallest)
		}
	}
}

// TestAxesCombine: any weight with any rule, which no paper names.
func TestAxesCombine(t *testing.T) {
	for _, w := range Weights() {
		for _, r := range Rules() {
			for _, g := range []string{"flat", "per-layer"} {
				c, err := New(Choice{Method: "constant", Weight: w, Threshold: r, Grouping: g},
					Env{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 10, ExpectedBatchSize: 100, Dim: 10, Groups: 4})
				if err != nil {
					t.Errorf("%s × %s × %s: %v", w, r, g, err)
					continue
				}
				for _, got := range c.GroupThresholds(4) {
					if math.Abs(got*2-c.Rule.C()) > 1e-11 {
						t.Errorf("%s × %s × %s: four layers share C = %g, and one has %g", w, r, g, c.Rule.C(), got)
					}
				}
			}
		}
	}
}

func TestEveryMethodExplainsItself(t *testing.T) {
	for _, m := range Methods() {
		if m.Title == "" || m.Idea == "" || m.Formula == "" || m.When == "" || m.Paper == "" {
			t.Errorf("%s lacks help", m.Name)
		}
		for _, p := range m.Params {
			if p.Label == "" || p.Help == "" || p.Default < p.Min || p.Default > p.Max {
				t.Errorf("%s: parameter %+v", m.Name, p)
			}
		}
	}
}

// TestEachLayerReachesItsTarget: three layers whose gradients differ three hundredfold, with the counts' own noise. Over
// 60 steps after 100, each layer's mean share below its threshold is within 0.06 of γ: a count's noise is 0.05 of a
// batch, and a mean of 60 of them, which steer each other, has less than a third of that.
func TestEachLayerReachesItsTarget(t *testing.T) {
	for _, gamma := range []float64{0.2, 0.5, 0.8} {
		c, err := New(Choice{Method: "quantile", Grouping: "per-layer"},
			Env{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 100, ExpectedBatchSize: 256, Dim: 1000, Groups: 3, Params: Params{"gamma": gamma}})
		if err != nil {
			t.Fatal(err)
		}
		r, rng, sizes := c.Rule.(Divided), rand.New(rand.NewPCG(9, 9)), []float64{0.1, 1, 30}
		below := make([]float64, len(sizes))
		for step := range 160 {
			q := r.Query()
			sum := make([]float64, q.Len)
			for range 256 {
				n := Norms{Groups: make([]float64, len(sizes))}
				for i, size := range sizes {
					n.Groups[i] = size * math.Abs(1+0.4*rng.NormFloat64())
					if n.Groups[i] <= r.Thresholds()[i] && step >= 100 {
						below[i] += 1. / 256 / 60
					}
				}
				q.Value(sum, n)
			}
			for i := range sum {
				sum[i] += q.NoiseStd * rng.NormFloat64()
			}
			r.Adapt(sum)
		}
		for i, share := range below {
			if math.Abs(share-gamma) > 0.06 {
				t.Errorf("γ = %g, layer %d: a share of %.3f lies below C = %g", gamma, i, share, r.Thresholds()[i])
			}
		}
	}
}

// TestCountsOfLayersArePaidFor: K counts together move by √K/2 for one example, and the gradient's noise grows for them.
func TestCountsOfLayersArePaidFor(t *testing.T) {
	for _, groups := range []int{2, 9, 100} {
		for _, sigma := range []float64{0.5, 2, 50} {
			e := Env{MaxGradNorm: 1, NoiseMultiplier: sigma, Steps: 1, ExpectedBatchSize: 60, Dim: 1000, Groups: groups}
			c, err := New(Choice{Method: "quantile", Grouping: "per-layer"}, e)
			if err != nil {
				t.Fatal(err)
			}
			q := c.Rule.Query()
			if want := math.Sqrt(float64(groups)) / 2; q.Len != groups || q.Sensitivity < want || q.Sensitivity > want*(1+1e-12) {
				t.Errorf("%d counts of sensitivity %g, want %d of %g", q.Len, q.Sensitivity, groups, want)
			}
			noise, err := Split(sigma, q)
			if err != nil || noise > 1.35*sigma {
				t.Errorf("%d layers, σ = %g: the gradient's is %g (%v)", groups, sigma, noise, err)
			}
			if together := math.Pow(noise, -2) + math.Pow(q.NoiseMultiplier(), -2); math.Abs(together*sigma*sigma-1) > 1e-9 {
				t.Errorf("%d layers, σ = %g: together they cost 1/%g²", groups, sigma, 1/math.Sqrt(together))
			}
		}
	}
}
