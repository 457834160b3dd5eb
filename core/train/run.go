// Package train runs differentially private SGD. Package plan makes model, clipping, noise
// and accounting agree, once and without a look at a row; [Start] brings data and a backend,
// and [Run.Steps] takes the steps. A step samples a batch, and what its rows add up to is a
// [Part]; how examples are measured, summed and noised is a mechanism's, one file each.
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
// expected batch size, never the realised one. Rows of the test set and public rows that are
// mixed in are outside the guarantee, and so is everything in [run.Diag].
package train

import (
	"context"
	"math/rand/v2"

	"clipscope/core/optim"
	"clipscope/core/plan"
	"clipscope/core/privacy"
)

// Run is a plan under way: on its data, with a key and randomness of its own. All
// buffers are made once, so that memory stays flat however long it goes on.
type Run struct {
	plan        *plan.Plan
	epsilon     func(step int) float64 // of the plan
	course      course
	work        *workspace
	feed        *feed
	clipping    *clipping
	norms       normSource
	opt         optim.Optimizer
	sampler     privacy.Sampler
	mix         func(rows []int, src rand.Source) // shuffle, unless a test plants a fault
	iterate     *iterate                          // nil: the last
	checkpoints *checkpointer                     // nil: the backend's memory cannot be lost
	watch       *watch                            // nil: the run takes all of its steps
	self        *selfCheck                        // nil: a run without noise

	rows       []int // of the present step
	waiting    []*pendingEvent
	unsettled  *pendingEvent // the last, where its statistic is still to come; else nil
	done       int           // steps that count
	lost       int           // of them, those that the state has not seen: void ones, and those of another life of the run
	reported   int
	ended      bool // its result has been given
	failed     error
	thresholds series
	seconds    float64 // of all steps
}

// openParts opens the parts of a run, and closes the run where one fails.
func (r *Run) openParts(ctx context.Context, parts ...func(context.Context) error) error {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			r.Close()
			return err
		}
	}
	return nil
}

// Close gives the run's memory back.
func (r *Run) Close() { r.work.be.Close() }

func shuffle(rows []int, src rand.Source) {
	rand.New(src).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

// taken returns how many steps the state has seen.
func (r *Run) taken() int { return r.done - r.lost }
