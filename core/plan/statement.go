package plan

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/chacha"
	"clipscope/core/clip"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Statement returns the privacy statement of a run that has ended after so many steps. What the data set has spent in all, and the page's version, are for the
// page to add.
func (p *Plan) Statement(steps int) (*privacy.Statement, error) {
	return NewStatement(p.price.accounts, p.Draft(steps))
}

// Draft returns what [NewStatement] is to work out.
func (p *Plan) Draft(steps int) privacy.Statement {
	once, perStep := p.Events()
	together, alone := p.draftTogether()
	return privacy.Statement{
		Together: together, Alone: alone,
		NoiseMultiplier: p.terms.NoiseMultiplier, SampleRate: p.terms.SampleRate, Steps: steps, Planned: p.terms.Steps, Blind: p.terms.Config.Blind,
		Delta: p.terms.Config.TargetDelta, Accountant: p.terms.Config.Accountant,
		Clipping: p.clippingInWords(), Once: once, Earlier: p.price.earlier, PerStep: perStep,
		Data: p.terms.Meta.Name, Model: p.terms.modelInWords(), NumExamples: p.terms.Meta.TrainRows,
		SecureNoise: p.terms.Noise.Discrete(), Released: p.coverage(), Broken: p.broken(), Known: p.terms.Known(),
		Versions: map[string]string{"go": runtime.Version(), "protocol": strconv.Itoa(run.ProtocolVersion)},
	}
}

// NewStatement works a draft out, with what accountants were asked before.
func NewStatement(accounts *privacy.Memory, draft privacy.Statement) (*privacy.Statement, error) {
	s, err := accounts.Statement(draft)
	if err != nil {
		return nil, fmt.Errorf("plan: statement: %w", err)
	}
	return s, nil
}

// Accounts returns what accountants were asked before; nil where that is not remembered.
func (p *Plan) Accounts() *privacy.Memory { return p.price.accounts }

// broken lists why there is no guarantee, besides noise that is missing, which the
// events show.
func (p *Plan) broken() []string {
	var why []string
	if p.terms.Config.Seed != nil && !p.terms.NonPrivate() {
		why = append(why, "the seed is fixed, so the noise can be recomputed and subtracted")
	}
	if p.price.beyondEnd {
		why = append(why, fmt.Sprintf("float noise ends at %g standard deviations, and at this noise_multiplier one row can move a sum beyond", chacha.MaxNormal))
	}
	if p.terms.Config.Scaling.Kind == "measured" {
		why = append(why, "features were scaled by figures measured from the training rows without noise")
	}
	if len(p.terms.Changes) > 0 {
		why = append(why, "it was changed while it went on, by someone who could see what no ε covers ("+p.changesInWords()+")")
	}
	return why
}

// clippingInWords names the method and every choice that it rests on.
func (p *Plan) clippingInWords() string {
	c := &p.terms.Config
	if p.terms.first.NonPrivate {
		return c.Method
	}
	parts := []string{c.Method}
	for _, axis := range [][2]string{{"weights", c.Weight}, {"threshold rule", c.Threshold}, {"grouping", c.Grouping}} {
		if axis[1] != "" {
			parts = append(parts, axis[1]+" "+axis[0])
		}
	}
	if d, ok := p.terms.first.Rule.(clip.Divided); ok {
		parts = append(parts, fmt.Sprintf("a threshold and a count for each of %d layers", len(d.Thresholds())))
	}
	name := "max_grad_norm"
	if p.terms.query != nil {
		name = "first max_grad_norm"
	}
	parts = append(parts, fmt.Sprintf("%s = %g", name, c.MaxGradNorm))
	for _, key := range slices.Sorted(maps.Keys(c.Params)) {
		parts = append(parts, fmt.Sprintf("%s = %g", key, c.Params[key]))
	}
	if p.terms.GradNoise > p.terms.NoiseMultiplier {
		parts = append(parts, fmt.Sprintf("noise_multiplier of the gradient alone = %.6g", p.terms.GradNoise))
	}
	return strings.Join(parts, ", ")
}

// coverage lists what the guarantee holds for.
func (p *Plan) coverage() []string {
	list := []string{"the parameters after every step", "the noisy gradient norm of every step"}
	if p.terms.query != nil {
		list = append(list, "the threshold of every step", "the noisy statistic that moves it")
	}
	if p.terms.BoundsNoise > 0 && p.terms.sought().Features > 0 {
		list = append(list, "the private bounds of the features")
	}
	if p.terms.BoundsNoise > 0 && p.terms.sought().Targets > 0 {
		list = append(list, "the private bounds of the targets")
	}
	if p.terms.PCANoise > 0 {
		list = append(list, "the principal directions")
	}
	return list
}
