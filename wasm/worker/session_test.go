package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// fake is a run of steps that end at once.
type fake struct {
	steps  int
	before func(step int) error // may fail, panic or block
	done   int
	stuck  bool                     // it cannot go on elsewhere
	takes  map[string]time.Duration // a step, by back end
}

func (f *fake) Info() run.PlanInfo { return run.PlanInfo{Steps: f.steps} }

func (f *fake) Unstarted() run.Result { return run.Result{Stopped: true} }

func (f *fake) Start(context.Context, *data.Dataset, compute.Backend) (Trainer, error) { return f, nil }

func (f *fake) Continue(context.Context, compute.Backend) (Trainer, error) {
	if f.stuck {
		return nil, errors.New("there is nothing to go on from")
	}
	return &fake{steps: f.steps, done: f.done}, nil
}

func (f *fake) StepTime(_ context.Context, be compute.Backend) (time.Duration, error) {
	took, ok := f.takes[be.Name()]
	if !ok {
		return 0, errors.New("it is lost")
	}
	return took, nil
}

func (f *fake) Close() {}

// Checkpoint is the number of steps, in a byte; steps are few here.
func (f *fake) Checkpoint(context.Context) ([]byte, int, error) {
	return []byte{byte(f.done)}, f.done, nil
}

func (f *fake) Fits(state []byte) error {
	if len(state) != 1 || int(state[0]) > f.steps {
		return errors.New("it does not fit")
	}
	return nil
}

func (f *fake) Resume(_ context.Context, _ *data.Dataset, _ compute.Backend, state []byte, released int) (Trainer, error) {
	f.done = max(int(state[0]), released)
	return f, nil
}

func (f *fake) Steps(ctx context.Context) iter.Seq2[run.Event, error] {
	return func(yield func(run.Event, error) bool) {
		for i := f.done + 1; i <= f.steps && ctx.Err() == nil; i++ {
			if f.before != nil {
				if err := f.before(i); err != nil {
					yield(run.Event{}, err)
					return
				}
			}
			f.done = i
			if !yield(run.Event{Step: i, Steps: f.steps}, nil) {
				return
			}
		}
	}
}

func (f *fake) Result(ctx context.Context) (run.Result, error) {
	if ctx.Err() != nil {
		return run.Result{}, ctx.Err()
	}
	r := run.Result{Steps: f.done, Stopped: f.done < f.steps}
	r.Released.Parameters = []float32{1, 2}
	return r, nil
}

// openRows returns the data that a session has open.
func openRows(s *Session) *data.Dataset { return s.runs.plans.data.rows }

// page is the other end of a session: it acknowledges and remembers.
type page struct {
	t    *testing.T
	s    *Session
	got  chan run.Message
	mute bool // acknowledges nothing
}

// dataset is a data set that no run looks at.
func dataset(name string) *data.Dataset {
	return &data.Dataset{Name: name, Task: data.Regression, Features: 1, Outputs: 1,
		Train: data.Split{N: 1, F32: []float32{0}, Y: []float32{0}}}
}

func newPage(t *testing.T, trainer func(run.Config, data.Meta) (Planned, error), changes ...func(*Host)) *page {
	p := &page{t: t, got: make(chan run.Message, 10_000)}
	h := Host{
		Post:  func(m run.Message) { p.got <- m },
		Yield: func() { time.Sleep(time.Millisecond) },
		Now:   time.Now,
		Backend: func(c run.Config) (Backend, error) {
			note := ""
			if c.Threads > 1 {
				note = "1 of the threads"
			}
			b := Backend{Name: "purego", Open: func() (compute.Backend, string, error) { return purego.New(), note, nil }}
			switch c.Backend {
			case "auto", "", "purego", "simd":
				return b, nil
			case "lost":
				instead := b
				b.Instead, b.Name = &instead, "lost"
				return b, nil
			case "webgpu":
				b.Warnings = []run.Warning{{Field: "backend", Message: "webgpu is missing"}}
				return b, nil
			}
			return b, fmt.Errorf("no backend %q", c.Backend)
		},
		New: func(c run.Config, m data.Meta, _ Given) (Planned, error) { return trainer(c, m) },
		Load: func(_ context.Context, train, _ []source.File, _ run.CSV, progress func(source.Progress)) (*data.Dataset, *data.Report, error) {
			if train[0].Name() == "bad" {
				return nil, &data.Report{Columns: []data.Column{{Name: "understood"}}}, &data.Error{File: "bad", Row: 7, Expected: "a number"}
			}
			progress(source.Progress{Phase: "read", File: train[0].Name(), Done: 1, Total: 2})
			return dataset(train[0].Name()), &data.Report{Name: train[0].Name()}, nil
		},
		Blob: func() Blob { return &sent{} },
		Builtin: func(name string, _ uint64) (*data.Dataset, error) {
			if name != "digits" {
				return nil, fmt.Errorf("no built-in data %q", name)
			}
			return dataset(name), nil
		},
	}
	for _, change := range changes {
		change(&h)
	}
	p.s = NewSession(h)
	return p
}

