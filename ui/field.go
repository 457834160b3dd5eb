package ui

import (
	"cmp"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Editor is where a card's events go.
type Editor interface {
	// Set puts what was typed or chosen into a field of the configuration.
	Set(key, text string)
	// Settle says that typing in the field has ended.
	Settle(key string)
	// Open opens a card, and closes it when it is open.
	Open(card string)
}

// Form is the experiment as the cards show it. It is replaced, not changed,
// when anything in it changes.
type Form struct {
	Config   run.Config        // as it was set: a zero field has its default
	Full     run.Config        // with the defaults filled in
	Drafts   map[string]string // what stands in fields that are being typed in
	Faults   map[string]string // what is wrong, by key
	Warnings map[string]string // what should be known, by key
	Plan     *run.PlanInfo     // what the run will cost; nil when not known
	Planning bool
	Opened   string // the card that is open
	Epoch    int    // counts replacements of the whole configuration
	Editor   Editor
}

// text is what stands in a field: what is being typed, what was set, or the
// default.
func (f *Form) text(key string) string {
	if draft, ok := f.Drafts[key]; ok {
		return draft
	}
	return form.Get(&f.Full, key)
}

func (f *Form) faulty(keys ...string) bool {
	for _, k := range keys {
		if f.Faults[k] != "" {
			return true
		}
	}
	return false
}

// field is one labelled control.
type field struct {
	key    string
	label  string
	unit   string
	help   string
	preset string // the default, where the configuration has none of its own
}

func (d field) id() string { return "f-" + strings.ReplaceAll(d.key, ".", "-") }

// wrap puts label, name, help and messages around a control.
func (d field) wrap(f *Form, control app.UI) app.UI {
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(
			app.Label().For(d.id()).Text(d.label),
			app.Code().Class("name").Text(d.key),
		),
		app.Div().Class("field-control").Body(
			control,
			app.If(d.unit != "", func() app.UI { return app.Span().Class("unit").Text(d.unit) }),
		),
		message(d.id()+"-fault", "fault", f.Faults[d.key]),
		message(d.id()+"-warning", "warning", f.Warnings[d.key]),
		app.If(d.help != "", func() app.UI { return app.P().Class("help").ID(d.id() + "-help").Text(d.help) }),
	)
}

// message is a line under a control. The element is always there, so that a
// screen reader hears it change.
func message(id, class, text string) app.UI {
	return app.P().ID(id).Class(class).Role("status").Hidden(text == "").Text(text)
}

func (d field) described() string {
	return d.id() + "-fault " + d.id() + "-warning " + d.id() + "-help"
}

// number is a field for numbers, or other short text. It is a text input: a
// number input hides from the page what it cannot read.
func (d field) number(f *Form) app.UI {
	text := f.text(d.key)
	if _, typing := f.Drafts[d.key]; text == "" && !typing {
		text = d.preset
	}
	key, ed := d.key, f.Editor
	input := app.Input().Type("text").ID(d.id()).Class("number").
		Attr("inputmode", "text").AutoComplete(false).Spellcheck(false).
		Placeholder(d.preset).Value(text).
		Aria("describedby", d.described()).Aria("invalid", boolText(f.Faults[d.key] != "")).
		OnInput(func(ctx app.Context, _ app.Event) { ed.Set(key, ctx.JSSrc().Get("value").String()) }, app.EventScope(key)).
		OnChange(func(app.Context, app.Event) { ed.Settle(key) }, app.EventScope(key))
	return d.wrap(f, input)
}

// tick is a field that is on or off.
func (d field) tick(f *Form) app.UI {
	key, ed := d.key, f.Editor
	box := app.Input().Type("checkbox").ID(d.id()).Checked(f.text(key) == "true").Aria("describedby", d.described()).
		OnChange(func(ctx app.Context, _ app.Event) {
			ed.Set(key, boolText(ctx.JSSrc().Get("checked").Bool()))
			ed.Settle(key)
		}, app.EventScope(key))
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(
			app.Label().Class("tick").For(d.id()).Body(box, app.Span().Text(d.label)),
			app.Code().Class("name").Text(d.key),
		),
		message(d.id()+"-fault", "fault", f.Faults[d.key]),
		message(d.id()+"-warning", "warning", f.Warnings[d.key]),
		app.P().Class("help").ID(d.id()+"-help").Text(d.help),
	)
}

// option is one choice of a menu.
type option struct{ value, text string }

// choice is a menu.
func (d field) choice(f *Form, options []option) app.UI {
	return d.chosen(f, f.text(d.key), options)
}

// chosen is a menu that shows now, which the form may not hold.
func (d field) chosen(f *Form, now string, options []option) app.UI {
	return d.wrap(f, d.menu(now, options, f.Editor).Aria("describedby", d.described()))
}

func (d field) menu(now string, options []option, ed Editor) app.HTMLSelect {
	key := d.key
	return app.Select().ID(d.id()).
		OnChange(func(ctx app.Context, _ app.Event) {
			ed.Set(key, strings.TrimPrefix(ctx.JSSrc().Get("value").String(), noChoice))
			ed.Settle(key)
		}, app.EventScope(key)).
		Body(app.Range(options).Slice(func(i int) app.UI {
			o := options[i]
			return app.Option().Value(cmp.Or(o.value, noChoice)).Text(o.text).Selected(o.value == now)
		}))
}

// noChoice is the value of the option that stands for the default: go-app
// leaves an empty value out, and then the browser takes the option's text.
const noChoice = "-"

// segments is a small set of exclusive choices that are all in sight.
func segments(key, legend, now string, options []option, ed Editor) app.UI {
	return app.FieldSet().Class("segments").Body(
		app.Legend().Text(legend),
		app.Div().Class("segments-row").Body(app.Range(options).Slice(func(i int) app.UI {
			o := options[i]
			id := "s-" + key + "-" + o.value
			return app.Span().Class("segment").Body(
				app.Input().Type("radio").ID(id).Name("s-"+key).Value(o.value).Checked(o.value == now).
					OnChange(func(app.Context, app.Event) { ed.Set(key, o.value) }, app.EventScope(key, o.value)),
				app.Label().For(id).Text(o.text),
			)
		})),
	)
}

// advanced folds away what most people leave alone.
func advanced(body ...app.UI) app.UI {
	return app.Details().Class("advanced").Body(
		app.Summary().Text("Advanced"),
		app.Div().Class("advanced-body").Body(body...),
	)
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
