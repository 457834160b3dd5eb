package audit

import (
	"context"
	"fmt"

	"clipscope/core/audit/crowd"
	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
	"clipscope/core/train"
)

// Case is a pair of data sets, a crowd without and with its extra row, and
// a mechanism on full batches: what shows a broken bound where canaries among
// digits do not.
type Case struct {
	Name string

	crowd crowd.Crowd
	rows  int
	edit  func(*run.Config)
	// start moves what a run may have moved before, if not nil.
	start func(*train.Run)
}

// worstCases lists the cases that an audit tries: two holes that were once there, and the
// coordinates in which one row counts for the most.
var worstCases = []Case{
	{"rows whose sum rounds differently with one row more", crowd.OneLedge, 60_000, func(*run.Config) {}, nil},
	{"a small gradient of a long input, at a small threshold", crowd.Lone, 1000, func(c *run.Config) { c.MaxGradNorm = 1e-12 }, nil},
	{"a row far from a centre that takes nearly all others away (adaclip)", crowd.Strayed, 60_000, func(c *run.Config) {
		c.Method, c.Weight, c.Threshold, c.Grouping, c.Params = "adaclip", "", "", "", nil
	}, centreOnAlike},
}

// centreOnAlike puts the centre where all gradients of alike lie, and makes the
// scale so small that rounding the sum of 60,000 of them to float32 would be some
// 20 times C.
func centreOnAlike(r *train.Run) {
	r.Centre([]float32{float32(crowd.AlikeRow[0]), float32(crowd.AlikeRow[1]), 1}, 1e-4)
}

// worstCaseAudit runs every worst case many times with and without its extra row
// and tells the two apart by the noised sum of one step: a linear rule learned on
// some of the runs and tried on the others.
//
// The claim holds for each run on its own, so runs with other keys on the same
// rows are samples of its output, not a composition.
type worstCaseAudit struct {
	cfg   run.AuditRequest
	be    compute.Backend
	info  run.PlanInfo
	start Start
	cases []Case
}

// learning: one in so many runs is learned from.
const learning = 4

func (w *worstCaseAudit) checkRuns() error {
	c := &w.cfg
	if c.Runs < 20 || c.Runs > 10_000 {
		return plan.Fault("runs", "%d is not in 20 … 10000", c.Runs)
	}
	p, _, err := w.plan(worstCases[0], false)
	if err != nil {
		return err
	}
	if p.Terms().NoiseMultiplier == 0 {
		return errNoNoise
	}
	w.info = p.Info()
	return nil
}

// plan returns the plan of one run of a worst case, and its data.
func (w *worstCaseAudit) plan(wc Case, extra bool) (*plan.Plan, *data.Dataset, error) {
	c := w.cfg.Run
	if c.MaxGradNorm == 0 {
		c.MaxGradNorm = 1
	}
	c.Steps = 1
	wc.edit(&c)
	ds := wc.crowd.Data(wc.rows, extra, 1)
	if extra { // first, where it moves most of what comes after
		f, y, last := ds.Train.F32, ds.Train.Y, ds.Train.N-1
		f[0], f[2*last] = f[2*last], f[0]
		f[1], f[2*last+1] = f[2*last+1], f[1]
		y[0], y[last] = y[last], y[0]
	}
	c.Data, c.CSV, c.PCA, c.Augmentation = wc.Name, run.CSV{}, run.PCA{}, run.Augmentation{}
	c.Scaling, c.Model = run.Scaling{Kind: "none"}, run.Model{Kind: "linear"}
	c.ExpectedBatchSize, c.Epochs, c.MaxPhysicalBatchSize = float64(ds.Train.N), 0, 1<<16
	if w.info.NoiseMultiplier > 0 {
		c.NoiseMultiplier, c.TargetEpsilon = &w.info.NoiseMultiplier, nil
	}
	c.Optimizer, c.LearningRate, c.Momentum, c.Nesterov, c.LabelSmoothing, c.ClassWeights = "sgd", 1, 0, false, 0, nil
	c.Iterate, c.DiagnosticsEvery, c.EarlyStopping, c.Start, c.PublicRows, c.Seed = "last", 0, run.EarlyStopping{}, run.Start{}, run.PublicRows{}, nil
	p, err := plan.New(c, ds.Meta())
	return p, ds, err
}

