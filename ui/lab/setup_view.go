package lab

import (
	"math"
	"slices"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/link"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// setupView is the strip at the top: the experiment that everything on the page starts from.
type setupView struct{ part }

// sizes is the batch sizes offered.
var sizes = []string{"64", "128", "256", "512", "1024"}

// Set sends what was typed or chosen.
func (v *setupView) Set(key, text string) { v.send(choose{key, text}) }

// Settle sends the end of typing.
func (v *setupView) Settle(key string) { v.send(settle{key}) }

// Open opens no card, as there is none.
func (v *setupView) Open(form.Card) {}

func (v *setupView) view() app.UI {
	cfg := v.config
	f := &widget.Form{Config: cfg, Full: cfg.WithDefaults(), Editor: v}
	epsilons := []form.Option{{Value: "0.5", Text: "0.5"}, {Value: "2", Text: "2"}, {Value: "8", Text: "8"}, {Value: link.Unbounded, Text: link.Unbounded}}
	batch, batches := v.batches(&f.Full)
	return app.Section().Class("lab-setup").Aria("label", "Experiment").Body(
		v.choice(f, "data", "Data", f.Text("data"), form.Find("data").Options),
		v.choice(f, "model.kind", "Model", f.Text("model.kind"), slices.DeleteFunc(slices.Clone(form.Find("model.kind").Options), func(o form.Option) bool { return o.Value == "layers" })),
		v.choice(f, "method", "Method", f.Text("method"), v.choices()),
		app.Div().Class("lab-epsilon").Body(widget.Segments(budget, "Privacy budget ε", epsilonNow(&cfg), epsilons, v)),
		v.choice(f, "expected_batch_size", "Batch B", batch, batches),
		v.seed(f),
		widget.QR(),
	)
}

// choices returns the methods that can be looked at.
func (v *setupView) choices() []form.Option {
	return slices.DeleteFunc(slices.Clone(form.Find("method").Options), func(o form.Option) bool { return !slices.Contains(link.Offered(), o.Value) })
}

// batches returns the sizes offered, and the one in force.
func (v *setupView) batches(full *run.Config) (now string, options []form.Option) {
	now = form.Format(full.ExpectedBatchSize)
	if b := v.bench.look; b != nil && v.config.ExpectedBatchSize == 0 {
		now = form.Format(b.BatchSize) // which follows from the data
	}
	for _, size := range sizes {
		options = append(options, form.Option{Value: size, Text: size})
	}
	if !slices.Contains(sizes, now) && !math.IsNaN(full.ExpectedBatchSize) {
		options = append(options, form.Option{Value: now, Text: now})
	}
	return now, options
}

// choice returns a field as a menu under its name alone.
func (v *setupView) choice(f *widget.Form, key, label, now string, options []form.Option) app.UI {
	d := form.Field{Key: key, Options: options}
	return app.Label().Class("lab-choice").Body(app.Span().Text(label), f.Select(d, now))
}

func (v *setupView) seed(f *widget.Form) app.UI {
	text := f.Text("seed")
	if v.setup.draft != nil {
		text = *v.setup.draft
	}
	return app.Div().Class("lab-choice lab-seed").Body(
		app.Label().Body(app.Span().Text("Seed"), f.Input(form.Field{Key: "seed"}, text)),
		widget.Message("lab-seed-fault", "fault", v.setup.fault),
	)
}

// chips returns the methods that the U can show beside the experiment's own.
func (v *setupView) chips() app.UI {
	names := slices.DeleteFunc(slices.Clone(link.Weighing()), func(name string) bool { return name == v.config.Method })
	return app.FieldSet().Class("lab-chips").Body(
		app.Legend().Text("Compare with"),
		app.Range(names).Slice(func(i int) app.UI {
			name := names[i]
			on := slices.Contains(v.with, name)
			return v.tick("with-"+name, name, on, !on && len(v.with) == link.MostWith, func(bool) command { return overlay{name} })
		}),
	)
}
