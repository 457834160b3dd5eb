package train

import (
	"fmt"
	"math"
	"strings"

	"clipscope/core/chacha"
	"clipscope/core/clip"
	"clipscope/core/nn"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// describe fills in what the page shows before a run.
func (p *Plan) describe() {
	eps := p.epsilon(p.steps)
	p.info.NoiseMultiplier, p.info.GradNoise = p.sigma, p.gradNoise
	p.info.SampleRate, p.info.Steps = p.rate, p.steps
	p.info.Epsilon, p.info.Delta, p.info.Accountant = run.Number(eps), p.cfg.TargetDelta, p.cfg.Accountant
	p.info.Epsilons = p.epsilons()
	if p.boundsNoise > 0 {
		p.info.ScalingShare = p.cfg.Scaling.Share
	}
	p.info.TargetScaling = p.cfg.Scaling.Target
	p.info.Parameters = p.spec.Params()
	backend, host := p.memory()
	p.info.MemoryBytes, p.info.PhysicalBatch, p.info.Layers = backend+host, p.capacity(), p.layers()
	p.warnings(eps)
	p.warnOfTime()
	if p.cfg.Seed != nil {
		p.info.Held = p.allHeld()
	}
	p.info.Private = p.sigma > 0 && len(p.broken()) == 0
	p.info.Guarantee = p.guarantee(p.steps)
}

// epsilons is the price of the whole run by every accountant that can tell.
func (p *Plan) epsilons() map[string]run.Number {
	all := map[string]run.Number{}
	for _, name := range privacy.Names() {
		events := append([]privacy.Event{privacy.SelfComposed{Of: p.stepEvent(), Count: p.steps}}, p.once...)
		if e, err := p.accounts.Epsilon(name, p.cfg.TargetDelta, events...); err == nil {
			all[name] = run.Number(e)
		}
	}
	return all
}

// layers are the model's as the page shows them.
func (p *Plan) layers() []run.Layer {
	var all []run.Layer
	for _, o := range p.spec.Layers {
		shape := []int{o.Out.Channels}
		if o.Out.IsPicture() {
			shape = []int{o.Out.Height, o.Out.Width, o.Out.Channels}
		}
		all = append(all, run.Layer{Text: o.Text, Shape: shape, Parameters: o.Parameters, Products: o.Products, Bytes: 4 * o.Floats})
	}
	return all
}

// perSecond is how much a trainer multiplies on two cores of a laptop, large layers and all
// that is no product together: 34e9 a second for cnn-opacus, 50e9 for ResNet-18, measured.
const perSecond = 30e9

// warnOfTime says before the run that it takes hours.
func (p *Plan) warnOfTime() {
	var products int64 // of a row forwards; there are as many for its gradients, twice
	for _, o := range p.spec.Layers {
		products += o.Products
	}
	hours := 3 * float64(products) * float64(p.cfg.Augmentation.Multiplicity) * p.batch * float64(p.steps) / perSecond / 3600
	if hours >= 1 {
		p.warn(p.modelField(), "On two cores of a laptop such a run takes about %.0f hours; take a smaller model, fewer steps or smaller batches if that is too long.", hours)
	}
}

func (p *Plan) warnings(eps float64) {
	n := p.meta.TrainRows
	if p.cfg.TargetDelta >= 1/float64(n) {
		p.warn("target_delta", "δ = %s is not below 1/N = %.2g: a mechanism that publishes one random row in full would pass. Take δ well below 1/N.", run.UpText(p.cfg.TargetDelta, 2), 1/float64(n))
	}
	if p.cfg.Seed != nil {
		p.warn("seed", "A fixed seed makes the noise predictable: this run is for teaching, not for release.")
	}
	if p.cfg.Scaling.Kind == "measured" {
		p.warn("scaling", "Scaling measured from the data is itself a release without noise: this run carries no guarantee.")
	}
	if p.nonPrivate() {
		p.warn("method", "Nothing protects the training rows in this run: ε = ∞.")
	} else if eps == 0 {
		p.warn("expected_batch_size", "ε = 0: rows are drawn so seldom, or under so much noise, that nothing can be learned of them. Take larger batches, more steps or less noise.")
	} else if math.IsInf(eps, 1) {
		p.warn("noise_multiplier", "ε = ∞: float noise ends at %g standard deviations, and with noise_multiplier %.3g one row can move a sum beyond. Take at least 0.3, or noise_mode secure.", chacha.MaxNormal, p.sigma)
	} else if eps > 10 {
		p.warn("target_epsilon", "ε = %s is a weak promise: it bounds how much more likely any outcome becomes by a factor of e^ε = %s.", run.UpText(eps, 3), run.UpText(math.Exp(eps), 2))
	}
	if p.first.FeatureBound > 0 {
		p.warn("max_grad_norm", "norm-bound does not use max_grad_norm: its threshold is √2 times its own bound, %.4g.", p.first.Rule.C())
		if len(p.spec.Layers) > 1 || p.spec.Loss != nn.SoftmaxCE {
			p.warn("method", "norm-bound's proof is for softmax regression. For this model gradients longer than its threshold are clipped, as constant does.")
		}
	}
	p.warnOfBounds()
	p.warnOfHistogram()
	if p.gradNoise > 1.1*p.sigma {
		p.warn("noise_multiplier", "The statistic that moves the threshold takes its share: the gradient's own noise_multiplier is %.3g instead of %.3g.", p.gradNoise, p.sigma)
	}
}

// warnOfHistogram says before the run where a threshold that follows a histogram can
// see next to nothing: where the noise of all bins together is a quarter of a batch.
func (p *Plan) warnOfHistogram() {
	if _, ok := p.first.Rule.(clip.HistogramReleaser); !ok || p.query == nil || p.nonPrivate() {
		return
	}
	if all := p.query.NoiseStd * math.Sqrt(float64(p.query.Len)); all >= p.batch/4 {
		p.warn("method", "Noise hides what this threshold is to follow: the histogram of a batch of %.4g rows gets ±%.3g rows in each of its %d bins, ±%.3g in all. C will move by chance, or hardly. "+
			"Take constant, larger batches or a larger ε.", p.batch, p.query.NoiseStd, p.query.Len, all)
	}
}

// guarantee is the statement in one sentence or two, of a run that ends after the
// given number of steps.
func (p *Plan) guarantee(steps int) string {
	if p.nonPrivate() {
		return run.NoGuarantee + "this run adds no noise."
	}
	if why := p.broken(); len(why) > 0 {
		return run.NoGuarantee + strings.Join(why, "; and ") + "."
	}
	mode := "Noise is floating-point: an attacker who sees the exact bits of a release may learn more than ε states."
	if p.cfg.NoiseMode == "secure" {
		mode = "Noise is secure: discrete noise on an integer grid."
	}
	return fmt.Sprintf("(ε = %s, δ = %s)-differential privacy for every training row, %s, by the %s accountant: "+
		"%d steps with Poisson sampling at rate %.6g and noise_multiplier %.6g. %s%s%s The guarantee covers the parameters after every step and all released values, "+
		"not losses, accuracies, raw norms or clip rates. %s",
		run.UpText(p.epsilon(p.steps), 4), run.UpText(p.cfg.TargetDelta, 2), p.relation().Phrase(), strings.ToUpper(p.cfg.Accountant), p.steps, p.rate, p.sigma, mode, p.before(), p.ending(steps), p.known())
}

// ending says what stopping the run means for ε.
func (p *Plan) ending(steps int) string {
	if steps == p.steps {
		return ""
	}
	s := fmt.Sprintf(" It was stopped after step %d and is charged all %d; had %d been fixed beforehand, ε would be %s.",
		steps, p.steps, steps, run.UpText(p.epsilonAt(steps), 4))
	if p.cfg.Blind {
		return s
	}
	return s + " Diagnostics were shown: if they decided when to stop, the number of steps tells something that no ε covers."
}

// epsilonAt is ε of a run planned to end with that step, sharper than the curve's
// staircase where the accountant can tell.
func (p *Plan) epsilonAt(step int) float64 {
	e, err := p.accounts.Epsilon(p.cfg.Accountant, p.cfg.TargetDelta, append(p.spent(), privacy.SelfComposed{Of: p.stepEvent(), Count: step - p.passed})...)
	if err != nil {
		return p.epsilon(step)
	}
	return min(e, p.epsilon(step))
}

// before says what was released before the first step.
func (p *Plan) before() string {
	s := ""
	if p.boundsNoise > 0 {
		s += fmt.Sprintf(" Bounds of the columns were released first, with noise_multiplier %.4g.", p.boundsNoise)
	}
	if p.pcaNoise > 0 {
		s += fmt.Sprintf(" Directions of PCA were released first, with noise_multiplier %.4g.", p.pcaNoise)
	}
	return s
}
