package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/lesson"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// lanes are runs side by side that share data, first parameters, batches and noise, by
// their seed, and differ in one thing.
type lanes struct {
	lab  *Lab
	pool pool

	list    []*lane
	title   string // what they differ in
	fault   string
	epoch   int // counts comparisons, so that each has charts of its own
	charts  []*laneChart
	sorted  int // the column that the table is sorted by
	upwards bool
}

// lane is one of them.
type lane struct {
	label  string
	config run.Config
	state  string
	begun  bool

	step, steps int
	curves      [curveKinds][]float64 // sampled [samples+1]; NaN where nothing is known yet
	result      *run.Result
	kept        bool // it stays behind the next comparison
}

// What is drawn of a lane.
const (
	accuracy = iota
	threshold
	clipped
	curveKinds
)

// samples is how finely a lane is drawn: by the share of its run, since runs with other
// batches have other numbers of steps.
const samples = 100

type laneChart struct {
	title string
	kind  int
	spec  chart.Spec
	feed  chart.Feed
}

// inks are what lanes are drawn in, in their order.
var inks = [lesson.MostLanes]chart.Ink{"released", "diagnostic", "second", "third", "fourth", "fifth"}

// varied are the comparisons that one press makes.
var varied = []struct {
	title  string
	field  string
	values []any
}{
	{"Vary C", "max_grad_norm", []any{0.1, 1.0, 3.0, 10.0, 100.0}},
	{"Vary ε", "target_epsilon", []any{0.5, 2.0, 8.0}},
	{"Vary method", "method", []any{"constant", "auto-s", "psac", "quantile", "dc-p", "dc-e"}},
	{"Vary B", "expected_batch_size", []any{64.0, 256.0, 1024.0}},
}

// listOf is a comparison in one field.
func listOf(field string, values []any) []lesson.Lane {
	all := make([]lesson.Lane, len(values))
	for i, v := range values {
		label := fmt.Sprint(v)
		if n, ok := v.(float64); ok {
			label = words.Number(n, 3)
		}
		all[i] = lesson.Lane{Label: label, Set: map[string]any{field: v}}
	}
	return all
}

// readLanes reads a lesson's lanes: a field and its values, max_grad_norm=1,3,10.
func readLanes(text string) (title string, list []lesson.Lane, err error) {
	field, values, ok := strings.Cut(text, "=")
	if !ok || values == "" {
		return "", nil, fmt.Errorf("lab: lanes %q; want a field and its values", text)
	}
	var all []any
	for v := range strings.SplitSeq(values, ",") {
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			all = append(all, n)
		} else {
			all = append(all, v)
		}
	}
	if len(all) > lesson.MostLanes {
		return "", nil, fmt.Errorf("lab: %d lanes; at most %d are shown", len(all), lesson.MostLanes)
	}
	return field, listOf(field, all), nil
}

// set makes lanes, which wait to be started; what was kept of those before stays.
func (l *lanes) set(title string, base run.Config, list []lesson.Lane) {
	l.pool.stop()
	l.fault = ""
	l.list = slices.DeleteFunc(l.list, func(a *lane) bool { return !a.kept })
	if room := lesson.MostLanes - len(list); len(l.list) > room {
		l.list = l.list[len(l.list)-max(room, 0):]
	}
	for _, a := range list {
		cfg, err := base.With(a.Set)
		if err != nil {
			l.fault = fmt.Sprintf("%s: %v", a.Label, err)
			continue
		}
		l.list = append(l.list, newLane(a.Label, cfg))
	}
	l.title = title
	l.anew()
}

func newLane(label string, cfg run.Config) *lane {
	a := &lane{label: label, config: cfg, state: "waits"}
	for k := range a.curves {
		a.curves[k] = make([]float64, samples+1)
		for i := range a.curves[k] {
			a.curves[k][i] = math.NaN()
		}
	}
	return a
}

