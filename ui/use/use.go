// Package use shows the Use page, which applies a saved model: to a typed row, a drawn
// digit, a picture or a table. It compares answers with labels, too. No training data is
// around.
package use

import (
	"errors"
	"slices"
	"strings"

	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Client is the page's way to models and pictures.
type Client interface {
	Ready(func(error))
	// LoadModel loads a file that a model was saved in, or an array of that and the files of what makes its features, and
	// returns what cancels that.
	LoadModel(file app.Value, done func(client.Saved, error)) (cancel func())
	// Pad makes a canvas one to draw on; Show paints what a model sees.
	Pad(canvas app.Value, shape []int, drawn func(values app.Value)) (clear, release func())
	Show(canvas, values app.Value, shape []int)
	// KeptModel gives the files of the model that was open last; ForgetModel has there be none.
	KeptModel(done func(files app.Value, err error))
	ForgetModel(done func(error))
}

// Use is the model that is used, and what it was asked. It outlives the page that shows
// it. Everything in it happens on the page's one thread.
type Use struct {
	client  Client
	changed func()
	checked func(file app.Value) // what checks a model's file

	name    string // of the model's file
	model   client.Saved
	models  int    // how many there have been
	loading string // the name of the file that is read
	cancel  func()
	fault   string
	tries   int
	sought  bool   // a model that was open before
	joined  bool   // what is read, or was refused, is the open model with what makes its features
	unkept  string // why the one that is open will be gone when the page is

	line    line
	row     row
	picture picture
	table   job[client.Answers]
	exam    job[run.Evaluation]
}

// New is a page's state before a model has been chosen.
func New(c Client) *Use {
	return &Use{client: c, changed: func() {}, checked: func(app.Value) {}}
}

// Checked has f called with the file of a model that is to be checked.
func (u *Use) Checked(f func(file app.Value)) { u.checked = f }

// toCheck has the open model's file checked, on the page for that.
func (u *Use) toCheck(ctx app.Context) {
	if u.model != nil {
		u.checked(u.model.Files().Index(0))
		ctx.Navigate(widget.Link("/check"))
	}
}

// Restore opens the model that was open when the page was left or loaded anew, once, unless
// there is another by then.
func (u *Use) Restore() {
	if u.sought || u.model != nil || u.loading != "" {
		return
	}
	u.sought = true
	mine := u.tries
	u.client.KeptModel(func(files app.Value, err error) {
		if err == nil && mine == u.tries && files.Length() > 0 { // without storage there is none
			u.Open(files)
		}
	})
}

// Open loads a model from its file, or that of a run, or from an array of that and the files of what makes its features. What is open stays
// until that has succeeded.
func (u *Use) Open(file app.Value) {
	if file == nil || !file.Truthy() {
		return
	}
	u.stop()
	own, several := file, false
	if file.Get("length").Truthy() {
		own, several = file.Index(0), file.Length() > 1
	}
	mine, name := u.tries, own.Get("name").String()
	u.loading, u.fault, u.joined = name, "", false
	u.changed()
	u.client.Ready(func(err error) {
		if err != nil || mine != u.tries {
			u.settled(mine, name, nil, err)
			return
		}
		u.cancel = u.client.LoadModel(file, func(m client.Saved, err error) {
			if err != nil && several && !u.joined && mine == u.tries {
				u.openAlone(own, name, err)
			} else {
				u.settled(mine, name, m, err)
			}
		})
	})
}

// openAlone opens a model that was refused together with what lay beside it, where it can be opened by itself: other files may
// then be chosen for it.
func (u *Use) openAlone(own app.Value, name string, why error) {
	mine := u.tries
	u.cancel = u.client.LoadModel(own, func(m client.Saved, err error) {
		if err == nil && m.Info().Lacks == "" {
			m.Dispose()
			m = nil
		}
		if mine == u.tries {
			u.joined = m != nil // where the other files were refused
		}
		u.settled(mine, name, m, why)
	})
}

// OpenChosen opens files that were chosen in any order: first that of a saved model, as far as names tell, and then what makes
// its features. Where none is likely of a model they complete one that lacks such files.
func (u *Use) OpenChosen(files app.Value) {
	at, most := 0, 0
	for i := range files.Length() {
		if likely := likelyModel(files.Index(i).Get("name").String()); likely > most {
			at, most = i, likely
		}
	}
	if most == 0 && u.lacks() {
		u.complete(files)
		return
	}
	u.Open(files.Call("splice", at, 1).Call("concat", files))
}

// likelyModel ranks names of files by how likely they are of a saved model, and not of what makes features for one.
func likelyModel(name string) int {
	switch name = strings.ToLower(name); {
	case ends(name, ".zip .safetensors"):
		return 3
	case !ends(name, ".json") || strings.Contains(name, "token"):
		return 0
	case strings.Contains(name, "model"):
		return 2
	}
	return 1
}

// lacks reports whether the model is open without what makes its features.
func (u *Use) lacks() bool { return u.model != nil && u.info().Lacks != "" }

// complete gives the model that is open what makes its features.
func (u *Use) complete(files app.Value) {
	u.Open(u.model.Files().Call("concat", files))
	u.joined = true
}

func (u *Use) settled(mine int, name string, m client.Saved, err error) {
	if mine != u.tries {
		if m != nil {
			m.Dispose()
		}
		return
	}
	u.loading, u.cancel = "", nil
	if err != nil && !errors.Is(err, client.ErrAborted) {
		u.fault = err.Error()
	}
	if m != nil {
		u.adopt(name, m)
	}
	u.changed()
}

// adopt uses another model: what was asked of the one before is gone. It is kept for when
// the page is loaded again.
func (u *Use) adopt(name string, m client.Saved) {
	u.replace(name, m)
	m.Keep(func(err error) {
		if u.model == m && err != nil {
			u.unkept = err.Error()
			u.changed()
		}
	})
}

// replace has another model, or none, in the place of the one there was.
func (u *Use) replace(name string, m client.Saved) {
	u.table.stop()
	u.exam.stop()
	if u.model != nil {
		u.model.Dispose()
	}
	u.name, u.model, u.unkept = name, m, ""
	u.models++
	u.line = line{}
	u.empty()
	u.picture.withdraw()
	u.picture.stopReading()
	u.picture = picture{asked: u.picture.asked, count: u.picture.count + 1, reading: u.picture.reading}
	u.table, u.exam = job[client.Answers]{}, job[run.Evaluation]{}
}

// Close puts the model away, here and in the browser's storage.
func (u *Use) Close() {
	u.stop()
	u.replace("", nil)
	u.fault = ""
	u.client.ForgetModel(func(err error) {
		if err != nil && u.model == nil {
			u.fault = err.Error()
			u.changed()
		}
	})
	u.changed()
}

// stop calls off the loading of a model.
func (u *Use) stop() {
	if u.cancel != nil {
		u.cancel()
	}
	u.tries++
	u.loading, u.cancel = "", nil
}

// info returns the model's description; nil without a model.
func (u *Use) info() *run.ModelInfo {
	if u.model == nil {
		return nil
	}
	return u.model.Info()
}

// kind is the kind of a model's answers.
type kind int

const (
	nothing kind = iota
	tables
	pictures
	numbers
)

func kindOf(info *run.ModelInfo) kind {
	switch {
	case info == nil:
		return nothing
	case len(info.Columns) > 0:
		return tables
	case len(info.Shape) == 2 || len(info.Shape) == 3 && (info.Shape[0] == 1 || info.Shape[0] == 3):
		return pictures
	}
	return numbers
}

// Drop takes files that were dropped on the page, or chosen before it could take them, for
// what their names say that they are.
func (u *Use) Drop(files app.Value) {
	if files == nil || !files.Truthy() || files.Length() == 0 {
		return
	}
	list := app.Window().Get("Array").Call("from", files)
	first := list.Index(0)
	if u.lacks() {
		u.OpenChosen(list)
		return
	}
	switch whatIs(first.Get("name").String(), kindOf(u.info())) {
	case aModel:
		u.OpenChosen(list)
	case aPicture:
		if list.Length() > 1 {
			u.answer(list)
		} else {
			u.see(first)
		}
	case aTable:
		u.answer(list)
	default:
		u.compare(list)
	}
}

type content int

const (
	aModel content = iota
	aPicture
	aTable
	labels
)

// ends reports whether a file's name has one of the ends in a list, in whatever case.
func ends(name, list string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(strings.Fields(list), func(end string) bool { return strings.HasSuffix(name, end) })
}

func whatIs(name string, k kind) content {
	switch {
	case k == nothing || ends(name, ".json .safetensors .onnx") || ends(name, ".zip") && strings.Contains(strings.ToLower(name), "model"):
		return aModel
	case k == pictures && ends(name, ".png .jpg .jpeg .webp .gif .bmp .avif"):
		return aPicture
	case k == tables:
		return aTable
	}
	return labels
}

// job is the reading of a file, and what came of it.
type job[T any] struct {
	name     string // of the file
	busy     bool
	progress source.Progress
	cancel   func()
	fault    string
	result   *T
	tries    int
}

// readFile reads a file: f gets what is to be called with progress and with the end.
func (j *job[T]) readFile(name string, changed func(), f func(progress func(source.Progress), done func(T, error)) func()) {
	j.stop()
	j.name, j.busy, j.fault, j.result, j.progress = name, true, "", nil, source.Progress{}
	mine := j.tries
	j.cancel = f(func(p source.Progress) {
		if mine == j.tries {
			j.progress = p
			changed()
		}
	}, func(result T, err error) {
		if mine != j.tries {
			return
		}
		j.busy, j.cancel = false, nil
		switch {
		case err == nil:
			j.result = &result
		case !errors.Is(err, client.ErrAborted):
			j.fault = err.Error()
		}
		changed()
	})
	changed()
}

// refuse says why a file is not read.
func (j *job[T]) refuse(name, why string, changed func()) {
	j.stop()
	j.name, j.fault, j.result = name, why, nil
	changed()
}

func (j *job[T]) stop() {
	if j.cancel != nil {
		j.cancel()
	}
	j.tries++
	j.busy, j.cancel = false, nil
}

// answer has the first of files, a table, answered, or, of a model of pictures, all of them.
func (u *Use) answer(files app.Value) {
	first := files.Index(0)
	name := first.Get("name").String()
	if kindOf(u.info()) == pictures {
		name = nameOf(files)
	} else {
		files = first
	}
	u.table.readFile(name, u.tell, func(progress func(source.Progress), done func(client.Answers, error)) func() {
		return u.model.Answer(files, progress, done)
	})
}

// nameOf returns what files are called: by the folder above the first, or the file, or pictures.
func nameOf(files app.Value) string {
	first := files.Index(0)
	if top, _, ok := strings.Cut(browser.Early().Call("pathOf", first).String(), "/"); ok {
		return top
	}
	if files.Length() > 1 {
		return "pictures"
	}
	return first.Get("name").String()
}

// misplaced says why labelled files are none that a model of a kind can be asked about, as
// far as a name tells: of a table that is read for its own sake there would be other things
// to say.
func misplaced(name string, k kind) string {
	if k == pictures && ends(name, ".csv .tsv .txt .xlsx .parquet .csv.gz") {
		return name + " is a table, and this model takes pictures: choose pictures in a folder for each class, or with their labels as IDX or CIFAR-10 files."
	}
	return ""
}

// compare compares answers with the labels of files.
func (u *Use) compare(files app.Value) {
	name := files.Index(0).Get("name").String()
	if kindOf(u.info()) == pictures {
		name = nameOf(files)
	}
	if why := misplaced(name, kindOf(u.info())); why != "" {
		u.exam.refuse(name, why, u.tell)
		return
	}
	u.exam.readFile(name, u.tell, func(progress func(source.Progress), done func(run.Evaluation, error)) func() {
		return u.model.Evaluate(files, progress, done)
	})
}

// tell is changed as it is by then: the page may have been left and come back.
func (u *Use) tell() { u.changed() }

// asked is a question to the model of which only the newest counts.
type asked struct {
	answer *run.Answer
	fault  string
	busy   bool
	cancel func() // calls off what is under way
	again  func() // what to ask next
	turn   int    // counts what made earlier answers void
}

// withdraw takes back the answer, and calls off one that is still to come.
func (a *asked) withdraw() {
	a.answer, a.fault, a.again = nil, "", nil
	a.turn++
	if a.cancel != nil {
		a.cancel()
	}
}

// ask asks for the answer to one row. While that is under way a further one waits, and
// takes the place of any that waits already.
func (u *Use) ask(a *asked, rows func() any) {
	if a.busy {
		a.again = func() { u.ask(a, rows) }
		return
	}
	model, turn := u.model, a.turn
	a.busy, a.fault = true, ""
	a.cancel = model.Predict(rows(), func(answers []run.Answer, err error) {
		a.busy, a.cancel = false, nil
		if again := a.again; again != nil {
			a.again = nil
			again()
		}
		if u.model != model || a.turn != turn {
			u.changed()
			return
		}
		if err != nil {
			a.fault, a.answer = err.Error(), nil
		} else {
			a.answer = &answers[0]
		}
		u.changed()
	})
}

// row is a row that is typed.
type row struct {
	asked
	epoch int // counts what replaces more than one cell
	cells map[int]string
}

// missing is the choice of no value.
const missing = "?"

// set takes what was typed into a column, and asks once every column has something.
func (u *Use) set(i int, text string) {
	u.row.cells[i] = text
	u.typed()
}

// typed asks for the answer to the row, where it is whole.
func (u *Use) typed() {
	u.row.withdraw()
	if u.lack() > 0 {
		u.changed()
		return
	}
	u.ask(&u.row.asked, u.cells)
}

// cells are the row, as the client takes it.
func (u *Use) cells() any {
	info := u.info()
	list := make([]any, max(len(info.Columns), 0))
	for i := range list {
		list[i] = u.row.cells[i]
	}
	if len(info.Columns) == 0 {
		for i := range info.Features {
			list = append(list, number(u.row.cells[i]))
		}
	}
	return []any{list}
}

// lack returns the number of columns without a value.
func (u *Use) lack() (n int) {
	for _, f := range fieldsOf(u.info()) {
		if strings.TrimSpace(u.row.cells[f.at]) == "" {
			n++
		}
	}
	return n
}

// fill puts the middle of what is known of each column into the fields that are empty.
func (u *Use) fill() {
	for _, f := range fieldsOf(u.info()) {
		if strings.TrimSpace(u.row.cells[f.at]) == "" {
			u.row.cells[f.at] = f.usual
		}
	}
	u.row.epoch++
	u.typed()
}

// empty takes everything out of the row.
func (u *Use) empty() {
	u.row.withdraw()
	u.row.epoch, u.row.cells = u.row.epoch+1, map[int]string{}
}

// clear is empty at the press of a button.
func (u *Use) clear() {
	u.empty()
	u.changed()
}

// picture is the input of a model of pictures.
type picture struct {
	asked
	file     app.Value // nil of one that is drawn
	name     string
	values   app.Value // as the model sees it; nil of none
	count    int       // of what was shown so far
	inverted bool
	wipe     func() // clears the pad
	reading  int    // counts the files that were to be seen
	stop     func() // calls off the reading of the last; nil: none is read
}

// stopReading calls off the reading of a picture's file.
func (p *picture) stopReading() {
	if p.stop != nil {
		p.stop()
	}
	p.reading, p.stop = p.reading+1, nil
}

// drawn takes what is on the pad.
func (u *Use) drawn(values app.Value) {
	p := &u.picture
	if values == nil && p.file != nil { // the pad was wiped for a picture
		return
	}
	if values != nil {
		p.stopReading()
	}
	p.file, p.name, p.inverted = nil, "", false
	u.show(values)
}

// wipe takes away what is drawn, or the picture, also one that is still read.
func (u *Use) wipe() {
	u.picture.stopReading()
	u.picture.file = nil
	if u.picture.wipe != nil {
		u.picture.wipe()
	}
	u.drawn(nil)
}

// show replaces the model's input.
func (u *Use) show(values app.Value) {
	u.picture.values = values
	u.picture.count++
	u.look()
}

// look asks what the picture is.
func (u *Use) look() {
	p := &u.picture
	if p.values == nil {
		p.withdraw()
		u.changed()
		return
	}
	u.ask(&p.asked, func() any { return app.Window().Get("Array").Call("of", u.picture.values) })
}

// see takes a picture's file, in the place of one that is still read.
func (u *Use) see(file app.Value) { u.seeAs(file, nil) }

func (u *Use) seeAs(file app.Value, inverted *bool) {
	u.picture.stopReading()
	model, mine := u.model, u.picture.reading
	u.picture.stop = model.Picture(file, inverted, func(values app.Value, was bool, err error) {
		p := &u.picture
		if u.model != model || mine != p.reading {
			return
		}
		p.stop = nil
		if err != nil {
			p.fault = err.Error()
			u.changed()
			return
		}
		if p.wipe != nil {
			p.wipe()
		}
		p.file, p.name, p.inverted = file, file.Get("name").String(), was
		u.show(values)
	})
}

// invert turns the picture over.
func (u *Use) invert(on bool) {
	if u.picture.file != nil {
		u.seeAs(u.picture.file, &on)
	}
}
