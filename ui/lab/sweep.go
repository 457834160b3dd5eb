package lab

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/form"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// grid is the values of C that a sweep tries: as in docs/reproductions.md, in halves of
// decades about 1.
var grid = []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100}

// swept is a curve: whole runs at every C of the grid, once for each seed.
type swept struct {
	label   string
	epsilon string // a choice of the strip's; "" where σ decides the noise
	runs    [][]*attempt
}

// sweep finds the best C of whole runs, by trying.
type sweep struct {
	lab    *Lab
	queue  queue
	base   run.Config
	of     run.Config // what was set in the laboratory, which base is made of
	curves []*swept
	chosen []string // what ε curves are for; none: the experiment's own
	chart  *chart.Swept
	made   int
	warm   time.Time // when every worker had ended its first run
	fault  string

	// Where the person predicts first, the curve is hidden until they have shown it.
	predict, shown bool
	guess          float64
}

func newSweep(l *Lab) sweep {
	s := sweep{lab: l, guess: 1}
	s.queue = newQueue(l.client, func() { l.sweep.draw(); l.changed() }, func(*attempt) { l.sweep.ended() })
	s.queue.ends = true
	return s
}

// start tries every C, for every ε that is chosen.
func (s *sweep) start() {
	s.queue.drop()
	s.made++
	made := s.made
	of := s.lab.config
	s.lab.pinned(of, func(base run.Config, err error) {
		if made != s.made {
			return // it was started again
		}
		s.fault = ""
		if err != nil {
			s.fault = err.Error()
		} else {
			s.of = of
			s.begin(base)
			browser.Scroll("sweep-said")
		}
		s.lab.changed()
	})
}

// begin queues the runs: seed by seed, so that the whole curve is seen soon.
func (s *sweep) begin(base run.Config) {
	s.base, s.curves, s.shown = base, nil, false
	chosen := s.chosen
	if len(chosen) == 0 {
		chosen = []string{epsilonNow(&s.base)}
	}
	var looks []chart.Lane
	for i, epsilon := range chosen {
		label := "ε = " + epsilon
		switch {
		case epsilon == "" && s.base.NoiseMultiplier == nil: // a method that has none
			label = "no noise"
		case epsilon == "":
			label = "σ = " + form.Format(*s.base.NoiseMultiplier)
		}
		looks = append(looks, chart.Lane{Label: label, Place: i})
		s.curves = append(s.curves, &swept{label: label, epsilon: epsilon, runs: make([][]*attempt, len(grid))})
	}
	s.chart = chart.NewSwept(looks, s.regression())
	var all []*attempt
	for seed := range uint64(manySeeds) {
		for _, v := range s.curves {
			for i, c := range grid {
				a := &attempt{cfg: s.at(v.epsilon, c, seed)}
				v.runs[i] = append(v.runs[i], a)
				all = append(all, a)
			}
		}
	}
	s.queue.add(all...)
}

// at is the experiment with one C, for one ε and with another seed; it shows nothing
// before its end, which takes time and changes nothing that is released.
func (s *sweep) at(epsilon string, c float64, more uint64) run.Config {
	cfg := s.base
	if epsilon != "" {
		setBudget(&cfg, epsilon)
	}
	seed := *cfg.Seed + more
	cfg.MaxGradNorm, cfg.Seed, cfg.Threads = c, &seed, 1
	cfg.Blind, cfg.DiagnosticsEvery = true, 0
	return cfg
}

func (s *sweep) regression() bool { return strings.HasPrefix(s.base.Data, "regression") }

// curve is what came of a curve's runs so far.
func (s *sweep) curve(v *swept) chart.Curve {
	var c chart.Curve
	for _, runs := range v.runs {
		var m average
		least, greatest := math.NaN(), math.NaN()
		for _, a := range runs {
			x := a.accuracy()
			if s.regression() {
				x = -x
			}
			if math.IsNaN(x) || math.IsInf(x, 0) {
				continue
			}
			if m.n == 0 {
				least, greatest = x, x
			}
			m.add(x)
			least, greatest = min(least, x), max(greatest, x)
		}
		c.Mean, c.Least, c.Greatest = append(c.Mean, m.value()), append(c.Least, least), append(c.Greatest, greatest)
	}
	return c
}

