package train

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"clipscope/core/chacha"
	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
	"clipscope/core/input"
	"clipscope/core/nn"
	"clipscope/core/optim"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// A run tests itself while it goes on, evaluations times at most, on evaluationRows
// rows at most: enough for a curve. The result is measured on all rows. As a row
// that is tested costs some two fifths of one that is trained on, in all no more
// than testShare of what is trained on is tested, so that testing adds a tenth to
// the time; but evaluationsLeast times, or as often as fewRows rows allow, a run
// tests itself however short it is.
const (
	evaluations      = 20
	evaluationsLeast = 5
	evaluationRows   = 1000
	fewRows          = 4000
	testShare        = 0.25
)

// Run is a plan under way: on its data, with a key and randomness of its own. All
// buffers are made once, so that memory stays flat however long it goes on.
type Run struct {
	*Plan
	ds  *data.Dataset
	be  *compute.Scope
	key privacy.Key

	scale        *data.Scale
	targetScale  *data.TargetScale // nil: targets stay as they are
	pca          *input.Projection // nil: rows as they are
	pipe         *input.Pipe
	clipper      *clip.Clipper // with its rule, which moves
	query        *clip.Query   // of that rule
	model        *nn.Model
	opt          optim.Optimizer
	sampler      privacy.Sampler
	mix          func(rows []int, src rand.Source) // shuffle, unless a test plants a fault
	source       source
	mech         mechanism
	weights      *weights
	augmentation *augmentation // nil: rows as they are
	iterate      *iterate      // nil: the last
	teacher      *teacher      // nil: not asked for
	keeping      *keeping      // nil: the backend's memory cannot be lost
	self         *selfCheck    // nil: a run without noise

	gradient compute.Buffer   // released, of all parameters
	grads    []compute.Buffer // its parts, by tensor
	bySize   []int            // the tensors, the largest last
	sums     []compute.Sums   // Σ f_i·g_i of the step, by tensor
	x        compute.Buffer
	bytes    *byteRows // nil: features are made on this side
	targets  compute.Buffer
	factors  []compute.Buffer // one, or one for each group
	scalar   compute.Buffer
	report   *report
	host     struct{ x, targets, report []float32 }

	// Of the present step.
	limit     kernel.Limit
	rows      []int
	statistic []float64 // the rule's, as far as it has been added up

	began  *Plan  // before all changes
	turns  []turn // to the plans that changes made, in order
	turned int    // how many it has come to

	waiting    []*pendingEvent
	done       int // steps that count
	lost       int // of them, those of another life of the run that this one's state has not seen
	reported   int
	ended      bool // its result has been given
	failed     error
	thresholds series
	seconds    float64  // of all steps
	exam       exam     // on all test rows, once the run has ended
	moved      int64    // bytes, by the device, when a step was last told
	notes      []string // what the owner must see in the result
}

// Start begins the plan on its data: it makes the model and releases what is
// charged before the first step. Every call has randomness of its own, unless the
// seed is fixed. The run's memory is given back by Close.
func (p *Plan) Start(ctx context.Context, ds *data.Dataset, be compute.Backend) (*Run, error) {
	r := &Run{Plan: p, began: p, ds: ds, be: compute.NewScope(be), mix: shuffle}
	if err := r.opened(ctx, r.openKey, r.openScale, r.openPCA, r.openModel, r.openMechanism, r.openKeeping, r.openSelfCheck); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Run) openKey(context.Context) (err error) {
	r.key, err = keyOf(r.cfg.Seed)
	return err
}

// checkTargets refuses labels beyond 0, no, and 1, yes: value clipping bounds their
// gradients by the loss, which holds between these.
func (r *Run) checkTargets() error {
	if r.ds.Task != data.MultiLabel {
		return nil
	}
	for i, y := range r.ds.Train.Y {
		if !(y >= 0 && y <= 1) {
			return fmt.Errorf("train: training row %d has a label of %v, and labels lie between 0 and 1", i/r.ds.Outputs+1, y)
		}
	}
	return nil
}

