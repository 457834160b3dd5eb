package webgpu_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/chacha"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/simd"
	"clipscope/core/compute/webgpu"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/train"
)

// The law f·u ≤ C on what the GPU makes of ten thousand batches with hostile rows: the
// true norm, from float64, times the factor is never above the threshold.
func TestFactorsKeepEveryNormWithinC(t *testing.T) {
	const batches, rows, columns = 10_000, 8, 24
	rng := rand.New(rand.NewPCG(11, 12))
	b := open(t)
	defer b.Close()
	hostile := []float32{
		0, math.SmallestNonzeroFloat32, -1e-40, 0x1p-126, 1e-30, 1e-10, 1, -1e10, 1e19, -1e30, math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
	}
	const together = 250 // batches in one call
	m := together * rows
	x, u, keep, f := b.New(m*columns), b.New(m), b.New(m), b.New(m)
	table := b.New(kernel.TableSize)
	weights := make([]float32, kernel.TableSize)
	v, factors := make([]float32, m*columns), make([]float32, m)
	for done := 0; done < batches; done += together {
		for i := range weights { // right, and then corrupt
			weights[i] = float32(max(1, kernel.TableNorm(i)))
			if done%(2*together) != 0 && rng.IntN(3) == 0 {
				weights[i] = hostile[rng.IntN(len(hostile))]
			}
		}
		b.Write(table, weights)
		scale := float32(math.Pow(10, rng.Float64()*60-30))
		for i := range v {
			v[i] = scale * float32(rng.NormFloat64())
			if rng.IntN(40) == 0 {
				v[i] = hostile[rng.IntN(len(hostile))]
			}
		}
		b.Write(x, v)
		c := float32(math.Pow(10, rng.Float64()*12-6))
		kernel.Fill(b, m, 1, keep)
		kernel.RowNorms(b, m, columns, x, u)
		kernel.Weigh(b, m, kernel.Limit{C: c, Gain: c, Most: kernel.GreatestFactor}, u, keep, table, f)
		if err := compute.Read(context.Background(), b, factors, f); err != nil {
			t.Fatal(err)
		}
		for i, f := range factors {
			sq := 0.0 // a float32 squared is a float64
			for _, x := range v[i*columns : (i+1)*columns] {
				sq += float64(x) * float64(x)
			}
			norm := math.Sqrt(sq)
			switch {
			case !(f >= 0) || math.IsInf(float64(f), 1):
				t.Fatalf("a factor of %v", f)
			case math.IsNaN(norm) || math.IsInf(norm, 1):
				if f != 0 {
					t.Fatalf("a factor of %v for a norm of %v", f, norm)
				}
			case float64(f)*norm > float64(c)*(1+1e-14): // float64's own rounding
				t.Fatalf("a factor of %v for a norm of %v is %v of the threshold", f, norm, float64(f)*norm/float64(c))
			}
		}
	}
}

// A million values of noise are package chacha's to a relative 10⁻⁵, and normal. False-alarm
// rate 10⁻⁶ for any key but this one: Kolmogorov's distribution, P(√n·D > x) ≈ 2·exp(−2x²).
func TestNoiseIsNormal(t *testing.T) {
	const n = 1_000_000
	key := compute.NoiseKey{Key: [8]uint32{3, 1, 4, 1, 5, 9, 2, 6}, Nonce: [3]uint32{5, 3, 5}}
	b := open(t)
	defer b.Close()
	x, z, want := b.New(n), make([]float32, n), make([]float64, n)
	kernel.Noise(b, n, 1, key, x)
	if err := compute.Read(context.Background(), b, z, x); err != nil {
		t.Fatal(err)
	}
	if err := chacha.Normal(&key.Key, &key.Nonce, want); err != nil {
		t.Fatal(err)
	}
	far := 0.0
	for i, v := range z {
		far = max(far, math.Abs(float64(v)/want[i]-1))
	}
	t.Logf("of %d values none is further than a relative %.2g from the reference", n, far)
	if !(far <= 1e-5) {
		t.Errorf("a value is a relative %v from the reference", far)
	}
	slices.Sort(z)
	d := 0.0
	for i, v := range z {
		p := 0.5 * math.Erfc(-float64(v)/math.Sqrt2)
		d = max(d, p-float64(i)/n, float64(i+1)/n-p)
	}
	if limit := math.Sqrt(math.Log(2/1e-6) / 2 / n); d > limit {
		t.Errorf("D = %v, over %v", d, limit)
	}
}

// runs returns what takes the steps of a run, calling each after every one, as often as it
// is called.
func runs(t *testing.T, b *webgpu.Backend, cfg run.Config, each func(step int)) func() {
	t.Helper()
	ds, err := builtin.Make(cfg.Data, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		r, err := train.Start(context.Background(), p, ds, b)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for e, err := range r.Steps(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			each(e.Step)
		}
	}
}

