package cards

import (
	"fmt"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Model is the second card: the architecture.
type Model struct {
	app.Compo
	Form *widget.Form
	Plan *run.PlanInfo // nil while it is not known
	// Start is the weights that a run starts from, and Starter receives their events; nil: runs start from random ones.
	Start   StartView
	Starter Starter
	// Public is the choice of public rows, and Mixer receives their events; nil: runs mix none in.
	Public Choice
	Mixer  Mixer
}

func (c *Model) CompoID() string { return "model-" + strconv.Itoa(c.Form.Epoch) }

func (c *Model) Render() app.UI {
	f, rows := c.Form, form.On(form.Model)
	head := widget.Card{ID: form.Model, Number: "2", Title: "Model", Line: modelLine(f.Full.Model, c.Plan), Planned: true}
	return head.View(f, append(f.Plain(rows), c.layers(), c.start(), c.public(),
		app.P().Class(widget.Stale("answer", f.Pending)).Hidden(c.Plan == nil).Text(size(c.Plan)),
		app.Div().Hidden(!form.Find("model.dropout").When(&f.Full)).Body(f.Advanced(rows)))...)
}

// layers is a table of what becomes of a row. It is drawn for models of more than
// dense layers, whose shapes do not stand in the fields.
func (c *Model) layers() app.UI {
	kind := c.Form.Full.Model.Kind
	if c.Plan == nil || kind == "softmax" || kind == "linear" || kind == "mlp" {
		return app.Div().Class("columns layers").Hidden(true)
	}
	list := c.Plan.Layers
	return app.Div().Class(widget.Stale("columns layers", c.Form.Pending)).TabIndex(0).Role("region").Aria("label", "Layers").Body(app.Table().Body(
		app.THead().Body(app.Tr().Body(app.Range(layerColumns).Slice(func(i int) app.UI { return app.Th().Scope("col").Text(layerColumns[i]) }))),
		app.TBody().Body(app.Range(list).Slice(func(i int) app.UI { return layerRow(i+1, list[i]) })),
	))
}

func layerRow(number int, l run.Layer) app.UI {
	shape := make([]string, len(l.Shape))
	for i, n := range l.Shape {
		shape[i] = strconv.Itoa(n)
	}
	cost := ""
	if l.Bytes > 0 {
		cost = words.Bytes(l.Bytes)
	}
	if l.Products > 0 {
		cost = fmt.Sprintf("%s, %s", words.Plural(int(l.Products), "product"), cost)
	}
	return app.Tr().Body(
		app.Th().Scope("row").Body(app.Span().Text(fmt.Sprintf("%d %s", number, l.Text)), app.Span().Class("cell").Text(cost)),
		app.Td().Text(strings.Join(shape, "×")), app.Td().Text(parameters(l)),
	)
}

// layerColumns are of the table; products and memory are of each row of a batch.
var layerColumns = []string{"layer, cost a row", "gives", "parameters"}

func parameters(l run.Layer) string {
	switch {
	case l.Parameters == 0:
		return "–"
	case l.Trained > 0:
		return words.Count(l.Parameters) + ", " + words.Count(l.Trained) + " trained"
	case l.Frozen:
		return words.Count(l.Parameters) + ", frozen"
	}
	return words.Count(l.Parameters)
}

// parametersOf says how many parameters a plan's model has, and how many of them are trained.
func parametersOf(p *run.PlanInfo) string {
	s := words.Plural(p.Parameters, "parameter")
	if p.Trained > 0 {
		s += ", " + words.Count(p.Trained) + " trained"
	}
	return s
}

func size(p *run.PlanInfo) string {
	if p == nil {
		return ""
	}
	if p.Backend == "webgpu" {
		return parametersOf(p) + "; as many rows at once as the GPU has memory for."
	}
	s := fmt.Sprintf("%s; about %s of memory", parametersOf(p), words.Bytes(p.MemoryBytes))
	if p.PhysicalBatch > 0 {
		s += fmt.Sprintf(", with %s at once", words.Plural(p.PhysicalBatch, "row"))
	}
	return s + "."
}

func modelLine(m run.Model, p *run.PlanInfo) string {
	s := m.Kind
	for _, n := range run.Networks() {
		if n.Kind == m.Kind {
			s = n.Title
		}
	}
	switch m.Kind {
	case "layers":
		s = words.Plural(len(m.Layers), "layer")
	case "mlp":
		widths := make([]string, len(m.Hidden))
		for i, w := range m.Hidden {
			widths[i] = strconv.Itoa(w)
		}
		s = "MLP " + strings.Join(widths, "–") + ", " + m.Activation
	}
	if m.Dropout > 0 {
		s += ", dropout " + words.Number(m.Dropout, 3)
	}
	if p != nil && p.Parameters > 0 {
		s += ", " + parametersOf(p)
	}
	return s
}