// anew makes charts for the lanes that there are.
func (l *lanes) anew() {
	l.epoch++
	l.charts = nil
	for _, c := range []struct {
		title string
		kind  int
		y     chart.Axis
	}{
		{"Accuracy on test rows", accuracy, chart.Axis{Format: "percent", Max: 1}},
		{"Threshold C", threshold, chart.Axis{Log: true}},
		{"Share that is clipped", clipped, chart.Axis{Format: "percent", Max: 1}},
	} {
		spec := chart.Spec{Kind: "lines", X: chart.Axis{Label: "of the run", Format: "percent", Max: 1}, Y: c.y, Sync: "lanes"}
		for i, a := range l.list {
			width := 2.0
			if a.kept {
				width = 1
			}
			spec.Series = append(spec.Series, chart.Line{Label: a.label, Ink: inks[i%len(inks)], Width: width})
		}
		l.charts = append(l.charts, &laneChart{title: c.title, kind: c.kind, spec: spec})
	}
	l.draw()
}

// start runs the lanes that have not been run.
func (l *lanes) start() {
	l.pool.client = l.lab.client
	var jobs []*job
	for _, a := range l.list {
		if a.begun {
			continue
		}
		a.begun = true
		jobs = append(jobs, &job{config: a.config, events: func(e []run.Event) { l.saw(a, e) }, done: func(r *run.Result, err error) { l.ended(a, r, err) }})
	}
	l.pool.add(jobs...)
	l.lab.changed()
}

// stop ends what runs; lanes that were not done can be started again.
func (l *lanes) stop() {
	l.pool.stop()
	for i, a := range l.list {
		if a.begun && a.result == nil {
			l.list[i] = newLane(a.label, a.config)
		}
	}
	l.anew()
	l.lab.changed()
}

// compare starts a comparison at once.
func (l *lanes) compare(title string, base run.Config, list []lesson.Lane) {
	l.set(title, base, list)
	l.start()
}

func (l *lanes) saw(a *lane, events []run.Event) {
	for _, e := range events {
		a.step, a.steps = e.Step, e.Steps
		i := samples * e.Step / max(1, e.Steps)
		a.curves[threshold][i] = e.Released.MaxGradNorm
		if d := e.Diag; d != nil {
			a.curves[clipped][i] = float64(d.ClipFraction)
			if d.Eval != nil {
				a.curves[accuracy][i] = float64(d.Eval.Accuracy)
			}
		}
	}
	a.state = words.Percent(float64(a.step)/float64(max(1, a.steps)), 0)
	l.draw()
	l.lab.changed()
}

func (l *lanes) ended(a *lane, r *run.Result, err error) {
	a.result = r
	if err != nil {
		a.state = err.Error()
	} else {
		a.state = "done"
		a.curves[accuracy][samples] = float64(r.TestAccuracy)
		note := l.lab.course.note
		note("accuracy:"+a.label, float64(r.TestAccuracy))
		note("threshold:"+a.label, a.lastC())
		if recall, _ := a.worst(); !math.IsNaN(recall) {
			note("recall:"+a.label, recall)
		}
	}
	l.draw()
	l.lab.changed()
}

// lastC is the threshold of the last step.
func (a *lane) lastC() float64 {
	if a.result == nil || len(a.result.Released.MaxGradNorm) == 0 {
		return math.NaN()
	}
	c := a.result.Released.MaxGradNorm
	return c[len(c)-1]
}

// worst is the class that is found least often, and how often that is.
func (a *lane) worst() (recall float64, class string) {
	recall = math.NaN()
	if a.result == nil {
		return recall, ""
	}
	for _, c := range a.result.TestClasses {
		if r := float64(c.Recall); c.Rows > 0 && !(r >= recall) {
			recall, class = r, c.Class
		}
	}
	return recall, class
}

func (l *lanes) draw() {
	x := make([]float64, samples+1)
	for i := range x {
		x[i] = float64(i) / samples
	}
	for _, c := range l.charts {
		columns := [][]float64{x}
		for _, a := range l.list {
			columns = append(columns, a.curves[c.kind])
		}
		c.feed.Lines(1, math.NaN(), columns...)
	}
}

// keep has a lane stay behind the next comparison, or not any more.
func (l *lanes) keep(a *lane) {
	a.kept = !a.kept
	l.lab.changed()
}

