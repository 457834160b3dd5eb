package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/lesson"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

func (l *lanes) view() app.UI {
	return app.Section().Class("lab-lanes").ID("lanes").Aria("label", "Runs side by side").Body(
		app.Div().Class("figure-head").Body(
			app.H2().Text("Side by side"),
			app.Span().Class("muted").Text("the same data, first parameters, batches and noise; one thing differs"),
		),
		app.Div().Class("buttons").Body(
			app.Range(vary).Slice(func(i int) app.UI {
				v := vary[i]
				return l.button("vary-"+v.key, "Vary "+v.text, func() { l.vary(v.key, v.values) })
			}),
			l.button("lane-add", "Add the experiment above", l.add).Disabled(len(l.list) >= lesson.MostLanes),
			l.seedsView(),
		),
		widget.Message("lanes-fault", "fault", l.fault),
		app.If(len(l.list) > 0, func() app.UI { return l.runbar() }),
		app.If(len(l.list) > 0, l.steering),
		app.If(l.still(), func() app.UI { return l.replay.View() }),
		app.If(len(l.charts) > 0, func() app.UI {
			return app.Div().Class("overlays").ID("lanes-charts").Body(
				widget.Message("lanes-about", "note", claim(l.about)), // in what comes in sight
				app.Range(l.charts).Slice(func(i int) app.UI { return l.charts[i].View() }),
			)
		}),
		app.If(len(l.list)+len(l.kept) > 0, func() app.UI { return l.table() }),
		widget.Message("lanes-spent", "help", l.spent()),
		app.If(len(l.list) > 0, func() app.UI {
			return app.P().Class("help").Text("For teaching: the seed is known, so none of these runs carries a guarantee.")
		}),
	)
}

// button is one whose deeds depend on which lanes there are.
func (l *lanes) button(id, text string, f func()) app.HTMLButton {
	return l.heard(id, text, func(app.Context, app.Event) { f() })
}

// heard is one that hears a click by a handler of its own.
func (l *lanes) heard(id, text string, click app.EventHandler) app.HTMLButton {
	return app.Button().Type("button").ID(id).Text(text).OnClick(click, app.EventScope(id, strconv.Itoa(l.made)))
}

func (l *lanes) seedsView() app.UI {
	return app.Label().Class("tick").Body(
		app.Input().Type("checkbox").ID("lanes-seeds").Checked(l.seeds > 1).OnChange(func(ctx app.Context, _ app.Event) {
			l.seeds = 1
			if ctx.JSSrc().Get("checked").Bool() {
				l.seeds = manySeeds
			}
			l.lab.changed()
		}),
		app.Span().Text(fmt.Sprintf("%d seeds each", manySeeds)),
	)
}

// runbar starts and stops the lanes.
func (l *lanes) runbar() app.UI {
	q := &l.queue
	going := "Pause"
	if q.held {
		going = "Go on"
	}
	return app.Div().Class("buttons").Body(
		// Stop stands where Start does, so that the keyboard stays there.
		app.If(q.busy(), func() app.UI { return l.heard("lanes-stop", "Stop", firstClick(q.stop)) }).ElseIf(l.pending(), func() app.UI {
			return l.button("lanes-start", "Start", l.start).Class("primary")
		}).Else(func() app.UI {
			return l.button("lanes-again", "Run again", l.again)
		}),
		app.If(q.busy(), func() app.UI {
			return l.button("lanes-pause", going, func() {
				l.replay.Close()
				q.hold(!q.held)
			})
		}),
		app.If(q.held, func() app.UI {
			return l.button("lanes-step", "One step", func() {
				l.replay.Close()
				q.step()
			})
		}),
		app.If(l.still(), func() app.UI { return l.replay.Button() }),
	)
}

// field is a column of the table; falling: sorted by it, the greatest comes first.
type field struct {
	name, head string
	value      func(*outcome) float64
	text       func(*outcome) string
	falling    bool
}

// fields are the table's columns: of regression, the loss in the accuracy's place.
func (l *lanes) fields() []field {
	all := []field{{"accuracy", "test accuracy", func(o *outcome) float64 { return float64(o.Accuracy) }, accuracyText, true}}
	if len(l.charts) > 0 && l.charts[0].Title == "Test loss" {
		all = nil
	} else {
		all = append(all, field{"worst", "worst class", func(o *outcome) float64 { return o.worst }, worstText, true})
	}
	all = append(all,
		field{"loss", "test loss", func(o *outcome) float64 { return float64(o.Loss) }, func(o *outcome) string { return words.Number(float64(o.Loss), 3) }, false},
		field{"c", "C at the end", func(o *outcome) float64 { return float64(o.MaxGradNorm) }, func(o *outcome) string { return words.Number(float64(o.MaxGradNorm), 3) }, false},
		field{"clipped", "clipped at first, at the end", func(o *outcome) float64 { return float64(o.Clipped[1]) }, func(o *outcome) string {
			if math.IsNaN(float64(o.Clipped[0])) && math.IsNaN(float64(o.Clipped[1])) {
				return words.Missing
			}
			return words.Percent(float64(o.Clipped[0]), 0) + ", " + words.Percent(float64(o.Clipped[1]), 0)
		}, false})
	if slices.Contains([]string{"noise", "cosine", "seconds"}, l.watch) {
		head, cell := column(l.watch)
		value := map[string]func(*outcome) run.Number{
			"noise": func(o *outcome) run.Number { return o.Noise }, "cosine": func(o *outcome) run.Number { return o.Cosine }, "seconds": func(o *outcome) run.Number { return o.Time },
		}[l.watch]
		all = append(all, field{l.watch, head, func(o *outcome) float64 { return float64(value(o)) }, func(o *outcome) string { return cell(&o.Outcome) }, false})
	}
	return all
}

