package chart

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// TestTheAttackersChartNamesItsAxis: the name of an axis is drawn at its end.
func TestTheAttackersChartNamesItsAxis(t *testing.T) {
	if Attack.X.Label == "" {
		t.Error("the share of rows accused has no name")
	}
}

func TestGrowingDoublesUpToItsLimit(t *testing.T) {
	for _, c := range []struct{ x, limit, want float64 }{
		{1, 1000, 125}, {125, 1000, 125}, {126, 1000, 250}, {999, 1000, 1000}, {1000, 1000, 1000}, {5, 0, 8}, {3, 8, 4},
	} {
		if got := growing(c.x, c.limit); got != c.want {
			t.Errorf("growing(%v, %v) is %v, want %v", c.x, c.limit, got, c.want)
		}
	}
}

// An axis holds what it must, and holds still for small changes.
func TestStretchHoldsStillForSmallChanges(t *testing.T) {
	end, moves := 0.0, 0
	for i := range 1000 {
		need := 5 + math.Sin(float64(i))
		next := stretch(end, need)
		if next < need {
			t.Fatalf("the axis ends at %v, before %v", next, need)
		}
		if next != end {
			moves++
		}
		end = next
	}
	if moves > 2 {
		t.Errorf("the axis moved %d times for values between 4 and 6", moves)
	}
	if got := stretch(end, 0.1); got != 0.1 {
		t.Errorf("an axis to %v became one to %v for values to 0.1", end, got)
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if got := stretch(3, bad); got != 3 {
			t.Errorf("%v moved the axis to %v", bad, got)
		}
	}
}

// Where C is small beside the norms their axis is logarithmic, so that both can be
// seen, and it neither flickers nor follows every step.
func TestSmallThresholdsAreSeen(t *testing.T) {
	r := series.NewRecord(run.Config{}.WithDefaults(), run.PlanInfo{NoiseMultiplier: 1, Steps: 100})
	d := norms()
	for i, step := range []struct{ c, start float64 }{
		{1, 0}, {0.3, 0}, {0.15, 0.01}, {0.3, 0.01}, {0.01, 0.001}, {0.1, 0.001}, {0.9, 0.1}, {2, 0}, {0.3, 0}, {math.NaN(), 0},
	} {
		diag := run.Diag{Norms: &run.Norms{Counts: []int{1, 2, 3}, Max: 6, P10: 1, P50: 3, P90: 5}}
		r.Add([]run.Event{{Step: i + 1, Steps: 100, Released: run.Released{MaxGradNorm: step.c}, Diag: &diag}})
		d.draw(&d.Feed, []*series.Record{r})
		if n := d.Feed.Numbers; n[0] != step.start || n[1] != 6 || n[2] != step.c && step.c > 0 {
			t.Errorf("C = %v: the axis goes from %v to %v, C at %v", step.c, n[0], n[1], n[2])
		}
		if xs := d.Feed.Numbers[len(d.Feed.Numbers)-2*points:][:points]; xs[0] != step.start || math.Abs(xs[points-1]-6) > 1e-9 || !slices.IsSorted(xs) {
			t.Errorf("C = %v: the weights are drawn from %v to %v", step.c, xs[0], xs[points-1])
		}
	}
}

// What a chart is sent is laid out as charts.js reads it.
// TestTheAxisReachesTheThreshold: where some gradients are longer than C, or C is not far off, the
// axis reaches it, whatever nearly all of them are.
func TestTheAxisReachesTheThreshold(t *testing.T) {
	for _, tt := range []struct{ p90, most, c, want float64 }{
		{0.4, 3.07, 2.1, 2.52},
		{0.4, 3.07, 0.5, 0.8},
		{0.4, 0.5, 0.9, 1.08},
		{0.4, 0.5, 7, 0.5},
		{0.4, 3.07, math.NaN(), 0.8},
		{0, 3, 2.9, 3.48},
	} {
		if got := axisFor(&run.Norms{P90: run.Number(tt.p90), Max: run.Number(tt.most)}, tt.c); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("norms to %v, nearly all to %v, C %v: the axis reaches %v, not %v", tt.most, tt.p90, tt.c, got, tt.want)
		}
	}
}

