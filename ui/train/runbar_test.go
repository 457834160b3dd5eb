package train

import (
	"math"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

func TestRunBarSaysStepPaceAndEpsilon(t *testing.T) {
	for _, c := range []struct {
		view runView
		want []string
	}{
		{runView{Phase: idle, Steps: 1000, Spent: math.NaN(), Left: math.NaN(), Whole: 1}, []string{"Start", "step 0 / 1,000", "ready", "– / ", "1.00"}},
		{runView{Phase: running, Step: 412, Steps: 1000, Left: 17.3, Spent: 0.63, Whole: 1}, []string{"Pause", "step 412 / 1,000", "18 s left", "0.63 / ", "<strong>1.00"}},
		{runView{Phase: running, Step: 4, Steps: 9, Within: 0.37, Left: math.NaN()}, []string{"step 4 / 9, 37 % of the next", `value="4.37`}},
		{runView{Phase: done, Step: 5, Steps: 5, Spent: 0.63, Whole: 1, Unbacked: true}, []string{"it carries no guarantee.", "<small>no guarantee"}},
		{runView{Phase: done, Step: 5, Steps: 5, Spent: math.Inf(1)}, []string{"5 of 5 steps; it carries no guarantee.", "<strong>∞"}},
		{runView{Phase: running, Step: 9, Steps: 10, Left: 0.2, Spent: 0.63}, []string{"under 1 s left"}},
		{runView{Phase: paused, Step: 1, Steps: 2, Spent: math.Inf(1), Left: math.NaN()}, []string{"Resume", "paused", "∞"}},
		{runView{Phase: running, Step: 4, Steps: 9, PerStep: math.NaN(), Place: run.Place{Backend: "simd", Trying: true}}, []string{"trying what is fastest…"}},
		{runView{Phase: running, Step: 4, Steps: 9, PerStep: 0.00123, Place: run.Place{Backend: "simd", Threads: 4, Why: "It is faster."}}, []string{">1.23 ms a step, SIMD, 4 threads<", `title="1.23 ms a step, SIMD, 4 threads. It is faster."`}},
		{runView{Phase: running, PerStep: math.NaN(), Place: run.Place{Backend: "webgpu", Compiling: true}}, []string{">WebGPU compiles its programs…<"}},
		{runView{Phase: running, PerStep: math.NaN(), Place: run.Place{Backend: "simd", Threads: 2, Instead: "webgpu"}}, []string{">SIMD in the place of WebGPU, 2 threads<"}},
		{runView{Phase: running, Step: 4, Steps: 9, PerStep: 0.5, Moved: 2600, Place: run.Place{Backend: "webgpu", Threads: 1, Device: "a card"}}, []string{">500 ms and 2.6 kB a step, WebGPU on a card<"}},
		{runView{Phase: running, PerStep: math.NaN(), Place: run.Place{Backend: "webgpu", Threads: 1, Device: "a card", Programs: 23, CompileSeconds: 1.42}}, []string{">WebGPU on a card, 23 programs compiled in 1.4 s<"}},
		{runView{Phase: done, Step: 2, Steps: 2, Spent: 1, Left: 0}, []string{"New run", "finished"}},
		{runView{Phase: done, Stopped: true, Step: 1, Steps: 2, Spent: 1, Left: 0}, []string{"step 1 / 2", "stopped"}},
	} {
		html := app.HTMLString(&runBar{View: c.view, Actions: nobody{}, Setup: nobody{}})
		for _, want := range c.want {
			if !strings.Contains(html, want) {
				t.Errorf("%s: no %q", c.view.Phase, want)
			}
		}
	}
}

// TestOwnFilesAreOfferedFirst: on a phone the setup is out of sight, so what leads to a
// person's files stands above the charts until there is a run, or a file.
func TestOwnFilesAreOfferedFirst(t *testing.T) {
	b := newBench(t)
	offered := func() bool {
		return strings.Contains(app.HTMLString((&Page{Session: b.Controller}).Render()), `id="first-files"`)
	}
	if !offered() {
		t.Error("a page that nobody touched offers no files")
	}
	b.load(6000)
	b.trials.start()
	b.client.runs[0].events([]run.Event{series.Example(1)})
	if offered() {
		t.Error("they stand above the charts of a run")
	}
}

// TestRunBarPromisesNothingAfterAFailedCheck: of a run whose check of itself failed no ε is told
// as a promise.
func TestRunBarPromisesNothingAfterAFailedCheck(t *testing.T) {
	r := newTrial(&env{})
	r.phase, r.record = done, series.NewRecord(run.Config{}.WithDefaults(), run.PlanInfo{NoiseMultiplier: 1, Steps: 3, Epsilon: 2, Private: true})
	for _, ok := range []bool{true, false} {
		r.result = &run.Result{Steps: 3, PlannedSteps: 3, Checks: []run.Check{{Name: "noise had the promised deviation", OK: ok}}}
		if v := r.view(nil); v.Unbacked == ok {
			t.Errorf("passed %t: no guarantee %t", ok, v.Unbacked)
		}
	}
}

// TestDeltaStaysBelowOneInAllRows: where nobody has chosen another.
func TestDeltaStaysBelowOneInAllRows(t *testing.T) {
	for _, c := range []struct {
		rows        int
		given, want float64
	}{{60_000, 0, 0}, {99_999, 0, 0}, {100_000, 0, 1e-6}, {400_000, 1e-5, 1e-6}, {1_000_000, 0, 1e-7}, {400_000, 1e-4, 1e-4}} {
		x := newExperiment(run.Config{Data: "files", TargetDelta: c.given})
		x.suit(&data.Report{Rows: c.rows, Features: 2, Outputs: 2, Task: data.Classification})
		if got := x.cfg.TargetDelta; math.Abs(got-c.want) > 1e-12*c.want {
			t.Errorf("%d rows, δ %v: %v, want %v", c.rows, c.given, got, c.want)
		}
	}
}

// TestSuitFollowsTheDeclaredNumber: what is changed to fit data is the same for one row more, where
// the number of rows is declared.
func TestSuitFollowsTheDeclaredNumber(t *testing.T) {
	for _, declared := range []int{0, 500} {
		batch := func(rows int) (float64, int) {
			x := newExperiment(run.Config{Data: "files", NumExamples: declared, ExpectedBatchSize: 300})
			x.facts = run.Facts{Rows: rows, Features: 2, Outputs: 2}
			said := x.suit(&data.Report{Rows: rows, Features: 2, Outputs: 2, Task: data.Classification})
			return x.cfg.ExpectedBatchSize, len(said)
		}
		b, said := batch(290)
		more, alsoSaid := batch(291)
		if same := b == more && said == alsoSaid; same != (declared > 0) {
			t.Errorf("%d declared: batches of %v, and %v with one row more", declared, b, more)
		}
	}
}
