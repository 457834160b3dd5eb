package cards

import (
	"fmt"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/form"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Featurer receives the events of the backbone card.
type Featurer interface {
	// ChooseBackbone takes a file, or an array of a model's and its tokenizer's.
	ChooseBackbone(file app.Value)
	// SetBackbone changes output, normalise or resize.
	SetBackbone(key, value string)
	MakeFeatures()
	StopBackbone()
	// DropFeatures goes back to the rows themselves.
	DropFeatures()
}

// BackboneView is a model that makes features of rows, from when it was chosen.
type BackboneView struct {
	File     string
	Info     *run.BackboneInfo // nil until it has been read
	Request  run.BackboneRequest
	Picture  bool // rows are pictures
	Working  bool
	Progress source.Progress
	Seconds  float64 // since work began
	Fault    string
	Used     *data.Backboned // what made the features at hand; nil: they are the rows' own
}

// backbone is folded, as few need it.
func (c *Data) backbone() app.UI {
	v, l := c.View.Backbone, c.Features
	if l == nil {
		return app.Div().Hidden(true)
	}
	return app.Details().Class("advanced").ID("backbone").Open(v.File != "").Body(
		app.Summary().Text("Use a backbone (ONNX) or a tokenizer"),
		app.Div().Class("advanced-body").Body(
			app.P().Class("help").Text("A model that was trained elsewhere, on other data, makes features of every row; then a small private model learns on those. One that reads texts takes the column whose kind in the table is text. A transformer’s tokenizer, tokenizer.json or vocab.txt, makes tokens of texts, for a network that begins with an embedding, or for a model that reads tokens. The file stays on this device. What runs models, ONNX Runtime, is fetched from this site once, 2.7 MB."),
			app.Label().Class("button").For("backbone-file").Text("Choose a model"),
			app.Input().Type("file").ID("backbone-file").Class("visually-hidden").Accept(".onnx,.json,.txt").Multiple(true).OnChange(picked(l.ChooseBackbone)),
			v.working(l),
			app.P().ID("backbone-fault").Class("fault").Role("status").Hidden(v.Fault == "").Text(v.Fault),
			v.choices(l),
			v.used(l),
		),
	)
}

func (v *BackboneView) working(l Featurer) app.UI {
	if !v.Working {
		return app.Div().Class("loading").Hidden(true)
	}
	bar := app.Progress().Aria("label", "Making features")
	if p := v.Progress; p.Total > 0 {
		bar = bar.Max(100).Value(int(100 * float64(p.Done) / float64(p.Total)))
	}
	return app.Div().Class("loading").Body(
		app.P().Text(v.progressLine()), bar,
		app.Button().Type("button").Text("Stop").OnClick(func(app.Context, app.Event) {
			l.StopBackbone()
			browser.Focus("backbone-file")
		}),
	)
}

// progressLine says how far it is, and how long the rest takes.
func (v *BackboneView) progressLine() string {
	p := v.Progress
	switch p.Phase {
	case "backbone":
		return fmt.Sprintf("%s: %s of %s", words.Brief(v.File, mostOfName), words.Bytes(p.Done), words.Bytes(p.Total))
	case "features":
		s := fmt.Sprintf("%s of %s rows, %s", words.Count(int(p.Done)), words.Count(int(p.Total)), words.Duration(v.Seconds))
		if left := v.Seconds * float64(p.Total-p.Done) / max(float64(p.Done), 1); p.Done > 0 && left >= 1 {
			s += ", " + words.Duration(left) + " to go"
		}
		return s + "."
	case "runtime":
		if run.IsTokenizer(v.File) {
			return "Loading " + words.Brief(v.File, mostOfName) + "…" + v.since()
		}
		return "Loading ONNX Runtime and " + words.Brief(v.File, mostOfName) + "…" + v.since()
	case "trial":
		return "Trying " + words.Brief(v.File, mostOfName) + " on a made-up row…" + v.since()
	default:
		return "Reading the data…"
	}
}

// since says how long a step without a measure has taken, once that is long.
func (v *BackboneView) since() string {
	const long = 3
	if v.Seconds < long {
		return ""
	}
	return " " + words.Duration(v.Seconds) + "."
}

// choices draws the controls that depend on the model.
func (v *BackboneView) choices(l Featurer) app.UI {
	if v.Info == nil {
		return app.Div().Hidden(true)
	}
	var outputs []form.Option
	for _, t := range v.Info.Outputs {
		outputs = append(outputs, form.Option{Value: t.Name, Text: words.Brief(t.Name, mostOfName) + " " + shapeText(t.Shape)})
	}
	kinds := []form.Option{{Value: "0-1", Text: "to 0 … 1"}, {Value: "imagenet", Text: "as for ImageNet"}, {Value: "none", Text: "as they are"}}
	sizes := []form.Option{{Value: "bilinear", Text: "bilinear"}, {Value: "nearest", Text: "nearest pixel"}}
	bytes := len(v.Info.Inputs) > 0 && v.Info.Inputs[0].Type == "uint8"
	return app.Div().Class("summary").Body(
		app.P().Text(fmt.Sprintf("%s: %s, input %s.", words.Brief(v.File, mostOfName), words.Bytes(v.Info.Bytes), tensorsText(v.Info.Inputs))),
		v.choice(l, "output", "Output", v.Request.Output, outputs),
		app.P().Class("help").Text(v.help()),
		app.If(v.Picture && !bytes, func() app.UI { return v.choice(l, "normalise", "Pixels", v.Request.Normalise, kinds) }),
		app.If(v.Picture, func() app.UI { return v.choice(l, "resize", "Where the size differs", v.Request.Resize, sizes) }),
		app.Button().Type("button").ID("backbone-make").Text("Make features").Disabled(v.Working).
			OnClick(func(app.Context, app.Event) { l.MakeFeatures() }),
	)
}

// help says what features are made of an output.
func (v *BackboneView) help() string {
	switch {
	case run.WantsTokens(v.Info.Inputs):
		return "It reads numbers of tokens. Choose its tokenizer as well: tokenizer.json or vocab.txt."
	case run.IsTokenizer(v.File):
		return "So many tokens a row has at most: a longer text is cut, and each costs time and memory."
	}
	return "Of pictures’ positions, or parts of a text, features are the mean. What is computed before an output can be had where the file has it as an output too."
}

func (v *BackboneView) choice(l Featurer, key, label, now string, options []form.Option) app.UI {
	id := "backbone-" + key
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(app.Label().For(id).Text(label)),
		app.Select().ID(id).OnChange(func(ctx app.Context, _ app.Event) { l.SetBackbone(key, ctx.JSSrc().Get("value").String()) }).
			Body(app.Range(options).Slice(func(i int) app.UI {
				o := options[i]
				return app.Option().Value(o.Value).Text(o.Text).Selected(o.Value == now)
			})),
	)
}

