package clip

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// The laws hold for every weight function and rule. Each is a function that
// returns what it found wrong, so that the planted faults below can show that
// it finds them.

// norms are what a gradient's norm can be, in every size that exists.
func norms(rng *rand.Rand, n int) []float64 {
	fixed := []float64{0, math.SmallestNonzeroFloat64, 1e-310, 1e-45, 1e-30, 1e-15, 1, 1e15, 1e30, math.MaxFloat32, math.MaxFloat64, math.Inf(1), math.NaN()}
	for len(fixed) < n {
		fixed = append(fixed, math.Exp(rng.Float64()*180-90))
	}
	return fixed
}

// bounded: Factor(n, c)·n ≤ c, and no factor is negative or not finite.
func bounded(w Weight) error {
	rng := rand.New(rand.NewPCG(1, 1))
	for i, n := range norms(rng, 100_000) {
		c := math.Exp(rng.Float64()*40 - 20)
		f := w.Factor(n, c)
		if math.IsNaN(n) || math.IsInf(n, 1) {
			if f != 0 {
				return fmt.Errorf("factor %g for norm %g", f, n)
			}
			continue
		}
		if !(f >= 0) || math.IsInf(f, 1) {
			return fmt.Errorf("case %d: factor %g for norm %g at C = %g", i, f, n, c)
		}
		if f*n > c*(1+1e-6) {
			return fmt.Errorf("case %d: norm %g is left at %g, above C = %g", i, n, f*n, c)
		}
	}
	return nil
}

// ofItsOwn: a factor is the same whatever was asked before.
func ofItsOwn(w Weight) error {
	rng := rand.New(rand.NewPCG(2, 2))
	ns := norms(rng, 200)
	first := make([]float64, len(ns))
	for i, n := range ns {
		first[i] = w.Factor(n, 1.5)
	}
	for _, i := range rng.Perm(len(ns)) {
		if f := w.Factor(ns[i], 1.5); f != first[i] {
			return fmt.Errorf("norm %g had factor %g, then %g", ns[i], first[i], f)
		}
	}
	return nil
}

// blind: two rules that saw different examples and were told the same released
// values agree ever after.
func blind(fresh func() Rule) error {
	a, b := fresh(), fresh()
	rng := rand.New(rand.NewPCG(3, 3))
	for step := range 50 {
		if a.C() != b.C() {
			return fmt.Errorf("step %d: thresholds %g and %g", step, a.C(), b.C())
		}
		q, r := a.Query(), b.Query()
		if q == nil {
			a.Adapt(nil)
			b.Adapt(nil)
			continue
		}
		sum := make([]float64, q.Len)
		for range 30 {
			n := math.Exp(rng.NormFloat64())
			q.Value(sum, gradient(a, n))
			r.Value(make([]float64, q.Len), gradient(b, 1e3*n))
		}
		a.Adapt(append([]float64(nil), sum...))
		b.Adapt(append([]float64(nil), sum...))
	}
	return nil
}

