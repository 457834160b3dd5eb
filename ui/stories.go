package ui

import (
	"math"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// storiesPage shows every component alone, with fixed data and no client.
type storiesPage struct {
	app.Compo
	list []story
}

// story is one component in one state.
type story struct {
	name string
	view func() app.UI
}

func (p *storiesPage) OnInit() { p.list = stories() }

func (p *storiesPage) Render() app.UI {
	return app.Div().Class("page prose").Body(
		&Header{Page: "stories", Sent: requests{Known: true}},
		app.Main().Class("stories").Body(
			app.H1().Text("Components"),
			app.Range(p.list).Slice(func(i int) app.UI {
				return app.Section().Class("story").Body(app.H2().Text(p.list[i].name), p.list[i].view())
			}),
		),
	)
}

// nobody takes the events of stories.
type nobody struct{}

func (nobody) Set(string, string)  {}
func (nobody) Settle(string)       {}
func (nobody) Open(form.Card)      {}
func (nobody) openFiles(app.Value) {}
func (nobody) cancelOpen()         {}
func (nobody) start()              {}
func (nobody) pause()              {}
func (nobody) step()               {}
func (nobody) stop()               {}
func (nobody) reset()              {}
func (nobody) toggleSheet()        {}
func (nobody) save(string, bool)   {}
func (nobody) saveParameters()     {}

func (nobody) setLimit(string) {}
func (nobody) export()         {}
func (nobody) forget(bool)     {}
func (nobody) confirmRun()     {}
func (nobody) declineRun()     {}

func exampleLedger(sure bool) LedgerView {
	limit, next := 3.0, run.Number(3.2)
	return LedgerView{Shown: true, Sure: sure, Total: &spending{Runs: []string{"a", "b", "c"}, Open: 1, Unprotected: 1, Epsilon: 2.1, Delta: 1e-5, Next: &next, Limit: &limit}}
}

func stories() []story {
	s := exampleSession()
	panels := s.trials.panels()
	list := []story{
		{"Run bar, idle", func() app.UI {
			return &RunBar{View: RunView{Phase: idle, Ready: true, Steps: 1000, Left: math.NaN(), Spent: math.NaN(), Whole: 1}, Actions: nobody{}, Setup: nobody{}}
		}},
		{"Run bar, running", func() app.UI {
			return &RunBar{View: RunView{Phase: running, Ready: true, Step: 412, Steps: 1000, Left: 18, Spent: 0.63, Whole: 1}, Actions: nobody{}, Setup: nobody{}}
		}},
		{"Run bar, paused", func() app.UI {
			return &RunBar{View: RunView{Phase: paused, Ready: true, Step: 412, Steps: 1000, Left: 18, Spent: 0.63, Whole: 1}, Actions: nobody{}, Setup: nobody{}}
		}},
		{"Run bar, failed", func() app.UI {
			return &RunBar{View: RunView{Phase: failed, Ready: true, Step: 412, Steps: 1000, Left: math.NaN(), Spent: 0.63, Whole: 1, Fault: "The trainer ran out of memory, and only this run ended. Take a smaller model, a smaller max_physical_batch_size or fewer rows."}, Actions: nobody{}, Setup: nobody{}}
		}},
		{"Result", func() app.UI { return &ResultView{Result: exampleResult(), Saver: nobody{}} }},
		{"Result, stopped", func() app.UI { return &ResultView{Result: exampleStopped(), Saver: nobody{}} }},
		{"Data card, a table", func() app.UI {
			return &dataCard{Form: exampleForm(form.Data), View: DataView{Source: form.Files, Report: exampleReport(), Table: exampleReport()}, Loader: nobody{}}
		}},
		{"Data card, reading", func() app.UI {
			return &dataCard{Form: exampleForm(form.Data), View: DataView{Source: form.Files, Report: exampleReport(), Table: exampleReport(), Loading: true, Slow: true, Wanted: form.Files, Progress: data.Progress{File: "big.csv", Done: 63e6, Total: 200e6}}, Loader: nobody{}}
		}},
		{"Data card, a bad file", func() app.UI {
			return &dataCard{Form: exampleForm(form.Data), View: DataView{Source: form.Files, Report: exampleReport(), Table: exampleReport(), Fault: "iris.csv, row 17, column 3 (\"petal_length\"): expected a number, found \"n/a?\". Correct the cell, or make the column categorical."}, Loader: nobody{}}
		}},
		{"Model card", func() app.UI { return &modelCard{Form: exampleForm(form.Model), Plan: examplePlan()} }},
		{"Clipping card", func() app.UI { return &clippingCard{Form: exampleForm(form.Clipping)} }},
		{"Privacy card, with a fault", func() app.UI { return &privacyCard{Form: exampleForm(form.Privacy), Plan: examplePlan()} }},
		{"Budget of the data", func() app.UI { return &ledgerBlock{View: exampleLedger(false), Actions: nobody{}} }},
		{"Budget of the data, to be deleted", func() app.UI { return &ledgerBlock{View: exampleLedger(true), Actions: nobody{}} }},
		{"Over the limit", func() app.UI {
			return &ledgerAsk{Question: &ledgerQuestion{Text: "With this run, ε = 3.2 at δ = 1e-05 would have been spent on this data, more than your limit of 3. So far it is 2.1.", Kind: overLimit}, Answer: nobody{}}
		}},
		{"Audit", func() app.UI {
			return newAuditPanel(firstVisit().WithDefaults(), &auditState{method: "constant clipping, float noise", report: &run.AuditReport{
				Claimed: 4, Delta: 1e-5, LowerBound: 2.05, AnyMechanism: 1.3, Confidence: 0.95, Canaries: 2000, Guesses: 400, Correct: 330, Steps: 200, SampleRate: 0.1, NoiseMultiplier: 1.76}})
		}},
		{"Audit on worst-case data", func() app.UI {
			return newAuditPanel(firstVisit().WithDefaults(), &auditState{kind: "worst-case", method: "constant clipping, float noise", report: &run.AuditReport{
				Claimed: 1, Delta: 1e-5, Confidence: 0.95, Steps: 1, SampleRate: 1, NoiseMultiplier: 3.73, Runs: 200,
				WorstCases: []run.WorstCase{
					{Name: "rows whose sum rounds differently with one row more", Rows: 60_000, Included: 81, Excluded: 77},
					{Name: "a small gradient of a long input, at a small threshold", Rows: 1000, Included: 70, Excluded: 74},
				}}})
		}},
		{"Optimiser card", func() app.UI { return &optimiserCard{Form: exampleForm(form.Optimiser)} }},
	}
	for _, p := range panels {
		list = append(list, story{"Chart, " + p.ID, func() app.UI { return p }})
	}
	for _, p := range exampleBlind().trials.panels()[:2] {
		list = append(list, story{"Chart, " + p.ID + ", blind", func() app.UI { return p }})
	}
	return list
}

func exampleForm(card form.Card) *Form {
	cfg := firstVisit()
	f := &Form{Config: cfg, Full: cfg.WithDefaults(), Drafts: map[string]string{}, Faults: map[string]string{}, Warnings: map[string]string{},
		Opened: card, Editor: nobody{}}
	if card == form.Privacy {
		f.Drafts["target_delta"] = "1e-"
		f.Faults["target_delta"] = "“1e-” is not a number; write for example 0.1 or 1e-5"
		f.Warnings["target_epsilon"] = "ε = 12.0 is a weak promise."
	}
	return f
}

func examplePlan() *run.PlanInfo {
	return &run.PlanInfo{NoiseMultiplier: 1.132, SampleRate: 256.0 / 6000, Steps: 938, Epsilon: 2, Delta: 1e-5, Parameters: 101770, MemoryBytes: 14e6}
}

func exampleReport() *data.Report {
	return &data.Report{Name: "iris.csv", Format: "csv", Task: data.Classification, Rows: 120, TestRows: 30, Features: 4, Outputs: 3,
		Classes: []string{"setosa", "versicolor", "virginica"}, Label: "species",
		Columns: []data.Column{
			{Name: "sepal_length", Kind: data.Numeric}, {Name: "sepal_width", Kind: data.Numeric, Missing: 2},
			{Name: "colour", Kind: data.Categorical}, {Name: "id", Kind: data.Ignored}, {Name: "species", Kind: data.Label},
		},
		Warnings: []string{"No test file: 30 of 150 rows, chosen by a fixed shuffle, are held out for testing."}}
}

func exampleResult() *run.Result {
	return &run.Result{Steps: 938, PlannedSteps: 938, Epsilon: 1.9993, EpsilonAtStep: 1.9993, Delta: 1e-5, Accountant: "rdp", TestAccuracy: 0.912, TestLoss: 0.31, TrainSeconds: 4.2, Backend: "simd, relaxed",
		Notes:     []string{"WebGPU was asked for and is not available here; SIMD was used."},
		Guarantee: "(ε = 2, δ = 1e-05)-differential privacy for every training row, under adding or removing one row, by the rdp accountant.",
		Statement: []byte(`{"text":"DP-SGD with sample_rate = 0.0427 and noise_multiplier = 1.13 over 938 steps satisfies (ε = 2, δ = 1e-05)-differential privacy by the RDP accountant.\nNeighbouring data sets differ by adding or removing one row.\n"}`)}
}

func exampleStopped() *run.Result {
	r := exampleResult()
	r.Steps, r.Stopped, r.Notes = 312, true, nil
	r.EpsilonAtStep = 1.0312
	r.Guarantee = "(ε = 2, δ = 1e-05)-differential privacy for every training row, under adding or removing one row, by the rdp accountant. It was stopped after step 312 and is charged all 938; had 312 been fixed beforehand, ε would be 1.032. Diagnostics were shown: if they decided when, the number of steps tells something that no ε covers."
	return r
}

// exampleSession has a run of made-up events behind it.
func exampleSession() *session { return exampleOf(false) }

// exampleBlind is the same run, blind.
func exampleBlind() *session { return exampleOf(true) }

func exampleOf(blind bool) *session {
	s := newSession(nil)
	s.exp.cfg.Blind = blind
	t := s.trials.last()
	t.record = series.NewRecord(s.exp.full(), run.PlanInfo{NoiseMultiplier: 1.1, Steps: 600, Epsilon: 2})
	t.phase = running
	for step := 1; step <= 400; step++ {
		e := exampleEvent(step)
		if blind {
			e.Diag = nil
		}
		t.record.Add([]run.Event{e})
	}
	s.trials.draw()
	return s
}

func exampleEvent(step int) run.Event {
	t := float64(step) / 400
	c := 0.35 + 0.65*math.Exp(-6*t) + 0.02*math.Sin(float64(step))
	wave := 0.03 * math.Sin(0.9*float64(step))
	d := &run.Diag{BatchSize: 250 + step%13, ClipFraction: run.Number(0.55 + 0.3*t + wave), TrainLoss: run.Number(2.3*math.Exp(-2.2*t) + 0.3 + wave), TrainAcc: run.Number(0.9 - 0.75*math.Exp(-4*t) + wave),
		Norms: exampleNorms(0.6 + 0.8*math.Exp(-3*t))}
	if step%25 == 0 {
		d.Eval = &run.Eval{Rows: 1000, Loss: run.Number(2.2*math.Exp(-2.1*t) + 0.35), Accuracy: run.Number(0.89 - 0.75*math.Exp(-4*t))}
	}
	e := run.Event{Step: step, Steps: 600, Diag: d, Released: run.Released{MaxGradNorm: c, Epsilon: run.Number(2 * math.Sqrt(float64(step)/600)), GradNorm: 1.4}}
	e.Released.Curves = exampleCurves(c)
	return e
}

func exampleNorms(centre float64) *run.Norms {
	n := &run.Norms{Counts: make([]int, 40), Max: run.Number(4 * centre), P10: run.Number(0.5 * centre), P50: run.Number(centre), P90: run.Number(1.9 * centre)}
	for i := range n.Counts {
		x := (float64(i) + 0.5) / 10
		n.Counts[i] = int(60 * x * math.Exp(-x*x/1.2))
	}
	return n
}

func exampleCurves(c float64) *run.ErrorCurves {
	e := &run.ErrorCurves{}
	for i := 1; i <= 20; i++ {
		x := c * float64(i) / 10
		e.C = append(e.C, x)
		e.Variance = append(e.Variance, 0.4*x*x)
		e.Bias = append(e.Bias, 0.5*math.Exp(-3*x))
	}
	return e
}