func (w *worstCaseAudit) run(ctx context.Context, progress func(step, steps int) error) (run.AuditReport, error) {
	c := &w.cfg
	r := run.AuditReport{
		Claimed: w.info.Epsilon, Delta: w.info.Delta, Accountant: w.info.Accountant, Confidence: 1 - c.Significance,
		Runs: c.Runs, Steps: 1, SampleRate: 1, NoiseMultiplier: w.info.NoiseMultiplier, Backend: w.be.Name(),
	}
	done, all := 0, 2*c.Runs*len(w.cases)
	for _, wc := range w.cases {
		var out [2][][]float64 // without, with
		for i := range 2 * c.Runs {
			v, err := w.release(ctx, wc, i%2 == 1)
			if err != nil {
				return r, fmt.Errorf("audit: %s: %w", wc.Name, err)
			}
			out[i%2] = append(out[i%2], v)
			if done++; progress != nil {
				if err := progress(done, all); err != nil {
					return r, err
				}
			}
		}
		found, err := tellApart(out, c.Runs/learning, r.Delta, c.Significance/float64(len(w.cases)))
		if err != nil {
			return r, fmt.Errorf("audit: %w", err)
		}
		found.Name, found.Rows = wc.Name, wc.rows
		r.WorstCases = append(r.WorstCases, found)
		r.LowerBound = max(r.LowerBound, found.LowerBound)
	}
	r.AnyMechanism = r.LowerBound
	r.Refuted = r.LowerBound > float64(r.Claimed)
	return r, nil
}

// release returns the noised sum of one run's only step: see [train.Run.NoisedSum].
func (w *worstCaseAudit) release(ctx context.Context, wc Case, extra bool) ([]float64, error) {
	p, ds, err := w.plan(wc, extra)
	if err != nil {
		return nil, err
	}
	r, err := w.start(ctx, p, ds, w.be)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if wc.start != nil {
		wc.start(r)
	}
	return r.NoisedSum(ctx)
}

// tellApart learns a direction and a threshold from the first runs of each kind
// and counts on the others how often they are right.
func tellApart(out [2][][]float64, learned int, delta, significance float64) (run.WorstCase, error) {
	direction := make([]float64, len(out[0][0]))
	for j := range direction {
		m0, v0 := moments(out[0][:learned], j)
		m1, v1 := moments(out[1][:learned], j)
		if m0 != m1 {
			direction[j] = (m1 - m0) / (v0 + v1 + 1e-12*(m1-m0)*(m1-m0))
		}
	}
	score := func(v []float64) float64 {
		s := 0.0
		for j, d := range direction {
			s += d * v[j]
		}
		return s
	}
	middle := 0.0
	for kind := range out {
		for _, v := range out[kind][:learned] {
			middle += score(v) / float64(2*learned)
		}
	}
	var hits [2]int
	for kind := range out {
		for _, v := range out[kind][learned:] {
			if score(v) > middle {
				hits[kind]++
			}
		}
	}
	a := privacy.TwoSampleAudit{Runs: len(out[0]) - learned, Included: hits[1], Excluded: hits[0]}
	eps, err := a.Epsilon(delta, significance)
	return run.WorstCase{Included: hits[1], Excluded: hits[0], LowerBound: eps}, err
}

// moments are the mean and the variance of the j-th numbers.
func moments(v [][]float64, j int) (mean, variance float64) {
	for _, x := range v {
		mean += x[j] / float64(len(v))
	}
	for _, x := range v {
		variance += (x[j] - mean) * (x[j] - mean) / float64(len(v))
	}
	return mean, variance
}
