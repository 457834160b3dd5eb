package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/audit/crowd"
	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/purego"
	"clipscope/core/compute/rough"
	"clipscope/core/run"
)

const root3 = 1.7320508075688772 // ‖(1, 1, 1)‖

var crowds = []crowd.Crowd{
	{ // every addition rounds: the sum is a power of two times C, or nearly
		Name:  "ones",
		Row:   func(_ *rand.Rand, _, _ int, c float64) ([2]float64, float64) { return [2]float64{1, 1}, -c / root3 },
		Extra: func(c float64) ([2]float64, float64) { return [2]float64{1, 1}, 0.3 * c / root3 },
	},
	{ // a unit in the last place apart
		Name: "ulps",
		Row: func(rng *rand.Rand, i, _ int, c float64) ([2]float64, float64) {
			return [2]float64{1 + float64(i%3)*0x1p-23, 1 - float64(i%2)*0x1p-24}, -c / root3 * (1 + float64(rng.IntN(4))*0x1p-23)
		},
		Extra: func(c float64) ([2]float64, float64) { return [2]float64{1, -1}, c / root3 },
	},
	{ // clipped, every which way
		Name: "clipped",
		Row: func(rng *rand.Rand, _, _ int, c float64) ([2]float64, float64) {
			return [2]float64{rng.NormFloat64(), 1 + rng.NormFloat64()}, c * math.Exp(3*rng.NormFloat64())
		},
		Extra: func(c float64) ([2]float64, float64) { return [2]float64{7, -3}, 20 * c },
	},
	{ // small gradients of long inputs: δ² is below what float32 holds
		Name: "tiny δ",
		Row: func(rng *rand.Rand, _, _ int, c float64) ([2]float64, float64) {
			return [2]float64{1e15, 1e14 * rng.NormFloat64()}, c * 1e-23 * math.Exp(rng.NormFloat64())
		},
		Extra: func(c float64) ([2]float64, float64) { return [2]float64{1e15, 1e13}, -c * 1e-22 },
	},
	crowd.OneLedge,
	{ // one in every piece
		Name: "ledges",
		Row: func(_ *rand.Rand, i, _ int, c float64) ([2]float64, float64) {
			return crowd.Ledge(i%compute.PieceRows, compute.PieceRows, c)
		},
		Extra: func(c float64) ([2]float64, float64) { return [2]float64{}, 0.3 * c },
	},
}