func accuracyText(o *outcome) string {
	text := words.Percent(float64(o.Accuracy), 1)
	if o.runs > 1 {
		text += " ± " + words.Number(100*o.spread, 2)
	}
	return text
}

// worstText names the class that is found least often: a mean over all rows hides it.
func worstText(o *outcome) string {
	if o.class == "" {
		return words.Missing
	}
	return o.class + ", " + words.Percent(o.worst, 0) + " found"
}

// row is a lane or a kept run in the table.
type row struct {
	*lane // nil of one that was kept
	look  chart.Lane
	out   outcome
}

// rows are those of the table in their order.
func (l *lanes) rows() []row {
	var all []row
	for _, one := range l.list {
		all = append(all, row{one, chart.Lane{Label: one.Label, Place: one.place}, one.outcome(l.first())})
	}
	for _, k := range l.kept {
		all = append(all, row{nil, chart.Lane{Label: k.label, Kept: true}, k.shown})
	}
	for _, f := range l.fields() {
		if f.name != l.sort {
			continue
		}
		slices.SortStableFunc(all, func(a, b row) int {
			x, y := f.value(&a.out), f.value(&b.out)
			if math.IsNaN(x) || math.IsNaN(y) { // what is not known yet comes last
				return cmp.Compare(btoi(math.IsNaN(x)), btoi(math.IsNaN(y)))
			}
			if f.falling {
				x, y = y, x
			}
			return cmp.Compare(x, y)
		})
	}
	return all
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *lanes) table() app.UI {
	fields, rows := l.fields(), l.rows()
	return app.Div().Class("lab-table").TabIndex(0).Role("region").Aria("label", "What came of the runs").Body(app.Table().ID("lanes-table").Body(
		app.THead().Body(app.Tr().Body(
			app.Th().Scope("col").Text("run"),
			app.Range(fields).Slice(func(i int) app.UI { return l.head(fields[i]) }),
			app.Th().Scope("col").Text("state"),
			app.Th().Scope("col").Body(app.Span().Class("visually-hidden").Text("what can be done with it")),
		)),
		app.TBody().Body(app.Range(rows).Slice(func(i int) app.UI { return l.rowView(rows[i], fields) })),
	))
}

func (l *lanes) head(f field) app.UI {
	order := "none"
	if l.sort == f.name {
		order = map[bool]string{true: "descending", false: "ascending"}[f.falling]
	}
	return app.Th().Scope("col").Aria("sort", order).Body(l.button("sort-"+f.name, f.head, func() {
		if l.sort == f.name {
			l.sort = ""
		} else {
			l.sort = f.name
		}
		l.lab.changed()
	}).Class("plain"))
}

func (l *lanes) rowView(r row, fields []field) app.UI {
	return app.Tr().Body(
		app.Th().Scope("row").Body(r.look.Glyph(), app.Text(r.look.Label)),
		app.Range(fields).Slice(func(i int) app.UI { return app.Td().Class("figure").Text(fields[i].text(&r.out)) }),
		app.Td().Text(r.out.state),
		app.Td().Class("buttons").Body(l.deeds(r)...),
	)
}

// deeds are what can be done with a row.
func (l *lanes) deeds(r row) []app.UI {
	var all []app.UI
	do := func(id, text string, f func()) {
		all = append(all, app.Button().Type("button").ID(id+"-"+r.look.Label).Text(text).Aria("label", text+": "+r.look.Label).
			OnClick(func(app.Context, app.Event) { f() }, app.EventScope(id, r.look.Label, strconv.Itoa(l.made))))
	}
	if r.out.link != "" {
		all = append(all, app.A().Href(widget.Link("/")+"#"+r.out.link).Aria("label", "Open in Train: "+r.look.Label).Text("Open in Train"))
	}
	if r.lane == nil {
		do("forget", "Remove", func() { l.forget(r.look.Label) })
		return all
	}
	if len(r.runs) > 0 {
		if r.runs[0].walk() != nil {
			do("walk", "C on the U", func() {
				l.lab.hands.path(r.look.Label, r.runs[0].walk())
				browser.Scroll("hands")
			})
		}
	}
	if len(l.kept) < mostKept && len(r.runs) > 0 && r.runs[0].result != nil {
		do("keep", "Keep", func() { l.keep(r.lane) })
	}
	do("remove", "Remove", func() { l.remove(r.lane) })
	return all
}
