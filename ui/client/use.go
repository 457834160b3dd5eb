package client

import (
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Saved is a saved model in a worker of its own.
type Saved interface {
	Info() *run.ModelInfo
	// Files are those that the model was read from: its own, and those of what makes its features.
	Files() app.Value
	// Draw has answers of two classes go by a line between them, or by what is likelier where it is nil.
	Draw(line *run.ClassLine)
	// Predict answers rows: anything that JSON can write, or an array of JavaScript's. It returns what cancels it.
	Predict(rows any, done func([]run.Answer, error)) (cancel func())
	// Picture brings a picture's file to what the model sees: its bytes. Dark and light are
	// exchanged where inverted says so, or, where it is nil, by the model's kind and the picture. It returns what cancels it.
	Picture(file app.Value, inverted *bool, done func(values app.Value, was bool, err error)) (cancel func())
	// Answer answers a table, or an array of files of pictures, and Evaluate compares the
	// answers to an array of labelled files with their labels. Each returns what cancels it.
	Answer(files app.Value, progress func(source.Progress), done func(Answers, error)) func()
	Evaluate(files app.Value, progress func(source.Progress), done func(run.Evaluation, error)) func()
	Dispose()
	// Keep has the model's files stay in this browser's storage, in the place of any that is
	// there, for [JS.KeptModel].
	Keep(done func(error))
}

// KeptModel calls back with the files that [Saved.Keep] stored.
func (JS) KeptModel(done func(files app.Value, err error)) { await(pictures().Call("kept"), done) }

// ForgetModel takes it out of storage.
func (JS) ForgetModel(done func(error)) {
	await(pictures().Call("forget"), func(_ app.Value, err error) { done(err) })
}

// Answers are the rows of a table with their answers, as a file.
type Answers struct {
	run.PredictReply
	Bytes int64
	Save  func(name string)
}

// LoadModel loads a file that a model was saved in, or what [Model.Named] gives, or an array of that and the files of what
// makes its features, and returns what cancels that.
func (JS) LoadModel(file app.Value, done func(Saved, error)) func() {
	if err := complete(); err != nil {
		done(nil, err)
		return func() {}
	}
	signal, cancel := canceller()
	await(api().Call("load", file, signal), func(v app.Value, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		m := &jsSaved{model: v}
		if err := decode(v.Get("info"), &m.info); err != nil {
			m.Dispose()
			done(nil, err)
			return
		}
		done(m, nil)
	})
	return cancel
}

type jsSaved struct {
	model app.Value
	info  run.ModelInfo
}

func (m *jsSaved) Info() *run.ModelInfo { return &m.info }
func (m *jsSaved) Files() app.Value     { return m.model.Get("files") }
func (m *jsSaved) Dispose()             { m.model.Call("dispose") }

func (m *jsSaved) Keep(done func(error)) {
	await(pictures().Call("keep", m.Files()), func(_ app.Value, err error) { done(err) })
}

func (m *jsSaved) Draw(line *run.ClassLine) {
	if line == nil {
		m.model.Set("line", app.Undefined())
		return
	}
	m.model.Set("line", toJS(line))
}

func (m *jsSaved) Predict(rows any, done func([]run.Answer, error)) func() {
	if _, ok := rows.(app.Value); !ok {
		rows = toJS(rows)
	}
	signal, cancel := canceller()
	await(m.model.Call("predict", rows, app.Undefined(), signal), func(v app.Value, err error) {
		var answers []run.Answer
		if err == nil {
			err = decode(v, &answers)
		}
		done(answers, err)
	})
	return cancel
}

func (m *jsSaved) Answer(files app.Value, progress func(source.Progress), done func(Answers, error)) func() {
	return m.read("predict", files, progress, func(v app.Value, err error) {
		a := Answers{}
		if err == nil {
			err = decode(v.Get("summary"), &a.PredictReply)
		}
		if err == nil {
			a.Bytes = int64(v.Get("size").Float())
			a.Save = func(name string) { browser.Glue().Call("download", name, "text/csv", v) }
		}
		done(a, err)
	})
}

func (m *jsSaved) Evaluate(files app.Value, progress func(source.Progress), done func(run.Evaluation, error)) func() {
	return m.read("evaluate", files, progress, func(v app.Value, err error) {
		var e run.Evaluation
		if err == nil {
			err = decode(v, &e)
		}
		done(e, err)
	})
}

// read calls a method that reads files.
func (m *jsSaved) read(method string, files app.Value, progress func(source.Progress), done func(app.Value, error)) func() {
	return watched(progress, func(watch app.Func, signal app.Value) app.Value { return m.model.Call(method, files, watch, signal) }, done)
}

// canceller returns a signal for a call of the API, and what calls that off.
func canceller() (signal app.Value, cancel func()) {
	abort := app.Window().Get("AbortController").New()
	return abort.Get("signal"), func() { abort.Call("abort") }
}

// watcher is a function of JavaScript's for progress.
func watcher(progress func(source.Progress)) app.Func {
	return app.FuncOf(func(_ app.Value, args []app.Value) any {
		defer browser.Survive()
		var p source.Progress
		if err := decode(args[0], &p); err == nil {
			progress(p)
		}
		return nil
	})
}

// pictures is the page's script that draws and decodes them, and keeps a model.
func pictures() app.Value { return browser.Use() }

func (m *jsSaved) Picture(file app.Value, inverted *bool, done func(values app.Value, was bool, err error)) func() {
	signal, cancel := canceller()
	var as any = app.Undefined()
	if inverted != nil {
		as = *inverted
	}
	await(pictures().Call("picture", m.model, file, as, signal), func(v app.Value, err error) {
		if err != nil {
			done(nil, false, err)
			return
		}
		done(v.Get("values"), v.Get("inverted").Bool(), nil)
	})
	return cancel
}

// Pad makes a canvas one to draw on, and calls back with what was drawn, as a model of a
// shape sees it; nil once it is empty. clear empties it, release ends it.
func (JS) Pad(canvas app.Value, shape []int, drawn func(values app.Value)) (clear, release func()) {
	heard := app.FuncOf(func(_ app.Value, args []app.Value) any {
		defer browser.Survive()
		if args[0].Truthy() {
			drawn(args[0])
		} else {
			drawn(nil)
		}
		return nil
	})
	pad := pictures().Call("pad", canvas, toJS(shape), heard)
	return func() { pad.Call("clear") }, func() {
		pad.Call("release")
		heard.Release()
	}
}

// Show paints what a model sees.
func (JS) Show(canvas, values app.Value, shape []int) {
	pictures().Call("show", canvas, values, toJS(shape))
}