// excess adds up n rows of the crowd, and again with the extra row at each of
// some places, coupled as the proof at [rounded] has it; it returns the
// greatest distance over the sensitivity.
func excess(t *testing.T, w crowd.Crowd, cfg run.Config, n int, be compute.Backend, edits ...func(*Run)) float64 {
	t.Helper()
	ds := w.Data(n, true, cfg.MaxGradNorm)
	if cfg.Model.Layers == nil {
		cfg.Model = run.Model{Kind: "linear"}
	} else {
		asPictures(ds)
	}
	cfg.Scaling = run.Scaling{Kind: "none"}
	cfg.NoiseMultiplier, cfg.Steps, cfg.Seed = ptr(1.0), 1, ptr(uint64(1))
	cfg.ExpectedBatchSize = float64(n + 1) // all: nothing that takes long to account for
	cfg.Accountant, cfg.MaxPhysicalBatchSize = "rdp", 1<<16
	p := startOn(t, cfg, ds, be)
	kernel.Fill(p.work.be, p.work.model.All().Len(), 0, p.work.model.All())
	if isAdaClip(p) {
		settleOn(t, p, w, cfg.MaxGradNorm)
	}
	for _, edit := range edits {
		edit(p)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	without, statWithout := totals(t, p, order)
	worst := 0.0
	for _, at := range []int{0, n / 2, max(n-1, 0), n} {
		with := append(slices.Clone(order), n)
		with[at], with[n] = with[n], with[at]
		sum, stat := totals(t, p, with)
		for i := range sum {
			sum[i] -= without[i]
		}
		for i := range stat {
			stat[i] -= statWithout[i]
		}
		moved := length(sum)
		if q := p.work.query; q != nil && q.Joined {
			moved = math.Hypot(moved, length(stat))
		} else if q != nil && length(stat) > q.Sensitivity {
			t.Errorf("%s, %s, B = %d: the statistic moves by %g, its sensitivity is %g", cfg.Method, w.Name, n, length(stat), q.Sensitivity)
		}
		worst = max(worst, moved/p.clipping.mech.sensitivity())
	}
	return worst
}

// settling is how many steps it takes a centre with β₁ = 0.99 to come within
// rounding of where gradients lie.
const settling = 2500

// settleOn lets coordinates follow what the crowd has in common, until the centre
// is far longer than what is left.
func settleOn(t *testing.T, p *Run, w crowd.Crowd, c float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	d := p.work.terms.Spec.Params()
	a, b, g := make([]float32, d), make([]float32, d), make([]float32, d)
	for i := range settling {
		x, y := w.Row(rng, i, settling, c)
		readCoordinates(t, p, a, b)
		g[0], g[1], g[d-1] = float32(-y*x[0]), float32(-y*x[1]), float32(-y) // weights, other weights, bias
		for j := range g {
			g[j] -= a[j]
		}
		p.work.be.Write(p.work.gradient, g)
		clear(g)
		p.clipping.mech.mean()
	}
}

// totals is what rows add to the sum and to the statistic, in that order and in
// physical batches as a step takes them.
func totals(t *testing.T, p *Run, rows []int) (sum, stat []float64) {
	t.Helper()
	clear(p.clipping.part.statistic)
	return added(t, p, rows), slices.Clone(p.clipping.part.statistic)
}

func sumConfig(method, mode string, c float64) run.Config {
	return run.Config{Method: method, NoiseMode: mode, MaxGradNorm: c}
}

// TestOneRowMovesTheSumByNoMoreThanTheSensitivity is the law of sums: rounding
// included, for every method, on crowds that round badly, the row early, in the
// middle and late, with as many rows as there may be.
func TestOneRowMovesTheSumByNoMoreThanTheSensitivity(t *testing.T) {
	sizes := []int{0, 1, 512}
	if !testing.Short() {
		sizes = append(sizes, 10_000)
	}
	for _, m := range clip.Methods() {
		if !m.Private {
			continue
		}
		for _, mode := range []string{"float", "secure"} {
			if mode == "secure" && (m.Name == "adaclip" || m.Name == "coordinate" || m.Name == "slaclip") {
				continue // refused
			}
			t.Run(m.Name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				for _, n := range sizes {
					sumLaw(t, m.Name, mode, n)
				}
			})
		}
	}
}

func sumLaw(t *testing.T, method, mode string, n int) {
	t.Helper()
	cs := []float64{1}
	if n <= 512 {
		cs = []float64{1e-12, 1e-6, 1, 1e6, 1e12}
	}
	for _, w := range crowds {
		if method == "micro-batch" && n > 512 {
			continue
		}
		for _, c := range cs {
			for name, be := range sumBackends(t, n <= 512 && c == 1) {
				if x := excess(t, w, sumConfig(method, mode, c), max(n, 1), be); !(x <= 1) {
					t.Errorf("%s, B = %d, C = %g, %s: one row moves the sum by %.6g times the sensitivity", w.Name, n, c, name, x)
				}
				be.Close()
			}
		}
	}
}

// sumBackends are the SIMD one, where there is one, and the roughest legal ones:
// one order of summation, or every.
func sumBackends(t *testing.T, every bool) map[string]compute.Backend {
	all := map[string]compute.Backend{}
	for name, order := range rough.Orders {
		if every || name == "forward" {
			all["rough "+name] = rough.New(purego.New(), order, compute.PieceRows)
		}
	}
	for name, open := range computetest.Backends(t) {
		if name == "simd" {
			all[name] = open()
		}
	}
	return all
}

// TestSumLawHoldsOnAMillionRows: B = 10⁶ and full batches, the review's setting.
func TestSumLawHoldsOnAMillionRows(t *testing.T) {
	if testing.Short() {
		t.Skip("a million rows, five times")
	}
	t.Parallel()
	for _, method := range []string{"constant", "coordinate", "adaclip"} {
		for name, be := range sumBackends(t, false) {
			w := crowds[slices.IndexFunc(crowds, func(w crowd.Crowd) bool { return w.Name == "ledge" })]
			x := excess(t, w, sumConfig(method, "float", 1), 1_000_000, be)
			t.Logf("%s, %s: %.6f times the sensitivity", method, name, x)
			if !(x <= 1) {
				t.Errorf("%s, %s: one row of a million moves the sum by %.6g times the sensitivity", method, name, x)
			}
			be.Close()
		}
	}
}

