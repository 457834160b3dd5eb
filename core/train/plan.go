// Package train runs differentially private SGD. It is the only package that
// knows the others: [New] makes model, clipping, noise and accounting agree, once
// and without a look at a row, and refuses what does not fit; [Plan.Start] brings
// data and a backend, and [Run.Steps] takes the steps. How examples are measured,
// summed and noised is a mechanism's, one file each.
//
// # Guarantee
//
// The parameters after every step, and everything in [run.Released], are
// (ε, δ)-differentially private with the ε that the event carries, provided that the
// plan is Private. Neighbours differ in one training row, which one of them replaces by
// an empty row that adds nothing (zero-out): the number of rows N is public, as q, T and
// σ follow from it. Where the configuration declares the number (num_examples),
// neighbours differ by adding or removing one row, and N is covered. Batches are
// Poisson samples, what a row adds is bounded by the clipper's own statement of
// its sensitivity, noise in proportion to it is drawn once per step from a key
// nobody knows, and thresholds move by released values alone. The divisor is the
// expected batch size, never the realised one. Rows of the test set are outside
// the guarantee, and so is everything in [run.Diag].
package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"clipscope/core/chacha"
	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/input"
	"clipscope/core/nn"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Plan is a run whose parts agree. It never changes and may be started any number
// of times; each start is charged on its own.
type Plan struct {
	cfg  run.Config // with defaults
	meta data.Meta
	spec nn.Spec

	first     *clip.Clipper // as it is before the first step
	query     *clip.Query   // nil when the threshold rule asks for nothing
	sigma     float64       // what a step costs; 0 without noise
	beyondEnd bool          // one row can move a sum beyond the end of float noise
	gradNoise float64       // σ_T, of the clipped sum alone
	exact     bool          // secure noise is drawn number by number: see [Plan.distance]
	rate      float64       // q
	batch     float64       // B
	steps     int           // T, or fewer where a change has the budget end sooner
	horizon   int           // T
	// Noise multipliers of what is released before the first step; 0 without.
	boundsNoise, pcaNoise float64
	once                  []privacy.Event // charged before the first step
	// What was changed of the run while it went on, and the steps that were passed before
	// its noise was, with the noise that they had.
	changes  []run.Changed
	passed   int
	earlier  []privacy.Stretch
	curve    *privacy.Curve  // over the steps that follow those passed
	accounts *privacy.Memory // nil: nothing is remembered

	info run.PlanInfo
}

// New makes a plan for cfg on such data, or says with a [*run.ConfigError] which
// field is at fault.
func New(cfg run.Config, meta data.Meta) (*Plan, error) { return Recall(nil, cfg, meta) }

// Recall is [New] with what earlier plans were told by accountants.
func Recall(accounts *privacy.Memory, cfg run.Config, meta data.Meta) (*Plan, error) {
	if cfg.Tuning.Runs != 0 {
		return nil, fault("tuning.runs", "one run cannot be several: leave tuning out")
	}
	meta, err := declared(cfg, meta)
	if err != nil {
		return nil, err
	}
	p := &Plan{cfg: cfg.WithDefaultsFor(meta.Facts()), meta: meta, accounts: accounts}
	if err := p.choose(); err != nil {
		return nil, err
	}
	for _, part := range []func() error{p.choosePrice, p.writeEvents} {
		if err := part(); err != nil {
			return nil, asConfigError(err)
		}
	}
	p.describe()
	return p, nil
}

// declared returns the plan's view of its data. Where cfg declares the number of rows, nothing in
// it depends on the counted number.
//
// Guarantee: with a declared number a plan is a function of that, of the configuration and of
// what [privacy.Known] lists, so it is the same for data sets that differ in one row. Data
// of more than [privacy.MostPerDeclared] times as many rows have no plan: that there are no
// more is part of the declaration, and public.
func declared(cfg run.Config, meta data.Meta) (data.Meta, error) {
	const field = "num_examples"
	switch n := cfg.NumExamples; {
	case n == 0:
		return meta, nil
	case n < 0 || n > mostExamples:
		return meta, fault(field, "%d is no number of rows; write one from 1 to a billion, or leave it empty to have the rows counted", n)
	case meta.HeldOut == data.Shuffled:
		return meta, fault(field, "which rows are held out for testing depends on how many rows there are, so one row more would change it for others; set csv.hold_out to row (Data, Advanced: Held out by), give a test file, or hold none out")
	case meta.TrainRows == 0:
		return meta, fault("data", "there are no training rows")
	case meta.TrainRows > n*privacy.MostPerDeclared:
		return meta, fault(field, "%d rows are declared, and there are more than %d times as many; declare about as many as there are", n, privacy.MostPerDeclared)
	default:
		return meta.Declared(n), nil
	}
}

