package train

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

// Tests of the noise as a run releases it. Keys are fixed, so each test either
// always passes or always fails; the false-alarm rate it states is that under a
// random key.

// silent is a run on n rows whose gradients are θ itself, which starts at 0: at a
// learning rate this small parameters are noise alone. It has 2·d of them.
func silent(t *testing.T, n, d int, mode string, edit func(*run.Config)) ([]run.Event, run.Result) {
	t.Helper()
	ds := builtin.MeanEstimation(n, d)
	clear(ds.Train.Y)
	ds.Test = data.Split{}
	cfg := run.Config{
		Method: "constant", NoiseMode: mode, Model: run.Model{Kind: "linear"}, Accountant: "rdp",
		NoiseMultiplier: ptr(1.5), MaxGradNorm: 1, LearningRate: 1e-6, Seed: ptr(uint64(9)),
	}
	edit(&cfg)
	return finish(t, started(t, cfg, ds))
}

// TestNoiseHasItsVariance: after T steps without gradients every parameter has
// variance T·(ησC/B)², whether batches are full or nine in ten of them empty.
// The mean square of n normals is within 3 standard errors √(2/n) of its value
// but for one time in 370; six cases, one in 62 altogether.
func TestNoiseHasItsVariance(t *testing.T) {
	t.Parallel()
	const lr = 1e-6
	for _, tt := range []struct {
		mode            string
		n, d, steps     int
		batch, c, sigma float64
	}{
		{"float", 100, 2000, 400, 0.1, 1, 1.5}, // q = 0.001
		{"float", 100, 2000, 400, 0.1, 40, 0.3},
		{"float", 50, 2000, 20, 50, 1, 1.5}, // q = 1
		{"secure", 100, 500, 100, 0.1, 1, 1.5},
		{"secure", 50, 500, 20, 50, 3, 1.5},
		{"secure", 50, 500, 20, 50, 3, 0.03}, // drawn number by number
	} {
		events, r := silent(t, tt.n, tt.d, tt.mode, func(c *run.Config) {
			c.Steps, c.ExpectedBatchSize, c.MaxGradNorm, c.NoiseMultiplier = tt.steps, tt.batch, tt.c, &tt.sigma
		})
		empty := 0
		for _, e := range events {
			if e.Diag.BatchSize == 0 {
				empty++
			}
		}
		if q := tt.batch / float64(tt.n); q < 0.01 && empty < tt.steps*8/10 {
			t.Errorf("%s: %d of %d batches were empty, want about 90 %%", tt.mode, empty, tt.steps)
		}
		sum := 0.0
		for _, w := range r.Released.Parameters {
			sum += float64(w) * float64(w)
		}
		n := float64(len(r.Released.Parameters))
		got, want := sum/n, float64(tt.steps)*math.Pow(lr*tt.sigma*tt.c/tt.batch, 2)
		if math.Abs(got/want-1) > 3*math.Sqrt(2/n) {
			t.Errorf("%s, N = %d, B = %g: variance %g, want %g (ratio %.4f)", tt.mode, tt.n, tt.batch, got, want, got/want)
		}
	}
}

// TestReleasedNoisePassesKolmogorovSmirnov compares a million parameters after one
// step with the normal distribution, by Kolmogorov's P(√n·D > x) ≈ 2·exp(−2x²):
// false-alarm rate 10⁻⁶ for each of the two modes.
func TestReleasedNoisePassesKolmogorovSmirnov(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("two million draws, sorted")
	}
	const d, sigma, lr = 500_000, 1.5, 1e-6
	for _, mode := range []string{"float", "secure"} {
		_, r := silent(t, 2, d, mode, func(c *run.Config) { c.Steps, c.ExpectedBatchSize = 1, 1 })
		z := r.Released.Parameters
		slices.Sort(z)
		far, n := 0.0, float64(len(z))
		for i, v := range z {
			p := 0.5 * math.Erfc(-float64(v)/(lr*sigma)/math.Sqrt2)
			far = max(far, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
		}
		x, limit := math.Sqrt(n)*far, math.Sqrt(-math.Log(1e-6/2)/2)
		if t.Logf("%s: √n·D = %.3f, limit %.3f", mode, x, limit); x > limit {
			t.Errorf("%s: √n·D = %.3f, want at most %.3f", mode, x, limit)
		}
	}
}

// listener hears which noise a run draws.
type listener struct {
	compute.Backend
	keys map[compute.NoiseKey]bool
	seen map[[4]float32]bool // four neighbours of each tensor's noise
	t    *testing.T
}

