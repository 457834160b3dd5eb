package train

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

func ptr[T any](v T) *T { return &v }

// small is a quick classification problem on generated data.
func small(t testing.TB) *data.Dataset {
	t.Helper()
	ds, err := builtin.Make("blobs", 1)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func started(t testing.TB, cfg run.Config, ds *data.Dataset) *Run {
	t.Helper()
	return startOn(t, cfg, ds, purego.New())
}

// accounts is what tests' runs were told, as a page's runs share it: most ask the same.
var accounts privacy.Memory

// startOn plans and starts a run on a backend.
func startOn(t testing.TB, cfg run.Config, ds *data.Dataset, be compute.Backend) *Run {
	t.Helper()
	p, err := plan.Recall(&accounts, cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Start(context.Background(), p, ds, be)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// finish runs to the end; the result has no statement.
func finish(t testing.TB, p *Run) ([]run.Event, run.Result) {
	t.Helper()
	var events []run.Event
	for e, err := range p.Steps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	r, err := p.Outcome(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return events, r.Result
}

func base(method string) run.Config {
	return run.Config{Method: method, MaxGradNorm: 1, Accountant: "rdp", NoiseMultiplier: ptr(1.0), ExpectedBatchSize: 100, Steps: 60, LearningRate: 0.5, Seed: ptr(uint64(3))}
}

func TestEveryMethodTrains(t *testing.T) {
	t.Parallel()
	for _, m := range clip.Methods() {
		t.Run(m.Name, func(t *testing.T) {
			cfg := base(m.Name)
			cfg.Model = run.Model{Kind: "mlp", Hidden: []int{16}, Activation: "relu"}
			if m.Name == "value" {
				cfg.LearningRate = 8 // its bound is loose, so its steps are short
			}
			if m.Name == "coordinate" {
				cfg.LearningRate = 2 // clamping at C/√d leaves little of a gradient
			}
			if m.Name == "adaclip" {
				cfg.LearningRate = 2 // its scale starts small
			}
			events, r := finish(t, started(t, cfg, small(t)))
			if len(events) != cfg.Steps || r.Steps != cfg.Steps || r.Stopped {
				t.Fatalf("%d events, %d steps, stopped %v", len(events), r.Steps, r.Stopped)
			}
			if !(r.TestAccuracy > 0.7) {
				t.Errorf("accuracy %v", r.TestAccuracy)
			}
			if eps := float64(r.Epsilon); m.Private == math.IsInf(eps, 1) {
				t.Errorf("ε = %v for a method with private = %v", eps, m.Private)
			}
			if len(r.Released.MaxGradNorm) != cfg.Steps || len(r.Released.Parameters) != (2+1)*16+17*4 {
				t.Errorf("released %d thresholds and %d parameters", len(r.Released.MaxGradNorm), len(r.Released.Parameters))
			}
		})
	}
}

func TestConfigFaultsNameTheirField(t *testing.T) {
	for _, c := range []struct {
		field string
		edit  func(*run.Config)
	}{
		{"noise_multiplier", func(c *run.Config) { c.NoiseMultiplier = ptr(0.0) }},
		{"noise_multiplier", func(c *run.Config) { c.NoiseMultiplier = ptr(-1.0) }},
		{"noise_multiplier", func(c *run.Config) { c.NoiseMultiplier = ptr(math.NaN()) }},
		{"noise_multiplier", func(c *run.Config) { c.TargetEpsilon = ptr(1.0) }},
		{"target_epsilon", func(c *run.Config) { c.NoiseMultiplier, c.TargetEpsilon = nil, ptr(-1.0) }},
		{"target_epsilon", func(c *run.Config) { // not the share of it that bounds would have
			c.NoiseMultiplier, c.TargetEpsilon, c.Scaling = nil, ptr(0.0), run.Scaling{Kind: "private"}
		}},
		{"target_epsilon", func(c *run.Config) {
			c.NoiseMultiplier, c.TargetEpsilon = nil, ptr(1e-6)
			c.Steps, c.ExpectedBatchSize = 1e8, 2000
		}},
		{"expected_batch_size", func(c *run.Config) { c.ExpectedBatchSize = 2001 }},
		{"expected_batch_size", func(c *run.Config) { c.ExpectedBatchSize = -1 }},
		{"target_delta", func(c *run.Config) { c.TargetDelta = 1 }},
		{"steps", func(c *run.Config) { c.Epochs = 1 }},
		{"method", func(c *run.Config) { c.Method = "magic" }},
		{"r", func(c *run.Config) { c.Params = map[string]float64{"r": 1} }},
		{"r", func(c *run.Config) { c.Method, c.Params = "psac", map[string]float64{"r": 7} }},
		{"noise_multiplier", func(c *run.Config) {
			c.Method, c.NoiseMultiplier = "dc-e", ptr(50.0)
			c.Params = map[string]float64{"sigma_h": 5}
		}},
		{"model", func(c *run.Config) { c.Model.Kind = "linear" }},
		{"model.hidden", func(c *run.Config) { c.Model = run.Model{Kind: "mlp", Hidden: []int{0}} }},
		{"model.hidden", func(c *run.Config) { c.Model = run.Model{Kind: "mlp", Hidden: slices.Repeat([]int{1}, 33_000)} }},
		{"model.hidden", func(c *run.Config) { c.Model = run.Model{Kind: "mlp", Hidden: slices.Repeat([]int{1}, 1024)} }},
		{"model.layers", func(c *run.Config) { c.Model = run.Model{Layers: []string{"conv:4:3", "dense"}} }}, // of a table
		{"model.layers", func(c *run.Config) { c.Model = run.Model{Layers: []string{"dense:5"}} }},
		{"model", func(c *run.Config) { c.Model = run.Model{Kind: "resnet18"} }},
		{"method", func(c *run.Config) {
			c.Method, c.Model = "value", run.Model{Layers: []string{"dense:8", "bias", "relu", "dense"}} // no bound for bias
		}},
		{"model.hidden", func(c *run.Config) { c.Model = run.Model{Kind: "mlp", Hidden: []int{20_000, 20_000}} }}, // 4.8 GB
		{"expected_batch_size", func(c *run.Config) { c.ExpectedBatchSize = 5e-324 }},
		{"expected_batch_size", func(c *run.Config) { c.ExpectedBatchSize, c.Steps, c.Epochs = 1e-3, 0, 1e6 }},
		{"noise_multiplier", func(c *run.Config) { c.NoiseMultiplier, c.TargetEpsilon = ptr(5e-324), nil }},
		{"noise_multiplier", func(c *run.Config) { c.NoiseMultiplier = ptr(math.MaxFloat64) }},
		{"noise_multiplier", func(c *run.Config) {
			c.Method, c.NoiseMultiplier = "quantile", ptr(1e8)
			c.Params = map[string]float64{"sigma_b": math.Nextafter(5e7, 6e7)}
		}},
		{"model.activation", func(c *run.Config) { c.Model = run.Model{Kind: "mlp", Activation: "gelu"} }},
		{"model.dropout", func(c *run.Config) { c.Model = run.Model{Kind: "mlp", Dropout: 1} }},
		{"model.dropout", func(c *run.Config) { c.Model = run.Model{Kind: "mlp", Dropout: -0.1} }},
		{"model.dropout", func(c *run.Config) { c.Model = run.Model{Kind: "mlp", Dropout: math.NaN()} }},
		{"model.dropout", func(c *run.Config) { c.Model = run.Model{Kind: "softmax", Dropout: 0.1} }}, // no activation
		{"model.dropout", func(c *run.Config) { c.Method, c.Model = "value", run.Model{Kind: "mlp", Dropout: 0.1} }},
		{"optimizer", func(c *run.Config) { c.Optimizer = "lion" }},
		{"optimizer", func(c *run.Config) { c.Method, c.Optimizer = "adaclip", "adam-bc" }},
		{"label_smoothing", func(c *run.Config) { c.LabelSmoothing = 1 }},
		{"label_smoothing", func(c *run.Config) { c.LabelSmoothing = math.NaN() }},
		{"label_smoothing", func(c *run.Config) { c.Method, c.LabelSmoothing = "value", 0.1 }},
		{"early_stopping.monitor", func(c *run.Config) { c.EarlyStopping.Monitor = "train_loss" }},
		{"early_stopping.monitor", func(c *run.Config) { c.EarlyStopping.Patience = 5 }},
		{"early_stopping.monitor", func(c *run.Config) { c.EarlyStopping.Monitor = "noisy_clip_fraction" }},
		{"early_stopping.monitor", func(c *run.Config) { c.EarlyStopping.Monitor = "max_grad_norm" }},
		{"early_stopping.monitor", func(c *run.Config) { c.Method, c.EarlyStopping.Monitor = "schedule", "max_grad_norm" }},
		{"early_stopping.monitor", func(c *run.Config) {
			c.NoPrivacy, c.NoiseMultiplier, c.TargetEpsilon, c.EarlyStopping.Monitor = true, ptr(0.0), nil, "noisy_grad_norm"
		}},
		{"early_stopping.patience", func(c *run.Config) { c.EarlyStopping = run.EarlyStopping{Monitor: "noisy_grad_norm", Patience: -1} }},
		{"early_stopping.min_delta", func(c *run.Config) {
			c.EarlyStopping = run.EarlyStopping{Monitor: "noisy_grad_norm", MinDelta: math.NaN()}
		}},
		{"class_weights", func(c *run.Config) { c.ClassWeights = map[string]float64{"no such class": 2} }},
		{"class_weights", func(c *run.Config) { c.ClassWeights = map[string]float64{small(t).Classes[0]: 0} }},
		{"class_weights", func(c *run.Config) { c.ClassWeights = map[string]float64{small(t).Classes[0]: math.NaN()} }},
		{"class_weights", func(c *run.Config) { c.Method, c.ClassWeights = "value", map[string]float64{small(t).Classes[0]: 2} }},
		{"nesterov", func(c *run.Config) { c.Optimizer, c.Nesterov = "adam", true }},
		{"learning_rate_schedule", func(c *run.Config) { c.LearningRateSchedule = "cos" }},
		{"warmup_steps", func(c *run.Config) { c.WarmupSteps = -1 }},
		{"weight_decay", func(c *run.Config) { c.LearningRate, c.WeightDecay = 2, 0.6 }},
		{"accountant", func(c *run.Config) { c.Accountant = "abacus" }},
		{"scaling.kind", func(c *run.Config) { c.Scaling.Kind = "guess" }},
		{"weight", func(c *run.Config) { c.Weight = "none" }},
		{"threshold", func(c *run.Config) { c.Threshold = "magic" }},
		{"grouping", func(c *run.Config) { c.Grouping = "magic" }},
		{"diagnostics_every", func(c *run.Config) { c.Blind, c.DiagnosticsEvery = true, 5 }},
		{"eval_steps", func(c *run.Config) { c.Blind, c.EvalSteps = true, 5 }},
		{"eval_steps", func(c *run.Config) { c.EvalSteps = -1 }},
	} {
		cfg := base("constant")
		c.edit(&cfg)
		_, err := plan.New(cfg, small(t).Meta())
		var ce *run.ConfigError
		if !errors.As(err, &ce) || ce.Field != c.field {
			t.Errorf("want a fault in %s, got %v", c.field, err)
		}
	}
}

// TestLabelsOutsideTheirRangeAreRefused: cross-entropy is as steep as a label is far off, and value
// clipping trusts that none is.
func TestLabelsOutsideTheirRangeAreRefused(t *testing.T) {
	for _, label := range []float32{-3, 1.5, float32(math.NaN()), float32(math.Inf(1))} {
		ds := &data.Dataset{Name: "labels", Task: data.MultiLabel, Features: 2, Outputs: 2}
		ds.Train = data.Split{N: 2, F32: []float32{1, 1, 0, 1}, Y: []float32{0, 1, 0.5, label}}
		cfg := base("value")
		cfg.Model, cfg.ExpectedBatchSize = run.Model{Kind: "linear"}, 1
		p, err := plan.New(cfg, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Start(t.Context(), p, ds, purego.New()); err == nil || !strings.Contains(err.Error(), "training row 2 has a label of") {
			t.Errorf("a label of %v: %v", label, err)
		}
	}
}

// TestSecureNamesTheRule: what secure noise has no grid for is the rule's statistic, whatever
// the method was.
func TestSecureNamesTheRule(t *testing.T) {
	for _, method := range []string{"constant", "quantile"} {
		cfg := base(method)
		cfg.NoiseMode, cfg.Threshold = "secure", "slaclip"
		if _, err := plan.New(cfg, small(t).Meta()); err == nil || !strings.Contains(err.Error(), "the statistic of slaclip") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestPlansOfHoursSaySo: what takes hours is said to before it begins, and the usual run is not.
func TestPlansOfHoursSaySo(t *testing.T) {
	pictures := data.Meta{Task: data.Classification, Features: 784, Outputs: 10, TrainRows: 6000, Shape: []int{28, 28}, FeatureBytes: 1}
	for kind, want := range map[string]string{"resnet18": "takes about 5 hours", "cnn-opacus": ""} {
		cfg := base("constant")
		cfg.Model, cfg.ExpectedBatchSize, cfg.Steps = run.Model{Kind: kind}, 512, 704
		p, err := plan.New(cfg, pictures)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, w := range p.Info().Warnings {
			if strings.Contains(w.Message, "hours") {
				said = w.Field + ": " + w.Message
			}
		}
		if !strings.Contains(said, want) || (said == "") != (want == "") {
			t.Errorf("%s: %q", kind, said)
		}
	}
}

// TestWhatNormBoundSaysOfC: its own threshold does not use max_grad_norm, those of other rules prove nothing.
func TestWhatNormBoundSaysOfC(t *testing.T) {
	for threshold, want := range map[string]string{"": "max_grad_norm", "quantile": "threshold"} {
		cfg := base("norm-bound")
		cfg.Model, cfg.Threshold = run.Model{Kind: "softmax"}, threshold
		var said []string
		for _, w := range planned(t, cfg, small(t)).Info().Warnings {
			if strings.Contains(w.Message, "norm-bound") {
				said = append(said, w.Field)
			}
		}
		if !slices.Equal(said, []string{want}) {
			t.Errorf("threshold %q: it speaks of %q", threshold, said)
		}
	}
}

func TestWarningsNameTheirField(t *testing.T) {
	cfg := base("constant")
	cfg.TargetDelta = 0.01
	info := started(t, cfg, small(t)).plan.Info()
	var fields []string
	for _, w := range info.Warnings {
		fields = append(fields, w.Field)
	}
	if got := strings.Join(fields, " "); !strings.Contains(got, "target_delta") || !strings.Contains(got, "seed") {
		t.Errorf("warned of %q", got)
	}
	if info.Private || !strings.Contains(info.Guarantee, "teaching") {
		t.Errorf("a seeded run claims: %s", info.Guarantee)
	}
	for _, idle := range []func(*run.Config){
		func(c *run.Config) { c.ExpectedBatchSize, c.Steps = 1e-3, 1 },
		func(c *run.Config) { c.NoiseMultiplier = ptr(1e9) },
	} {
		cfg := base("constant")
		idle(&cfg)
		info := started(t, cfg, small(t)).plan.Info()
		if info.Epsilon != 0 || !slices.ContainsFunc(info.Warnings, func(w run.Warning) bool { return strings.HasPrefix(w.Message, "ε = 0: ") }) {
			t.Errorf("ε = %v and no word of it: %v", info.Epsilon, info.Warnings)
		}
	}
}

// TestPhysicalBatchesDoNotMatter: the same seed gives the same parameters
// whatever number of rows goes through the model at once.
func TestPhysicalBatchesDoNotMatter(t *testing.T) {
	t.Parallel()
	run1 := func(physical int) []float32 {
		cfg := base("dc-e")
		cfg.Model = run.Model{Kind: "mlp", Hidden: []int{8}}
		cfg.Steps, cfg.MaxPhysicalBatchSize = 10, physical
		_, r := finish(t, started(t, cfg, small(t)))
		return r.Released.Parameters
	}
	want := run1(512)
	for _, physical := range []int{1, 7, 64} {
		for i, x := range run1(physical) {
			if math.Abs(float64(x-want[i])) > 1e-5*(1+math.Abs(float64(want[i]))) {
				t.Fatalf("physical batch %d: parameter %d is %g, want %g", physical, i, x, want[i])
			}
		}
	}
}

// TestDivisorIsTheExpectedBatch: a row whose gradient is zero changes nothing
// when it joins a batch, to the bit.
func TestDivisorIsTheExpectedBatch(t *testing.T) {
	params := func(extra int) []float32 {
		ds := builtin.MeanEstimation(4, 3)
		tr := &ds.Train
		// A row at distance 0 from θ = 0 has gradient 0.
		tr.N += extra
		tr.F32, tr.Y = append(tr.F32, make([]float32, extra)...), append(tr.Y, make([]float32, 3*extra)...)
		ds.Test = data.Split{}
		cfg := run.Config{Method: "constant", NoPrivacy: true, Model: run.Model{Kind: "linear"}, ExpectedBatchSize: 4, Steps: 1, LearningRate: 1, Seed: ptr(uint64(1))}
		p := started(t, cfg, ds)
		p.work.terms.SampleRate = 1 // all rows are sampled, and the divisor is still 4
		_, r := finish(t, p)
		return r.Released.Parameters
	}
	want, got := params(0), params(1)
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("parameter %d is %g with the extra row, %g without", i, got[i], want[i])
		}
	}
}

// stoppedAt runs p and breaks off after that step.
func stoppedAt(t *testing.T, p *Run, step int) ([]run.Event, run.Result) {
	t.Helper()
	var events []run.Event
	for e, err := range p.Steps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if events = append(events, e); e.Step == step {
			break
		}
	}
	r, err := p.Result(context.Background())
	if err != nil || r.Steps != step {
		t.Fatalf("%+v, %v", r, err)
	}
	return events, r
}

// A stopped run is charged what it was planned for, says what its steps alone
// would have cost, and cannot go on.
func TestStoppedRunCostsItsPlan(t *testing.T) {
	for _, blind := range []bool{false, true} {
		cfg := base("constant")
		cfg.Seed, cfg.Blind = nil, blind
		p := started(t, cfg, small(t))
		events, r := stoppedAt(t, p, 7)
		if !r.Stopped || r.PlannedSteps != cfg.Steps || r.Blind != blind {
			t.Errorf("%+v", r)
		}
		if full := p.plan.Info().Epsilon; r.Epsilon != full || !(r.EpsilonAtStep > 0 && r.EpsilonAtStep < full) || events[6].Released.Epsilon < r.EpsilonAtStep {
			t.Errorf("ε = %v, after 7 of %d steps %v; the plan costs %v", r.Epsilon, cfg.Steps, r.EpsilonAtStep, full)
		}
		watched := strings.Contains(r.Guarantee, "Diagnostics were shown")
		if !strings.Contains(r.Guarantee, "stopped after step 7") || !strings.HasPrefix(r.Guarantee, "(ε = "+run.UpText(float64(r.Epsilon), 4)) || watched == blind {
			t.Errorf("blind %t: %s", blind, r.Guarantee)
		}
		if text := string(r.Statement); !strings.Contains(text, `"stopped":true`) || strings.Contains(text, `"blind":true`) != blind {
			t.Errorf("blind %t: %s", blind, text)
		}
		for _, err := range p.Steps(context.Background()) {
			if err == nil {
				t.Fatal("a run went on after its result")
			}
		}
	}
}

// A result in the midst of a run ends it.
func TestResultEndsTheRun(t *testing.T) {
	cfg := base("constant")
	cfg.Iterate, cfg.Steps = "ema", 6
	r := started(t, cfg, small(t))
	seen := 0
	for _, err := range r.Steps(context.Background()) {
		if err != nil {
			break
		}
		if seen++; seen == 2 {
			if _, err := r.Result(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if seen != 2 || r.done != 2 {
		t.Errorf("%d events, %d steps after a result at 2", seen, r.done)
	}
}

// failing is a backend whose k-th wait fails.
type failing struct {
	compute.Backend
	waits *int
}

type failure struct {
	compute.Pending
	waits *int
}

var errDevice = errors.New("the device is lost")

func (b failing) Fetch(x compute.Buffer) compute.Pending {
	return failure{b.Backend.Fetch(x), b.waits}
}

func (p failure) Wait(ctx context.Context, dst []float32) error {
	if *p.waits--; *p.waits == 0 {
		return errDevice
	}
	return p.Pending.Wait(ctx, dst)
}

// TestNoStepIsTakenTwice: wherever a step fails, the run does not go on: another
// attempt would draw the same noise, which AdaCliP's coordinates may know by then.
func TestNoStepIsTakenTwice(t *testing.T) {
	ds := small(t)
	for _, method := range []string{"constant", "adaclip", "dc-e", "value"} {
		cfg := base(method)
		cfg.Steps, cfg.Model = 4, run.Model{Kind: "mlp", Hidden: []int{4}}
		for k := 1; k < 40; k++ {
			waits := k
			p, err := plan.New(cfg, ds.Meta())
			if err != nil {
				t.Fatal(err)
			}
			r, err := Start(context.Background(), p, ds, failing{deferred.New(purego.New()), &waits})
			if err != nil {
				continue
			}
			failed := false
			for range 3 { // whoever tries again
				for _, err := range r.Steps(context.Background()) {
					if err != nil {
						failed = true
					} else if failed {
						t.Fatalf("%s: a step after the %d-th wait had failed", method, k)
					}
				}
			}
			if done := r.done; failed && done > r.work.terms.Steps {
				t.Errorf("%s: %d steps of %d", method, done, r.work.terms.Steps)
			}
			r.Close()
		}
	}
}

// A blind run yields no diagnostic and learns the same.
func TestBlindRunShowsNothing(t *testing.T) {
	cfg := base("dc-e")
	watched, want := finish(t, started(t, cfg, small(t)))
	cfg.Blind = true
	events, got := finish(t, started(t, cfg, small(t)))
	for i, e := range events {
		if e.Diag != nil {
			t.Fatalf("step %d of a blind run shows %+v", e.Step, e.Diag)
		}
		if e.Released.GradNorm != watched[i].Released.GradNorm || e.Released.Histogram == nil {
			t.Fatalf("step %d releases %+v, watched %+v", e.Step, e.Released, watched[i].Released)
		}
	}
	if len(events) != cfg.Steps || got.TestAccuracy != want.TestAccuracy || math.IsNaN(float64(got.TestAccuracy)) {
		t.Errorf("%d events, test accuracy %v, watched %v", len(events), got.TestAccuracy, want.TestAccuracy)
	}
}

// After the last step there is one figure of the test rows, that of the result, on
// all of them; earlier ones are of at most twenty steps or so, or of those that eval_steps asks for.
func TestTheResultAloneTestsTheLastStep(t *testing.T) {
	ds := small(t)
	for _, c := range []struct{ steps, every, want int }{{1, 0, 0}, {7, 0, 6}, {60, 0, evaluationsLeast}, {60, 1, 59}, {60, 7, 9}, {6, 100, 1}} {
		cfg, steps, want := base("constant"), c.steps, c.want
		cfg.Steps, cfg.EvalSteps = steps, c.every
		events, r := finish(t, started(t, cfg, ds))
		tested := 0
		for _, e := range events {
			if e.Diag.Eval != nil {
				tested++
			}
		}
		if events[steps-1].Diag.Eval != nil || tested != want || r.TestRows != ds.Test.N {
			t.Errorf("%d steps: %d are tested, the last with %+v, the result on %d of %d rows", steps, tested, events[steps-1].Diag.Eval, r.TestRows, ds.Test.N)
		}
	}
}

// A run over many rows is tested twenty times, and less often where that would be
// more than a quarter of the rows that it trains on.
func TestTestingIsASmallPartOfARun(t *testing.T) {
	for _, c := range []struct {
		steps     int
		batch     float64
		rows      int
		evaluated int
	}{
		{469, 128, 10_000, evaluationsLeast}, // an epoch of MNIST
		{2 * 469, 128, 10_000, 20},
		{469, 96, 0, 20},
		{469, 96, 2000, 9},
		{100, 16, 200, 20},
		{1, 1, 1 << 30, evaluationsLeast},
		{1 << 40, 1 << 20, 10, 20},
	} {
		terms := plan.Terms{Schedule: plan.Schedule{Steps: c.steps, BatchSize: c.batch}, Meta: data.Meta{TestRows: c.rows}}
		if got := evaluations(&terms); got != c.evaluated {
			t.Errorf("%d steps of %g, %d test rows: tested %d times, not %d", c.steps, c.batch, c.rows, got, c.evaluated)
		}
	}
}

// TestNonFiniteRowsLeaveNoTrace: an example that overflows adds nothing.
func TestNonFiniteRowsLeaveNoTrace(t *testing.T) {
	ds := small(t)
	cfg := base("constant")
	cfg.Scaling.Kind, cfg.ExpectedBatchSize, cfg.Steps = "none", 2000, 5
	for i := range 50 {
		ds.Train.F32[i*2] = 3e38
		ds.Train.F32[i*2+1] = -3e38
	}
	events, r := finish(t, started(t, cfg, ds))
	if got := events[4].Diag.NonFinite; got != 50 {
		t.Errorf("%d rows counted as not finite, want 50", got)
	}
	for _, w := range r.Released.Parameters {
		if math.IsNaN(float64(w)) || math.IsInf(float64(w), 0) {
			t.Fatal("a parameter is not finite")
		}
	}
}

// TestClassScoresAddUpToTheAccuracy counts by class what the accuracy counts in all.
func TestClassScoresAddUpToTheAccuracy(t *testing.T) {
	ds := small(t)
	ds.Test.N, ds.Test.Y, ds.Test.F32 = 700, slices.Clone(ds.Test.Y[:700]), ds.Test.F32[:700*ds.Features]
	for i := range ds.Test.Y { // of the last class there are none
		if ds.Test.Y[i] == 3 {
			ds.Test.Y[i] = 0
		}
	}
	_, res := finish(t, started(t, base("constant"), ds))
	right, rows := 0.0, 0
	for k, c := range res.TestClasses {
		if c.Class != ds.Classes[k] || (c.Rows == 0) != math.IsNaN(float64(c.Recall)) {
			t.Errorf("class %d is %+v", k, c)
		}
		if rows += c.Rows; c.Rows > 0 {
			right += float64(c.Recall) * float64(c.Rows)
		}
	}
	if len(res.TestClasses) != 4 || rows != 700 || math.Abs(right/700-float64(res.TestAccuracy)) > 1e-9 || math.Abs(res.LargestShare()-float64(res.TestClasses[0].Rows)/700) > 1e-9 || res.TestClasses[0].Rows < 300 {
		t.Errorf("%+v of accuracy %v, largest %v", res.TestClasses, res.TestAccuracy, res.LargestShare())
	}
	if lo, hi := res.TestClasses[1].Recall, res.TestClasses[0].Recall; !(lo > hi) {
		t.Errorf("a class of which half is another's is told by %v, one that is whole by %v", hi, lo)
	}
	cfg := base("constant")
	cfg.Model.Kind, cfg.LearningRate = "linear", 0.01
	_, res = finish(t, started(t, cfg, builtin.LinearTruth(1, 500, 100, 4)))
	if res.TestClasses != nil || !math.IsNaN(res.LargestShare()) {
		t.Errorf("a regression has classes: %+v", res.TestClasses)
	}
}
