package plan

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/input"
	"clipscope/core/model"
	"clipscope/core/nn"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Terms are the numbers and choices on which a plan is settled: all that a run takes from it.
// They never change, and to copy them is cheap.
type Terms struct {
	Config run.Config // with defaults
	Meta   data.Meta
	Spec   nn.Spec
	Schedule
	NoiseMultiplier float64 // σ, of a step; 0 without noise
	GradNoise       float64 // σ_T, of the clipped sum alone
	Noise           Noise
	// Noise multipliers of the releases before the first step; 0 without.
	BoundsNoise, PCANoise float64
	Capacity              int           // rows that go through the model at once in a tab's memory
	Changes               []run.Changed // of the run while it went on
	ClassWeights          []float32     // of each class; nil: they all weigh the same
	// StartWeights are the first parameters, those that are not trained before all others, in the data's units; they may
	// leave the last layer to chance, and are nil where they are drawn at random, and
	// where the weights that Config.Start names are not at hand.
	StartWeights []float32

	// PublicRows are mixed into each step; nil where none are, and where those that Config.PublicRows names are
	// not at hand.
	PublicRows *model.PublicRows

	start *run.StartInfo // what is known of StartWeights; nil: Config.Start alone

	first *clip.Clipper // as it is before the first step
	asked int           // max_physical_batch_size, or the most that it may be where it was left out
	query *clip.Query   // nil when the threshold rule asks for nothing
	whole *nn.Spec      // of which a part may be trained, which is Spec
}

// NonPrivate reports whether the user asked for a run without noise.
func (t *Terms) NonPrivate() bool { return nonPrivate(&t.Config) }

func nonPrivate(c *run.Config) bool { return !clip.IsPrivate(c.Method) || c.NoPrivacy }

// shape returns the shape of a row as the model sees it.
func (t *Terms) shape() nn.Shape {
	k := t.Config.Model.Kind
	if s := t.Picture(); s.IsPicture() && t.Config.PCA.Components == 0 && k != "softmax" && k != "linear" && k != "mlp" {
		return s
	}
	return nn.Shape{Channels: t.Inputs()}
}

// Picture returns the shape of a row as the data has it, one colour plane after the other.
func (t *Terms) Picture() nn.Shape {
	return input.Shape(t.Meta.Shape, t.Meta.Features)
}

// Inputs returns the number of features that the model sees.
func (t *Terms) Inputs() int {
	if k := t.Config.PCA.Components; k > 0 {
		return k
	}
	return t.Meta.Features
}

// NewClipper makes a clipper of the method, as it is before the first step.
func (t *Terms) NewClipper() (*clip.Clipper, error) {
	c := &t.Config
	return clip.New(
		clip.Choice{Method: c.Method, Weight: c.Weight, Threshold: c.Threshold, Grouping: c.Grouping},
		clip.Env{
			MaxGradNorm: c.MaxGradNorm, NoiseMultiplier: t.NoiseMultiplier, Steps: t.Horizon,
			ExpectedBatchSize: t.BatchSize, Dim: t.Spec.Params(), Groups: t.Spec.Groups(), Params: c.Params,
		})
}

// Unbounded returns the error that says why value clipping refuses a model.
func (t *Terms) Unbounded(err error) error {
	return Fault("method", "%s bounds gradients by what the layers' Lipschitz constants allow: %s. Choose another method", t.Config.Method, strings.TrimPrefix(err.Error(), "nn: "))
}

// Longest returns the length that a row's features may have beside the constant 1 of the
// bias, by the method's feature bound, which is above 1; 0 for any, and for rows that
// become components.
func (t *Terms) Longest() float64 {
	if bound := t.first.FeatureBound; bound > 0 && t.Config.PCA.Components == 0 {
		return math.Sqrt(bound*bound - 1)
	}
	return 0
}

