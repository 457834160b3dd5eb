// Package plan settles what a run does and costs before it begins. Model, schedule, clipping,
// noise and price are made to agree once, without a look at a row, and what does not fit is
// refused with the field at fault. A [Plan] is frozen. [Terms] are all that package train takes from it.
//
// Choices are made on a draft, which nobody outside sees: draft's methods choose, check and
// warn, and those of Plan read. A way to draw noise is a [Noise], one file each.
//
// # Guarantee
//
// ε of a plan is an upper bound of what its events cost, those before the first step and all
// of its steps, or ∞. With a declared number of rows a plan is the same for data sets that
// differ in one row: see [Declared]. What has no proof is refused, or named among the reasons
// for having no guarantee.
package plan

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"clipscope/core/run"
)

// Plan is a run whose parts agree. It never changes and may be started any number
// of times; each start is charged on its own.
type Plan struct {
	terms Terms
	price price
	info  run.PlanInfo
}

// draft is a plan in the making: what a plan is settled by changes a draft alone.
type draft Plan

// Info returns what the run will do and cost, as the page shows it.
func (p *Plan) Info() run.PlanInfo { return p.info }

// Terms returns what the plan is settled on.
func (p *Plan) Terms() Terms { return p.terms }

// Unstarted is the result of a run that was stopped before its first step. Bounds
// or directions may have been worked out for it, but nothing of them leaves.
func (p *Plan) Unstarted() run.Result {
	nan := run.Number(math.NaN())
	return run.Result{
		PlannedSteps: p.terms.Steps, Stopped: true, Blind: p.terms.Config.Blind, Delta: p.terms.Config.TargetDelta, Accountant: p.terms.Config.Accountant,
		TestAccuracy: nan, TestLoss: nan, Guarantee: "Nothing was trained and nothing was released.",
		Released: run.Summary{NoiseMultiplier: p.terms.NoiseMultiplier, SampleRate: p.terms.SampleRate},
	}
}

// Names returns hashes that tell the plan, with all that it costs, and its data from others.
func (p *Plan) Names() (plan, meta [32]byte, err error) {
	what, err := json.Marshal(struct {
		Config, Events any
		Noise          [3]float64
		Rate           float64
		Steps          int
	}{p.terms.Config, p.info.Events, [3]float64{p.terms.GradNoise, p.terms.BoundsNoise, p.terms.PCANoise}, p.terms.SampleRate, p.terms.Steps})
	if err != nil {
		return plan, meta, fmt.Errorf("plan: naming the plan: %w", err)
	}
	known := p.terms.Meta
	known.Columns = slices.Clone(known.Columns)
	for i := range known.Columns {
		c := &known.Columns[i]
		c.Missing = min(c.Missing, 1) // that cells are missing is public, and not how many
	}
	of, err := json.Marshal(known)
	if err != nil {
		return plan, meta, fmt.Errorf("plan: naming the data: %w", err)
	}
	return sha256.Sum256(what), sha256.Sum256(of), nil
}

// plan returns the draft as it reads.
func (d *draft) plan() *Plan { return (*Plan)(d) }

func (d *draft) warn(field, format string, args ...any) {
	d.info.Warnings = append(d.info.Warnings, run.Warning{Field: field, Message: fmt.Sprintf(format, args...)})
}

// remark is like warn, of what asks for nothing.
func (d *draft) remark(field, format string, args ...any) {
	d.info.Warnings = append(d.info.Warnings, run.Warning{Field: field, Message: fmt.Sprintf(format, args...), Note: true})
}