// steady: the threshold stays finite and positive under any noise, and those of groups within it.
func steady(r Rule) error {
	rng := rand.New(rand.NewPCG(4, 4))
	wild := []float64{0, -1, 1, 1e300, -1e300, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	for step := range 3000 {
		var released []float64
		if q := r.Query(); q != nil {
			released = make([]float64, q.Len)
			for i := range released {
				released[i] = rng.NormFloat64() * math.Exp(rng.Float64()*30-10)
				if step%3 == 0 {
					released[i] = wild[rng.IntN(len(wild))]
				}
			}
		}
		r.Adapt(released)
		if c := r.C(); !(c >= MinThreshold && c <= MaxThreshold) {
			return fmt.Errorf("step %d: threshold %g", step, c)
		}
		if err := together(r); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	return nil
}

// together: the thresholds of all groups are finite, positive and within C, as exact sums of their squares say.
func together(r Rule) error {
	d, ok := r.(Divided)
	if !ok {
		return nil
	}
	sum := new(big.Float).SetPrec(200)
	square := func(c float64) *big.Float {
		x := new(big.Float).SetPrec(200).SetFloat64(c)
		return x.Mul(x, x)
	}
	for i, c := range d.Thresholds() {
		if !(c >= MinThreshold && c <= MaxThreshold) {
			return fmt.Errorf("group %d has a threshold of %g", i, c)
		}
		sum.Add(sum, square(c))
	}
	if sum.Cmp(square(d.C())) > 0 {
		return fmt.Errorf("thresholds %v are more than %g together", d.Thresholds(), d.C())
	}
	return nil
}

// honest: no example adds more to the statistic than its query states; with a
// joined one, no more than the clipped gradient leaves room for.
func honest(r Rule) error {
	q := r.Query()
	if q == nil {
		return nil
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range norms(rng, 20_000) {
		if !usable(n) {
			continue
		}
		g := gradient(r, n)
		clipped, one := g.Clipped, make([]float64, q.Len)
		q.Value(one, g)
		sq := 0.0
		for _, v := range one {
			sq += v * v
		}
		if q.Joined && sq+clipped*clipped > r.C()*r.C()*(1+1e-6) {
			return fmt.Errorf("norm %g: gradient and statistic together have norm %g, above C = %g", n, math.Sqrt(sq+clipped*clipped), r.C())
		}
		if !q.Joined && math.Sqrt(sq) > q.Sensitivity*(1+1e-6) {
			return fmt.Errorf("norm %g adds %g, above the sensitivity %g", n, math.Sqrt(sq), q.Sensitivity)
		}
	}
	return nil
}

// statistics are what a rule may be told: counts, noise, and in every third step what
// no sum should be.
func statistics(rng *rand.Rand, n, step int) []float64 {
	wild := []float64{0, -1, 1, 1e300, -1e300, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Abs(20 * rng.NormFloat64())
		switch step % 9 {
		case 3:
			v[i] = rng.NormFloat64() * math.Exp(rng.Float64()*30-10)
		case 6:
			v[i] = wild[rng.IntN(len(wild))]
		}
	}
	return v
}

// shown is all that a rule shows.
func shown(r Rule) string {
	s := fmt.Sprint(r.C(), r.Snapshot())
	if q := r.Query(); q != nil {
		dst := make([]float64, q.Len)
		for n := 0.01; n < 1e4; n *= 1.7 {
			q.Value(dst, gradient(r, n))
		}
		s += fmt.Sprint(q.Len, q.Sensitivity, q.NoiseStd, q.Joined, dst)
	}
	if f, ok := r.(FractionReleaser); ok {
		s += fmt.Sprint(f.ClipFraction())
	}
	if h, ok := r.(HistogramReleaser); ok {
		s += fmt.Sprint(h.HistogramRange())
	}
	if c, ok := r.(Curver); ok {
		s += fmt.Sprint(c.Curves())
	}
	return s
}

// resumes: a rule that takes up another's snapshot does as that one ever after,
// whatever both are told, and neither touches the snapshot.
func resumes(fresh func() Rule) error {
	rng := rand.New(rand.NewPCG(6, 6))
	tell := func(step int, rules ...Rule) {
		var v []float64
		if q := rules[0].Query(); q != nil {
			v = statistics(rng, q.Len, step)
		}
		for _, r := range rules {
			r.Adapt(append([]float64(nil), v...))
		}
	}
	for _, before := range []int{0, 1, 2, 7, 40} {
		a := fresh()
		for step := range before {
			tell(step, a)
		}
		b, snapshot := fresh(), a.Snapshot()
		first := fmt.Sprint(snapshot)
		if err := b.Restore(snapshot); err != nil {
			return fmt.Errorf("after %d steps: %w", before, err)
		}
		for step := range 40 {
			if x, y := shown(a), shown(b); x != y {
				return fmt.Errorf("after %d steps and %d more:\n%s\nbecame\n%s", before, step, x, y)
			}
			tell(step, a, b)
		}
		if fmt.Sprint(snapshot) != first {
			return fmt.Errorf("a snapshot after %d steps has changed", before)
		}
	}
	return nil
}

// choosy: numbers that are no snapshot are refused, and change nothing.
func choosy(fresh func() Rule) error {
	good := fresh().Snapshot()
	bad := [][]float64{append(make([]float64, len(good)), 1)}
	if len(good) > 0 {
		bad = append(bad, good[1:])
	}
	for i := range good {
		for _, x := range []float64{-1, math.Inf(1)} {
			v := append([]float64(nil), good...)
			v[i] = x
			bad = append(bad, v)
		}
	}
	for _, v := range bad {
		r := fresh()
		was := shown(r)
		if r.Restore(v) == nil {
			return fmt.Errorf("%v was taken", v)
		}
		if shown(r) != was {
			return fmt.Errorf("%v was refused, and left something", v)
		}
	}
	return nil
}

func env(m Info) Env {
	return Env{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 100, ExpectedBatchSize: 100, Dim: 50, Groups: 5}
}

func build(t *testing.T, m Info) *Clipper {
	t.Helper()
	c, err := New(Choice{Method: m.Name}, env(m))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryClipperKeepsTheLaws(t *testing.T) {
	for _, m := range Methods() {
		t.Run(m.Name, func(t *testing.T) {
			c := build(t, m)
			rule := func() Rule { return build(t, m).Rule }
			check := func(law string, err error) {
				if err != nil {
					t.Errorf("%s: %v", law, err)
				}
			}
			if !c.NonPrivate && !c.Coordinates {
				check("bounded", bounded(c.Weight))
			}
			if c.Weight != nil {
				check("ofItsOwn", ofItsOwn(c.Weight))
			}
			check("blind", blind(rule))
			check("steady", steady(rule()))
			check("honest", honest(rule()))
			check("resumes", resumes(rule))
			check("choosy", choosy(rule))
			if s := c.Sensitivity(50); !(s > 0) || math.IsInf(s, 1) != c.NonPrivate {
				t.Errorf("sensitivity %g", s)
			}
		})
	}
}

// TestEveryRuleKeepsTheLaws: the laws are those of what may stand in place of any method's own
// rule.
func TestEveryRuleKeepsTheLaws(t *testing.T) {
	for i, name := range slices.Concat(Rules(), Rules()) {
		grouping := []Grouping{Flat, PerLayer}[i/len(Rules())]
		rule := func() Rule {
			c, err := New(Choice{Method: "constant", Threshold: name, Grouping: string(grouping)}, env(Info{}))
			if err != nil {
				t.Fatal(err)
			}
			return c.Rule
		}
		for law, err := range map[string]error{"blind": blind(rule), "steady": steady(rule()), "honest": honest(rule()), "resumes": resumes(rule), "choosy": choosy(rule)} {
			if err != nil {
				t.Errorf("%s, %s: %s: %v", name, grouping, law, err)
			}
		}
	}
}

// TestRulesKeepTheLawsFromTheLeastThreshold: what a configuration may begin with, a rule can be resumed from.
func TestRulesKeepTheLawsFromTheLeastThreshold(t *testing.T) {
	for _, name := range Rules() {
		for _, grouping := range []Grouping{Flat, PerLayer} {
			for _, c := range []float64{MinThreshold, MaxThreshold} {
				rule := func() Rule {
					e := env(Info{})
					e.MaxGradNorm = c
					cl, err := New(Choice{Method: "constant", Threshold: name, Grouping: string(grouping)}, e)
					if err != nil {
						t.Fatal(err)
					}
					return cl.Rule
				}
				for law, err := range map[string]error{"together": together(rule()), "resumes": resumes(rule)} {
					if err != nil {
						t.Errorf("%s, %s, from C = %g: %s: %v", name, grouping, c, law, err)
					}
				}
			}
		}
	}
}

// TestFreshClippersShareNothing: using one clipper leaves no trace in the next.
func TestFreshClippersShareNothing(t *testing.T) {
	for _, m := range Methods() {
		want := build(t, m)
		used := build(t, m)
		if q := used.Rule.Query(); q != nil {
			used.Rule.Adapt(make([]float64, q.Len))
		} else {
			used.Rule.Adapt(nil)
		}
		if got := build(t, m); !reflect.DeepEqual(got.Rule.C(), want.Rule.C()) {
			t.Errorf("%s: a fresh clipper remembers", m.Name)
		}
	}
}

// The planted faults: what each law is there to catch.

type overshoot struct{ constant }

func (w overshoot) Factor(n, c float64) float64 { return w.constant.Factor(n, 1.01*c) }

type crowd struct{ sum float64 } // a factor that depends on the batch

func (w *crowd) Factor(n, c float64) float64 {
	if !usable(n) {
		return 0
	}
	w.sum += n
	return constant{}.Factor(n, c) / (1 + 1e-3*math.Min(w.sum, 1e3))
}

type peeking struct{ slack } // adapts from what it saw, not from what was released

func (p *peeking) Query() *Query {
	q := p.slack.Query()
	inner := q.Value
	q.Value = func(dst []float64, n Norms) {
		p.slack.c = clampThreshold(0.999*p.slack.c+0.001*n.Whole, p.slack.c)
		inner(dst, n)
	}
	return q
}

type reckless struct{ quantile } // trusts the noise

func (r *reckless) Adapt(v []float64) { r.c *= math.Exp(-v[0]) }

type greedy struct{ histogram } // counts an example in two bins

func (g *greedy) C() float64              { return 1 }
func (g *greedy) Adapt([]float64)         {}
func (g *greedy) Snapshot() []float64     { return nil }
func (g *greedy) Restore([]float64) error { return nil }
func (g *greedy) Query() *Query {
	q := g.query()
	q.Value = func(dst []float64, n Norms) { dst[g.bin(n.Whole)]++; dst[0]++ }
	return q
}

type spread struct{ quantiles } // states the longest threshold for all

func (s spread) C() float64 { return slices.Max(s.Thresholds()) }

type forgetful struct{ *dcp } // its snapshot leaves out the range, and it takes anything

func (f forgetful) Snapshot() []float64 { return []float64{f.c} }
func (f forgetful) Restore(v []float64) error {
	f.c = v[0]
	return nil
}

func TestLawsCatchPlantedFaults(t *testing.T) {
	newForgetful := func() Rule { return forgetful{&dcp{histogram{bins: 10, r: 1, std: 5}, 1, 0.5}} }
	newPeeking := func() Rule { return &peeking{slack{c: 1, gamma: 0.5, rate: 0.2, batch: 100, k: 8}} }
	for name, err := range map[string]error{
		"bound overshoot":        bounded(overshoot{}),
		"batch-dependent factor": ofItsOwn(&crowd{}),
		"peeking adaptation":     blind(newPeeking),
		"unbounded threshold":    steady(&reckless{quantile{c: 1, batch: 100}}),
		"groups beyond C":        steady(spread{(&quantile{c: 1, batch: 100}).divide(3).(quantiles)}),
		"half a snapshot":        resumes(newForgetful),
		"any numbers":            choosy(newForgetful),
		"understated statistic":  honest(&greedy{histogram{bins: 10, r: 1, std: 5}}),
	} {
		if err == nil {
			t.Errorf("%s went unnoticed", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
