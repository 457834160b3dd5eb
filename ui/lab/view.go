package lab

import (
	"encoding/base64"
	"math"
	"strconv"

	"clipscope/core/clip"
	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/form"
	"clipscope/ui/link"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

func (h *hands) view() app.UI {
	class := "lab-hands"
	if h.void {
		class += " void"
	}
	return app.Section().Class(class).ID("hands").Aria("label", "A batch's gradients").Body(
		app.Div().Class("lab-boards").Body(
			app.Div().Class("lab-pane").Body(
				app.Div().Class("figure-head").Body(app.H2().Text(h.title()), diagnostic(), h.radius(), chart.Save(h.title())),
				&board{Kind: "plane", Label: "Threshold C, the circle's radius", Hands: h},
			),
			app.Div().Class("lab-pane").Body(
				app.Div().Class("figure-head").Body(app.H2().Text("Bias against noise"), diagnostic(), h.values(), chart.Save("Bias against noise")),
				&board{Kind: "u", Label: "Threshold C, under the curves", Hands: h},
			),
		),
		app.Div().Class("lab-words").Body(
			app.P().Class("lab-sentence").ID("lab-sentence"),
			app.P().Class("lab-advice").ID("lab-advice"),
			app.P().Class("lab-advice").ID("lab-lengths"),
			app.P().Class("lab-walk").ID("lab-walk"),
		),
		app.Div().Class("lab-actions").ID("lab-actions").Body(
			h.buttons(),
			h.sliders(),
			h.lab.setup.chips(),
		),
		&slider{ID: "lab-threshold", Class: "lab-thumb", Label: "Threshold C", Output: "lab-threshold-now", Min: math.Log10(h.axis.lo), Max: math.Log10(h.axis.hi), Now: h.c,
			Moved: h.moved, Rested: func() {}},
		h.measured(),
		h.strips(),
	)
}

func diagnostic() app.UI {
	return app.Span().Class("badge badge-diagnostic").Title("Computed from the rows without noise: for your eyes only.").Text("diagnostic")
}

// title says what is looked at.
func (h *hands) title() string {
	switch {
	case h.void && h.busy != "":
		return h.busy
	case h.bench == nil:
		return "Gradients"
	}
	look := h.bench.Look()
	return words.Plural(look.Rows, "gradient") + " at step " + words.Count(look.Step)
}

// radius chooses how lengths are shown.
func (h *hands) radius() app.UI {
	return app.Label().Class("tick lab-radius").Body(
		app.Input().Type("checkbox").ID("lab-log").Checked(!h.linear).OnChange(func(ctx app.Context, _ app.Event) {
			h.linear = !ctx.JSSrc().Get("checked").Bool()
			h.paintPlane()
			h.lab.address.write()
		}),
		app.Span().Text("log lengths"),
	)
}

// values is the U as a table, for who cannot see it, about every half decade.
func (h *hands) values() app.UI {
	var rows [][]string
	if len(h.curves) > 0 {
		for i, c := range h.curves[0].MaxGradNorm {
			if i%(perDecade/2) != 0 {
				continue
			}
			row := []string{words.Number(c, 2), words.Number(h.noise.variance(c), 3)}
			for _, k := range h.curves {
				row = append(row, words.Number(float64(k.Bias2[i]), 3))
			}
			rows = append(rows, row)
		}
	}
	head := []string{"C", "noise σ²C²d/B²"}
	for _, k := range h.curves {
		head = append(head, "bias², "+k.name)
	}
	return app.Details().Class("values").Body(
		app.Summary().Text("Values"),
		app.Table().Body(
			app.Caption().Class("visually-hidden").Text("Bias and noise by threshold"),
			app.THead().Body(app.Tr().Body(app.Range(head).Slice(func(i int) app.UI { return app.Th().Scope("col").Text(head[i]) }))),
			app.TBody().Body(app.Range(rows).Slice(func(i int) app.UI {
				return app.Tr().Body(app.Range(rows[i]).Slice(func(k int) app.UI { return app.Td().Class("figure").Text(rows[i][k]) }))
			})),
		),
	)
}

// off reports whether there is nothing to ask.
func (h *hands) off() bool { return h.bench == nil || h.busy != "" }

func (h *hands) buttons() app.UI {
	button := func(id, text string, f func()) app.UI {
		return app.Button().Type("button").ID("lab-"+id).Aria("disabled", strconv.FormatBool(h.off())).
			OnClick(func(app.Context, app.Event) { f() }, app.EventScope(id)).Text(text)
	}
	return app.Div().Class("lab-buttons").Body(
		button("on-1", "1 step on", func() { h.trainOn(1) }),
		button("on-10", "10 on", func() { h.trainOn(10) }),
		button("on-100", "100 on", func() { h.trainOn(100) }),
		button("back", "Back to the start", h.toStart),
		button("again", "Take the batch again", h.anotherBatch),
		button("noise", "Draw noise", func() {
			if !h.off() {
				h.draw(manyDraws)
			}
		}),
		app.P().Class("lab-busy").ID("lab-busy").Role("status").Text(h.busy),
		app.If(!h.off(), func() app.UI { return h.steps() }),
	)
}

// steps says at which C the run takes its next step, and offers the hand's.
func (h *hands) steps() app.UI {
	c := h.bench.Look().MaxGradNorm
	return app.P().Class("lab-busy").Body(
		app.Span().Text("Steps are taken with C = "+words.Number(c, 3)+". "),
		app.Button().Type("button").Class("plain link").ID("lab-adopt").Hidden(h.c == c).
			OnClick(func(app.Context, app.Event) { h.adopt() }).Text("Take C = "+words.Number(h.c, 3)),
	)
}

// sliders change what the noise depends on; the look, and so the bias, stays.
func (h *hands) sliders() app.UI {
	of := func(id, label string, lo, hi, now float64, field func(*noise) *float64) app.UI {
		return &slider{ID: "lab-" + id, Output: "lab-" + id + "-now", Label: label, Min: lo, Max: hi, Now: now,
			Moved: func(v float64) { h.slide(func(n *noise) { *field(n) = form.Round(v, 3) }) }, Rested: h.spent}
	}
	n := h.noise
	return app.Div().Class("lab-sliders").Body(
		of("sigma", "Noise σ", -1.5, 1.5, n.sigma, func(n *noise) *float64 { return &n.sigma }),
		of("batch", "Batch B", 1, 4, n.batch, func(n *noise) *float64 { return &n.batch }),
		of("width", "Parameters d", 1, 7, n.dim, func(n *noise) *float64 { return &n.dim }),
	)
}

// measured is what drawing the noise many times came to.
func (h *hands) measured() app.UI {
	text := ""
	if d := h.draws; d != nil && d.Draws >= manyDraws {
		text = words.Plural(d.Draws, "draw") + " of the noise at C = " + words.Number(h.drawnC, 3) + ": squared length " +
			words.Number(float64(d.MeanSquare), 4) + " ± " + words.Number(float64(d.StandardError), 2) + " on average; σ²C²d/B² is " + words.Number(float64(d.Formula), 4) + "."
	}
	return app.P().Class("lab-measured").ID("lab-measured").Role("status").Text(text)
}

// strips are the examples with the largest and the smallest gradients, or the plane of
// the data where that has two features.
func (h *hands) strips() app.UI {
	if h.lab.planar() {
		return app.Div().Class("lab-field").ID("lab-rows").Body(
			app.H2().Text("What the model answers"),
			&board{Kind: "field", Label: "The plane of the data", Hands: h},
			h.key(),
		)
	}
	if h.bench == nil {
		return app.Div().Class("lab-strips").ID("lab-rows")
	}
	look := h.bench.Look()
	return app.Div().Class("lab-strips").ID("lab-rows").Body(
		h.strip("Largest gradients: what clipping silences", look.Largest),
		h.strip("Smallest gradients", look.Smallest),
	)
}

// fieldInks are those of the classes in the plane of the data, as web/lab.js has them.
var fieldInks = []string{"released", "diagnostic", "second", "third"}

// key says what the colours and sizes in the plane of the data are.
func (h *hands) key() app.UI {
	var classes []string
	if h.bench != nil {
		classes = h.bench.Look().Classes
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

func (h *hands) strip(title string, examples []run.Example) app.UI {
	classes := h.bench.Look().Classes
	w, _ := link.Weight(h.lab.config.Method)
	return app.Div().Hidden(len(examples) == 0).Body(
		app.H2().Text(title),
		app.Ul().Class("thumbs").Body(app.Range(examples).Slice(func(i int) app.UI {
			e := examples[i]
			return app.Li().Body(&widget.Picture{Pixels: base64.StdEncoding.EncodeToString(e.Pixels), Height: e.Height, Width: e.Width, Text: weighed(w, float64(e.Norm), h.c), Label: name(classes, e.Label)})
		})),
	)
}

// weighed is a norm, and what a weight function leaves of it.
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

// name is a class's; its place where it has none.
func name(classes []string, k int) string {
	if k >= 0 && k < len(classes) {
		return classes[k]
	}
	return words.Count(k)
}
