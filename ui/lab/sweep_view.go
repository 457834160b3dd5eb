package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"clipscope/ui/form"
	"clipscope/ui/link"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// sweepView is the sweep over C: its buttons, chart and table.
type sweepView struct{ section }

func (v *sweepView) view() app.UI {
	q := &v.sweep.jobs
	budgets := []string{"0.5", "2", "8", link.Unbounded}
	return app.Section().Class("lab-lanes lab-sweep").ID("sweep").Aria("label", "Sweep over C").Body(
		app.Div().Class("figure-head").Body(
			app.H2().Text("Sweep over C"),
			app.Span().Class("muted").Text(fmt.Sprintf("whole runs of the experiment above: %d values of C, %d seeds", len(grid), manySeeds)),
		),
		app.Div().Class("buttons").Body(
			app.If(q.busy(), func() app.UI {
				return v.pressOnce("sweep-stop", "Stop", stopSweep{})
			}).Else(func() app.UI {
				return v.press("sweep-start", "Sweep C", startSweep{}).Class("primary")
			}),
			app.Range(budgets).Slice(func(i int) app.UI {
				epsilon := budgets[i]
				return v.press("sweep-"+epsilon, "ε = "+epsilon, sweepOver{epsilon}).Class("chip").Aria("pressed", slices.Contains(v.sweep.chosen, epsilon)).Disabled(q.busy())
			}),
			v.tick("sweep-predict", "Predict first", v.sweep.predict, false, func(on bool) command { return predict{on} }),
		),
		widget.Message("sweep-fault", "fault", v.sweep.fault),
		app.If(v.predictFirst(), func() app.UI { return v.guessView() }),
		app.If(v.sweep.chart != nil && !v.sweepHidden(), func() app.UI {
			title := "Test accuracy"
			if v.sweep.regression() {
				title = "Test loss"
			}
			return app.Div().Class("overlays lab-swept").ID(fmt.Sprintf("sweep-chart-%d", v.sweep.drawings)).Body(v.sweep.chart.View(fmt.Sprintf("%s after the whole run, sweep %d", title, v.sweep.drawings)))
		}),
		widget.Message("sweep-old", "help", map[bool]string{true: "The experiment above was changed since: these curves are of what it was."}[v.sweep.old(v.config)]),
		app.P().ID("sweep-said").Role("status").Text(v.status()),
		app.If(len(v.sweep.curves) > 0 && !v.sweep.jobs.busy() && !v.sweepHidden() && !v.sweep.regression(), func() app.UI { return app.P().Class("help").Text(apart) }),
		app.If(len(v.sweep.curves) > 0 && !v.sweepHidden(), func() app.UI { return v.table() }),
	)
}

// status says how far the sweep is and what it found; not that while it is hidden.
func (v *sweepView) status() string {
	switch {
	case v.sweepHidden() && !v.sweep.jobs.busy() && len(v.sweep.curves) > 0:
		return "All runs are done. Where is the best C? Place it, and show the curve."
	case v.predictFirst() && !v.sweep.jobs.busy() && len(v.sweep.curves) > 0:
		return strings.TrimSpace(v.sweep.verdict() + " " + v.sweep.said())
	}
	return v.sweep.said()
}

// guessView asks the person which C they expect to be best.
func (v *sweepView) guessView() app.UI {
	return app.Div().Class("lab-guess").Body(
		app.Label().Class("lab-slider").For("sweep-guess").Body(
			app.Span().Class("lab-slider-head").Body(app.Span().Text("The best C, I expect"), app.Span().Class("figure").Text(words.Number(v.sweep.guess, 2))),
			&widget.Range{ID: "sweep-guess", Min: math.Log10(grid[0]), Max: math.Log10(grid[len(grid)-1]), Step: 0.05, Now: math.Log10(v.sweep.guess), Off: v.sweep.shown,
				Moved: func(now float64) { v.send(guessC{math.Pow(10, now)}) }},
		),
		v.press("sweep-show", "Show the curve", showSweep{}).Disabled(v.sweep.shown || len(v.sweep.curves) == 0),
	)
}

// table returns the curves in numbers.
func (v *sweepView) table() app.UI {
	head, rows := []string{"C"}, make([][]string, len(grid))
	for k, c := range grid {
		rows[k] = []string{form.Format(c)}
	}
	for _, one := range v.sweep.curves {
		head = append(head, one.label)
		for k, c := 0, v.sweep.curve(one); k < len(grid); k++ {
			rows[k] = append(rows[k], v.sweep.figure(c, k))
		}
	}
	return values("The result by threshold", head, rows)
}
