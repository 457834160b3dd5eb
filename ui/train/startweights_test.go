package train

import (
	"errors"
	"slices"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// weighing is a client that reads the weights of models when the test says so.
type weighing struct {
	checking
	done *func(run.StartInfo, error)
}

func (c weighing) StartWeights(_ app.Value, done func(run.StartInfo, error)) func() {
	*c.done = done
	return func() {}
}

// TestStartFromASavedModel: a model that is read becomes the start of the next run with its network; one that the
// settings name already keeps what was declared of it; a bad file leaves all as it was.
func TestStartFromASavedModel(t *testing.T) {
	fake := &fakeClient{}
	var done func(run.StartInfo, error)
	b := benchOf(weighing{checking{fake, run.Verdict{Kind: "saved model, JSON"}}, &done}, fake)
	b.load(6000)
	b.exp.cfg.Model = run.Model{Kind: "mlp", Hidden: []int{8}}
	read := func(info run.StartInfo, err error) {
		t.Helper()
		b.start.ChooseStart(filesNamed("m.zip").Index(0))
		if !b.start.Working {
			t.Error("nothing says that the model is read")
		}
		done(info, err)
	}
	read(run.StartInfo{}, errors.New("m.zip: it is cut short"))
	if b.start.Fault == "" || b.exp.cfg.Start != (run.Start{}) {
		t.Errorf("of a bad file %+v, start %+v", b.start.Choice, b.exp.cfg.Start)
	}
	info := run.StartInfo{File: "m.zip", SHA256: "c0ffee", Model: run.Model{Kind: "softmax"}}
	read(info, nil)
	want := run.Start{File: "m.zip", SHA256: "c0ffee"}
	if b.exp.cfg.Start != want || b.exp.cfg.Model.Kind != "softmax" || b.start.Fault != "" {
		t.Errorf("start %+v, model %+v, %+v", b.exp.cfg.Start, b.exp.cfg.Model, b.start.Choice)
	}
	b.Set("start.public", "true")
	want.Public = true
	info.File = "renamed.zip"
	read(info, nil)
	if b.exp.cfg.Start != want {
		t.Errorf("the same weights once more: %+v", b.exp.cfg.Start)
	}
	info.SHA256 = "decaf"
	read(info, nil)
	if want := (run.Start{File: "renamed.zip", SHA256: "decaf"}); b.exp.cfg.Start != want {
		t.Errorf("other weights: %+v", b.exp.cfg.Start)
	}
	b.start.DropStart()
	if b.exp.cfg.Start != (run.Start{}) || b.start.info != nil {
		t.Errorf("dropped, and there is %+v", b.exp.cfg.Start)
	}
	b.start.ChooseStart(filesNamed("m.zip").Index(0))
	late := done
	b.start.DropStart()
	late(info, nil)
	if b.exp.cfg.Start != (run.Start{}) {
		t.Errorf("a model that was called off is taken: %+v", b.exp.cfg.Start)
	}
}

// TestTrainOnFromTheRunThatIsShown: its model becomes the start of the next run; what released nothing, or has no model
// that can be used, offers none.
func TestTrainOnFromTheRunThatIsShown(t *testing.T) {
	fake := &fakeClient{}
	var done func(run.StartInfo, error)
	b := benchOf(weighing{checking{fake, run.Verdict{}}, &done}, fake)
	b.load(6000)
	b.tick()
	b.trials.start()
	if b.startFromShown(); b.caption().Onward || b.start.shown().Working {
		t.Error("a run under way is started from")
	}
	b.client.runs[0].done(run.Result{Steps: 1, PlannedSteps: 1}, nil)
	for _, r := range []run.Result{{Charged: true}, {Unusable: "The means were measured."}} {
		b.trials.shown.result = &r
		if b.startFromShown(); b.caption().Onward || b.start.shown().Working {
			t.Errorf("started from %+v", r)
		}
	}
	b.trials.shown.result = &run.Result{Steps: 1, PlannedSteps: 1}
	if b.startFromShown(); !b.caption().Onward || !b.start.shown().Working {
		t.Fatal("the model is not read")
	}
	done(run.StartInfo{File: "run.safetensors", SHA256: "c0ffee", Private: true, Epsilon: 1}, nil)
	if want := (run.Start{File: "run.safetensors", SHA256: "c0ffee"}); b.exp.cfg.Start != want {
		t.Errorf("start %+v, and a private run’s model counts as public only if that is declared", b.exp.cfg.Start)
	}
}

// TestAModelGoesHome: to a checkpoint that was chosen here, and, of maps of low rank, as an adapter to it; to a file whose name
// alone is known, or to none, it does not.
func TestAModelGoesHome(t *testing.T) {
	s := &startWeights{hubs: map[string]bool{"c0ffee": true}}
	for _, tt := range []struct {
		sha256, trainable string
		want              []string
	}{{"", "all", nil}, {"decaf", "lora:8", nil}, {"c0ffee", "", []string{"checkpoint"}}, {"c0ffee", "last:1", []string{"checkpoint"}}, {"c0ffee", "lora:8", []string{"checkpoint", "peft"}}} {
		var got []string
		for _, form := range s.home(&series.Record{Config: run.Config{Start: run.Start{SHA256: tt.sha256, Trainable: tt.trainable}}}) {
			got = append(got, form[0])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	if got := s.home(nil); got != nil {
		t.Errorf("of no run: %q", got)
	}
}
