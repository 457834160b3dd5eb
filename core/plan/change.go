package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// MostChanges bounds the changes of a run: all are told with every one. Each of its
// noise is one more part of what accountants compose: with MostNoises behind it a statement
// takes five seconds, and with 64 it would take half a minute.
const (
	MostChanges = 64
	MostNoises  = 24
)

// Changed returns the plan with what c changes after so many steps; p itself where that is
// nothing.
func (p *Plan) Changed(c run.Change, after int) (*Plan, error) {
	to, err := p.changed(c, after)
	if err != nil {
		return nil, asConfigError(err)
	}
	return to, nil
}

func (p *Plan) changed(c run.Change, after int) (*Plan, error) {
	if p.terms.Config.Seed == nil {
		return nil, Fault("seed", "only a teaching run, with a fixed seed, can be changed while it goes on: of a run that carries a guarantee everything is fixed beforehand, or what decides a change would tell of the rows. Start another run")
	}
	n := draft(*p)
	n.terms.Changes = slices.Clone(p.terms.Changes)
	for _, field := range slices.Sorted(maps.Keys(c)) {
		was, set := n.changeable(field)
		if set == nil {
			return nil, Fault(field, "this cannot be changed while a run goes on, as it was settled before the first step; max_grad_norm, noise_multiplier and learning_rate can")
		}
		to := c[field] + 0 // -0 is 0
		if to == was {
			continue
		}
		if why := p.fixedReason(field); why != "" {
			return nil, Fault(field, "%s", why)
		}
		set(to)
		n.note(run.Changed{Step: after + 1, Field: field, From: was, To: to})
	}
	if slices.Equal(n.terms.Changes, p.terms.Changes) {
		return p, nil
	}
	if len(n.terms.Changes) > MostChanges {
		return nil, Fault("seed", "the run was changed %d times, and that is the most; start another", MostChanges)
	}
	if err := checkNumbers(&n.terms.Config); err != nil {
		return nil, err
	}
	if err := checkNoise(n.terms.NoiseMultiplier); p.terms.NoiseMultiplier > 0 && err != nil {
		return nil, err
	}
	if err := n.chooseClipper(); err != nil {
		return nil, err
	}
	if n.terms.NoiseMultiplier != p.terms.NoiseMultiplier {
		return n.plan(), n.reprice(p, after)
	}
	return n.plan(), nil
}

// changeable returns what a field is, and what sets it; nil where a run cannot be told another.
func (d *draft) changeable(field string) (is float64, set func(float64)) {
	switch field {
	case "max_grad_norm":
		return d.terms.Config.MaxGradNorm, func(v float64) { d.terms.Config.MaxGradNorm = v }
	case "learning_rate":
		return d.terms.Config.LearningRate, func(v float64) { d.terms.Config.LearningRate = v }
	case "noise_multiplier":
		return d.terms.NoiseMultiplier, func(v float64) { d.terms.NoiseMultiplier = v }
	}
	return 0, nil
}

// fixedReason returns why a field that others change cannot be changed of this run; "" where it can.
func (p *Plan) fixedReason(field string) string {
	switch {
	case field == "max_grad_norm" && p.terms.first.NonPrivate:
		return fmt.Sprintf("%s clips nothing, so there is no threshold to change", p.terms.Config.Method)
	case field == "max_grad_norm" && !clip.Stands(p.terms.first.Rule):
		return "the threshold belongs to the rule that moves it, which would take it away again from the next step on; take a method with a fixed threshold, such as constant"
	case field == "max_grad_norm" && p.ownThreshold():
		return fmt.Sprintf("%s does not use it here: its threshold is %.4g whatever max_grad_norm is", p.terms.Config.Method, p.terms.first.Rule.C())
	case field == "noise_multiplier" && p.terms.NoiseMultiplier == 0:
		return "the run was started without noise, which nothing that follows can make up for: ε stays ∞; start another with noise"
	case field == "noise_multiplier":
		return p.terms.Noise.fixedReason()
	}
	return ""
}

