package calculator

import (
	"errors"
	"fmt"
	"math"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// auditClient is a client that can audit the trainer.
type auditClient interface {
	// Audit starts one; the returned function ends it.
	Audit(request run.AuditRequest, progress func(step, steps int), done func(run.AuditReport, error)) (cancel func())
}

// auditKind is an audit that the panel offers.
type auditKind struct{ key, name string }

// The kinds: canaries in sampled and in full batches, and worst-case data.
var auditKinds = []auditKind{
	{"canaries", "canaries, sampled batches"},
	{"full", "canaries, full batches"},
	{"worst-case", "worst-case data, full batches"},
}

// auditState is an audit under way and the last one's report.
type auditState struct {
	client  auditClient
	changed func()
	running bool
	step    int
	steps   int
	number  int
	cancel  func()
	report  *run.AuditReport
	kind    string // of auditKinds; empty for the first
	method  string // that was audited
	fault   string
}

// start audits the trainer with the noise that a configuration chooses. It clips
// at a constant threshold: sampler, norms, sums and noise are the same for every
// method, and a canary is heard best where nothing else moves.
func (a *auditState) start(c run.Config) {
	if a.running || a.client == nil {
		return
	}
	a.number++
	mine := a.number
	a.running, a.step, a.steps, a.fault, a.report = true, 0, 0, "", nil
	a.method = mechanism(c)
	request := run.AuditRequest{Run: run.Config{Method: "constant", NoiseMode: c.NoiseMode, Backend: c.Backend}}
	switch a.kind {
	case "full":
		request.SampleRate, request.Steps = 1, 20
	case "worst-case":
		request.Data = a.kind
	}
	a.cancel = a.client.Audit(request, func(step, steps int) {
		if mine == a.number {
			a.step, a.steps = step, steps
			a.changed()
		}
	}, func(r run.AuditReport, err error) {
		if mine != a.number {
			return
		}
		a.running = false
		switch {
		case errors.Is(err, client.ErrAborted):
		case err != nil:
			a.fault = err.Error()
		default:
			a.report = &r
		}
		a.changed()
	})
	a.changed()
}

func (a *auditState) stop() {
	if a.running {
		a.number++
		a.running = false
		a.cancel()
		a.changed()
	}
}

// mechanism names what is audited.
func mechanism(c run.Config) string {
	if c.NoiseMode == "secure" {
		return "constant clipping, secure noise"
	}
	return "constant clipping, float noise"
}

// auditPanel audits the mechanism of the experiment at one click.
type auditPanel struct {
	app.Compo
	Config run.Config // of the experiment, with its defaults
	State  *auditState
	// Running, Step, Kind and Report are State's, so that a change is seen.
	Running bool
	Step    int
	Kind    string
	Fault   string
	Report  *run.AuditReport
}

func newAuditPanel(c run.Config, a *auditState) *auditPanel {
	return &auditPanel{Config: c, State: a, Running: a.running, Step: a.step, Kind: a.kind, Fault: a.fault, Report: a.report}
}

func (p *auditPanel) Render() app.UI {
	a := p.State
	return app.Section().Class("audit").ID("audit").Aria("label", "Audit").Body(
		app.Div().Class("audit-head").Body(
			app.H2().Text("Audit"),
			app.Select().ID("audit-kind").Aria("label", "What the audit trains on").Disabled(p.Running).
				OnChange(func(ctx app.Context, _ app.Event) {
					a.kind = ctx.JSSrc().Get("value").String()
					a.changed()
				}).Body(app.Range(auditKinds).Slice(func(i int) app.UI {
				k := auditKinds[i]
				return app.Option().Value(k.key).Selected(k.key == p.Kind).Text(k.name)
			})),
			app.If(p.Running, func() app.UI {
				return app.Button().Type("button").ID("audit-stop").Text("Cancel").OnClick(func(app.Context, app.Event) { a.stop() })
			}).Else(func() app.UI {
				return app.Button().Type("button").ID("audit-start").Class("primary").Text("Audit the trainer").OnClick(func(app.Context, app.Event) { a.start(p.Config) })
			}),
		),
		app.P().Class("help").Text(p.about()),
		app.Div().Hidden(!p.Running).Class("loading").Body(
			app.Progress().ID("audit-progress").Max(max(a.steps, 1)).Value(p.Step).Aria("label", "Progress of the audit"),
		),
		widget.Message("audit-fault", "fault", p.Fault),
		app.If(p.Report != nil, func() app.UI { return auditResult(p.Report, a.method) }),
	)
}

func (p *auditPanel) about() string {
	const chance = "refute the guarantee with 95 %% confidence: by chance, at most one audit of a sound trainer in twenty does so. An audit that refutes nothing does not prove that the trainer is right."
	if p.Kind == "worst-case" {
		return fmt.Sprintf("Takes one step on pairs of data sets that differ by one row, made so that a sum that rounds, or a norm that is too small, would show (%s), 100 times on each. It then tells from the noisy sums which was which. Guesses that are better than ε allows "+chance, mechanism(p.Config))
	}
	return fmt.Sprintf("Trains a small model on drawn digits and on canaries, rows made to be noticed (%s; the noise is the one chosen under Train). It then guesses from the released parameters which canaries were in. Guesses that are better than ε allows "+chance, mechanism(p.Config))
}

func auditResult(r *run.AuditReport, method string) app.UI {
	verdict, class := "The claim stands", "verdict"
	if r.Refuted {
		verdict, class = "The claim is refuted", "verdict refuted"
	}
	claimed := float64(r.Claimed)
	return app.Div().Class("audit-result").Role("status").Body(
		app.Dl().Class("headline").Body(
			auditFigure("claimed, at most", "ε "+words.Upper(claimed, 3), "accountant, δ "+words.Upper(r.Delta, 2)),
			auditFigure("measured, at least", "ε "+words.Lower(r.LowerBound, 3), words.Percent(r.Confidence, 0)+" confidence"),
			app.If(len(r.WorstCases) == 0, func() app.UI {
				return auditFigure("guesses right", words.Count(r.Correct)+" of "+words.Count(r.Guesses), words.Count(r.Canaries)+" canaries")
			}).Else(func() app.UI {
				return auditFigure("runs", words.Count(2*r.Runs*len(r.WorstCases)), words.Plural(len(r.WorstCases), "pair")+" of data sets")
			}),
		),
		app.Div().Class("audit-bars").Aria("hidden", "true").Body(
			app.Progress().Class("bar-measured").Max(1).Value(share(r.LowerBound, claimed)),
			app.Progress().Class("bar-claimed").Max(1).Value(share(claimed, r.LowerBound)),
		),
		app.If(len(r.WorstCases) > 0, func() app.UI { return worstCases(r) }),
		app.P().Class(class).Body(app.Strong().Text(verdict+". "), app.Text(auditSentence(r, method))),
	)
}

// worstCases lists what was found on each pair of data sets.
func worstCases(r *run.AuditReport) app.UI {
	cell := func(s string) app.UI { return app.Td().Text(s) }
	return app.Table().Class("audit-cases").Body(
		app.THead().Body(app.Tr().Body(
			app.Th().Scope("col").Text("Data"), app.Th().Scope("col").Text("“there” with the row"),
			app.Th().Scope("col").Text("without it"), app.Th().Scope("col").Text("ε at least"))),
		app.TBody().Body(app.Range(r.WorstCases).Slice(func(i int) app.UI {
			w, tried := r.WorstCases[i], r.Runs-r.Runs/4
			return app.Tr().Body(
				cell(w.Name+", "+words.Count(w.Rows)+" rows"), cell(words.Count(w.Included)+" of "+words.Count(tried)),
				cell(words.Count(w.Excluded)+" of "+words.Count(tried)), cell(words.Lower(w.LowerBound, 3)))
		})),
	)
}

// share is x as a part of the larger of x and y.
func share(x, y float64) float64 {
	if top := math.Max(x, y); top > 0 && !math.IsInf(top, 1) {
		return x / top
	}
	return 0
}

func auditFigure(name, value, below string) app.UI {
	return app.Div().Body(app.Dt().Text(name), app.Dd().Class("figure").Text(value), app.Dd().Class("name").Text(below))
}

func auditSentence(r *run.AuditReport, method string) string {
	s := guessesSentence(r, method)
	if len(r.WorstCases) > 0 {
		s = worstCaseSentence(r, method)
	}
	if r.Refuted {
		return s + " That is more than the accountant claims: something between the rows and the released parameters is broken. Run it again, and if it happens twice, trust no ε of this page."
	}
	return s + " The accountant’s bound lies above."
}

func worstCaseSentence(r *run.AuditReport, method string) string {
	found := "no pair of data sets could be told apart"
	if r.LowerBound > 0 {
		found = fmt.Sprintf("the true ε is above %s, whatever the mechanism is, with %s confidence", words.Lower(r.LowerBound, 3), words.Percent(r.Confidence, 0))
	}
	return fmt.Sprintf("With %s (and adaclip’s centre), on full batches and σ = %s, %s.", method, words.Number(r.NoiseMultiplier, 3), found)
}

func guessesSentence(r *run.AuditReport, method string) string {
	return fmt.Sprintf("With %s, %s at sample rate %s and σ = %s, the true ε is above %s if the privacy curve is that of a Gaussian, and above %s whatever it is, each with %s confidence.",
		method, words.Plural(r.Steps, "step"), words.Number(r.SampleRate, 3), words.Number(r.NoiseMultiplier, 3), words.Lower(r.LowerBound, 3), words.Lower(r.AnyMechanism, 3), words.Percent(r.Confidence, 0))
}