// TestSumLawCatchesPlantedFaults: what the law is there to find.
func TestSumLawCatchesPlantedFaults(t *testing.T) {
	const n = 60_000
	forward := rough.Orders["forward"]
	for name, be := range map[string]compute.Backend{
		"norms a hundredth short": shortNorms{purego.New()},
		"small norms lost":        lostNorms{purego.New()},
	} {
		notice(t, name, "auto-v", n, be)
	}
	notice(t, "the whole batch in float32", "constant", n, rough.New(purego.New(), forward, n+1))
	centred := excess(t, crowd.Alike, sumConfig("adaclip", "float", 1), 4*n, floatCentre{purego.New()}, func(p *Run) {
		centreOnAlike(p)
		nothingOutweighs(p)
	})
	if t.Logf("adaclip, a centre that cancels in float32: %.4g times the sensitivity", centred); centred <= 1 {
		t.Error("a centre that cancels in float32 went unnoticed")
	}
}

func notice(t *testing.T, fault, method string, n int, be compute.Backend) {
	t.Helper()
	worst, at := 0.0, ""
	for _, w := range crowds {
		if x := excess(t, w, sumConfig(method, "float", 1), n, be); x > worst {
			worst, at = x, w.Name
		}
	}
	if t.Logf("%s, %s: %.4g times the sensitivity (%s)", method, fault, worst, at); worst <= 1 {
		t.Errorf("%s went unnoticed", fault)
	}
}

// TestSumLawHoldsWhenTheThresholdFalls: a centre as long as C allows, and then a rule
// that makes C a twentieth before the next step.
func TestSumLawHoldsWhenTheThresholdFalls(t *testing.T) {
	// In every piece: 33 rows at the centre g = (0, 0, 1), then rows near 0 whose
	// weighted gradients are about half a unit in the last place of their sum.
	centredLedge := crowd.Crowd{
		Name: "centred ledge",
		Row: func(_ *rand.Rand, i, _ int, _ float64) ([2]float64, float64) {
			if i%compute.PieceRows < 33 {
				return [2]float64{}, -1
			}
			return [2]float64{}, 0.56 * 0x1p-19 * 320
		},
		Extra: func(float64) ([2]float64, float64) { return [2]float64{}, 10 },
	}
	for _, tt := range []struct {
		rule   string
		params map[string]float64
		seen   []float64 // by the rule
	}{
		{"fixed", nil, nil},
		{"dc-p", map[string]float64{"r0": 2}, append([]float64{1000}, make([]float64, 19)...)},
		{"quantile", map[string]float64{"eta_c": 6, "gamma": 0.5}, []float64{1e6}},
	} {
		for name, be := range sumBackends(t, false) {
			cfg := sumConfig("adaclip", "float", 1)
			cfg.Threshold, cfg.Params = tt.rule, tt.params
			x := excess(t, centredLedge, cfg, 16*compute.PieceRows, be, func(p *Run) {
				s := 1 / (0.99 * centred * root3) // b = s·√3, so ‖a/b‖ is nearly what C allows
				c := p.clipping.mech.(*adaClip)
				p.work.be.Write(c.a, []float32{0, 0, 1})
				kernel.Fill(p.work.be, 3, float32(math.Sqrt(s)), c.root)
				c.rescale()
				p.work.clipper.Rule.Adapt(tt.seen)
			})
			if !(x <= 1) {
				t.Errorf("%s, %s: one row moves the sum by %.6g times the sensitivity", tt.rule, name, x)
			}
			be.Close()
		}
	}
}

// centreOnAlike puts the centre where all gradients of [crowd.Alike] lie, and makes the
// scale so small that rounding the sum of 60,000 of them to float32 would be some
// 20 times C.
func centreOnAlike(r *Run) {
	r.Centre([]float32{float32(crowd.AlikeRow[0]), float32(crowd.AlikeRow[1]), 1}, 1e-4)
}