// ownThreshold reports whether the method has the same threshold whatever C is.
func (p *Plan) ownThreshold() bool {
	other := p.terms
	other.Config.MaxGradNorm *= 2
	c, err := other.NewClipper()
	return err == nil && c.Rule.C() == p.terms.first.Rule.C()
}

// allHeld returns what held says, by field, where it says something.
func (p *Plan) allHeld() map[string]string {
	all := map[string]string{}
	for _, field := range []string{"max_grad_norm", "noise_multiplier", "learning_rate"} {
		if why := p.fixedReason(field); why != "" {
			all[field] = why
		}
	}
	return all
}

// note adds a change, and takes it together with one of the same field at the same step.
func (d *draft) note(c run.Changed) {
	same := slices.IndexFunc(d.terms.Changes, func(o run.Changed) bool { return o.Step == c.Step && o.Field == c.Field })
	if same < 0 {
		d.terms.Changes = append(d.terms.Changes, c)
		return
	}
	d.terms.Changes[same].To = c.To
	if d.terms.Changes[same].From == c.To {
		d.terms.Changes = slices.Delete(d.terms.Changes, same, same+1)
	}
}

// reprice works out what the run costs whose noise was that of before until after so many
// steps, and how many more it can take.
func (d *draft) reprice(before *Plan, after int) error {
	if taken := after - before.price.passed; taken > 0 {
		d.price.earlier = append(slices.Clone(before.price.earlier), privacy.Stretch{NoiseMultiplier: before.terms.NoiseMultiplier, PerStep: before.terms.stepEvent(), Steps: taken})
	}
	d.price.passed, d.terms.Steps = after, d.terms.Horizon
	if k := len(d.price.earlier) - 1; k >= 0 && d.price.earlier[k].NoiseMultiplier == d.terms.NoiseMultiplier { // changed back before a step was taken
		d.price.passed, d.price.earlier = after-d.price.earlier[k].Steps, d.price.earlier[:k]
	}
	if len(d.price.earlier) > MostNoises {
		return Fault("noise_multiplier", "the noise was changed %d times, and that is the most: to say what the run costs would take too long; max_grad_norm and learning_rate can still be changed", MostNoises)
	}
	if err := d.choosePrice(); err != nil {
		return err
	}
	target := d.terms.Config.TargetEpsilon
	if target == nil || d.plan().Epsilon(d.terms.Steps) <= *target {
		return nil
	}
	// The curve is a staircase above what accountants say: steps are told apart by them.
	least, most := after, d.terms.Steps // the first fits, the other does not
	for most-least > 1 {
		if k := (least + most) / 2; d.plan().EpsilonAt(k) <= *target {
			least = k
		} else {
			most = k
		}
	}
	if least == after {
		return Fault("noise_multiplier", "with %g not one more step would stay within target_epsilon = %g after the %d that were taken; take more noise, or stop the run", d.terms.NoiseMultiplier, *target, after)
	}
	d.terms.Steps = least
	return d.choosePrice()
}

// changesInWords lists the changes of a run, one after the other.
func (p *Plan) changesInWords() string {
	parts := make([]string, len(p.terms.Changes))
	for i, c := range p.terms.Changes {
		parts[i] = fmt.Sprintf("%s %g → %g from step %d on", c.Field, c.From, c.To, c.Step)
	}
	return strings.Join(parts, ", ")
}

// For returns the plan for another candidate, which costs the same.
func (p *Plan) For(c run.Candidate) (*Plan, error) {
	other := draft(*p)
	other.terms.Config.LearningRate, other.terms.Config.MaxGradNorm = c.LearningRate, c.MaxGradNorm
	if err := checkNumbers(&other.terms.Config); err != nil {
		return nil, asConfigError(err)
	}
	if err := other.chooseClipper(); err != nil {
		return nil, asConfigError(err)
	}
	return other.plan(), nil
}

// Seeded returns the plan with another seed, where it has one.
func (p *Plan) Seeded(seed uint64) *Plan {
	other := *p
	if p.terms.Config.Seed != nil {
		other.terms.Config.Seed = &seed
	}
	return &other
}
