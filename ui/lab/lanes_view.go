package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/lesson"
	"clipscope/ui/motion"
	"clipscope/ui/series"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// lanesView is the runs side by side: their buttons, charts and table.
type lanesView struct{ section }

// variations is the choices that fill the lanes: a field and its values.
var variations = []struct{ key, text, values string }{
	{"max_grad_norm", "C", "0.1,0.3,1,3,10,30"},
	{"target_epsilon", "ε", "0.5,2,8,inf"},
	{"method", "method", "constant,auto-s,psac,quantile,dc-p,dc-e"},
	{"expected_batch_size", "B", "64,256,512,1024"},
}

func (v *lanesView) view() app.UI {
	return app.Section().Class("lab-lanes").ID("lanes").Aria("label", "Runs side by side").Body(
		app.Div().Class("figure-head").Body(
			app.H2().Text("Side by side"),
			app.Span().Class("muted").Text("the same data, first parameters, batches and noise; one thing differs"),
		),
		app.Div().Class("buttons").Body(
			app.Range(variations).Slice(func(i int) app.UI {
				a := variations[i]
				return v.button("vary-"+a.key, "Vary "+a.text, vary{a.key, a.values})
			}),
			v.button("lane-add", "Add the experiment above", addLane{}).Disabled(len(v.lanes.list) >= lesson.MostLanes),
			v.tick("lanes-seeds", fmt.Sprintf("%d seeds each", manySeeds), v.lanes.seeds > 1, false, func(on bool) command { return seedLanes{on} }),
		),
		widget.Message("lanes-fault", "fault", v.lanes.fault),
		app.If(len(v.lanes.list) > 0, func() app.UI { return v.runbar() }),
		app.If(len(v.lanes.list) > 0, v.steering),
		app.If(v.lanes.still(), func() app.UI { return v.lanes.replay.View() }),
		app.If(len(v.lanes.charts) > 0, func() app.UI {
			return app.Div().Class("overlays").ID("lanes-charts").Body(
				widget.Message("lanes-about", "note", claim(v.lanes.about)), // in what comes in sight
				app.Range(v.lanes.charts).Slice(func(i int) app.UI { return v.lanes.charts[i].View() }),
			)
		}),
		app.If(len(v.lanes.list)+len(v.lanes.earlier) > 0, func() app.UI { return v.table() }),
		widget.Message("lanes-spent", "help", v.lanes.spent()),
		app.If(len(v.lanes.list) > 0, func() app.UI {
			return app.P().Class("help").Text("For teaching: the seed is known, so none of these runs carries a guarantee.")
		}),
	)
}

// button is a button whose command depends on which lanes there are.
func (v *lanesView) button(id, text string, c command) app.HTMLButton {
	return v.press(id, text, c, v.lanes.sets)
}

// runbar starts and stops the lanes.
func (v *lanesView) runbar() app.UI {
	q := &v.lanes.jobs
	going := "Pause"
	if q.paused {
		going = "Go on"
	}
	return app.Div().Class("buttons").Body(
		// Stop stands where Start does, so that the keyboard stays there.
		app.If(q.busy(), func() app.UI { return v.pressOnce("lanes-stop", "Stop", stopLanes{}) }).
			ElseIf(v.lanes.pending(), func() app.UI { return v.button("lanes-start", "Start", startLanes{}).Class("primary") }).
			Else(func() app.UI { return v.button("lanes-again", "Run again", rerunLanes{}) }),
		app.If(q.busy(), func() app.UI { return v.button("lanes-pause", going, pauseLanes{}) }),
		app.If(q.paused, func() app.UI { return v.button("lanes-step", "One step", stepLanes{}) }),
		app.If(v.lanes.still(), func() app.UI { return v.lanes.replay.Button() }),
	)
}

// steering sets the speed of the lanes and, while they go on, changes them or one of them.
func (v *lanesView) steering() app.UI {
	var records []*series.Record
	for _, a := range v.lanes.steered() {
		records = append(records, a.record)
	}
	return app.Div().Class("lab-steer").Body(
		app.If(records != nil, v.targets),
		motion.Steering{Name: "lanes-steer", Records: records, Speed: v.lanes.jobs.speed, Fault: v.lanes.refuse, To: v}.View(),
	)
}

// targets chooses which of the runs is changed.
func (v *lanesView) targets() app.UI {
	return app.Select().ID("lanes-target").Aria("label", "Which of the runs is changed").OnChange(func(ctx app.Context, _ app.Event) {
		v.send(steerLane{widget.Chosen(ctx.JSSrc().Get("value").String())})
	}).Body(
		app.Option().Value(widget.NoChoice).Text("all that train now").Selected(v.lanes.target == ""),
		app.Range(v.lanes.list).Slice(func(i int) app.UI {
			return app.Option().Value(v.lanes.list[i].Label).Text(v.lanes.list[i].Label).Selected(v.lanes.target == v.lanes.list[i].Label)
		}),
	)
}

// Pace sets the speed of all runs.
func (v *lanesView) Pace(perSecond float64) { v.send(paceLanes{perSecond}) }

// Change changes the runs that are steered.
func (v *lanesView) Change(c run.Change) { v.send(changeRuns{c}) }

// Fault says why nothing was changed.
func (v *lanesView) Fault(why string) { v.send(refuse{why}) }

// field is a column of the table; falling: sorted by it, the greatest comes first.
type field struct {
	name, head string
	value      func(*outcome) float64
	text       func(*outcome) string
	falling    bool
}

