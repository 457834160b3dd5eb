package plan

import (
	"slices"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/input"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// checkNumbers refuses what no part could make sense of.
func checkNumbers(c *run.Config) error {
	for _, f := range []struct {
		name     string
		v        float64
		min, max float64
	}{
		{"max_grad_norm", c.MaxGradNorm, clip.MinThreshold, clip.MaxThreshold},
		{"learning_rate", c.LearningRate, 0, 1e6},
		{"warmup_steps", float64(c.WarmupSteps), 0, MaxSteps},
		{"weight_decay", c.WeightDecay, 0, 1e3},
		{"momentum", c.Momentum, 0, 1},
		{"beta1", c.Beta1, 0, 1},
		{"beta2", c.Beta2, 0, 1},
		{"eps", c.Eps, 0, 1},
		{"expected_batch_size", c.ExpectedBatchSize, 1e-3, 1e9},
		{"epochs", c.Epochs, 0, 1e6},
		{"steps", float64(c.Steps), 0, MaxSteps},
		{"max_physical_batch_size", float64(c.MaxPhysicalBatchSize), 1, mostPhysicalBatch},
		{"threads", float64(c.Threads), 0, run.MostThreads},
	} {
		if !(f.v >= f.min && f.v <= f.max) {
			return Fault(f.name, "%v is not in %g … %g", f.v, f.min, f.max)
		}
	}
	if c.Momentum == 1 || c.Beta1 == 1 || c.Beta2 == 1 {
		return Fault("momentum", "a decay rate of exactly 1 never forgets; take less than 1")
	}
	if !(c.TargetDelta > 0 && c.TargetDelta < 1) {
		return Fault("target_delta", "δ must lie between 0 and 1, usually below 1/N; got %v", c.TargetDelta)
	}
	if e := c.TargetEpsilon; e != nil && !(*e > 0) && !nonPrivate(c) {
		return Fault("target_epsilon", "%v is not positive: take 1, for example; smaller is more private", *e)
	}
	if c.Iterate != "last" && c.Iterate != "random" && c.Iterate != "ema" {
		return Fault("iterate", "there is no iterate policy %q; choose last, random or ema", c.Iterate)
	}
	if !(c.EMADecay >= 0 && c.EMADecay < 1) {
		return Fault("ema_decay", "%v is not in 0 … 1, 1 excluded", c.EMADecay)
	}
	if !(c.LabelSmoothing >= 0 && c.LabelSmoothing < 1) {
		return Fault("label_smoothing", "%v is not in 0 … 1, 1 excluded", c.LabelSmoothing)
	}
	if c.EvalSteps < 0 {
		return Fault("eval_steps", "%d is no number of steps; take 1 or more, or 0 for about twenty tests in all", c.EvalSteps)
	}
	if c.Blind && c.EvalSteps > 0 {
		return Fault("eval_steps", "the run is blind, and tests itself when it has ended; take 0, or show diagnostics")
	}
	if c.Blind && c.DiagnosticsEvery > 0 {
		return Fault("diagnostics_every", "the run is blind, so there are no diagnostics to compare gradients for; take 0, or show diagnostics")
	}
	if s := c.LearningRateSchedule; s != "" && !slices.Contains(run.Schedules(), s) {
		return Fault("learning_rate_schedule", "there is no schedule %q; choose %s", s, strings.Join(run.Schedules(), ", "))
	}
	if shrink := c.LearningRate * c.WeightDecay; shrink > 1 {
		return Fault("weight_decay", "at a learning rate of %g it would turn parameters round in each step; take at most %.3g", c.LearningRate, 1/c.LearningRate)
	}
	if !slices.Contains(run.Optimizers(), c.Optimizer) {
		return Fault("optimizer", "there is no optimizer %q; choose %s", c.Optimizer, strings.Join(run.Optimizers(), ", "))
	}
	if c.Nesterov && c.Optimizer != "momentum" {
		return Fault("nesterov", "%s has no momentum to look ahead along; choose the optimizer momentum, or false", c.Optimizer)
	}
	return nil
}

const (
	// MaxSteps, minNoise and maxNoise are where nothing that a run could say is of use.
	MaxSteps = 1e8
	minNoise = 1e-9
	maxNoise = 1e9
	// maxWidth bounds the width of a hidden layer.
	maxWidth = 1 << 16
)

func (d *draft) chooseModel() (err error) {
	m := d.terms.Config.Model
	list := m.List()
	switch {
	case list == nil:
		kinds := []string{"linear", "softmax", "mlp", "layers"}
		for _, n := range run.Networks() {
			kinds = append(kinds, n.Kind)
		}
		return Fault("model", "there is no model kind %q; choose %s", m.Kind, strings.Join(kinds, ", "))
	case m.ReadsTokens(): // which rows of tokens have written out
		return Fault("model.kind", "the network %s reads tokens, and the data has none; choose letters or words in order for a column of texts, or another model", m.Kind)
	case m.Kind == "softmax" && d.terms.Meta.Task == data.Regression:
		return Fault("model", "softmax regression needs classes, but the data's targets are numbers; choose linear or mlp")
	case m.Kind == "softmax" && d.terms.Meta.Task == data.MultiLabel:
		return Fault("model", "softmax regression answers with one class, but a row of the data has several labels; choose linear (a logistic regression of each label) or mlp")
	case m.Kind == "linear" && d.terms.Meta.Task == data.Classification:
		return Fault("model", "linear regression needs numbers as targets, but the data has classes; choose softmax or mlp")
	case d.terms.Config.LabelSmoothing > 0 && d.terms.Meta.Task == data.Regression:
		return Fault("label_smoothing", "the data's targets are numbers, and only classes and labels can be smoothed; take 0")
	case m.Kind == "mlp":
		if err := checkHidden(m); err != nil {
			return err
		}
	}
	d.terms.Spec, err = nn.Read(d.terms.shape(), list, d.terms.Meta.Outputs, input.Loss(d.terms.Meta.Task))
	if err != nil {
		return FaultOf(modelField(m), err)
	}
	if err := d.train(); err != nil {
		return err
	}
	if d.terms.Spec, err = d.terms.Spec.WithDropout(m.Dropout); err != nil {
		return FaultOf("model.dropout", err)
	}
	return nil
}

func (d *draft) chooseSchedule() (err error) {
	d.terms.Schedule, err = newSchedule(&d.terms.Config, d.terms.Meta.TrainRows)
	return err
}

// checkHidden says of an mlp's fields what would be said of layers that they are
// not written as.
func checkHidden(m run.Model) error {
	for _, w := range m.Hidden {
		if w < 1 || w > maxWidth {
			return Fault("model.hidden", "a hidden layer of %d units is not in 1 … %d", w, maxWidth)
		}
	}
	if m.Activation != "relu" && m.Activation != "tanh" {
		return Fault("model.activation", "there is no activation %q; choose relu or tanh", m.Activation)
	}
	return nil
}

// checkStopping refuses to watch what this run does not release.
func (d *draft) checkStopping() error {
	s, rule := d.terms.Config.EarlyStopping, d.terms.first.Rule
	_, fraction := rule.(clip.FractionReleaser)
	switch {
	case s == (run.EarlyStopping{}):
		return nil
	case !slices.Contains(run.Monitors(), s.Monitor):
		return Fault("early_stopping.monitor", "there is no released value %q to watch; choose %s, or leave early_stopping out", s.Monitor, strings.Join(run.Monitors(), ", "))
	case s.Patience < 1:
		return Fault("early_stopping.patience", "means over %d steps cannot be compared; take 1 or more", s.Patience)
	case !(s.MinDelta > 0 && s.MinDelta < 1):
		return Fault("early_stopping.min_delta", "%v is not between 0 and 1", s.MinDelta)
	case d.terms.NoiseMultiplier == 0:
		return Fault("early_stopping.monitor", "a run without noise releases nothing that could decide when it ends; leave it out, or add noise")
	case s.Monitor == "noisy_clip_fraction" && !fraction:
		return Fault("early_stopping.monitor", "%s releases no noisy_clip_fraction; choose noisy_grad_norm, or a threshold rule that counts: quantile", d.terms.Config.Method)
	case s.Monitor == "max_grad_norm" && d.terms.query == nil:
		return Fault("early_stopping.monitor", "the threshold of %s does not follow released values; choose noisy_grad_norm", d.terms.Config.Method)
	}
	return nil
}

func (d *draft) chooseClipper() (err error) {
	if d.terms.first, err = d.terms.NewClipper(); err != nil {
		return err
	}
	if d.terms.first.Source == clip.Bounded {
		if err := d.terms.Spec.CheckLipschitz(); err != nil {
			return d.terms.Unbounded(err)
		}
		if d.terms.Config.Model.Dropout > 0 {
			return Fault("model.dropout", "%s bounds gradients by what the layers' Lipschitz constants allow, of all units; take 0, or another method", d.terms.Config.Method)
		}
		if d.terms.Config.LabelSmoothing > 0 {
			return Fault("label_smoothing", "%s bounds gradients by the losses of the labels as they are; take 0, or another method", d.terms.Config.Method)
		}
	}
	if d.terms.first.Geometry != nil && d.terms.Config.Optimizer == "adam-bc" {
		return Fault("optimizer", "adam-bc takes the variance of the noise from its estimate, and the noise of %s has another in each coordinate. Choose adam, or another method", d.terms.Config.Method)
	}
	if d.terms.Longest() > 0 && d.terms.Spec.Vocabulary() > 0 {
		return Fault("method", "%s makes rows that are longer than its bound shorter, and the model's first layer, %s, takes their numbers for tokens, which that would change. Choose another method",
			d.terms.Config.Method, d.terms.Spec.Layers[0].Text)
	}
	d.terms.query = d.terms.first.Rule.Query()
	if d.terms.GradNoise, err = clip.Split(d.terms.NoiseMultiplier, d.terms.query); err == nil && d.terms.GradNoise > maxNoise {
		return Fault("noise_multiplier", "the statistic that moves the threshold leaves the gradient a noise_multiplier of %.3g; raise the statistic's noise", d.terms.GradNoise)
	}
	return err
}

// checkAugmentation refuses what images cannot be made of, or has no proof.
func (d *draft) checkAugmentation() error {
	a := d.terms.Config.Augmentation
	switch a.Kind {
	case "none":
		if a.Multiplicity != 1 {
			return Fault("augmentation.multiplicity", "%d views of an example would all be the same; choose an augmentation: crop, flip or crop-flip", a.Multiplicity)
		}
		return nil
	case "crop", "flip", "crop-flip":
	default:
		return Fault("augmentation.kind", "there is no augmentation %q; choose none, crop, flip or crop-flip", a.Kind)
	}
	if a.Multiplicity < 1 || a.Multiplicity > maxViews {
		return Fault("augmentation.multiplicity", "%d is not in 1 … %d", a.Multiplicity, maxViews)
	}
	if !d.terms.Picture().IsPicture() {
		return Fault("augmentation.kind", "only images can be moved or mirrored, and this data has none; choose none")
	}
	if d.terms.Config.PCA.Components > 0 {
		return Fault("augmentation.kind", "principal components are no images any more; choose no augmentation, or no components")
	}
	if a.Multiplicity > 1 && d.terms.first.Source == clip.Bounded {
		return Fault("augmentation.multiplicity", "%s bounds the gradient of one view, and nothing is proven for several; take 1, or another method", d.terms.Config.Method)
	}
	return nil
}

// maxViews bounds the work of a step; De et al. 2022 go to 32.
const maxViews = 128

// pcaShare of ε goes into directions unless the user says otherwise.
const pcaShare = 0.1

// choosePCA charges for DP-PCA. The directions are released when the run
// starts, not before: planning must be free.
func (d *draft) choosePCA() (err error) {
	c := &d.terms.Config.PCA
	if c.Components == 0 {
		return nil
	}
	// The eigenvectors of a larger covariance take longer than most training.
	const most = 2048
	if c.Components < 0 || c.Components > d.terms.Meta.Features || d.terms.Meta.Features > most {
		return Fault("pca.components", "%d components of %d features: take 1 … %d, and no more than %d features", c.Components, d.terms.Meta.Features, d.terms.Meta.Features, most)
	}
	if c.Share == 0 {
		c.Share = pcaShare
	}
	d.terms.PCANoise, err = d.charge("pca.share", c.Share, d.terms.Meta.Features*(d.terms.Meta.Features+1)/2)
	return err
}
