// Package check shows the Check page, which works out the ε of a saved file again. The
// page says what agrees, what differs and what cannot be checked.
package check

import (
	"errors"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Client is the page's way to the accountants.
type Client interface {
	Ready(func(error))
	// Check checks a file, and returns what cancels that.
	Check(file app.Value, done func(run.Verdict, error)) (cancel func())
}

// Check is the file that is checked. It outlives the page that shows it. Everything in it
// happens on the page's one thread.
type Check struct {
	client  Client
	changed func()

	reading string // the name of the file that is checked
	tries   int
	cancel  func()
	fault   string
	verdict *run.Verdict
}

// New returns the page's state before a file has been chosen.
func New(c Client) *Check { return &Check{client: c, changed: func() {}} }

// Open checks a file. The last verdict goes, so that it is not taken for this file's.
func (c *Check) Open(file app.Value) {
	if file == nil || !file.Truthy() {
		return
	}
	c.stop()
	mine := c.tries
	c.reading, c.fault, c.verdict = file.Get("name").String(), "", nil
	c.changed()
	c.client.Ready(func(err error) {
		if err != nil || mine != c.tries {
			c.settle(mine, run.Verdict{}, err)
			return
		}
		c.cancel = c.client.Check(file, func(v run.Verdict, err error) { c.settle(mine, v, err) })
	})
}

func (c *Check) settle(try int, v run.Verdict, err error) {
	if try != c.tries {
		return
	}
	c.reading, c.cancel = "", nil
	switch {
	case err == nil:
		c.verdict = &v
	case !errors.Is(err, client.ErrAborted):
		c.fault = err.Error()
	}
	c.changed()
}

// stop ends the check under way.
func (c *Check) stop() {
	c.tries++
	if c.cancel != nil {
		c.cancel()
	}
	c.reading, c.cancel = "", nil
}

// Page shows a check.
type Page struct {
	app.Compo
	Around widget.Around
	Check  *Check
}

func (p *Page) OnMount(ctx app.Context) {
	p.Check.changed = func() { ctx.Dispatch(nil) }
	p.Around.Show(p.Check.changed)
	p.open(browser.Early().Call("take"))
}

func (p *Page) OnDismount() {
	p.Check.changed = func() {}
	p.Around.Hide()
}

// open checks the first of some files.
func (p *Page) open(list app.Value) {
	if list != nil && list.Truthy() && list.Length() > 0 {
		p.Check.Open(list.Index(0))
	}
}

func (p *Page) Render() app.UI {
	c := p.Check
	return app.Div().Class("page").OnDrop(func(_ app.Context, e app.Event) {
		e.PreventDefault()
		p.open(e.Get("dataTransfer").Get("files"))
	}).Body(
		&widget.Header{Page: "check", Sent: p.Around.Sent()},
		app.Main().Class("bench use").Body(
			app.Div().Class("experiment").Role("region").Aria("label", "File").Body(
				app.H1().Text("Check a file"),
				p.chooser(),
				c.readingView(),
				widget.Message("check-fault", "fault", c.fault),
				app.P().Class("help").Text("A file’s ε is worked out again, here, from the events that the file lists. It stays on this device."),
			),
			app.Div().Class("stage").Body(c.view()),
		),
	)
}

func (p *Page) chooser() app.UI {
	return app.Div().Class("drop").Body(
		app.Label().Class("button").For("check-file").Text("Choose a file"),
		app.Input().Type("file").ID("check-file").Class("visually-hidden").Aria("describedby", "check-file-help").
			OnChange(func(ctx app.Context, _ app.Event) {
				list := app.Window().Get("Array").Call("from", ctx.JSSrc().Get("files"))
				ctx.JSSrc().Set("value", "") // so that the same can be chosen again
				p.open(list)
			}),
		app.P().ID("check-file-help").Class("help").Text("or drop it on the page: a model (zip, JSON, safetensors), a run (JSON, CSV), a privacy statement (text, JSON) or a ledger, of any version."),
	)
}

func (c *Check) readingView() app.UI {
	return app.Div().Class("loading").Hidden(c.reading == "").Body(
		app.P().Text("Checking "+data.Shown(c.reading)+"…"),
		app.Progress().Aria("label", "Checking the file"),
		app.Button().Type("button").Text("Cancel").OnClick(func(app.Context, app.Event) {
			c.stop()
			c.changed()
			browser.Focus("check-file")
		}),
	)
}

func (c *Check) view() app.UI {
	if c.verdict == nil {
		return app.Section().Class("use-part use-none").ID("none").Body(
			app.P().Text("Somebody gave you a model or a statement and says “ε = 1”? Open it here. The page works ε out again and shows what agrees, what differs and what no file can show."),
		)
	}
	return verdictView(c.verdict)
}

// headings are the verdicts as a person reads them.
var headings = map[string]string{run.Agrees: "The figures agree", run.Differs: "The figures differ", run.Unchecked: "ε cannot be checked"}

// verdictView shows what a check found.
func verdictView(v *run.Verdict) app.UI {
	kind := v.Kind
	if v.Program != "" {
		kind += ", by " + v.Program + " according to the file"
	}
	heading := headings[v.Verdict]
	if v.Verdict == run.Unchecked && v.Kind == "ledger" {
		heading = "There is no total to compare"
	}
	return app.Section().Class("use-part checked").ID("verdict").Aria("label", "Verdict").Body(
		app.H2().Text(heading),
		app.P().Class("verdict-file").Text(data.Shown(v.File+": "+kind)+"."),
		app.P().ID("verdict-text").Class(map[string]string{run.Agrees: "verdict-text", run.Differs: "fault", run.Unchecked: "warning"}[v.Verdict]).Role("status").Text(v.Text),
		app.If(len(v.Findings) > 0, func() app.UI { return findingsView(v.Findings) }),
		app.If(len(v.Unknown) > 0, func() app.UI {
			return app.Div().Class("unknown").Body(
				app.H3().Text("What no check of a file shows"),
				app.Ul().Body(app.Range(v.Unknown).Slice(func(i int) app.UI { return app.Li().Text(v.Unknown[i]) })),
			)
		}),
	)
}

func findingsView(list []run.Finding) app.UI {
	return app.Div().Class("findings").TabIndex(0).Role("region").Aria("label", "Claims").Body(app.Table().Body(
		app.THead().Body(app.Tr().Body(
			app.Th().Scope("col").Text("claim"), app.Th().Scope("col").Text("the file says"), app.Th().Scope("col").Text("compared with"), app.Th().Scope("col").Text("verdict"),
		)),
		app.TBody().Body(app.Range(list).Slice(func(i int) app.UI {
			f := list[i]
			return app.Tr().Class("finding "+map[string]string{run.Agrees: "agrees", run.Differs: "differs", run.Unchecked: "unchecked"}[f.Verdict]).Body(
				app.Th().Scope("row").Text(f.Claim),
				app.Td().Text(data.Shown(f.File)),
				app.Td().Text(f.Recomputed),
				app.Td().Body(app.Strong().Text(f.Verdict), app.If(f.Why != "", func() app.UI { return app.Span().Text(": " + f.Why + ".") })),
			)
		})),
	))
}
