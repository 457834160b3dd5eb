package train

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/form"
)

// framedClient is a client whose page stands in another's frame.
type framedClient struct {
	*fakeClient
	ask  func(what, text string) string
	told []told
}

type told struct {
	kind string
	text string
}

func (c *framedClient) Embed(ask func(what, text string) string) func(string, any) {
	c.ask = ask
	return func(kind string, body any) {
		b, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		c.told = append(c.told, told{kind, string(b)})
	}
}

// take is what was told since it was last called.
func (c *framedClient) take() []told {
	t := c.told
	c.told = nil
	return t
}

func kinds(all []told) string {
	var list []string
	for _, t := range all {
		list = append(list, t.kind)
	}
	return strings.Join(list, " ")
}

// newFramed is a page in a frame, shown, with its first data and plan.
func newFramed(t *testing.T, plan run.PlanInfo) (*bench, *framedClient) {
	t.Helper()
	c := &framedClient{fakeClient: &fakeClient{planned: plan}}
	b := benchOf(c, c.fakeClient)
	b.Show(b.env.changed)
	b.load(1000)
	b.settle(plan, nil)
	if got := c.take(); kinds(got) != "plan" {
		t.Fatalf("at first it was told %v", got)
	}
	return b, c
}

// settle answers what the planner is asked.
func (b *bench) settle(p run.PlanInfo, err error) {
	b.tick()
	plans := b.client.plans
	b.client.plans = nil
	for _, done := range plans {
		done(p, err)
	}
}

var private = run.PlanInfo{Private: true, Steps: 10, Epsilon: 2, Delta: 1e-5, NoiseMultiplier: 1.5}

// TestFramedRunIsToldToThePageAround: settings, a run and its end, as the page around is told of
// them.
func TestFramedRunIsToldToThePageAround(t *testing.T) {
	b, c := newFramed(t, private)
	if why := c.ask("config", `{"data":"moons","noise_multiplier":1.5}`); why != "" {
		t.Fatal(why)
	}
	if why := c.ask("start", ""); why == "" {
		t.Error("a run starts on settings that are not in place")
	}
	b.load(500)
	b.settle(private, nil)
	if got := c.take(); kinds(got) != "plan" || got[0].text != `{"steps":10,"private":true,"epsilon":2,"delta":0.00001,"noise_multiplier":1.5}` {
		t.Fatalf("told %v", got)
	}
	if b.exp.cfg.Data != "moons" || *b.exp.cfg.NoiseMultiplier != 1.5 {
		t.Fatalf("the page shows %+v", b.exp.cfg)
	}
	if why := c.ask("start", ""); why != "" {
		t.Fatal(why)
	}
	r := b.client.runs[0]
	if r.cfg.Data != "moons" {
		t.Fatalf("ran %+v", r.cfg)
	}
	for _, what := range []string{"start", "config", "resume"} {
		if why := c.ask(what, "{}"); why == "" {
			t.Errorf("%s is taken in the midst of a run", what)
		}
	}
	r.events([]run.Event{{Step: 3, Steps: 10, Released: run.Released{Epsilon: 0.5, MaxGradNorm: 2, GradNorm: run.Number(math.NaN())}}})
	b.tick()
	want := `{"phase":"running","step":3,"steps":10,"private":true,"epsilon":0.5,"released":{"max_grad_norm":2,"noisy_grad_norm":{"$numberDouble":"NaN"}}}`
	if got := c.take(); kinds(got) != "progress" || got[0].text != want {
		t.Errorf("told %v, want %s", got, want)
	}
	if why := c.ask("pause", ""); why != "" || !slices.Equal(r.calls, []string{"pause"}) {
		t.Errorf("paused by %q, %s", r.calls, why)
	}
	c.ask("state", "")
	if got := c.take(); kinds(got) != "state" || !strings.Contains(got[0].text, `"phase":"paused","step":3`) {
		t.Errorf("it stands as %v", got)
	}
	if why := c.ask("resume", "") + c.ask("stop", ""); why != "" || !slices.Equal(r.calls, []string{"pause", "resume", "stop"}) {
		t.Errorf("went on and stopped by %q, %s", r.calls, why)
	}
	r.done(run.Result{Steps: 4, PlannedSteps: 10, Stopped: true, Epsilon: 2, TestAccuracy: 0.9}, nil)
	got := c.take()
	if last := got[len(got)-1]; last.kind != "done" || !strings.HasPrefix(last.text, `{"phase":"done","step":4,"steps":10,"stopped":true,"private":true,"epsilon":2,`) {
		t.Errorf("told %v", got)
	}
	for _, what := range []string{"pause", "resume", "stop", "", "train", "state "} {
		if why := c.ask(what, ""); why == "" {
			t.Errorf("%q is taken after the end", what)
		}
	}
}