// Layers returns the model's layers in the form the page displays.
func (t *Terms) Layers() []run.Layer {
	var all []run.Layer
	for _, o := range t.Spec.Layers {
		shape := []int{o.Out.Channels}
		if o.Out.IsPicture() {
			shape = []int{o.Out.Height, o.Out.Width, o.Out.Channels}
		}
		l := run.Layer{Text: o.Text, Shape: shape, Parameters: o.Own(), Products: o.Products, Bytes: 4 * o.Floats}
		if o.Frozen > 0 {
			l.Frozen, l.Trained = true, o.Parameters
		}
		all = append(all, l)
	}
	return all
}

// PaidBounds returns how many bounds of features, and of targets, the run pays for, known ones
// between them included.
func (t *Terms) PaidBounds() (features, targets int) {
	if t.BoundsNoise == 0 {
		return 0, 0
	}
	if t.Config.Scaling.Kind == "private" {
		features = t.Meta.Features
	}
	if t.Config.Scaling.Target == "private" {
		targets = t.Meta.Outputs
	}
	return features, targets
}

// sought returns the numbers of columns and targets that private bounds are looked for.
func (t *Terms) sought() data.Sought {
	return t.Meta.Sought(t.Config.Scaling.Kind == "private", t.Config.Scaling.Target == "private")
}

// Known returns what the plan takes for public of its data set.
func (t *Terms) Known() privacy.Known {
	return privacy.Known{Backbone: t.Meta.Backbone, ByClass: t.Meta.ByClass, Declared: t.Config.NumExamples > 0, Weights: t.weightsInWords(), Start: t.startInfo(), PublicRows: t.publicInfo()}
}

// Relation says which data sets the guarantee holds between.
func (t *Terms) Relation() run.Relation { return run.RelationOf(t.Config.NumExamples > 0) }

// modelInWords names the kind of model and its size.
func (t *Terms) modelInWords() string {
	name := t.Config.Model.Kind
	switch name {
	case "softmax", "linear":
		name += " regression"
	case "mlp":
		name = "multi-layer network"
	case "layers":
		name = "network of listed layers"
	}
	said := fmt.Sprintf("%s, %d parameters", name, t.Spec.Total())
	if t.Spec.Frozen() > 0 {
		said += fmt.Sprintf(", %d trained", t.Spec.Params())
	}
	return said
}

// stepEvent returns the event of one step.
func (t *Terms) stepEvent() privacy.Event {
	return t.stepEventWith(func(sigma float64) float64 { return sigma })
}

// stepEventWith returns the event of one step of which part of the noise counts.
func (t *Terms) stepEventWith(part func(sigma float64) float64) privacy.Event {
	if t.NoiseMultiplier == 0 {
		return privacy.NonPrivate{}
	}
	var e privacy.Event = privacy.Gaussian{NoiseMultiplier: part(t.GradNoise)}
	if t.query != nil && !t.query.Joined {
		e = privacy.Joint{Parts: []privacy.Gaussian{{NoiseMultiplier: part(t.GradNoise)}, {NoiseMultiplier: part(t.query.NoiseMultiplier())}}}
	}
	e = t.Noise.ended(privacy.PoissonSampled{SampleRate: t.SampleRate, Of: e}, t.values())
	if d := t.distance(); d > 0 {
		e = privacy.Inexact{Of: e, Distance: d}
	}
	return e
}

// numbers returns how many numbers a step releases.
func (t *Terms) numbers() int {
	if t.query != nil {
		return t.Spec.Params() + t.query.Len
	}
	return t.Spec.Params()
}

// values returns the number of normals in the noise of a step, or 0 for noise without an end.
func (t *Terms) values() int { return t.Noise.values(t.numbers()) }

// distance returns how far a step's noise lies from what it is priced with, in total variation.
func (t *Terms) distance() float64 {
	if t.NonPrivate() {
		return 0
	}
	return t.Noise.distance(t.Spec.Params())
}

// modelField returns the field that has the model's layers.
func modelField(m run.Model) string {
	return cmp.Or(map[string]string{"layers": "model.layers", "mlp": "model.hidden"}[m.Kind], "model")
}
