package lab

import (
	"math"

	"clipscope/ui/browser"
	"clipscope/ui/lesson"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// papers are the papers' figures, as experiments to run again in small.
type papers struct {
	lab   *Lab
	list  []lesson.Figure // nil until they have come
	at    *lesson.Figure
	asked bool
	fault string
	shown *lesson.Figure // what the boards show, of one without runs; nil: none
}

// fetch has the figures come, and what is stored of them, once.
func (p *papers) fetch() {
	if p.asked {
		return
	}
	p.asked = true
	failed := func(err error) {
		p.fault, p.asked = "The papers’ figures did not come: "+err.Error(), false
		p.lab.changed()
	}
	p.lab.client.Text(widget.Link("/web/assets/papers.json"), func(figures []byte, err error) {
		if err != nil {
			failed(err)
			return
		}
		p.lab.client.Text(widget.Link("/web/assets/papers-stored.json"), func(stored []byte, err error) {
			if err == nil {
				p.list, err = lesson.ReadFigures(figures, stored)
			}
			if err != nil {
				failed(err)
				return
			}
			p.lab.changed()
		})
	})
}

// titles are what the papers are called, and order is that in which they are listed.
var (
	titles = map[string]string{"VC": "Value clipping", "DC": "DC-SGD", "AC": "AdaCliP", "PS": "DP-PSAC"}
	order  = []string{"VC", "DC", "AC", "PS"}
)

// ofPaper is the choice among a paper's figures.
func (p *papers) ofPaper(paper string) app.UI {
	var all []*lesson.Figure
	for i := range p.list {
		if p.list[i].Paper == paper {
			all = append(all, &p.list[i])
		}
	}
	return app.Div().Class("figure-paper").Role("group").Aria("label", titles[paper]).Body(
		app.H3().Text(titles[paper]),
		app.Range(all).Slice(func(i int) app.UI { return p.button(all[i]) }),
	)
}

func (p *papers) view() app.UI {
	return app.Section().Class("papers").ID("papers").Aria("label", "The papers’ figures").Body(
		widget.Message("papers-fault", "fault", p.fault),
		app.If(len(p.list) > 0, func() app.UI {
			return app.Details().Body(
				app.Summary().Text("Figures of the papers: the claim, the experiment in small, our result"),
				app.Div().Class("figure-list").Body(app.Range(order).Slice(func(i int) app.UI { return p.ofPaper(order[i]) })),
				app.If(p.at != nil, func() app.UI { return p.figureView(p.at) }),
			)
		}),
	)
}

func (p *papers) button(f *lesson.Figure) app.UI {
	return app.Button().Type("button").ID("figure-"+f.ID).Class("chip").Aria("pressed", p.at == f).
		Aria("label", titles[f.Paper]+", "+f.Figure).Text(f.Figure).OnClick(func(app.Context, app.Event) {
		p.at = f
		p.lab.changed()
		browser.Scroll("figure")
	}, app.EventScope(f.ID))
}

// claim is what a figure says, and where to find it, for where its experiment is.
func claim(f *lesson.Figure) string {
	if f == nil {
		return ""
	}
	text := titles[f.Paper] + ", " + f.Figure + ": " + f.Claim + " Otherwise than in the paper: " + f.Differs
	if len(f.Lanes) > 0 {
		head, _ := column(f.Watch)
		text += " Look at: " + head + "."
	}
	return text
}

func (p *papers) figureView(f *lesson.Figure) app.UI {
	return app.Article().Class("figure").ID("figure").Body(
		app.H3().Text(titles[f.Paper]+", "+f.Figure),
		app.P().Text(f.Claim),
		app.P().Class("help").Text("Otherwise than in the paper: "+f.Differs),
		app.Button().Type("button").ID("figure-run").Class("primary").Text("Run it here").OnClick(func(app.Context, app.Event) { p.lab.reproduce(f) }, app.EventScope(f.ID)),
		app.If(f.Full != nil, func() app.UI { return fullView(f) }),
		app.If(len(f.Stored) > 0, func() app.UI { return storedView(f) }),
	)
}

// fullView leads to the runs on the paper's own data, which take too long for a lane, and
// whose files the visitor has.
func fullView(f *lesson.Figure) app.UI {
	configs, _ := f.FullConfigs() // read before
	return app.Div().Class("in-full").Body(
		app.P().Class("help").Text("With the network and the batch of the paper, on your own files of MNIST or Fashion-MNIST, which you choose there:"),
		app.Ul().Body(app.Range(configs).Slice(func(i int) app.UI {
			hash, _ := configs[i].Hash()
			return app.Li().Body(app.A().Href(widget.Link("/")+"#"+hash).Aria("label", "Open in Train, in full: "+f.Lanes[i].Label).Text(f.Lanes[i].Label))
		})),
	)
}

// storedView is what came of a figure's runs once, so marked.
func storedView(f *lesson.Figure) app.UI {
	head, cell := column(f.Watch)
	return app.Div().Class("stored").Body(
		app.P().Class("help").Text("Stored, from one machine (make stored-figures); the same seed here gives the same, up to rounding."),
		app.Table().Body(
			app.THead().Body(app.Tr().Body(app.Th().Scope("col").Text("run"), app.Th().Scope("col").Text(head))),
			app.TBody().Body(app.Range(f.Stored).Slice(func(i int) app.UI {
				o := &f.Stored[i]
				return app.Tr().Body(app.Th().Scope("row").Text(o.Label), app.Td().Class("number").Text(cell(o)))
			})),
		),
	)
}

// column is what a figure is about, of its stored runs.
func column(watch string) (head string, cell func(*lesson.Outcome) string) {
	switch watch {
	case "loss":
		return "test loss", func(o *lesson.Outcome) string { return words.Number(float64(o.Loss), 3) }
	case "clip_fraction":
		return "clipped at first, and at the end; accuracy", func(o *lesson.Outcome) string {
			return words.Percent(float64(o.Clipped[0]), 0) + ", " + words.Percent(float64(o.Clipped[1]), 0) + "; " + words.Percent(float64(o.Accuracy), 1)
		}
	case "max_grad_norm":
		return "C at the end", func(o *lesson.Outcome) string { return words.Number(float64(o.MaxGradNorm), 3) }
	case "seconds":
		return "time of a step, in parts of the first’s", func(o *lesson.Outcome) string { return words.Number(float64(o.Time), 2) }
	case "noise":
		return "length of the noise", func(o *lesson.Outcome) string { return words.Number(math.Sqrt(float64(o.Noise)), 3) }
	case "cosine":
		return "cosine of the clipped with the true mean; accuracy", func(o *lesson.Outcome) string {
			return words.Number(float64(o.Cosine), 3) + "; " + words.Percent(float64(o.Accuracy), 1)
		}
	}
	return "test accuracy", func(o *lesson.Outcome) string { return words.Percent(float64(o.Accuracy), 1) }
}
