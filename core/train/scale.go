package train

import (
	"context"
	"fmt"
	"math"
	"strings"

	"clipscope/core/data"
	"clipscope/core/privacy"
)

// shares of ε are what private bounds get unless the user says otherwise: the first
// with which they work, or else the last, as bounds that are wrong cost a small table
// more than noise does (core/data/RATIONALE.md).
var shares = [...]float64{0.1, 0.2, 0.3}

// chooseScale settles the kind of scaling and what it costs. Bounds that cost
// something are released when the run starts, not before: planning must be free.
func (p *Plan) chooseScale() error {
	s := &p.cfg.Scaling
	if s.Kind == "" {
		s.Kind = p.defaultScaling()
	}
	switch s.Kind {
	case "none", "row", "measured", "private":
	case "declared":
		if err := p.meta.CheckDeclared(s.Lo, s.Hi); err != nil {
			return faultOf("scaling", err)
		}
	default:
		return fault("scaling.kind", "there is no scaling %q; choose declared, row, private, measured or none", s.Kind)
	}
	if err := p.chooseTarget(); err != nil {
		return err
	}
	if s.Kind == "private" || s.Target == "private" {
		return p.chooseShare()
	}
	if s.Share == 0 {
		s.Share = shares[0]
	}
	return nil
}

// chooseTarget settles where the bounds of targets come from.
func (p *Plan) chooseTarget() error {
	const field = "scaling.target"
	s, declared := &p.cfg.Scaling, p.meta.TargetBounds
	if p.meta.Task != data.Regression {
		if s.Target != "" && s.Target != "none" {
			return fault(field, "targets are scaled where they are numbers, and this data has classes; leave it out, or choose none")
		}
		return nil
	}
	last := p.spec.Layers[len(p.spec.Layers)-1]
	dense := strings.HasPrefix(last.Text, "dense")
	if by := s.TargetOf(p.meta.Facts()); dense || s.Target != "" {
		s.Target = by
	} else if s.Target = "none"; by != "none" {
		p.warn(field, "Targets stay as they are: the model's last layer, %s, is not dense, and could not take a scaling back. If they are far from 1, end with dense.", last.Text)
	}
	switch {
	case s.Target == "none":
		return nil
	case s.Target != "declared" && s.Target != "private":
		return fault(field, "there is no scaling of targets %q; choose declared, private or none", s.Target)
	case !dense:
		return fault(field, "the model's last layer, %s, is not dense, and so cannot take the scaling of targets back; choose none, or end with dense:%d", last.Text, p.meta.Outputs)
	case s.Target == "declared" && declared == nil:
		return fault(field, "nothing is declared of the targets; state the bounds of the label's column (csv.bounds, on the page where the table shows how it is read), or choose private or none")
	case s.Target == "declared":
		if _, err := data.NewTargetScale(declared); err != nil {
			return faultOf(field, err)
		}
	}
	return nil
}

