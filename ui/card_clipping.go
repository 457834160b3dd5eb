package ui

import (
	"fmt"
	"strconv"

	"clipscope/core/clip"
	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// clippingCard is the third card: the method, with the parameters it declares.
type clippingCard struct {
	app.Compo
	Form *Form
}

func (c *clippingCard) CompoID() string { return "clipping-" + strconv.Itoa(c.Form.Epoch) }

func (c *clippingCard) Render() app.UI {
	f := c.Form
	info := methodInfo(f.Full.Method)
	params := declared(&f.Config)
	keys := append([]string{"method", "max_grad_norm", "weight", "threshold", "grouping", "diagnostics_every"}, names(params)...)
	head := card{cardClipping, "3", "Clipping", clippingLine(f.Full, info), keys}
	return head.view(f,
		field{key: "method", label: "Method", help: info.Idea}.choice(f, methodOptions()),
		c.explanation(info),
		app.Div().Hidden(!info.Private).Body(
			field{key: "max_grad_norm", label: thresholdLabel(f.Full), help: "The most, in L2 norm, that one example may add to the sum."}.number(f),
		),
		app.Range(params).Slice(func(i int) app.UI { return param(f, params[i]) }),
		c.axes(),
	)
}

// methodInfo is what a method says of itself; of an unknown one its name.
func methodInfo(name string) clip.Info {
	for _, m := range clip.Methods() {
		if m.Name == name {
			return m
		}
	}
	return clip.Info{Name: name, Title: name, Private: true}
}

func methodOptions() []option {
	methods := clip.Methods()
	options := make([]option, len(methods))
	for i, m := range methods {
		options[i] = option{m.Name, m.Title}
	}
	return options
}

func clippingLine(c run.Config, info clip.Info) string {
	if !info.Private {
		return info.Title
	}
	return fmt.Sprintf("%s, C %s", info.Title, words.Number(c.MaxGradNorm, 3))
}

// thresholdLabel tells a threshold that moves from one that stays.
func thresholdLabel(c run.Config) string {
	if adapts(c) {
		return "First threshold C₀"
	}
	return "Threshold C"
}

// adapts reports whether the configuration's rule moves the threshold.
func adapts(c run.Config) bool {
	cl, err := clip.New(clip.Choice{Method: c.Method, Threshold: c.Threshold},
		clip.Env{MaxGradNorm: c.MaxGradNorm, NoiseMultiplier: 1, Steps: 10, ExpectedBatchSize: c.ExpectedBatchSize, Dim: 1, Params: clip.Params(c.Params)})
	return err == nil && cl.Rule != nil && cl.Rule.Query() != nil
}

func (c *clippingCard) explanation(info clip.Info) app.UI {
	return app.Details().Class("explain").Body(
		app.Summary().Text("Formula, use and source"),
		app.Div().Body(
			app.P().Class("formula").Text(info.Formula),
			app.P().Text(info.When),
			app.P().Class("source").Text(info.Paper),
		),
	)
}

// param is the control of one declared parameter.
func param(f *Form, p clip.Param) app.UI {
	help := fmt.Sprintf("%s From %s to %s.", p.Help, words.Number(p.Min, 4), words.Number(p.Max, 4))
	return field{key: p.Name, label: p.Label, preset: form.Format(p.Default), help: help}.number(f)
}

// axes lets one axis of the method be replaced.
func (c *clippingCard) axes() app.UI {
	f := c.Form
	own := option{"", "the method’s own"}
	return advanced(
		field{key: "weight", label: "Weight function", help: "What a gradient's norm is turned into a factor by."}.choice(f, withNames(own, clip.Weights())),
		field{key: "threshold", label: "Threshold rule", help: "What moves C from step to step."}.choice(f, withNames(own, clip.Rules())),
		field{key: "grouping", label: "Grouping", help: "What is clipped together."}.choice(f, withNames(own, []string{string(clip.Flat), string(clip.PerLayer)})),
		field{key: "diagnostics_every", label: "Compare gradients every", unit: "steps", preset: "0", help: "Shows what clipping and noise did to a batch's gradient; for your eyes only. 0 for never. Such a step takes longer."}.number(f),
	)
}

func withNames(first option, names []string) []option {
	options := []option{first}
	for _, n := range names {
		options = append(options, option{n, n})
	}
	return options
}
