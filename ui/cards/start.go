package cards

import (
	"fmt"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Starter receives the events of the weights that a run starts from.
type Starter interface {
	// ChooseStart takes a model's file, or an array of those of a checkpoint.
	ChooseStart(file app.Value)
	// DropStart goes back to random weights.
	DropStart()
}

// StartView describes the weights that a run starts from.
type StartView struct {
	Info *run.StartInfo // nil while no file of them was read here
	Choice
}

// start is folded, as few need it, until a run starts from weights.
func (c *Model) start() app.UI {
	l := c.Starter
	if l == nil {
		return app.Div().Hidden(true)
	}
	v, named := c.Start, c.Form.Full.Start
	return c.beside(fileBeside{
		id: "start", key: "start.sha256", title: "Start from a saved model", view: v.Choice, sum: named.SHA256,
		help:   "Training goes on from a model’s weights, and not from random ones: a zip, JSON or safetensors file that this page has saved, or a safetensors file with the same tensors; or a BERT, RoBERTa or DistilBERT: config.json and model.safetensors together. Files stay on this device.",
		button: "Choose a saved model", accept: ".zip,.json,.safetensors", several: true, choose: l.ChooseStart,
		back: "Start from random weights", drop: l.DropStart,
	},
		app.P().ID("start-used").Text(v.line(named)),
		c.Form.Field(form.Find("start.public")),
		c.Form.Field(form.Find("start.trainable")),
		c.Form.Field(form.Find("start.lora_alpha")),
		c.Form.Field(form.Find("start.lora_targets")),
		c.Form.Field(form.Find("start.freeze_a")),
		app.P().Class("note").Hidden(!v.private(named)).Text(v.adds()))
}

// known reports whether the file was read here.
func (v *StartView) known(named run.Start) bool {
	return v.Info != nil && v.Info.SHA256 == named.SHA256
}

func (v *StartView) private(named run.Start) bool { return v.known(named) && v.Info.Private }

func (v *StartView) line(named run.Start) string {
	s := "Training starts from " + fileInWords(named.File, named.SHA256)
	if v.known(named) {
		s += ", " + words.Plural(v.Info.Parameters, "parameter")
	}
	return s + "."
}

// adds says what the guarantee that the file claims means for this run.
func (v *StartView) adds() string {
	if v.Info == nil || !v.Info.Private {
		return ""
	}
	return fmt.Sprintf("Its file says that a private run left it, with ε = %s. If that was on these rows, the two ε add up; Budget of this data, on the card Privacy, counts both.", run.UpText(float64(v.Info.Epsilon), 3))
}
