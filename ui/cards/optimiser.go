package cards

import (
	"fmt"
	"strconv"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Optimiser is the fifth card: how the noisy sum moves the parameters.
type Optimiser struct {
	app.Compo
	Form *widget.Form
}

func (c *Optimiser) CompoID() string { return "optimiser-" + strconv.Itoa(c.Form.Epoch) }

func (c *Optimiser) Render() app.UI {
	f, rows := c.Form, form.On(form.Optimiser)
	head := widget.Card{ID: form.Optimiser, Number: "5", Title: "Optimiser", Line: optimiserLine(f.Full)}
	return head.View(f, append(f.Plain(rows), f.Advanced(rows))...)
}

func optimiserLine(c run.Config) string {
	name := map[string]string{"sgd": "SGD", "momentum": "SGD with momentum " + words.Number(c.Momentum, 3), "adam": "Adam", "adam-bc": "DP-AdamBC"}[c.Optimizer]
	if name == "" {
		name = c.Optimizer
	}
	if c.Nesterov {
		name += " (Nesterov)"
	}
	s := fmt.Sprintf("%s, η\u00a0%s", name, words.Number(c.LearningRate, 3))
	if c.LearningRateSchedule != "" && c.LearningRateSchedule != "constant" {
		s += " " + c.LearningRateSchedule
	}
	if c.WeightDecay > 0 {
		s += ", decay " + words.Number(c.WeightDecay, 3)
	}
	if c.LabelSmoothing > 0 {
		s += ", smoothing " + words.Number(c.LabelSmoothing, 3)
	}
	if len(c.ClassWeights) > 0 {
		s += ", classes weighed"
	}
	return s
}
