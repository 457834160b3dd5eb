package client

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"clipscope/core/run"
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Model is a run's model, which can be applied.
type Model interface {
	// Save downloads it, with the configuration that made it, in a form: zip, json,
	// safetensors or onnx. written is told how many bytes there are so far.
	Save(form, name string, made *run.Config, written func(bytes int), done func(error))
	// Named is what [JS.LoadModel] takes: it, with the configuration that made it, under a
	// name.
	Named(name string, made *run.Config) app.Value
}

// KeptRun is a run that has ended, as the browser's storage has it.
type KeptRun struct {
	Text, Points []byte      // as they were given
	Result       *run.Result // without parameters; nil where there is none
	Model        Model       // nil where there is none
}

// jsModel is a result with its parameters.
type jsModel struct{ result app.Value }

// Save calls nothing back where there is no result yet.
func (m *jsModel) Save(form, name string, made *run.Config, written func(bytes int), done func(error)) {
	if m.result == nil {
		return
	}
	config, err := json.Marshal(made)
	if err != nil {
		done(fmt.Errorf("client: configuration: %w", err))
		return
	}
	watch := app.FuncOf(func(_ app.Value, args []app.Value) any {
		defer browser.Survive()
		written(args[0].Int())
		return nil
	})
	await(browser.Glue().Call("saveModel", form, name, m.result, string(config), watch), func(_ app.Value, err error) {
		watch.Release()
		done(err)
	})
}

// Named is undefined where there is no result yet.
func (m *jsModel) Named(name string, made *run.Config) app.Value {
	config, err := json.Marshal(made)
	if m.result == nil || err != nil {
		return app.Undefined()
	}
	return browser.Glue().Call("namedModel", name, m.result, string(config))
}

// decode reads the result, but for its parameters, which may be millions.
func (m *jsModel) decode(to *run.Result) error {
	if err := json.Unmarshal([]byte(browser.Glue().Call("result", m.result).String()), to); err != nil {
		return err
	}
	b := bytesFrom(browser.Glue().Call("thresholds", m.result))
	to.Released.MaxGradNorm = make([]float64, len(b)/8)
	_, err := binary.Decode(b, binary.LittleEndian, to.Released.MaxGradNorm)
	return err
}

// bytesFrom returns the bytes of a Uint8Array.
func bytesFrom(v app.Value) []byte {
	b := make([]byte, v.Length())
	app.CopyBytesToGo(b, v)
	return b
}

func store() app.Value { return browser.Runs() }

// KeepRun stores a run that has ended: what a list shows of it, with its id, and the
// rest. The model is that of a [Run], or nil.
func (JS) KeepRun(entry any, text, points []byte, m Model, done func(error)) {
	result := app.Undefined()
	if r, ok := m.(*jsRun); ok && r.result != nil {
		result = r.result
	}
	bytes := app.Window().Get("Uint8Array").New(len(points))
	app.CopyBytesToJS(bytes, points)
	await(store().Call("keep", toJS(entry), string(text), bytes, result), func(_ app.Value, err error) { done(err) })
}

// KeptRuns calls back with the entries of all kept runs, as a list in JSON.
func (JS) KeptRuns(done func([]byte, error)) {
	await(store().Call("list"), func(v app.Value, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		done([]byte(browser.Glue().Call("stringify", v).String()), nil)
	})
}

// OpenRun calls back with a kept run.
func (JS) OpenRun(id string, done func(KeptRun, error)) {
	await(store().Call("open", id), func(v app.Value, err error) {
		if err != nil {
			done(KeptRun{}, err)
			return
		}
		k := KeptRun{Text: []byte(v.Get("text").String()), Points: bytesFrom(v.Get("points"))}
		if result := v.Get("result"); result.Truthy() {
			m := &jsModel{result}
			k.Model, k.Result = m, &run.Result{}
			if err := m.decode(k.Result); err != nil {
				done(KeptRun{}, fmt.Errorf("client: a kept run: %w", err))
				return
			}
		}
		done(k, nil)
	})
}

// DeleteRun takes a run out of storage.
func (JS) DeleteRun(id string, done func(error)) {
	await(store().Call("remove", id), func(_ app.Value, err error) { done(err) })
}

// WatchRuns calls f after every change of the storage, those of other tabs too.
func (JS) WatchRuns(f func()) {
	store().Call("on", app.FuncOf(func(app.Value, []app.Value) any {
		defer browser.Survive()
		f()
		return nil
	}))
}
