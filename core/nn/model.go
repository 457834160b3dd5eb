package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// Loss is a loss over a batch of outputs z [n×k] and targets.
type Loss string

const (
	SoftmaxCE  Loss = "softmax-ce"  // targets [n] are class indices
	SigmoidBCE Loss = "sigmoid-bce" // targets [n×k] in [0, 1]
	Squared    Loss = "squared"     // targets [n×k]; ½‖z−t‖²
)

// Model is a chain of layers with a loss, made for batches of up to Capacity
// examples. It may take several views of each, such as an image and its mirror image:
// an example's loss is then the mean of theirs, and its gradient one gradient, that of
// this mean (augmentation multiplicity, De et al. 2022).
type Model struct {
	Spec
	Capacity int

	be     compute.Backend
	layers []Layer
	sites  []Site         // of all layers
	groups []int          // the group of each
	params compute.Buffer // of all layers that are trained
	still  compute.Buffer // of those that are not

	n        int    // examples of the last pass
	views    *views // of each
	tokens   *tokens
	dropping *dropping
	x, z     compute.Buffer // of the last pass; x is not owned
	dz, part compute.Buffer
	each     compute.Buffer // losses of views, where there are several
}

// New builds the model, for batches of up to capacity examples with up to so many
// views of each, or one where the model takes tokens; its parameters are zero until Init, and those that are not trained until they are
// written.
func New(be compute.Backend, spec Spec, capacity, most int) *Model {
	m := &Model{Spec: spec, Capacity: capacity, be: be, params: be.New(spec.Params()), views: &views{count: 1, spare: scratch{be: be}}, tokens: &tokens{}, dropping: &dropping{p: spec.Dropout}}
	some := &anew{values: spec.anew, most: spec.Anew(capacity), g: scratch{be: be}, gg: scratch{be: be}, row: scratch{be: be}}
	some.g.of(some.most)
	if most > 1 && some.most > 0 {
		m.views.spare.of(max(some.most, capacity*spec.mostKept()))
	}
	b := &builder{be: be, from: &arena{m.params}, capacity: capacity, most: most, views: m.views, anew: some, tokens: m.tokens, dropping: m.dropping}
	if n := spec.Frozen(); n > 0 {
		m.still = be.New(n)
		b.still = &arena{m.still}
	}
	first, head := spec.frozen.parts, spec.frozen.until
	frozen := *b
	frozen.dropping, frozen.how = &dropping{}, still
	m.layers = build(&frozen, spec.placed[:first], false)
	b.how, b.low = spec.frozen.between, spec.frozen.low
	m.layers = append(m.layers, build(b, spec.placed[first:head], false)...)
	b.how = whole
	m.layers = append(m.layers, build(b, spec.placed[head:], head > first)...)
	m.sites = sitesOf(m.trained())
	m.groups = spec.groupsOf(m.sites)
	m.dz, m.part = b.rows(m.Outputs()), b.examples(1)
	if most > 1 {
		m.each = b.rows(1)
	}
	return m
}

// trained returns the layers behind those that are frozen.
func (m *Model) trained() []Layer { return m.layers[m.frozen.parts:] }

// Init draws all parameters that are trained.
func (m *Model) Init(rng *rand.Rand) { initAll(m.trained(), rng) }

// All is every parameter that is trained, one after the other: what Params are parts of.
func (m *Model) All() compute.Buffer { return m.params }

// Still is every parameter that is not trained, one after the other, which are [Spec.Frozen] many and zero until they
// are written; nothing where there is none.
func (m *Model) Still() compute.Buffer { return m.still }

// Params are all that are trained, site by site: the order of every flattened gradient.
func (m *Model) Params() []compute.Buffer {
	var all []compute.Buffer
	for _, s := range m.Sites() {
		all = append(all, s.Params()...)
	}
	return all
}

// Sites returns the sites of the layers that are trained.
func (m *Model) Sites() []Site { return m.sites }

// eachSite calls f with every site, its number, and the place of its first tensor
// among Params.
func (m *Model) eachSite(f func(s Site, i, first int)) {
	first := 0
	for i, s := range m.sites {
		f(s, i, first)
		first += len(s.Params())
	}
}

// Forward runs so many views of n examples, x [views×n×features], first views first,
// and returns the outputs [views×n×k]. It drops no units.
func (m *Model) Forward(x compute.Buffer, n, views int) compute.Buffer {
	m.dropping.on = false
	return m.pass(x, n, views)
}

func (m *Model) pass(x compute.Buffer, n, views int) compute.Buffer {
	m.x, m.n, m.views.count = x, n, views
	m.z = forward(m.layers, x, n*views)
	return m.z
}

// Before returns what the frozen layers make of n rows x [n×features]: [n×width], of [Spec.Before].
func (m *Model) Before(x compute.Buffer, n int) compute.Buffer {
	return forward(m.layers[:m.frozen.parts], x, n)
}

