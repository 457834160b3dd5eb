// Package audit bounds from below the ε of the code that trains every run.
package audit

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/chacha"
	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
	"clipscope/core/train"
)

// Audit trains softmax regression on drawn digits and canaries, and bounds
// from below the ε of the code that trains every run: an error in the sampler,
// the clipping or the noise shows as a lower bound above the claim. To pass is
// no proof of anything.
//
// # Canaries
//
// A canary is all zeros but for one feature that no digit has; ten canaries, one
// of each class, share a feature. Its gradient before clipping is long and lies
// in ten parameters, so after clipping it has norm C there: the strongest signal
// that one example may give. The auditor sees the parameters after every step
// (white box), works out each noisy gradient from them and takes the logarithm
// of the likelihood ratio of "in" against "out", summed over the steps, as the
// canary's score. The lower bound holds for any score; a good one makes it high.
type Audit struct {
	// Start begins the runs that are audited: [train.Start], or in a test of audits one that
	// breaks something.
	Start Start
	// Cases are the worst cases that an audit on them tries.
	Cases []Case

	cfg   run.AuditRequest
	be    compute.Backend
	plan  *plan.Plan
	terms plan.Terms
	ds    *data.Dataset
	in    []bool    // the coins
	score []float64 // by canary

	worst *worstCaseAudit // instead of all that
}

// Start begins a run of a plan.
type Start func(context.Context, *plan.Plan, *data.Dataset, compute.Backend) (*train.Run, error)

var errNoNoise = plan.Fault("method", "a run without noise claims nothing that could be audited; choose a private method")

// The canaries' feature is this long, so that their gradients are always clipped
// at the usual thresholds, and their logits stay moderate.
const (
	canaryLength = 20.0
	auditRate    = 1.0 // of learning
)

// New prepares an audit on a backend. Errors name a field as those of [plan.New] do.
func New(cfg run.AuditRequest, be compute.Backend) (*Audit, error) {
	a := &Audit{Start: train.Start, cfg: cfg.WithDefaults(), be: be}
	c := &a.cfg
	switch {
	case c.Data != "canaries" && c.Data != "worst-case":
		return nil, plan.Fault("data", "there is no audit on %q; choose canaries or worst-case", c.Data)
	case c.Canaries < 10 || c.Canaries > 20_000:
		return nil, plan.Fault("canaries", "%d is not in 10 … 20000", c.Canaries)
	case c.Rows < 1 || c.Rows > 6000:
		return nil, plan.Fault("rows", "%d is not in 1 … 6000", c.Rows)
	case c.Steps < 1 || c.Steps > 10_000:
		return nil, plan.Fault("steps", "%d is not in 1 … 10000", c.Steps)
	case !(c.SampleRate > 0 && c.SampleRate <= 1):
		return nil, plan.Fault("sample_rate", "%v is not in (0, 1]", c.SampleRate)
	case c.Guesses < 1 || c.Guesses > c.Canaries:
		return nil, plan.Fault("guesses", "%d is not in 1 … %d", c.Guesses, c.Canaries)
	case c.Run.TargetDelta != 0 && !(c.Run.TargetDelta >= 1e-30 && c.Run.TargetDelta <= 0.5):
		return nil, plan.Fault("target_delta", "an audit sees nothing at a δ of %v; take 1e-30 … 0.5", c.Run.TargetDelta)
	case !(c.Significance > 0 && c.Significance < 1):
		return nil, plan.Fault("significance", "%v is not in (0, 1)", c.Significance)
	}
	if c.Data == "worst-case" {
		if a.Cases = worstCases; plan.Discrete(c.Run.NoiseMode) {
			a.Cases = worstCases[:2] // adaclip is refused there
		}
		a.worst = &worstCaseAudit{cfg: *c, be: be}
		return a, a.worst.checkRuns()
	}
	key, err := privacy.KeyOf(c.Run.Seed)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	a.in, a.score = coins(key.Stream(privacy.Canary, 0, 0), c.Canaries), make([]float64, c.Canaries)
	a.ds = a.dataset()
	rc := c.Run
	rc.Data, rc.CSV, rc.PCA, rc.Augmentation = "digits", run.CSV{}, run.PCA{}, run.Augmentation{}
	rc.Scaling = run.Scaling{Kind: "none"}
	rc.Model = run.Model{Kind: "softmax"}
	rc.ExpectedBatchSize, rc.Epochs, rc.Steps = c.SampleRate*float64(a.ds.Train.N), 0, c.Steps
	rc.Optimizer, rc.LearningRate, rc.Momentum, rc.Nesterov, rc.LabelSmoothing, rc.ClassWeights = "sgd", auditRate, 0, false, 0, nil
	rc.Iterate, rc.DiagnosticsEvery, rc.EarlyStopping, rc.Start, rc.PublicRows = "last", 0, run.EarlyStopping{}, run.Start{}, run.PublicRows{}
	if a.plan, err = plan.New(rc, a.ds.Meta()); err != nil {
		return nil, err
	}
	if a.terms = a.plan.Terms(); a.terms.NoiseMultiplier == 0 {
		return nil, errNoNoise
	}
	return a, nil
}

func coins(src *chacha.Stream, n int) []bool {
	in := make([]bool, n)
	for i := range in {
		in[i] = src.Uint64()>>63 == 1
	}
	return in
}

// classes of the digits, and so canaries that share a feature.
const classes = 10

// auditPixels is the side of the digits after halving: the audit is about the
// mechanism, and small images leave more of the time to it.
const auditPixels = 14

