package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// card is the seventh card: what several runs differ in.
func (w *sweep) card(f *widget.Form) app.UI {
	head := widget.Card{ID: form.Compare, Number: "7", Title: "Compare", Line: w.line()}
	if f.Opened != form.Compare {
		return head.View(f)
	}
	fields := w.fields()
	body := []app.UI{app.P().Class("help").Text("Several runs on this data, one after the other, set up as above but for what you vary here. All are kept, and a table has their results.")}
	for _, field := range fields {
		body = append(body, w.field(field))
	}
	return head.View(f, append(body, w.more(fields), w.repeatsField(), w.outlook(), w.startButton())...)
}

// line says what is set up.
func (w *sweep) line() string {
	var parts []string
	for _, f := range w.fields() {
		if n := len(w.values(f)); n > 1 {
			parts = append(parts, words.Count(n)+" × "+f.Key)
		}
	}
	if len(parts) == 0 {
		return "one setting"
	}
	return strings.Join(parts, ", ")
}

// field takes the values of a field: options to press, or text.
func (w *sweep) field(f form.Field) app.UI {
	id := "v-" + strings.ReplaceAll(f.Key, ".", "-")
	label, help := app.UI(app.Label().For(id).Text(f.Label)), ""
	var control app.UI
	if options := optionsOf(f); len(options) > 0 {
		now := w.values(f)
		label = app.Span().Text(f.Label)
		control = app.Div().Class("chips").Role("group").Aria("label", f.Label).Body(app.Range(options).Slice(func(i int) app.UI {
			o := options[i]
			return app.Button().Type("button").Class("chip").ID(id+"-"+o.Value).Title(o.Help).Aria("pressed", slices.Contains(now, o.Value)).
				OnClick(func(app.Context, app.Event) { w.toggle(f, o.Value) }, app.EventScope(f.Key, o.Value)).Text(o.Text)
		}))
	} else {
		help = "Several values, a semicolon between them."
		control = app.Input().Type("text").ID(id).Class("number").AutoComplete(false).Spellcheck(false).Value(cmp.Or(w.texts[f.Key], strings.Join(w.values(f), "; "))).
			OnInput(func(ctx app.Context, _ app.Event) { w.set(f.Key, ctx.JSSrc().Get("value").String()) }, app.EventScope(f.Key))
	}
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(
			label,
			app.Code().Class("name").Attr("translate", "no").Text(f.Key),
		),
		control,
		app.If(help != "", func() app.UI { return app.P().Class("help").Text(help) }),
		app.If(slices.Contains(w.added, f.Key), func() app.UI {
			return app.Button().Type("button").Class("plain vary-drop").ID("drop-"+f.Key).OnClick(func(app.Context, app.Event) { w.drop(f.Key) }, app.EventScope(f.Key)).Text("Do not vary " + f.Key)
		}),
	)
}

// optionsOf returns the options of a menu with names short enough to stand side by side. A method goes by its key.
func optionsOf(f form.Field) (list []form.Option) {
	if f.Kind == form.Tick {
		return []form.Option{{Value: "true", Text: "on"}, {Value: "false", Text: "off"}}
	}
	for _, o := range f.Options {
		if o.Help = cmp.Or(o.Help, o.Text); f.Key == "method" {
			o.Text, o.Help = o.Value, o.Text+": "+o.Help
		}
		if o.Value = cmp.Or(o.Value, usualValue); o.Value == usualValue || f.Key == "method" || len(o.Text) < mostOfChip {
			list = append(list, o)
			continue
		}
		o.Text = o.Value
		list = append(list, o)
	}
	return list
}

// mostOfChip limits the characters of an option's name.
const mostOfChip = 20

