package cards

import (
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Mixer receives the events of the public rows that a run mixes in.
type Mixer interface {
	ChoosePublic(file app.Value)
	// DropPublic has runs mix none in.
	DropPublic()
}

// public is folded, as few need it, until a run mixes public rows in.
func (c *Model) public() app.UI {
	l := c.Mixer
	if l == nil {
		return app.Div().Hidden(true)
	}
	named, v := c.Form.Full.PublicRows, c.Public
	fault := v.Fault
	if named.SHA256 != "" && fault == "" {
		fault = c.Form.Faults["public_rows.sha256"]
	}
	return app.Details().Class("advanced").ID("public-rows").Open(named.SHA256 != "" || v.Working || v.Fault != "").Body(
		app.Summary().Text("Add public rows"),
		app.Div().Class("advanced-body").Body(
			app.P().Class("help").Text("Each step also learns from a few public rows, without clipping and without noise. Nothing is promised to them; the ε of your rows stays the same. The file has your data’s columns and classes, and stays on this device."),
			app.Label().Class("button").For("public-file").Text("Choose public rows"),
			fileInput("public-file", "", l.ChoosePublic),
			app.P().Class("loading").Role("status").Hidden(!v.Working).Text("Reading the file…"),
			widget.Message("f-public_rows-sha256-fault", "fault", fault),
			app.Div().Class("summary").Hidden(named.SHA256 == "").Body(
				app.P().ID("public-used").Text(publicLine(named, c.Plan)),
				c.Form.Field(form.Find("public_rows.public")),
				c.Form.Field(form.Find("public_rows.batch_size")),
				c.Form.Field(form.Find("public_rows.weight")),
				app.Button().Type("button").ID("public-drop").Text("Leave public rows out").OnClick(func(app.Context, app.Event) {
					l.DropPublic()
					browser.Focus("public-file")
				}),
			),
		),
	)
}

// publicLine says which rows are mixed in: how many, once a plan has read them.
func publicLine(named run.PublicRows, p *run.PlanInfo) string {
	of := "Public rows of "
	left := ""
	if p != nil && p.PublicRows != nil && p.PublicRows.SHA256 == named.SHA256 {
		of = words.Plural(p.PublicRows.Rows, "public row") + " of "
		if n := p.PublicRows.LeftOut; n > 0 {
			left = " Left out: " + words.Plural(n, "row") + ". The first: " + p.PublicRows.Problem
		}
	}
	return of + fileInWords(named.File, named.SHA256) + " are mixed into each step." + left
}
