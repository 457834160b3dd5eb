package plan

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/privacy"
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

// New makes a plan for cfg on such data, or says with a [*run.ConfigError] which
// field is at fault.
func New(cfg run.Config, meta data.Meta) (*Plan, error) { return Recall(nil, cfg, meta) }

// Recall is [New] with what earlier plans were told by accountants.
func Recall(accounts *privacy.Memory, cfg run.Config, meta data.Meta) (*Plan, error) {
	if cfg.Tuning.Runs != 0 {
		return nil, Fault("tuning.runs", "one run cannot be several: leave tuning out")
	}
	d, err := newDraft(accounts, cfg, meta)
	if err != nil {
		return nil, err
	}
	if err := d.finish(); err != nil {
		return nil, err
	}
	return (*Plan)(d), nil
}

// Release returns all that a run of cfg would release, without its price.
func Release(cfg run.Config, meta data.Meta) (privacy.Event, error) {
	d, err := newDraft(nil, cfg, meta)
	if err != nil {
		return nil, err
	}
	return (*Plan)(d).Release(), nil
}

// Declared returns the plan's view of its data. Where cfg declares the number of rows, nothing in
// it depends on the counted number.
//
// Guarantee: with a declared number a plan is a function of that, of the configuration and of
// what [privacy.Known] lists, so it is the same for data sets that differ in one row. Data
// of more than [privacy.MostPerDeclared] times as many rows have no plan: that there are no
// more is part of the declaration, and public.
func Declared(cfg run.Config, meta data.Meta) (data.Meta, error) {
	const field = "num_examples"
	switch n := cfg.NumExamples; {
	case n == 0:
		return meta, nil
	case n < 0 || n > mostExamples:
		return meta, Fault(field, "%d is no number of rows; write one from 1 to a billion, or leave it empty to have the rows counted", n)
	case meta.HeldOut == data.Shuffled:
		return meta, Fault(field, "which rows are held out for testing depends on how many rows there are, so one row more would change it for others; set csv.hold_out to row (Data, Advanced: Held out by), give a test file, or hold none out")
	case meta.TrainRows == 0:
		return meta, Fault("data", "there are no training rows")
	case meta.TrainRows > n*privacy.MostPerDeclared:
		return meta, Fault(field, "%d rows are declared, and there are more than %d times as many; declare about as many as there are", n, privacy.MostPerDeclared)
	default:
		return meta.Declared(n), nil
	}
}

// mostExamples bounds a declared number of rows.
const mostExamples = 1e9

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

// asConfigError keeps the field that a part's error names.
func asConfigError(err error) error {
	if pe := (*clip.ParamError)(nil); errors.As(err, &pe) {
		return &run.ConfigError{Field: pe.Key, Message: pe.Message}
	}
	return err
}

// Fault returns an error that blames a field of the configuration.
func Fault(field, format string, args ...any) error {
	return &run.ConfigError{Field: field, Message: fmt.Sprintf(format, args...)}
}

// FaultOf blames a field for another package's error; whose it was says nothing
// to the one who fills in the form.
func FaultOf(field string, err error) error {
	_, said, found := strings.Cut(err.Error(), ": ")
	if !found {
		said = err.Error()
	}
	return &run.ConfigError{Field: field, Message: said}
}
