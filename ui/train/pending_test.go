package train

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// greyed lists what the page shows in grey, by the class beside stale or the id.
func (b *bench) greyed() (list []string) {
	html := app.HTMLString(&Page{Session: b.Controller})
	for _, tag := range regexp.MustCompile(`<[a-z0-9]+ [^>]*class="[^"]*\bstale"[^>]*>`).FindAllString(html, -1) {
		name := regexp.MustCompile(`class="([^"]*) stale"`).FindStringSubmatch(tag)[1]
		if id := regexp.MustCompile(` id="([^"]*)"`).FindStringSubmatch(tag); id != nil {
			name = id[1]
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// What a change makes out of date is grey with the change, before anybody is asked anything,
// and until the answer is there.
func TestWhatIsOutOfDateIsGreyAtOnce(t *testing.T) {
	plan := run.PlanInfo{Steps: 5, Parameters: 650, MemoryBytes: 1 << 20, Epsilon: 2, Private: true,
		Layers: []run.Layer{{Text: "conv:8:3"}}, Warnings: []run.Warning{{Field: "expected_batch_size", Message: "few rows"}}}
	ofPlan := []string{"answer", "card-line", "columns layers", "f-expected_batch_size-warning", "plan", "run-warned", "spent figure", "steps figure"}
	b := newBench(t)
	b.load(6000)
	b.Set("model.kind", "cnn-opacus")
	answer := func(p run.PlanInfo, err error) {
		t.Helper()
		b.tick()
		b.client.plans[len(b.client.plans)-1](p, err)
		if g := b.greyed(); len(g) != 0 {
			t.Errorf("the answer is there, and in grey are %q", g)
		}
	}
	for _, c := range []struct {
		name   string
		change func()
		grey   []string
		settle func()
	}{
		{name: "a number", change: func() { b.Set("expected_batch_size", "100") }, grey: ofPlan},
		{name: "another model", change: func() { b.Set("model.kind", "cnn-tb-mnist") }, grey: ofPlan},
		{name: "another method", change: func() { b.Set("method", "auto-s") }, grey: ofPlan},
		{name: "a rate", change: func() { b.Set("learning_rate", "0.25") }, grey: ofPlan},
		{name: "what no number is", change: func() { b.Set("learning_rate", "x") }, grey: slices.DeleteFunc(slices.Clone(ofPlan), func(id string) bool { return id == "run-warned" }), settle: func() { b.Set("learning_rate", "0.1") }},
		{name: "another example", change: func() { b.usePreset("moons") }, grey: ofPlan, settle: func() { b.load(500) }},
		{name: "other data", change: func() { b.Set("data", "blobs") }, grey: append(slices.Clone(ofPlan), "summary"), settle: func() { b.load(500) }},
		{name: "a link", change: func() { b.replace(run.Config{Data: "blobs", Model: run.Model{Kind: "cnn-opacus"}}) }, grey: ofPlan},
	} {
		answer(plan, nil)
		c.change()
		got := b.greyed()
		for _, want := range c.grey {
			if want == "columns layers" && b.exp.full().Model.Kind == "softmax" || want == "columns layers" && b.exp.full().Model.Kind == "mlp" {
				continue // which have no table
			}
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s is not in grey; %q are", c.name, want, got)
			}
		}
		if c.settle != nil {
			c.settle()
		}
	}
	// A refusal belongs to what was asked, too.
	answer(run.PlanInfo{}, &client.Fault{Message: "noise_multiplier: must be above 0", Field: "noise_multiplier"})
	if b.Set("max_grad_norm", "2"); !slices.Contains(b.greyed(), "f-noise_multiplier-fault") {
		t.Errorf("a refusal of other settings is not in grey: %q", b.greyed())
	}
	answer(plan, nil)
	if v := b.trials.view(); leftText(v) != "ready" {
		t.Errorf("the plan is there, and the run bar says %q", leftText(v))
	}
	b.Set("max_grad_norm", "3")
	if v := b.trials.view(); leftText(v) != "calculating…" {
		t.Errorf("while the plan is worked out the run bar says %q", leftText(v))
	}
	// A run has its own numbers, which no field changes.
	answer(plan, nil)
	b.trials.start()
	if b.Set("max_grad_norm", "4"); slices.Contains(b.greyed(), "spent figure") {
		t.Error("ε of a run is in grey")
	}
}

// How one file is read leaves the page, and its address, with the file.
func TestTheAddressFollowsTheFile(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	written := 0
	adopted := b.data.adopted
	b.data.adopted = func(edited bool) {
		if edited {
			written++
		}
		adopted(edited)
	}
	hash := func() string {
		t.Helper()
		h, err := b.exp.effective().Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	table := data.Report{Rows: 80, Task: data.Classification, Outputs: 2, Columns: []data.Column{{Name: "y"}}}
	read := func() {
		b.client.opens[len(b.client.opens)-1].done(client.Opened{Handle: &fakeHandle{}, Report: table}, nil)
	}
	b.data.choose(filesNamed("a.csv"))
	read()
	b.Set("csv.label", "y")
	read()
	b.Set("csv.missing", "drop")
	read()
	if h := hash(); !strings.Contains(h, "csv.label=y") || !strings.Contains(h, "csv.missing=drop") {
		t.Fatalf("the address is %s", h)
	}
	written = 0
	b.data.choose(filesNamed("b.csv"))
	read()
	if h := hash(); strings.Contains(h, "csv.label") || !strings.Contains(h, "csv.missing=drop") || written != 1 {
		t.Errorf("another file, and the address is %s, written %d times", h, written)
	}
	// A file that was refused has its own way of reading, which the next one has not.
	b.data.choose(filesNamed("c.csv"))
	b.client.opens[len(b.client.opens)-1].done(client.Opened{}, &client.Fault{Message: "c.csv: two columns may be the label"})
	b.Set("csv.label", "z")
	b.client.opens[len(b.client.opens)-1].done(client.Opened{}, &client.Fault{Message: "c.csv has no column z"})
	b.data.choose(filesNamed("d.csv"))
	read()
	if h := hash(); strings.Contains(h, "csv.label") {
		t.Errorf("the label of a refused file stands in the address of another: %s", h)
	}
	// Built-in data is read in one way only, and a run on it says nothing of files.
	b.Set("csv.label", "y")
	read()
	b.Set("data", "moons")
	b.load(500)
	if h := hash(); strings.Contains(h, "csv.") {
		t.Errorf("built-in data, and the address is %s", h)
	}
	b.trials.start()
	if cfg := b.client.runs[0].cfg; cfg.CSV.Label != "" {
		t.Errorf("a run on built-in data has the label %q", cfg.CSV.Label)
	}
	b.trials.stop()
	// Gone back to, the file is read as before.
	if b.Set("data", form.Files); b.exp.cfg.CSV.Label != "y" {
		t.Errorf("the file is read with the label %q", b.exp.cfg.CSV.Label)
	}
	read()
	// A link brings its own way of reading, for whatever file is chosen next.
	b.replace(run.Config{Data: form.Files, CSV: run.CSV{Label: "w"}})
	b.data.choose(filesNamed("e.csv"))
	if b.exp.cfg.CSV.Label != "w" {
		t.Errorf("the label of the link is %q", b.exp.cfg.CSV.Label)
	}
}

// A list of layers that another model does not use is recorded nowhere, and what is wrong in a
// field that is hidden keeps no run from starting.
func TestUnusedFieldsLeaveTheRun(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.Set("model.kind", "layers")
	b.Set("model.layers", "conv:16:99, dense")
	b.Set("model.kind", "mlp")
	b.Set("model.hidden", "many")
	b.Set("model.kind", "softmax")
	h, err := b.exp.effective().Hash()
	if err != nil || strings.Contains(h, "layers") {
		t.Errorf("the address is %s (%v)", h, err)
	}
	b.tick()
	b.client.plans[len(b.client.plans)-1](run.PlanInfo{Steps: 5, Private: true}, nil)
	if b.trials.start(); len(b.client.runs) != 1 {
		t.Fatalf("no run begins: %v", b.exp.faults)
	}
	if made := strings.Join(b.trials.shown.description(), " · "); strings.Contains(made, "layers") {
		t.Errorf("the run is headed %s", made)
	}
	if b.Set("model.kind", "layers"); b.exp.formFor(b).Text("model.layers") != "conv:16:99, dense" {
		t.Errorf("the list is forgotten: %q", b.exp.formFor(b).Text("model.layers"))
	}
}