// dataset is the digits and the canaries whose coins say in.
func (a *Audit) dataset() *data.Dataset {
	digits := builtin.Digits(1, a.cfg.Rows, 0)
	columns := (a.cfg.Canaries + classes - 1) / classes
	f := auditPixels*auditPixels + columns
	ds := &data.Dataset{Name: "digits and canaries", Task: data.Classification, Features: f, Outputs: classes, Classes: digits.Classes}
	t := &ds.Train
	t.F32 = make([]float32, digits.Train.N*f, (digits.Train.N+a.cfg.Canaries)*f)
	for i := range digits.Train.N {
		halve(t.F32[i*f:], digits.Train.U8[i*digits.Features:])
	}
	t.Y = append(t.Y, digits.Train.Y...)
	for i, in := range a.in {
		if !in {
			continue
		}
		row := make([]float32, f)
		row[canaryFeature(i)] = canaryLength
		t.F32, t.Y = append(t.F32, row...), append(t.Y, float32(i%classes))
	}
	t.N = len(t.Y)
	return ds
}

func canaryFeature(i int) int { return auditPixels*auditPixels + i/classes }

// halve averages 2×2 pixels of a 28×28 image, to 0 … 1.
func halve(dst []float32, src []uint8) {
	const w = 2 * auditPixels
	for y := range auditPixels {
		for x := range auditPixels {
			at := 2*y*w + 2*x
			sum := int(src[at]) + int(src[at+1]) + int(src[at+w]) + int(src[at+w+1])
			dst[y*auditPixels+x] = float32(sum) / (4 * 255)
		}
	}
}

// Run trains, listens and guesses. progress may be nil; it is called after every
// step and may end the audit with an error. An audit runs once.
func (a *Audit) Run(ctx context.Context, progress func(step, steps int) error) (run.AuditReport, error) {
	if a.worst != nil {
		a.worst.start, a.worst.cases = a.Start, a.Cases
		return a.worst.run(ctx, progress)
	}
	r, err := a.Start(ctx, a.plan, a.ds, a.be)
	if err != nil {
		return run.AuditReport{}, err
	}
	defer r.Close()
	before := make([]float32, a.terms.Spec.Params()) // softmax regression starts at zero
	for range a.terms.Steps {
		e, after, err := r.Step(ctx)
		if err != nil {
			return run.AuditReport{}, err
		}
		a.listen(before, after, e.Released.MaxGradNorm)
		before = after
		if progress != nil {
			if err := progress(e.Step, e.Steps); err != nil {
				return run.AuditReport{}, err
			}
		}
	}
	return a.report()
}

// listen adds what one step tells to every canary's score.
func (a *Audit) listen(before, after []float32, c float64) {
	t := &a.terms
	bias := before[t.Meta.Features*classes:]
	perUnit := t.BatchSize / (auditRate * c) // from a move of the parameters to the noisy sum, in units of C
	variance := t.GradNoise * t.GradNoise
	var u [classes]float64
	for i := range a.score {
		at := canaryFeature(i) * classes
		was, is := before[at:at+classes], after[at:at+classes]
		direction(u[:], was, bias, i%classes)
		x := 0.0
		for k := range u {
			x += u[k] * (float64(was[k]) - float64(is[k]))
		}
		a.score[i] += logRatio(x*perUnit, t.SampleRate, variance)
	}
}

// direction writes the direction of a canary's gradient in its feature's parameters:
// softmax minus one-hot.
func direction(u []float64, w, bias []float32, class int) {
	top := math.Inf(-1)
	for k := range u {
		u[k] = canaryLength*float64(w[k]) + float64(bias[k])
		top = max(top, u[k])
	}
	sum := 0.0
	for k := range u {
		u[k] = math.Exp(u[k] - top)
		sum += u[k]
	}
	norm := 0.0
	for k := range u {
		u[k] /= sum
		if k == class {
			u[k]--
		}
		norm += u[k] * u[k]
	}
	for k := range u {
		u[k] /= math.Sqrt(norm)
	}
}

// logRatio is ln of the density of x under (1−q)·N(0, v)+q·N(1, v) over that
// under N(0, v).
func logRatio(x, q, v float64) float64 {
	z := (x - 0.5) / v
	if z > 50 {
		return z + math.Log(q)
	}
	return math.Log1p(q * math.Expm1(z))
}

func (a *Audit) report() (run.AuditReport, error) {
	t, c := &a.terms, &a.cfg
	canaries := make([]privacy.CanaryScore, len(a.in))
	included := 0
	for i, in := range a.in {
		canaries[i] = privacy.CanaryScore{Included: in, Score: a.score[i]}
		if in {
			included++
		}
	}
	audits, err := privacy.NewOneRunAudits(canaries, c.Guesses)
	if err != nil {
		return run.AuditReport{}, fmt.Errorf("audit: %w", err)
	}
	audit := audits[0]
	r := run.AuditReport{
		Claimed: run.Number(a.plan.Epsilon(t.Steps)), Delta: t.Config.TargetDelta, Accountant: t.Config.Accountant,
		Confidence: 1 - c.Significance, Canaries: c.Canaries, Included: included, Guesses: audit.Guesses, Correct: audit.Correct,
		Steps: t.Steps, SampleRate: t.SampleRate, NoiseMultiplier: t.NoiseMultiplier, Backend: a.be.Name(),
	}
	if r.LowerBound, err = audit.GDPEpsilon(r.Delta, c.Significance); err != nil {
		return r, fmt.Errorf("audit: %w", err)
	}
	if r.AnyMechanism, err = audit.Epsilon(r.Delta, c.Significance); err != nil {
		return r, fmt.Errorf("audit: %w", err)
	}
	r.Refuted = r.LowerBound > float64(r.Claimed)
	return r, nil
}
