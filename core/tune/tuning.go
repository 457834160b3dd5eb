// Package tune tries several configurations and releases the best run alone. Package plan settles what each of their runs costs alone, and package train
// takes the steps.
package tune

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Tuning is a plan that tries several configurations and releases the best run alone
// (Papernot & Steinke 2022). It never changes and may be started any number of times;
// each start is charged on its own.
//
// Guarantee: what [Tuner.Steps] yields without a trial, and the result's released part,
// are (ε, δ)-differentially private with the plan's ε, provided that no single run is
// without a guarantee and that nobody who decides when to stop, or sees the release,
// learns how many runs there were. A row that is tested is covered, too: it tells which run is
// best through noise. How many runs there are, which candidate each is and the noise of
// their scores come from a key of its own.
type Tuning struct {
	cfg   run.Config   // with defaults
	grid  []*plan.Plan // one for each candidate
	event privacy.Event
	// scoredBy is what runs are compared by, and scoreNoise the deviation of the noise on that,
	// in test rows.
	scoredBy   string
	scoreNoise float64
	info       run.PlanInfo
}

// New makes a plan that tries what cfg.Tuning says, or says with a
// [*run.ConfigError] which field is at fault. Data is to have classes and test rows.
func New(cfg run.Config, meta data.Meta) (*Tuning, error) {
	meta, err := plan.Declared(cfg, meta)
	if err != nil {
		return nil, err
	}
	t := &Tuning{cfg: cfg.WithDefaultsFor(meta.Facts())}
	t.scoredBy = t.scoreFor(meta)
	if err := t.checkData(meta); err != nil {
		return nil, err
	}
	list := t.cfg.Candidates()
	alone, err := t.share(list[0], meta)
	if err != nil {
		return nil, err
	}
	first, err := plan.New(t.of(list[0], alone), meta)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		p, err := first.For(c)
		if err != nil {
			return nil, err
		}
		t.grid = append(t.grid, p)
	}
	if t.event, err = t.charged(t.grid); err != nil {
		return nil, err
	}
	return t, t.describe(alone)
}

// StartFrom returns the tuning with the weights that its configuration names, from which all of its runs start. See
// [plan.Plan.StartFrom].
func (t *Tuning) StartFrom(w *model.Weights) (*Tuning, error) {
	return t.each(func(p *plan.Plan) (*plan.Plan, error) { return p.StartFrom(w) })
}

// MixIn returns the tuning with the public rows that its configuration names, which all of its runs mix in. See
// [plan.Plan.MixIn].
func (t *Tuning) MixIn(rows *model.PublicRows) (*Tuning, error) {
	return t.each(func(p *plan.Plan) (*plan.Plan, error) { return p.MixIn(rows) })
}

// each returns the tuning with the plans of all candidates changed in one way.
func (t *Tuning) each(change func(*plan.Plan) (*plan.Plan, error)) (*Tuning, error) {
	n := *t
	n.grid = make([]*plan.Plan, len(t.grid))
	for i, p := range t.grid {
		var err error
		if n.grid[i], err = change(p); err != nil {
			return nil, err
		}
	}
	before, now := t.grid[0].Info().Warnings, n.grid[0].Info().Warnings
	n.info.Warnings = append(slices.Clone(t.info.Warnings), now[len(before):]...)
	n.info.MemoryBytes += n.grid[0].Info().MemoryBytes - t.grid[0].Info().MemoryBytes
	n.info.Guarantee, n.info.PublicRows = n.guarantee(), n.grid[0].Info().PublicRows
	return &n, nil
}

// scoreFor returns what runs are compared by.
//
// Guarantee: it follows from what the configuration says, or from whether one class has most of
// the rows, which counts as public ([privacy.Known]) and is not asked where the number of rows is
// declared.
func (t *Tuning) scoreFor(meta data.Meta) string {
	switch {
	case t.cfg.Tuning.ScoredBy != "":
		return t.cfg.Tuning.ScoredBy
	case meta.Lopsided:
		return run.ByLogLoss
	}
	return run.ByAccuracy
}