// more offers the other fields.
func (w *sweep) more(shown []form.Field) app.UI {
	others := slices.DeleteFunc(w.offered(), func(f form.Field) bool {
		return slices.ContainsFunc(shown, func(s form.Field) bool { return s.Key == f.Key })
	})
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(app.Label().For("vary").Text("Vary another setting")),
		app.Select().ID("vary").OnChange(func(ctx app.Context, _ app.Event) {
			key := widget.Chosen(ctx.JSSrc().Get("value").String())
			ctx.JSSrc().Set("value", widget.NoChoice)
			if key != "" {
				w.add(key)
			}
		}).Body(
			app.Option().Value(widget.NoChoice).Text("choose").Selected(true),
			app.Range(others).Slice(func(i int) app.UI { return app.Option().Value(others[i].Key).Text(others[i].Label) }),
		),
	)
}

func (w *sweep) repeatsField() app.UI {
	help := "Each with fresh randomness, and each charged: the table has their mean and deviation."
	if seed := w.exp.cfg.Seed; seed != nil {
		help = fmt.Sprintf("With the seeds %d, %d, … For teaching: a fixed seed takes the guarantee. Empty the field Seed for fresh randomness.", *seed, *seed+1)
	}
	return app.Div().Class("field").Body(
		app.Div().Class("field-head").Body(app.Label().For("repeats").Text("Repeats of each")),
		app.Input().Type("text").ID("repeats").Class("number").Attr("inputmode", "numeric").AutoComplete(false).Value(w.repeats).Aria("describedby", "repeats-help sweep-fault").
			OnInput(func(ctx app.Context, _ app.Event) { w.repeat(ctx.JSSrc().Get("value").String()) }),
		app.P().Class("help").ID("repeats-help").Text(help),
	)
}

// outlook says what the runs come to.
func (w *sweep) outlook() app.UI {
	return app.Div().Class("sweep-outlook").Aria("live", "polite").Body(
		widget.Message("sweep-fault", "fault", w.fault),
		app.If(w.planning, func() app.UI { return app.P().Class("help").Text("Calculating…") }),
		app.If(w.plans != nil, func() app.UI {
			said := w.said()
			return app.Div().Body(app.Range(said).Slice(func(i int) app.UI {
				return app.P().ID("sweep-said-" + strconv.Itoa(i)).Class(said[i].class).Text(said[i].text)
			}))
		}),
	)
}

// sentence is a sentence, in the class of what it is.
type sentence struct{ class, text string }

// said says how many runs there are, what they cost and how long they take.
func (w *sweep) said() (all []sentence) {
	n, _ := w.count()
	able := w.able()
	counted := fmt.Sprintf("%s: %s, %s of each.", words.Plural(n*len(able), "run"), words.Plural(len(able), "setting"), words.Plural(n, "repeat"))
	if s := w.seconds(); s > 0 {
		counted += fmt.Sprintf(" About %s, as fast as the last run.", words.Duration(s))
	} else {
		counted += " The first run will tell how long they take."
	}
	all = append(all, sentence{"sweep-count", counted})
	for _, p := range w.plans {
		if p.plan == nil {
			all = append(all, sentence{"warning", "Left out: " + cmp.Or(p.label, "these settings") + ". " + p.why})
		}
	}
	switch least, most, private := spread(able); {
	case len(able) == 0:
	case !private:
		all = append(all, sentence{"warning", "Some of these runs carry no guarantee: they may tell anything about the data."})
	case least < most:
		all = append(all, sentence{"help", fmt.Sprintf("Each run costs ε = %s to %s by itself.", words.Epsilon(least), words.Epsilon(most))})
	default:
		all = append(all, sentence{"help", fmt.Sprintf("Each run costs ε = %s by itself.", words.Epsilon(most))})
	}
	return append(all, w.cost(n*len(able))...)
}