func (l *lanes) remove(a *lane) {
	l.list = slices.DeleteFunc(l.list, func(b *lane) bool { return a == b })
	l.anew()
	l.lab.changed()
}

// columns of the table of results.
var columns = []struct {
	title string
	value func(*lane) float64
	text  func(*lane) string
}{
	{"accuracy", func(a *lane) float64 { return a.figure(func(r *run.Result) float64 { return float64(r.TestAccuracy) }) }, func(a *lane) string {
		return words.Percent(a.figure(func(r *run.Result) float64 { return float64(r.TestAccuracy) }), 1)
	}},
	{"loss", func(a *lane) float64 { return a.figure(func(r *run.Result) float64 { return float64(r.TestLoss) }) }, func(a *lane) string {
		return words.Number(a.figure(func(r *run.Result) float64 { return float64(r.TestLoss) }), 3)
	}},
	{"worst class", func(a *lane) float64 { r, _ := a.worst(); return r }, func(a *lane) string {
		r, class := a.worst()
		if math.IsNaN(r) {
			return words.Missing
		}
		return class + ": " + words.Percent(r, 0) + " found"
	}},
	{"C at the end", (*lane).lastC, func(a *lane) string { return words.Number(a.lastC(), 3) }},
	{"ε", func(a *lane) float64 { return a.figure(func(r *run.Result) float64 { return float64(r.Epsilon) }) }, func(a *lane) string {
		if a.result == nil {
			return words.Missing
		}
		return words.Epsilon(float64(a.result.Epsilon))
	}},
}

// figure is of a result, NaN where there is none.
func (a *lane) figure(of func(*run.Result) float64) float64 {
	if a.result == nil {
		return math.NaN()
	}
	return of(a.result)
}

// ordered are the lanes as the table has them; those without a figure come last.
func (l *lanes) ordered() []*lane {
	all := slices.Clone(l.list)
	if l.sorted == 0 {
		return all
	}
	value := columns[l.sorted-1].value
	slices.SortStableFunc(all, func(a, b *lane) int {
		x, y := value(a), value(b)
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
			return map[bool]int{true: 1}[math.IsNaN(x)] - map[bool]int{true: 1}[math.IsNaN(y)]
		case (x < y) == l.upwards && x != y:
			return -1
		case x != y:
			return 1
		}
		return 0
	})
	return all
}

func (l *lanes) sort(column int) {
	if l.sorted == column {
		l.upwards = !l.upwards
	} else {
		l.sorted, l.upwards = column, false
	}
	l.lab.changed()
}

// epsilon is what all lanes spent together, as the sum of theirs: an upper bound. They are
// runs on one set of rows.
func (l *lanes) epsilon() string {
	sum, n := 0.0, 0
	for _, a := range l.list {
		if a.result != nil {
			sum, n = sum+float64(a.result.Epsilon), n+1
		}
	}
	switch {
	case n < 2:
		return ""
	case math.IsInf(sum, 1):
		return "Together these runs promise nothing: one of them has no privacy."
	}
	return fmt.Sprintf("These %d runs were on the same rows: together they have ε ≤ %s, the sum. To look at all and release the best costs that, too.", n, words.Epsilon(sum))
}

func (l *lanes) view() app.UI {
	return app.Section().Class("lab-lanes").ID("lanes").Aria("label", "Runs side by side").Body(
		app.H2().Text("Side by side"),
		app.P().Class("help").Text("Runs with the same data, first parameters, batches and noise that differ in one thing."),
		app.Div().Class("lanes-buttons").Body(
			app.Range(varied).Slice(func(i int) app.UI {
				v := varied[i]
				return app.Button().Type("button").ID("vary-"+strings.ReplaceAll(v.field, "_", "-")).Text(v.title).OnClick(func(app.Context, app.Event) {
					l.compare(v.title, l.lab.config, listOf(v.field, v.values))
				}, app.EventScope(v.field))
			}),
			app.Button().Type("button").ID("lanes-start").Class("primary").Text("Start").Hidden(!l.waits()).OnClick(func(app.Context, app.Event) { l.start() }),
			app.Button().Type("button").ID("lanes-stop").Text("Stop").Hidden(!l.pool.busy()).OnClick(func(app.Context, app.Event) { l.stop() }),
		),
		widget.Message("lanes-fault", "fault", l.fault),
		app.If(len(l.list) > 0, func() app.UI {
			return app.Div().Class("lanes-body").Body(l.chartsView(), l.tableView(), widget.Message("lanes-epsilon", "help", l.epsilon()))
		}),
	)
}