// best is where a curve is best, −1 where it has nothing yet.
func (s *sweep) best(c chart.Curve) int {
	at := -1
	for i, x := range c.Mean {
		if !math.IsNaN(x) && (at < 0 || s.better(x, c.Mean[at])) {
			at = i
		}
	}
	return at
}

func (s *sweep) better(x, y float64) bool {
	if s.regression() {
		return x < y
	}
	return x > y
}

func (s *sweep) draw() {
	if s.chart == nil {
		return
	}
	mark := math.NaN()
	var all []chart.Curve
	for _, v := range s.curves {
		all = append(all, s.curve(v))
	}
	if i := s.best(all[0]); i >= 0 && !s.queue.busy() && !s.stopped() {
		mark = grid[i]
	}
	s.chart.Draw(grid, mark, all)
}

// ended notes when the workers are warm and, for a lesson, where the first curve is best
// once all of it is known.
func (s *sweep) ended() {
	done, of := s.progress()
	if done == s.queue.width {
		s.warm = time.Now()
	}
	if done == of {
		s.note()
	}
}

// again has a sweep that was made of the very experiment that a step has set count as made
// in it, hidden as one made in it would be.
func (s *sweep) again() {
	done, of := s.progress()
	now := s.lab.config
	now.MaxGradNorm = s.of.MaxGradNorm
	if of == 0 || done < of || s.stopped() || !reflect.DeepEqual(now, s.of) || s.curves[0].epsilon != epsilonNow(&now) {
		return
	}
	s.shown = false
	s.note()
}

// note tells a lesson where the first curve is best.
func (s *sweep) note() {
	c := s.curve(s.curves[0])
	if i := s.best(c); i >= 0 {
		s.lab.course.note("sweep_c", grid[i])
		s.lab.course.note("sweep_accuracy", c.Mean[i])
	}
}

// attempts are the runs of all curves.
func (s *sweep) attempts() (all []*attempt) {
	for _, v := range s.curves {
		for _, runs := range v.runs {
			all = append(all, runs...)
		}
	}
	return all
}

// progress is how many of the runs have ended.
func (s *sweep) progress() (done, of int) {
	all := s.attempts()
	for _, a := range all {
		if a.ended() {
			done++
		}
	}
	return done, len(all)
}

// stopped reports whether some runs were called off.
func (s *sweep) stopped() bool {
	return slices.ContainsFunc(s.attempts(), func(a *attempt) bool { return a.fault == stopped })
}

// said is how far the sweep is, and then what it found.
func (s *sweep) said() string {
	done, of := s.progress()
	switch {
	case of == 0:
		return ""
	case s.queue.busy() && done <= s.queue.width:
		// A worker's first run takes as long as its start: it tells nothing of the others.
		return fmt.Sprintf("%d of %d runs.", done, of)
	case s.queue.busy():
		left := time.Since(s.warm).Seconds() / float64(done-s.queue.width) * float64(of-done)
		return fmt.Sprintf("%d of %d runs, %s left.", done, of, words.Duration(left))
	}
	var found []string
	for _, v := range s.curves {
		c := s.curve(v)
		i := s.best(c)
		if i < 0 {
			continue
		}
		found = append(found, fmt.Sprintf("%s: best C = %s, %s", v.label, form.Format(grid[i]), s.figure(c, i)))
	}
	if len(found) == 0 {
		return s.firstFault()
	}
	if s.stopped() {
		return "Stopped: of the runs that ended so far, " + strings.Join(found, "; ") + ". Others may do better."
	}
	return strings.Join(found, "; ") + ". " + priceOfLooking
}

// figure is what came out at a C, with its spread.
func (s *sweep) figure(c chart.Curve, i int) string {
	half := (c.Greatest[i] - c.Least[i]) / 2
	switch {
	case math.IsNaN(c.Mean[i]):
		return words.Missing
	case s.regression():
		return words.Number(c.Mean[i], 3) + " ± " + words.Number(half, 2)
	}
	return words.Percent(c.Mean[i], 1) + " ± " + words.Number(100*half, 2)
}