// used says what the features at hand are.
func (v *BackboneView) used(l Featurer) app.UI {
	u := v.Used
	if u == nil {
		return app.Div().Hidden(true)
	}
	took := fmt.Sprintf("made in %s", words.Duration(u.Seconds))
	if u.Memory > 0 {
		took += ", with " + words.Bytes(u.Memory) + " of memory"
	}
	if u.Cached {
		took = "taken from this browser’s storage, where they were kept"
	}
	of := ""
	if u.Column != "" {
		of = "for the texts in “" + words.Brief(u.Column, mostOfName) + "”"
		if u.Second != "" {
			of += " and “" + words.Brief(u.Second, mostOfName) + "”"
		}
		of += ", "
	}
	return app.Div().Class("summary").Body(
		app.P().ID("backbone-used").Text(fmt.Sprintf("Features are the output “%s” of %s (SHA-256 %s…), %s%s.", words.Brief(u.Output, mostOfName), words.Brief(u.File, mostOfName), u.SHA256[:min(12, len(u.SHA256))], of, took)),
		app.P().Class("note").Hidden(u.Tokens == 0).Text("Under Model a small network for such tokens is chosen, where no other was. The transformer that the tokenizer came with is chosen there, too: “Start from a saved model”."),
		app.P().Class("note").Text("The guarantee is for these rows, and takes the backbone for public: if it was trained on them, what it knows of them is not covered. Features are kept in this browser, and are as private as the rows."),
		app.Button().Type("button").ID("backbone-drop").Text("Use the rows themselves").OnClick(func(app.Context, app.Event) { l.DropFeatures() }),
	)
}

func tensorsText(all []run.BackboneTensor) string {
	var parts []string
	for _, t := range all[:min(len(all), 3)] {
		parts = append(parts, words.Brief(t.Name, mostOfName)+" "+shapeText(t.Shape)+" of "+t.Type)
	}
	return strings.Join(parts, ", ")
}

// shapeText writes a shape, with n for a size that is open.
func shapeText(shape []int) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		if parts[i] = strconv.Itoa(d); d < 0 {
			parts[i] = "n"
		}
	}
	return strings.Join(parts, "×")
}
