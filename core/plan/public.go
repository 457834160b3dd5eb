package plan

import (
	"cmp"

	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/run"
)

// checkPublic refuses public rows that are not named, that cannot be mixed in, or that nobody has declared
// to be public.
func (d *draft) checkPublic() error {
	c := &d.terms.Config
	p := c.PublicRows
	switch {
	case p == (run.PublicRows{}):
		return nil
	case p.SHA256 == "":
		return Fault("public_rows", "there are no public rows: choose their file, or leave them out")
	case !run.IsSHA256(p.SHA256):
		return Fault("public_rows.sha256", "%q is no SHA-256: choose the file of public rows, or leave them out", data.Shorten(p.SHA256))
	case p.BatchSize < 1 || p.BatchSize > mostPhysicalBatch:
		return Fault("public_rows.batch_size", "%d public rows a step are not in 1 … %d", p.BatchSize, mostPhysicalBatch)
	case !(p.Weight > 0 && p.Weight < 1):
		return Fault("public_rows.weight", "%v is not between 0 and 1: 0 would leave the public rows out, and 1 the private ones", p.Weight)
	case c.Together.Parties > 0:
		return Fault("public_rows", "each party would have to mix in the same rows, and parties share none; leave public rows or the parties out")
	case d.terms.Meta.Backbone != nil:
		return Fault("public_rows", "a backbone made the features of the data, and makes none of public rows; leave one of them out")
	case !p.Public && !d.terms.NonPrivate():
		return Fault("public_rows.public", "ε promises nothing to the rows of %s, whose gradients are neither clipped nor noised. Declare that they are public, or leave them out", publicName(p))
	}
	return nil
}

func publicName(p run.PublicRows) string { return cmp.Or(data.Shorten(p.File), "the file") }

// MixIn returns the plan with the public rows that its configuration names.
//
// Guarantee: that of the plan. A step mixes a function of public rows, of the run's randomness and of
// released parameters into what it has released, which is post-processing; the configuration has
// declared the rows to be public, and the statement says so.
func (p *Plan) MixIn(rows *model.PublicRows) (*Plan, error) {
	named := p.terms.Config.PublicRows
	switch {
	case rows.Info.SHA256 != named.SHA256:
		return nil, Fault("public_rows", "the file %s has another SHA-256 (%s) than the one that public_rows names (%s): choose the file that the run is to mix in", data.Shown(rows.Info.File), rows.Info.SHA256, named.SHA256)
	case rows.Split.N == 0:
		return nil, Fault("public_rows", "%s has no row that can be mixed in", publicName(named))
	}
	n := draft(*p)
	n.terms.PublicRows = rows
	if err := n.checkMemory(); err != nil {
		return nil, err
	}
	n.describeMemory()
	n.info.PublicRows = n.terms.publicInfo()
	n.info.Guarantee = n.plan().Guarantee(n.terms.Steps, false)
	return n.plan(), nil
}

// publicRows returns the number of public rows.
func (t *Terms) publicRows() int {
	if t.PublicRows == nil {
		return 0
	}
	return t.PublicRows.Split.N
}

// publicInfo describes the public rows that the run mixes in; nil: none.
func (t *Terms) publicInfo() *run.PublicInfo {
	named := t.Config.PublicRows
	if named.SHA256 == "" {
		return nil
	}
	info := run.PublicInfo{PublicRows: named}
	if t.PublicRows != nil {
		info = t.PublicRows.Info
		info.PublicRows = named
	}
	return &info
}