// old reports whether the curves are of another experiment than what is set now, but for C
// and the noise, which a sweep has of its own.
func (s *sweep) old() bool {
	bare := func(c run.Config) run.Config {
		c.MaxGradNorm, c.NoiseMultiplier, c.TargetEpsilon, c.NoPrivacy = 0, nil, nil, false
		return c
	}
	return len(s.curves) > 0 && !reflect.DeepEqual(bare(s.of), bare(s.lab.config))
}

// apart is why the curves need not be best where the U is least.
const apart = "The U above is of one step. Over a run the steps’ noise averages out, what clipping takes away does not, and a small C makes short steps: so whole runs may do best at a larger C."

// priceOfLooking is what a choice by such runs would cost in earnest.
const priceOfLooking = "Choosing by such runs on private data costs the ε of all of them; tuning, on the page Train, does it within one."

// firstFault is why runs did not come to their end.
func (s *sweep) firstFault() string {
	for _, a := range s.attempts() {
		if a.fault != "" && a.fault != stopped {
			return a.fault
		}
	}
	return "Stopped."
}

// verdict is what the C that was guessed comes to, between those that were tried.
func (s *sweep) verdict() string {
	c := s.curve(s.curves[0])
	best := s.best(c)
	i, found := slices.BinarySearch(grid, s.guess)
	if best < 0 || i == len(grid) || i == 0 && !found {
		return ""
	}
	mean := c.Mean[i]
	if !found {
		share := math.Log(s.guess/grid[i-1]) / math.Log(grid[i]/grid[i-1])
		mean = (1-share)*c.Mean[i-1] + share*c.Mean[i]
	}
	switch {
	case found && i == best && s.regression():
		return fmt.Sprintf("You chose C = %s: a loss of %s, and no other is better.", words.Number(s.guess, 2), words.Number(mean, 3))
	case found && i == best:
		return fmt.Sprintf("You chose C = %s: %s, and no other is better.", words.Number(s.guess, 2), words.Percent(mean, 1))
	case s.regression():
		return fmt.Sprintf("You chose C = %s: a loss of %s; the best is %s, at C = %s.", words.Number(s.guess, 2), words.Number(mean, 3), words.Number(c.Mean[best], 3), form.Format(grid[best]))
	}
	return fmt.Sprintf("You chose C = %s: %s, which is %s points less than the best, at C = %s.", words.Number(s.guess, 2), words.Percent(mean, 1), words.Number(100*max(0, c.Mean[best]-mean), 2), form.Format(grid[best]))
}

// first reports whether the person is to predict before the curve is shown.
func (s *sweep) first() bool {
	step := s.lab.course.now()
	return s.predict || step != nil && step.Show == lesson.Sweep && step.Hide
}

func (s *sweep) hidden() bool { return s.first() && !s.shown }

func (s *sweep) choose(epsilon string) {
	if i := slices.Index(s.chosen, epsilon); i >= 0 {
		s.chosen = slices.Delete(slices.Clone(s.chosen), i, i+1)
	} else {
		s.chosen = append(slices.Clone(s.chosen), epsilon)
	}
	s.lab.changed()
}

