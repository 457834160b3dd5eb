package cards

import (
	"clipscope/core/run"
	"clipscope/ui/form"
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
	named := c.Form.Full.PublicRows
	return c.beside(fileBeside{
		id: "public", key: "public_rows.sha256", title: "Add public rows", view: c.Public, sum: named.SHA256,
		help:   "Each step also learns from a few public rows, without clipping and without noise. Nothing is promised to them; the ε of your rows stays the same. The file has your data’s columns and classes, and stays on this device.",
		button: "Choose public rows", choose: l.ChoosePublic,
		back: "Leave public rows out", drop: l.DropPublic,
	},
		app.P().ID("public-used").Text(publicLine(named, c.Plan)),
		c.Form.Field(form.Find("public_rows.public")),
		c.Form.Field(form.Find("public_rows.batch_size")),
		c.Form.Field(form.Find("public_rows.weight")))
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
	return of + fileInWords(named.File, named.SHA256) + ": each step mixes some in." + left
}
