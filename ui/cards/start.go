package cards

import (
	"fmt"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Starter receives the events of the weights that a run starts from.
type Starter interface {
	ChooseStart(file app.Value)
	// DropStart goes back to random weights.
	DropStart()
}

// StartView describes the weights that a run starts from.
type StartView struct {
	Info *run.StartInfo // nil while no file of them was read here
	Choice
}

// Choice says how the reading of a chosen file goes.
type Choice struct {
	Working bool
	Fault   string
}

// start is folded, as few need it, until a run starts from weights.
func (c *Model) start() app.UI {
	l := c.Starter
	if l == nil {
		return app.Div().Hidden(true)
	}
	v, named := c.Start, c.Form.Full.Start
	fault := v.Fault
	if named.SHA256 != "" && fault == "" {
		fault = c.Form.Faults["start.sha256"]
	}
	return app.Details().Class("advanced").ID("start-from").Open(named.SHA256 != "" || v.Working || v.Fault != "").Body(
		app.Summary().Text("Start from a saved model"),
		app.Div().Class("advanced-body").Body(
			app.P().Class("help").Text("Training goes on from a model’s weights, and not from random ones: a zip, JSON or safetensors file that this page has saved, or a safetensors file with the same tensors. The file stays on this device."),
			app.Label().Class("button").For("start-file").Text("Choose a saved model"),
			fileInput("start-file", ".zip,.json,.safetensors", l.ChooseStart),
			app.P().Class("loading").Role("status").Hidden(!v.Working).Text("Reading the model…"),
			widget.Message("f-start-sha256-fault", "fault", fault),
			widget.Message("f-start-sha256-warning", "warning", c.Form.Warnings["start.sha256"]),
			app.Div().Class("summary").Hidden(named.SHA256 == "").Body(
				app.P().ID("start-used").Text(v.line(named)),
				c.Form.Field(form.Find("start.public")),
				app.P().Class("note").Hidden(!v.private(named)).Text(v.adds()),
				app.Button().Type("button").ID("start-drop").Text("Start from random weights").OnClick(func(app.Context, app.Event) {
					l.DropStart()
					browser.Focus("start-file")
				}),
			),
		),
	)
}

// fileInput is the hidden input behind a label that looks like a button.
func fileInput(id, accept string, choose func(app.Value)) app.UI {
	return app.Input().Type("file").ID(id).Class("visually-hidden").Accept(accept).
		OnChange(func(ctx app.Context, _ app.Event) {
			files := ctx.JSSrc().Get("files")
			if files.Length() > 0 {
				file := files.Index(0)
				ctx.JSSrc().Set("value", "")
				choose(file)
			}
		})
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

// fileInWords names a file by its name and the beginning of its hash.
func fileInWords(name, sum string) string {
	return fmt.Sprintf("%s (SHA-256 %s…)", words.Brief(name, mostOfName), sum[:min(12, len(sum))])
}

// adds says what the guarantee that the file claims means for this run.
func (v *StartView) adds() string {
	if v.Info == nil || !v.Info.Private {
		return ""
	}
	return fmt.Sprintf("Its file says that a private run left it, with ε = %s. If that was on these rows, the two ε add up; Budget of this data, on the card Privacy, counts both.", run.UpText(float64(v.Info.Epsilon), 3))
}