func (r *Run) openModel(context.Context) (err error) {
	if err := r.checkTargets(); err != nil {
		return err
	}
	capacity := r.capacity()
	views := r.cfg.Augmentation.Multiplicity
	r.model = nn.New(r.be, r.spec, capacity, views)
	r.augmentation = r.newAugmentation()
	r.model.Init(rand.New(r.stream(privacy.Init, 0)))
	if r.sampler, err = privacy.NewSampler(r.ds.Train.N, r.rate); err != nil {
		return err
	}
	d := r.spec.Params()
	c := &r.cfg
	r.opt, err = optim.New(r.be, optim.Config{
		Name: c.Optimizer, LearningRate: c.LearningRate, Momentum: c.Momentum, Beta1: c.Beta1, Beta2: c.Beta2, Eps: c.Eps,
	}, d)
	if err != nil {
		return err
	}
	r.gradient = r.be.New(d)
	at := 0
	for _, w := range r.model.Params() {
		r.grads, r.sums = append(r.grads, r.gradient.Slice(at, w.Len())), append(r.sums, r.be.NewSums(w.Len()))
		r.bySize = append(r.bySize, len(r.bySize))
		at += w.Len()
	}
	slices.SortStableFunc(r.bySize, func(i, j int) int { return r.grads[i].Len() - r.grads[j].Len() })
	width := r.ds.TargetWidth()
	rows := capacity * views
	r.x, r.targets, r.scalar = r.be.New(rows*r.inputs()), r.be.New(rows*width), r.be.New(1)
	r.host.targets = make([]float32, rows*width)
	r.pipe = input.NewPipe(r.spec.Input, r.pca, r.longest())
	if r.bytes = r.newByteRows(rows); r.bytes == nil {
		r.host.x = make([]float32, rows*r.ds.Features)
	}
	return nil
}

func (r *Run) openMechanism(ctx context.Context) (err error) {
	if r.clipper, err = r.newClipper(); err != nil {
		return err
	}
	r.query = r.clipper.Rule.Query()
	groups := 1
	if r.clipper.Grouping == clip.PerLayer && r.clipper.Source != clip.Bounded {
		groups = r.model.Groups()
	}
	r.report = newReport(r.be, r.model.Capacity, groups)
	r.host.report = make([]float32, r.report.all.Len())
	kernel.Fill(r.be, r.model.Capacity, 1, r.report.keep)
	for range groups {
		r.factors = append(r.factors, r.be.New(r.model.Capacity))
	}
	if r.query != nil {
		r.statistic = make([]float64, r.query.Len)
	}
	if r.source, err = r.newSource(); err != nil {
		return err
	}
	r.mech = r.mechanism()
	r.weights = newWeights(r.be, r.clipper.Weight)
	r.iterate, r.teacher = r.newIterate(), r.newTeacher()
	return nil
}

// Close gives the run's memory back.
func (r *Run) Close() { r.be.Close() }