// cost says what all runs cost together.
func (w *sweep) cost(runs int) []sentence {
	t := w.total
	switch {
	case runs == 0:
		return nil
	case w.data.name != form.Files:
		return []sentence{{"help", "Built-in data are public: nothing is charged. On your own files the ledger would add all of them up."}}
	case t == nil || t.NextEpsilon == nil:
		return []sentence{{"help", "What they cost together is not known yet."}}
	}
	class, text := "sweep-cost", fmt.Sprintf("Together with what was spent, this data will have cost ε = %s (now %s, δ = %s). That covers publishing all runs. Choosing the best by its score is not covered.",
		words.Epsilon(float64(*t.NextEpsilon)), words.Epsilon(float64(t.Epsilon)), words.Upper(t.Delta, 2))
	if t.Limit != nil && *t.NextEpsilon > *t.Limit {
		class, text = "warning", text+" It is more than your limit of "+words.Epsilon(float64(*t.Limit))+": you will be asked."
	}
	return []sentence{{class, text}}
}

// spread returns the least and the largest ε of plans, and whether all are guaranteed.
func spread(plans []plannedRun) (least, most float64, private bool) {
	least, private = math.Inf(1), true
	for _, p := range plans {
		e := float64(p.plan.Epsilon)
		least, most, private = min(least, e), max(most, e), private && p.plan.Private
	}
	return least, most, private
}

func (w *sweep) startButton() app.UI {
	n, _ := w.count()
	runs, off := n*len(w.able()), w.off()
	text := "Start"
	if runs > 0 {
		text = "Start " + words.Plural(runs, "run")
	}
	return app.Div().Class("buttons").Body(
		app.Button().Type("button").ID("sweep-start").Class("primary").Disabled(runs == 0 || off != "").Aria("describedby", "sweep-off").Text(text).
			OnClick(widget.Then("sweep", w.start)),
		widget.Message("sweep-off", "help", off),
	)
}

// off says why no runs can be started now; empty: they can.
func (w *sweep) off() string {
	switch {
	case w.data.lack() != "":
		return "There is no data to train on yet."
	case len(w.exp.faults) > 0:
		return "A field needs attention."
	case w.trials.together.several():
		return "Runs of several parties are started one by one."
	case w.busy() || w.trials.last.phase.active():
		return "A run is under way."
	}
	return ""
}

// view says how far the runs are, above the charts.
func (w *sweep) view() app.UI {
	var failed []*sweptRun
	for _, r := range w.runs {
		if r.fault != "" {
			failed = append(failed, r)
		}
	}
	if plain := w.ending == "" && len(failed) == 0; len(w.runs) == 0 || plain && !w.busy() { // then the table says all
		return app.Div().ID("sweep").Hidden(true)
	}
	return app.Section().Class("sweep").ID("sweep").TabIndex(-1).Aria("label", "Runs compared").Body(
		app.P().ID("sweep-progress").Role("status").Text(w.progress(len(failed))),
		app.Div().Class("buttons").Body(
			app.If(w.busy(), func() app.UI {
				return app.Button().Type("button").ID("sweep-stop").Text("Stop all").Title("Stop this run, and begin no other").OnClick(func(app.Context, app.Event) { w.stop() })
			}).Else(func() app.UI {
				return app.Button().Type("button").ID("sweep-dismiss").Text("Close").OnClick(widget.Then("act-start", w.dismiss))
			}),
		),
		app.If(len(failed) > 0, func() app.UI {
			return app.Ul().ID("sweep-failed").Body(app.Range(failed).Slice(func(i int) app.UI {
				r := failed[i]
				return app.Li().Text(strings.TrimPrefix(r.label+": ", ": ") + words.Brief(r.fault, mostOfFault))
			}))
		}),
	)
}

// progress says how far the runs are.
func (w *sweep) progress(failed int) string {
	done, of := w.done(), len(w.runs)
	if w.busy() {
		r := w.runs[done]
		text := fmt.Sprintf("Run %d of %d", done+1, of)
		if r.label != "" {
			text += " (" + r.label + ")"
		}
		if left := w.left(); left > 0 {
			text += ", about " + words.Duration(left) + " left"
		}
		return text + "."
	}
	text := fmt.Sprintf("%s of %d have ended", words.Plural(done, "run"), of)
	if failed > 0 {
		text += fmt.Sprintf(", %d of them early", failed)
	}
	return strings.TrimSpace(text + ". " + w.ending)
}
