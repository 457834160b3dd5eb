package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// checkStart refuses weights that are not named, or whose rows nobody has given up a promise for.
func (d *draft) checkStart() error {
	s := d.terms.Config.Start
	switch {
	case s == (run.Start{}):
		return nil
	case s.SHA256 == "":
		return Fault("start", "there are no weights to start from: choose the file of a saved model, or start from random weights")
	case !run.IsSHA256(s.SHA256):
		return Fault("start.sha256", "%q is no SHA-256: choose the file of a saved model, or start from random weights", data.Shorten(s.SHA256))
	case d.terms.Config.PCA.Components > 0:
		return Fault("pca.components", "each run finds its own directions, and the weights of %s are for those of another; leave pca out, or start from random weights", startName(s))
	case !s.Public && !d.terms.NonPrivate():
		return Fault("start.public", "the weights of %s count as public: ε promises nothing to the rows that they were trained on. Declare that, or start from random weights. If a private run on these rows left them, its ε and this one add up, and what the data has spent counts both", startName(s))
	}
	return nil
}

// startedFrom says what the run before promises, whose weights this one starts from.
func (p *Plan) startedFrom() string {
	if both := p.terms.startInfo().WithBefore(float64(p.Epsilon(p.terms.Steps)), p.terms.Config.TargetDelta); both != "" {
		return both + " "
	}
	return ""
}

func startName(s run.Start) string { return cmp.Or(data.Shorten(s.File), "the file") }

// startInfo returns what is known of the weights that a run starts from; nil of random ones.
func (t *Terms) startInfo() *run.StartInfo {
	switch s := t.Config.Start; {
	case s.SHA256 == "":
		return nil
	default:
		info := run.StartInfo{SHA256: s.SHA256}
		if t.start != nil {
			info = *t.start
		}
		info.File, info.Model, info.Parameters = s.File, run.Model{}, 0
		if t.Spec.Frozen() > 0 {
			info.Frozen, info.Trained, info.Part = t.Spec.Frozen(), t.Spec.Params(), t.partInWords()
		}
		return &info
	}
}

// partInWords says which parameters are trained where the others are not all before them; else it is empty.
func (t *Terms) partInWords() string {
	s := &t.Config.Start
	if s.Trainable == "biases" {
		return "the biases of all layers, and all of the head"
	}
	low, ok := lowRankOf(s)
	if !ok {
		return ""
	}
	said := fmt.Sprintf("the head, and maps of rank %d beside the attentions’ (%s), whose products, times %g/%d, are in the weights beside them", low.Rank, strings.Join(low.Targets, ", "), low.Alpha, low.Rank)
	if low.FreezeA {
		said += "; their first halves stayed as they were drawn"
	}
	return said
}

// lowRankOf reads lora:R and what goes with it, where that is what is trained. A rank that cannot be read is 0.
func lowRankOf(s *run.Start) (nn.LowRank, bool) {
	text, ok := s.LowRank()
	rank, _ := strconv.Atoi(text)
	if strconv.Itoa(rank) != text {
		rank = 0
	}
	low := nn.LowRank{Rank: rank, Alpha: cmp.Or(s.LoraAlpha, 2*float64(rank)), FreezeA: s.FreezeA}
	for target := range strings.SplitSeq(cmp.Or(s.LoraTargets, "query,value"), ",") {
		low.Targets = append(low.Targets, strings.TrimSpace(target))
	}
	return low, ok
}

// train has the model's part trained that the configuration names.
func (d *draft) train() (err error) {
	s, whole := &d.terms.Config.Start, d.terms.Spec
	d.terms.whole = &whole
	if low, ok := lowRankOf(s); ok {
		d.terms.Spec, err = d.terms.Spec.WithLowRank(low)
	} else {
		d.terms.Spec, err = d.terms.Spec.Trainable(s.Trainable)
	}
	if err != nil {
		return FaultOf("start.trainable", err)
	}
	return nil
}

// StartFrom returns the plan with the weights that its configuration names. What does not fit is refused with the
// field at fault; a difference that leaves a meaning to the weights becomes a warning.
//
// Guarantee: that of the plan. Weights count as public; the configuration has declared it, and the statement says so.
func (p *Plan) StartFrom(w *model.Weights) (*Plan, error) {
	s := p.terms.Config.Start
	if w.Info.SHA256 != s.SHA256 {
		return nil, Fault("start", "the file %s has another SHA-256 (%s) than the weights that start names (%s): choose the file that the run is to start from", data.Shown(w.Info.File), w.Info.SHA256, s.SHA256)
	}
	n := draft(*p)
	values, headless, err := w.Fit(n.terms.Spec)
	if err != nil {
		if own := w.Info.Model; own.Kind == "layers" && !slices.Equal(own.Layers, n.terms.Config.Model.Layers) {
			err = fmt.Errorf("%w. The network that it is of comes back by “Start from random weights”, and by choosing it again", err)
		}
		return nil, Fault("start", "%s does not fit this network: %v", startName(s), err)
	}
	n.info.Warnings = slices.Clone(p.info.Warnings)
	n.terms.StartWeights, n.terms.start = values, &w.Info
	if headless != "" {
		n.remark("start", "The last layer is drawn at random: in %s %s.", startName(s), headless)
	}
	if w.Apply == nil && values != nil && headless == "" && len(n.terms.Meta.Classes) > 0 {
		n.remark("start", "%s does not say which class each of its outputs stands for: here they are %s, in that order.", startName(s), data.List(n.terms.Meta.Classes))
	}
	if w.Apply != nil {
		if err := n.compareStart(w.Apply, headless == ""); err != nil {
			return nil, err
		}
	}
	n.info.Guarantee = n.plan().Guarantee(n.terms.Steps, false)
	return n.plan(), nil
}

