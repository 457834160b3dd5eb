package plan

import (
	"cmp"

	"clipscope/core/data"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

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

// mostPhysicalBatch bounds max_physical_batch_size.
const mostPhysicalBatch = 1 << 16

// newDraft settles everything but the price.
func newDraft(accounts *privacy.Memory, cfg run.Config, meta data.Meta) (*draft, error) {
	meta, err := Declared(cfg, meta)
	if err != nil {
		return nil, err
	}
	asked := cmp.Or(cfg.MaxPhysicalBatchSize, mostPhysicalBatch)
	cfg = cfg.WithDefaultsFor(meta.Facts())
	d := &draft{terms: Terms{Config: cfg, Meta: meta, Noise: noiseOf(cfg.NoiseMode), asked: asked}, price: price{accounts: accounts}}
	return d, d.choose()
}

// choose settles everything but the price.
func (d *draft) choose() error {
	if err := checkNumbers(&d.terms.Config); err != nil {
		return err
	}
	for _, part := range []func() error{
		d.chooseModel, d.checkStart, d.checkPublic, d.chooseSchedule, d.chooseScale, d.chooseTogether, d.choosePCA, d.chooseNoise, d.chooseClipper, d.checkStopping, d.chooseWeights, d.chooseMechanism, d.checkAugmentation, d.checkMemory,
	} {
		if err := part(); err != nil {
			return asConfigError(err)
		}
	}
	return nil
}

// finish works out the price and says what there is to say of the plan.
func (d *draft) finish() error {
	for _, part := range []func() error{d.choosePrice, d.writeEvents} {
		if err := part(); err != nil {
			return asConfigError(err)
		}
	}
	d.terms.Capacity = d.terms.capacity()
	d.describe()
	return nil
}
