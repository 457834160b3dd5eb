package train

import (
	"fmt"

	"clipscope/core/data"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// openScale makes the scaling, releasing private bounds where they were chosen.
//
// Guarantee: as charged in once; with kind "measured" there is none.
func (f *feed) openScale() error {
	found := &data.PrivateBounds{}
	if s := f.terms.Config.Scaling; s.Kind == "private" || s.Target == "private" {
		var err error
		if found, err = f.privateBounds(); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	return f.scaleBy(found.Features, found.Targets)
}

// reopenScale takes the private bounds that another life of the run released; without
// them it makes the scaling as the first did.
func (f *feed) reopenScale(bounds []data.Bound) error {
	if bounds == nil {
		return f.openScale()
	}
	features, _ := f.terms.PaidBounds()
	return f.scaleBy(bounds[:features], bounds[features:])
}

// scaleBy makes the scaling, by private bounds where it has to have some.
func (f *feed) scaleBy(features, targets []data.Bound) (err error) {
	s := f.terms.Config.Scaling
	switch s.Kind {
	case "row":
		f.scale = data.RowScale(f.ds)
	case "measured":
		f.scale = data.MeasuredScale(f.ds, &f.ds.Train)
	case "declared":
		f.scale, err = data.DeclaredScale(f.ds, s.Lo, s.Hi)
	case "private":
		f.scale, err = data.BoundsScale(f.ds, features)
	default:
		f.scale = data.NoScale(f.ds)
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	switch s.Target {
	case "declared":
		f.targetScale, err = data.NewTargetScale(f.terms.Meta.TargetBounds)
	case "private":
		f.targetScale, err = data.NewTargetScale(targets)
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// bought returns the private bounds that were paid for, by the names of their columns and in the units of their
// cells. Numbers that are read as times have none here: bounds of theirs are declared in another unit.
//
// Guarantee: as charged in once; without noise there are none.
func (f *feed) bought() map[string]run.Bounds {
	s, all := f.terms.Config.Scaling, map[string]run.Bounds{}
	if f.terms.NonPrivate() {
		return nil
	}
	bounds := f.scale.Bounds() // one where all features have the same
	for _, c := range f.ds.Columns {
		switch {
		case c.Bounds != nil || c.Time != "":
		case c.Kind == data.Numeric && s.Kind == "private":
			b := bounds[min(c.First, len(bounds)-1)]
			all[c.Name] = run.Bounds{Lo: b.Lo + c.Offset, Hi: b.Hi + c.Offset}
		case c.Kind == data.Label && s.Target == "private" && f.ds.Outputs == 1:
			b := f.targetScale.Bounds()[0]
			all[c.Name] = run.Bounds{Lo: b.Lo, Hi: b.Hi}
		}
	}
	return all
}

func (f *feed) privateBounds() (*data.PrivateBounds, error) {
	s := f.terms.Config.Scaling
	h := data.NewBoundsHistogram(f.ds, s.Kind == "private", s.Target == "private")
	sigma := f.terms.BoundsNoise * h.Sensitivity()
	noise, err := f.countNoise(privacy.OneOff, 0, sigma, 1, h.Len())
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
		f.notes = append(f.notes, fmt.Sprintf("Private bounds: for %d of %d features the noise was too strong to see where values lie; %s", n, len(f.ds.NumericFeatures()), fix))
	}
	if found.UncertainTargets > 0 {
		f.notes = append(f.notes, "Private bounds: the noise was too strong to see where the targets lie, so that the model's answers lie where chance had it; "+fix)
	}
	return found, nil
}
