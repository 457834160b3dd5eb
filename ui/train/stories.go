package train

import (
	"math"
	"strconv"
	"time"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/results"
	"clipscope/ui/series"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Stories returns the parts around a run, each alone. Charts are made here and not as they are
// seen: of others each time, the page would draw itself for ever.
func Stories() []widget.Story {
	edited, list, table := exampleCaption(false), exampleCaption(true), exampleTable()
	return []widget.Story{
		{Name: "Run bar, idle", View: func() app.UI {
			return &runBar{View: runView{Phase: idle, Steps: 1000, Left: math.NaN(), Spent: math.NaN(), Whole: 1}, Actions: nobody{}, Setup: nobody{}}
		}},
		{Name: "Run bar, running", View: func() app.UI {
			return &runBar{View: runView{Phase: running, Step: 412, Steps: 1000, Left: 18, Spent: 0.63, Whole: 1, Place: run.Place{Backend: "webgpu", Device: "a card of the future"}, PerStep: 0.0012, Moved: 2600}, Actions: nobody{}, Setup: nobody{}}
		}},
		{Name: "Run bar, paused", View: func() app.UI {
			return &runBar{View: runView{Phase: paused, Step: 412, Steps: 1000, Left: 18, Spent: 0.63, Whole: 1}, Actions: nobody{}, Setup: nobody{}}
		}},
		{Name: "Run bar, failed", View: func() app.UI {
			return &runBar{View: runView{Phase: failed, Step: 412, Steps: 1000, Left: math.NaN(), Spent: 0.63, Whole: 1, Fault: "The trainer ran out of memory, and only this run ended. Take a smaller model, a smaller max_physical_batch_size or fewer rows."}, Actions: nobody{}, Setup: nobody{}}
		}},
		{Name: "Run of the list, edited since", View: func() app.UI { return &caption{View: edited, Actions: nobody{}} }},
		{Name: "List of runs", View: func() app.UI { return &caption{View: list, Actions: nobody{}} }},
		{Name: "Table of results", View: func() app.UI { return table.view() }},
		{Name: "Interrupted run", View: func() app.UI { return exampleInterrupted(false) }},
		{Name: "Interrupted run, to be discarded", View: func() app.UI { return exampleInterrupted(true) }},
		{Name: "Result", View: func() app.UI { return &resultView{Result: exampleResult(), Saver: nobody{}} }},
		{Name: "Result, a model being written", View: func() app.UI {
			return &resultView{Result: exampleResult(), Writing: "Writing clipscope-model.zip: 34 MB", Saver: nobody{}}
		}},
		{Name: "Result, a check failed", View: func() app.UI { return &resultView{Result: exampleDoubted(), Saver: nobody{}} }},
		{Name: "Result, stopped", View: func() app.UI { return &resultView{Result: exampleStopped(), Saver: nobody{}} }},
	}
}

// nobody takes the events of stories.
type nobody struct{}

func (nobody) start()            {}
func (nobody) takeShown()        {}
func (nobody) takeBounds()       {}
func (nobody) takeModel()        {}
func (nobody) pause()            {}
func (nobody) step()             {}
func (nobody) stop()             {}
func (nobody) reset()            {}
func (nobody) toggleSheet()      {}
func (nobody) save(string, bool) {}
func (nobody) saveModel(string)  {}
func (nobody) use()              {}
func (nobody) toggle()           {}
func (nobody) chooseRun(entry)   {}
func (nobody) compare(entry)     {}
func (nobody) back()             {}

func (nobody) removeRun(string, bool) {}
func (nobody) discard(string, bool)   {}

type nobodyGoesOn struct{ nobody }

func (nobodyGoesOn) choose(run.KeptRun) {}

// exampleInterrupted is a list of two runs of files; sure is to be said of the first.
func exampleInterrupted(sure bool) *interruptedView {
	v := &interruptedView{Actions: nobodyGoesOn{}, List: []run.KeptRun{
		{ID: "b", CheckpointInfo: run.CheckpointInfo{Data: "german.csv", Steps: 1000}, Step: 340},
		{ID: "a", CheckpointInfo: run.CheckpointInfo{Data: "digits", Builtin: "digits", Steps: 1000}, Step: 12},
	}}
	if sure {
		v.Doubt = "b"
	}
	return v
}

func exampleCaption(list bool) captionView {
	now, set := time.Date(2026, 11, 21, 14, 3, 25, 0, time.Local), "digits, 6,000 × 784, 10 classes"
	v := captionView{Title: "Run of 14:03:25, stopped after step 312 of 938. ", Now: now, Next: []form.Card{form.Clipping},
		Made: []string{set, "softmax, 7,850 parameters", "Constant threshold, C 1", "ε 2.00, δ 1e−5, σ 1.13, 938 steps", "batches of 256, 40 epochs", "SGD, η 0.5", "cryptographic randomness (CSPRNG)"},
		Runs: []entry{
			{ID: "c", Ended: now, Method: "Constant threshold", Data: set, Private: true, Epsilon: 2, Score: "test accuracy 88.4 %", State: "stopped after step 312 of 938"},
			{ID: "b", Ended: now.Add(-time.Hour), Method: "Automatic clipping (AUTO-S)", Data: set, Private: true, Epsilon: 2, Score: "test accuracy 91.2 %", State: "finished", Bytes: 84_100},
			{ID: "a", Ended: now.AddDate(0, -1, 0), Method: "Constant threshold", Data: set, Epsilon: 2, State: "ended by an error after step 40 of 938", Bytes: 12_300},
		}}
	v.Compared = &comparison{}
	for i, eta := range []float64{0.5, 0.25} {
		t := newTrial(newEnv())
		t.id, t.phase, t.result = v.Runs[i].ID, done, exampleResult()
		t.record = series.NewRecord(run.Config{Method: "constant", LearningRate: eta}.WithDefaults(), run.PlanInfo{Steps: 400})
		for step := 1; step <= 400; step += 9 {
			t.record.Add([]run.Event{series.Example(step + 40*i)})
		}
		v.Compared.addRun(t)
	}
	if list {
		v.Open, v.Doubt, v.Fault = true, "b", "The list of runs in this browser's storage cannot be used (it is full)."
	}
	return v
}

func exampleResult() *run.Result {
	return &run.Result{Steps: 938, PlannedSteps: 938, Epsilon: 1.9993, EpsilonAtStep: 1.9993, Delta: 1e-5, Accountant: "rdp", TestAccuracy: 0.912, TestLoss: 0.31, TestRows: 1000, TrainSeconds: 4.2,
		TestClasses: []run.ClassScore{{Class: "0", Rows: 760, Recall: 0.95, Precision: 0.93}, {Class: "1", Rows: 240, Recall: 0.79, Precision: 0.84}, {Class: "2", Recall: run.Number(math.NaN()), Precision: run.Number(math.NaN())}},
		TestScores: &run.Scores{
			Confusion: [][]int{{722, 38, 0}, {50, 190, 0}, {0, 0, 0}}, Balanced: 0.87, ROCArea: 0.94, AveragePrecision: 0.89, CalibrationError: 0.04,
			Calibration: []run.Calibrated{{Rows: 210, Sure: 0.55, Accuracy: 0.71}, {Rows: 790, Sure: 0.93, Accuracy: 0.97}},
			MeanError:   run.Number(math.NaN()), MedianError: run.Number(math.NaN()), OfMean: run.Number(math.NaN()), RootError: run.Number(math.NaN()), R2: run.Number(math.NaN()),
		},
		Backend:   "simd, relaxed",
		Notes:     []string{"WebGPU was asked for and is not available here; SIMD was used."},
		Guarantee: "(ε = 2, δ = 1e-05)-differential privacy for every training row, under replacing it by an empty one (zero-out; the number of rows is public), by the RDP accountant.",
		Statement: []byte(`{"short":"The model was trained with DP-SGD.","sections":[{"id":"promise","title":"What is promised","paragraphs":["What this run released satisfies (ε = 2, δ = 1e-05)-differential privacy by the RDP accountant."]},{"id":"attacker","title":"What an attacker can do","paragraphs":["The attacker's best guess, “in” or “not in”, is right at most 59 % of the time."]}],"attacker":{"posterior_at_most":0.92,"except_with_probability":1e-5,"right_at_most":0.59,"false_positive_rate_at_half":0.32,"false_positive_rate":[0.00001,0.0001,0.001,0.01,0.1,1],"true_positive_rate":[0.00008,0.0006,0.0046,0.034,0.2,1]},"text":"What is promised\nWhat this run released satisfies (ε = 2, δ = 1e-05)-differential privacy by the RDP accountant.\n"}`)}
}

// exampleTable has three runs of two configurations.
func exampleTable() *resultsTable {
	e := newEnv()
	r := newResultsTable(e, &keptRuns{env: e, isInterrupted: func(string) bool { return false }})
	r.open = true
	for i, method := range []string{"constant", "psac", "psac"} {
		id, result := strconv.Itoa(i), exampleResult()
		result.TestAccuracy += run.Number(i) / 100
		r.kept.stored = append(r.kept.stored, entry{ID: id})
		r.chosen[id] = true
		r.outcomes[id] = results.Run{Config: run.Config{Method: method}, Data: "digits, 6,000 × 784",
			Released: results.Released{Epsilon: result.Epsilon, Delta: result.Delta, Private: true, Steps: result.Steps}, Diagnostic: results.NewDiagnostic(result)}
	}
	return r
}

func exampleDoubted() *run.Result {
	r := exampleResult()
	r.Epsilon, r.EpsilonAtStep, r.TestClasses, r.TestScores, r.Notes = run.Number(math.Inf(1)), run.Number(math.Inf(1)), nil, nil, nil
	r.Checks = []run.Check{
		{Name: "every tensor was trained", OK: true},
		{Name: "noise had the promised deviation", Detail: "The noise as a whole is not what was promised."},
	}
	const why = "a check that the run makes of itself failed (“noise had the promised deviation”)"
	r.Guarantee = run.NoGuarantee + why + "."
	r.Statement = []byte(`{"no_guarantee_because":["` + why + `"],"short":"The model was trained without a privacy guarantee: ` + why + `.","sections":[{"id":"promise","title":"No guarantee: a check failed","paragraphs":["The run checked itself, and a check failed. No ε is claimed.","Failed: “noise had the promised deviation”. The noise as a whole is not what was promised.","Treat its model and figures as you treat the rows."]}],"text":"No guarantee: a check failed\n"}`)
	return r
}

func exampleStopped() *run.Result {
	r := exampleResult()
	r.Steps, r.Stopped, r.Notes = 312, true, nil
	r.EpsilonAtStep = 1.0312
	r.Guarantee = "(ε = 2, δ = 1e-05)-differential privacy for every training row, under replacing it by an empty one (zero-out; the number of rows is public), by the RDP accountant. It was stopped after step 312 and is charged all 938; had 312 been fixed beforehand, ε would be 1.032. Diagnostics were shown: if they decided when to stop, the number of steps tells something that no ε covers."
	return r
}
