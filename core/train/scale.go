package train

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/data"
	"clipscope/core/privacy"
)

// shares of ε are what private bounds get unless the user says otherwise: the first
// with which they work, or else the last, as bounds that are wrong cost a small table
// more than noise does (see RATIONALE).
var shares = [...]float64{0.1, 0.2, 0.3}

// chooseScale settles the kind of scaling and what it costs. Bounds that cost
// something are released when the run starts, not before: planning must be free.
func (p *Plan) chooseScale() error {
	s := &p.cfg.Scaling
	if s.Kind == "" {
		s.Kind = p.defaultScaling()
	}
	if s.Share == 0 && s.Kind != "private" {
		s.Share = shares[0]
	}
	switch s.Kind {
	case "none", "row", "measured":
		return nil
	case "declared":
		if err := p.meta.CheckDeclared(s.Lo, s.Hi); err != nil {
			return faultOf("scaling", err)
		}
		return nil
	case "private":
		return p.chooseShare()
	default:
		return fault("scaling.kind", "there is no scaling %q; choose declared, row, private, measured or none", s.Kind)
	}
}

// defaultScaling is free where bounds are public, or a model made the features, and private for tables.
func (p *Plan) defaultScaling() string {
	switch {
	case p.meta.Bounds != nil:
		return "declared"
	case p.meta.Backbone != nil:
		return "row" // free, whatever the size of what a model gives
	case p.meta.Columns != nil && len(p.meta.NumericFeatures()) > 0:
		return "private"
	default:
		return "none"
	}
}

// chooseShare charges the private bounds' share of ε before the first step.
func (p *Plan) chooseShare() error {
	s := &p.cfg.Scaling
	given := s.Share != 0
	if !given {
		s.Share = shares[0]
	}
	if len(p.meta.NumericFeatures()) == 0 {
		return nil
	}
	var err error
	for i := 1; ; i++ {
		if p.boundsNoise, err = p.priced("scaling.share", s.Share); err != nil {
			return err
		}
		if given || i == len(shares) || p.boundsShow() {
			break
		}
		s.Share = shares[i]
	}
	p.spend(p.boundsNoise)
	return nil
}

// boundsShow reports whether private bounds can be expected to work: half of the rows,
// where they lie within a factor of two, stand out of the noise.
func (p *Plan) boundsShow() bool {
	_, least := p.meta.BoundsNoise(p.boundsNoise)
	return least <= float64(p.meta.TrainRows)/2
}

// warnOfBounds says before the run what private bounds will come up against, by the
// formula that decides in it.
func (p *Plan) warnOfBounds() {
	if p.boundsNoise == 0 || p.boundsShow() {
		return
	}
	std, least := p.meta.BoundsNoise(p.boundsNoise)
	n, features := p.meta.TrainRows, len(p.meta.NumericFeatures())
	can := "will hardly work"
	if least > float64(n) {
		can = "cannot work"
	}
	p.warn("scaling.kind", "Private bounds %s on this data: each count gets noise of ±%.0f rows, so that where a column's values lie shows only if some %.0f rows are within a factor of two of each other, and there are %d. "+
		"Bounds of %d columns will be guesses, although they cost %.3g of ε. Declare the bounds that you know, or take a larger ε.", can, std, least, n, features, p.cfg.Scaling.Share)
}

// charge sets a share of the whole run's ε aside for one Gaussian release before
// the first step, and returns that release's noise multiplier; 0 in a run
// without noise.
func (p *Plan) charge(field string, share float64) (float64, error) {
	sigma, err := p.priced(field, share)
	p.spend(sigma)
	return sigma, err
}

// spend charges one Gaussian release before the first step; of a run without noise,
// sigma is 0 and there is nothing to charge.
func (p *Plan) spend(sigma float64) {
	if sigma > 0 {
		p.once = append(p.once, privacy.Gaussian{NoiseMultiplier: sigma})
	}
}

// priced is the noise multiplier that charge sets a share aside for.
func (p *Plan) priced(field string, share float64) (float64, error) {
	if !(share > 0 && share < 1) {
		return 0, fault(field, "a share of ε must lie between 0 and 1, got %v", share)
	}
	if p.nonPrivate() {
		return 0, nil
	}
	b := privacy.Budget{Accountant: p.cfg.Accountant, Delta: p.cfg.TargetDelta}
	switch c := &p.cfg; {
	case c.TargetEpsilon != nil:
		b.Epsilon = share * *c.TargetEpsilon
	case c.NoiseMultiplier != nil && *c.NoiseMultiplier > 0:
		training, err := privacy.Epsilon(c.Accountant, c.TargetDelta, privacy.SelfComposed{
			Of:    privacy.PoissonSampled{SampleRate: p.rate, Of: privacy.Gaussian{NoiseMultiplier: *c.NoiseMultiplier}},
			Count: p.steps,
		})
		if err != nil {
			return 0, faultOf("noise_multiplier", err)
		}
		b.Epsilon = share / (1 - share) * training
	default:
		return 0, nil // chooseNoise refuses
	}
	sigma, err := b.NoiseMultiplier(1, 1)
	if err != nil {
		return 0, faultOf(field, err)
	}
	return sigma, nil
}

// openScale makes the scaling, releasing private bounds where they were chosen.
//
// Guarantee: as charged in once; with kind "measured" there is none.
func (r *Run) openScale(context.Context) (err error) {
	switch s := r.cfg.Scaling; s.Kind {
	case "row":
		r.scale = data.RowScale(r.ds)
	case "measured":
		r.scale = data.MeasuredScale(r.ds, &r.ds.Train)
	case "declared":
		r.scale, err = data.DeclaredScale(r.ds, s.Lo, s.Hi)
	case "private":
		r.scale, err = r.privateScale()
	default:
		r.scale = data.NoScale(r.ds)
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// openKeptScale has the private bounds that another life of the run released; without
// them it makes the scaling as the first did.
func (r *Run) openKeptScale(bounds []data.Bound) func(context.Context) error {
	if bounds == nil {
		return r.openScale
	}
	return func(context.Context) (err error) {
		if r.scale, err = data.BoundsScale(r.ds, bounds); err != nil {
			return fmt.Errorf("train: %w", err)
		}
		return nil
	}
}

func (r *Run) privateScale() (*data.Scale, error) {
	h := data.NewBoundsHistogram(r.ds)
	sigma := r.boundsNoise * h.Sensitivity()
	noise, err := r.countNoise(privacy.OneOff, 0, sigma, 1, h.Len())
	if err != nil {
		return nil, err
	}
	bounds, uncertain, err := h.Bounds(func(dst []float64) {
		for i := range dst {
			dst[i] += noise[i]
		}
	}, sigma)
	if err != nil {
		return nil, err
	}
	if uncertain > 0 {
		r.notes = append(r.notes, fmt.Sprintf("Private bounds: for %d of %d features the noise was too strong to see where values lie; raise the share of ε or declare bounds.", uncertain, len(r.ds.NumericFeatures())))
	}
	return data.BoundsScale(r.ds, bounds)
}

// longest is the length that a row's features may have beside the constant 1 of the
// bias, by the method's feature bound, which is above 1; 0 for any, and for rows that
// become components.
func (p *Plan) longest() float64 {
	if bound := p.first.FeatureBound; bound > 0 && p.cfg.PCA.Components == 0 {
		return math.Sqrt(bound*bound - 1)
	}
	return 0
}