// mostExamples bounds a declared number of rows.
const mostExamples = 1e9

// mostRows bounds the rows that a sum over the data has: those counted, or as many as a
// declaration allows.
func (r *Run) mostRows() int {
	if r.cfg.NumExamples > 0 {
		return r.cfg.NumExamples * privacy.MostPerDeclared
	}
	return r.ds.Train.N
}

// choose settles everything but what it costs.
func (p *Plan) choose() error {
	if p.meta.Features == 0 && p.meta.TextColumn() != "" {
		return fault("data", "the rows have no features yet, but texts in the column %q: use a backbone that reads them, an ONNX model whose input is a string", p.meta.TextColumn())
	}
	for _, part := range []func() error{
		p.checkNumbers, p.chooseModel, p.chooseSteps,
		p.chooseScale, p.choosePCA, p.chooseNoise, p.chooseClipper, p.checkSecure, p.checkAugmentation, p.checkMemory,
	} {
		if err := part(); err != nil {
			return asConfigError(err)
		}
	}
	return nil
}

// Info is what the run will do and cost.
func (p *Plan) Info() run.PlanInfo { return p.info }

// asConfigError keeps the field that a part's error names.
func asConfigError(err error) error {
	if pe := (*clip.ParamError)(nil); errors.As(err, &pe) {
		return &run.ConfigError{Field: pe.Key, Message: pe.Message}
	}
	return err
}

func fault(field, format string, args ...any) error {
	return &run.ConfigError{Field: field, Message: fmt.Sprintf(format, args...)}
}

// faultOf blames a field for another package's error; whose it was says nothing
// to the one who fills in the form.
func faultOf(field string, err error) error {
	_, said, found := strings.Cut(err.Error(), ": ")
	if !found {
		said = err.Error()
	}
	return &run.ConfigError{Field: field, Message: said}
}

func (p *Plan) warn(field, format string, args ...any) {
	p.info.Warnings = append(p.info.Warnings, run.Warning{Field: field, Message: fmt.Sprintf(format, args...)})
}

// checkNumbers refuses what no part could make sense of.
func (p *Plan) checkNumbers() error {
	c := &p.cfg
	for _, f := range []struct {
		name     string
		v        float64
		min, max float64
	}{
		{"max_grad_norm", c.MaxGradNorm, clip.MinThreshold, clip.MaxThreshold},
		{"learning_rate", c.LearningRate, 0, 1e6},
		{"momentum", c.Momentum, 0, 1},
		{"beta1", c.Beta1, 0, 1},
		{"beta2", c.Beta2, 0, 1},
		{"eps", c.Eps, 0, 1},
		{"expected_batch_size", c.ExpectedBatchSize, 1e-3, 1e9},
		{"epochs", c.Epochs, 0, 1e6},
		{"steps", float64(c.Steps), 0, maxSteps},
		{"max_physical_batch_size", float64(c.MaxPhysicalBatchSize), 1, 1 << 16},
		{"threads", float64(c.Threads), 0, run.MostThreads},
	} {
		if !(f.v >= f.min && f.v <= f.max) {
			return fault(f.name, "%v is not in %g … %g", f.v, f.min, f.max)
		}
	}
	if c.Momentum == 1 || c.Beta1 == 1 || c.Beta2 == 1 {
		return fault("momentum", "a decay rate of exactly 1 never forgets; take less than 1")
	}
	if !(c.TargetDelta > 0 && c.TargetDelta < 1) {
		return fault("target_delta", "δ must lie between 0 and 1, usually below 1/N; got %v", c.TargetDelta)
	}
	if e := c.TargetEpsilon; e != nil && !(*e > 0) && !p.nonPrivate() {
		return fault("target_epsilon", "%v is not positive: take 1, for example; smaller is more private", *e)
	}
	if c.Iterate != "last" && c.Iterate != "random" && c.Iterate != "ema" {
		return fault("iterate", "there is no iterate policy %q; choose last, random or ema", c.Iterate)
	}
	if !(c.EMADecay >= 0 && c.EMADecay < 1) {
		return fault("ema_decay", "%v is not in 0 … 1, 1 excluded", c.EMADecay)
	}
	if c.Blind && c.DiagnosticsEvery > 0 {
		return fault("diagnostics_every", "the run is blind, so there are no diagnostics to compare gradients for; take 0, or show diagnostics")
	}
	if c.Optimizer != "sgd" && c.Optimizer != "momentum" && c.Optimizer != "adam" {
		return fault("optimizer", "there is no optimizer %q; choose sgd, momentum or adam", c.Optimizer)
	}
	return nil
}