// TestFramedConfigurationIsTakenWholeOrNotAtAll: a configuration is taken whole or not at all.
func TestFramedConfigurationIsTakenWholeOrNotAtAll(t *testing.T) {
	b, c := newFramed(t, private)
	before, err := b.exp.cfg.Hash()
	if err != nil {
		t.Fatal(err)
	}
	for text, why := range map[string]string{
		"":                          "end of JSON",
		"null":                      "", // as {}: the defaults
		"[]":                        "object of fields",
		"7":                         "object of fields",
		`{"steps":"many"}`:          "steps",
		`{"steps":1e99}`:            "steps",
		`{"file":"/etc/passwd"}`:    "no such field",
		`{"data":"files"}`:          "chooses files",
		`{"data":"https://a/b"}`:    "Not understood: data",
		`{"method":"none at all"}`:  "Not understood: method",
		`{"__proto__":1}`:           "Not understood: __proto__",
		`{"__proto__":{"steps":1}}`: "no such field",
		`{"model":{"kind":{}}}`:     "model",
		`{"beyond":3}`:              "Not understood: beyond",
	} {
		got := c.ask("config", text)
		if why == "" {
			if got != "" {
				t.Errorf("%s: %s", text, got)
			}
			b.replace(run.ParseHash(before))
			continue
		}
		if after, _ := b.exp.cfg.Hash(); !strings.Contains(got, why) || after != before {
			t.Errorf("%s: %q, want one with %q; the page has %q", text, got, why, after)
		}
	}
	b.Hide()
	if c.ask("config", "{}") == "" || c.ask("start", "") == "" {
		t.Error("what nobody sees is changed or started")
	}
}

// TestFramedRefusalGoesToWhoAsked: the planner's refusal is told to who asked, and to nobody else.
func TestFramedRefusalGoesToWhoAsked(t *testing.T) {
	b, c := newFramed(t, private)
	if why := c.ask("config", `{"target_epsilon":-1}`); why != "" {
		t.Fatal(why)
	}
	b.load(1000)
	fault := &client.Fault{Message: "target_epsilon: it must be above 0", Field: "target_epsilon"}
	b.settle(run.PlanInfo{}, fault)
	if got := c.take(); kinds(got) != "refused" || !strings.Contains(got[0].text, "above 0") {
		t.Errorf("told %v", got)
	}
	b.Set("target_epsilon", "-2")
	b.settle(run.PlanInfo{}, fault)
	if got := c.take(); len(got) > 0 || c.ask("start", "") == "" {
		t.Errorf("of what the person typed it was told %v", got)
	}
}

// TestFramedRunWithoutNoiseHasNoEpsilon: what a run without noise would release is a diagnostic, on
// built-in data too, and it has no ε.
func TestFramedRunWithoutNoiseHasNoEpsilon(t *testing.T) {
	b, c := newFramed(t, run.PlanInfo{Steps: 10, Epsilon: run.Number(math.Inf(1))})
	if why := c.ask("start", ""); why != "" {
		t.Fatal(why)
	}
	b.client.runs[0].events([]run.Event{{Step: 3, Steps: 10, Released: run.Released{Epsilon: run.Number(math.Inf(1)), MaxGradNorm: 2, GradNorm: 1}}})
	b.tick()
	if got := c.take(); kinds(got) != "progress" || got[0].text != `{"phase":"running","step":3,"steps":10,"private":false}` {
		t.Errorf("told %v", got)
	}
}