// On a logarithmic axis a batch's bins are equally wide and begin where it does; the noisy
// ones stay where they are, and so do those of runs of earlier versions.
func TestBinsFollowTheAxis(t *testing.T) {
	of := func(c float64, n run.Norms) Histogram {
		d, h := &normsDrawing{}, Histogram{}
		h.Start = startFor(0, float64(n.Max), c, 1)
		d.bins(&h, &n)
		return h
	}
	n := run.Norms{Counts: []int{9}, Max: 10, LogCounts: make([]int, 41), LogMin: 0.1}
	n.LogCounts[0], n.LogCounts[1], n.LogCounts[40] = 5, 3, 1
	for _, tt := range []struct {
		c, start, low, first float64
		bins                 int
	}{{1, 0, 0, 9, 1}, {0.3, 0.1, 0.1, 5, 41}, {0.03, 0.01, 0.01, 0, 61}} {
		h := of(tt.c, n)
		if h.Start != tt.start || h.Low != tt.low || h.Counts[0] != tt.first || len(h.Counts) != tt.bins {
			t.Errorf("C = %v: %d bins from %v on an axis from %v, the first of %v", tt.c, len(h.Counts), h.Low, h.Start, h.Counts[0])
		}
		if want := 0.1 * math.Pow(10, 41./run.LogBins); h.Low > 0 && math.Abs(h.Max-want) > 1e-9 {
			t.Errorf("C = %v: the bins end at %v, not %v", tt.c, h.Max, want)
		}
	}
	for _, tt := range []struct{ start, p10, want float64 }{{0, 0.2, 0.1}, {0, 0.02, 0.01}, {0.01, 0.2, 0.01}, {0.001, 0.3, 0.1}, {0.1, 0.06, 0.1}, {0, 0, 0.0001}} {
		if got := startFor(tt.start, 10, 0.3, tt.p10); got != tt.want {
			t.Errorf("with a tenth of the norms below %v an axis from %v begins at %v", tt.p10, tt.start, got)
		}
	}
	n.LogMin, n.LogCounts = 0.01, append(make([]int, 20), n.LogCounts...)
	n.LogCounts[0], n.LogCounts[2] = 1, 1
	if h := of(0.3, n); h.Low != 0.1 || len(h.Counts) != 41 || h.Counts[0] != 7 || h.Counts[1] != 3 {
		t.Errorf("shorter norms: %v from %v", h.Counts, h.Low)
	}
	wide := Histogram{Start: 0.001, End: 10}
	(&normsDrawing{}).bins(&wide, &n)
	if want := 0.001 * math.Pow(10, 4.1); len(wide.Counts) != 41 || wide.Counts[10] != 1 || wide.Counts[11] != 1 || math.Abs(wide.Max-want) > 1e-9 {
		t.Errorf("beyond three decades: %v to %v", wide.Counts, wide.Max)
	}
	if h := of(0.3, run.Norms{Counts: []int{4, 5}, Max: 10}); h.Low != 0 || h.Max != 10 || len(h.Counts) != 2 {
		t.Errorf("a run of an earlier version: %v", h)
	}
}