func steps(n int) func(run.Config, data.Meta) (Planned, error) {
	return func(run.Config, data.Meta) (Planned, error) { return &fake{steps: n}, nil }
}

func (p *page) send(kind string, id int, text string, files ...source.File) {
	p.s.Handle(Request{Message: run.Message{Type: kind, ID: id, Text: text}, TrainFiles: files})
}

// next is the next message of one of the types, after acknowledging every
// events message on the way.
func (p *page) next(kinds ...string) run.Message {
	p.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case m := <-p.got:
			if m.Type == EventsType && !p.mute {
				p.send(Ack, m.ID, "")
			}
			for _, k := range kinds {
				if m.Type == k {
					return m
				}
			}
			if m.Type == ErrorType || m.Type == FailedType {
				p.t.Fatalf("waiting for %v: %s %s", kinds, m.Type, m.Text)
			}
		case <-deadline:
			p.t.Fatalf("no message of %v", kinds)
		}
	}
}

// state waits until the run is in that state.
func (p *page) state(want string) {
	p.t.Helper()
	for p.next(StateType).Text != `"`+want+`"` {
	}
}

func decode[T any](t *testing.T, m run.Message) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(m.Text), &v); err != nil {
		t.Fatalf("%s %q: %v", m.Type, m.Text, err)
	}
	return v
}

const anyRun = `{"config":{"data":"digits"}}`

func TestReadyNamesProtocolAndBackend(t *testing.T) {
	p := newPage(t, steps(1))
	p.s.Greet()
	r := decode[run.Ready](t, p.next(ReadyType))
	if r.Protocol != run.ProtocolVersion || r.Backend != "purego" {
		t.Errorf("ready says %+v", r)
	}
}

func TestRunSendsEveryLastThing(t *testing.T) {
	p := newPage(t, steps(500))
	p.send(Train, 3, anyRun)
	if info := decode[run.PlanInfo](t, p.next(ReplyType)); info.Steps != 500 {
		t.Errorf("the reply plans %d steps", info.Steps)
	}
	last := 0
	for {
		m := p.next(EventsType, DoneType)
		if m.ID != 3 {
			t.Errorf("%s has id %d", m.Type, m.ID)
		}
		if m.Type == DoneType {
			r := decode[run.Result](t, m)
			if r.Steps != 500 || r.Stopped || len(m.Parameters) != 2 || strings.Contains(m.Text, "parameters") {
				t.Errorf("done says %s with parameters %v", m.Text, m.Parameters)
			}
			break
		}
		for _, e := range decode[[]run.Event](t, m) {
			if e.Step <= last {
				t.Errorf("step %d after step %d", e.Step, last)
			}
			last = e.Step
		}
	}
	if last != 500 {
		t.Errorf("the last event before done is of step %d", last)
	}
}

// Without acknowledgements the run goes on, sends two messages and then, at its
// end, one more with what is left.
func TestARunGoesOnWithoutAcknowledgements(t *testing.T) {
	trainer := &fake{steps: 400, before: func(int) error { time.Sleep(time.Millisecond); return nil }}
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) { return trainer, nil })
	p.mute = true
	p.send(Train, 1, anyRun)
	messages := 0
	for p.next(EventsType, DoneType).Type != DoneType {
		messages++
	}
	if messages != maxUnacked+1 {
		t.Errorf("%d events messages, want %d", messages, maxUnacked+1)
	}
}

func TestCommandsPauseStepResumeAndStop(t *testing.T) {
	p := newPage(t, steps(1_000_000))
	p.send(Train, 1, `{"config":{"data":"digits"},"paused":true}`)
	p.state(Paused)
	stepTo := func(want int) {
		t.Helper()
		p.send(Step, 1, "")
		m := p.next(EventsType)
		events := decode[[]run.Event](t, m)
		if len(events) != 1 || events[0].Step != want || m.Step != want {
			t.Fatalf("a step gave %+v in an envelope of step %d, want step %d alone", events, m.Step, want)
		}
	}
	stepTo(1)
	stepTo(2)
	p.send(Resume, 1, "")
	p.state(Running)
	p.next(EventsType)
	p.send(Step, 1, "") // while running: nothing
	p.send(Pause, 1, "")
	p.state(Paused)
	p.send(Stop, 1, "")
	p.state(Done)
	r := decode[run.Result](t, p.next(DoneType))
	if !r.Stopped || r.Steps <= 2 || r.Steps >= 1_000_000 {
		t.Errorf("stopped with %+v", r)
	}
	p.send(Pause, 1, "") // after the end: nothing, not even a state
	p.send(Methods, 2, "")
	if m := p.next(StateType, ReplyType); m.Type != ReplyType {
		t.Errorf("a command after the end was answered by %s %s", m.Type, m.Text)
	}
}

