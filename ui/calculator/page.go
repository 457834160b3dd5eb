package calculator

import (
	"fmt"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Page relates ε, σ, steps and sample rate, without data.
type Page struct {
	app.Compo
	Around     Around
	Calculator *Calculator

	hashChange app.Func
}

func (p *Page) OnMount(ctx app.Context) {
	p.Calculator.changed = func() { ctx.Dispatch(nil) }
	p.Around.Show(p.Calculator.changed) // the count of requests
	p.hashChange = app.FuncOf(func(app.Value, []app.Value) any { p.Calculator.start(browser.Hash()); return nil })
	app.Window().Call("addEventListener", "hashchange", p.hashChange)
	p.Calculator.start(browser.Hash())
}

func (p *Page) OnDismount() {
	p.Calculator.drop()
	p.Calculator.changed = func() {}
	p.Around.Hide()
	app.Window().Call("removeEventListener", "hashchange", p.hashChange)
	p.hashChange.Release()
}

func (p *Page) Render() app.UI {
	k := p.Calculator
	return app.Div().Class("page").Body(
		&widget.Header{Page: "calculator", Sent: p.Around.Sent()},
		app.Main().Class("bench calculator").Body(
			&inputs{K: k, Form: k.formNow(), Solve: k.solve, By: k.by},
			app.Div().Class("stage").Body(
				&answerBox{K: k, Answer: k.answer, Solve: k.solve, Fault: k.fault, Rows: k.rows(), Pending: k.pending(), Stale: k.answer.version != k.version, Stopped: k.stopped, Asked: k.putQuestions},
				app.Div().Class("charts calculator-charts").Body(
					&lineChart{ID: "steps", Title: "ε against steps", Spec: epsilonOverSteps, Feed: &k.charts.steps, Blank: k.answer.report == nil, Pending: k.pending(), Empty: "ε as the run goes on, by two accountants."},
					&lineChart{ID: "delta", Title: "δ against ε", Spec: deltaOverEpsilon, Feed: &k.charts.delta, Blank: k.answer.report == nil, Pending: k.pending(), Empty: "Every pair of ε and δ that the run satisfies."},
					&lineChart{ID: "attack", Title: chart.AttackTitle, Spec: chart.Attack, Feed: &k.charts.attack, Blank: k.answer.report == nil, Pending: k.pending(), Empty: "What the best attack can find, and whom it accuses wrongly."},
				),
				&tuningTable{Costs: k.answer.tuning, Pending: k.pending()},
				newAuditPanel(p.Around.Config(), &k.audit),
				app.P().Class("help to-check").Body(app.Text("Somebody’s ε, with a model or a statement? "), app.A().Href(widget.Link("/check")).Text("Check a file"), app.Text(".")),
			),
		),
	)
}

// rows is the number of training rows where it is given.
func (k *Calculator) rows() float64 {
	if k.by == byRows {
		return k.cfg.Params["rows"]
	}
	return 0
}

// pending reports whether something shown is not about what the fields say.
func (k *Calculator) pending() bool {
	return k.fault == "" && (k.answer.version != k.version || !k.answer.whole)
}

// Around is the rest of the site, as far as the page shows it.
type Around interface {
	widget.Around
	// Config is the experiment's, whose noise is audited.
	Config() run.Config
}

// inputs are the fields.
type inputs struct {
	app.Compo
	K         *Calculator
	Form      *widget.Form
	Solve, By string
}

func (c *inputs) CompoID() string { return "calculator-" + strconv.Itoa(c.Form.Epoch) }

func (c *inputs) Render() app.UI {
	f, k := c.Form, c.K
	return app.Div().Class("experiment").Role("region").Aria("label", "Inputs").Body(
		app.H1().Text("Privacy calculator"),
		app.Div().Class("inputs").Body(
			widget.Segments("solve", "Find", c.Solve, []form.Option{{Value: solveEpsilon, Text: "ε"}, {Value: solveNoise, Text: "noise σ"}, {Value: solveSteps, Text: "steps"}, {Value: solveRate, Text: "rate q"}}, k),
			app.If(c.Solve != solveRate, func() app.UI { return c.sampling() }),
			app.If(c.Solve == solveRate, func() app.UI {
				return app.If(c.By == byRows, func() app.UI {
					return f.Field(form.Field{Key: "rows", Label: "Training rows N", Help: "Only to say how large a batch is."})
				})
			}),
			app.If(c.Solve != solveSteps, func() app.UI { return c.length() }),
			app.If(c.Solve != solveNoise, func() app.UI {
				return f.Field(form.Field{Key: "noise_multiplier", Label: "Noise multiplier σ", Help: "The noise's standard deviation, in units of the clipping threshold."})
			}),
			app.If(c.Solve != solveEpsilon, func() app.UI {
				return f.Field(form.Field{Key: "target_epsilon", Label: "Privacy budget ε", Help: "What the run may cost at most."})
			}),
			f.Field(form.Find("target_delta")),
			f.Field(form.Field{Key: "group", Label: "Rows of one person", Help: "A person with several rows in the data is promised less."}),
			f.Field(form.Field{Key: "runs", Label: "Runs compared", Help: "How many configurations are tried on the same rows."}),
		),
	)
}

func (c *inputs) sampling() app.UI {
	f := c.Form
	return app.Div().Class("inputs").Body(
		widget.Segments("by", "Sampling by", c.By, []form.Option{{Value: byRows, Text: "rows and batch"}, {Value: byRate, Text: "sample rate"}}, c.K),
		app.If(c.By == byRows, func() app.UI {
			return app.Div().Class("pair").Body(
				f.Field(form.Field{Key: "rows", Label: "Training rows N"}),
				f.Field(form.Field{Key: "expected_batch_size", Label: "Expected batch"}),
			)
		}).Else(func() app.UI {
			return f.Field(form.Field{Key: "sample_rate", Label: "Sample rate q", Help: "The chance with which each row enters a batch."})
		}),
	)
}

func (c *inputs) length() app.UI {
	f := c.Form
	steps := form.Find("steps")
	if c.Solve == solveRate {
		return f.Field(steps)
	}
	unit := form.LengthOf(&f.Full)
	return app.Div().Class("inputs").Body(
		f.Field(form.Find(form.Length)),
		f.Field(form.Find(unit)),
	)
}

// answerBox is the answer in figures and words.
type answerBox struct {
	app.Compo
	K       *Calculator
	Answer  answer
	Solve   string
	Fault   string
	Rows    float64
	Pending bool // not all of it is about what the fields say
	Stale   bool // none of it is
	Stopped bool // a person called it off
	Asked   int
}

func (c *answerBox) Render() app.UI {
	return app.Section().Class("answer-box").ID("answer").Aria("label", "Answer").Aria("busy", strconv.FormatBool(c.Pending && !c.Stopped)).DataSet("question", c.Answer.question).Body(
		c.work(),
		widget.Message("calculator-fault", "fault", c.Fault),
		app.If(c.Answer.report != nil, func() app.UI { return c.figures() }),
	)
}

// work says how far the answer is, and calls it off or begins it anew. It keeps its
// place when there is nothing to say.
func (c *answerBox) work() app.UI {
	class, text, label, act := "busy", "Calculating…", "Cancel", c.K.stop
	switch {
	case !c.Pending:
		class += " nothing"
	case c.Stopped:
		text, label, act = "Cancelled. What is grey is about other fields.", "Calculate", c.K.resume
	}
	return app.Div().Class(class).ID("busy").Body(
		app.Span().Text(text),
		app.Progress().Hidden(c.Stopped).Max(c.K.questions()).Value(c.Asked).Aria("label", "Progress of the calculation"),
		app.Button().Type("button").ID("calculate").Text(label).OnClick(func(app.Context, app.Event) { act() }, app.EventScope(label)),
	)
}

func (c *answerBox) figures() app.UI {
	a := &c.Answer
	r, s := a.report, a.setting
	low, high := bracket(float64(r.Low), float64(r.PLD))
	return app.Div().Class(widget.Stale("", c.Stale)).Body(
		app.Dl().Class("headline").Body(
			c.figure(solveEpsilon, "ε", words.Upper(float64(r.PLD), 4), "upper bound, PLD"),
			c.figure(solveNoise, "σ", words.Number(s.Sigma, 5), "noise_multiplier"),
			c.figure(solveRate, "q", words.Number(s.Rate, 4), c.batch(s)),
			c.figure(solveSteps, "T", words.Count(s.Steps), epochsText(s)),
			c.figure("", "δ", words.Upper(s.Delta, 2), "target_delta"),
		),
		app.P().Class("bracket").Body(
			app.Span().Text("The true ε lies between "),
			app.Strong().Text(low), app.Span().Text(" and "), app.Strong().Text(high),
			app.Span().Text(". RDP shows "), app.Strong().Text(words.Upper(float64(r.RDP), 4)),
			app.Span().Text(" (order "+words.Number(r.Order, 3)+"). "),
			app.Span().Class("badge badge-diagnostic").Text("approximation"),
			app.Span().Text(" GDP says "+words.Number(float64(r.GDP), 4)+", which is no bound."),
		),
		app.P().Class("warning").Hidden(r.Notice == "").Text(r.Notice),
		app.P().Class("meaning").Text(a.sentence()),
		app.P().Class(widget.Stale("meaning", c.Pending)).ID("attack").Text(attackText(a.attack)),
		app.P().Class(widget.Stale("meaning", c.Pending)).ID("group").Text(a.group.sentence()),
	)
}

// bracket writes both ends, away from each other, with as many digits as it takes
// for them to differ by little more than the truth does.
func bracket(low, high float64) (string, string) {
	digits := 4
	for digits < 8 && run.RoundUp(high, digits)-run.RoundDown(low, digits) > 2*(high-low) {
		digits++
	}
	return words.Lower(low, digits), words.Upper(high, digits)
}

func (c *answerBox) figure(what, symbol, value, name string) app.UI {
	class := ""
	if what == c.Solve {
		class = "solved"
	}
	return app.Div().Class(class).Body(app.Dt().Text(symbol), app.Dd().Class("figure").Text(value), app.Dd().Class("name").Text(name))
}

func (c *answerBox) batch(s setting) string {
	if c.Rows > 0 {
		return "about " + words.Number(s.Rate*c.Rows, 4) + " of " + words.Count(int(c.Rows)) + " rows"
	}
	return "sample_rate"
}

func epochsText(s setting) string {
	return "steps, " + words.Number(float64(s.Steps)*s.Rate, 3) + " epochs"
}

var (
	epsilonOverSteps = &chart.Spec{Kind: "lines", X: chart.Axis{Label: "step"}, Y: chart.Axis{Format: "bound"}, Mark: "vertical", MarkLabel: "T",
		Series: []chart.Line{{Label: "PLD", Ink: chart.Released, Width: 2}, {Label: "RDP", Ink: chart.Released, Width: 1}}}
	deltaOverEpsilon = &chart.Spec{Kind: "lines", X: chart.Axis{Label: "ε", Format: "bound"}, Y: chart.Axis{Log: true, Format: "bound"}, Mark: "vertical", MarkLabel: "ε",
		Series: []chart.Line{{Label: "δ", Ink: chart.Released, Width: 2}}}
)

// lineChart is a chart of nobody's data, so without a badge.
type lineChart struct {
	app.Compo
	ID, Title, Empty string
	Spec             *chart.Spec
	Feed             *chart.Feed
	Blank, Pending   bool
}

func (c *lineChart) CompoID() string { return c.ID }

func (c *lineChart) Render() app.UI {
	return app.Section().Class(widget.Stale("panel", c.Pending)).ID("panel-"+c.ID).Aria("label", c.Title).Body(
		app.Div().Class("figure-box").Body(
			app.Div().Class("figure-head").Body(app.H2().Text(c.Title)),
			app.Div().Class("plot-box").Body(
				&chart.Plot{Spec: c.Spec, Feed: c.Feed, Label: c.Title},
				app.P().Class("empty").Hidden(!c.Blank).Text(c.Empty),
			),
		),
	)
}

// tuningTable compares the ways of paying for several runs.
type tuningTable struct {
	app.Compo
	Costs   *run.TuningReply
	Pending bool
}

type way struct{ key, name, how string }

var ways = []way{
	{"composition_pld", "Publish every run", "composed by PLD; a grid that is walked once"},
	{"composition_rdp", "Publish every run, RDP", "composed by RDP, as papers do"},
	{"liu_talwar", "Random stopping", "Liu & Talwar 2019, as in DC-SGD’s Theorem 1"},
	{"repeat_geometric", "Repeat and select, geometric", "a random number of runs, only the best published (Papernot & Steinke 2022)"},
	{"repeat_logarithmic", "Repeat and select, logarithmic", "as above"},
	{"repeat_poisson", "Repeat and select, Poisson", "as above; there may be no run at all"},
}

func (t *tuningTable) Render() app.UI {
	return app.Section().Class(widget.Stale("tuning", t.Pending)).ID("tuning").Aria("label", "The cost of tuning").Body(
		app.H2().Text("The cost of tuning"),
		app.If(t.Costs == nil, func() app.UI {
			return app.P().Class("help").Text("What it costs to try several configurations on the same rows.")
		}).
			Else(func() app.UI { return t.table() }),
	)
}

func (t *tuningTable) table() app.UI {
	c := t.Costs
	return app.Div().Body(
		app.P().Class("help").Text(t.sentence()),
		app.Table().Body(
			app.THead().Body(app.Tr().Body(app.Th().Scope("col").Text("Way"), app.Th().Scope("col").Text("ε"), app.Th().Scope("col").Text("What happens"))),
			app.TBody().Body(app.Range(ways).Slice(func(i int) app.UI {
				w := ways[i]
				class := ""
				if w.key == c.Cheapest {
					class = "cheapest"
				}
				return app.Tr().Class(class).Body(
					app.Th().Scope("row").Body(app.Text(w.name), app.If(w.key == c.Cheapest, func() app.UI { return app.Span().Class("badge badge-released").Text("cheapest") })),
					app.Td().Class("figure").Text(words.Upper(float64(c.Of(w.key)), 4)),
					app.Td().Text(w.how),
				)
			})),
		),
	)
}

func (t *tuningTable) sentence() string {
	c := t.Costs
	for _, w := range ways {
		if w.key != c.Cheapest {
			continue
		}
		s := fmt.Sprintf("%s on the same rows: the cheapest way is “%s”, ε = %s.", words.Plural(c.Runs, "run"), strings.ToLower(w.name[:1])+w.name[1:], words.Upper(float64(c.Of(w.key)), 4))
		if strings.HasPrefix(w.key, "repeat_") || w.key == "liu_talwar" {
			s += fmt.Sprintf(" It draws the number of runs at random, %s on average, and each configuration at random; it does not hold for a grid that is walked once.", words.Count(c.Runs))
		}
		if c.Runs > 1 {
			s += " A threshold that moves by itself, such as dc-e’s, is run once and spares the search."
		}
		return s
	}
	return ""
}
