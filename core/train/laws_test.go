package train

import (
	"clipscope/core/compute/kernel"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/run"
)

// hostile makes rows of every size that float32 has.
func hostile(n int) *data.Dataset { return hostileRows(n, 5) }

func hostileRows(n, features int) *data.Dataset {
	ds := &data.Dataset{Name: "hostile", Task: data.Classification, Features: features, Outputs: 3, Classes: []string{"a", "b", "c"}}
	rng := rand.New(rand.NewPCG(1, 7))
	wild := []float32{0, 1e-45, -1e-40, 1e-20, 1e18, -1e19, 3e38, -3e38, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	for i := range n {
		size := math.Exp(rng.Float64()*60 - 40)
		for range features {
			x := float32(size * rng.NormFloat64())
			if i%4 == 0 && rng.IntN(3) == 0 {
				x = wild[rng.IntN(len(wild))]
			}
			ds.Train.F32 = append(ds.Train.F32, x)
		}
		ds.Train.Y = append(ds.Train.Y, float32(rng.IntN(3)))
	}
	ds.Train.N = n
	return ds
}

// begun is a plan on hostile rows, ready to accumulate, with weights of some size.
func begun(t *testing.T, method string, ds *data.Dataset, size float32) *Run {
	t.Helper()
	return begunWith(t, method, ds, size, run.Model{Kind: "mlp", Hidden: []int{6}}, purego.New())
}

func begunWith(t *testing.T, method string, ds *data.Dataset, size float32, model run.Model, be compute.Backend) *Run {
	t.Helper()
	return begunAs(t, run.Config{Method: method, Model: model}, ds, size, be)
}

// begunAs is begunWith for what else a configuration says.
func begunAs(t *testing.T, cfg run.Config, ds *data.Dataset, size float32, be compute.Backend) *Run {
	t.Helper()
	cfg.NoiseMultiplier, cfg.ExpectedBatchSize, cfg.Steps, cfg.Seed = ptr(1.0), 20, 10, ptr(uint64(2))
	cfg.Scaling = run.Scaling{Kind: "none"}
	p := startOn(t, cfg, ds, be)
	for _, w := range p.work.model.Params() {
		kernel.Scale(p.work.be, w.Len(), size, w)
	}
	if isAdaClip(p) { // centres and scales that have moved, each its own way
		rng := rand.New(rand.NewPCG(4, 4))
		for range 5 {
			for _, g := range p.work.grads {
				v := make([]float32, g.Len())
				for i := range v {
					v[i] = float32(rng.NormFloat64() * math.Exp(4*rng.NormFloat64()))
				}
				p.work.be.Write(g, v)
			}
			p.clipping.mech.mean()
		}
	}
	return p
}

// added is what the given rows add to the clipped sum, in the clipper's coordinates.
func added(t *testing.T, p *Run, rows []int) []float64 {
	t.Helper()
	ctx, e := context.Background(), p.beginStep()
	if err := p.addUp(t.Context(), rows, e); err != nil {
		t.Fatal(err)
	}
	if err := e.collect(ctx, p.work.query); err != nil {
		t.Fatal(err)
	}
	c, coordinates := p.clipping.mech.(*adaClip)
	if coordinates {
		c.centre(p.clipping.part)
	}
	sum := make([]float64, p.work.terms.Spec.Params())
	if err := p.work.readSums(ctx, sum, p.clipping.part.sums); err != nil {
		t.Fatal(err)
	}
	for j := range sum {
		sum[j] *= p.clipping.mech.unit()
	}
	if !coordinates {
		return sum
	}
	a, b := make([]float32, len(sum)), make([]float32, len(sum))
	readCoordinates(t, p, a, b)
	for j := range sum {
		sum[j] /= float64(b[j])
	}
	return sum
}

func length(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}

// overshoot reports the first of the rows from lo to hi that adds more than the
// clipper states.
func overshoot(t *testing.T, p *Run, lo, hi int) error {
	limit := p.work.clipper.Sensitivity(p.work.terms.Spec.Params())
	for i := lo; i < hi; i++ {
		if n := length(added(t, p, []int{i})); !(n <= limit*(1+1e-6)) {
			f := p.feed.ds.Features
			return fmt.Errorf("row %d %v adds %g, the sensitivity is %g", i, p.feed.ds.Train.F32[i*f:(i+1)*f], n, limit)
		}
	}
	return nil
}

// TestNoExampleAddsMoreThanStated, whatever it holds and however large the
// weights: the whole path from row to sum, for every method, on 10⁵ rows.
func TestNoExampleAddsMoreThanStated(t *testing.T) {
	rows := 99_999
	if testing.Short() {
		rows = 1500
	}
	ds := hostile(rows)
	for _, m := range clip.Methods() {
		if !m.Private {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			for i, size := range []float32{0, 1, 30} {
				if err := overshoot(t, begun(t, m.Name, ds, size), i*rows/3, (i+1)*rows/3); err != nil {
					t.Errorf("weights ×%g: %v", size, err)
				}
			}
		})
	}
	// The planted fault: a clipper that states a hundredth less than it allows.
	p := begun(t, "constant", ds, 1)
	p.work.clipper.Rule = clip.Fixed(1)
	p.clipping.mech = generous{p.clipping.mech}
	if overshoot(t, p, 0, 500) == nil {
		t.Error("a bound overshot by 1 % went unnoticed")
	}
}

