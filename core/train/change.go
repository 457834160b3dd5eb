package train

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// mostChanges is how many changes a run takes: all are told with every one. Each of its
// noise is one more part of what accountants compose: with mostNoises behind it a statement
// takes five seconds, and with 64 it would take half a minute.
const (
	mostChanges = 64
	mostNoises  = 24
)

// turn is a change of the plan that holds after so many steps.
type turn struct {
	after int
	plan  *Plan
}

// Change has a teaching run go on with other numbers from its next step on, which takes
// them up. Those that it has already change nothing. What cannot be changed is refused by
// a [*run.ConfigError], and then nothing is.
//
// Guarantee: none, as of every run with a fixed seed. ε is told for the steps as they
// really are, had their order been fixed beforehand: those before a change with the noise
// that they had and those after it with theirs, an upper bound. Where it would pass
// target_epsilon the run ends before it does. The same changes at the same steps of a run
// with the same seed lead to the same parameters.
func (r *Run) Change(c run.Change) (run.ChangeReply, error) {
	switch {
	case r.ended || r.done >= r.steps:
		return run.ChangeReply{}, errors.New("the run has ended: there is nothing left to change")
	case r.failed != nil:
		return run.ChangeReply{}, r.failed
	}
	from, next := r.Plan, len(r.turns)
	after := r.done
	if r.turned < len(r.turns) { // there are some that it has yet to come to
		next--
		from, after = r.turns[next].plan, r.turns[next].after
	}
	to, err := from.changed(c, after)
	if err != nil {
		return run.ChangeReply{}, asConfigError(err)
	}
	if to != from {
		r.turns = append(r.turns[:next], turn{after, to})
	}
	return run.ChangeReply{Changes: to.changes, Steps: to.steps, Epsilon: run.Number(to.epsilon(to.steps))}, nil
}

// turnTo takes up the changes that hold from the next step on, and reports whether there
// are any.
func (r *Run) turnTo() (bool, error) {
	before := r.turned
	for ; r.turned < len(r.turns) && r.turns[r.turned].after == r.done; r.turned++ {
		p := r.turns[r.turned].plan
		c, err := p.newClipper()
		if err == nil {
			err = c.Rule.Restore(r.clipper.Rule.Snapshot())
		}
		if err != nil {
			return false, fmt.Errorf("train: a change: %w", err)
		}
		r.Plan, r.clipper.Rule, r.query = p, c.Rule, c.Rule.Query()
		r.opt.SetRate(p.cfg.LearningRate)
	}
	return r.turned > before, nil
}

// at is the plan that a state after so many steps is of, and how many turns led to it.
func (r *Run) at(step int) (p *Plan, turned int) {
	p = r.began
	for turned < len(r.turns) && r.turns[turned].after < step {
		p = r.turns[turned].plan
		turned++
	}
	return p, turned
}

// changed is the plan with what c changes after so many steps; p itself where that is
// nothing.
func (p *Plan) changed(c run.Change, after int) (*Plan, error) {
	if p.cfg.Seed == nil {
		return nil, fault("seed", "only a teaching run, with a fixed seed, can be changed while it goes on: of a run that carries a guarantee everything is fixed beforehand, or what decides a change would tell of the rows. Start another run")
	}
	n := *p
	n.changes = slices.Clone(p.changes)
	for _, field := range slices.Sorted(maps.Keys(c)) {
		was, set := n.changeable(field)
		if set == nil {
			return nil, fault(field, "this cannot be changed while a run goes on, as it was settled before the first step; max_grad_norm, noise_multiplier and learning_rate can")
		}
		to := c[field] + 0 // -0 is 0
		if to == was {
			continue
		}
		if why := p.held(field); why != "" {
			return nil, fault(field, "%s", why)
		}
		set(to)
		n.note(run.Changed{Step: after + 1, Field: field, From: was, To: to})
	}
	if slices.Equal(n.changes, p.changes) {
		return p, nil
	}
	if len(n.changes) > mostChanges {
		return nil, fault("seed", "the run was changed %d times, and that is the most; start another", mostChanges)
	}
	if err := n.checkNumbers(); err != nil {
		return nil, err
	}
	if err := n.checkNoise(); p.sigma > 0 && err != nil {
		return nil, err
	}
	if err := n.chooseClipper(); err != nil {
		return nil, err
	}
	if n.sigma != p.sigma {
		return &n, n.reprice(p, after)
	}
	return &n, nil
}