func (l *listener) Run(k *compute.Kernel, a compute.Args) {
	l.Backend.Run(k, a)
	if !k.Keyed {
		return
	}
	if l.keys[a.Key] {
		l.t.Fatalf("the noise of %v is drawn twice", a.Key.Nonce)
	}
	l.keys[a.Key] = true
	// The same stream again: the first 64 numbers, one group of blocks.
	n := min(a.Buf[0].Len(), 64)
	b := l.New(n)
	defer l.Free(b)
	kernel.Noise(l.Backend, n, 1, a.Key, b)
	z := make([]float32, n)
	if err := compute.Read(context.Background(), l.Backend, z, b); err != nil {
		l.t.Fatal(err)
	}
	for four := range slices.Chunk(z, 4) {
		if len(four) < 4 {
			break
		}
		if k := [4]float32(four); l.seen[k] {
			l.t.Fatalf("a block of noise repeats, in %v", a.Key.Nonce)
		} else {
			l.seen[k] = true
		}
	}
}

// TestNoNoiseRepeats: whatever the tensor, the step, the method's extra draws, a
// pause between two steps, or a second run of the same configuration, no key is
// used twice and no four neighbouring numbers come again. Four float32 in a row
// meet by chance in under 10⁻¹² of runs.
func TestNoNoiseRepeats(t *testing.T) {
	l := &listener{keys: map[compute.NoiseKey]bool{}, seen: map[[4]float32]bool{}, t: t}
	tensors := 0
	for _, method := range []string{"constant", "constant", "dc-e", "adaclip", "per-layer", "secure"} {
		cfg := base(method)
		if method == "secure" {
			cfg.Method, cfg.NoiseMode = "constant", method
		}
		cfg.Model, cfg.Seed, cfg.Steps = run.Model{Kind: "mlp", Hidden: []int{16}}, nil, 12
		l.Backend = purego.New()
		p := startOn(t, cfg, small(t), l)
		for e, err := range p.Steps(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Step == 6 { // paused: a user looks at the model, then goes on
				if _, err := p.feed.evaluate(context.Background(), 10); err != nil {
					t.Fatal(err)
				}
			}
		}
		tensors += 12 * len(p.work.model.Params())
	}
	if len(l.keys) != tensors {
		t.Errorf("%d draws of noise, want one for each of %d tensors and steps", len(l.keys), tensors)
	}
}

// late draws no noise before it is added.
type late struct{ mechanism }

func (late) ahead(int) {}

// TestNoiseAheadChangesNoRelease: what a run releases does not depend on when its noise is drawn,
// with whatever moves the deviation, changes between steps, and looks at it among them;
// nor on who draws it: the suite has it with several threads, too.
func TestNoiseAheadChangesNoRelease(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"constant", "dc-e", "quantile", "quantile per-layer", "adaclip", "coordinate", "value", "secure"} {
		t.Run(name, func(t *testing.T) {
			method, grouping, _ := strings.Cut(name, " ")
			cfg := base(method)
			cfg.Grouping = grouping
			if method == "secure" {
				cfg.Method, cfg.NoiseMode = "constant", method
			}
			cfg.Model, cfg.Steps = run.Model{Kind: "mlp", Hidden: []int{16}}, 12
			to := changes{}
			if method == "constant" {
				to = changes{4: {"max_grad_norm": 0.5}, 8: {"noise_multiplier": 2}}
			}
			taken := func(prepare func(*Run)) ([]run.Event, run.Result) {
				r := startOn(t, cfg, small(t), computetest.Fast(t))
				prepare(r)
				return finishChanging(t, r, to)
			}
			a, end := taken(func(r *Run) {
				g, ok := r.clipping.mech.(*gaussian)
				if !ok {
					return
				}
				if err := r.step(context.Background()); err != nil {
					t.Fatal(err)
				}
				if !g.drawn.yes || g.drawn.step != 1 {
					t.Errorf("after a step what is drawn is %+v", g.drawn)
				}
				look, err := r.Look(context.Background(), 0)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := look.Draws(context.Background(), 1, 2); err != nil {
					t.Fatal(err)
				}
				if _, err := r.sum(context.Background()); err != nil {
					t.Fatal(err)
				}
				if g.drawn.yes {
					t.Error("noise that a sum has been added to is to be had again")
				}
			})
			b, want := taken(func(r *Run) { r.clipping.mech = late{r.clipping.mech} })
			for i := range b {
				if a[i].Released.GradNorm != b[i].Released.GradNorm || a[i].Released.MaxGradNorm != b[i].Released.MaxGradNorm {
					t.Errorf("step %d releases %+v, drawn late %+v", i+1, a[i].Released, b[i].Released)
				}
			}
			if !slices.Equal(end.Released.Parameters, want.Released.Parameters) {
				t.Error("the parameters are not the same")
			}
		})
	}
}