// Steps takes the plan's steps, yielding an event after each, or a few steps later
// where a backend is still busy. To pause is to stop pulling; to stop is to break
// off. What was broken off goes on with the next call, no further than was planned,
// and not after a result or an error: half a step cannot be taken again, for its
// noise may have moved what the second half would start from.
//
// Guarantee: what has been released, and the step at which the run was broken off
// if released values alone decided that, cost the ε of the whole plan. In a blind
// run no diagnostic is yielded that could decide it.
func (r *Run) Steps(ctx context.Context) iter.Seq2[run.Event, error] {
	return func(yield func(run.Event, error) bool) {
		for r.reported < r.steps {
			e, err := r.next(ctx)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// trailing is how many steps may be begun before the first of them is reported.
const trailing = 3

// next is the event of the next step to be reported.
func (r *Run) next(ctx context.Context) (run.Event, error) {
	switch {
	case r.ended:
		return run.Event{}, errors.New("train: the run has ended; start the plan again")
	case r.failed != nil:
		return run.Event{}, r.failed
	}
	for r.done < r.steps && (len(r.waiting) == 0 || !r.kept() || len(r.waiting) < trailing && !r.waiting[0].ready()) {
		if err := ctx.Err(); err != nil {
			return run.Event{}, fmt.Errorf("train: step %d: %w", r.done+1, err)
		}
		if r.failed = r.step(ctx); r.failed != nil {
			return run.Event{}, r.failed
		}
	}
	e, err := r.finish(ctx, r.waiting[0])
	if err != nil {
		r.failed = err
		return e, err
	}
	r.waiting = append(r.waiting[:0], r.waiting[1:]...)
	r.reported++
	return e, nil
}

// tests reports whether the run tests itself after a step: not after the last, as
// the result does, and after the end there is one figure.
func (r *Run) tests(step int) bool {
	return !r.cfg.Blind && step < r.steps && (step == 1 || step%max(1, r.steps/r.evaluations()) == 0)
}

// evaluations is how often the run tests itself before it ends, about.
func (p *Plan) evaluations() int {
	rows := max(1, min(evaluationRows, p.meta.TestRows))
	most := (testShare*float64(p.steps)*p.batch - float64(p.meta.TestRows)) / float64(rows)
	return max(evaluationsLeast, min(evaluations, max(fewRows/rows, int(min(most, evaluations)))))
}

// stream is the source of random choices for one purpose and step.
func (r *Run) stream(purpose privacy.Purpose, step int) *chacha.Stream {
	return r.key.Stream(purpose, 0, uint64(step))
}

// noiseKey names the noise of one tensor in the present step.
func (r *Run) noiseKey(tensor int) (compute.NoiseKey, error) {
	return r.key.NoiseKey(privacy.Noise, tensor, uint64(r.done))
}

// normals draws n standard normals on this side, for one purpose and step: once
// each, or noise would repeat.
func (r *Run) normals(purpose privacy.Purpose, step, n int) ([]float64, error) {
	return normals(r.key, purpose, step, n)
}

func normals(key privacy.Key, purpose privacy.Purpose, step, n int) ([]float64, error) {
	z := make([]float64, n)
	k, err := key.NoiseKey(purpose, 0, uint64(step))
	if err != nil {
		return nil, fmt.Errorf("train: noise: %w", err)
	}
	if err := chacha.Normal(&k.Key, &k.Nonce, z); err != nil {
		return nil, fmt.Errorf("train: noise: %w", err)
	}
	return z, nil
}

// load brings rows of a split and their targets onto the backend, as they are or
// augmented, and returns how many views of each there are.
func (r *Run) load(split *data.Split, rows []int, as *augmentation) (views int) {
	n, width := len(rows), r.ds.TargetWidth()
	views = 1
	if as != nil {
		views = r.cfg.Augmentation.Multiplicity
	}
	t := r.host.targets[:views*n*width]
	split.Targets(t[:n*width], width, rows)
	r.targetScale.Scale(t[:n*width])
	for v := 1; v < views; v++ {
		copy(t[v*n*width:], t[:n*width])
	}
	r.be.Write(r.targets, t)
	if r.bytes != nil {
		r.bytes.load(r.be, split, rows, r.ds.Features, r.x)
		return views
	}
	x := r.host.x[:views*n*r.ds.Features]
	r.scale.Rows(x[:n*r.ds.Features], split, rows)
	if as != nil {
		as.views(x, n)
	}
	r.pipe.Write(r.be, x, r.ds.Features, r.x)
	return views
}

// Unstarted is the result of a run that was stopped before its first step. Bounds
// or directions may have been worked out for it, but nothing of them leaves.
func (p *Plan) Unstarted() run.Result {
	nan := run.Number(math.NaN())
	return run.Result{
		PlannedSteps: p.steps, Stopped: true, Blind: p.cfg.Blind, Delta: p.cfg.TargetDelta, Accountant: p.cfg.Accountant,
		TestAccuracy: nan, TestLoss: nan, Guarantee: "Nothing was trained and nothing was released.",
		Released: run.Summary{NoiseMultiplier: p.sigma, SampleRate: p.rate},
	}
}

// Result measures the model on all test rows and gathers what the run leaves,
// whether it ended or was stopped: every step that was taken counts, also those
// that a busy backend has not let be reported. After it the run does not go on.
func (r *Run) Result(ctx context.Context) (run.Result, error) {
	res, err := r.outcome(ctx)
	if r.done > 0 {
		writeStatement(r.accounts, r.draft(r.done), r.self, &res)
	}
	return res, err
}

// outcome is the result without the statement, which may take longer than a short run.
func (r *Run) outcome(ctx context.Context) (run.Result, error) {
	r.ended = true
	res := r.Unstarted()
	res.Backend, res.Threads, res.Device = r.be.Name(), compute.ThreadsOf(r.be.Backend), compute.DeviceOf(r.be.Backend)
	if r.done == 0 {
		return res, nil
	}
	res.Steps, res.LostSteps, res.Stopped = r.done, r.lost, r.done < r.steps
	res.Epsilon, res.EpsilonAtStep = run.Number(r.epsilon(r.steps)), run.Number(r.epsilonAt(r.done))
	res.TrainSeconds, res.Guarantee, res.Notes, res.Changes = r.seconds, r.guarantee(r.done), r.notes, r.changes
	if r.steps < r.horizon {
		res.Notes = append(slices.Clone(res.Notes), fmt.Sprintf("As noise_multiplier was changed, target_epsilon = %g is used up after step %d of %d, and the run goes no further.", *r.cfg.TargetEpsilon, r.steps, r.horizon))
	}
	res.Released.MaxGradNorm = r.thresholds.values
	if r.iterate != nil {
		if r.self != nil {
			var err error
			if r.self.last, err = r.parameters(ctx); err != nil {
				return res, err
			}
		}
		r.iterate.restore(r.model.All(), r.taken())
		r.iterate = nil
	}
	if err := r.examine(ctx, &res); err != nil {
		return res, err
	}
	res.Released.Apply = r.application()
	res.Unusable = res.Released.Apply.Unusable()
	parameters, err := r.parameters(ctx)
	if err == nil {
		res.Checks, err = r.checks(ctx, parameters)
	}
	if err == nil && r.targetScale != nil {
		r.inTheirUnits(parameters)
	}
	res.Released.Parameters = parameters
	return res, err
}

// inTheirUnits has parameters that were trained on scaled targets give answers in the
// data's units: the last layer is dense then, and its weight and bias are what comes last.
//
// Guarantee: that of the parameters and of the targets' bounds, from which it computes: in a
// run without noise there is none.
func (r *Run) inTheirUnits(parameters []float32) {
	k := r.ds.Outputs
	last := parameters[len(parameters)-r.spec.Layers[len(r.spec.Layers)-1].Parameters:]
	r.targetScale.Fold(last[:len(last)-k], last[len(last)-k:])
}

// parameters are all of the model's, one tensor after the other: read in pieces, as
// what is fetched is a copy.
func (r *Run) parameters(ctx context.Context) ([]float32, error) {
	const piece = 1 << 20
	v := make([]float32, r.spec.Params())
	for at := 0; at < len(v); at += piece {
		part := v[at:min(at+piece, len(v))]
		if err := compute.Read(ctx, r.be, part, r.model.All().Slice(at, len(part))); err != nil {
			return nil, fmt.Errorf("train: reading parameters: %w", err)
		}
	}
	return v, nil
}
