package cards

import (
	"fmt"
	"strconv"

	"clipscope/core/clip"
	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Clipping is the third card: the method, with the parameters it declares.
type Clipping struct {
	app.Compo
	Form *widget.Form
}

func (c *Clipping) CompoID() string { return "clipping-" + strconv.Itoa(c.Form.Epoch) }

func (c *Clipping) Render() app.UI {
	f, rows := c.Form, form.On(form.Clipping)
	info := methodInfo(f.Full.Method)
	body := append(f.Plain(rows), c.explanation(info), app.Div().Hidden(!info.Private).Body(c.threshold()))
	for _, p := range form.Declared(&f.Config) {
		body = append(body, f.Field(param(p)))
	}
	head := widget.Card{ID: form.Clipping, Number: "3", Title: "Clipping", Line: clippingLine(f.Full, info)}
	return head.View(f, append(body, f.Advanced(rows))...)
}

// threshold tells a threshold that moves from one that stays.
func (c *Clipping) threshold() app.UI {
	d := form.Find("max_grad_norm")
	if adapts(c.Form.Full) {
		d.Label = "First threshold C₀"
	}
	return c.Form.Field(d)
}

// methodInfo returns a method's description; of an unknown one its name.
func methodInfo(name string) clip.Info {
	for _, m := range clip.Methods() {
		if m.Name == name {
			return m
		}
	}
	return clip.Info{Name: name, Title: name, Private: true}
}

func clippingLine(c run.Config, info clip.Info) string {
	if !info.Private {
		return info.Title
	}
	return fmt.Sprintf("%s, C\u00a0%s", info.Title, words.Number(c.MaxGradNorm, 3))
}

// adapts reports whether the configuration's rule moves the threshold by what
// it sees.
func adapts(c run.Config) bool {
	r := form.Rule(&c)
	return r != nil && r.Query() != nil
}

func (c *Clipping) explanation(info clip.Info) app.UI {
	return app.Details().Class("explain").ID("explain").Body(
		app.Summary().Text("Formula, use and source"),
		app.Div().Body(
			app.P().Class("formula").Text(info.Formula),
			app.P().Text(info.When),
			app.P().Class("source").Text(info.Paper),
		),
	)
}

// param is the field of a declared parameter.
func param(p clip.Param) form.Field {
	help := fmt.Sprintf("%s From %s to %s.", p.Help, words.Number(p.Min, 4), words.Number(p.Max, 4))
	return form.Field{Key: p.Name, Label: p.Label, Preset: form.Format(p.Default), Help: help}
}