// What a run has of the GPU's memory is constant, and gone with it; what a step asks of
// the GPU is little.
func TestRunsLeaveNothing(t *testing.T) {
	b := open(t)
	defer b.Close()
	sigma, seed, steps := 1.0, uint64(3), 2000
	if testing.Short() {
		steps = 300
	}
	cfg := run.Config{
		Data: "moons", Method: "quantile", Model: run.Model{Kind: "mlp", Hidden: []int{16}}, NoiseMultiplier: &sigma,
		ExpectedBatchSize: 32, Steps: steps, LearningRate: 0.1, Seed: &seed,
	}
	var at100, end webgpu.Stats
	runs(t, b, cfg, func(step int) {
		if step == 100 {
			at100 = b.Stats()
		}
		end = b.Stats()
	})()
	if end.Live != at100.Live || end.LiveWords != at100.LiveWords {
		t.Errorf("after 100 steps %d parts of %d words are in use, after %d steps %d of %d", at100.Live, at100.LiveWords, steps, end.Live, end.LiveWords)
	}
	per := func(of func(webgpu.Stats) int) float64 { return float64(of(end)-of(at100)) / float64(steps-100) }
	waits := per(func(s webgpu.Stats) int { return s.Waits })
	t.Logf("a step: %.1f commands, %.1f submissions, %.2f waits, %.0f bytes there and %.0f back",
		per(func(s webgpu.Stats) int { return s.Commands }), per(func(s webgpu.Stats) int { return s.Submits }), waits,
		per(func(s webgpu.Stats) int { return s.Uploaded }), per(func(s webgpu.Stats) int { return s.Fetched }))
	cfg.Steps = 3
	short := runs(t, b, cfg, func(int) {})
	for range 100 {
		short()
	}
	if s := b.Stats(); s.Live != 0 || s.LiveWords != 0 {
		t.Errorf("100 runs have left %d parts of %d words", s.Live, s.LiveWords)
	}
}

// A GPU that is lost at any step: the run ends with SIMD, every step is told once, and
// what is told and released is what an undisturbed run with the same key gives, within
// what back ends may differ by.
func TestRunsSurviveTheirGPU(t *testing.T) {
	ctx := context.Background()
	sigma, seed := 1.0, uint64(3)
	ds, err := builtin.Make("moons", 1)
	if err != nil {
		t.Fatal(err)
	}
	planned := func(method string) *plan.Plan {
		cfg := run.Config{
			Data: "moons", Method: method, Model: run.Model{Kind: "mlp", Hidden: []int{8}}, NoiseMultiplier: &sigma,
			ExpectedBatchSize: 32, Steps: 25, LearningRate: 0.1, Optimizer: "adam", Seed: &seed,
		}
		if method == "smooth" { // whose table is another for each layer's threshold
			cfg.Threshold, cfg.Grouping = "quantile", "per-layer"
		}
		p, err := plan.New(cfg, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	fast := func() compute.Backend {
		be, err := simd.New()
		if err != nil {
			t.Fatal(err)
		}
		return be
	}
	// ended takes a run to its end; at a step lose is called, once.
	ended := func(r *train.Run, at int, lose func()) (events []run.Event, res run.Result) {
		survives := func(err error) {
			if !errors.Is(err, compute.ErrLost) {
				t.Fatal(err)
			}
			be := fast()
			t.Cleanup(be.Close)
			if r, err = r.Continue(ctx, be); err != nil {
				t.Fatal(err)
			}
		}
		for len(events) < 25 {
			for e, err := range r.Steps(ctx) {
				if err != nil {
					survives(err)
					break
				}
				if events = append(events, e); e.Step == at {
					lose()
				}
			}
		}
		for {
			res, err := r.Result(ctx)
			if err == nil {
				return events, res
			}
			survives(err)
		}
	}
	rng := rand.New(rand.NewPCG(31, 32))
	times := 4 // of each method; each compiles the kernels anew
	if testing.Short() {
		times = 1
	}
	for i, method := range []string{"constant", "quantile", "dc-e", "adaclip", "psac", "smooth"} {
		p := planned(method)
		be := fast()
		undisturbed, err := train.Start(ctx, p, ds, be)
		if err != nil {
			t.Fatal(err)
		}
		want, end := ended(undisturbed, 0, nil)
		be.Close()
		for range times {
			at := 1 + rng.IntN(25)
			gpu := open(t)
			r, err := train.Start(ctx, p, ds, gpu)
			if err != nil {
				t.Fatal(err)
			}
			events, res := ended(r, at, gpu.Lose)
			gpu.Close()
			if gpu.Lost() == nil || res.Backend != "simd" {
				t.Errorf("%s, lost at %d: it ended on %s", method, at, res.Backend)
			}
			if res.Steps != 25 || res.Epsilon != end.Epsilon {
				t.Errorf("%s, lost at %d: %d steps for ε = %v, want 25 for %v", method, at, res.Steps, res.Epsilon, end.Epsilon)
			}
			for j, e := range events {
				a, b := e.Released, want[j].Released
				if e.Step != j+1 || !near(a.MaxGradNorm, b.MaxGradNorm) || !near(float64(a.GradNorm), float64(b.GradNorm)) || a.Epsilon != b.Epsilon {
					t.Fatalf("%s, lost at %d: event %d is of step %d: %+v, want %+v", method, at, j, e.Step, a, b)
				}
			}
			for j, v := range res.Released.Parameters {
				if w := end.Released.Parameters[j]; !(math.Abs(float64(v-w)) <= 1e-3) {
					t.Fatalf("%s, lost at %d: parameter %d is %v, want %v", method, at, j, v, w)
				}
			}
			t.Logf("%d: %s, lost after step %d", i, method, at)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Max(math.Abs(b), 1e-3) }