// fields returns the table's columns: of regression, the loss in the accuracy's place.
func (v *lanesView) fields() []field {
	head := "test accuracy"
	if slices.ContainsFunc(v.lanes.list, func(l *lane) bool { return len(l.runs) > 1 }) {
		head += ", ± half of its range"
	}
	all := []field{{"accuracy", head, func(o *outcome) float64 { return float64(o.Accuracy) }, accuracyText, true}}
	if len(v.lanes.charts) > 0 && v.lanes.charts[0].Title == "Test loss" {
		all = nil
	} else {
		all = append(all, field{"worst", "worst class", func(o *outcome) float64 { return o.worst }, worstText, true})
	}
	all = append(all,
		field{"loss", "test loss", func(o *outcome) float64 { return float64(o.Loss) }, func(o *outcome) string { return words.Number(float64(o.Loss), 3) }, false},
		field{"c", "C at the end", func(o *outcome) float64 { return float64(o.MaxGradNorm) }, func(o *outcome) string { return words.Number(float64(o.MaxGradNorm), 3) }, false},
		field{"clipped", "clipped, first and last tenth of the steps", func(o *outcome) float64 { return float64(o.Clipped[1]) }, func(o *outcome) string {
			if math.IsNaN(float64(o.Clipped[0])) && math.IsNaN(float64(o.Clipped[1])) {
				return words.Missing
			}
			return words.Percent(float64(o.Clipped[0]), 0) + ", " + words.Percent(float64(o.Clipped[1]), 0)
		}, false})
	if slices.Contains([]string{"error", "cosine", "seconds"}, v.lanes.watch) {
		head, cell := column(v.lanes.watch)
		value := map[string]func(*outcome) run.Number{
			"error": func(o *outcome) run.Number { return o.Error }, "cosine": func(o *outcome) run.Number { return o.Cosine }, "seconds": func(o *outcome) run.Number { return o.Time },
		}[v.lanes.watch]
		all = append(all, field{v.lanes.watch, head, func(o *outcome) float64 { return float64(value(o)) }, func(o *outcome) string { return cell(&o.Outcome) }, false})
	}
	return all
}

// accuracyText writes the accuracy, with its spread.
func accuracyText(o *outcome) string {
	text := words.Percent(float64(o.Accuracy), 1)
	if o.runs > 1 {
		text += " ± " + words.Number(100*o.spread, 2)
	}
	return text
}

// worstText names the class with the least recall: a mean over all rows hides it.
func worstText(o *outcome) string {
	if o.class == "" {
		return words.Missing
	}
	return o.class + ", " + words.Percent(o.worst, 0) + " found"
}

// row is a lane or a kept run in the table.
type row struct {
	*lane // nil of a kept run
	look  chart.Lane
	out   outcome
}

// rows returns the rows of the table in their order.
func (v *lanesView) rows() []row {
	var all []row
	for _, one := range v.lanes.list {
		all = append(all, row{one, chart.Lane{Label: one.Label, Place: one.place}, one.outcome(v.lanes.first())})
	}
	for _, k := range v.lanes.earlier {
		all = append(all, row{nil, chart.Lane{Label: k.label, Kept: true}, k.shown})
	}
	for _, f := range v.fields() {
		if f.name != v.lanes.sort {
			continue
		}
		key := func(r row) float64 {
			x := f.value(&r.out)
			switch {
			case math.IsNaN(x): // unknown ones come last
				return math.Inf(1)
			case f.falling:
				return -x
			}
			return x
		}
		slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(key(a), key(b)) })
	}
	return all
}

func (v *lanesView) table() app.UI {
	fields, rows := v.fields(), v.rows()
	return app.Div().Class("lab-table").TabIndex(0).Role("region").Aria("label", "What came of the runs").Body(app.Table().ID("lanes-table").Body(
		app.THead().Body(app.Tr().Body(
			app.Th().Scope("col").Text("run"),
			app.Range(fields).Slice(func(i int) app.UI { return v.head(fields[i]) }),
			app.Th().Scope("col").Text("state"),
			app.Th().Scope("col").Body(app.Span().Class("visually-hidden").Text("what can be done with it")),
		)),
		app.TBody().Body(app.Range(rows).Slice(func(i int) app.UI { return v.rowView(rows[i], fields) })),
	))
}

func (v *lanesView) head(f field) app.UI {
	order := "none"
	if v.lanes.sort == f.name {
		order = map[bool]string{true: "descending", false: "ascending"}[f.falling]
	}
	return app.Th().Scope("col").Aria("sort", order).Body(v.button("sort-"+f.name, f.head, sortLanes{f.name}).Class("plain"))
}

func (v *lanesView) rowView(r row, fields []field) app.UI {
	return app.Tr().Body(
		app.Th().Scope("row").Body(r.look.Glyph(), app.Text(r.look.Label)),
		app.Range(fields).Slice(func(i int) app.UI { return app.Td().Class("figure").Text(fields[i].text(&r.out)) }),
		app.Td().Text(r.out.state),
		app.Td().Class("buttons").Body(v.deeds(r)...),
	)
}

// deeds returns what can be done with a row.
func (v *lanesView) deeds(r row) []app.UI {
	var all []app.UI
	do := func(id, text string, c command) {
		all = append(all, v.button(id+"-"+r.look.Label, text, c).Aria("label", text+": "+r.look.Label))
	}
	if r.out.link != "" {
		all = append(all, app.A().Href(widget.Link("/")+"#"+r.out.link).Aria("label", "Open in Train: "+r.look.Label).Text("Open in Train"))
	}
	if r.lane == nil {
		do("forget", "Remove", forgetLane{r.look.Label})
		return all
	}
	if len(r.runs) > 0 && r.runs[0].walk() != nil {
		do("walk", "C on the U", trace{r.look.Label})
	}
	if len(v.lanes.earlier) < mostKept && len(r.runs) > 0 && r.runs[0].result != nil {
		do("keep", "Keep", keepLane{r.look.Label})
	}
	do("remove", "Remove", removeLane{r.look.Label})
	return all
}