func TestNumbersAreSentAsTheScriptReadsThem(t *testing.T) {
	var f Feed
	var got []float64
	f.sink = func(n []float64) { got = append(got[:0], n...) }
	f.Marks = []Mark{{0, run.Changed{Step: 2, Field: "learning_rate", From: 0.5, To: 7}}}
	f.Lines(10, 5, []float64{1, 2}, []float64{3, 4})
	for i, want := range []float64{2, 2, 10, 5, 0, 1, 2, 3, 4, 1, 0, 2, 2, 0.5, 7} {
		if len(got) != 15 || got[i] != want {
			t.Fatalf("sent %v", got)
		}
	}
	f.Histogram(Histogram{Start: 0.5, End: 1, Mark: 2, HighestOfWeights: 3, Counts: []float64{7, 8}, Low: 3, Max: 4, Noisy: []float64{9}, Range: 5, Norms: []float64{0, 1}, Weights: []float64{1, 0.5}})
	for i, want := range []float64{0.5, 1, 2, 3, 3, 4, 2, 7, 8, 5, 1, 9, 2, 0, 1, 1, 0.5} {
		if len(got) != 17 || got[i] != want {
			t.Fatalf("sent %v, differs at %d", got, i)
		}
	}
	f.Clear()
	if len(got) != 0 {
		t.Errorf("cleared, but sent %v", got)
	}
}

// Where a run went on after an interruption its charts over steps begin, and say so.
func TestResumedRunsAreMarked(t *testing.T) {
	s := New(1)
	r := series.NewRecord(run.Config{Method: "constant", MaxGradNorm: 1}, run.PlanInfo{Steps: 600, NoiseMultiplier: 1})
	r.Resumed = 120
	r.Add([]run.Event{series.Example(121)})
	s.Draw([]*series.Record{r})
	for c := range s.charts {
		if c.Spec.Sync == syncSteps && c.Feed.Numbers[4] != 120 {
			t.Errorf("%s begins at step %v", c.Title, c.Feed.Numbers[4])
		}
	}
	r.Resumed = 0
	if s.Draw([]*series.Record{r}); s.numbers(t, "Loss")[4] != 0 {
		t.Error("a run from its beginning is marked")
	}
}

// numbers are what the chart of a title was sent last.
func (s *Set) numbers(t *testing.T, title string) []float64 {
	t.Helper()
	for c := range s.charts {
		if c.Title == title {
			return c.Feed.Numbers
		}
	}
	t.Fatalf("there is no chart %q", title)
	return nil
}

// What runs release is for who saves a chart of them no better protected than the least of
// them, side by side as alone.
func TestChartsKnowWhatProtectsThem(t *testing.T) {
	of := func(p run.PlanInfo) *series.Record {
		p.Steps = 600
		r := series.NewRecord(run.Config{Method: "constant", MaxGradNorm: 1}, p)
		r.Add([]run.Event{series.Example(1)})
		return r
	}
	bare, taught, covered := of(run.PlanInfo{}), of(run.PlanInfo{NoiseMultiplier: 1}), of(run.PlanInfo{NoiseMultiplier: 1, Private: true})
	late := series.NewRecord(run.Config{}, run.PlanInfo{})
	for _, c := range []struct {
		runs []*series.Record
		want Cover
	}{
		{[]*series.Record{bare}, Bare},
		{[]*series.Record{covered, taught}, Taught},
		{[]*series.Record{covered, late}, Covered},
		{[]*series.Record{taught, bare}, Bare},
	} {
		s := New(len(c.runs))
		s.Draw([]*series.Record{covered})
		s.Draw(c.runs)
		for x := range s.charts {
			if x.Feed.Cover != c.want {
				t.Errorf("%s: %v, want %v", x.Title, x.Feed.Cover, c.want)
			}
		}
		for _, p := range s.Panels(c.runs, run.Config{Method: "constant"}, data.Classification, false) {
			if p.Bare != (c.want != Covered) {
				t.Errorf("%s: its badge says that there is a guarantee, or none: %v", p.ID, p.Bare)
			}
		}
		for _, o := range Overlays(make([]Lane, len(c.runs)), false, false) {
			if o.Draw(c.runs); o.Feed.Cover != c.want {
				t.Errorf("%s of lanes: %v, want %v", o.Title, o.Feed.Cover, c.want)
			}
		}
	}
	// What another run left is not taken for one's own.
	s := New(1)
	bare.Norms, bare.Noisy = &run.Norms{Counts: []int{1}, Max: 1}, []float64{1}
	s.Draw([]*series.Record{bare})
	covered.Norms = nil
	if s.Draw([]*series.Record{covered}); len(s.numbers(t, "Gradient norms")) != 0 {
		t.Error("the norms of a run without noise are shown as those of another")
	}
}

