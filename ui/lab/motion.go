package lab

import (
	"slices"

	"clipscope/core/run"
	"clipscope/ui/motion"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// replayed are the first runs of the lanes, and those that were kept.
func (l *lanes) replayed() []motion.Run {
	var all []motion.Run
	for _, one := range l.list {
		if len(one.runs) > 0 {
			all = append(all, motion.Run{Name: one.Label, Record: one.runs[0].record})
		}
	}
	for _, k := range l.kept {
		all = append(all, motion.Run{Name: k.label, Record: k.record})
	}
	return all
}

// still reports whether there is something to replay, and nothing goes on.
func (l *lanes) still() bool { return (!l.queue.busy() || l.queue.held) && l.replay.Some() }

// steered are the runs that go on and are told what is changed.
func (l *lanes) steered() []*attempt {
	var all []*attempt
	for _, a := range l.queue.going {
		mine := func(o *lane) bool { return (l.target == "" || l.target == o.Label) && slices.Contains(o.runs, a) }
		if a.runner != nil && !a.ending && slices.ContainsFunc(l.list, mine) {
			all = append(all, a)
		}
	}
	return all
}

// steering is the speed of the lanes and, while they go on, what of them can be changed,
// with a choice of which.
func (l *lanes) steering() app.UI {
	var records []*series.Record
	for _, a := range l.steered() {
		records = append(records, a.record)
	}
	if records == nil && l.target != "" { // the lane that was chosen has ended
		l.target = ""
		return l.steering()
	}
	return app.Div().Class("lab-steer").Body(
		app.If(records != nil, l.targets),
		motion.Steering{Name: "lanes-steer", Records: records, Speed: l.queue.speed, Fault: l.refuse, To: l}.View(),
	)
}

// targets chooses which of the runs is changed.
func (l *lanes) targets() app.UI {
	return app.Select().ID("lanes-target").Aria("label", "Which of the runs is changed").OnChange(func(ctx app.Context, _ app.Event) {
		l.target = ctx.JSSrc().Get("value").String()
		l.lab.changed()
	}).Body(
		app.Option().Value("").Text("all that train now").Selected(l.target == ""),
		app.Range(l.list).Slice(func(i int) app.UI {
			return app.Option().Value(l.list[i].Label).Text(l.list[i].Label).Selected(l.target == l.list[i].Label)
		}),
	)
}

// Pace sets the speed of all runs.
func (l *lanes) Pace(perSecond float64) {
	l.queue.pace(perSecond)
	l.lab.changed()
}

// Change has the runs that are steered go on with other numbers, each from its own next
// step on. One that waits begins as its lane says: that is what it is compared for.
func (l *lanes) Change(c run.Change) {
	l.refuse = ""
	for _, a := range l.steered() {
		a.runner.Change(c, func(reply run.ChangeReply, err error) {
			switch {
			case a.ended():
			case err != nil:
				l.Fault(err.Error())
			default:
				a.record.Changed(reply)
			}
			l.queue.show()
		})
	}
}

// Fault says why nothing was changed.
func (l *lanes) Fault(why string) {
	l.refuse = why
	l.lab.changed()
}