const (
	// maxSteps, minNoise and maxNoise are where nothing that a run could say is of use.
	maxSteps = 1e8
	minNoise = 1e-9
	maxNoise = 1e9
	// maxWidth is that of a hidden layer.
	maxWidth = 1 << 16
)

func (p *Plan) chooseModel() (err error) {
	m := p.cfg.Model
	list := m.List()
	switch {
	case list == nil:
		kinds := []string{"linear", "softmax", "mlp", "layers"}
		for _, n := range run.Networks() {
			kinds = append(kinds, n.Kind)
		}
		return fault("model", "there is no model kind %q; choose %s", m.Kind, strings.Join(kinds, ", "))
	case m.Kind == "softmax" && p.meta.Task == data.Regression:
		return fault("model", "softmax regression needs classes, but the data's targets are numbers; choose linear or mlp")
	case m.Kind == "linear" && p.meta.Task == data.Classification:
		return fault("model", "linear regression needs numbers as targets, but the data has classes; choose softmax or mlp")
	case m.Kind == "mlp":
		if err := checkHidden(m); err != nil {
			return err
		}
	}
	p.spec, err = nn.Read(p.shape(), list, p.meta.Outputs, input.Loss(p.meta.Task))
	if err == nil {
		return nil
	}
	return faultOf(p.modelField(), err)
}

// modelField is the field that has the model's layers.
func (p *Plan) modelField() string {
	return cmp.Or(map[string]string{"layers": "model.layers", "mlp": "model.hidden"}[p.cfg.Model.Kind], "model")
}

// checkHidden says of an mlp's fields what would be said of layers that they are
// not written as.
func checkHidden(m run.Model) error {
	for _, w := range m.Hidden {
		if w < 1 || w > maxWidth {
			return fault("model.hidden", "a hidden layer of %d units is not in 1 … %d", w, maxWidth)
		}
	}
	if m.Activation != "relu" && m.Activation != "tanh" {
		return fault("model.activation", "there is no activation %q; choose relu or tanh", m.Activation)
	}
	return nil
}

// shape is that of a row as the model sees it.
func (p *Plan) shape() nn.Shape {
	k := p.cfg.Model.Kind
	if s := p.picture(); s.IsPicture() && p.cfg.PCA.Components == 0 && k != "softmax" && k != "linear" && k != "mlp" {
		return s
	}
	return nn.Shape{Channels: p.inputs()}
}

// picture is that of a row as the data has it, one colour plane after the other.
func (p *Plan) picture() nn.Shape {
	return input.Shape(p.meta.Shape, p.meta.Features)
}

// chooseSteps settles q and T. An epoch is N/B steps, rounded up.
func (p *Plan) chooseSteps() error {
	n := float64(p.meta.TrainRows)
	p.batch = p.cfg.ExpectedBatchSize
	p.rate = p.batch / n
	switch {
	case p.meta.TrainRows == 0:
		return fault("data", "there are no training rows")
	case p.rate > 1:
		return fault("expected_batch_size", "%g is more than the %d training rows, so sample_rate would exceed 1; take at most %d", p.batch, p.meta.TrainRows, p.meta.TrainRows)
	case p.cfg.Epochs > 0 && p.cfg.Steps > 0:
		return fault("steps", "epochs and steps are both given; give one")
	}
	if p.steps = p.cfg.Steps; p.steps == 0 {
		// The margin keeps a quotient that is whole but for rounding from
		// costing a step more.
		steps := math.Ceil(p.cfg.Epochs/p.rate - 1e-9)
		if !(steps <= maxSteps) {
			return fault("expected_batch_size", "%g epochs of batches of %g rows are %.3g steps, more than %g; take larger batches or fewer epochs", p.cfg.Epochs, p.batch, steps, float64(maxSteps))
		}
		p.steps = max(1, int(steps))
	}
	p.horizon = p.steps
	return nil
}

