package plan

import (
	"strings"

	"clipscope/core/data"
)

// shares lists the shares of ε that private bounds get unless the user says otherwise: the first
// with which they work, or else the last, as bounds that are wrong cost a small table
// more than noise does (core/data/RATIONALE.md).
var shares = [...]float64{0.1, 0.2, 0.3}

// chooseScale settles the kind of scaling and what it costs. Bounds that cost
// something are released when the run starts, not before: planning must be free.
func (d *draft) chooseScale() error {
	s := &d.terms.Config.Scaling
	if s.Kind == "" {
		s.Kind = d.terms.defaultScaling()
	}
	if err := d.checkTokens(); err != nil {
		return err
	}
	switch s.Kind {
	case "none", "row", "measured", "private":
	case "declared":
		if err := d.terms.Meta.CheckDeclared(s.Lo, s.Hi); err != nil {
			return FaultOf("scaling", err)
		}
	default:
		return Fault("scaling.kind", "there is no scaling %q; choose declared, row, private, measured or none", s.Kind)
	}
	if err := d.chooseTarget(); err != nil {
		return err
	}
	if s.Kind == "private" || s.Target == "private" {
		return d.chooseShare()
	}
	if s.Share == 0 {
		s.Share = shares[0]
	}
	return nil
}

// mostPadded bounds the tokens that a model knows beyond its tokenizer's: widths of tables are multiples of 64 or 128.
const mostPadded = 128

// checkTokens refuses what would turn tokens into other numbers, or take them for some.
func (d *draft) checkTokens() error {
	first, c := d.terms.Spec.Layers[0].Text, &d.terms.Config
	had, taken, types := d.terms.Meta.Vocabulary(), d.terms.Spec.Vocabulary(), d.terms.Spec.Types()
	known := taken / max(types, 1) // of each type
	tokenizer, started := d.terms.Meta.Backbone.KnownTokens() > 0, c.Start.SHA256 != ""
	switch {
	case had > 0 && taken == 0:
		return Fault("model.kind", "the rows are letters, words or tokens in their order, whose numbers the model's first layer, %s, would take for amounts; choose layers that begin with embedding:%d:16, or read the column as text", first, had)
	case taken == 0:
		return nil
	case had == 0 && len(data.TextColumns(d.terms.Meta.Columns)) > 0:
		or := ", or read the column as words in order"
		if started {
			or = "" // its weights are of other tokens
		}
		return Fault("model.layers", "the model's first layer, %s, takes tokens, and the rows are texts without: under Data, “Use a backbone (ONNX) or a tokenizer”, choose the tokenizer that came with the model%s", first, or)
	case started && !tokenizer && had > known:
		return Fault("model.layers", "the rows have %d different tokens, and the model's first layer, %s, knows %d: have the column read as it was for this model, of a transformer as text, with tokens made by its tokenizer", had, first, known)
	case tokenizer && types > 1 && d.terms.Meta.Backbone.Types == 0 && had > known:
		return Fault("model.layers", "the rows have %d different tokens, and the model's first layer, %s, knows %d; choose the tokenizer that came with the model", had, first, known)
	case d.terms.Meta.Backbone.CheckTypes(taken, types) != "":
		return Fault("model.layers", "%s", d.terms.Meta.Backbone.CheckTypes(taken, types))
	case had > taken:
		return Fault("model.layers", "the rows have %d different tokens, and the model's first layer, %s, knows %d; write embedding:%d:16", had, first, taken, had)
	case tokenizer && started && d.terms.Meta.Backbone.Types == 0 && min(had+mostPadded, 2*had) < known:
		d.remark("model", "The tokenizer knows %d tokens, and the model %d: is it the one that came with the model?", had, known)
	case tokenizer && d.terms.Meta.Backbone.Second != "" && d.terms.Meta.Backbone.Types == 0 && types > 1:
		d.remark("model", "The model tells the two texts of a row apart by their tokens’ types, and the features have none: have them made with types.")
	}
	switch {
	case c.Scaling.Kind != "none":
		return Fault("scaling.kind", "the model's first layer, %s, takes numbers for tokens, which scaling %q would change; choose none", first, c.Scaling.Kind)
	case c.PCA.Components > 0:
		return Fault("pca.components", "the model's first layer, %s, takes numbers for tokens, and directions of PCA have none; leave it out", first)
	}
	return nil
}