// Drawing a run at full length takes no memory that grows with it.
func TestDrawingIsBounded(t *testing.T) {
	r := exampleRecord(10000, false)
	s := New(1)
	runs := []*series.Record{r}
	s.Draw(runs)
	if n := len(s.numbers(t, "Accuracy")); n > 4+3*series.Limit {
		t.Errorf("a chart of three columns is sent %d numbers", n)
	}
	if allocs := testing.AllocsPerRun(20, func() { s.Draw(runs) }); allocs > 4 {
		t.Errorf("drawing allocates %v times", allocs)
	}
}

func TestDrawLeavesOutMissingDiagnostics(t *testing.T) {
	r := series.NewRecord(run.Config{}.WithDefaults(), run.PlanInfo{NoiseMultiplier: 1, Steps: 10})
	r.Add([]run.Event{{Step: 1, Steps: 10, Released: run.Released{MaxGradNorm: 1, Epsilon: run.Number(math.Inf(1))}}})
	s := New(1)
	s.Draw([]*series.Record{r})
	if clipping, norms := s.numbers(t, "Clipping frequency"), s.numbers(t, "Gradient norms"); len(clipping) == 0 || len(norms) != 0 {
		t.Errorf("sent %d and %d numbers", len(clipping), len(norms))
	}
}

// Several runs are drawn over the steps of all of them, one line after the other.
func TestSeveralRunsInOneChart(t *testing.T) {
	var runs []*series.Record
	for _, steps := range [][]int{{1, 2, 4}, {2, 3}} {
		r := series.NewRecord(run.Config{}.WithDefaults(), run.PlanInfo{NoiseMultiplier: 1, Steps: 4})
		for _, step := range steps {
			r.Add([]run.Event{{Step: step, Steps: 4, Released: run.Released{MaxGradNorm: float64(10*len(steps) + step)}}})
		}
		runs = append(runs, r)
	}
	s := New(2)
	s.Draw(append(runs, series.NewRecord(run.Config{}, run.PlanInfo{})))
	nan := math.NaN()
	want := []float64{3, 4, 4, nan, 0, 1, 2, 3, 4, 31, 32, nan, 34, nan, 22, 23, nan, 0}
	got := s.numbers(t, "Threshold C")
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
		t.Errorf("sent %v", got)
	}
	for c := range s.charts {
		if numbers := c.Feed.Numbers; c.Spec.Kind == "lines" && len(numbers) > 0 && int(numbers[0]) != 1+len(c.Spec.Series) {
			t.Errorf("%s has %d lines and is sent %v columns", c.Title, len(c.Spec.Series), numbers[0])
		}
	}
}

// TestThresholdsOfLayersAreShown: where each layer has one of its own, the chart's values have them all.
func TestThresholdsOfLayersAreShown(t *testing.T) {
	r := series.NewRecord(run.Config{}.WithDefaults(), run.PlanInfo{NoiseMultiplier: 1, Steps: 4})
	c := threshold()
	for _, layers := range [][]float64{nil, {0.25, 1.5, 0.0313}} {
		r.Add([]run.Event{{Step: 1, Steps: 4, Released: run.Released{MaxGradNorm: 1.521, MaxGradNorms: layers}}})
		all := ""
		for _, row := range c.rows(r) {
			if strings.Contains(row.Name, "by layer") {
				all = row.Value
			}
		}
		if shown := all == "0.25 · 1.5 · 0.0313"; shown != (layers != nil) {
			t.Errorf("of the thresholds %v is shown %q", layers, all)
		}
	}
}