// After is [Model.ForwardDropping] of one view of n rows x, of which Before has made h [n×width], and without keys
// [Model.Forward]: a row's outputs are the same, to the bit.
func (m *Model) After(x, h, keys compute.Buffer, n int) compute.Buffer {
	m.dropping.keys, m.dropping.on = keys, m.dropping.p > 0 && keys.Memory != nil
	m.x, m.n, m.views.count, m.tokens.x = x, n, 1, x
	m.z = forward(m.trained(), h, n)
	return m.z
}

var kinds = map[Loss]kernel.LossKind{SoftmaxCE: kernel.SoftmaxCE, SigmoidBCE: kernel.SigmoidBCE, Squared: kernel.Squared}

// Losses writes each example's loss to dst [n] for the last Forward, and prepares
// the gradient that Backward starts from. targets has those of every view.
func (m *Model) Losses(targets, dst compute.Buffer) {
	v, rows := m.views.count, m.n*m.views.count
	if v == 1 {
		kernel.Loss(m.be, kinds[m.Loss], rows, m.Outputs(), m.z, targets, dst, m.dz)
		return
	}
	kernel.Loss(m.be, kinds[m.Loss], rows, m.Outputs(), m.z, targets, m.each, m.dz)
	kernel.Scale(m.be, rows*m.Outputs(), 1/float32(v), m.dz)
	kernel.Fill(m.be, m.n, 0, dst)
	for i := range v {
		kernel.Axpy(m.be, m.n, 1/float32(v), m.each.Slice(i*m.n, m.n), dst)
	}
}

// Smooth adds pulls [views×n×k] to the gradients by the outputs that Losses prepared.
func (m *Model) Smooth(pulls compute.Buffer) {
	kernel.Axpy(m.be, m.n*m.views.count*m.Outputs(), 1, pulls, m.dz)
}

// WeighLosses scales the loss of every view of every example by its factor [views×n] before
// Backward, as class weights and value clipping do.
func (m *Model) WeighLosses(factors compute.Buffer) {
	kernel.ScaleRows(m.be, m.n*m.views.count, m.Outputs(), factors, m.dz, m.dz)
}

// Backward carries the losses' gradients back through all layers that are trained.
func (m *Model) Backward() { backward(m.trained(), m.dz, false) }

// Norms joins an upper bound on each example's gradient norm [n] to dst: to the
// one buffer of dst over all parameters, or to one for each of Groups.
func (m *Model) Norms(dst []compute.Buffer) {
	m.eachSite(func(s Site, i, _ int) { s.Norms(dst[min(m.groups[i], len(dst)-1)]) })
}

// Add adds Σ_i each(factors_i·g_i) to dst, sums for each of Params, as
// [Site.Add]. factors holds one buffer [n] for all, or one for each of Groups; with
// none they are ones.
func (m *Model) Add(dst []compute.Sums, factors []compute.Buffer, each kernel.Each) {
	m.eachSite(func(s Site, i, first int) {
		var f compute.Buffer
		if len(factors) > 0 {
			f = factors[min(m.groups[i], len(factors)-1)]
		}
		s.Add(dst[first:], f, each)
	})
}

// Predictions are the last Forward's outputs [n×k], of the first views.
func (m *Model) Predictions() compute.Buffer { return m.z }

// ScaledSqNorms adds to dst [n] an upper bound on each example's squared gradient
// norm in the coordinates c, over all parameters.
func (m *Model) ScaledSqNorms(dst compute.Buffer, c Coordinates) {
	m.eachSite(func(s Site, i, first int) {
		k := first + len(s.Params())
		// Each site's slack is for its own terms: it may not be lost in those
		// of the sites before.
		kernel.Fill(m.be, m.n, 0, m.part)
		s.ScaledSqNorms(m.part, Coordinates{Inv: c.Inv[first:k], Lin: c.Lin[first:k], Offsets: c.Offsets.Slice(i, 1), Largest: c.Largest})
		kernel.Axpy(m.be, m.n, 1, m.part, dst)
	})
	kernel.Scale(m.be, m.n, 1+float32(len(m.sites)+2)*0x1p-23, dst)
}

// Dots adds every example's ⟨g_i, v⟩ to dst [n], v with one buffer for each of Params.
func (m *Model) Dots(dst compute.Buffer, v []compute.Buffer) {
	m.eachSite(func(s Site, _, first int) { s.Dots(dst, v[first:first+len(s.Params())]) })
}

// Gram adds the inner products ⟨g_i, g_j⟩ of the examples' gradients to dst [n×n].
func (m *Model) Gram(dst compute.Buffer) {
	for _, s := range m.sites {
		s.Gram(dst)
	}
}
