package plan

import (
	"fmt"
	"math"

	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Shared is secure noise that several parties draw apart, a share each. Whole numbers are added up
// modulo 2³², as masks need it.
//
// # Guarantee
//
// To take a number modulo 2³² is post-processing of it: what wraps around is no less private, only
// wrong. The unit is chosen so that nothing wraps around in practice.
type Shared struct {
	Secure
	privacy.Shares
}

// Whole numbers of either sign that wrap around lie beyond that.
const wrapsAt = 1 << 31

// tail is the number of deviations that a share is rarely beyond: with a probability of 10⁻¹⁵.
const tail = 8

func newShared(t *Terms) (Noise, error) {
	n := Shared{Secure{Exact: true}, t.shares()}
	g := n.Grid(t)
	if err := g.check(); err != nil {
		return n, err
	}
	if _, err := n.Noise(t.GradNoise*g.Units(), 1); err != nil {
		return n, FaultOf("noise_multiplier", err)
	}
	if q := t.query; q != nil {
		if _, err := n.Noise(q.NoiseStd, n.StatisticUnit(t)); err != nil {
			return n, FaultOf("threshold", err)
		}
	}
	return n, nil
}

// Grid returns the grid of a run on these terms: as fine as sums of all parties are below 2³¹ with.
func (n Shared) Grid(t *Terms) Grid {
	g := n.Secure.Grid(t)
	g.most = min(g.most, math.Floor(wrapsAt/(float64(t.Likely())+n.reach(t.GradNoise))))
	return g
}

// reach returns a bound that the noise of all parties rarely exceeds, where sigma is the deviation that is needed.
func (n Shared) reach(sigma float64) float64 {
	return tail * sigma * math.Sqrt(float64(n.Parties)/float64(n.Needed()))
}

// StatisticUnit is the unit of the threshold rule's statistic, whose values are multiples of ½: a
// power of two, no finer than sums of all parties are below 2³¹ with.
func (n Shared) StatisticUnit(t *Terms) float64 {
	q := t.query
	fine := privacy.FineUnit(q.NoiseStd/math.Sqrt(float64(n.Needed())), 0.5)
	least := (float64(t.Likely())*q.Sensitivity + n.reach(q.NoiseStd)) / wrapsAt
	return min(0.5, max(fine, math.Exp2(math.Ceil(math.Log2(least)))))
}

func (n Shared) exactly() Noise { return n }

func (n Shared) fixedReason() string { return "the parties have agreed on it" }

func (n Shared) guarantee() string {
	return fmt.Sprintf("Noise is secure: discrete noise on an integer grid, of which %d parties draw a share each. The noise of %d is enough.", n.Parties, n.Needed())
}

// shares returns how the noise of a run of several parties is divided.
func (t *Terms) shares() privacy.Shares {
	return privacy.Shares{Parties: t.Config.Together.Parties, Tolerance: t.Config.Together.Tolerance}
}

// chooseTogether refuses what several parties cannot agree on.
func (d *draft) chooseTogether() error {
	c := &d.terms.Config
	g := c.Together
	if g.Parties == 0 {
		if g != (run.Together{}) {
			return Fault("together.parties", "one party alone has no other to tolerate or to wait for; write how many there are, or leave together out")
		}
		return nil
	}
	if err := d.terms.shares().Check(); err != nil {
		return FaultOf("together.parties", err)
	}
	d.terms.Noise = d.terms.Noise.exactly() // whose price has no part for a table
	switch scaling := c.Scaling; {
	case g.Quorum < max(g.Needed(), 2) || g.Quorum > g.Parties:
		return Fault("together.quorum", "%d is not in %d … %d: with fewer there would be too little noise or nobody to hide behind, and there are no more", g.Quorum, max(g.Needed(), 2), g.Parties)
	case c.NoiseMode != "secure":
		return Fault("noise_mode", "several parties add whole numbers, and %s noise has none; choose secure", c.NoiseMode)
	case c.EarlyStopping != (run.EarlyStopping{}):
		return Fault("early_stopping.monitor", "the parties of a run have agreed on its steps; leave it out")
	case c.NumExamples == 0:
		return Fault("num_examples", "no party can count the others' rows; declare how many there are together")
	case c.Seed != nil:
		return Fault("seed", "with a fixed seed all parties would draw the same noise; leave it out")
	case scaling.Kind == "private" || scaling.Kind == "measured":
		return Fault("scaling.kind", "scaling %q looks at one party's rows alone, and all have to scale alike; declare bounds, or choose row or none", scaling.Kind)
	case scaling.Target == "private":
		return Fault("scaling.target", "private bounds are of one party's targets alone; declare bounds of the label's column, or choose none")
	}
	return nil
}

// describeTogether says what several parties are promised and send.
func (d *draft) describeTogether() {
	if d.terms.Config.Together.Parties == 0 {
		return
	}
	d.info.Together = &run.TogetherPlan{EpsilonAlone: run.Number(d.plan().EpsilonOfShares(1)), StepBytes: 4 * d.terms.numbers()}
	if g := d.terms.Config.Together; g.Quorum == g.Needed() {
		d.warn("together.quorum", "A party knows its own noise and can take it out of every sum. In steps with as few parties as the quorum there is no noise to spare for that: to each of them the others have ε = %s, and to everybody else %s. Take a quorum above parties − tolerance.",
			run.UpText(d.plan().EpsilonOfShares(g.Quorum-1), 3), run.UpText(d.plan().Epsilon(d.terms.Steps), 3))
	}
}

// alone says what several parties are promised, each of them.
func (p *Plan) alone() string {
	t := p.terms.Config.Together
	if t.Parties == 0 {
		return ""
	}
	return fmt.Sprintf(" The ε holds where, of the parties in each step, at least %d keep their noise to themselves; there are %d or more. For a party that trusts no other it is %s, by its own noise.",
		t.Needed(), t.Quorum, run.UpText(p.EpsilonOfShares(1), 4))
}

// draftTogether returns the parties of a statement and the event of a step for one alone; nil of a run alone.
func (p *Plan) draftTogether() (*run.StatementTogether, privacy.Event) {
	if p.terms.Config.Together.Parties == 0 {
		return nil, nil
	}
	return &run.StatementTogether{Together: p.terms.Config.Together}, p.terms.stepEventOf(1)
}

// stepEventOf returns the event of a step for those who know all shares of the noise but so many.
func (t *Terms) stepEventOf(shares int) privacy.Event {
	return t.stepEventWith(func(sigma float64) float64 { return t.shares().Of(sigma, shares) })
}

// EpsilonOfShares returns ε of the whole run for those who know all shares of the noise but so many;
// of one share, for a party that trusts no other.
//
// Guarantee: an upper bound, or ∞ where the accountant has none.
func (p *Plan) EpsilonOfShares(shares int) float64 {
	t := &p.terms
	e, err := p.price.accounts.Epsilon(t.Config.Accountant, t.Config.TargetDelta, privacy.SelfComposed{Of: t.stepEventOf(shares), Count: t.Steps})
	if err != nil {
		return math.Inf(1)
	}
	return e
}
