// Package client calls window.clipscope for the page: data, runs, questions, the ledger
// and the audit. A package that uses some of it declares an interface of its own, which
// [JS] satisfies.
package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Handle is opened data in its worker; nil is none. Handles are compared.
type Handle interface{ Close() }

// Opened is the result of opening data.
type Opened struct {
	Handle Handle
	Report data.Report // what was understood of it
}

// Run is a run in its worker.
type Run interface {
	Pause()
	Resume()
	Step()
	Stop()
	// StartTogether starts a run of several parties with those who have come.
	StartTogether()
	// Pace has it take so many steps a second at most; 0: as many as can be.
	Pace(perSecond float64)
	// Change has a run for teaching go on with other numbers.
	Change(c run.Change, done func(run.ChangeReply, error))
	// Dispose ends the run at once, and Leave does so where it may go on later.
	Dispose()
	Leave()
	// ID is its name, also among the runs that were interrupted: the same when it goes on.
	ID() string
	// Plan is what the run does and costs.
	Plan() run.PlanInfo
	Watch(Listener)
	Model // of a run that is done
}

// Listener is called back with what a run says.
type Listener struct {
	Events func([]run.Event)       // as they come; nil: they are not wanted
	Place  func(run.Place)         // what they are computed on
	Trial  func(run.Trial)         // which run is tried, of those that are compared
	Party  func(run.PartyState)    // how it stands with the others, in a run of several parties
	Within func(run.Within)        // how far it is within a step that takes long
	Done   func(run.Result, error) // once, at the end
}

// The kinds of refusals that a person can overrule.
const (
	OverLimit   = run.OverBudget
	NoGuarantee = run.OverGuarantee
	NoLedger    = "ledger"
)

// Fault is an error from the other side, with the field it belongs to.
type Fault struct {
	Message string `json:"message"`
	Field   string `json:"field"`
	Kind    string `json:"kind"`    // of a refusal that can be overruled, see [OverLimit]
	Unbegun bool   `json:"unbegun"` // of a run that several parties never started: it is not charged
}

func (f *Fault) Error() string { return f.Message }

// Refusal is a fault in files, with what was understood of them.
type Refusal struct {
	*Fault
	Report *data.Report
}

func (r *Refusal) Unwrap() error { return r.Fault }

// ErrAborted is the error of cancelled work.
var ErrAborted = errors.New("client: cancelled")

// JS calls window.clipscope.
type JS struct{}

func api() app.Value { return app.Window().Get("clipscope") }

// complete reports as an error that a script is missing.
func complete() error {
	if !api().Truthy() || !browser.Glue().Truthy() || !store().Truthy() {
		return &Fault{Message: "The page is incomplete: a script did not load. Reload it."}
	}
	return nil
}

// Ready calls back when the others may be called.
func (JS) Ready(done func(error)) {
	if err := complete(); err != nil {
		done(err)
		return
	}
	await(api().Get("ready"), func(_ app.Value, err error) { done(err) })
}

// Open opens built-in data by name, or an array of File objects, and returns what
// cancels that.
func (JS) Open(source any, csv run.CSV, progress func(source.Progress), done func(Opened, error)) func() {
	signal, cancel := canceller()
	watch := watcher(progress)
	if files, ok := source.(app.Value); ok {
		source = map[string]any{"train": files, "test": []any{}}
	}
	promise := api().Call("open", source, toJS(csv), watch, signal)
	await(promise, func(v app.Value, err error) {
		watch.Release()
		o := Opened{}
		if err == nil {
			o.Handle = &jsHandle{v}
			err = decode(v.Get("summary"), &o.Report)
		}
		done(o, err)
	})
	return cancel
}

// Plan asks what a run of cfg on d would do and cost.
func (JS) Plan(cfg run.Config, d Handle, done func(run.PlanInfo, error)) {
	await(api().Call("plan", toJS(cfg), jsOf(d)), func(v app.Value, err error) {
		var p run.PlanInfo
		if err == nil {
			err = decode(v, &p)
		}
		done(p, err)
	})
}

// Train starts a run on opened data; paused, it waits for Step or Resume.
func (JS) Train(cfg run.Config, d Handle, paused bool, started func(Run, error)) {
	startRun(cfg, d, map[string]any{"paused": paused, "ask": true}, started)
}

func startRun(cfg run.Config, d Handle, options map[string]any, started func(Run, error)) {
	await(api().Call("train", toJS(cfg), jsOf(d), options), func(v app.Value, err error) {
		if err != nil {
			started(nil, err)
			return
		}
		r := &jsRun{run: v}
		if err := decode(v.Get("plan"), &r.plan); err != nil {
			r.Dispose()
			started(nil, err)
			return
		}
		started(r, nil)
	})
}

type jsHandle struct{ data app.Value }

func (h *jsHandle) Close() { h.data.Call("close") }

func jsOf(d Handle) any {
	if h, ok := d.(*jsHandle); ok {
		return h.data
	}
	return app.Undefined()
}

type jsRun struct {
	run    app.Value
	plan   run.PlanInfo
	listen []app.Func
	jsModel
}

