package ui

import (
	"math"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/series"
)

func TestGrowing(t *testing.T) {
	for _, c := range []struct{ x, limit, want float64 }{
		{1, 1000, 125}, {125, 1000, 125}, {126, 1000, 250}, {999, 1000, 1000}, {1000, 1000, 1000}, {5, 0, 8}, {3, 8, 4},
	} {
		if got := growing(c.x, c.limit); got != c.want {
			t.Errorf("growing(%v, %v) is %v, want %v", c.x, c.limit, got, c.want)
		}
	}
}

// An axis holds what it must, and holds still for small changes.
func TestStretch(t *testing.T) {
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

func TestPace(t *testing.T) {
	var p pace
	if !math.IsNaN(p.left(100)) {
		t.Error("an unknown pace gives a time")
	}
	for i := range 20 {
		p.see(float64(i)*0.5, 10*i)
	}
	if got := p.left(290); math.Abs(got-5) > 1e-9 {
		t.Errorf("100 steps at 20 a second take %v s", got)
	}
	p.rest()
	p.see(1000, 190) // after a pause
	p.see(1000.5, 200)
	if got := p.left(300); math.Abs(got-5) > 1e-6 {
		t.Errorf("the pause counts: %v s", got)
	}
}

func TestWeightOf(t *testing.T) {
	for _, c := range []struct {
		cfg        run.Config
		norm, want float64
	}{
		{run.Config{Method: "constant", MaxGradNorm: 1}, 4, 0.25},
		{run.Config{Method: "dc-e", MaxGradNorm: 1, ExpectedBatchSize: 100}, 0.5, 1},
		{run.Config{Method: "dc-e", Weight: "auto-s", MaxGradNorm: 1, ExpectedBatchSize: 100}, 0.99, 1},
	} {
		w := weightOf(c.cfg, 1, 100)
		if w == nil {
			t.Errorf("%s has no weight function", c.cfg.Method)
			continue
		}
		if got := w(c.norm, 1); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s %s: w(%v) is %v, want %v", c.cfg.Method, c.cfg.Weight, c.norm, got, c.want)
		}
	}
	for _, name := range []string{"none", "no such method"} {
		if weightOf(run.Config{Method: name, MaxGradNorm: 1}, 1, 100) != nil {
			t.Errorf("%q has a weight function", name)
		}
	}
}

// What a chart is sent is laid out as charts.js reads it.
func TestLinesLayout(t *testing.T) {
	var f Feed
	var got []float64
	f.sink = func(n []float64) { got = append(got[:0], n...) }
	f.Lines(10, 5, []float64{1, 2}, []float64{3, 4})
	for i, want := range []float64{2, 2, 10, 5, 1, 2, 3, 4} {
		if len(got) != 8 || got[i] != want {
			t.Fatalf("sent %v", got)
		}
	}
	f.Histogram(Histogram{End: 1, Mark: 2, HighestOfWeights: 3, Counts: []float64{7, 8}, Max: 4, Noisy: []float64{9}, Range: 5, Norms: []float64{0, 1}, Weights: []float64{1, 0.5}})
	for i, want := range []float64{1, 2, 3, 4, 2, 7, 8, 5, 1, 9, 2, 0, 1, 1, 0.5} {
		if len(got) != 15 || got[i] != want {
			t.Fatalf("sent %v, differs at %d", got, i)
		}
	}
	f.Clear()
	if len(got) != 0 {
		t.Errorf("cleared, but sent %v", got)
	}
}

// Drawing a run at full length takes no memory that grows with it.
func TestDrawingIsBounded(t *testing.T) {
	l := newLive(exampleSession().cfg.WithDefaults(), run.PlanInfo{NoiseMultiplier: 1, Steps: 10000})
	var f feeds
	for step := 1; step <= 10000; step++ {
		l.add([]run.Event{exampleEvent(step)})
	}
	l.draw(&f)
	if n := len(f.accuracy.numbers); n > 4+3*series.Limit {
		t.Errorf("a chart of three columns is sent %d numbers", n)
	}
	if allocs := testing.AllocsPerRun(20, func() { l.draw(&f) }); allocs > 4 {
		t.Errorf("drawing allocates %v times", allocs)
	}
}

func TestDrawWithoutDiagnostics(t *testing.T) {
	l := newLive(run.Config{}.WithDefaults(), run.PlanInfo{NoiseMultiplier: 1, Steps: 10})
	l.add([]run.Event{{Step: 1, Steps: 10, Released: run.Released{MaxGradNorm: 1, Epsilon: run.Number(math.Inf(1))}}})
	var f feeds
	l.draw(&f)
	if len(f.clipping.numbers) == 0 || len(f.norms.numbers) != 0 {
		t.Errorf("sent %d and %d numbers", len(f.clipping.numbers), len(f.norms.numbers))
	}
}