// changeable is what a field is, and what sets it; nil where a run cannot be told another.
func (p *Plan) changeable(field string) (is float64, set func(float64)) {
	switch field {
	case "max_grad_norm":
		return p.cfg.MaxGradNorm, func(v float64) { p.cfg.MaxGradNorm = v }
	case "learning_rate":
		return p.cfg.LearningRate, func(v float64) { p.cfg.LearningRate = v }
	case "noise_multiplier":
		return p.sigma, func(v float64) { p.sigma = v }
	}
	return 0, nil
}

// held is why a field that others change cannot be changed of this run; empty: it can.
func (p *Plan) held(field string) string {
	switch {
	case field == "max_grad_norm" && p.first.NonPrivate:
		return fmt.Sprintf("%s clips nothing, so there is no threshold to change", p.cfg.Method)
	case field == "max_grad_norm" && !clip.Stands(p.first.Rule):
		return "the threshold belongs to the rule that moves it, which would take it away again from the next step on; take a method with a fixed threshold, such as constant"
	case field == "max_grad_norm" && p.ownThreshold():
		return fmt.Sprintf("%s does not use it here: its threshold is %.4g whatever max_grad_norm is", p.cfg.Method, p.first.Rule.C())
	case field == "noise_multiplier" && p.sigma == 0:
		return "the run was started without noise, which nothing that follows can make up for: ε stays ∞; start another with noise"
	case field == "noise_multiplier" && p.cfg.NoiseMode == "secure":
		return "how secure noise is drawn was settled for the noise_multiplier that the run began with; take float noise"
	}
	return ""
}

// ownThreshold reports whether the method has the same threshold whatever C is.
func (p *Plan) ownThreshold() bool {
	other := *p
	other.cfg.MaxGradNorm *= 2
	c, err := other.newClipper()
	return err == nil && c.Rule.C() == p.first.Rule.C()
}

// allHeld is what held says of the fields of which it says something.
func (p *Plan) allHeld() map[string]string {
	all := map[string]string{}
	for _, field := range []string{"max_grad_norm", "noise_multiplier", "learning_rate"} {
		if why := p.held(field); why != "" {
			all[field] = why
		}
	}
	return all
}

// note adds a change, and takes it together with one of the same field at the same step.
func (p *Plan) note(c run.Changed) {
	same := slices.IndexFunc(p.changes, func(o run.Changed) bool { return o.Step == c.Step && o.Field == c.Field })
	if same < 0 {
		p.changes = append(p.changes, c)
		return
	}
	p.changes[same].To = c.To
	if p.changes[same].From == c.To {
		p.changes = slices.Delete(p.changes, same, same+1)
	}
}

// reprice works out what the run costs whose noise was that of before until after so many
// steps, and how many more it can take.
func (p *Plan) reprice(before *Plan, after int) error {
	if taken := after - before.passed; taken > 0 {
		p.earlier = append(slices.Clone(before.earlier), privacy.Stretch{NoiseMultiplier: before.sigma, PerStep: before.stepEvent(), Steps: taken})
	}
	p.passed, p.steps = after, p.horizon
	if k := len(p.earlier) - 1; k >= 0 && p.earlier[k].NoiseMultiplier == p.sigma { // changed back before a step was taken
		p.passed, p.earlier = after-p.earlier[k].Steps, p.earlier[:k]
	}
	if len(p.earlier) > mostNoises {
		return fault("noise_multiplier", "the noise was changed %d times, and that is the most: to say what the run costs would take too long; max_grad_norm and learning_rate can still be changed", mostNoises)
	}
	if err := p.choosePrice(); err != nil {
		return err
	}
	target := p.cfg.TargetEpsilon
	if target == nil || p.epsilon(p.steps) <= *target {
		return nil
	}
	// The curve is a staircase above what accountants say: steps are told apart by them.
	least, most := after, p.steps // the first fits, the other does not
	for most-least > 1 {
		if k := (least + most) / 2; p.epsilonAt(k) <= *target {
			least = k
		} else {
			most = k
		}
	}
	if least == after {
		return fault("noise_multiplier", "with %g not one more step would stay within target_epsilon = %g after the %d that were taken; take more noise, or stop the run", p.sigma, *target, after)
	}
	p.steps = least
	return p.choosePrice()
}

// changesInWords are the changes of a run, one after the other.
func (p *Plan) changesInWords() string {
	parts := make([]string, len(p.changes))
	for i, c := range p.changes {
		parts[i] = fmt.Sprintf("%s %g → %g from step %d on", c.Field, c.From, c.To, c.Step)
	}
	return strings.Join(parts, ", ")
}
