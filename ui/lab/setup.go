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

// setup is the strip at the top: the experiment that everything on the page starts from.
type setup struct {
	lab   *Lab
	draft *string // of the seed, while it is typed
	fault string  // in it
}

// budget is the key of the choice of ε, which no field of the configuration is.
const budget = "lab-epsilon"

// sizes are the batch sizes that are offered.
var sizes = []string{"64", "128", "256", "512", "1024"}

// Set takes up what was chosen.
func (s *setup) Set(key, text string) {
	cfg := s.lab.config
	switch key {
	case "seed":
		s.draft = &text
		return
	case budget:
		setBudget(&cfg, text)
	default:
		if err := form.Set(&cfg, key, text); err != nil {
			return
		}
	}
	switch key {
	case "data": // what a model is and how it learns follows from the data, but for the digits
		kept := link.First()
		if text != kept.Data {
			cfg.Model, cfg.LearningRate = run.Model{}, 0
		} else {
			cfg.Model, cfg.LearningRate = kept.Model, kept.LearningRate
		}
	case "method":
		cfg.Params = nil
	}
	s.begin(cfg)
}

// setBudget decides the noise by a choice of ε.
func setBudget(cfg *run.Config, text string) {
	cfg.NoPrivacy, cfg.NoiseMultiplier, cfg.TargetEpsilon = text == link.Unbounded, nil, nil
	if epsilon, err := form.Parse(text); err == nil && !cfg.NoPrivacy {
		cfg.TargetEpsilon = &epsilon
	}
}

// Settle takes up what was typed.
func (s *setup) Settle(key string) {
	if key != "seed" || s.draft == nil {
		return
	}
	cfg := s.lab.config
	s.fault = ""
	if err := form.Set(&cfg, key, *s.draft); err != nil {
		s.fault = err.Error()
		s.lab.changed()
		return
	}
	if s.draft = nil; cfg.Seed == nil {
		cfg.Seed = link.First().Seed
	}
	s.begin(cfg)
}

// Open opens no card, as there is none.
func (s *setup) Open(form.Card) {}

// begin starts anew from another experiment.
func (s *setup) begin(cfg run.Config) {
	s.lab.config = cfg
	s.lab.open(places{})
	s.lab.address.write()
}

// overlay shows a method's curve beside the experiment's own, or no longer.
func (s *setup) overlay(name string) {
	l := s.lab
	if i := slices.Index(l.with, name); i >= 0 {
		l.with = slices.Delete(slices.Clone(l.with), i, i+1)
	} else if len(l.with) < link.MostWith {
		l.with = append(slices.Clone(l.with), name)
	}
	l.hands.again()
	l.address.write()
	l.changed()
}

// epsilonNow is the choice of ε that is in force.
func epsilonNow(cfg *run.Config) string {
	if cfg.NoPrivacy {
		return link.Unbounded
	}
	if cfg.TargetEpsilon != nil {
		return form.Format(*cfg.TargetEpsilon)
	}
	return ""
}

func (s *setup) view() app.UI {
	cfg := s.lab.config
	f := &widget.Form{Config: cfg, Full: cfg.WithDefaults(), Editor: s}
	epsilons := []form.Option{{Value: "0.5", Text: "0.5"}, {Value: "2", Text: "2"}, {Value: "8", Text: "8"}, {Value: link.Unbounded, Text: link.Unbounded}}
	batch, batches := s.batches(&f.Full)
	return app.Section().Class("lab-setup").Aria("label", "Experiment").Body(
		s.choice(f, "data", "Data", f.Text("data"), form.Find("data").Options),
		s.choice(f, "model.kind", "Model", f.Text("model.kind"), slices.DeleteFunc(slices.Clone(form.Find("model.kind").Options), func(o form.Option) bool { return o.Value == "layers" })),
		s.choice(f, "method", "Method", f.Text("method"), s.choices()),
		app.Div().Class("lab-epsilon").Body(widget.Segments(budget, "Privacy budget ε", epsilonNow(&cfg), epsilons, s)),
		s.choice(f, "expected_batch_size", "Batch B", batch, batches),
		s.seed(f),
		widget.QR(),
	)
}

// choices are the methods that can be looked at.
func (s *setup) choices() []form.Option {
	return slices.DeleteFunc(slices.Clone(form.Find("method").Options), func(o form.Option) bool { return !slices.Contains(link.Offered(), o.Value) })
}

// batches are the sizes that are offered, and that in force.
func (s *setup) batches(full *run.Config) (now string, options []form.Option) {
	now = form.Format(full.ExpectedBatchSize)
	if b := s.lab.hands.bench; b != nil && s.lab.config.ExpectedBatchSize == 0 {
		now = form.Format(b.Look().BatchSize) // which follows from the data
	}
	for _, size := range sizes {
		options = append(options, form.Option{Value: size, Text: size})
	}
	if !slices.Contains(sizes, now) && !math.IsNaN(full.ExpectedBatchSize) {
		options = append(options, form.Option{Value: now, Text: now})
	}
	return now, options
}

// choice is a field as a menu under its name alone.
func (s *setup) choice(f *widget.Form, key, label, now string, options []form.Option) app.UI {
	d := form.Field{Key: key, Options: options}
	return app.Label().Class("lab-choice").Body(app.Span().Text(label), f.Select(d, now))
}

func (s *setup) seed(f *widget.Form) app.UI {
	text := f.Text("seed")
	if s.draft != nil {
		text = *s.draft
	}
	return app.Div().Class("lab-choice lab-seed").Body(
		app.Label().Body(app.Span().Text("Seed"), f.Input(form.Field{Key: "seed"}, text)),
		widget.Message("lab-seed-fault", "fault", s.fault),
	)
}

// chips are the methods that the U can show beside the experiment's own.
func (s *setup) chips() app.UI {
	l := s.lab
	names := slices.DeleteFunc(slices.Clone(link.Weighing()), func(name string) bool { return name == l.config.Method })
	return app.FieldSet().Class("lab-chips").Body(
		app.Legend().Text("Compare with"),
		app.Range(names).Slice(func(i int) app.UI {
			name := names[i]
			on := slices.Contains(l.with, name)
			return app.Label().Class("tick").Body(
				app.Input().Type("checkbox").ID("with-"+name).Checked(on).Disabled(!on && len(l.with) == link.MostWith).
					OnChange(func(app.Context, app.Event) { s.overlay(name) }, app.EventScope(name)),
				app.Span().Text(name),
			)
		}),
	)
}
