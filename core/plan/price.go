package plan

import (
	"fmt"
	"math"
	"slices"

	"clipscope/core/chacha"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// price holds a plan's events and the curve of their ε.
type price struct {
	accounts *privacy.Memory // nil: nothing is remembered
	once     []privacy.Event // charged before the first step
	// Steps that were passed before the noise was what it is, and the noise that they had.
	passed    int
	earlier   []privacy.Stretch
	curve     *privacy.Curve // over the steps that follow those passed
	beyondEnd bool           // one row can move a sum beyond the end of float noise
}

// budget returns what σ has to fit in.
func (d *draft) budget() privacy.Budget {
	return privacy.Budget{Accountant: d.terms.Config.Accountant, Epsilon: *d.terms.Config.TargetEpsilon, Delta: d.terms.Config.TargetDelta, Spent: d.price.once, Distance: d.terms.distance(), Values: d.terms.values()}
}

// chooseNoise settles σ, from itself or from ε.
func (d *draft) chooseNoise() (err error) {
	c := &d.terms.Config
	switch {
	case d.terms.NonPrivate():
		return nil
	case c.NoiseMultiplier != nil && c.TargetEpsilon != nil:
		return Fault("noise_multiplier", "noise_multiplier and target_epsilon are both given; each decides the other, so give one")
	case c.NoiseMultiplier != nil:
		d.terms.NoiseMultiplier = *c.NoiseMultiplier
		return checkNoise(*c.NoiseMultiplier)
	}
	// With as much noise as there may be: less ends no later.
	if err := d.checkEnd(append(slices.Clone(d.price.once), privacy.SelfComposed{Of: d.terms.Noise.ended(privacy.Gaussian{NoiseMultiplier: maxNoise}, d.terms.values()), Count: d.terms.Steps})...); err != nil {
		return err
	}
	if !privacy.Pays(float64(d.terms.Steps)*d.terms.distance(), *c.TargetEpsilon, c.TargetDelta) {
		d.terms.Noise = d.terms.Noise.exactly()
	}
	if d.terms.NoiseMultiplier, err = d.price.accounts.NoiseMultiplier(d.budget(), d.terms.SampleRate, d.terms.Steps); err != nil {
		return FaultOf("target_epsilon", err)
	}
	return nil
}

// checkNoise refuses a σ that is none.
func checkNoise(sigma float64) error {
	switch {
	case !(sigma > 0) || math.IsInf(sigma, 1):
		return Fault("noise_multiplier", "%v adds no noise, so nothing would be protected; take a positive number, or choose “no privacy” (no_privacy: true) to train without a guarantee", sigma)
	case sigma < minNoise:
		return Fault("noise_multiplier", "%v is next to no noise, which protects nothing; take at least %g", sigma, minNoise)
	case sigma > maxNoise:
		return Fault("noise_multiplier", "%v is so much noise that nothing can be learned; take at most %g", sigma, maxNoise)
	}
	return nil
}

// checkEnd refuses a δ that the end of float noise alone takes, and notes where one row can
// move a sum beyond that end.
//
// Guarantee: a plan of events that it lets pass has a finite price that holds, the end included,
// or names the end among the reasons for having no guarantee ([Plan.broken]).
func (d *draft) checkEnd(events ...privacy.Event) error {
	end, err := privacy.NoiseEnd(events...)
	if err != nil {
		return FaultOf("noise_multiplier", err)
	}
	switch delta := d.terms.Config.TargetDelta; {
	case end < delta || d.terms.Config.Seed != nil: // with a seed there is no guarantee to break
	case end < 1e-8:
		return Fault("target_delta", "float noise ends at %g standard deviations, and in this run that alone takes δ = %s: %s cannot be promised. Take a larger target_delta, or noise_mode secure, whose noise has no such end",
			chacha.MaxNormal, run.UpText(end, 2), run.UpText(delta, 2))
	default:
		d.price.beyondEnd = true
	}
	return nil
}

func (d *draft) choosePrice() (err error) {
	if err := d.checkEnd(append(d.price.spent(), privacy.SelfComposed{Of: d.terms.stepEvent(), Count: d.terms.Steps - d.price.passed})...); err != nil {
		return err
	}
	d.price.curve, err = d.price.accounts.Curve(d.terms.Config.Accountant, d.terms.Config.TargetDelta, d.terms.stepEvent(), d.terms.Steps-d.price.passed, d.price.spent()...)
	if err != nil {
		return FaultOf("accountant", err)
	}
	if d.terms.distance() > 0 && math.IsInf(d.plan().Epsilon(d.terms.Steps), 1) { // δ does not pay for the tables
		d.terms.Noise = d.terms.Noise.exactly()
		if err := d.checkMemory(); err != nil { // of which that takes more
			return err
		}
		return d.choosePrice()
	}
	return nil
}

// charge sets a share of the whole run's ε aside for one Gaussian release of so many
// values before the first step, and returns that release's noise multiplier; 0 in a run
// without noise.
func (d *draft) charge(field string, share float64, values int) (float64, error) {
	sigma, err := d.priced(field, share)
	d.spend(sigma, values)
	return sigma, err
}

// spend charges one Gaussian release of so many values before the first step; of a run
// without noise, sigma is 0 and there is nothing to charge.
func (d *draft) spend(sigma float64, values int) {
	if sigma > 0 {
		d.price.once = append(d.price.once, d.terms.Noise.ended(privacy.Gaussian{NoiseMultiplier: sigma}, values))
	}
}

// priced returns the noise multiplier that charge sets a share aside for.
func (d *draft) priced(field string, share float64) (float64, error) {
	if !(share > 0 && share < 1) {
		return 0, Fault(field, "a share of ε must lie between 0 and 1, got %v", share)
	}
	if d.terms.NonPrivate() {
		return 0, nil
	}
	b := privacy.Budget{Accountant: d.terms.Config.Accountant, Delta: d.terms.Config.TargetDelta}
	switch c := &d.terms.Config; {
	case c.TargetEpsilon != nil:
		b.Epsilon = share * *c.TargetEpsilon
	case c.NoiseMultiplier != nil && *c.NoiseMultiplier > 0:
		training, err := privacy.Epsilon(c.Accountant, c.TargetDelta, privacy.SelfComposed{
			Of:    privacy.PoissonSampled{SampleRate: d.terms.SampleRate, Of: privacy.Gaussian{NoiseMultiplier: *c.NoiseMultiplier}},
			Count: d.terms.Steps,
		})
		if err != nil {
			return 0, FaultOf("noise_multiplier", err)
		}
		b.Epsilon = share / (1 - share) * training
	default:
		return 0, nil // chooseNoise refuses
	}
	sigma, err := b.NoiseMultiplier(1, 1)
	if err != nil {
		return 0, FaultOf(field, err)
	}
	return sigma, nil
}

// Epsilon returns ε of a run planned to end with that step, no earlier than what was passed.
func (p *Plan) Epsilon(step int) float64 { return p.price.curve.Epsilon(step - p.price.passed) }

// EpsilonAt returns ε of a run planned to end with that step, sharper than the curve's
// staircase where the accountant can tell.
func (p *Plan) EpsilonAt(step int) float64 {
	e, err := p.price.accounts.Epsilon(p.terms.Config.Accountant, p.terms.Config.TargetDelta, append(p.price.spent(), privacy.SelfComposed{Of: p.terms.stepEvent(), Count: step - p.price.passed})...)
	if err != nil {
		return p.Epsilon(step)
	}
	return min(e, p.Epsilon(step))
}

// spent returns what was released before the steps that the curve is over.
func (p *price) spent() []privacy.Event {
	events := slices.Clone(p.once)
	for _, e := range p.earlier {
		events = append(events, privacy.SelfComposed{Of: e.PerStep, Count: e.Steps})
	}
	return events
}

// epsilons returns the price of the whole run by every accountant that can tell.
func (p *Plan) epsilons() map[string]run.Number {
	all := map[string]run.Number{}
	for _, name := range privacy.Names() {
		events := append([]privacy.Event{privacy.SelfComposed{Of: p.terms.stepEvent(), Count: p.terms.Steps}}, p.price.once...)
		if e, err := p.price.accounts.Epsilon(name, p.terms.Config.TargetDelta, events...); err == nil {
			all[name] = run.Number(e)
		}
	}
	return all
}

// Events returns what the plan charges: once before the first step, and for each of
// its steps.
func (p *Plan) Events() (once []privacy.Event, perStep privacy.Event) {
	return slices.Clone(p.price.once), p.terms.stepEvent()
}

// writeEvents puts Events into the plan's info, for the page's ledger.
func (d *draft) writeEvents() error {
	if d.terms.NoiseMultiplier == 0 {
		return nil
	}
	once, perStep := d.plan().Events()
	for _, o := range once {
		b, err := privacy.MarshalEvent(o)
		if err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		d.info.Events.Once = append(d.info.Events.Once, b)
	}
	b, err := privacy.MarshalEvent(perStep)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	d.info.Events.PerStep = b
	return nil
}

// Release returns all that a run of the plan releases.
func (p *Plan) Release() privacy.Event {
	once, perStep := p.Events()
	return privacy.Composed{Parts: append(once, privacy.SelfComposed{Of: perStep, Count: p.terms.Steps})}
}
