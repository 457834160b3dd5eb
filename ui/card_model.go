package ui

import (
	"fmt"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// modelCard is the second card: the architecture.
type modelCard struct {
	app.Compo
	Form *Form
}

func (c *modelCard) CompoID() string { return "model-" + strconv.Itoa(c.Form.Epoch) }

func (c *modelCard) Render() app.UI {
	f := c.Form
	mlp := f.Full.Model.Kind == "mlp"
	head := card{cardModel, "2", "Model", modelLine(f.Full.Model, f.Plan), []string{"model.kind", "model.hidden", "model.activation"}}
	return head.view(f,
		field{key: "model.kind", label: "Kind", help: modelHelp[f.Full.Model.Kind]}.choice(f, []option{
			{"softmax", "softmax regression"}, {"linear", "linear regression"}, {"mlp", "multi-layer network"},
		}),
		app.Div().Hidden(!mlp).Body(
			field{key: "model.hidden", label: "Hidden layers", preset: "128", help: "Widths from the first to the last, for example 128, 64."}.number(f),
			field{key: "model.activation", label: "Activation", help: "What stands between two layers."}.choice(f, []option{{"relu", "ReLU"}, {"tanh", "tanh"}}),
		),
		app.P().Class("answer").Hidden(f.Plan == nil).Text(size(f.Plan)),
	)
}

var modelHelp = map[string]string{
	"softmax": "One layer; the loss is cross-entropy. The fewest parameters, so the least noise.",
	"linear":  "One layer; the loss is the squared error.",
	"mlp":     "Layers in a row. Each parameter adds noise of its own to the sum.",
}

func size(p *run.PlanInfo) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%s; about %s of memory.", words.Plural(p.Parameters, "parameter"), words.Bytes(p.MemoryBytes))
}

func modelLine(m run.Model, p *run.PlanInfo) string {
	s := m.Kind
	if m.Kind == "mlp" {
		widths := make([]string, len(m.Hidden))
		for i, w := range m.Hidden {
			widths[i] = strconv.Itoa(w)
		}
		s = "MLP " + strings.Join(widths, "–") + ", " + m.Activation
	}
	if p != nil && p.Parameters > 0 {
		s += ", " + words.Plural(p.Parameters, "parameter")
	}
	return s
}
