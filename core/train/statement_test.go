package train

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// stated runs to the end, and has the statement as well.
func stated(t *testing.T, r *Run) run.Result {
	t.Helper()
	finish(t, r)
	res, err := r.Result(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestStatementSaysWhatRan: for every way of releasing, the statement's own
// events cost what the run says it spent.
func TestStatementSaysWhatRan(t *testing.T) {
	t.Parallel()
	for _, m := range clip.Methods() {
		if !slices.Contains([]string{"none", "constant", "quantile", "dc-e", "slaclip", "adaclip"}, m.Name) {
			continue
		}
		cfg := base(m.Name)
		cfg.Seed, cfg.Steps = nil, 7
		r := stated(t, started(t, cfg, small(t)))
		var s struct {
			Guarantee bool              `json:"guarantee"`
			Steps     int               `json:"steps"`
			Epsilon   run.Number        `json:"epsilon"`
			Events    []json.RawMessage `json:"events"`
			Noise     string            `json:"noise_mode"`
			Clipping  string            `json:"clipping"`
			Released  []string          `json:"released"`
			Text      string            `json:"text"`
		}
		if err := json.Unmarshal(r.Statement, &s); err != nil {
			t.Fatalf("%s: %v in %s", m.Name, err, r.Statement)
		}
		var events []privacy.Event
		for _, b := range s.Events {
			e, err := privacy.UnmarshalEvent(b)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		eps, err := privacy.Epsilon(r.Accountant, r.Delta, events...)
		if err != nil {
			t.Fatal(err)
		}
		if s.Steps != 7 || run.Number(eps) != s.Epsilon || s.Guarantee != m.Private || s.Noise != "float" || !strings.Contains(s.Clipping, m.Name) {
			t.Errorf("%s: the run cost %v, its events %v: %s", m.Name, r.Epsilon, eps, r.Statement)
		}
		if m.Private && !(s.Epsilon <= r.Epsilon*1.001+1e-4) {
			t.Errorf("%s: the statement's ε %v is above the result's %v", m.Name, s.Epsilon, r.Epsilon)
		}
		if moves := strings.Join(s.Released, " "); m.Private && !strings.Contains(moves, "parameters") {
			t.Errorf("%s: released %v", m.Name, s.Released)
		}
	}
}

func TestStatementWithoutGuaranteeSaysSo(t *testing.T) {
	seeded := base("constant")
	seeded.Seed = ptr(uint64(1))
	measured := base("constant")
	measured.Seed, measured.Scaling.Kind = nil, "measured"
	none := base("none")
	none.Seed = nil
	for why, cfg := range map[string]run.Config{"seed is fixed": seeded, "measured": measured, "without noise": none} {
		cfg.Steps = 2
		r := stated(t, started(t, cfg, small(t)))
		if text := string(r.Statement); !strings.Contains(text, `"guarantee":false`) || !strings.Contains(text, "For teaching, no guarantee") || !strings.Contains(text, why) {
			t.Errorf("%s: %s", why, text)
		}
	}
}

func TestStatementSaysWhatEachLayerHas(t *testing.T) {
	cfg := run.Config{Method: "quantile", Grouping: "per-layer", Model: run.Model{Kind: "mlp", Hidden: []int{4}}, NoiseMultiplier: ptr(1.0), ExpectedBatchSize: 50, Steps: 2}
	s, err := planned(t, cfg, small(t)).Statement(2)
	if err != nil {
		t.Fatal(err)
	}
	if want := "a threshold and a count for each of 2 layers"; !strings.Contains(s.Text(), want) {
		t.Errorf("it does not say %q:\n%s", want, s.Text())
	}
}

func TestStatementSaysWhatCostsOnce(t *testing.T) {
	cfg := run.Config{Method: "quantile", TargetEpsilon: ptr(4.0), ExpectedBatchSize: 100, Steps: 5, Scaling: run.Scaling{Kind: "private"}, NoiseMode: "secure"}
	p := started(t, cfg, planted())
	once, _ := p.plan.Events()
	s, err := p.plan.Statement(5)
	if err != nil {
		t.Fatal(err)
	}
	text := s.Text()
	for _, want := range []string{"private bounds", "Noise: secure", "first max_grad_norm", "noisy statistic"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if len(once) != 1 || s.Epsilon() > 4 {
		t.Errorf("%d events once, ε = %v", len(once), s.Epsilon())
	}
}

// TestARunStoppedBeforeItsFirstStepReleasesNothing: what was worked out for the steps, private
// bounds among it, does not leave, so nothing need be charged.
func TestARunStoppedBeforeItsFirstStepReleasesNothing(t *testing.T) {
	ds := builtin.MeanEstimation(50, 3)
	ds.Columns = []data.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	cfg := base("constant")
	cfg.Model, cfg.Scaling = run.Model{Kind: "linear"}, run.Scaling{Kind: "private"}
	cfg.ExpectedBatchSize = 10
	p := startOn(t, cfg, ds, purego.New())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range p.Steps(ctx) {
		if err == nil {
			t.Fatal("a step was taken")
		}
	}
	r, err := p.Result(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Steps != 0 || !r.Stopped || len(r.Released.Parameters) > 0 || len(r.Notes) > 0 || !math.IsNaN(float64(r.TestLoss)) || len(r.Statement) > 0 {
		t.Errorf("before the first step %+v was released", r)
	}
}

// TestRecalledPlansChangeNothing: what plans remember of each other changes nothing that they say
// or release.
func TestRecalledPlansChangeNothing(t *testing.T) {
	ds, err := builtin.Make("moons", 1)
	if err != nil {
		t.Fatal(err)
	}
	accounts, seed, epsilon := &privacy.Memory{}, uint64(1), 2.0
	for _, c := range []float64{0.5, 1} {
		cfg := run.Config{Data: "moons", Method: "dc-e", TargetEpsilon: &epsilon, MaxGradNorm: c, ExpectedBatchSize: 64, Steps: 6, Seed: &seed}
		p, err := plan.Recall(accounts, cfg, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		result := func(p *plan.Plan) string {
			r, err := Start(t.Context(), p, ds, purego.New())
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for _, err := range r.Steps(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
			}
			res, err := r.Result(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			res.TrainSeconds = 0
			b, err := json.Marshal([]any{p.Info(), res})
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		alone, err := plan.New(cfg, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := result(p), result(alone); got != want {
			t.Errorf("C = %g:\n%s\nwant\n%s", c, got, want)
		}
	}
}

// TestHeldOutByClassIsSaid: then the sizes of the classes decide which rows are trained on.
func TestHeldOutByClassIsSaid(t *testing.T) {
	for _, byClass := range []bool{false, true} {
		ds := small(t)
		ds.ByClass = byClass
		res := stated(t, started(t, run.Config{Method: "constant", NoiseMultiplier: ptr(1.0), Steps: 3, Model: run.Model{Kind: "softmax"}}, ds))
		var s run.Statement
		if err := json.Unmarshal(res.Statement, &s); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{s.Text, res.Guarantee} {
			if said := strings.Contains(text, "how many rows each class has"); said != byClass {
				t.Errorf("held out by class %v, and it says %s", byClass, text)
			}
		}
	}
}
