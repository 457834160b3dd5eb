package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// A crowd is rows whose gradients are known and add up badly in float32: linear
// regression at zero weights gives the row (x, y) the gradient −y·(x, 1).
type crowd struct {
	name string
	row  func(rng *rand.Rand, i, n int, c float64) (x [2]float64, y float64)
	// extra is the row that D′ has and D has not.
	extra func(c float64) (x [2]float64, y float64)
}

// lone is one small gradient of a long input, δ² below what float32 holds, among
// rows that add nothing.
var lone = crowd{
	"lone",
	func(*rand.Rand, int, int, float64) ([2]float64, float64) { return [2]float64{1, 1}, 0 },
	func(c float64) ([2]float64, float64) { return [2]float64{1e15, 1e13}, -c * 1e-23 },
}

// oneLedge is a crowd on a [ledge].
var oneLedge = crowd{
	"ledge",
	func(_ *rand.Rand, i, n int, c float64) ([2]float64, float64) { return ledge(i, n, c) },
	func(c float64) ([2]float64, float64) { return [2]float64{}, 0.3 * c },
}

// ledge is the worst that has been found: rows of C bring a float32 sum to just
// above a power of two, and each of the others takes away a little. What it takes is less than half a unit
// in the last place there, and rounds to nothing; but a row more that leaves the
// sum just below, where a unit is half as large, and it rounds to a unit.
func ledge(i, n int, c float64) ([2]float64, float64) {
	k := math.Floor(math.Log2(float64(max(n, 2)) / 2))
	if i <= int(math.Exp2(k)) {
		return [2]float64{}, -c
	}
	return [2]float64{}, c * 0.56 * math.Exp2(k-24)
}

// data is n rows of the crowd, the same at every call, and the extra one behind
// them if asked for.
func (w crowd) data(n int, extra bool, c float64) *data.Dataset {
	ds := &data.Dataset{Name: w.name, Task: data.Regression, Features: 2, Outputs: 1}
	add := func(x [2]float64, y float64) {
		ds.Train.F32 = append(ds.Train.F32, float32(x[0]), float32(x[1]))
		ds.Train.Y = append(ds.Train.Y, float32(y))
	}
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	for i := range n {
		add(w.row(rng, i, n, c))
	}
	if extra {
		add(w.extra(c))
	}
	ds.Train.N = len(ds.Train.Y)
	return ds
}

// A worstCase is a pair of data sets, a crowd without and with its extra row, and
// a mechanism on full batches: what shows a broken bound where canaries among
// digits do not.
type worstCase struct {
	name  string
	crowd crowd
	rows  int
	edit  func(*run.Config)
	// start moves what a run may have moved before, if not nil.
	start func(*Run)
}

// worstCases are what the audit tries: two holes that were once there, and the
// coordinates in which one row counts for the most.
var worstCases = []worstCase{
	{"rows whose sum rounds differently with one row more", oneLedge, 60_000, func(*run.Config) {}, nil},
	{"a small gradient of a long input, at a small threshold", lone, 1000, func(c *run.Config) { c.MaxGradNorm = 1e-12 }, nil},
	{"a row far from a centre that takes nearly all others away (adaclip)", strayed, 60_000, func(c *run.Config) {
		c.Method, c.Weight, c.Threshold, c.Grouping, c.Params = "adaclip", "", "", "", nil
	}, centreOnAlike},
}

// alike is rows that are all the same, the extra one too.
var alike = crowd{
	"alike",
	func(*rand.Rand, int, int, float64) ([2]float64, float64) { return alikeRow, -1 },
	func(float64) ([2]float64, float64) { return alikeRow, -1 },
}

// strayed is rows that are all where the centre is, and one across from it.
var strayed = crowd{
	"strayed", alike.row, func(float64) ([2]float64, float64) { return alikeRow, 1 },
}

// alikeRow is such that 60,000 and 60,001 times it round to float32 in opposite
// directions.
var alikeRow = [2]float64{0.96, 0.79}