func (s *sweep) view() app.UI {
	q := &s.queue
	budgets := []string{"0.5", "2", "8", link.Unbounded}
	return app.Section().Class("lab-lanes lab-sweep").ID("sweep").Aria("label", "Sweep over C").Body(
		app.Div().Class("figure-head").Body(
			app.H2().Text("Sweep over C"),
			app.Span().Class("muted").Text(fmt.Sprintf("whole runs of the experiment above: %d values of C, %d seeds", len(grid), manySeeds)),
		),
		app.Div().Class("buttons").Body(
			app.If(q.busy(), func() app.UI {
				return app.Button().Type("button").ID("sweep-stop").Text("Stop").OnClick(firstClick(func() { q.drop() }))
			}).Else(func() app.UI {
				return app.Button().Type("button").ID("sweep-start").Class("primary").Text("Sweep C").OnClick(func(app.Context, app.Event) { s.start() })
			}),
			app.Range(budgets).Slice(func(i int) app.UI {
				epsilon := budgets[i]
				return app.Button().Type("button").Class("chip").ID("sweep-"+epsilon).Aria("pressed", slices.Contains(s.chosen, epsilon)).Disabled(q.busy()).
					Text("ε = "+epsilon).OnClick(func(app.Context, app.Event) { s.choose(epsilon) }, app.EventScope(epsilon))
			}),
			app.Label().Class("tick").Body(
				app.Input().Type("checkbox").ID("sweep-predict").Checked(s.predict).OnChange(func(ctx app.Context, _ app.Event) {
					s.predict = ctx.JSSrc().Get("checked").Bool()
					s.lab.changed()
				}),
				app.Span().Text("Predict first"),
			),
		),
		widget.Message("sweep-fault", "fault", s.fault),
		app.If(s.first(), func() app.UI { return s.guessView() }),
		app.If(s.chart != nil && !s.hidden(), func() app.UI {
			title := "Test accuracy"
			if s.regression() {
				title = "Test loss"
			}
			return app.Div().Class("overlays lab-swept").ID(fmt.Sprintf("sweep-chart-%d", s.made)).Body(s.chart.View(fmt.Sprintf("%s after the whole run, sweep %d", title, s.made)))
		}),
		widget.Message("sweep-old", "help", map[bool]string{true: "The experiment above was changed since: these curves are of what it was."}[s.old()]),
		app.P().ID("sweep-said").Role("status").Text(s.told()),
		app.If(len(s.curves) > 0 && !s.queue.busy() && !s.hidden() && !s.regression(), func() app.UI { return app.P().Class("help").Text(apart) }),
		app.If(len(s.curves) > 0 && !s.hidden(), func() app.UI { return s.table() }),
	)
}

// told is what is said of the sweep: not what it found, while that is hidden.
func (s *sweep) told() string {
	switch {
	case s.hidden() && !s.queue.busy() && len(s.curves) > 0:
		return "All runs are done. Where is the best C? Place it, and show the curve."
	case s.first() && !s.queue.busy() && len(s.curves) > 0:
		return strings.TrimSpace(s.verdict() + " " + s.said())
	}
	return s.said()
}

// guessView is where the person says which C they expect to be best.
func (s *sweep) guessView() app.UI {
	return app.Div().Class("lab-guess").Body(
		app.Label().Class("lab-slider").For("sweep-guess").Body(
			app.Span().Class("lab-slider-head").Body(app.Span().Text("The best C, I expect"), app.Span().Class("figure").Text(words.Number(s.guess, 2))),
			&widget.Range{ID: "sweep-guess", Min: math.Log10(grid[0]), Max: math.Log10(grid[len(grid)-1]), Step: 0.05, Now: math.Log10(s.guess), Off: s.shown,
				Moved: func(now float64) {
					s.guess = math.Pow(10, now)
					s.lab.changed()
				}},
		),
		app.Button().Type("button").ID("sweep-show").Text("Show the curve").Disabled(s.shown || len(s.curves) == 0).OnClick(func(app.Context, app.Event) {
			s.shown = true
			s.draw()
			s.lab.changed()
		}),
	)
}

// table is the curves in numbers.
func (s *sweep) table() app.UI {
	var all []chart.Curve
	for _, v := range s.curves {
		all = append(all, s.curve(v))
	}
	return app.Details().Class("values").Body(
		app.Summary().Text("Values"),
		app.Table().Body(
			app.THead().Body(app.Tr().Body(
				app.Th().Scope("col").Text("C"),
				app.Range(s.curves).Slice(func(i int) app.UI { return app.Th().Scope("col").Text(s.curves[i].label) }),
			)),
			app.TBody().Body(app.Range(grid).Slice(func(k int) app.UI {
				return app.Tr().Body(
					app.Th().Scope("row").Text(form.Format(grid[k])),
					app.Range(all).Slice(func(i int) app.UI { return app.Td().Class("figure").Text(s.figure(all[i], k)) }),
				)
			})),
		),
	)
}
