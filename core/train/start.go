package train

import (
	"context"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/optim"
	"clipscope/core/plan"
	"clipscope/core/privacy"
)

// Start begins a plan on its data: it makes the model and releases what is
// charged before the first step. Every call has randomness of its own, unless the
// seed is fixed. The run's memory is given back by Close.
func Start(ctx context.Context, p *plan.Plan, ds *data.Dataset, be compute.Backend) (*Run, error) {
	return Join(ctx, p, ds, be, nil)
}

// Join is [Start] of a run of several parties, which meet at others.
func Join(ctx context.Context, p *plan.Plan, ds *data.Dataset, be compute.Backend, others Exchange) (*Run, error) {
	if c := p.Terms().Config; c.Start.SHA256 != "" && p.Terms().StartWeights == nil {
		return nil, plan.Fault("start", "the weights of %s (SHA-256 %s) are not at hand: choose their file again", data.Shorten(c.Start.File), c.Start.SHA256)
	}
	r, err := newRun(p, ds, be, others)
	if err != nil {
		return nil, err
	}
	if err := r.openParts(ctx, r.openScale, r.feed.openPCA, r.assemble, r.openCheckpoints, r.openSelfCheck); err != nil {
		return nil, err
	}
	return r, nil
}

// newRun returns a run of which nothing is open.
func newRun(p *plan.Plan, ds *data.Dataset, be compute.Backend, others Exchange) (*Run, error) {
	if c := p.Terms().Config.PublicRows; c.SHA256 != "" && p.Terms().PublicRows == nil {
		return nil, plan.Fault("public_rows", "the rows of %s (SHA-256 %s) are not at hand: choose their file again", data.Shorten(c.File), c.SHA256)
	}
	w, err := newWorkspace(be, p.Terms(), ds.Train.N, others)
	if err != nil {
		return nil, err
	}
	return &Run{plan: p, epsilon: p.Epsilon, course: course{began: p}, work: w, watch: newWatch(w.terms.Config.EarlyStopping), feed: &feed{workspace: w, ds: ds}, mix: shuffle}, nil
}

func (r *Run) openScale(context.Context) error { return r.feed.openScale() }

// assemble makes the model and all that a step takes.
func (r *Run) assemble(context.Context) (err error) {
	if err := r.feed.checkTargets(); err != nil {
		return err
	}
	w, c := r.work, &r.work.terms.Config
	w.makeModel()
	w.model.Init(rand.New(w.stream(privacy.Init, 0)))
	r.feed.writeStart()
	if r.sampler, err = privacy.NewSampler(r.feed.ds.Train.N, w.terms.SampleRate); err != nil {
		return err
	}
	r.opt, err = optim.New(w.be, optim.Config{
		Name: c.Optimizer, LearningRate: c.LearningRate, Momentum: c.Momentum, Nesterov: c.Nesterov, Beta1: c.Beta1, Beta2: c.Beta2, Eps: c.Eps, WeightDecay: c.WeightDecay,
	}, w.terms.Spec.Params())
	if err != nil {
		return err
	}
	w.makeGradient()
	r.feed.open()
	w.makeReport()
	r.clipping = newClipping(w)
	if r.norms, err = newSource(r.clipping); err != nil {
		return err
	}
	r.clipping.teacher = newTeacher(w)
	r.iterate = newIterate(w)
	return nil
}

// openSelfCheck begins to test the run.
func (r *Run) openSelfCheck(context.Context) error {
	_, unmeasured := r.norms.(bounded)
	r.self = newSelfCheck(r.clipping, r.feed, r.done, unmeasured)
	return nil
}
