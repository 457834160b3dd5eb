package train

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/optim"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// plantedFault runs 80 steps with a fault that plant puts in after the mechanism was made, and
// returns the result.
func plantedFault(t *testing.T, cfg run.Config, plant func(*Run)) run.Result {
	t.Helper()
	ds := firstRows(t)
	cfg.Model, cfg.NoiseMultiplier = run.Model{Kind: "mlp", Hidden: []int{20}}, ptr(1.0)
	cfg.ExpectedBatchSize, cfg.Steps, cfg.LearningRate, cfg.Accountant = 24, 80, 0.1, "rdp"
	if cfg.Method == "norm-bound" {
		cfg.Model = run.Model{Kind: "softmax"}
	}
	r, err := newRun(planned(t, cfg, ds), ds, purego.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	planting := func(context.Context) error {
		plant(r)
		return nil
	}
	if err := r.openParts(context.Background(), r.openScale, r.feed.openPCA, r.assemble, planting, r.openCheckpoints, r.openSelfCheck); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, err := range r.Steps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	res, err := r.Result(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// failedNames lists the checks of a result that failed.
func failedNames(r *run.Result) string {
	var all []string
	for _, c := range r.Checks {
		if !c.OK {
			all = append(all, c.Name)
		}
	}
	return strings.Join(all, ", ")
}

// TestHonestRunsPass: every method's run passes its checks. The false-alarm rate of each run is
// below 5·10⁻¹⁸.
func TestHonestRunsPass(t *testing.T) {
	t.Parallel()
	configs := map[string]run.Config{
		"secure":         {Method: "constant", NoiseMode: "secure"},
		"private bounds": {Method: "constant", Scaling: run.Scaling{Kind: "private"}},
		"ema":            {Method: "constant", Iterate: "ema", Optimizer: "adam"},
		"random":         {Method: "constant", Iterate: "random"},
		"per layer":      {Method: "constant", Grouping: "per-layer"},
	}
	for _, m := range clip.Methods() {
		if m.Name != "none" {
			configs[m.Name] = run.Config{Method: m.Name}
		}
	}
	for name, cfg := range configs {
		res := plantedFault(t, cfg, func(*Run) {})
		if len(res.Checks) != 5 || failedNames(&res) != "" {
			t.Errorf("%s: %+v", name, res.Checks)
		}
		if math.IsInf(float64(res.Epsilon), 0) || strings.HasPrefix(res.Guarantee, run.NoGuarantee) {
			t.Errorf("%s: ε = %v, %s", name, res.Epsilon, res.Guarantee)
		}
		if drawn := res.Checks[2].Detail; !strings.Contains(drawn, "80 of 80") {
			t.Errorf("%s: %s", name, drawn)
		}
	}
}

// faulty is a mechanism with one fault.
type faulty struct {
	*gaussian
	releases func(g *gaussian, p Part, step int) error
	measures func(g *gaussian, n int, dst []compute.Buffer)
}

func (f *faulty) release(ctx context.Context, p Part, step int) error {
	if f.releases != nil {
		return f.releases(f.gaussian, p, step)
	}
	return f.gaussian.release(ctx, p, step)
}

func (f *faulty) norms(n int, dst []compute.Buffer) {
	if f.measures != nil {
		f.measures(f.gaussian, n, dst)
		return
	}
	f.gaussian.norms(n, dst)
}

func (f *faulty) ahead(int) {}

// frozen is an optimiser that leaves the first layer's bias as it began.
type frozen struct {
	optim.Optimizer
	be   compute.Backend
	bias compute.Buffer
}

func (o frozen) Step(params, grads compute.Buffer) {
	o.Optimizer.Step(params, grads)
	kernel.Fill(o.be, o.bias.Len(), 0, o.bias) // as nn begins
}

// TestPlantedFaultsAreCaught: each fault by which a run is less private than it says, or
// trains less than it says, fails the check that is for it, and the result then claims no ε.
func TestPlantedFaultsAreCaught(t *testing.T) {
	t.Parallel()
	noise := func(release func(*gaussian, Part, int) error) func(*Run) {
		return func(r *Run) { r.clipping.mech = &faulty{gaussian: r.clipping.mech.(*gaussian), releases: release} }
	}
	tests := []struct {
		name  string
		fails string
		cfg   run.Config
		plant func(*Run)
	}{
		{"noise halved", "noise had", run.Config{}, noise(func(g *gaussian, p Part, step int) error { return g.addNoise(p, step, g.sensitivity()/2, nil) })},
		{"noise zero", "noise had", run.Config{}, noise(func(g *gaussian, p Part, step int) error { return g.addNoise(p, step, 0, nil) })},
		{"noise doubled", "noise had", run.Config{}, noise(func(g *gaussian, p Part, step int) error { return g.addNoise(p, step, 2*g.sensitivity(), nil) })},
		{"no noise in every second step", "noise had", run.Config{}, noise(func(g *gaussian, p Part, step int) error {
			if step%2 == 1 {
				g.unnoised(p)
				return nil
			}
			return g.release(context.Background(), p, step)
		})},
		{"no noise on one tensor", "noise had", run.Config{}, noise(func(g *gaussian, p Part, step int) error {
			if err := g.draw(step, g.sensitivity()); err != nil {
				return err
			}
			kernel.Fill(g.be, g.grads[0].Len(), 0, g.grads[0])
			return g.addNoise(p, step, g.sensitivity(), nil)
		})},
		{"secure noise halved", "noise had", run.Config{NoiseMode: "secure"}, func(r *Run) {
			s := r.clipping.mech.(*secure)
			s.noise, _ = privacy.NewJoinedNoise(s.noise.Deviation()/2.2, s.noise.Deviation()/1.8)
		}},
		{"a tensor left out of the norm", "inside the clipped norm", run.Config{}, func(r *Run) {
			r.clipping.mech = &faulty{gaussian: r.clipping.mech.(*gaussian), measures: func(g *gaussian, n int, dst []compute.Buffer) {
				for _, b := range dst {
					kernel.Fill(g.be, n, 0, b)
				}
				g.model.Sites()[1].Norms(dst[0])
			}}
		}},
		{"a tensor frozen", "every tensor was trained", run.Config{}, func(r *Run) {
			r.opt = frozen{r.opt, r.work.be, r.work.model.Params()[1]}
		}},
		{"batches of one size", "batch sizes", run.Config{}, func(r *Run) { r.sampler, _ = privacy.NewSampler(24, 1) }},
		{"batches of half the size", "batch sizes", run.Config{}, func(r *Run) { r.sampler, _ = privacy.NewSampler(120, 0.1) }},
		{"an accountant that skips the second half", "ε never fell", run.Config{}, func(r *Run) {
			_, step := r.plan.Events()
			curve, err := privacy.NewCurve("rdp", 1e-5, step, 40) // and no more for later ones
			if err != nil {
				t.Fatal(err)
			}
			r.epsilon = curve.Epsilon
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := tt.cfg
			cfg.Method = "constant"
			res := plantedFault(t, cfg, tt.plant)
			if got := failedNames(&res); !strings.Contains(got, tt.fails) {
				t.Fatalf("failed: %q, want %q; %+v", got, tt.fails, res.Checks)
			}
			if !math.IsInf(float64(res.Epsilon), 1) || !strings.HasPrefix(res.Guarantee, run.NoGuarantee) || !strings.Contains(res.Guarantee, "check that the run makes of itself failed (“") {
				t.Errorf("ε = %v, %s", res.Epsilon, res.Guarantee)
			}
			var s run.Statement
			if err := json.Unmarshal(res.Statement, &s); err != nil {
				t.Fatal(err)
			}
			for _, e := range []run.Number{s.Epsilons.PLD, s.Epsilons.RDP, s.Groups[0].Epsilon} {
				if !math.IsInf(float64(e), 1) {
					t.Errorf("the statement still claims ε = %v", e)
				}
			}
			if s.Guarantee || len(s.Checks) != 5 || !math.IsInf(float64(s.Epsilon), 1) || !strings.Contains(s.Text, "No guarantee: a check failed") {
				t.Errorf("the statement says %+v", s)
			}
		})
	}
}

// TestAnEpsilonThatFallsIsNoticed: a step whose ε is below that of the step before is noticed.
func TestAnEpsilonThatFallsIsNoticed(t *testing.T) {
	c := &selfCheck{}
	for _, e := range []float64{0.1, 0.2, 0.2, 0.19} {
		c.spent(e)
	}
	if !c.fell || checkEpsilon(c.fell, 4, 4, 1, 0.5).OK || checkEpsilon(false, 5, 4, 1, 0.5).OK || checkEpsilon(false, 4, 4, 0.4, 0.5).OK || !checkEpsilon(false, 4, 4, 1, 0.5).OK {
		t.Error("it is not")
	}
}

// TestBatchSizesOfOtherSamplersFail: sizes from Poisson sampling pass, in a million steps too, and
// sizes of other ways to draw fail once there are enough of them. The false-alarm rate is below
// 10⁻¹⁶.
func TestBatchSizesOfOtherSamplersFail(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		rows int
		rate float64
	}{{120, 0.2}, {60000, 256.0 / 60000}, {7, 0.5}, {1000, 0.001}, {50, 1}} {
		s, err := privacy.NewSampler(c.rows, c.rate)
		if err != nil {
			t.Fatal(err)
		}
		b := newBatchSizes(c.rows, c.rate)
		var rows []int
		for range 20000 {
			rows = s.Append(rows[:0], rng)
			b.addSize(len(rows))
		}
		if k := b.verdict(); !k.OK {
			t.Errorf("%d rows at %v: %s", c.rows, c.rate, k.Detail)
		}
	}
	for name, size := range map[string]func(step int) int{
		"one size":      func(int) int { return 256 },
		"two sizes":     func(step int) int { return 255 + step%2 },
		"a ragged last": func(step int) int { return map[bool]int{true: 96, false: 256}[step%235 == 234] },
		"twice":         func(int) int { return 300 },
		"too varied":    func(step int) int { return 256 + 150*(step%2*2-1) },
	} {
		b := newBatchSizes(60000, 256.0/60000)
		for step := range 100 {
			b.addSize(size(step))
		}
		if b.verdict().OK {
			t.Errorf("%s pass", name)
		}
	}
}

// honest runs a configuration on data and returns the names of the checks that failed.
func honest(t *testing.T, cfg run.Config, ds *data.Dataset) string {
	t.Helper()
	r := started(t, cfg, ds)
	res := stated(t, r)
	return failedNames(&res)
}

// TestHonestExtremesPass: runs of which a check could not tell by its numbers are not accused. Each
// of these was.
func TestHonestExtremesPass(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	thin := run.Config{Method: "constant", Model: run.Model{Kind: "mlp", Hidden: []int{1, 1, 1}}, NoiseMultiplier: ptr(1.0), ExpectedBatchSize: 24, Steps: 1, LearningRate: 2.6e-5, Accountant: "rdp"}
	adam := thin
	adam.Optimizer, adam.LearningRate, adam.Steps = "adam", 1e-9, 3
	corrected := adam
	corrected.Optimizer = "adam-bc"
	ada := thin
	ada.Method, ada.Steps, ada.LearningRate = "adaclip", 40, 1e-3
	for name, cfg := range map[string]run.Config{"SGD": thin, "Adam": adam, "DP-AdamBC": corrected, "AdaCliP": ada} {
		for range 40 {
			if f := honest(t, cfg, ds); f != "" {
				t.Errorf("%s: %s", name, f)
				break
			}
		}
	}
	alike := *ds // all rows the same, so that a released sum is as large as it may be
	n := 6000
	alike.Train = data.Split{N: n, F32: slices.Repeat([]float32{0.5}, n*ds.Features), Y: slices.Repeat([]float32{1}, n)}
	for _, s := range []float64{0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9} {
		cfg := run.Config{Method: "constant", Model: run.Model{Kind: "softmax"}, NoiseMultiplier: &s, ExpectedBatchSize: 24, Steps: 5, LearningRate: 0.1, Accountant: "rdp", NoiseMode: "secure", MaxGradNorm: 0.01}
		if f := honest(t, cfg, ds); f != "" {
			t.Errorf("secure, σ = %g: %s", s, f)
		}
		cfg.ExpectedBatchSize = float64(n)
		if f := honest(t, cfg, &alike); f != "" {
			t.Errorf("secure, σ = %g, on rows that are alike: %s", s, f)
		}
	}
}

// TestHonestResumedRandomIteratePasses: a run that goes on, and ends with the parameters that it
// had before, is not said not to have trained.
func TestHonestResumedRandomIteratePasses(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	cfg := run.Config{Method: "constant", Model: run.Model{Kind: "softmax"}, NoiseMultiplier: ptr(1.0), ExpectedBatchSize: 24, Steps: 3, LearningRate: 0.1, Accountant: "rdp", Iterate: "random"}
	p := planned(t, cfg, ds)
	for range 20 {
		r := started(t, cfg, ds)
		if _, err := r.next(t.Context()); err != nil {
			t.Fatal(err)
		}
		c, err := r.Checkpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n, err := Resume(t.Context(), p, ds, purego.New(), c, c.state.step)
		if err != nil {
			t.Fatal(err)
		}
		res := stated(t, n)
		n.Close()
		if f := failedNames(&res); f != "" {
			t.Fatalf("%s: %+v", f, res.Checks)
		}
	}
}

// TestDeclaredChecksDoNotTellTheNumber: what is said of batches that pass is the same for data with
// one row more, where their number is declared.
func TestDeclaredChecksDoNotTellTheNumber(t *testing.T) {
	t.Parallel()
	ds := planted()
	for steps := 16; steps < 24; steps++ {
		cfg := run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), ExpectedBatchSize: 150, Steps: steps, NumExamples: 500, Accountant: "rdp"}
		details := func(ds *data.Dataset) []string {
			r := started(t, cfg, ds)
			res := stated(t, r)
			var all []string
			for _, c := range res.Checks {
				all = append(all, c.Detail)
			}
			return all
		}
		if one, other := details(ds), details(oneMore(ds)); !slices.Equal(one, other) {
			t.Fatalf("%d steps: %q, and with one row more %q", steps, one, other)
		}
	}
}