// chooseTarget settles where the bounds of targets come from.
func (d *draft) chooseTarget() error {
	const field = "scaling.target"
	s, declared := &d.terms.Config.Scaling, d.terms.Meta.TargetBounds
	if d.terms.Meta.Task != data.Regression {
		if s.Target != "" && s.Target != "none" {
			return Fault(field, "targets are scaled where they are numbers, and this data has classes; leave it out, or choose none")
		}
		return nil
	}
	last := d.terms.Spec.Layers[len(d.terms.Spec.Layers)-1]
	dense := strings.HasPrefix(last.Text, "dense")
	if by := s.TargetOf(d.terms.Meta.Facts()); dense || s.Target != "" {
		s.Target = by
	} else if s.Target = "none"; by != "none" {
		d.remark(field, "Targets stay as they are: the model's last layer, %s, is not dense, and could not take a scaling back. If they are far from 1, end with dense.", last.Text)
	}
	switch {
	case s.Target == "none":
		return nil
	case s.Target != "declared" && s.Target != "private":
		return Fault(field, "there is no scaling of targets %q; choose declared, private or none", s.Target)
	case !dense:
		return Fault(field, "the model's last layer, %s, is not dense, and so cannot take the scaling of targets back; choose none, or end with dense:%d", last.Text, d.terms.Meta.Outputs)
	case s.Target == "declared" && declared == nil:
		return Fault(field, "nothing is declared of the targets; state the bounds of the label's column (csv.bounds, on the page where the table shows how it is read), or choose private or none")
	case s.Target == "declared":
		if _, err := data.NewTargetScale(declared); err != nil {
			return FaultOf(field, err)
		}
	}
	return nil
}

// defaultScaling returns a kind that is free where bounds are public, or a model made the features, and private for tables.
func (t *Terms) defaultScaling() string {
	switch {
	case t.Spec.Vocabulary() > 0:
		return "none"
	case t.Meta.Bounds != nil:
		return "declared"
	case t.Meta.Backbone != nil:
		return "row" // free, whatever the size of what a model gives
	case t.Meta.Columns != nil && len(t.Meta.NumericFeatures()) > 0:
		return "private"
	default:
		return "none"
	}
}

// chooseShare charges the private bounds' share of ε before the first step.
func (d *draft) chooseShare() error {
	s := &d.terms.Config.Scaling
	given := s.Share != 0
	if !given {
		s.Share = shares[0]
	}
	if d.terms.sought() == (data.Sought{}) {
		return nil
	}
	var err error
	for i := 1; ; i++ {
		if d.terms.BoundsNoise, err = d.priced("scaling.share", s.Share); err != nil {
			return err
		}
		if given || i == len(shares) || d.terms.boundsShow() {
			break
		}
		s.Share = shares[i]
	}
	d.spend(d.terms.BoundsNoise, d.terms.sought().Len())
	return nil
}

// boundsShow reports whether private bounds can be expected to work: half of the rows,
// where they lie within a factor of two, stand out of the noise.
func (t *Terms) boundsShow() bool {
	feature, target := t.sought().Noise(t.BoundsNoise)
	return t.shows(feature) && t.shows(target)
}

func (t *Terms) shows(o data.Obstacle) bool { return o.Least <= float64(t.Meta.TrainRows)/2 }

// warnOfBounds says before the run what private bounds will come up against, by the
// formula that decides in it.
func (d *draft) warnOfBounds() {
	if d.terms.BoundsNoise == 0 {
		return
	}
	n := d.terms.Meta.TrainRows
	can := func(o data.Obstacle) string {
		if o.Least > float64(n) {
			return "cannot work"
		}
		return "will hardly work"
	}
	const advice = "although they cost %.3g of ε. Declare the bounds that you know, or take a larger ε."
	feature, target := d.terms.sought().Noise(d.terms.BoundsNoise)
	if !d.terms.shows(feature) {
		d.warn("scaling.kind", "Private bounds %s on this data: each count gets noise of ±%.0f rows, so that where a column's values lie shows only if some %.0f rows are within a factor of two of each other, and there are %d. "+
			"Bounds of %d columns will be guesses, "+advice, can(feature), feature.Std, feature.Least, n, d.terms.sought().Features, d.terms.Config.Scaling.Share)
	}
	if !d.terms.shows(target) {
		d.warn("scaling.target", "Private bounds of the target %s on this data: each count gets noise of ±%.0f rows, so that where targets lie shows only if some %.0f rows are within a factor of two of each other, and there are %d. "+
			"They will be guesses, and so will all answers, "+advice, can(target), target.Std, target.Least, n, d.terms.Config.Scaling.Share)
	}
}
