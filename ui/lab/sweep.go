package lab

import (
	"fmt"
	"math"
	"slices"
	"time"

	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// sweep trains the experiment at nine thresholds with three seeds each, and shows where
// accuracy has its top: the U of one step turned over, over a whole run.
type sweep struct {
	lab  *Lab
	pool pool

	curves []*swept
	began  time.Time
	done   int // runs, of all that were started
	all    int
	hidden bool // until the person has said where they expect the top
	fault  string
	epoch  int
	spec   chart.Spec
	feed   chart.Feed
}

// The thresholds of a sweep, half a decade apart, and its seeds.
var (
	sweptC = []float64{0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300}
	seeds  = []uint64{1, 2, 3}
)

// mostCurves is how many ε are compared: more lines cannot be told apart.
const mostCurves = 4

// swept is what came of a sweep at one ε; 0 is no privacy's.
type swept struct {
	label    string
	base     run.Config
	accuracy [][]float64 // by threshold, one for each seed that is done
}

// start sweeps the experiment as it is, or with another ε: +Inf is no noise at all.
func (s *sweep) start(epsilon float64) {
	s.pool.client = s.lab.client
	cfg := s.lab.config
	label := "as set up"
	if epsilon > 0 {
		label = "ε = " + words.Number(epsilon, 3)
		cfg.NoiseMultiplier, cfg.TargetEpsilon = nil, &epsilon
		if math.IsInf(epsilon, 1) {
			zero := 0.0
			label, cfg.NoiseMultiplier, cfg.TargetEpsilon, cfg.NoPrivacy = "no noise", &zero, nil, true
		}
	}
	s.curves = slices.DeleteFunc(s.curves, func(c *swept) bool { return c.label == label })
	if len(s.curves) >= mostCurves {
		s.curves = s.curves[1:]
	}
	c := &swept{label: label, base: cfg, accuracy: make([][]float64, len(sweptC))}
	s.curves = append(s.curves, c)
	if !s.pool.busy() {
		s.began, s.done, s.all = time.Now(), 0, 0
	}
	s.fault = ""
	var jobs []*job
	for _, seed := range seeds {
		for i, threshold := range sweptC {
			one := cfg
			own := seed
			one.MaxGradNorm, one.Seed = threshold, &own
			jobs = append(jobs, &job{config: one, events: func([]run.Event) {}, done: func(r *run.Result, err error) { s.ended(c, i, r, err) }})
		}
	}
	s.all += len(jobs)
	s.anew()
	s.pool.add(jobs...)
	s.lab.changed()
}

func (s *sweep) ended(c *swept, i int, r *run.Result, err error) {
	s.done++
	if err != nil {
		s.fault = fmt.Sprintf("C = %v: %v", sweptC[i], err)
	} else {
		c.accuracy[i] = append(c.accuracy[i], float64(r.TestAccuracy))
	}
	s.draw()
	if !s.pool.busy() && s.done == s.all {
		if best, accuracy := c.best(); accuracy > 0 {
			s.lab.course.note("sweep_c", best)
			s.lab.course.note("sweep_accuracy", accuracy)
		}
	}
	s.lab.changed()
}

func (s *sweep) stop() {
	s.pool.stop()
	s.all = s.done
	s.lab.changed()
}

// clear removes all curves.
func (s *sweep) clear() {
	s.pool.stop()
	s.curves, s.done, s.all = nil, 0, 0
	s.lab.changed()
}

// meanOf is the mean of what has been measured, and its standard deviation over seeds; NaN
// where nothing, or one value alone, has.
func meanOf(v []float64) (mean, spread float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	if len(v) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, x := range v {
		spread += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(spread / float64(len(v)-1))
}

// best is the threshold with the highest mean accuracy; 0 before there is one.
func (c *swept) best() (threshold, accuracy float64) {
	for i, v := range c.accuracy {
		if m, _ := meanOf(v); m > accuracy {
			threshold, accuracy = sweptC[i], m
		}
	}
	return threshold, accuracy
}

// at is the mean accuracy at the swept threshold that is nearest to c.
func (c *swept) at(threshold float64) float64 {
	nearest := 0
	for i, v := range sweptC {
		if math.Abs(math.Log(v/threshold)) < math.Abs(math.Log(sweptC[nearest]/threshold)) {
			nearest = i
		}
	}
	m, _ := meanOf(c.accuracy[nearest])
	return m
}

func (s *sweep) anew() {
	s.epoch++
	s.spec = chart.Spec{
		Kind: "lines", X: chart.Axis{Label: "C", Log: true, Min: sweptC[0], Max: sweptC[len(sweptC)-1]}, Y: chart.Axis{Format: "percent", Max: 1},
	}
	for i, c := range s.curves {
		s.spec.Series = append(s.spec.Series, chart.Line{Label: c.label, Ink: inks[i%len(inks)], Width: 2})
	}
	s.draw()
}

func (s *sweep) draw() {
	if len(s.curves) == 0 {
		return
	}
	numbers := [][]float64{sweptC}
	for _, c := range s.curves {
		means := make([]float64, len(sweptC))
		for i, v := range c.accuracy {
			means[i], _ = meanOf(v)
		}
		numbers = append(numbers, means)
	}
	s.feed.Lines(sweptC[len(sweptC)-1], math.NaN(), numbers...)
}

// progress is how far it is, with the time that is left at the pace so far.
func (s *sweep) progress() string {
	if !s.pool.busy() || s.all == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d runs", s.done, s.all)
	if s.done > 0 {
		left := time.Since(s.began) * time.Duration(s.all-s.done) / time.Duration(s.done)
		text += fmt.Sprintf(", about %.0f s left", left.Seconds())
	}
	return text
}

// verdict says where the tops are, and what the person's own C cost.
func (s *sweep) verdict() string {
	text := ""
	for _, c := range s.curves {
		threshold, accuracy := c.best()
		if threshold == 0 {
			continue
		}
		if text != "" {
			text += " "
		}
		text += fmt.Sprintf("%s: best at C = %s, %s", c.label, words.Number(threshold, 3), words.Percent(accuracy, 1))
		if own := c.at(s.lab.hands.c); own < accuracy {
			text += fmt.Sprintf("; your C, %s, has %s less", words.Number(s.lab.hands.c, 2), words.Percent(accuracy-own, 1))
		}
		text += "."
	}
	return text
}

func (s *sweep) view() app.UI {
	chip := func(id, text string, epsilon float64) app.UI {
		return app.Button().Type("button").ID("sweep-"+id).Class("chip").Text(text).OnClick(func(app.Context, app.Event) { s.start(epsilon) }, app.EventScope(id))
	}
	return app.Section().Class("lab-sweep").ID("sweep").Aria("label", "Sweep over C").Body(
		app.H2().Text("Sweep over C"),
		app.P().Class("help").Text(fmt.Sprintf("Trains the experiment at %d thresholds with %d seeds each, and shows the accuracy that it ends with. Every run is one more look at the rows.", len(sweptC), len(seeds))),
		app.Div().Class("lanes-buttons").Body(
			app.Button().Type("button").ID("sweep-start").Class("primary").Text("Sweep").OnClick(func(app.Context, app.Event) { s.start(0) }),
			chip("half", "ε = 0.5", 0.5), chip("two", "ε = 2", 2), chip("eight", "ε = 8", 8), chip("none", "no noise", math.Inf(1)),
			app.Label().Class("tick").For("sweep-hide").Body(
				app.Input().Type("checkbox").ID("sweep-hide").Checked(s.hidden).OnChange(func(ctx app.Context, _ app.Event) {
					s.hidden = ctx.JSSrc().Get("checked").Bool()
					s.lab.changed()
				}),
				app.Span().Text("Predict first: hide it"),
			),
			app.Button().Type("button").ID("sweep-stop").Text("Stop").Hidden(!s.pool.busy()).OnClick(func(app.Context, app.Event) { s.stop() }),
			app.Button().Type("button").ID("sweep-clear").Text("Clear").Hidden(len(s.curves) == 0).OnClick(func(app.Context, app.Event) { s.clear() }),
			app.Span().ID("sweep-progress").Class("help").Role("status").Text(s.progress()),
		),
		widget.Message("sweep-fault", "fault", s.fault),
		app.If(s.hidden && len(s.curves) > 0, func() app.UI {
			return app.P().Class("help").Text("Put C, with the handle above, where you expect the top; then untick “Predict first”.")
		}).ElseIf(len(s.curves) > 0, func() app.UI {
			return app.Figure().Body(
				app.FigCaption().Body(app.Strong().Text("Accuracy on test rows at the end"), app.Span().Class("badge badge-diagnostic").Text("diagnostic")),
				app.Div().Class("plot-box").Body(&chart.Plot{Spec: &s.spec, Feed: &s.feed, Label: fmt.Sprintf("Accuracy by threshold, sweep %d", s.epoch)}),
				app.P().ID("sweep-verdict").Text(s.verdict()),
				s.tableView(),
			)
		}),
	)
}

func (s *sweep) tableView() app.UI {
	return app.Details().Body(
		app.Summary().Text("Values"),
		app.Div().Class("lanes-table").Body(app.Table().Body(
			app.THead().Body(app.Tr().Body(
				app.Th().Scope("col").Text("C"),
				app.Range(s.curves).Slice(func(i int) app.UI { return app.Th().Scope("col").Text(s.curves[i].label) }),
			)),
			app.TBody().Body(app.Range(sweptC).Slice(func(i int) app.UI {
				return app.Tr().Body(
					app.Th().Scope("row").Text(words.Number(sweptC[i], 3)),
					app.Range(s.curves).Slice(func(k int) app.UI {
						mean, spread := meanOf(s.curves[k].accuracy[i])
						text := words.Percent(mean, 1)
						if !math.IsNaN(spread) {
							text += " ± " + words.Number(100*spread, 2)
						}
						return app.Td().Class("number").Text(text)
					}),
				)
			})),
		)),
	)
}