func (t *Tuning) checkData(meta data.Meta) error {
	c := &t.cfg
	switch n := c.Tuning.Runs; {
	case !(n >= 1 && n <= run.MaxTunedRuns):
		return plan.Fault("tuning.runs", "%v runs on average are not in 1 … %d", n, run.MaxTunedRuns)
	case meta.Task != data.Classification:
		return plan.Fault("tuning.runs", "runs are compared by how many test rows they have right, which only data with classes can tell: choose one run, as it is set")
	case t.scoredBy != run.ByAccuracy && t.scoredBy != run.ByLogLoss:
		return plan.Fault("tuning.scored_by", "there is no proof of a choice by %q, as one test row can move it by more than is known; choose %s or %s, which a row moves by 1 at most", t.scoredBy, run.ByAccuracy, run.ByLogLoss)
	case meta.TestRows == 0:
		return plan.Fault("tuning.runs", "there are no test rows to compare runs by: give a test file, or hold rows out")
	case t.grids() > run.MaxCandidates:
		return plan.Fault("tuning.learning_rate", "%d candidates are more than %d", t.grids(), run.MaxCandidates)
	case c.Tuning.Rehearse && (meta.TrainRows+meta.TestRows)*meta.Features*meta.FeatureBytes > mostRehearsed:
		return plan.Fault("tuning.rehearse", "made-up rows for this data would take more than %d MB; leave the rehearsal out", mostRehearsed>>20)
	case !clip.IsPrivate(c.Method) || c.NoPrivacy:
		return plan.Fault("tuning.runs", "without noise there is no ε to share out: try one run after the other, or choose a method with noise")
	case plan.Discrete(c.NoiseMode):
		return plan.Fault("noise_mode", "there is no proof of what a choice among runs costs whose noise is discrete; take float noise, or one run")
	case c.EarlyStopping.Monitor != "":
		return plan.Fault("early_stopping.monitor", "runs that are compared take all of their steps; leave it out")
	case c.EvalSteps > 0:
		return plan.Fault("eval_steps", "what is tried is tested when it has ended; take 0")
	case c.DiagnosticsEvery > 0:
		return plan.Fault("diagnostics_every", "what is tried shows no diagnostics; take 0")
	}
	return nil
}

// mostRehearsed bounds the bytes of made-up rows beside the data.
const mostRehearsed = 512 << 20

func (t *Tuning) grids() int {
	return max(1, len(t.cfg.Tuning.LearningRate)) * max(1, len(t.cfg.Tuning.MaxGradNorm))
}

// of is the configuration of one candidate's run, which may spend epsilon.
func (t *Tuning) of(c run.Candidate, epsilon float64) run.Config {
	cfg := t.cfg
	cfg.Tuning = run.Tuning{}
	cfg.LearningRate, cfg.MaxGradNorm = c.LearningRate, c.MaxGradNorm
	// By the accountant that a choice among runs is priced by. Diagnostics of runs that are
	// not released are for nobody.
	cfg.Accountant, cfg.Blind = privacy.RDP, true
	if cfg.TargetEpsilon != nil {
		cfg.TargetEpsilon = &epsilon
	}
	return cfg
}

// share is the ε that each run may spend alone so that the choice costs the target; 0
// where the noise is given.
func (t *Tuning) share(c run.Candidate, meta data.Meta) (float64, error) {
	if t.cfg.TargetEpsilon == nil {
		return 0, nil
	}
	target := *t.cfg.TargetEpsilon
	cost := func(epsilon float64) (float64, error) {
		one, err := plan.Release(t.of(c, epsilon), meta)
		if err != nil {
			return 0, err
		}
		event, err := t.choice(one)
		if err != nil {
			return 0, err
		}
		return t.price(event)
	}
	// Regula falsi on logarithms, in which the cost is nearly a line of slope 1: some four
	// questions, of which each takes as long as planning a run. One run alone costs less than
	// the choice, which costs less than some forty times as much.
	const least, close = 1. / 64, 1e-3
	low, high := target*least, target
	guess := target / 2
	for range 40 {
		e, err := cost(guess)
		switch {
		case err != nil:
			return 0, err
		case e <= target && e >= target*(1-close):
			return guess, nil
		case e <= target:
			low = guess
		default:
			high = guess
		}
		guess *= target * (1 - close/2) / e
		if !(guess > low && guess < high) {
			guess = math.Sqrt(low * high)
		}
	}
	if low == target*least {
		return 0, plan.Fault("tuning.runs", "ε = %g leaves a run next to nothing; take fewer runs or a larger ε", target)
	}
	return low, nil
}

// charged returns the event of the choice among runs of such plans, which all cost the same.
func (t *Tuning) charged(plans []*plan.Plan) (privacy.Event, error) {
	one := plans[0].Release()
	want, err := privacy.MarshalEvent(one)
	if err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	for _, p := range plans[1:] {
		got, err := privacy.MarshalEvent(p.Release())
		if err != nil {
			return nil, fmt.Errorf("tune: %w", err)
		}
		if string(got) != string(want) {
			return nil, plan.Fault("tuning.max_grad_norm", "candidates differ in what they cost, which has no proof here; leave max_grad_norm out")
		}
	}
	return t.choice(one)
}