// keyOf is the source of a run's randomness: the seed, where one is fixed, or
// nobody knows.
func keyOf(seed *uint64) (privacy.Key, error) {
	if seed != nil {
		return privacy.SeededKey(*seed), nil
	}
	k, err := privacy.NewKey()
	if err != nil {
		return k, fmt.Errorf("train: %w", err)
	}
	return k, nil
}

// nonPrivate reports whether the user asked for a run without noise.
func (p *Plan) nonPrivate() bool { return !clip.IsPrivate(p.cfg.Method) || p.cfg.NoPrivacy }

func (p *Plan) budget() privacy.Budget {
	return privacy.Budget{Accountant: p.cfg.Accountant, Epsilon: *p.cfg.TargetEpsilon, Delta: p.cfg.TargetDelta, Spent: p.once, Distance: p.distance(), Values: p.values()}
}

// chooseNoise settles σ, from itself or from ε.
func (p *Plan) chooseNoise() (err error) {
	c := &p.cfg
	switch {
	case p.nonPrivate():
		return nil
	case c.NoiseMultiplier != nil && c.TargetEpsilon != nil:
		return fault("noise_multiplier", "noise_multiplier and target_epsilon are both given; each decides the other, so give one")
	case c.NoiseMultiplier != nil:
		p.sigma = *c.NoiseMultiplier
		return p.checkNoise()
	}
	// With as much noise as there may be: less ends no later.
	if err := p.checkEnd(append(slices.Clone(p.once), privacy.SelfComposed{Of: p.noised(privacy.Gaussian{NoiseMultiplier: maxNoise}, p.values()), Count: p.steps})...); err != nil {
		return err
	}
	p.exact = !privacy.Pays(float64(p.steps)*p.distance(), *c.TargetEpsilon, c.TargetDelta)
	if p.sigma, err = p.accounts.NoiseMultiplier(p.budget(), p.rate, p.steps); err != nil {
		return faultOf("target_epsilon", err)
	}
	return nil
}

// checkNoise refuses a σ that is none.
func (p *Plan) checkNoise() error {
	switch {
	case !(p.sigma > 0) || math.IsInf(p.sigma, 1):
		return fault("noise_multiplier", "%v adds no noise, so nothing would be protected; take a positive number, or choose “no privacy” (no_privacy: true) to train without a guarantee", p.sigma)
	case p.sigma < minNoise:
		return fault("noise_multiplier", "%v is next to no noise, which protects nothing; take at least %g", p.sigma, minNoise)
	case p.sigma > maxNoise:
		return fault("noise_multiplier", "%v is so much noise that nothing can be learned; take at most %g", p.sigma, maxNoise)
	}
	return nil
}

func (p *Plan) newClipper() (*clip.Clipper, error) {
	c := &p.cfg
	return clip.New(
		clip.Choice{Method: c.Method, Weight: c.Weight, Threshold: c.Threshold, Grouping: c.Grouping},
		clip.Env{
			MaxGradNorm: c.MaxGradNorm, NoiseMultiplier: p.sigma, Steps: p.horizon,
			ExpectedBatchSize: p.batch, Dim: p.spec.Params(), Params: c.Params,
		})
}

func (p *Plan) chooseClipper() (err error) {
	if p.first, err = p.newClipper(); err != nil {
		return err
	}
	if p.first.Source == clip.Bounded {
		if err := p.spec.CheckLipschitz(); err != nil {
			return p.unbounded(err)
		}
	}
	p.query = p.first.Rule.Query()
	if p.gradNoise, err = clip.Split(p.sigma, p.query); err == nil && p.gradNoise > maxNoise {
		return fault("noise_multiplier", "the statistic that moves the threshold leaves the gradient a noise_multiplier of %.3g; raise the statistic's noise", p.gradNoise)
	}
	return err
}

// unbounded is why value clipping refuses a model.
func (p *Plan) unbounded(err error) error {
	return fault("method", "%s bounds gradients by what the layers' Lipschitz constants allow: %s. Choose another method", p.cfg.Method, strings.TrimPrefix(err.Error(), "nn: "))
}