func TestEveryChartSaysWhatItIs(t *testing.T) {
	for _, p := range New(1).Panels(nil, run.Config{Method: "dc-e"}.WithDefaults(), data.Classification, false) {
		html := app.HTMLString(p)
		for _, f := range p.Charts {
			if f.has == nil || f.draw == nil {
				t.Fatalf("%s, %s: a chart has a has and a draw", p.ID, f.Title)
			}
			if !strings.Contains(html, f.Empty) || !strings.Contains(html, "badge-"+string(f.Ink)) {
				t.Errorf("%s, %s: no badge, or no word of what will be here", p.ID, f.Title)
			}
			for _, l := range f.Spec.Series {
				if f.Ink == Released && l.Ink != Released {
					t.Errorf("%s: a chart called released draws %q, which is not", f.Title, l.Label)
				}
			}
		}
	}
}

// Whoever saves a chart is told what its values are, where they are released; each chart
// has a button for it, and each line a name for a file's column.
func TestSavedChartsSayWhatTheirValuesAre(t *testing.T) {
	specs := map[string]*Spec{}
	inks := map[string]Ink{}
	for c := range New(2).charts {
		specs[c.Title], inks[c.Title] = &c.Spec, c.Ink
	}
	lanes := []Lane{{Label: "C = 1"}, {Label: "C = 2", Place: 1}, {Label: "before", Kept: true}}
	begun := series.NewRecord(run.Config{}, run.PlanInfo{Steps: 600})
	begun.Add([]run.Event{series.Example(1)})
	for _, o := range append(Overlays(lanes, false, false), Overlays(lanes, true, true)...) {
		specs["lanes: "+o.Title], inks["lanes: "+o.Title] = &o.Spec, o.Ink
		if html := app.HTMLString(o.View()); strings.Count(html, `data-opens="save"`) != 1 || !strings.Contains(html, `data-title="`+o.Title+`"`) {
			t.Errorf("lanes: %s has no button that saves it by its title", o.Title)
		}
		empty := func() bool { return strings.Contains(app.HTMLString(o.View()), o.Empty) }
		if o.Empty == "" || !empty() {
			t.Errorf("lanes: %s has no words while its runs wait", o.Title)
		}
		if o.Draw([]*series.Record{begun, nil, nil}); empty() {
			t.Errorf("lanes: %s has words in the place of a run", o.Title)
		}
	}
	specs["sweep"], inks["sweep"] = &NewSwept(lanes, false).Spec, Diagnostic
	var released []string
	for title, spec := range specs {
		if want := inks[title]; spec.Values != want && (want != Public || spec.Values != Released) {
			t.Errorf("%s is %s, and saved as %q", title, inks[title], spec.Values)
		}
		if spec.Values == Released {
			released = append(released, title)
		}
		names := map[string]bool{}
		for _, l := range spec.Series {
			name := l.Label + l.Name
			if name == "" && spec.Kind == "lines" || title == "sweep" && names[name] {
				t.Errorf("%s: a line without a name of its own: %q", title, name)
			}
			names[name] = true
		}
	}
	// What a chart may be saved as is decided here once more: a row for each that is released.
	slices.Sort(released)
	if want := []string{"Estimated error", "Learning rate", "Parties in each sum", "Privacy cost", "Threshold C", "lanes: Threshold C"}; !slices.Equal(released, want) {
		t.Errorf("the charts %q are released, want %q: a released chart draws nothing but released values and public settings", released, want)
	}
	for _, p := range New(1).Panels(nil, run.Config{Method: "dc-e"}.WithDefaults(), data.Classification, false) {
		if html := app.HTMLString(p); strings.Count(html, `data-opens="save"`) != len(p.Charts) {
			t.Errorf("%s: %d charts, other buttons that save them", p.ID, len(p.Charts))
		}
	}
	if said, err := json.Marshal(Spec{}); err != nil || strings.Contains(string(said), "values") {
		t.Errorf("a chart that says nothing of its values says %s, %v", said, err)
	}
}