// nothingOutweighs lets gradients through however much longer the centre makes them.
func nothingOutweighs(r *Run) { kernel.Fill(r.work.be, 1, 0, r.clipping.mech.(*adaClip).away) }

type floatCentre struct{ compute.Backend }

func (b floatCentre) Run(k *compute.Kernel, a compute.Args) {
	if k.Name != "centre" {
		b.Backend.Run(k, a)
		return
	}
	var w [2]float32
	if err := compute.Read(context.Background(), b, w[:], a.Buf[0]); err != nil {
		panic(err)
	}
	n := a.N[0]
	sum := b.New(n)
	kernel.Settle(b, n, a.Sums, sum)
	kernel.Axpy(b, n, -(w[0] + w[1]), a.Buf[1], sum)
	kernel.Clear(b, a.Sums)
	kernel.AddScaled(b.Backend, n, 1, sum, a.Sums)
}

type shortNorms struct{ compute.Backend }

func (b shortNorms) Run(k *compute.Kernel, a compute.Args) {
	b.Backend.Run(k, a)
	if k.Name == "rowNorms" {
		kernel.Scale(b, a.Buf[1].Len(), 0.99, a.Buf[1])
	}
}

type lostNorms struct{ compute.Backend }

func (b lostNorms) Run(k *compute.Kernel, a compute.Args) { // squares in float32
	b.Backend.Run(k, a)
	if k.Name != "rowNorms" {
		return
	}
	v := make([]float32, a.Buf[1].Len())
	if err := compute.Read(context.Background(), b, v, a.Buf[1]); err != nil {
		panic(err)
	}
	for i, f := range v {
		v[i] = float32(math.Sqrt(float64(f * f)))
	}
	b.Write(a.Buf[1], v)
}

// TestSensitivityOfSumsGrowsLittleByRounding: what rounding adds to the noise, by size of batch.
func TestSensitivityOfSumsGrowsLittleByRounding(t *testing.T) {
	for _, tt := range []struct {
		rows, batch, together int
		most                  float64
	}{
		{60_000, 128, math.MaxInt, 1e-3}, {60_000, 512, math.MaxInt, 1e-3}, {60_000, 10_000, math.MaxInt, 1e-3}, {1_000_000, 1_000_000, math.MaxInt, 1e-2},
		{60_000, 512, 16, 1e-3}, {1_000_000, 1_000_000, 1, 1e-2}, // of which each row is a block
	} {
		got := rowSlack + sumSlack(tt.rows, min(1024, tt.batch+6*int(math.Sqrt(float64(tt.batch)))+1), tt.together)
		if t.Logf("N = %d, B = %d: noise larger by %.4f %%", tt.rows, tt.batch, 100*got); !(got > 0 && got <= tt.most) {
			t.Errorf("N = %d, B = %d: rounding adds %g to the sensitivity, want at most %g", tt.rows, tt.batch, got, tt.most)
		}
	}
}

// TestOrderIsUniform: the proof couples batches in uniformly random order. The
// first row of a full batch of 5 is each of them equally often: χ² with 4
// degrees of freedom above 35 has probability 5·10⁻⁷.
func TestOrderIsUniform(t *testing.T) {
	cfg := sumConfig("constant", "float", 1)
	cfg.Model, cfg.NoiseMultiplier, cfg.ExpectedBatchSize, cfg.Steps, cfg.Seed = run.Model{Kind: "linear"}, ptr(1.0), 5, 1, ptr(uint64(4))
	cfg.Scaling = run.Scaling{Kind: "none"}
	p := startOn(t, cfg, crowds[0].Data(4, true, 1), purego.New())
	const draws = 5000
	count := map[[2]int]int{} // (place, row)
	for i := range draws {
		p.done = i
		for place, row := range p.sample(nil) {
			count[[2]int{place, row}]++
		}
	}
	for place := range 5 {
		chi := 0.0
		for row := range 5 {
			d := float64(count[[2]int{place, row}]) - draws/5
			chi += d * d / (draws / 5)
		}
		if chi > 35 {
			t.Errorf("place %d: χ² = %g", place, chi)
		}
	}
}
