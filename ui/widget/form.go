// Package widget draws the parts of every page: fields of a configuration, cards, buttons,
// messages, the header. Widgets are given plain values and small interfaces to which they
// send their events; they know of no run and no trainer.
package widget

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Editor receives the events of fields and cards.
type Editor interface {
	// Set puts what was typed or chosen into a field of the configuration.
	Set(key, text string)
	// Settle says that typing in the field has ended.
	Settle(key string)
	// Open opens a card, and closes it when it is open.
	Open(card form.Card)
}

// Form is a configuration as fields and cards show it. It is replaced, not
// changed, when anything in it changes.
type Form struct {
	Config   run.Config        // as it was set: a zero field has its default
	Full     run.Config        // with the defaults filled in
	Facts    run.Facts         // of the data, from which some of them follow
	Drafts   map[string]string // what stands in fields that are being typed in
	Faults   map[string]string // what is wrong, by key
	Warnings map[string]string // what should be known, by key
	Notes    map[string]bool   // keys of Warnings that ask for nothing
	Next     []form.Card       // whose settings are not those of the run that is shown
	Opened   form.Card         // the card that is open
	Epoch    int               // counts replacements of the whole configuration
	Pending  bool              // what the planner says belongs to other settings than these
	Reading  bool              // other data is being read, which settings may follow from
	Editor   Editor
}

// Text returns the text in a field: what is being typed, what was set, or the
// default.
func (f *Form) Text(key string) string {
	if draft, ok := f.Drafts[key]; ok {
		return draft
	}
	return form.Get(&f.Full, key)
}

// faulty reports whether something on a card is wrong.
func (f *Form) faulty(card form.Card) bool {
	for key, text := range f.Faults {
		if text != "" && form.Find(key).Card == card {
			return true
		}
	}
	return false
}

// Plain are the controls of rows but the advanced ones and those that a card draws
// itself. Those that have no meaning now are hidden.
func (f *Form) Plain(rows []form.Field) []app.UI { return f.grouped(rows, false) }

// Advanced folds away the advanced ones of rows.
func (f *Form) Advanced(rows []form.Field) app.UI {
	d := app.Details().Class("advanced")
	if i := slices.IndexFunc(rows, func(d form.Field) bool { return d.Advanced && !d.Own }); i >= 0 {
		d = d.ID("advanced-" + id(rows[i]))
	}
	return d.Body(
		app.Summary().Text("Advanced"),
		app.Div().Class("advanced-body").Body(f.grouped(rows, true)...),
	)
}

func (f *Form) grouped(rows []form.Field, advanced bool) []app.UI {
	var list []app.UI
	rows = slices.DeleteFunc(slices.Clone(rows), func(d form.Field) bool { return d.Own || d.Advanced != advanced })
	for len(rows) > 0 {
		d, n := rows[0], 1
		for d.Pair && n < len(rows) && rows[n].Pair {
			n++
		}
		switch {
		case d.Pair:
			list = append(list, app.Div().Class("pair").Hidden(!f.on(d)).Body(f.all(rows[:n])...))
		case d.When != nil:
			list = append(list, app.Div().Hidden(!f.on(d)).Body(f.Field(d)))
		default:
			list = append(list, f.Field(d))
		}
		if d.Kind == form.Segments && d.Now == nil {
			list = append(list, f.under(d)...)
		}
		rows = rows[n:]
	}
	return list
}

func (f *Form) on(d form.Field) bool { return d.When == nil || d.When(&f.Full) }

func (f *Form) all(rows []form.Field) []app.UI {
	list := make([]app.UI, len(rows))
	for i, d := range rows {
		list[i] = f.Field(d)
	}
	return list
}

// Field is the control of one row, with its label, help and messages.
func (f *Form) Field(d form.Field) app.UI {
	now := f.Text(d.Key)
	if d.Now != nil {
		now = d.Now(&f.Full)
	}
	switch d.Kind {
	case form.Menu:
		return f.Menu(d, now)
	case form.Segments:
		return Segments(d.Key, d.Label, now, d.Options, f.Editor)
	case form.Tick:
		return f.tick(d)
	case form.Notice:
		return app.Div().Class("field").Body(app.P().Class("warning").Text(d.Help))
	default:
		return f.input(d)
	}
}

func id(d form.Field) string { return "f-" + strings.ReplaceAll(d.Key, ".", "-") }

// wrap puts label, name, help and messages around a control.
func (f *Form) wrap(d form.Field, control app.UI, help string) app.UI {
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(
			app.Label().For(id(d)).Text(d.Label),
			app.Code().Class("name").Attr("translate", "no").Text(d.Key),
		),
		app.Div().Class("field-control").Body(
			control,
			app.If(d.Unit != "", func() app.UI { return app.Span().Class("unit").Text(d.Unit) }),
		),
		f.fault(d),
		f.warning(d),
		app.If(help != "" || d.Follows, func() app.UI {
			follows := app.Span().Class("follows").Hidden(!f.follows(d)).Text("Follows from your data and ε. ")
			return app.P().Class("help").ID(id(d)+"-help").Body(follows, app.Text(help))
		}),
	)
}

// follows reports whether what a field shows was worked out from the data.
func (f *Form) follows(d form.Field) bool {
	if _, draft := f.Drafts[d.Key]; draft || !d.Follows || form.Get(&f.Config, d.Key) != "" {
		return false
	}
	constant := f.Config.WithDefaults()
	return form.Get(&f.Full, d.Key) != form.Get(&constant, d.Key)
}