// centreOnAlike puts the centre where all gradients of alike lie, and makes the
// scale so small that rounding the sum of 60,000 of them to float32 would be some
// 20 times C.
func centreOnAlike(r *Run) {
	const deviation = 1e-4
	c := r.mech.(*adaClip)
	r.be.Write(c.a, []float32{float32(alikeRow[0]), float32(alikeRow[1]), 1})
	kernel.Fill(r.be, c.root.Len(), float32(math.Sqrt(deviation)), c.root)
	c.rescale()
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
	cases []worstCase
	// planted breaks the mechanism in tests.
	planted func(*Run)
}

// learning: one in so many runs is learned from.
const learning = 4

func (w *worstCaseAudit) check() error {
	c := &w.cfg
	if c.Runs < 20 || c.Runs > 10_000 {
		return fault("runs", "%d is not in 20 … 10000", c.Runs)
	}
	w.cases = worstCases
	if c.Run.NoiseMode == "secure" {
		w.cases = worstCases[:2] // adaclip is refused there
	}
	p, _, err := w.plan(w.cases[0], false)
	if err != nil {
		return err
	}
	if p.sigma == 0 {
		return errAuditNoNoise
	}
	w.info = p.Info()
	return nil
}

// plan is one run of a worst case, and its data.
func (w *worstCaseAudit) plan(wc worstCase, extra bool) (*Plan, *data.Dataset, error) {
	c := w.cfg.Run
	if c.MaxGradNorm == 0 {
		c.MaxGradNorm = 1
	}
	c.Steps = 1
	wc.edit(&c)
	ds := wc.crowd.data(wc.rows, extra, 1)
	if extra { // first, where it moves most of what comes after
		f, y, last := ds.Train.F32, ds.Train.Y, ds.Train.N-1
		f[0], f[2*last] = f[2*last], f[0]
		f[1], f[2*last+1] = f[2*last+1], f[1]
		y[0], y[last] = y[last], y[0]
	}
	c.Data, c.CSV, c.PCA, c.Augmentation = wc.name, run.CSV{}, run.PCA{}, run.Augmentation{}
	c.Scaling, c.Model = run.Scaling{Kind: "none"}, run.Model{Kind: "linear"}
	c.ExpectedBatchSize, c.Epochs, c.MaxPhysicalBatchSize = float64(ds.Train.N), 0, 1<<16
	if w.info.NoiseMultiplier > 0 {
		c.NoiseMultiplier, c.TargetEpsilon = &w.info.NoiseMultiplier, nil
	}
	c.Optimizer, c.LearningRate, c.Momentum = "sgd", 1, 0
	c.Iterate, c.DiagnosticsEvery, c.Seed = "last", 0, nil
	p, err := New(c, ds.Meta())
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
				return r, fmt.Errorf("train: audit: %s: %w", wc.name, err)
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
			return r, fmt.Errorf("train: audit: %w", err)
		}
		found.Name, found.Rows = wc.name, wc.rows
		r.WorstCases = append(r.WorstCases, found)
		r.LowerBound = max(r.LowerBound, found.LowerBound)
	}
	r.AnyMechanism = r.LowerBound
	r.Refuted = r.LowerBound > float64(r.Claimed)
	return r, nil
}

// release is the noised sum of one run's only step. All that the run releases is
// made from it, and says less: the mean of a sum around a centre is rounded to
// float32 where the centre is, which can be coarser than the noise.
func (w *worstCaseAudit) release(ctx context.Context, wc worstCase, extra bool) ([]float64, error) {
	p, ds, err := w.plan(wc, extra)
	if err != nil {
		return nil, err
	}
	r, err := p.Start(ctx, ds, w.be)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if wc.start != nil {
		wc.start(r)
	}
	if w.planted != nil {
		w.planted(r)
	}
	if err := r.sum(ctx, &pendingEvent{}); err != nil {
		return nil, err
	}
	sum := make([]float32, p.spec.Params())
	if err := compute.Read(ctx, r.be, sum, r.gradient); err != nil {
		return nil, fmt.Errorf("train: audit: %w", err)
	}
	out := make([]float64, len(sum))
	for i, x := range sum {
		out[i] = float64(x)
	}
	return out, nil
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