// sought is what private bounds are looked for of.
func (p *Plan) sought() (s data.Sought) {
	if p.cfg.Scaling.Kind == "private" {
		s.Features = len(p.meta.NumericFeatures())
	}
	if p.cfg.Scaling.Target == "private" {
		s.Targets = p.meta.Outputs
	}
	return s
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
	if p.sought() == (data.Sought{}) {
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
	p.spend(p.boundsNoise, p.sought().Len())
	return nil
}

// boundsShow reports whether private bounds can be expected to work: half of the rows,
// where they lie within a factor of two, stand out of the noise.
func (p *Plan) boundsShow() bool {
	feature, target := p.sought().Noise(p.boundsNoise)
	return p.shows(feature) && p.shows(target)
}

func (p *Plan) shows(o data.Obstacle) bool { return o.Least <= float64(p.meta.TrainRows)/2 }

// warnOfBounds says before the run what private bounds will come up against, by the
// formula that decides in it.
func (p *Plan) warnOfBounds() {
	if p.boundsNoise == 0 {
		return
	}
	n := p.meta.TrainRows
	can := func(o data.Obstacle) string {
		if o.Least > float64(n) {
			return "cannot work"
		}
		return "will hardly work"
	}
	const advice = "although they cost %.3g of ε. Declare the bounds that you know, or take a larger ε."
	feature, target := p.sought().Noise(p.boundsNoise)
	if !p.shows(feature) {
		p.warn("scaling.kind", "Private bounds %s on this data: each count gets noise of ±%.0f rows, so that where a column's values lie shows only if some %.0f rows are within a factor of two of each other, and there are %d. "+
			"Bounds of %d columns will be guesses, "+advice, can(feature), feature.Std, feature.Least, n, p.sought().Features, p.cfg.Scaling.Share)
	}
	if !p.shows(target) {
		p.warn("scaling.target", "Private bounds of the target %s on this data: each count gets noise of ±%.0f rows, so that where targets lie shows only if some %.0f rows are within a factor of two of each other, and there are %d. "+
			"They will be guesses, and so will all answers, "+advice, can(target), target.Std, target.Least, n, p.cfg.Scaling.Share)
	}
}

// charge sets a share of the whole run's ε aside for one Gaussian release of so many
// values before the first step, and returns that release's noise multiplier; 0 in a run
// without noise.
func (p *Plan) charge(field string, share float64, values int) (float64, error) {
	sigma, err := p.priced(field, share)
	p.spend(sigma, values)
	return sigma, err
}

// spend charges one Gaussian release of so many values before the first step; of a run
// without noise, sigma is 0 and there is nothing to charge.
func (p *Plan) spend(sigma float64, values int) {
	if sigma > 0 {
		p.once = append(p.once, p.noised(privacy.Gaussian{NoiseMultiplier: sigma}, values))
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
func (r *Run) openScale(context.Context) error {
	found := &data.PrivateBounds{}
	if s := r.cfg.Scaling; s.Kind == "private" || s.Target == "private" {
		var err error
		if found, err = r.privateBounds(); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	return r.scaleBy(found.Features, found.Targets)
}

// openKeptScale has the private bounds that another life of the run released; without
// them it makes the scaling as the first did.
func (r *Run) openKeptScale(bounds []data.Bound) func(context.Context) error {
	if bounds == nil {
		return r.openScale
	}
	return func(context.Context) error {
		features, _ := r.paidBounds()
		return r.scaleBy(bounds[:features], bounds[features:])
	}
}

// paidBounds is how many bounds of features, and of targets, the run pays for, known ones
// between them included.
func (p *Plan) paidBounds() (features, targets int) {
	if p.boundsNoise == 0 {
		return 0, 0
	}
	if p.cfg.Scaling.Kind == "private" {
		features = p.meta.Features
	}
	if p.cfg.Scaling.Target == "private" {
		targets = p.meta.Outputs
	}
	return features, targets
}

// scaleBy makes the scaling, by private bounds where it has to have some.
func (r *Run) scaleBy(features, targets []data.Bound) (err error) {
	s := r.cfg.Scaling
	switch s.Kind {
	case "row":
		r.scale = data.RowScale(r.ds)
	case "measured":
		r.scale = data.MeasuredScale(r.ds, &r.ds.Train)
	case "declared":
		r.scale, err = data.DeclaredScale(r.ds, s.Lo, s.Hi)
	case "private":
		r.scale, err = data.BoundsScale(r.ds, features)
	default:
		r.scale = data.NoScale(r.ds)
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	switch s.Target {
	case "declared":
		r.targetScale, err = data.NewTargetScale(r.meta.TargetBounds)
	case "private":
		r.targetScale, err = data.NewTargetScale(targets)
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

func (r *Run) privateBounds() (*data.PrivateBounds, error) {
	s := r.cfg.Scaling
	h := data.NewBoundsHistogram(r.ds, s.Kind == "private", s.Target == "private")
	sigma := r.boundsNoise * h.Sensitivity()
	noise, err := r.countNoise(privacy.OneOff, 0, sigma, 1, h.Len())
	if err != nil {
		return nil, err
	}
	found, err := h.Bounds(func(dst []float64) {
		for i := range dst {
			dst[i] += noise[i]
		}
	}, sigma)
	if err != nil {
		return nil, err
	}
	const fix = "raise the share of ε or declare bounds."
	if n := found.UncertainFeatures; n > 0 {
		r.notes = append(r.notes, fmt.Sprintf("Private bounds: for %d of %d features the noise was too strong to see where values lie; %s", n, len(r.ds.NumericFeatures()), fix))
	}
	if found.UncertainTargets > 0 {
		r.notes = append(r.notes, "Private bounds: the noise was too strong to see where the targets lie, so that the model's answers lie where chance had it; "+fix)
	}
	return found, nil
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