// fault draws the message of a field at fault. A field that is being typed in has its own fault, at
// once; all others are the planner's.
func (f *Form) fault(d form.Field) app.UI {
	text := f.Faults[d.Key]
	_, typed := f.Drafts[d.Key]
	return Message(id(d)+"-fault", Stale("fault", f.Pending && !typed && text != ""), text)
}

// warning draws the warning of the planner about a field.
func (f *Form) warning(d form.Field) app.UI {
	text := f.Warnings[d.Key]
	class := "warning"
	if f.Notes[d.Key] {
		class = "note"
	}
	return Message(id(d)+"-warning", Stale(class, f.Pending && text != ""), text)
}

// Stale is a class, and greys what has it where that belongs to other settings than those
// that are shown.
func Stale(class string, is bool) string {
	if is {
		class += " stale"
	}
	return class
}

// Message is a line under a control. The element is always there, so that a
// screen reader hears it change.
func Message(id, class, text string) app.UI {
	return app.P().ID(id).Class(class).Role("status").Hidden(text == "").Text(text)
}

func described(d form.Field) string {
	return id(d) + "-fault " + id(d) + "-warning " + id(d) + "-help"
}

// input is for numbers, or other short text. It is a text input: a number input
// hides from the page what it cannot read.
func (f *Form) input(d form.Field) app.UI {
	text := f.Text(d.Key)
	if _, typing := f.Drafts[d.Key]; text == "" && !typing {
		text = d.Preset
	}
	return f.wrap(d, f.Input(d, text).Aria("describedby", described(d)), d.Help)
}

// Input is an input without anything around it.
func (f *Form) Input(d form.Field, text string) app.HTMLInput {
	key, ed := d.Key, f.Editor
	return app.Input().Type("text").ID(id(d)).Class("number").
		Attr("inputmode", "text").AutoComplete(false).Spellcheck(false).
		Placeholder(d.Preset).Value(text).Aria("invalid", strconv.FormatBool(f.Faults[key] != "")).
		OnInput(func(ctx app.Context, _ app.Event) { ed.Set(key, ctx.JSSrc().Get("value").String()) }, app.EventScope(key)).
		OnChange(func(app.Context, app.Event) { ed.Settle(key) }, app.EventScope(key))
}

// tick is a field that is on or off.
func (f *Form) tick(d form.Field) app.UI {
	key, ed := d.Key, f.Editor
	box := app.Input().Type("checkbox").ID(id(d)).Checked(f.Text(key) == "true").Aria("describedby", described(d)).
		OnChange(func(ctx app.Context, _ app.Event) {
			ed.Set(key, strconv.FormatBool(ctx.JSSrc().Get("checked").Bool()))
			ed.Settle(key)
		}, app.EventScope(key))
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(
			app.Label().Class("tick").For(id(d)).Body(box, app.Span().Text(d.Label)),
			app.Code().Class("name").Attr("translate", "no").Text(key),
		),
		f.fault(d),
		f.warning(d),
		app.P().Class("help").ID(id(d)+"-help").Text(d.Help),
	)
}

// Menu is a menu that shows now, which the form may not hold.
func (f *Form) Menu(d form.Field, now string) app.UI {
	return f.wrap(d, f.Select(d, now).Aria("describedby", described(d)), d.HelpAt(now))
}

// Select is a menu without anything around it.
func (f *Form) Select(d form.Field, now string) app.HTMLSelect {
	key, ed := d.Key, f.Editor
	return app.Select().ID(id(d)).
		OnChange(func(ctx app.Context, _ app.Event) {
			ed.Set(key, Chosen(ctx.JSSrc().Get("value").String()))
			ed.Settle(key)
		}, app.EventScope(key)).
		Body(app.Range(d.Options).Slice(func(i int) app.UI {
			o := d.Options[i]
			return app.Option().Value(cmp.Or(o.Value, NoChoice)).Text(o.Text).Selected(o.Value == now)
		}))
}

// NoChoice is the value of the option that stands for the default: go-app
// leaves an empty value out, and then the browser takes the option's text. No column and
// no category is called that, which "-" may be.
const NoChoice = " "

// Chosen returns the value that an option's value stands for: "" for [NoChoice].
func Chosen(value string) string {
	if value == NoChoice {
		return ""
	}
	return value
}

// under draws the help under segments, which nothing is put around.
func (f *Form) under(d form.Field) []app.UI {
	return []app.UI{
		f.fault(d),
		f.warning(d),
		app.P().Class("help").Text(d.HelpAt(f.Text(d.Key))),
	}
}

// Segments is a small set of exclusive choices that are all in sight.
func Segments(key, legend, now string, options []form.Option, ed Editor) app.UI {
	return app.FieldSet().Class("segments").Body(
		app.Legend().Text(legend),
		app.Div().Class("segments-row").Body(app.Range(options).Slice(func(i int) app.UI {
			o := options[i]
			id := "s-" + key + "-" + o.Value
			return app.Span().Class("segment").Body(
				app.Input().Type("radio").ID(id).Name("s-"+key).Value(o.Value).Checked(o.Value == now).
					OnChange(func(app.Context, app.Event) { ed.Set(key, o.Value) }, app.EventScope(key, o.Value)),
				app.Label().For(id).Text(o.Text),
			)
		})),
	)
}