func (r *jsRun) Pause()  { r.run.Call("pause") }
func (r *jsRun) Resume() { r.run.Call("resume") }
func (r *jsRun) Step()   { r.run.Call("step") }
func (r *jsRun) Stop()   { r.run.Call("stop") }

func (r *jsRun) StartTogether() { r.run.Call("startTogether") }

func (r *jsRun) Pace(perSecond float64) {
	if perSecond == 0 {
		perSecond = math.Inf(1)
	}
	r.run.Call("pace", perSecond)
}

func (r *jsRun) Change(c run.Change, done func(run.ChangeReply, error)) {
	await(r.run.Call("change", toJS(c)), func(v app.Value, err error) {
		var reply run.ChangeReply
		if err == nil {
			err = decode(v, &reply)
		}
		done(reply, err)
	})
}

func (r *jsRun) ID() string { return r.run.Get("keep").Get("id").String() }

func (r *jsRun) Plan() run.PlanInfo { return r.plan }

func (r *jsRun) Dispose() { r.end("dispose") }
func (r *jsRun) Leave()   { r.end("leave") }

func (r *jsRun) end(how string) {
	r.run.Call(how)
	for _, f := range r.listen {
		f.Release()
	}
	r.listen = nil
}

func (r *jsRun) Watch(l Listener) {
	if l.Events != nil {
		r.hear("onText", func(v app.Value) error {
			var batch []run.Event
			err := json.Unmarshal([]byte(v.String()), &batch)
			if err == nil {
				l.Events(batch)
			}
			return err
		})
	}
	r.hear("onPlace", decoding(l.Place))
	r.hear("onTrial", decoding(l.Trial))
	r.hear("onWithin", decoding(l.Within))
	r.hear("onParty", decoding(l.Party))
	await(r.run.Get("done"), func(v app.Value, err error) {
		var res run.Result
		if err == nil {
			r.result = v
			err = r.decode(&res)
		}
		l.Done(res, err)
	})
}

// decoding has f called with what a value says.
func decoding[T any](f func(T)) func(app.Value) error {
	return func(v app.Value) error {
		var t T
		err := decode(v, &t)
		if err == nil {
			f(t)
		}
		return err
	}
}

// hear has f called with what a method of the run calls back with.
func (r *jsRun) hear(method string, f func(app.Value) error) {
	listen := app.FuncOf(func(_ app.Value, args []app.Value) any {
		defer browser.Survive()
		if err := f(args[0]); err != nil {
			app.Log("ui: ", method, ": ", err)
		}
		return nil
	})
	r.listen = append(r.listen, listen)
	r.run.Call(method, listen)
}

// await calls f once with what promise settles to.
func await(promise app.Value, f func(app.Value, error)) {
	browser.Settle(promise, func(v app.Value, rejected bool) {
		if rejected {
			f(nil, toError(v))
			return
		}
		f(v, nil)
	})
}

// toError turns what a promise was rejected with into an error.
func toError(v app.Value) error {
	if !v.Truthy() {
		return &Fault{Message: "The trainer gave no reason."}
	}
	if name := v.Get("name"); name.Type() == app.TypeString && name.String() == "AbortError" {
		return ErrAborted
	}
	f := &Fault{Message: "The trainer failed."}
	if m := v.Get("message"); m.Type() == app.TypeString {
		f.Message = m.String()
	}
	if detail := v.Get("detail"); detail.Truthy() {
		if field := detail.Get("field"); field.Type() == app.TypeString {
			f.Field = field.String()
		}
		if kind := detail.Get("kind"); kind.Type() == app.TypeString {
			f.Kind = kind.String()
		}
		f.Unbegun = detail.Get("unbegun").Truthy()
		if report := detail.Get("report"); report.Truthy() {
			r := &Refusal{f, &data.Report{}}
			if err := decode(report, r.Report); err == nil {
				return r
			}
		}
	}
	return f
}

// decode reads a JavaScript object by way of JSON.
func decode(v app.Value, to any) error {
	if err := json.Unmarshal([]byte(browser.Glue().Call("stringify", v).String()), to); err != nil {
		return fmt.Errorf("ui: answer from the trainer: %w", err)
	}
	return nil
}

// toJS makes a JavaScript object by way of JSON. Seeds above 2⁵³ keep their
// digits only as far as JavaScript's numbers do; the form offers smaller ones.
func toJS(v any) app.Value {
	b, err := json.Marshal(v)
	if err != nil {
		app.Log("ui: ", err)
		return app.Null()
	}
	return app.Window().Get("JSON").Call("parse", string(b))
}

// Ask calls a function of window.clipscope with one argument and returns what
// cancels that; the answer is JSON.
func (JS) Ask(function string, request any, done func([]byte, error)) func() {
	if err := complete(); err != nil {
		done(nil, err)
		return func() {}
	}
	signal, cancel := canceller()
	await(api().Call(function, toJS(request), signal), func(v app.Value, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		done([]byte(browser.Glue().Call("stringify", v).String()), nil)
	})
	return cancel
}
