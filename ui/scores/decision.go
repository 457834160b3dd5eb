package scores

import (
	"math"
	"strconv"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// decision has the person choose from which probability on the positive class is answered, by what the
// two ways to be wrong cost.
type decision struct {
	app.Compo
	Of *run.Scores

	at   int     // among the cuts, from 1: where the handle stands; 0: half way
	cost float64 // of a row that is missed, in wrong alarms

	changed func()
}

func (d *decision) OnMount(ctx app.Context) { d.changed = func() { ctx.Dispatch(nil) } }

// costs lists the choices, in wrong alarms.
var costs = []struct {
	cost float64
	text string
}{
	{0.1, "a tenth of a wrong alarm"}, {0.2, "a fifth of a wrong alarm"}, {0.5, "half a wrong alarm"}, {1, "one wrong alarm"},
	{2, "2 wrong alarms"}, {5, "5 wrong alarms"}, {10, "10 wrong alarms"}, {20, "20 wrong alarms"}, {50, "50 wrong alarms"}, {100, "100 wrong alarms"},
}

func (d *decision) Render() app.UI {
	if d.at == 0 {
		d.at, d.cost = len(d.Of.Cuts)/2, 1
	}
	positive := "“" + data.Shown(d.Of.Positive) + "”"
	all, now := d.Of.Cuts[0], d.Of.Cuts[d.at]
	best := cheapest(d.Of.Cuts, d.cost)
	from := probability(float64(now.From))
	figures := outcome(all, now, d.cost)
	return app.Div().Class("decision").ID("decision").Body(
		app.Strong().Text("Where to draw the line"),
		app.P().Class("help").Text("The model answers "+positive+" from a probability of 50 %. Drawn lower, the line finds more of them and raises more alarms that are wrong. The model stays as it is."),
		app.Div().Class("decision-line").Body(
			app.Label().For("decision-at").Text("Answer "+positive+" from "+from+" on"),
			&widget.Range{ID: "decision-at", Text: from, Min: 1, Max: float64(len(d.Of.Cuts) - 2), Step: 1, Now: float64(d.at), Moved: func(now float64) {
				d.at = int(now)
				d.changed()
			}},
		),
		app.Dl().Class("areas").Role("status").Body(app.Range(figures).Slice(func(i int) app.UI {
			return Figure(figures[i][0], figures[i][1], chart.Diagnostic)
		})),
		app.Div().Class("decision-line").Body(
			app.Label().For("decision-cost").Text("A missed "+positive+" costs as much as"),
			app.Select().ID("decision-cost").OnChange(func(ctx app.Context, _ app.Event) {
				d.cost, _ = strconv.ParseFloat(ctx.JSSrc().Get("value").String(), 64)
			}).Body(app.Range(costs).Slice(func(i int) app.UI {
				c := costs[i]
				return app.Option().Value(strconv.FormatFloat(c.cost, 'g', -1, 64)).Selected(c.cost == d.cost).Text(c.text)
			})),
			app.Button().Type("button").ID("decision-best").Disabled(best == d.at).OnClick(func(app.Context, app.Event) { d.at = cheapest(d.Of.Cuts, d.cost) }).
				Text("Draw it at "+probability(float64(d.Of.Cuts[best].From))+", the cheapest"),
		),
		app.P().Class("help").Text("The cheapest on these rows; on others it costs a little more."),
	)
}

// probability is written with two digits of what it is from 0 or 1.
func probability(p float64) string {
	return words.Percent(p, max(0, 1-int(math.Floor(math.Log10(100*min(p, 1-p))))))
}

// outcome lists the effects of a line on the rows; all counts those of each kind.
func outcome(all, now run.Cut, cost float64) [][2]string {
	rows := all.Found + all.Alarms
	right := now.Found + all.Alarms - now.Alarms
	return [][2]string{
		{"found", words.Count(now.Found) + " of " + words.Count(all.Found)},
		{"wrong alarms", words.Count(now.Alarms) + " of " + words.Count(all.Alarms)},
		{"accuracy", percent(float64(right) / float64(rows))},
		{"cost a row, in wrong alarms", digits(price(all, now, cost) / float64(rows))},
	}
}

// price adds up the costs of all mistakes, in wrong alarms.
func price(all, now run.Cut, cost float64) float64 {
	return cost*float64(all.Found-now.Found) + float64(now.Alarms)
}

// cheapest returns which line costs least, the nearest to half way of those that do.
func cheapest(cuts []run.Cut, cost float64) int {
	half := len(cuts) / 2
	best := half
	for away := range half {
		for _, i := range []int{half - away, half + away} {
			if price(cuts[0], cuts[i], cost) < price(cuts[0], cuts[best], cost) {
				best = i
			}
		}
	}
	return best
}