func TestStopEndsARunningRun(t *testing.T) {
	p := newPage(t, steps(1<<40))
	p.send(Train, 1, anyRun)
	p.next(EventsType)
	p.send(Stop, 1, "")
	if r := decode[run.Result](t, p.next(DoneType)); !r.Stopped {
		t.Errorf("stopped with %+v", r)
	}
}

func TestASecondRunIsRefused(t *testing.T) {
	p := newPage(t, steps(1<<40))
	p.send(Train, 1, anyRun)
	p.next(ReplyType)
	p.send(Train, 2, anyRun)
	if m := p.next(ErrorType); m.ID != 2 {
		t.Errorf("the refusal has id %d", m.ID)
	}
	p.send(Stop, 2, "") // not the id of the run
	p.next(EventsType)
	p.send(Stop, 1, "")
	p.next(DoneType)
	p.send(Train, 3, anyRun)
	p.next(ReplyType)
	p.send(Stop, 3, "")
	p.next(DoneType)
}

func TestFailuresNameTheirField(t *testing.T) {
	broken := func(before func(int) error) func(run.Config, data.Meta) (Planned, error) {
		return func(run.Config, data.Meta) (Planned, error) { return &fake{steps: 9, before: before}, nil }
	}
	tests := []struct {
		name    string
		trainer func(run.Config, data.Meta) (Planned, error)
		text    string
		want    string // in the message
		field   string // of the detail
		running bool   // fails after it started
	}{
		{"bad configuration", func(run.Config, data.Meta) (Planned, error) {
			return nil, &run.ConfigError{Field: "learning_rate", Message: "no"}
		}, anyRun, "learning_rate: no", "learning_rate", false},
		{"wrong type", steps(1), `{"config":{"steps":"many"}}`, "steps", "steps", false},
		{"no JSON", steps(1), `{`, "request", "", false},
		{"no files", steps(1), `{"config":{"data":"files"}}`, "no files are open", "data", false},
		{"no such data", steps(1), `{"config":{"data":"cats"}}`, "cats", "data", false},
		{"no such backend", steps(1), `{"config":{"data":"digits","backend":"abacus"}}`, "abacus", "backend", false},
		{"panic while planning", func(run.Config, data.Meta) (Planned, error) { panic("oops") }, anyRun, "oops", "", false},
		{"failing step", broken(func(int) error { return errors.New("step went wrong") }), anyRun, "step went wrong", "", true},
		{"panic in a step", broken(func(int) error { panic("oops") }), anyRun, "oops", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPage(t, tt.trainer)
			p.send(Train, 1, tt.text)
			m := p.next(ErrorType, FailedType)
			if m.Type == FailedType != tt.running {
				t.Errorf("the failure came as %s", m.Type)
			}
			f := decode[struct {
				Message string
				Detail  struct{ Field string }
			}](t, m)
			if !strings.Contains(f.Message, tt.want) || f.Detail.Field != tt.field {
				t.Errorf("failure %s", m.Text)
			}
			p.send(Methods, 2, "")
			p.next(ReplyType) // still alive
		})
	}
}

func TestFailedOpenLosesNothing(t *testing.T) {
	var used string
	p := newPage(t, func(_ run.Config, ds data.Meta) (Planned, error) {
		used = ds.Name
		return &fake{steps: 1}, nil
	})
	p.send(Open, 1, `{}`, source.Bytes("good", nil))
	p.next(ProgressType)
	p.next(ReplyType)
	p.send(Open, 2, `{}`, source.Bytes("bad", nil))
	f := decode[struct {
		Detail struct {
			data.Error
			Report data.Report
		}
	}](t, p.next(ErrorType))
	if d := f.Detail; d.File != "bad" || d.Row != 7 || len(d.Report.Columns) != 1 || d.Report.Columns[0].Name != "understood" {
		t.Errorf("the failure's detail is %+v", d)
	}
	p.send(Plan, 3, anyRun)
	p.next(ReplyType)
	if used != "good" {
		t.Errorf("planned on %q, want the data that was open", used)
	}
}