// TestValueClippingAddsNoMoreThanStated: the same for each of the bounds that VC's text has,
// with f_lb and β₂ of its Algorithm 3.
func TestValueClippingAddsNoMoreThanStated(t *testing.T) {
	const rows = 3000
	ds := hostile(rows)
	for _, params := range []map[string]float64{{}, {"literal": 1}, {"f_lb": -0.5, "beta_2": 1e-3}, {"f_lb": -2, "beta_2": 4, "literal": 1}} {
		t.Run(fmt.Sprint(params), func(t *testing.T) {
			t.Parallel()
			for i, size := range []float32{0, 1, 30} {
				cfg := run.Config{Method: "value", Params: params, Model: run.Model{Kind: "mlp", Hidden: []int{6}}}
				if err := overshoot(t, begunAs(t, cfg, ds, size, purego.New()), i*rows/3, (i+1)*rows/3); err != nil {
					t.Errorf("weights ×%g: %v", size, err)
				}
			}
		})
	}
}

// TestAdaClipAsPrintedAddsNoMoreThanStated: from its first step, whose scale is far below
// those that h₁ allows later.
func TestAdaClipAsPrintedAddsNoMoreThanStated(t *testing.T) {
	const rows = 600
	ds := hostile(rows)
	for _, h := range [][2]float64{{1e-12, 1e-2}, {1e-20, 1e-19}, {1e-3, 1e6}} {
		cfg := run.Config{Method: "adaclip", Model: run.Model{Kind: "mlp", Hidden: []int{6}}, Params: map[string]float64{"literal": 1, "h1": h[0], "h2": h[1]}}
		p := begunAs(t, cfg, ds, 1, purego.New())
		c := p.clipping.mech.(*adaClip)
		kernel.Fill(p.work.be, c.a.Len(), 0, c.a)
		kernel.Fill(p.work.be, c.root.Len(), float32(math.Sqrt(c.geo.First())), c.root)
		c.rescale()
		if err := overshoot(t, p, 0, rows); err != nil {
			t.Errorf("h = %g: %v", h, err)
		}
	}
}

// generous is a mechanism that lets a hundredth more through than it states.
type generous struct{ mechanism }

func (m generous) limits() []kernel.Limit {
	l := m.mechanism.limits()
	for g := range l {
		l[g].C *= 1.01
	}
	return l
}

// TestExamplesAddOnTheirOwn: a batch adds what its rows add one by one, so no
// row's share depends on who else is there.
func TestExamplesAddOnTheirOwn(t *testing.T) {
	ds := hostile(40)
	for _, m := range clip.Methods() {
		p := begun(t, m.Name, ds, 1)
		if !m.Private { // the baseline is not protected from wild rows
			continue
		}
		capacity := p.work.model.Capacity
		rows := make([]int, min(capacity, 12))
		for i := range rows {
			rows[i] = 3*i + 1
		}
		want := make([]float64, p.work.terms.Spec.Params())
		for _, i := range rows {
			for j, x := range added(t, p, []int{i}) {
				want[j] += x
			}
		}
		got := added(t, p, slices.Clone(rows))
		for j := range want {
			if math.Abs(got[j]-want[j]) > 1e-4*(1+math.Abs(want[j])) {
				t.Errorf("%s: coordinate %d of the batch is %g, of its rows one by one %g", m.Name, j, got[j], want[j])
				break
			}
		}
	}
}

// TestAdaptationSeesOnlyWhatIsReleased: two data sets whose private values
// differ, with the noised statistic forced to be the same, move the threshold
// alike.
func TestAdaptationSeesOnlyWhatIsReleased(t *testing.T) {
	t.Parallel()
	for _, m := range clip.Methods() {
		path := func(seed uint64) []float64 {
			ds := small(t)
			rng := rand.New(rand.NewPCG(seed, 1))
			for i := range ds.Train.F32 {
				ds.Train.F32[i] = float32(rng.NormFloat64())
			}
			p := started(t, base(m.Name), ds)
			var cs []float64
			for step := range 20 {
				p.rows = p.sampler.Append(p.rows[:0], p.work.stream(1, step))
				ctx, e := context.Background(), p.beginStep()
				if err := p.accumulate(ctx, p.rows[:min(len(p.rows), p.work.model.Capacity)], e); err != nil {
					t.Fatal(err)
				}
				if err := e.collect(ctx, p.work.query); err != nil {
					t.Fatal(err)
				}
				for i := range p.clipping.part.statistic { // what is released is the same in both
					p.clipping.part.statistic[i] = 10 + 3*math.Sin(float64(step*7+i))
				}
				p.clipping.adapt(e)
				cs = append(cs, p.work.clipper.Rule.C())
				if isAdaClip(p) {
					cs = append(cs, moved(t, p, step)...)
				}
			}
			return cs
		}
		if a, b := path(1), path(2); !slices.Equal(a, b) {
			t.Errorf("%s: thresholds %v and %v", m.Name, a, b)
		}
	}
}

// moved releases the same gradients in every run, and is where the coordinates
// go from there.
func moved(t *testing.T, p *Run, step int) []float64 {
	t.Helper()
	for i, g := range p.work.grads {
		v := make([]float32, g.Len())
		for j := range v {
			v[j] = float32(math.Sin(float64(step + 5*i + j)))
		}
		p.work.be.Write(g, v)
	}
	p.clipping.mech.mean()
	ab := make([]float32, 2*p.work.terms.Spec.Params())
	readCoordinates(t, p, ab[:p.work.terms.Spec.Params()], ab[p.work.terms.Spec.Params():])
	out := make([]float64, len(ab))
	for i, x := range ab {
		out[i] = float64(x)
	}
	return out
}

func isAdaClip(r *Run) bool {
	_, ok := r.clipping.mech.(*adaClip)
	return ok
}