// choice returns the event of a choice among runs that each release one, and settles the noise
// of their scores.
func (t *Tuning) choice(one privacy.Event) (e privacy.Event, err error) {
	if t.scoreNoise, err = privacy.NoMoreThan(one); err != nil {
		return nil, plan.FaultOf("tuning.runs", err)
	}
	return privacy.Selected{Parts: []privacy.Event{one, privacy.FloatNoise{Of: privacy.Gaussian{NoiseMultiplier: t.scoreNoise}, Values: 1}}, Runs: t.cfg.Tuning.Runs}, nil
}

func (t *Tuning) describe(alone float64) error {
	p := t.grid[0]
	terms := p.Terms()
	t.info = p.Info()
	epsilon, err := t.price(t.event)
	if err != nil {
		return err
	}
	event, err := privacy.MarshalEvent(t.event)
	if err != nil {
		return fmt.Errorf("tune: %w", err)
	}
	t.info.Events = run.Events{Once: []json.RawMessage{event}}
	t.info.Epsilon, t.info.Epsilons = run.Number(epsilon), map[string]run.Number{privacy.RDP: run.Number(epsilon)}
	t.info.Tuning = &run.TuningPlan{Runs: t.cfg.Tuning.Runs, Candidates: t.cfg.Candidates(), Epsilon: p.Info().Epsilon, ScoredBy: t.scoredBy, ScoreNoise: t.scoreNoise}
	t.info.Guarantee = t.guarantee()
	t.info.Warnings = slices.DeleteFunc(slices.Clone(p.Info().Warnings), func(w run.Warning) bool { return w.Field == "target_epsilon" })
	if alone > 0 { // of a target
		t.warn("tuning.runs", "Each of some %g runs gets ε = %s of its own and a noise_multiplier of %.3g, as the choice among them has its price. One run alone would have all of ε = %g.",
			t.cfg.Tuning.Runs, run.DownText(alone, 3), terms.NoiseMultiplier, *t.cfg.TargetEpsilon)
	}
	if rows := terms.Meta.TestRows; t.cfg.NumExamples == 0 && t.scoreNoise > float64(rows)/50 {
		t.warn("tuning.runs", "Runs are compared by %d test rows, with noise of ±%.3g rows: differences of less than some %.0f %% are chance.",
			rows, t.scoreNoise, math.Ceil(200*t.scoreNoise/float64(rows)))
	}
	return nil
}

func (t *Tuning) warn(field, format string, args ...any) {
	t.info.Warnings = append(t.info.Warnings, run.Warning{Field: field, Message: fmt.Sprintf(format, args...)})
}

// price is ε of an event that has a choice among runs in it.
func (t *Tuning) price(e privacy.Event) (float64, error) {
	epsilon, err := privacy.Epsilon(privacy.RDP, t.cfg.TargetDelta, e)
	if err != nil {
		return 0, plan.FaultOf("tuning.runs", err)
	}
	return epsilon, nil
}

// Info returns what the runs will do and cost.
func (t *Tuning) Info() run.PlanInfo { return t.info }

// guarantee is the statement in a sentence or two.
func (t *Tuning) guarantee() string {
	p := t.grid[0]
	terms := p.Terms()
	if !p.Info().Private {
		return p.Guarantee(terms.Steps, false)
	}
	by := "how many test rows it has right"
	if t.scoredBy == run.ByLogLoss {
		by = "its log loss on the test rows, of which none counts for more than one row,"
	}
	return fmt.Sprintf("(ε = %s, δ = %s)-differential privacy for every row, trained on or tested, %s: the best of several runs of %d steps with Poisson sampling at rate %.6g and "+
		"noise_multiplier %.6g, their number Poisson with mean %g and not released, chosen by %s under noise of ±%.3g rows (Papernot & Steinke 2022, by Rényi divergences).%s "+
		"The guarantee covers the parameters of the best run after every step and what else is released of it, not losses, accuracies, how many runs there were, or anything of the others. %s",
		run.UpText(float64(t.info.Epsilon), 4), run.UpText(t.cfg.TargetDelta, 2), terms.Relation().Phrase(), terms.Steps, terms.SampleRate, terms.NoiseMultiplier, t.cfg.Tuning.Runs, by, t.scoreNoise, p.Before(), terms.Known())
}

// Statement returns the privacy statement of the best run, whichever that is. The page adds what
// the data set has spent in all, and its version.
func (t *Tuning) Statement() (*privacy.Statement, error) {
	return plan.NewStatement(nil, t.draft(t.grid[0]))
}

// draft returns the draft of the best run's statement, of its plan.
func (t *Tuning) draft(best *plan.Plan) privacy.Statement {
	d := best.Draft(best.Info().Steps)
	d.Runs, d.ScoreNoise, d.ByLoss = t.cfg.Tuning.Runs, t.scoreNoise, t.scoredBy == run.ByLogLoss
	d.Released = append(d.Released, "which candidate was chosen")
	return d
}
