package train

import (
	"errors"
	"slices"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/cards"
	"clipscope/ui/client"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Featurer is a client that has models make features.
type Featurer interface {
	Backbone(file app.Value, progress func(source.Progress), done func(run.BackboneInfo, error)) (cancel func())
	Features(file app.Value, d client.Handle, q run.BackboneRequest, progress func(source.Progress), done func(client.Opened, error)) (cancel func())
}

// backbone is a model that the person has chosen, for whatever data is open.
type backbone struct {
	data    *dataSource
	client  Featurer
	file    app.Value // nil: none; an array of a model and its tokenizer
	reader  app.Value // model of tokens that a tokenizer chosen next joins; nil: none
	view    cards.BackboneView
	picture bool
	began   time.Time
	cancel  func()
	tries   int
}

// ChooseBackbone reads a model. A tokenizer joins the model that was chosen before, where that reads tokens.
func (b *backbone) ChooseBackbone(file app.Value) {
	b.StopBackbone()
	model, several := modelOf(file)
	if i := b.view.Info; b.reader != nil && !several && run.IsTokenizer(nameOf(model)) && (i == nil || run.WantsTokens(i.Inputs)) {
		model, file, several = b.reader, app.Window().Get("Array").Call("of", b.reader, file), true
	}
	b.file, b.reader = file, nil
	if several && strings.HasSuffix(strings.ToLower(nameOf(model)), ".onnx") {
		b.reader = model
	}
	b.view = cards.BackboneView{File: nameOf(model)}
	mine := b.work()
	b.cancel = b.client.Backbone(file, b.showProgress(mine), func(info run.BackboneInfo, err error) {
		if !b.settled(mine, err) {
			return
		}
		b.view.Info = &info
		if run.WantsTokens(info.Inputs) {
			b.reader = model
		}
		b.view.Request = run.BackboneRequest{Normalise: "0-1", Resize: "bilinear"}
		if len(info.Outputs) > 0 {
			b.view.Request.Output = firstOutput(info.Outputs, len(data.TextColumns(b.data.columns())))
		}
		b.data.changed()
	})
}

// modelOf returns the file that was chosen, or the model's where several were: the first that is no tokenizer.
func modelOf(file app.Value) (model app.Value, several bool) {
	if !file.Get("length").Truthy() {
		return file, false
	}
	for i := range file.Length() {
		if f := file.Index(i); !run.IsTokenizer(nameOf(f)) {
			return f, true
		}
	}
	return file.Index(0), true
}

func nameOf(file app.Value) string { return file.Get("name").String() }

// firstOutput is the name of the output that is chosen before anybody has chosen one: of two texts the first whose tokens have
// types, by which a model tells them apart.
func firstOutput(outputs []run.BackboneTensor, texts int) string {
	i := slices.IndexFunc(outputs, func(t run.BackboneTensor) bool { return t.Types > 1 })
	if texts != 2 || i < 0 {
		i = 0
	}
	return outputs[i].Name
}

func (b *backbone) SetBackbone(key, value string) {
	q := &b.view.Request
	switch key {
	case "output":
		q.Output = value
	case "normalise":
		q.Normalise = value
	case "resize":
		q.Resize = value
	}
	b.data.changed()
}

// MakeFeatures puts what the model makes of the rows in their place.
func (b *backbone) MakeFeatures() {
	d := b.data
	if b.file == nil || d.handle == nil || b.view.Working {
		return
	}
	if lack := d.lack(); lack != "" {
		b.view.Fault = lack
		d.changed()
		return
	}
	q := b.view.Request
	if in := b.view.Info.Inputs; !b.pictures() || len(in) > 0 && in[0].Type == "uint8" {
		q.Normalise = "" // it follows
	}
	mine, opening, from := b.work(), d.tries, d.handle
	b.cancel = b.client.Features(b.file, from, q, b.showProgress(mine), func(o client.Opened, err error) {
		if stale := opening != d.tries || from != d.handle; stale && err == nil {
			o.Handle.Close()
			err = client.ErrAborted
		}
		if b.settled(mine, err) {
			d.settled(d.name, d.files, d.csv, o, nil)
		}
	})
}

// StopBackbone gives up what is under way.
func (b *backbone) StopBackbone() {
	if b.cancel != nil {
		b.cancel()
	}
	b.tries++
	b.cancel, b.view.Working = nil, false
	b.data.changed()
}

// DropFeatures opens the rows as they are.
func (b *backbone) DropFeatures() { b.data.open(b.data.name, b.data.files) }

// work begins something, and returns its number.
func (b *backbone) work() int {
	b.tries++
	b.view.Working, b.view.Fault, b.view.Progress, b.began = true, "", source.Progress{}, time.Now()
	b.data.changed()
	return b.tries
}

// showProgress shows progress, at most ten times a second.
func (b *backbone) showProgress(mine int) func(source.Progress) {
	var last time.Time
	return func(p source.Progress) {
		if mine != b.tries {
			return
		}
		if p.Phase != b.view.Progress.Phase {
			b.began = time.Now()
		}
		b.view.Progress, b.view.Seconds = p, time.Since(b.began).Seconds()
		if time.Since(last) > 100*time.Millisecond {
			last = time.Now()
			b.data.changed()
		}
	}
}

// settled reports whether something that has ended is still asked for, and went well.
func (b *backbone) settled(mine int, err error) bool {
	if mine != b.tries {
		return false
	}
	b.cancel, b.view.Working = nil, false
	if err != nil {
		if !errors.Is(err, client.ErrAborted) {
			b.view.Fault = err.Error()
		}
		b.data.changed()
	}
	return err == nil
}

// interrupt gives up features of rows that are about to be gone.
func (b *backbone) interrupt() {
	if b != nil && b.view.Working && b.view.Info != nil {
		b.StopBackbone()
	}
}

// pictures reports whether the rows are pictures, or were before they became features.
func (b *backbone) pictures() bool {
	if r := b.data.report; r != nil && r.Backbone == nil {
		b.picture = len(r.Shape) >= 2
	}
	return b.picture
}

func (b *backbone) shown() cards.BackboneView {
	v := b.view
	v.Picture = b.pictures()
	if r := b.data.report; r != nil {
		v.Used = r.Backbone
	}
	return v
}

// featurer returns the receiver of the backbone card's events; nil where the client has none.
func (d *dataSource) featurer() cards.Featurer {
	if d.backbone == nil {
		return nil
	}
	return d.backbone
}