// capacity is the number of rows that go through the model at once.
func (p *Plan) capacity() int {
	if p.first.Source == clip.OneAtATime {
		return 1
	}
	held, _ := p.fixed(3)
	fit := int(min(wholeRoom-held, batchRoom) / (float * p.width()))
	return max(1, min(p.cfg.MaxPhysicalBatchSize, p.likely(), max(p.meta.TrainRows, p.meta.TestRows, 1), fit))
}

// likely is the size that a Poisson batch is rarely above, B + 6√B: a little more
// capacity saves nearly empty second passes.
func (p *Plan) likely() int { return int(p.batch+6*math.Sqrt(p.batch)) + 1 }

// stepEvent is what one step releases.
func (p *Plan) stepEvent() privacy.Event {
	if p.sigma == 0 {
		return privacy.NonPrivate{}
	}
	var e privacy.Event = privacy.Gaussian{NoiseMultiplier: p.gradNoise}
	if p.query != nil && !p.query.Joined {
		e = privacy.Joint{Parts: []privacy.Gaussian{{NoiseMultiplier: p.gradNoise}, {NoiseMultiplier: p.query.NoiseMultiplier()}}}
	}
	e = p.noised(privacy.PoissonSampled{SampleRate: p.rate, Of: e}, p.values())
	if d := p.distance(); d > 0 {
		e = privacy.Inexact{Of: e, Distance: d}
	}
	return e
}

// noised returns e with the end of its noise of so many numbers, where it has one: secure
// noise has none but its tables', see [Plan.distance].
func (p *Plan) noised(e privacy.Event, values int) privacy.Event {
	if p.cfg.NoiseMode == "secure" {
		return e
	}
	return privacy.FloatNoise{Of: e, Values: values}
}

// values returns the number of normals in the noise of a step, or 0 for noise without an end.
func (p *Plan) values() int {
	if p.cfg.NoiseMode == "secure" {
		return 0
	}
	n := p.spec.Params()
	if p.query != nil {
		n += p.query.Len
	}
	return n
}

// checkEnd refuses a δ that the end of float noise alone takes, and notes where one row can
// move a sum beyond that end.
//
// Guarantee: a plan of events that it lets pass has a finite price that holds, the end included,
// or names the end among the reasons for having no guarantee ([Plan.broken]).
func (p *Plan) checkEnd(events ...privacy.Event) error {
	end, err := privacy.NoiseEnd(events...)
	if err != nil {
		return faultOf("noise_multiplier", err)
	}
	switch delta := p.cfg.TargetDelta; {
	case end < delta || p.cfg.Seed != nil: // with a seed there is no guarantee to break
	case end < 1e-8:
		return fault("target_delta", "float noise ends at %g standard deviations, and in this run that alone takes δ = %s: %s cannot be promised. Take a larger target_delta, or noise_mode secure, whose noise has no such end",
			chacha.MaxNormal, run.UpText(end, 2), run.UpText(delta, 2))
	default:
		p.beyondEnd = true
	}
	return nil
}

// spent is what was released before the steps that p.curve is over.
func (p *Plan) spent() []privacy.Event {
	events := slices.Clone(p.once)
	for _, e := range p.earlier {
		events = append(events, privacy.SelfComposed{Of: e.PerStep, Count: e.Steps})
	}
	return events
}

// epsilon is ε of a run planned to end with that step, no earlier than what was passed.
func (p *Plan) epsilon(step int) float64 { return p.curve.Epsilon(step - p.passed) }

func (p *Plan) choosePrice() (err error) {
	if err := p.checkEnd(append(p.spent(), privacy.SelfComposed{Of: p.stepEvent(), Count: p.steps - p.passed})...); err != nil {
		return err
	}
	p.curve, err = p.accounts.Curve(p.cfg.Accountant, p.cfg.TargetDelta, p.stepEvent(), p.steps-p.passed, p.spent()...)
	if err != nil {
		return faultOf("accountant", err)
	}
	if p.distance() > 0 && math.IsInf(p.epsilon(p.steps), 1) { // δ does not pay for the tables
		p.exact = true
		if err := p.checkMemory(); err != nil { // of which that takes more
			return err
		}
		return p.choosePrice()
	}
	return nil
}