// compareStart refuses weights that stand for other features, or where they have a head for other classes, than the
// data's, and warns of what else differs.
func (d *draft) compareStart(a *run.Application, head bool) error {
	m := &d.terms.Meta
	name := startName(d.terms.Config.Start)
	switch {
	case head && a.Task != string(m.Task):
		return Fault("start", "%s was trained for %s, and the data is of %s", name, a.Task, m.Task)
	case a.PCA != nil:
		return Fault("start", "%s takes the directions of its own PCA, which another run does not have; train one without pca to start from", name)
	}
	if err := sameBackbone(a.FeaturesOf, m.Backbone); err != nil {
		return Fault("start", "%s was trained on %v", name, err)
	}
	if err := sameColumns(a.Columns, m.Columns); err != nil {
		return Fault("start", "%s was trained on other columns: %v", name, err)
	}
	if head && reordered(a.Classes, m.Classes) {
		return Fault("start", "%s has its classes in another order: %s, and the data has %s. Its outputs would stand for other classes", name, data.List(a.Classes), data.List(m.Classes))
	}
	d.warnOfStart(a, name, head)
	return nil
}

// sameBackbone returns how the features of a model were made where the data's were not made so.
func sameBackbone(have, want *run.Backbone) error {
	switch {
	case have == nil && want == nil, have != nil && want != nil && *have == *want:
		return nil
	case have == nil:
		return errors.New("rows as they are, and here a backbone made features of them")
	case want == nil:
		return fmt.Errorf("features that a backbone made (%s), and the data has rows as they are", have.Identity())
	}
	return fmt.Errorf("features that were made in another way (%s)", have.Identity())
}

// sameColumns returns the first difference between the features of a model's columns and the data's. A model
// of no table may start a run on one, as where its rows were made elsewhere.
func sameColumns(have []run.AppliedColumn, want []data.Column) error {
	if have == nil || want == nil {
		return nil
	}
	have = slices.DeleteFunc(slices.Clone(have), func(c run.AppliedColumn) bool { return c.First < 0 })
	want = slices.DeleteFunc(slices.Clone(want), func(c data.Column) bool { return c.First < 0 })
	for i := range max(len(have), len(want)) {
		switch {
		case i >= len(have):
			return fmt.Errorf("the data has %q beside them", want[i].Name)
		case i >= len(want):
			return fmt.Errorf("the data has no %q", have[i].Name)
		}
		h, w := &have[i], &want[i]
		switch {
		case h.Name != w.Name:
			return fmt.Errorf("column %d of its features is %q, and of the data’s %q", i+1, h.Name, w.Name)
		case h.Kind != string(w.Kind) || h.First != w.First || h.Buckets != w.Buckets || h.Tokens != w.Tokens || h.Indicator != w.Indicator || h.Clock != w.Clock:
			return fmt.Errorf("%q is read in another way: it was %s, and is %s", h.Name, h.Kind, w.Kind)
		case !slices.Equal(h.Categories, w.Categories):
			return fmt.Errorf("%q has other categories, or in another order: %s, and the data has %s", h.Name, data.List(h.Categories), data.List(w.Categories))
		}
	}
	return nil
}

// reordered reports whether two lists have the same names in different orders.
func reordered(a, b []string) bool {
	return !slices.Equal(a, b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// warnOfStart names what differs between a model and the run that starts from its weights.
func (d *draft) warnOfStart(a *run.Application, name string, head bool) {
	m := &d.terms.Meta
	if head && !slices.Equal(a.Classes, m.Classes) {
		d.warn("start", "%s has other classes: %s. The data has %s.", name, data.List(a.Classes), data.List(m.Classes))
	}
	if !slices.Equal(a.Shape, m.Shape) {
		d.warn("start", "%s was trained on rows of another shape: %v. The data has %v.", name, a.Shape, m.Shape)
	}
	for i, l := range d.terms.Spec.Layers {
		if i < len(a.Layers) && a.Layers[i].Text != l.Text {
			d.warn("start", "Layer %d of %s is %s, and here %s.", i+1, name, a.Layers[i].Text, l.Text)
			break
		}
	}
	d.warnOfStartScaling(a.Scaling, name)
}

// warnOfStartScaling says where features come to another size than those that weights were trained on.
func (d *draft) warnOfStartScaling(of run.AppliedScaling, name string) {
	s := d.terms.Config.Scaling
	switch {
	case s.Kind == "declared" && of.Lo != nil: // by whatever way: a run that found bounds may have released these
		if bounds, err := d.terms.Meta.DeclaredBounds(s.Lo, s.Hi); err == nil && !sameBounds(of, bounds) {
			d.warn("start", "%s was trained with other bounds of the features: its weights meet features of another size.", name)
		}
	case of.Kind != s.Kind:
		d.warn("start", "%s was trained with the scaling %s, and this run has %s: its weights meet features of another size.", name, of.Kind, s.Kind)
	case s.Kind == "private" || s.Kind == "measured":
		d.warn("start", "This run finds bounds of its own, so that the weights of %s meet features of another size. Where its run has released bounds, declare those.", name)
	}
}

// sameBounds reports whether a model's bounds are those, but for rounding.
func sameBounds(of run.AppliedScaling, bounds []data.Bound) bool {
	close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }
	if len(of.Lo) != len(bounds) || len(of.Hi) != len(bounds) {
		return false
	}
	for i, b := range bounds {
		if !close(of.Lo[i], b.Lo) || !close(of.Hi[i], b.Hi) {
			return false
		}
	}
	return true
}
