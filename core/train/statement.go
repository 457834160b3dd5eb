package train

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/chacha"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Events is what the plan charges: once before the first step, and for each of
// its steps.
func (p *Plan) Events() (once []privacy.Event, perStep privacy.Event) {
	return slices.Clone(p.once), p.stepEvent()
}

// writeEvents puts Events into the plan's info, for the page's ledger.
func (p *Plan) writeEvents() error {
	if p.sigma == 0 {
		return nil
	}
	once, perStep := p.Events()
	for _, o := range once {
		b, err := privacy.MarshalEvent(o)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		p.info.Events.Once = append(p.info.Events.Once, b)
	}
	b, err := privacy.MarshalEvent(perStep)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	p.info.Events.PerStep = b
	return nil
}

// Statement is what the run may say of its privacy when it has ended after so many
// steps. What the data set has spent in all, and the page's version, are for the
// page to add.
func (p *Plan) Statement(steps int) (*privacy.Statement, error) {
	return newStatement(p.accounts, p.draft(steps))
}

// draft is what [privacy.NewStatement] is to work out.
func (p *Plan) draft(steps int) privacy.Statement {
	once, perStep := p.Events()
	return privacy.Statement{
		NoiseMultiplier: p.sigma, SampleRate: p.rate, Steps: steps, Planned: p.steps, Blind: p.cfg.Blind,
		Delta: p.cfg.TargetDelta, Accountant: p.cfg.Accountant,
		Clipping: p.clippingInWords(), Once: once, Earlier: p.earlier, PerStep: perStep,
		Data: p.meta.Name, Model: p.modelInWords(), NumExamples: p.meta.TrainRows,
		SecureNoise: p.cfg.NoiseMode == "secure", Released: p.covered(), Broken: p.broken(), Known: p.known(),
		Versions: map[string]string{"go": runtime.Version(), "protocol": strconv.Itoa(run.ProtocolVersion)},
	}
}

// known is what the plan takes for known of its data set.
func (p *Plan) known() privacy.Known {
	return privacy.Known{Backbone: p.meta.Backbone, ByClass: p.meta.ByClass, Declared: p.cfg.NumExamples > 0}
}

// relation says which data sets the guarantee holds between.
func (p *Plan) relation() run.Relation { return run.RelationOf(p.cfg.NumExamples > 0) }

// modelInWords names the kind of model and its size.
func (p *Plan) modelInWords() string {
	name := p.cfg.Model.Kind
	switch name {
	case "softmax", "linear":
		name += " regression"
	case "mlp":
		name = "multi-layer network"
	case "layers":
		name = "network of listed layers"
	}
	return fmt.Sprintf("%s, %d parameters", name, p.spec.Params())
}

func newStatement(accounts *privacy.Memory, draft privacy.Statement) (*privacy.Statement, error) {
	s, err := accounts.Statement(draft)
	if err != nil {
		return nil, fmt.Errorf("train: statement: %w", err)
	}
	return s, nil
}

// writeStatement works out a statement as the result carries it, with what the run's tests
// of itself came to: where one failed, the result claims no ε. A run whose statement cannot be
// written says so in its notes and keeps everything else.
func writeStatement(accounts *privacy.Memory, draft privacy.Statement, self *selfCheck, r *run.Result) {
	s, err := newStatement(accounts, draft)
	if err == nil && r.Checks != nil {
		r.Checks = append(r.Checks, checkEpsilon(self.fell, r.Steps, r.PlannedSteps, float64(r.Epsilon), s.Least()))
	}
	why := failedCheck(r.Checks)
	if why != "" {
		r.Epsilon, r.EpsilonAtStep = run.Number(math.Inf(1)), run.Number(math.Inf(1))
		r.Guarantee = run.NoGuarantee + why + "."
	}
	var b []byte
	if err == nil {
		if s.Checks = r.Checks; why != "" {
			s.Broken = append(s.Broken, why)
		}
		b, err = json.Marshal(s)
	}
	if err != nil {
		r.Notes = append(r.Notes, "There is no statement of this run: "+err.Error())
		return
	}
	r.Statement = b
}

// broken is why there is no guarantee, besides noise that is missing, which the
// events show.
func (p *Plan) broken() []string {
	var why []string
	if p.cfg.Seed != nil && !p.nonPrivate() {
		why = append(why, "the seed is fixed, so the noise can be recomputed and subtracted")
	}
	if p.beyondEnd {
		why = append(why, fmt.Sprintf("float noise ends at %g standard deviations, and at this noise_multiplier one row can move a sum beyond", chacha.MaxNormal))
	}
	if p.cfg.Scaling.Kind == "measured" {
		why = append(why, "features were scaled by figures measured from the training rows without noise")
	}
	if len(p.changes) > 0 {
		why = append(why, "it was changed while it went on, by someone who could see what no ε covers ("+p.changesInWords()+")")
	}
	return why
}

// clippingInWords names the method and every choice that it rests on.
func (p *Plan) clippingInWords() string {
	c := &p.cfg
	if p.first.NonPrivate {
		return c.Method
	}
	parts := []string{c.Method}
	for _, axis := range [][2]string{{"weights", c.Weight}, {"threshold rule", c.Threshold}, {"grouping", c.Grouping}} {
		if axis[1] != "" {
			parts = append(parts, axis[1]+" "+axis[0])
		}
	}
	name := "max_grad_norm"
	if p.query != nil {
		name = "first max_grad_norm"
	}
	parts = append(parts, fmt.Sprintf("%s = %g", name, c.MaxGradNorm))
	for _, key := range slices.Sorted(maps.Keys(c.Params)) {
		parts = append(parts, fmt.Sprintf("%s = %g", key, c.Params[key]))
	}
	if p.gradNoise > p.sigma {
		parts = append(parts, fmt.Sprintf("noise_multiplier of the gradient alone = %.6g", p.gradNoise))
	}
	return strings.Join(parts, ", ")
}

// covered lists what the guarantee holds for.
func (p *Plan) covered() []string {
	list := []string{"the parameters after every step", "the noisy gradient norm of every step"}
	if p.query != nil {
		list = append(list, "the threshold of every step", "the noisy statistic that moves it")
	}
	if p.boundsNoise > 0 && p.sought().Features > 0 {
		list = append(list, "the private bounds of the features")
	}
	if p.boundsNoise > 0 && p.sought().Targets > 0 {
		list = append(list, "the private bounds of the targets")
	}
	if p.pcaNoise > 0 {
		list = append(list, "the principal directions")
	}
	return list
}
