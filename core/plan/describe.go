package plan

import (
	"fmt"
	"math"
	"strings"

	"clipscope/core/chacha"
	"clipscope/core/clip"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// describe fills in what the page shows before a run.
func (d *draft) describe() {
	eps := d.plan().Epsilon(d.terms.Steps)
	d.info.NoiseMultiplier, d.info.GradNoise = d.terms.NoiseMultiplier, d.terms.GradNoise
	d.info.SampleRate, d.info.Steps = d.terms.SampleRate, d.terms.Steps
	d.info.Epsilon, d.info.Delta, d.info.Accountant = run.Number(eps), d.terms.Config.TargetDelta, d.terms.Config.Accountant
	d.info.Epsilons = d.plan().epsilons()
	if d.terms.BoundsNoise > 0 {
		d.info.ScalingShare = d.terms.Config.Scaling.Share
	}
	d.info.TargetScaling = d.terms.Config.Scaling.Target
	d.info.Parameters = d.terms.Spec.Total()
	if d.terms.Spec.Frozen() > 0 {
		d.info.Trained = d.terms.Spec.Params()
	}
	d.info.PhysicalBatch, d.info.Layers = d.terms.Capacity, d.terms.Layers()
	d.describeMemory()
	d.describeTogether()
	d.warnings(eps)
	d.warnOfTime()
	if d.terms.Config.Seed != nil {
		d.info.Held = d.plan().allHeld()
	}
	d.info.Private = d.terms.NoiseMultiplier > 0 && len(d.plan().broken()) == 0
	d.info.Guarantee = d.plan().Guarantee(d.terms.Steps, false)
}

func (d *draft) describeMemory() {
	backend, host := d.terms.Memory(d.terms.Capacity)
	d.info.MemoryBytes = backend + host
}

// perSecond estimates the products that a trainer computes in a second on two cores of a
// laptop, with large layers and all other work: 34e9 a second for cnn-opacus, 50e9 for ResNet-18, measured.
const perSecond = 30e9

// hours estimates how long the run takes on two cores of a laptop.
func (t *Terms) hours() float64 {
	steps := float64(t.Steps)
	private, public := float64(t.Config.Augmentation.Multiplicity)*t.BatchSize*steps, float64(t.Config.PublicRows.BatchSize)*steps
	rows, once := private+public, private+public // through all layers, and through those that are frozen
	if t.Kept() > 0 {
		once = min(private, float64(t.Meta.TrainRows)) + float64(t.Meta.TestRows) + public
	}
	products := 0.0
	for _, o := range t.Spec.Layers {
		if o.Frozen > 0 && o.Back == 0 {
			products += float64(o.Products) * once
		} else {
			products += 3 * float64(o.Products) * rows // forwards, and as many for its gradients, twice
		}
	}
	return products / perSecond / 3600
}

// warnOfTime says before the run that it takes hours, and of weights to start from how long a smaller part of them would.
func (d *draft) warnOfTime() {
	hours := d.terms.hours()
	if hours < 1 {
		return
	}
	less := ""
	if d.terms.Spec.Vocabulary() > 0 {
		less = fmt.Sprintf("; its rows have %d tokens, and with half as many it takes half as long", d.terms.Spec.Input.Len())
	}
	for _, part := range []string{"last:1", "head"} {
		if quick := d.hoursOf(part); quick < hours/2 {
			less += fmt.Sprintf("; with start.trainable %s it takes about %s", part, inTime(quick))
		}
	}
	d.warn(modelField(d.terms.Config.Model), "On two cores of a laptop such a run takes about %s; take a smaller model, fewer steps or smaller batches if that is too long%s.", inTime(hours), less)
}

// hoursOf is hours where a part of the model is trained; +Inf where there are no weights to start from, or no such part.
func (d *draft) hoursOf(part string) float64 {
	t := d.terms
	var err error
	if t.Spec, err = t.whole.Trainable(part); err != nil || t.Config.Start.SHA256 == "" {
		return math.Inf(1)
	}
	return t.hours()
}

// inTime writes hours, of fewer than one as minutes.
func inTime(hours float64) string {
	switch {
	case hours < 1.0/60:
		return "a minute"
	case hours < 1:
		return fmt.Sprintf("%.0f minutes", 60*hours)
	case hours < 1.5:
		return "an hour"
	}
	return fmt.Sprintf("%.0f hours", hours)
}

func (d *draft) warnings(eps float64) {
	n := d.terms.Meta.TrainRows
	if d.terms.Config.TargetDelta >= 1/float64(n) {
		d.warn("target_delta", "δ = %s is not below 1/N = %.2g: a mechanism that publishes one random row in full would pass. Take δ well below 1/N.", run.UpText(d.terms.Config.TargetDelta, 2), 1/float64(n))
	}
	if d.terms.Config.Seed != nil {
		d.warn("seed", "A fixed seed makes the noise predictable: this run is for teaching, not for release.")
	}
	if d.terms.Config.Scaling.Kind == "measured" {
		d.warn("scaling", "Scaling measured from the data is itself a release without noise: this run carries no guarantee.")
	}
	if d.terms.NonPrivate() {
		d.warn("method", "Nothing protects the training rows in this run: ε = ∞.")
	} else if eps == 0 {
		d.warn("expected_batch_size", "ε = 0: rows are drawn so seldom, or under so much noise, that nothing can be learned of them. Take larger batches, more steps or less noise.")
	} else if math.IsInf(eps, 1) {
		d.warn("noise_multiplier", "ε = ∞: float noise ends at %g standard deviations, and with noise_multiplier %.3g one row can move a sum beyond. Take at least 0.3, or noise_mode secure.", chacha.MaxNormal, d.terms.NoiseMultiplier)
	} else if eps > 10 {
		d.warn("target_epsilon", "ε = %s is a weak promise: it bounds how much more likely any outcome becomes by a factor of e^ε = %s, but for a probability of δ.", run.UpText(eps, 3), run.UpText(math.Exp(eps), 2))
	}
	if d.terms.first.FeatureBound > 0 {
		if d.terms.Config.Threshold != "" {
			d.remark("threshold", "norm-bound's proof is for its own threshold. With another rule gradients longer than C are clipped, as constant does.")
		} else {
			d.remark("max_grad_norm", "norm-bound does not use max_grad_norm: its threshold is √2 times its own bound, %.4g.", d.terms.first.Rule.C())
		}
		if len(d.terms.Spec.Layers) > 1 || d.terms.Spec.Loss != nn.SoftmaxCE {
			d.remark("method", "norm-bound's proof is for softmax regression. For this model gradients longer than its threshold are clipped, as constant does.")
		}
	}
	d.warnOfBounds()
	d.warnOfHistogram()
	if d.terms.GradNoise > 1.1*d.terms.NoiseMultiplier {
		d.remark("noise_multiplier", "The statistic that moves the threshold takes its share: the gradient's own noise_multiplier is %.3g instead of %.3g.", d.terms.GradNoise, d.terms.NoiseMultiplier)
	}
}

// warnOfHistogram says before the run where a threshold that follows a histogram can
// see next to nothing: where the noise of all bins together is a quarter of a batch.
func (d *draft) warnOfHistogram() {
	if _, ok := d.terms.first.Rule.(clip.HistogramReleaser); !ok || d.terms.query == nil || d.terms.NonPrivate() {
		return
	}
	if all := d.terms.query.NoiseStd * math.Sqrt(float64(d.terms.query.Len)); all >= d.terms.BatchSize/4 {
		d.warn("method", "Noise hides what this threshold is to follow: the histogram of a batch of %.4g rows gets ±%.3g rows in each of its %d bins, ±%.3g in all. C will move by chance, or hardly. "+
			"Take constant, larger batches or a larger ε.", d.terms.BatchSize, d.terms.query.NoiseStd, d.terms.query.Len, all)
	}
}

// Guarantee is the statement in one sentence or two, of a run that ends after the
// given number of steps; rested: by early stopping.
func (p *Plan) Guarantee(steps int, rested bool) string {
	if p.terms.NonPrivate() {
		return run.NoGuarantee + "this run adds no noise."
	}
	if why := p.broken(); len(why) > 0 {
		return run.NoGuarantee + strings.Join(why, "; and ") + "."
	}
	return fmt.Sprintf("(ε = %s, δ = %s)-differential privacy for every training row, %s, by the %s accountant: "+
		"%d steps with Poisson sampling at rate %.6g and noise_multiplier %.6g. %s%s%s%s%s The guarantee covers the parameters after every step and all released values, "+
		"not losses, accuracies, raw norms or clip rates. %s",
		run.UpText(p.Epsilon(p.terms.Steps), 4), run.UpText(p.terms.Config.TargetDelta, 2), p.terms.Relation().Phrase(), strings.ToUpper(p.terms.Config.Accountant), p.terms.Steps, p.terms.SampleRate, p.terms.NoiseMultiplier, p.startedFrom(), p.terms.Noise.guarantee(), p.alone(), p.Before(), p.ending(steps, rested), p.terms.Known())
}

// ending says what stopping the run means for ε.
func (p *Plan) ending(steps int, rested bool) string {
	if steps == p.terms.Steps {
		return ""
	}
	s := fmt.Sprintf(" It was stopped after step %d and is charged all %d; had %d been fixed beforehand, ε would be %s.",
		steps, p.terms.Steps, steps, run.UpText(p.EpsilonAt(steps), 4))
	if p.terms.Config.Blind || rested { // released values alone decided
		return s
	}
	return s + " Diagnostics were shown: if they decided when to stop, the number of steps tells something that no ε covers."
}

// Before says what was released before the first step.
func (p *Plan) Before() string {
	s := ""
	if p.terms.BoundsNoise > 0 {
		s += fmt.Sprintf(" Bounds of the columns were released first, with noise_multiplier %.4g.", p.terms.BoundsNoise)
	}
	if p.terms.PCANoise > 0 {
		s += fmt.Sprintf(" Directions of PCA were released first, with noise_multiplier %.4g.", p.terms.PCANoise)
	}
	return s
}