const marker = "Zanzibar-4711"

// TestFramedFilesTellOnlySteps: of a run on files there is nothing but steps, and ε where the run
// has one; neither their names nor a fault's words, which may quote rows.
func TestFramedFilesTellOnlySteps(t *testing.T) {
	for _, plan := range []run.PlanInfo{private, {Private: false, Steps: 10, Epsilon: run.Number(math.Inf(1))}} {
		for _, end := range []string{"done", "failed", "refused"} {
			b, c := newFramed(t, plan)
			b.data.open(form.Files, filesNamed(marker+".csv"))
			b.client.opens[len(b.client.opens)-1].done(client.Opened{}, errors.New("row 2 of "+marker+".csv: "+marker+" is no number"))
			b.data.open(form.Files, filesNamed(marker+".csv"))
			b.load(200)
			b.settle(plan, nil)
			if c.ask("config", "{}") == "" || c.ask("start", "") == "" {
				t.Error("the page around changes or starts a run on files")
			}
			if end == "refused" {
				b.client.train = func(run.Config, bool) error { return errors.New(marker) }
			}
			b.trials.start()
			if end != "refused" {
				r := b.client.runs[0]
				r.events([]run.Event{{Step: 3, Steps: 10, Released: run.Released{Epsilon: 0.5, MaxGradNorm: 4711},
					Diag: &run.Diag{TrainLoss: 4711}}})
				b.tick()
				if end == "done" {
					r.done(run.Result{Steps: 10, PlannedSteps: 10, Epsilon: 2, TestAccuracy: 4711, Notes: []string{marker}}, nil)
				} else {
					r.done(run.Result{}, errors.New(marker))
				}
			}
			c.ask("state", "")
			got := c.take()
			for _, m := range got {
				if strings.Contains(m.text, "4711") || strings.Contains(m.text, "released") || !plan.Private && strings.Contains(m.text, "epsilon") {
					t.Errorf("private %v, %s: told %v", plan.Private, end, m)
				}
			}
			ended := strings.Replace(end, "refused", "failed", 1)
			if !strings.Contains(kinds(got), ended) {
				t.Errorf("private %v, %s: told only %v", plan.Private, end, got)
			}
			if plan.Private && end == "done" && !strings.Contains(got[len(got)-1].text, `"epsilon":2`) {
				t.Errorf("ε is not told: %v", got)
			}
		}
	}
}

// TestFramedMessagesHaveNoFurtherField: the messages' types have no field beyond those that were
// weighed. Whoever adds one weighs it against the guarantee of [frame] and docs/embedding.md.
func TestFramedMessagesHaveNoFurtherField(t *testing.T) {
	for of, want := range map[reflect.Type]string{
		reflect.TypeFor[Outlook]():  "steps private epsilon delta noise_multiplier",
		reflect.TypeFor[Standing](): "phase step steps stopped private epsilon released",
		reflect.TypeFor[Given]():    "max_grad_norm noisy_grad_norm noisy_clip_fraction",
		reflect.TypeFor[Trouble]():  "why",
	} {
		var names []string
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%v has %s, want %s", of, got, want)
		}
	}
}

// TestFramedKeptRunIsNotTold: a run that was kept, and is looked at, is nothing of the page
// around's.
func TestFramedKeptRunIsNotTold(t *testing.T) {
	b, c := newFramed(t, private)
	kept := newTrial(b.env)
	kept.phase, kept.id = done, "kept"
	b.trials.open(kept)
	c.ask("state", "")
	if got := c.take(); kinds(got) != "state" || !strings.HasPrefix(got[0].text, `{"phase":"idle","step":0,"steps":0`) {
		t.Errorf("told %v", got)
	}
}