// A blind run's charts of diagnostics are empty and say why; those of released
// values are drawn.
func TestBlindChartsSayWhy(t *testing.T) {
	r, s := exampleRecord(400, true), New(1)
	runs := []*series.Record{r}
	for _, over := range []bool{false, true} {
		want := map[bool]string{true: "this run was blind", false: "the run is blind"}[over]
		for _, p := range s.Panels(runs, r.Config, data.Classification, over) {
			for i, c := range p.Charts {
				said := p.without(i) && strings.Contains(p.instead(i), want)
				if said != (c.Ink == Diagnostic) {
					t.Errorf("over %t, %s: empty %t, says %q", over, c.Title, p.without(i), p.instead(i))
				}
			}
			if html := app.HTMLString(p); strings.Contains(html, "batch size</th><td class=\"figure value-diagnostic\">0") {
				t.Errorf("%s shows a batch size that nobody told", p.ID)
			}
		}
	}
	for _, p := range s.Panels(nil, r.Config, data.Classification, false) {
		if p.Charts[0].Ink == Diagnostic && !strings.Contains(p.instead(0), "the run is blind") {
			t.Errorf("before a blind run, %s: %q", p.ID, p.instead(0))
		}
	}
}

// Runs that take the place of others of the same names get charts of their own: a chart
// on the page shows the feed that it was mounted with.
func TestChartsOfOneNameAreToldApart(t *testing.T) {
	lanes := []Lane{{Label: "constant"}, {Label: "dc-e", Place: 1}}
	plot := func(o *Overlay) *Plot { return &Plot{Spec: &o.Spec, Feed: &o.Feed, Label: o.Title} }
	for i, before := range Overlays(lanes, false, false) {
		after := Overlays(lanes, false, false)[i]
		was := plot(before).CompoID()
		if was == plot(after).CompoID() {
			t.Errorf("%s of other runs would be drawn where nobody looks", before.Title)
		}
		if now := plot(before).CompoID(); now != was {
			t.Errorf("%s is made anew whenever the page is drawn", before.Title)
		}
	}
}

// TestRateIsAChartWhereItMoves: there is a chart of the learning rate with a schedule, with a
// warm-up, and once a run's rate was changed; it is called public, and is saved as what may be.
func TestRateIsAChartWhereItMoves(t *testing.T) {
	changed := series.NewRecord(run.Config{}.WithDefaults(), run.PlanInfo{Steps: 4})
	changed.Add([]run.Event{{Step: 1, Steps: 4, Released: run.Released{LearningRate: 0.2}, Changes: []run.Changed{{Step: 1, Field: "learning_rate", From: 0.1, To: 0.2}}}})
	for _, c := range []struct {
		cfg  run.Config
		runs []*series.Record
		want bool
	}{
		{run.Config{}, nil, false},
		{run.Config{LearningRateSchedule: "constant"}, nil, false},
		{run.Config{LearningRateSchedule: "cosine"}, nil, true},
		{run.Config{WarmupSteps: 3}, nil, true},
		{run.Config{}, []*series.Record{changed}, true},
	} {
		s, shown := New(1), false
		s.Draw(c.runs)
		for _, p := range s.Panels(c.runs, c.cfg.WithDefaults(), data.Classification, false) {
			for _, x := range p.Charts {
				if x.Title != "Learning rate" {
					continue
				}
				shown = true
				if x.Spec.Values != Released || !strings.Contains(app.HTMLString(p), "badge-public") {
					t.Errorf("%+v: the chart is saved as %s", c.cfg, x.Spec.Values)
				}
			}
		}
		if shown != c.want {
			t.Errorf("%+v: the rate is a chart: %t", c.cfg, shown)
		}
	}
	if got := series.FromEvent(&changed.Last); got[series.Rate] != 0.2 {
		t.Errorf("a rate of %v is kept", got[series.Rate])
	}
}
