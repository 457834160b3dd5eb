package lab

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/form"
	"clipscope/ui/link"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// setupView is the strip at the top: the experiment that everything on the page starts from.
type setupView struct{ section }

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
	methods := slices.DeleteFunc(slices.Clone(form.Find("method").Options), func(o form.Option) bool { return !slices.Contains(link.Offered(), o.Value) })
	batch, batches := v.batches(&f.Full)
	return app.Section().Class("lab-setup").Aria("label", "Experiment").Body(
		v.choice(f, "data", "Data", f.Text("data"), form.Find("data").Options),
		v.choice(f, "model.kind", "Model", f.Text("model.kind"), slices.DeleteFunc(slices.Clone(form.Find("model.kind").Options), func(o form.Option) bool { return o.Value == "layers" && f.Text("model.kind") != o.Value })),
		v.choice(f, "method", "Method", f.Text("method"), methods),
		app.Div().Class("lab-epsilon").Body(widget.Segments(budget, "Privacy budget ε", epsilonNow(&cfg), epsilons, v)),
		v.choice(f, "expected_batch_size", "Batch B", batch, batches),
		v.seed(f),
		widget.QR(),
	)
}

// batches returns the sizes offered, and the one in force.
func (v *setupView) batches(full *run.Config) (now string, options []form.Option) {
	now = form.Format(full.ExpectedBatchSize)
	if b := v.bench.look; b != nil && v.config.ExpectedBatchSize == 0 {
		now = form.Format(b.BatchSize) // the default for the data
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

// benchView is the plane, the U, and what is set and shown beside them.
type benchView struct{ section }

func (v *benchView) view() app.UI {
	class := "lab-hands"
	if v.bench.void {
		class += " void"
	}
	radius := v.tick("lab-log", "log lengths", !v.bench.linear, false, func(on bool) command { return scale{linear: !on} }).Class("lab-radius")
	return app.Section().Class(class).ID("hands").Aria("label", "A batch's gradients").Body(
		app.Div().Class("lab-boards").Body(
			app.Div().Class("lab-pane").Body(
				app.Div().Class("figure-head").Body(app.H2().Text(v.bench.title()), diagnostic(), radius, chart.Save(v.bench.title())),
				&board{Kind: "plane", Label: "Threshold C, the circle's radius", Send: v.send},
			),
			app.Div().Class("lab-pane").Body(
				app.Div().Class("figure-head").Body(app.H2().Text("Bias against noise"), diagnostic(), v.table(), chart.Save("Bias against noise")),
				&board{Kind: "u", Label: "Threshold C, under the curves", Send: v.send},
			),
		),
		app.Div().Class("lab-words").Body(
			app.P().Class("lab-sentence").ID("lab-sentence"),
			app.P().Class("lab-advice").ID("lab-advice"),
			app.P().Class("lab-advice").ID("lab-lengths"),
			app.P().Class("lab-walk").ID("lab-walk"),
		),
		app.Div().Class("lab-actions").ID("lab-actions").Body(
			v.buttons(),
			v.sliders(),
			(&setupView{v.section}).chips(),
		),
		&slider{ID: "lab-threshold", Class: "lab-thumb", Label: "Threshold C", Output: "lab-threshold-now", Min: math.Log10(v.bench.axis.lo), Max: math.Log10(v.bench.axis.hi), Now: v.bench.c,
			Moved: func(c float64) { v.send(moveC{c}) }, Rested: func() {}},
		v.measured(),
		v.strips(),
	)
}

// diagnostic returns the badge of what is computed without noise.
func diagnostic() app.UI {
	return app.Span().Class("badge badge-diagnostic").Title("Computed from the rows without noise: for your eyes only.").Text("diagnostic")
}

// table returns the U as a table, for who cannot see it, about every half decade.
func (v *benchView) table() app.UI {
	var rows [][]string
	if len(v.bench.curves) > 0 {
		for i, c := range v.bench.curves[0].MaxGradNorm {
			if i%(perDecade/2) != 0 {
				continue
			}
			row := []string{words.Number(c, 2), words.Number(v.bench.noise.variance(c), 3)}
			for _, k := range v.bench.curves {
				row = append(row, words.Number(float64(k.Bias2[i]), 3))
			}
			rows = append(rows, row)
		}
	}
	head := []string{"C", "noise σ²C²d/B²"}
	for _, k := range v.bench.curves {
		head = append(head, "bias², "+k.name)
	}
	return values("Bias and noise by threshold", head, rows)
}

func (v *benchView) buttons() app.UI {
	button := func(id, text string, c command) app.UI {
		return v.press("lab-"+id, text, c).Aria("disabled", strconv.FormatBool(v.bench.off()))
	}
	return app.Div().Class("lab-buttons").Body(
		button("on-1", "1 step on", trainOn{1}),
		button("on-10", "10 on", trainOn{10}),
		button("on-100", "100 on", trainOn{100}),
		button("back", "Back to the start", backStart{}),
		button("again", "Take the batch again", nextBatch{}),
		button("noise", "Draw noise", drawNoise{}),
		app.P().Class("lab-busy").ID("lab-busy").Role("status").Text(v.bench.busy),
		app.If(!v.bench.off(), func() app.UI { return v.steps() }),
	)
}

// steps says at which C the run takes its next step, and offers the handle's.
func (v *benchView) steps() app.UI {
	c := v.bench.look.MaxGradNorm
	return app.P().Class("lab-busy").Body(
		app.Span().Text("Steps are taken with C = "+words.Number(c, 3)+". "),
		v.press("lab-adopt", "Take C = "+words.Number(v.bench.c, 3), adopt{}).Class("plain link").Hidden(v.bench.c == c),
	)
}

// sliders change what the noise depends on; the look, and so the bias, stays.
func (v *benchView) sliders() app.UI {
	of := func(id, label string, lo, hi, now float64) app.UI {
		return &slider{ID: "lab-" + id, Output: "lab-" + id + "-now", Label: label, Min: lo, Max: hi, Now: now,
			Moved: func(to float64) { v.send(slide{id, form.Round(to, 3)}) }, Rested: func() { v.send(price{}) }}
	}
	n := v.bench.noise
	return app.Div().Class("lab-sliders").Body(of("sigma", "Noise σ", -1.5, 1.5, n.sigma), of("batch", "Batch B", 1, 4, n.batch), of("width", "Parameters d", 1, 7, n.dim))
}

// measured says what drawing the noise many times came to.
func (v *benchView) measured() app.UI {
	text := ""
	if d := v.bench.draws; d != nil && d.Draws >= manyDraws {
		text = words.Plural(d.Draws, "draw") + " of the noise at C = " + words.Number(v.bench.drawnC, 3) + ": squared length " +
			words.Number(float64(d.MeanSquare), 4) + " ± " + words.Number(float64(d.StandardError), 2) + " on average; σ²C²d/B² is " + words.Number(float64(d.Formula), 4) + "."
	}
	return app.P().Class("lab-measured").ID("lab-measured").Role("status").Text(text)
}

// strips returns the examples with the largest and the smallest gradients, or the plane of the
// data where that has two features.
func (v *benchView) strips() app.UI {
	if v.planar() {
		return app.Div().Class("lab-field").ID("lab-rows").Body(
			app.H2().Text("What the model answers"),
			&board{Kind: "field", Label: "The plane of the data", Send: v.send},
			v.key(),
		)
	}
	if v.bench.look == nil {
		return app.Div().Class("lab-strips").ID("lab-rows")
	}
	strip := v.strip
	if v.bench.look.Modules != nil {
		strip = v.sentences
	}
	return app.Div().Class("lab-strips").ID("lab-rows").Body(
		strip("Largest gradients: what clipping silences", v.bench.look.Largest),
		strip("Smallest gradients", v.bench.look.Smallest),
	)
}

// fieldInks is the inks of the classes in the plane of the data, as in web/lab.js.
var fieldInks = []string{"released", "diagnostic", "second", "third"}

// key explains the colours and sizes in the plane of the data.
func (v *benchView) key() app.UI {
	var classes []string
	if v.bench.look != nil {
		classes = v.bench.look.Classes
	}
	dot := func(class, text string) app.UI {
		return app.Li().Body(app.Span().Class("row-dot "+class).Aria("hidden", "true"), app.Span().Text(text))
	}
	return app.Div().Class("field-key").Body(
		app.P().Text("A dot is a row of this batch, in the colour of its class:"),
		app.Ul().Body(app.Range(classes).Slice(func(i int) app.UI {
			return dot("ink-"+fieldInks[i%len(fieldInks)], name(classes, i))
		})),
		app.P().Text("The ground has the colour of the class that the model answers there, and more of it the surer it is."),
		app.P().Text("A dot is the larger the more clipping takes away of its row’s gradient:"),
		app.Ul().Body(dot("least", "nothing"), dot("", "half"), dot("most", "nearly all")),
	)
}

// strip returns examples as pictures, with their norms.
func (v *benchView) strip(title string, examples []run.Example) app.UI {
	classes := v.bench.look.Classes
	w, _ := link.Weight(v.config.Method)
	return app.Div().Hidden(len(examples) == 0).Body(
		app.H2().Text(title),
		app.Ul().Class("thumbs").Body(app.Range(examples).Slice(func(i int) app.UI {
			e := examples[i]
			return app.Li().Body(&widget.Picture{Pixels: base64.StdEncoding.EncodeToString(e.Pixels), Height: e.Height, Width: e.Width, Text: weighed(w, float64(e.Norm), v.bench.c), Label: name(classes, e.Label)})
		})),
	)
}

// sentences returns the first examples as texts. Under each, a bar for every layer shows the length of its gradient there, and the share
// that clipping leaves.
func (v *benchView) sentences(title string, examples []run.Example) app.UI {
	look := v.bench.look
	w, _ := link.Weight(v.config.Method)
	if len(examples) == 0 {
		return app.Div().Hidden(true)
	}
	longest := 0.0
	for _, part := range look.Largest[0].Parts {
		longest = max(longest, float64(part))
	}
	return app.Div().Body(
		app.H2().Text(title),
		app.Ul().Class("lab-sentences").Body(app.Range(examples[:min(len(examples), 3)]).Slice(func(i int) app.UI {
			e, left := examples[i], 1.0
			if w != nil {
				left = min(1, w.Factor(float64(e.Norm), v.bench.c))
			}
			return app.Li().Body(
				app.P().Text("“"+e.Text+"”, "+name(look.Classes, e.Label)+": "+weighed(w, float64(e.Norm), v.bench.c)),
				app.Dl().Body(app.Range(e.Parts).Slice(func(k int) app.UI {
					part := float64(e.Parts[k])
					return app.Div().Body(app.Dt().Text(look.Modules[k]), app.Dd().Text(words.Number(part, 2)), app.Dd().Body(app.Raw(partBar(part/longest, left))))
				})),
			)
		})),
	)
}

// partBar returns a bar as SVG: share, 0 … 1, is its length, and left the part of it that is dark.
func partBar(share, left float64) string {
	return fmt.Sprintf(`<svg class="part-bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"><path d="M0 6H%.1f"/><path class="left" d="M0 6H%.1f"/></svg>`, 100*finite(share), 100*finite(share*left))
}

// weighed writes a norm, and what a weight function leaves of it.
func weighed(w clip.Weight, norm, c float64) string {
	text := words.Number(norm, 2)
	if w == nil {
		return text
	}
	if left := words.Number(norm*w.Factor(norm, c), 2); left != text {
		return text + " → " + left
	}
	return text
}

// name returns a class's name, its index where it has none.
func name(classes []string, k int) string {
	if k >= 0 && k < len(classes) {
		return data.Shown(classes[k])
	}
	return words.Count(k)
}

// slider is a range whose value a hand changes many times a second: it is read, and its
// text written, past the virtual DOM.
type slider struct {
	app.Compo
	ID, Label     string
	Min, Max      float64 // of the logarithm to base 10
	Now           float64 // the value, not its logarithm
	Moved         func(value float64)
	Rested        func()
	Class, Output string // Output is the id of the text beside it
}

func (s *slider) Render() app.UI {
	now := math.Log10(s.Now)
	if math.IsNaN(now) || math.IsInf(now, 0) {
		now = s.Min
	}
	value := func(ctx app.Context) float64 {
		ctx.PreventUpdate()
		return math.Pow(10, ctx.JSSrc().Get("valueAsNumber").Float())
	}
	return app.Label().Class("lab-slider "+s.Class).For(s.ID).Body(
		app.Span().Class("lab-slider-head").Body(app.Span().Text(s.Label), app.Span().Class("figure").ID(s.Output)),
		app.Input().Type("range").ID(s.ID).Min(s.Min).Max(s.Max).Step(0.02).Value(now).
			OnInput(func(ctx app.Context, _ app.Event) { s.Moved(value(ctx)) }, app.EventScope(s.ID)).
			OnChange(func(ctx app.Context, _ app.Event) {
				ctx.PreventUpdate()
				s.Rested()
			}, app.EventScope(s.ID)),
	)
}