func TestFallbackIsNoted(t *testing.T) {
	p := newPage(t, steps(1))
	p.send(Train, 1, `{"config":{"data":"digits","backend":"webgpu","threads":2}}`)
	info := decode[run.PlanInfo](t, p.next(ReplyType))
	if len(info.Warnings) != 1 || info.Warnings[0].Field != "backend" {
		t.Errorf("the plan warns of %+v", info.Warnings)
	}
	if r := decode[run.Result](t, p.next(DoneType)); len(r.Notes) != 2 || !strings.Contains(r.Notes[0], "webgpu") || !strings.Contains(r.Notes[1], "threads") {
		t.Errorf("the result notes %q", r.Notes)
	}
}

func TestCalculatorAnswersOrSaysWhy(t *testing.T) {
	tests := []struct {
		name, kind, text string
		want             string // prefix of the reply
		fails            string // in the error message
	}{
		// The first row of the golden values: Opacus's RDP accountant says
		// 7.329111, and ours may only be better.
		{"epsilon", Epsilon, `{"noise_multiplier":1.5,"sample_rate":0.04,"steps":2250,"target_delta":1e-5,"accountant":"rdp"}`, "7.32", ""},
		{"no noise", Epsilon, `{"noise_multiplier":0,"sample_rate":0.04,"steps":10,"target_delta":1e-5,"accountant":"rdp"}`, `{"$numberDouble":"Infinity"}`, ""},
		{"no steps", Epsilon, `{"noise_multiplier":1,"sample_rate":0.04,"steps":0,"target_delta":1e-5}`, "", "steps"},
		{"bad delta", Epsilon, `{"noise_multiplier":1,"sample_rate":0.04,"steps":1,"target_delta":2}`, "", "delta"},
		{"no such accountant", Epsilon, `{"noise_multiplier":1,"sample_rate":0.04,"steps":1,"target_delta":1e-5,"accountant":"abacus"}`, "", "abacus"},
		{"noise", Calibrate, `{"target_epsilon":8,"target_delta":1e-5,"sample_rate":0.01,"steps":1000,"accountant":"rdp"}`, `{"noise_multiplier":0.61`, ""},
		{"steps", Calibrate, `{"target_epsilon":8,"target_delta":1e-5,"sample_rate":0.01,"noise_multiplier":0.62,"accountant":"rdp"}`, `{"steps":10`, ""},
		{"neither", Calibrate, `{"target_epsilon":8,"target_delta":1e-5,"sample_rate":0.01}`, "", "noise_multiplier"},
		{"out of reach", Calibrate, `{"target_epsilon":0,"target_delta":1e-5,"sample_rate":0.01,"steps":5}`, "", "epsilon"},
		{"unknown request", "sing", `{}`, "", "sing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPage(t, steps(1))
			p.send(tt.kind, 5, tt.text)
			m := p.next(ReplyType, ErrorType)
			if tt.fails != "" && (m.Type != ErrorType || !strings.Contains(m.Text, tt.fails)) ||
				tt.fails == "" && (m.Type != ReplyType || !strings.HasPrefix(m.Text, tt.want)) {
				t.Errorf("%s %s", m.Type, m.Text)
			}
		})
	}
}

// A run whose back end is lost goes on with the one that there is instead: every step is
// told once, and the result says so. Where it cannot, it fails and says both.
func TestALostBackendIsReplaced(t *testing.T) {
	lost := func(step int) error {
		if step == 4 {
			return fmt.Errorf("a device: %w", compute.ErrLost)
		}
		return nil
	}
	f := &fake{steps: 6, before: lost}
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) { return f, nil })
	p.send(Train, 1, `{"config": {"data": "digits", "backend": "lost"}}`)
	result := decode[run.Result](t, p.next(DoneType, FailedType))
	if result.Steps != 6 || result.Stopped {
		t.Errorf("the result is of %d steps, stopped: %t", result.Steps, result.Stopped)
	}
	if notes := strings.Join(result.Notes, "\n"); !strings.Contains(notes, "went on with plain Go") || !strings.Contains(notes, "memory is lost") {
		t.Errorf("notes %q", notes)
	}
	f = &fake{steps: 6, before: lost, stuck: true}
	p.send(Train, 2, `{"config": {"data": "digits", "backend": "lost"}}`)
	if m := p.next(DoneType, FailedType); m.Type != FailedType || !strings.Contains(m.Text, "memory is lost") || !strings.Contains(m.Text, "nothing to go on from") {
		t.Errorf("%s: %s", m.Type, m.Text)
	}
	// Without another the fault is the run's.
	f = &fake{steps: 6, before: lost}
	p.send(Train, 3, `{"config": {"data": "digits", "backend": "purego"}}`)
	if m := p.next(DoneType, FailedType); m.Type != FailedType || !strings.Contains(m.Text, "memory is lost") {
		t.Errorf("%s: %s", m.Type, m.Text)
	}
}
