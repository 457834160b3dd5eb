package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute/purego"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
	"clipscope/core/train/traintest"
)

// changes are those made of a run once so many steps are done.
type changes map[int]run.Change

// finishChanging is finish of a run that is changed on its way.
func finishChanging(t *testing.T, r *Run, to changes) ([]run.Event, run.Result) {
	t.Helper()
	var events []run.Event
	change := func() {
		if c, ok := to[r.done]; ok {
			if _, err := r.Change(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	change()
	for e, err := range r.Steps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
		change()
	}
	res, err := r.Outcome(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return events, res.Result
}

func changedBase(method string) run.Config {
	cfg := base(method)
	cfg.Model, cfg.Steps, cfg.ExpectedBatchSize = run.Model{Kind: "softmax"}, 24, 40
	if method == "none" {
		cfg.NoiseMultiplier = nil
	}
	return cfg
}

// changeableFields are those that a run of the method can be told anew.
func changeableFields(t *testing.T, method string) []string {
	p, err := plan.New(changedBase(method), small(t).Meta())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range []string{"learning_rate", "max_grad_norm", "noise_multiplier"} {
		if _, err := p.Changed(run.Change{f: 0.37}, 0); err == nil {
			all = append(all, f)
		}
	}
	return all
}

// A change before the first step is the configuration that has it, to the bit: of every
// method, whatever of it can be changed.
func TestAChangeIsTheConfiguration(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	for _, m := range clip.Methods() {
		for _, optimizer := range run.Optimizers() {
			if optimizer != "sgd" && m.Name != "constant" {
				continue
			}
			t.Run(m.Name+" "+optimizer, func(t *testing.T) {
				cfg, c := changedBase(m.Name), run.Change{}
				cfg.Optimizer = optimizer
				other := cfg
				for _, f := range changeableFields(t, m.Name) {
					c[f] = 0.37
					switch f {
					case "learning_rate":
						other.LearningRate = 0.37
					case "max_grad_norm":
						other.MaxGradNorm = 0.37
					case "noise_multiplier":
						other.NoiseMultiplier = ptr(0.37)
					}
				}
				_, got := finishChanging(t, started(t, cfg, ds), changes{0: c})
				_, want := finish(t, started(t, other, ds))
				if !slices.Equal(got.Released.Parameters, want.Released.Parameters) || !slices.Equal(got.Released.MaxGradNorm, want.Released.MaxGradNorm) {
					t.Errorf("%v: parameters or thresholds are not those of the configuration", c)
				}
				if got.Epsilon != want.Epsilon || got.Released.NoiseMultiplier != want.Released.NoiseMultiplier {
					t.Errorf("ε is %v, and of the configuration %v", got.Epsilon, want.Epsilon)
				}
			})
		}
	}
}

// The same changes at the same steps lead to the same, other steps to other parameters, and
// until the first change a run is as one without. A change to what holds is none.
func TestChangesAreDetermined(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	for _, method := range []string{"constant", "psac", "auto-s", "adaclip", "coordinate", "value", "micro-batch", "per-layer", "quantile", "dc-e", "slaclip", "schedule"} {
		t.Run(method, func(t *testing.T) {
			cfg, fields := changedBase(method), changeableFields(t, method)
			made := func(first int) changes {
				a, b := run.Change{}, run.Change{}
				for i, f := range fields {
					a[f], b[f] = 0.7+0.1*float64(i), 0.6
				}
				return changes{first: a, first + 5: b}
			}
			plain, untouched := finish(t, started(t, cfg, ds))
			events, one := finishChanging(t, started(t, cfg, ds), made(9))
			_, two := finishChanging(t, started(t, cfg, ds), made(9))
			_, other := finishChanging(t, started(t, cfg, ds), made(10))
			if !slices.Equal(one.Released.Parameters, two.Released.Parameters) || !slices.Equal(one.Changes, two.Changes) {
				t.Error("the same changes led to something else")
			}
			if slices.Equal(one.Released.Parameters, other.Released.Parameters) || slices.Equal(one.Released.Parameters, untouched.Released.Parameters) {
				t.Error("changes led to what other changes, or none, lead to")
			}
			if len(one.Changes) != 2*len(fields) || one.Changes[0].Step != 10 || one.Changes[len(fields)].Step != 15 {
				t.Errorf("of %v the result tells %+v", fields, one.Changes)
			}
			for i, e := range events {
				if i < 9 && (e.Released.GradNorm != plain[i].Released.GradNorm || e.Released.MaxGradNorm != plain[i].Released.MaxGradNorm) {
					t.Fatalf("step %d is another, before any change", i+1)
				}
				if want := map[int]int{9: len(fields), 14: 2 * len(fields)}[i]; len(e.Changes) != want {
					t.Errorf("event %d tells of %d changes, want %d", e.Step, len(e.Changes), want)
				}
			}
			same := run.Change{}
			for _, f := range fields {
				same[f] = map[string]float64{"max_grad_norm": cfg.MaxGradNorm, "learning_rate": cfg.LearningRate, "noise_multiplier": *cfg.NoiseMultiplier}[f]
			}
			_, still := finishChanging(t, started(t, cfg, ds), changes{4: same, 11: nil})
			if !slices.Equal(still.Released.Parameters, untouched.Released.Parameters) || still.Changes != nil || still.Guarantee != untouched.Guarantee {
				t.Errorf("a change to what is so led to %v", still.Changes)
			}
		})
	}
}

// What a changed run costs is what its stretches compose to: what is told after its last
// step is the accountant's answer to the bit, and what is told before is never below it.
func TestChangedRunsCostWhatTheyDid(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	for _, c := range []struct {
		accountant, method string
		to                 changes
	}{
		{"rdp", "constant", changes{6: {"noise_multiplier": 0.7}}},
		{"pld", "constant", changes{6: {"noise_multiplier": 0.7}}},
		{"pld", "constant", changes{6: {"noise_multiplier": 3, "max_grad_norm": 4}, 9: {"learning_rate": 1}, 15: {"noise_multiplier": 0.9}, 16: {"noise_multiplier": 1}}},
		{"rdp", "psac", changes{1: {"noise_multiplier": 1.5}, 2: {"noise_multiplier": 0.5}, 23: {"noise_multiplier": 6}}},
		{"pld", "quantile", changes{8: {"noise_multiplier": 0.6}}},
		{"pld", "constant", changes{0: {"noise_multiplier": 0.8}}},
		{"pld", "constant", changes{12: {"max_grad_norm": 3, "learning_rate": 0.1}}},
	} {
		t.Run(fmt.Sprint(c.accountant, c.method, c.to), func(t *testing.T) {
			cfg := changedBase(c.method)
			cfg.Accountant = c.accountant
			r := started(t, cfg, ds)
			events, res := finishChanging(t, r, c.to)
			// By hand: step for step, from the rule's own query and the definition of a Joint.
			eventAt := func(sigma float64) privacy.Event {
				other := cfg
				other.NoiseMultiplier = ptr(sigma)
				p, err := plan.New(other, ds.Meta())
				if err != nil {
					t.Fatal(err)
				}
				_, step := p.Events()
				return step
			}
			var byHand []privacy.Event
			event := eventAt(1)
			for step := range cfg.Steps {
				if sigma, ok := c.to[step]["noise_multiplier"]; ok {
					event = eventAt(sigma)
				}
				byHand = append(byHand, event)
				if _, changed := c.to[step]; !changed && step%8 != 7 && step != cfg.Steps-1 {
					continue
				}
				want, err := privacy.Epsilon(c.accountant, cfg.WithDefaults().TargetDelta, byHand...)
				if err != nil {
					t.Fatal(err)
				}
				if got := float64(events[step].Released.Epsilon); got < want*(1-1e-12) || got > 1.25*want {
					t.Errorf("after step %d ε is told as %v, and is %v", step+1, got, want)
				}
				if step == cfg.Steps-1 && (float64(res.EpsilonAtStep) != want || float64(res.Epsilon) < want || float64(res.Epsilon) > want*(1+1e-9)) {
					t.Errorf("the result says %v and %v, by hand it is %v", res.Epsilon, res.EpsilonAtStep, want)
				}
			}
			for i := range events[1:] {
				if events[i+1].Released.Epsilon < events[i].Released.Epsilon*(1-1e-9) {
					t.Errorf("ε falls from %v to %v at step %d", events[i].Released.Epsilon, events[i+1].Released.Epsilon, i+2)
				}
			}
			if len(c.to[6]) != 1 {
				return
			}
			statement, err := r.plan.Statement(r.done)
			if err != nil {
				t.Fatal(err)
			}
			text := statement.Text()
			if !strings.Contains(backed(t, r), "noise_multiplier = 1 for 6 steps, then 0.7 over 24 planned steps") || statement.EpsilonAtStep() != float64(res.EpsilonAtStep) {
				t.Errorf("the statement does not say what the noise was: %s", backed(t, r))
			}
			if !strings.Contains(text, "it was changed while it went on") || !strings.Contains(res.Guarantee, "no guarantee") {
				t.Errorf("the statement does not say that the run was changed: %s", text)
			}
		})
	}
}

// A budget is kept to the step: the run ends where one step more would pass it, and where
// the noise is raised again it goes on as far as it was planned to.
func TestChangesKeepTheBudget(t *testing.T) {
	t.Parallel()
	ds := small(t)
	for _, accountant := range []string{"pld", "rdp"} {
		cfg := changedBase("constant")
		cfg.Accountant, cfg.NoiseMultiplier, cfg.TargetEpsilon = accountant, nil, ptr(3.0)
		plain, err := plan.New(cfg, ds.Meta())
		if err != nil {
			t.Fatal(err)
		}
		sigma := plain.Terms().NoiseMultiplier
		events, res := finishChanging(t, started(t, cfg, ds), changes{6: {"noise_multiplier": 0.93 * sigma}})
		last := events[len(events)-1]
		if res.Steps <= 6 || res.Steps >= cfg.Steps || res.Stopped || res.PlannedSteps != res.Steps || last.Steps != res.Steps {
			t.Fatalf("%s: the run took %d of %d steps", accountant, res.Steps, res.PlannedSteps)
		}
		cost := func(steps int) float64 {
			step := func(s float64, n int) privacy.Event {
				return privacy.SelfComposed{Of: privacy.PoissonSampled{SampleRate: plain.Terms().SampleRate, Of: privacy.Gaussian{NoiseMultiplier: s}}, Count: n}
			}
			e, err := privacy.Epsilon(accountant, 1e-5, step(sigma, 6), step(0.93*sigma, steps-6))
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		if cost(res.Steps) > 3 || cost(res.Steps+1) <= 3 || res.Epsilon > 3 || last.Released.Epsilon > 3 {
			t.Errorf("%s: after %d steps ε is %v, told as %v, and after one more %v", accountant, res.Steps, cost(res.Steps), res.Epsilon, cost(res.Steps+1))
		}
		if !slices.ContainsFunc(res.Notes, func(n string) bool { return strings.Contains(n, "used up") }) {
			t.Errorf("%s: no note says why the run ended: %v", accountant, res.Notes)
		}
		_, res = finishChanging(t, started(t, cfg, ds), changes{6: {"noise_multiplier": 0.93 * sigma}, 8: {"noise_multiplier": 2 * sigma}})
		if res.Steps != cfg.Steps || res.Epsilon > 3 {
			t.Errorf("%s: with more noise again the run took %d steps, at ε = %v", accountant, res.Steps, res.Epsilon)
		}
	}
}

// TestAPlanSaysWhatItsRunCannotChange: what a run refuses to change its plan says; of a run that
// refuses all there is nothing to say.
func TestAPlanSaysWhatItsRunCannotChange(t *testing.T) {
	meta := firstRows(t).Meta()
	for _, c := range []struct {
		set  func(*run.Config)
		held string
	}{
		{func(c *run.Config) {}, ""},
		{func(c *run.Config) { c.Method = "value" }, ""},
		{func(c *run.Config) { c.Threshold = "quantile" }, "max_grad_norm"},
		{func(c *run.Config) { c.Method = "dc-e" }, "max_grad_norm"},
		{func(c *run.Config) { c.Method = "schedule" }, "max_grad_norm"},
		{func(c *run.Config) { c.Method = "norm-bound" }, "max_grad_norm"},
		{func(c *run.Config) { c.Method, c.NoiseMultiplier = "none", nil }, "max_grad_norm noise_multiplier"},
		{func(c *run.Config) { c.NoiseMode = "secure" }, "noise_multiplier"},
		{func(c *run.Config) { c.Method, c.Seed = "dc-e", nil }, ""},
	} {
		cfg := changedBase("constant")
		c.set(&cfg)
		p, err := plan.New(cfg, meta)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(p.Info().Held)), " "); got != c.held {
			t.Errorf("%s %s: held are %q, want %q", cfg.Method, cfg.Threshold, got, c.held)
		}
	}
}

func TestChangesAreRefusedByName(t *testing.T) {
	ds := firstRows(t)
	for _, c := range []struct {
		set    func(*run.Config)
		change run.Change
		field  string
		says   string
	}{
		{func(c *run.Config) { c.Seed = nil }, run.Change{"learning_rate": 1}, "seed", "teaching"},
		{nil, run.Change{"epochs": 3}, "epochs", "max_grad_norm, noise_multiplier and learning_rate"},
		{nil, run.Change{"expected_batch_size": 3}, "expected_batch_size", "settled"},
		{nil, run.Change{"max_grad_norm": 0}, "max_grad_norm", "not in"},
		{nil, run.Change{"max_grad_norm": -1}, "max_grad_norm", "not in"},
		{nil, run.Change{"learning_rate": 1e9}, "learning_rate", "not in"},
		{nil, run.Change{"noise_multiplier": 0}, "noise_multiplier", "adds no noise"},
		{nil, run.Change{"noise_multiplier": -1}, "noise_multiplier", "adds no noise"},
		{nil, run.Change{"noise_multiplier": 1e12}, "noise_multiplier", "nothing can be learned"},
		{func(c *run.Config) { c.Method = "quantile" }, run.Change{"max_grad_norm": 2}, "max_grad_norm", "rule"},
		{func(c *run.Config) { c.Method = "schedule" }, run.Change{"max_grad_norm": 2}, "max_grad_norm", "rule"},
		{func(c *run.Config) { c.Threshold = "dc-e" }, run.Change{"max_grad_norm": 2}, "max_grad_norm", "rule"},
		{func(c *run.Config) { c.Method = "norm-bound" }, run.Change{"max_grad_norm": 2}, "max_grad_norm", "does not use it"},
		{func(c *run.Config) { c.Method, c.Params = "coordinate", map[string]float64{"c": 0.1} }, run.Change{"max_grad_norm": 2}, "max_grad_norm", "does not use it"},
		{func(c *run.Config) { c.Method, c.NoiseMultiplier = "none", nil }, run.Change{"max_grad_norm": 2}, "max_grad_norm", "clips nothing"},
		{func(c *run.Config) { c.NoPrivacy, c.NoiseMultiplier = true, nil }, run.Change{"noise_multiplier": 2}, "noise_multiplier", "without noise"},
		{func(c *run.Config) { c.NoiseMode = "secure" }, run.Change{"noise_multiplier": 2}, "noise_multiplier", "secure"},
		// The count's own noise has to be more than the step's.
		{func(c *run.Config) { c.Method, c.Params = "quantile", map[string]float64{"sigma_b": 2} }, run.Change{"noise_multiplier": 9}, "noise_multiplier", "statistic"},
		{func(c *run.Config) { c.NoiseMultiplier, c.TargetEpsilon = nil, ptr(1.0) }, run.Change{"noise_multiplier": 0.1}, "noise_multiplier", "not one more step"},
	} {
		cfg := changedBase("constant")
		if c.set != nil {
			c.set(&cfg)
		}
		r := started(t, cfg, ds)
		for range r.Steps(context.Background()) {
			if r.reported == 3 {
				break
			}
		}
		_, err := r.Change(c.change)
		var config *run.ConfigError
		if !errors.As(err, &config) || config.Field != c.field || !strings.Contains(config.Message, c.says) {
			t.Errorf("%s, %v: %v, want %q of %s", cfg.Method, c.change, err, c.says, c.field)
		}
		if len(r.course.turns) > 0 {
			t.Errorf("%s, %v: it was refused, and made", cfg.Method, c.change)
		}
	}
	r := started(t, changedBase("constant"), ds)
	for i := range plan.MostChanges {
		if _, err := r.Change(run.Change{"learning_rate": float64(i + 1)}); err != nil { // all at the first step
			t.Fatal(err)
		}
	}
	for range r.Steps(context.Background()) {
		if r.done == r.work.terms.Steps {
			if _, err := r.Change(run.Change{"learning_rate": 9}); err == nil {
				t.Error("a run was changed after its last step")
			}
			break
		}
		_, err := r.Change(run.Change{"learning_rate": float64(r.done) + 0.5, "max_grad_norm": float64(r.done) + 0.5, "noise_multiplier": 1 + float64(r.done)})
		if made := 1 + 3*r.done; (err != nil) != (made > plan.MostChanges) {
			t.Fatalf("change %d: %v", made, err)
		}
	}
	if _, err := r.Result(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Change(run.Change{"learning_rate": 1}); err == nil {
		t.Error("a run that has ended was changed")
	}
}

// Noise that is changed back before a step is taken was never changed, for the price too;
// and it is changed no more often than accountants can tell in time.
func TestNoiseIsChangedBack(t *testing.T) {
	cfg := changedBase("constant")
	cfg.Steps, cfg.Accountant = 2*plan.MostNoises, "rdp"
	r := started(t, cfg, firstRows(t))
	change := func(sigma float64) (run.ChangeReply, error) { return r.Change(run.Change{"noise_multiplier": sigma}) }
	plain := r.plan
	for range r.Steps(context.Background()) {
		if r.done == 2 {
			break
		}
	}
	for range 2 * plan.MostChanges { // nothing of it counts
		for _, sigma := range []float64{3, 1} {
			if _, err := change(sigma); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := r.course.turns[0].plan
	if earlier := p.Draft(cfg.Steps).Earlier; len(r.course.turns) > 1 || len(earlier) > 0 || len(p.Terms().Changes) > 0 {
		t.Errorf("changed back, it has %v behind it", earlier)
	}
	for step := range cfg.Steps { // as of a plan that no step has passed
		if p.Epsilon(step+1) != plain.Epsilon(step+1) {
			t.Errorf("changed back, step %d costs %v, and before %v", step+1, p.Epsilon(step+1), plain.Epsilon(step+1))
		}
	}
	made := 0
	for range r.Steps(context.Background()) {
		if made++; r.done == r.work.terms.Steps {
			break
		}
		reply, err := change(1 + float64(made)/64)
		if config := (*run.ConfigError)(nil); made > plan.MostNoises != errors.As(err, &config) {
			t.Fatalf("change %d of the noise: %v", made, err)
		}
		if err == nil && (len(reply.Changes) != made || priced(r) != made) {
			t.Fatalf("change %d: told are %d, and priced %d", made, len(reply.Changes), priced(r))
		}
	}
	if made <= plan.MostNoises {
		t.Fatalf("%d changes were tried", made)
	}
	if n := strings.Count(backed(t, r), ", then "); n != plan.MostNoises {
		t.Errorf("the statement has another noise %d times", n)
	}
}

// priced is the number of noises that the last change of a run left behind it.
func priced(r *Run) int {
	turns := r.course.turns
	return len(turns[len(turns)-1].plan.Draft(1).Earlier)
}

// backed is the statement of a run as though nothing voided its guarantee, in words: without
// one it has no figures.
func backed(t *testing.T, r *Run) string {
	t.Helper()
	draft := r.plan.Draft(r.done)
	draft.Broken = nil
	s, err := privacy.NewStatement(draft)
	if err != nil {
		t.Fatal(err)
	}
	return s.Text()
}

func TestAChangeToMinusZeroIsToZero(t *testing.T) {
	r := started(t, changedBase("constant"), firstRows(t))
	if reply, err := r.Change(run.Change{"learning_rate": math.Copysign(0, -1)}); err != nil || math.Signbit(reply.Changes[0].To) {
		t.Errorf("%+v, %v", reply.Changes, err)
	}
}

// A run whose backend is lost takes the steps again with what held for each of them.
func TestContinueRepeatsChangedSteps(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	for _, method := range []string{"constant", "adaclip", "quantile"} {
		cfg := changedBase(method)
		cfg.Optimizer = "momentum"
		fields := changeableFields(t, method)
		for life := 8; life < 90; life += 13 {
			r, lost := startOn(t, cfg, ds, &traintest.Fragile{Backend: purego.New(), Life: life}), false
			made := changes{}
			change := func(v float64) {
				c := run.Change{}
				for _, f := range fields {
					c[f] = v
				}
				reply, err := r.Change(c)
				if err != nil {
					t.Fatal(err)
				}
				made[reply.Changes[len(reply.Changes)-1].Step-1] = c
			}
			var parameters []float32
			for parameters == nil {
				for _, err := range r.Steps(context.Background()) {
					if err != nil {
						break
					}
					switch {
					case r.reported == 4 && len(made) == 0:
						change(0.4)
					case len(made) == 1 && (r.reported == 9 || lost && r.done < r.work.terms.Steps): // after the last step there are none
						change(0.9)
					}
				}
				res, err := r.Outcome(context.Background())
				if parameters = res.Released.Parameters; err == nil && res.Steps == cfg.Steps {
					break
				}
				parameters, lost = nil, true
				if r, err = r.Continue(context.Background(), purego.New()); err != nil {
					t.Fatal(err)
				}
			}
			_, want := finishChanging(t, started(t, cfg, ds), made)
			if !slices.Equal(parameters, want.Released.Parameters) {
				t.Errorf("%s, lost at %d, changed at %v: other parameters", method, life, made)
			}
			r.Close()
		}
	}
}

// Of a run that was changed there is no checkpoint.
func TestChangedRunsAreNotStored(t *testing.T) {
	r := started(t, changedBase("constant"), firstRows(t))
	for e := range r.Steps(context.Background()) {
		_, err := r.Checkpoint(context.Background())
		if changed := e.Step > 3; changed != errors.Is(err, ErrChanged) || !changed && err != nil {
			t.Fatalf("step %d: %v", e.Step, err)
		}
		if e.Step == 3 {
			if _, err := r.Change(run.Change{"max_grad_norm": 1}); err != nil { // as it is
				t.Fatal(err)
			}
			if c, err := r.Checkpoint(context.Background()); err != nil || c == nil {
				t.Fatalf("nothing was changed, and %v", err)
			}
			if _, err := r.Change(run.Change{"max_grad_norm": 2}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
