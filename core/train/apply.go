package train

import (
	"clipscope/core/data"
	"clipscope/core/run"
)

// application gathers what it takes to apply the run's model elsewhere.
//
// Guarantee: it holds what openScale and openPCA released through noise, what was
// declared, and what counts as public. What was measured from the rows without noise is
// left out.
func (f *feed) application() *run.Application {
	a := &run.Application{
		Task: string(f.ds.Task), Outputs: f.ds.Outputs, Classes: f.ds.Classes, Features: f.ds.Features, Shape: f.ds.Shape, Transform: f.ds.Transform,
		Columns: applied(f.ds.Columns), FeaturesOf: f.ds.Backbone, Table: applied(f.ds.Table),
		Scaling: run.AppliedScaling{Kind: f.terms.Config.Scaling.Kind},
	}
	switch bounds := f.scale.Bounds(); {
	case a.Scaling.Kind == "measured":
		a.Scaling.LeftOut = leftOut("The mean and the deviation of each feature, which it was scaled by, were measured from the training rows without noise.")
	case a.Scaling.Kind == "private" && f.terms.NonPrivate() && len(f.terms.Meta.NumericFeatures()) > 0: // or all are declared
		a.Scaling.LeftOut = leftOut("The bounds of the features were measured from the training rows without noise, as the run has none.")
	default:
		for _, b := range bounds {
			a.Scaling.Lo, a.Scaling.Hi = append(a.Scaling.Lo, b.Lo), append(a.Scaling.Hi, b.Hi)
		}
	}
	for i, l := range f.terms.Layers() {
		applied := run.AppliedLayer{Text: l.Text, Shape: l.Shape, Parameters: l.Parameters}
		for _, t := range f.terms.Spec.Layers[i].Tensors {
			applied.Tensors = append(applied.Tensors, run.AppliedTensor{Name: t.Name, Shape: t.Shape})
		}
		a.Layers = append(a.Layers, applied)
	}
	if f.pca != nil {
		a.PCA = &run.AppliedPCA{Components: f.pca.Components}
		if f.terms.PCANoise == 0 {
			a.PCA.LeftOut = leftOut("The directions were measured from the training rows without noise, as the run has none.")
		} else {
			a.PCA.Directions = run.FloatBytes(f.pca.Directions)
		}
		return a
	}
	a.MaxNorm, a.ChannelsLast = f.pipe.Longest, f.pipe.Turned.IsPicture()
	return a
}

// applied returns columns as a model's file has them; nil of none.
func applied(columns []data.Column) (all []run.AppliedColumn) {
	for _, c := range columns {
		all = append(all, run.AppliedColumn{
			Name: c.Name, Kind: string(c.Kind), First: c.First, Decimal: c.Decimal, Thousands: c.Thousands, Date: c.Date,
			Units: c.Units, Time: c.Time, Offset: c.Offset, Clock: c.Clock,
			Categories: c.Categories, Buckets: c.Buckets, Tokens: c.Tokens, IfMissing: c.Fill, Indicator: c.Indicator,
		})
	}
	return all
}

func leftOut(why string) string {
	return why + " They are not released, and without them the model cannot be applied. A run with noise, and with bounds that are declared or private, leaves a model that can be."
}
