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
}

func (c *Model) CompoID() string { return "model-" + strconv.Itoa(c.Form.Epoch) }

func (c *Model) Render() app.UI {
	f := c.Form
	head := widget.Card{ID: form.Model, Number: "2", Title: "Model", Line: modelLine(f.Full.Model, c.Plan)}
	return head.View(f, append(f.Plain(form.On(form.Model)),
		app.P().Class("answer").Hidden(c.Plan == nil).Text(size(c.Plan)))...)
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