// waits reports whether there are lanes that have not been started.
func (l *lanes) waits() bool {
	return !l.pool.busy() && slices.ContainsFunc(l.list, func(a *lane) bool { return !a.begun })
}

func (l *lanes) chartsView() app.UI {
	return app.Div().Class("lanes-charts").Body(app.Range(l.charts).Slice(func(i int) app.UI {
		c := l.charts[i]
		return app.Figure().Body(
			app.FigCaption().Body(app.Strong().Text(c.title), app.Span().Class("badge badge-"+badge(c.kind)).Text(badge(c.kind))),
			app.Div().Class("plot-box").Body(&chart.Plot{Spec: &c.spec, Feed: &c.feed, Label: fmt.Sprintf("%s, comparison %d", c.title, l.epoch)}),
		)
	}))
}

// badge says whether what a chart shows is released.
func badge(kind int) string {
	if kind == threshold {
		return "released"
	}
	return "diagnostic"
}

func (l *lanes) tableView() app.UI {
	rows := l.ordered()
	return app.Div().Class("lanes-table").TabIndex(0).Role("region").Aria("label", "Results of the runs").Body(app.Table().Body(
		app.THead().Body(app.Tr().Body(
			app.Th().Scope("col").Text("run"),
			app.Range(columns).Slice(func(i int) app.UI {
				sorted := "none"
				if l.sorted == i+1 {
					sorted = map[bool]string{true: "ascending", false: "descending"}[l.upwards]
				}
				return app.Th().Scope("col").Aria("sort", sorted).Body(app.Button().Type("button").Class("plain").Text(columns[i].title).
					OnClick(func(app.Context, app.Event) { l.sort(i + 1) }, app.EventScope(columns[i].title)))
			}),
			app.Th().Scope("col").Body(app.Span().Class("visually-hidden").Text("what can be done with it")),
		)),
		app.TBody().Body(app.Range(rows).Slice(func(i int) app.UI { return l.rowView(rows[i]) })),
	))
}

func (l *lanes) rowView(a *lane) app.UI {
	place := slices.Index(l.list, a)
	link := widget.Link("/")
	if hash, err := a.config.Hash(); err == nil {
		link += "#" + hash
	}
	name := a.label
	keep := "Keep"
	if a.kept {
		keep = "Let go"
	}
	state := ""
	if a.state != "done" {
		state = a.state
	}
	return app.Tr().Body(
		app.Th().Scope("row").Body(
			app.Span().Class("mark ink-"+string(inks[place%len(inks)])).Aria("hidden", true).Text(marks[place%len(marks)]),
			app.Span().Text(" "+name), app.Span().Class("muted").Text(" "+state),
		),
		app.Range(columns).Slice(func(i int) app.UI { return app.Td().Class("number").Text(columns[i].text(a)) }),
		app.Td().Class("lane-actions").Body(
			app.A().Href(link).Text("Open in Train"),
			app.Button().Type("button").Class("plain").Text(keep).Aria("label", keep+" "+name).OnClick(func(app.Context, app.Event) { l.keep(a) }, app.EventScope("keep", name, strconv.Itoa(place))),
			app.Button().Type("button").Class("plain").Text("Remove").Aria("label", "Remove "+name).OnClick(func(app.Context, app.Event) { l.remove(a) }, app.EventScope("remove", name, strconv.Itoa(place))),
		),
	)
}

// marks stand beside colours, which not everybody tells apart.
var marks = [lesson.MostLanes]string{"●", "■", "▲", "◆", "▼", "✚"}
