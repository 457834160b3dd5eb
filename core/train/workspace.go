package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"clipscope/core/chacha"
	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/nn"
	"clipscope/core/plan"
	"clipscope/core/privacy"
)

// workspace holds the parts of a run that all others work on: the backend, the terms of the
// plan, the key, the model, and the gradient's memory. All buffers are made once, so that
// memory stays flat however long a run goes on.
type workspace struct {
	be      *compute.Scope
	terms   plan.Terms
	key     privacy.Key
	common  privacy.Key   // what [privacy.Init] is drawn from: key, or one that all parties have
	others  Exchange      // nil: a run alone
	clipper *clip.Clipper // with its rule, which moves
	query   *clip.Query   // of that rule
	kind    *kind         // of mechanism
	rows    int           // most rows that a sum over the data has
	space                 // on this backend
	refused string        // note for the owner where the backend has less memory than was asked for

	model    *nn.Model
	frozen   []float32        // parameters that are not trained; nil where there are none
	gradient compute.Buffer   // released, of all parameters that are trained
	grads    []compute.Buffer // its parts, by tensor
	drawing  []int            // the tensors, in the order in which their noise is drawn
	scalar   compute.Buffer
	report   *report
	factors  []compute.Buffer // one, or one for each group
	watch    *noiseTest       // nil: a run without noise
	notes    []string         // that the owner must see in the result
}

// newWorkspace settles what a run needs before its model: a key of its own, unless the seed
// is fixed, a clipper, the kind of mechanism, and the size of a physical batch.
func newWorkspace(be compute.Backend, terms plan.Terms, trainRows int, others Exchange) (*workspace, error) {
	w := &workspace{be: compute.NewScope(be), terms: terms, rows: trainRows, others: others}
	if (others != nil) != (terms.Config.Together.Parties > 0) {
		return nil, plan.Fault("together.parties", "a run of several parties begins where they meet, and one alone does not")
	}
	if n := terms.Config.NumExamples; n > 0 {
		w.rows = n * privacy.MostPerDeclared
	}
	var err error
	if w.key, err = privacy.KeyOf(terms.Config.Seed); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if w.common = w.key; others != nil {
		w.common = others.Common()
	}
	if w.clipper, err = terms.NewClipper(); err != nil {
		return nil, err
	}
	w.query = w.clipper.Rule.Query()
	if w.kind, err = kindOf(w.clipper, terms.Noise); err != nil {
		return nil, err
	}
	return w, w.reserve(be)
}

// reserve has a backend with memory of its own reserve the run's, and takes physical batches
// of as many rows as there is room for.
func (w *workspace) reserve(be compute.Backend) (err error) {
	if w.space, err = spaceOn(be, w.terms); err != nil {
		return err
	}
	w.terms = w.onSpace(w.terms)
	if w.capacity < w.asked {
		w.refused = fmt.Sprintf("%s has memory for %d rows at once, not for %d: each step took them in more parts. The result does not depend on it.",
			cmp.Or(compute.DeviceOf(be), be.Name()), w.capacity, w.asked)
	}
	return nil
}

// onSpace returns terms as the run's space has them.
func (s space) onSpace(t plan.Terms) plan.Terms {
	if s.anew > 0 {
		return t.FormedAnew(s.anew)
	}
	return t
}

// space describes a run's rows in the memory of a backend.
type space struct {
	capacity, asked int  // rows that go through the model at once, and those that would without a limit
	resident        bool // all rows stay there
	// anew is the number of values of gradients that are formed at a time, so that more rows go through the model than they
	// could be kept of; 0 where they are kept.
	anew int64
	kept bool // what frozen layers make of all rows stays there, or here where the backend has no memory of its own
}

// spaceOn reserves a run's memory on be. A backend without memory of its own has the plan's capacity. One
// that has no room for a row is refused with an error that wraps [compute.ErrLost]: the run
// needs another backend.
//
// Guarantee: that of the plan. The space depends on the terms and the machine, and on no row.
func spaceOn(be compute.Backend, t plan.Terms) (s space, err error) {
	r, ok := be.(compute.Reserver)
	if !ok {
		return space{capacity: t.Capacity, asked: t.Capacity, kept: t.Kept() > 0}, nil
	}
	s.asked = t.CapacityIn(math.MaxInt64)
	rows, before := t.Resident(), t.Kept()
	sizes := roomFor(&t, s.asked)
	for _, values := range anewValues {
		if anew := t.FormedAnew(values); anew.Room(s.asked) < t.Room(s.asked) {
			sizes = append(sizes, roomFor(&anew, s.asked)...)
		}
	}
	room, err := r.Reserve(sizes...)
	if err != nil {
		return s, fmt.Errorf("train: memory for the run: %w", err)
	}
	kept := t
	for _, values := range anewValues {
		if anew := kept.FormedAnew(values); anew.CapacityIn(room) > t.CapacityIn(room) {
			t, s.anew = anew, values
		}
	}
	left := room - t.Room(s.asked)
	s.capacity = t.CapacityIn(room)
	switch {
	case before == 0:
	case left >= before:
		s.kept, left = true, left-before
	case left < 0: // a quarter of the rows at once is worth less than that none is made anew
		if n := t.CapacityIn(room - before); 4*n >= max(3*s.capacity, 1) {
			s.kept, s.capacity = true, n
		}
	}
	if s.capacity == 0 {
		return s, fmt.Errorf("train: %w: the run needs %d bytes there, and there is room for %d", compute.ErrLost, t.Room(1), room)
	}
	s.resident = rows > 0 && left >= rows
	return s, nil
}

// anewValues holds the numbers of values of gradients that are formed at a time, of which the first is taken that leaves
// room for most rows: a gigabyte has those of 64 rows of the largest convolution of a ResNet-18, and 256 MB those of 16, whose
// tiles are still a GPU's processors twenty times over.
var anewValues = [...]int64{1 << 28, 1 << 27, 1 << 26}

// roomFor returns the sizes of memory for so many rows at once, the most first: with all rows, with what frozen
// layers make of them, with both, and with neither.
func roomFor(t *plan.Terms, capacity int) []int64 {
	rows, kept := t.Resident(), t.Kept()
	sizes := []int64{t.Room(capacity)}
	for _, more := range []int64{rows, kept, rows + kept} {
		if size := sizes[len(sizes)-1] + more; size != sizes[0] {
			sizes = append([]int64{size}, sizes...)
		}
	}
	return sizes
}

// makeModel makes the model, and the gradient's memory.
func (w *workspace) makeModel() {
	w.model = nn.New(w.be, w.terms.Spec, w.capacity, w.terms.Config.Augmentation.Multiplicity)
}

// makeGradient makes the gradient's memory.
func (w *workspace) makeGradient() {
	w.gradient = w.be.New(w.terms.Spec.Params())
	at := 0
	for _, p := range w.model.Params() {
		w.grads = append(w.grads, w.gradient.Slice(at, p.Len()))
		w.drawing = append(w.drawing, len(w.drawing))
		at += p.Len()
	}
	// Threads may still be at the last one when others go on; a GPU draws in one call what stands side by side.
	if !w.be.Adjoins() {
		slices.SortStableFunc(w.drawing, func(i, j int) int { return w.grads[i].Len() - w.grads[j].Len() })
	}
	w.scalar = w.be.New(1)
}

// lengths returns the numbers of values of the tensors.
func (w *workspace) lengths() (all []int) {
	for _, p := range w.model.Params() {
		all = append(all, p.Len())
	}
	return all
}

// makeReport makes the memory that measuring a physical batch takes.
func (w *workspace) makeReport() {
	groups := 1
	if w.clipper.Grouping == clip.PerLayer && w.clipper.Source != clip.Bounded {
		groups = w.terms.Spec.Groups()
	}
	w.report = newReport(w.be, w.model.Capacity, groups)
	kernel.Fill(w.be, w.model.Capacity, 1, w.report.keep)
	for range groups {
		w.factors = append(w.factors, w.be.New(w.model.Capacity))
	}
}

// stream returns the source of random choices for one purpose and step.
func (w *workspace) stream(purpose privacy.Purpose, step int) *chacha.Stream {
	if purpose == privacy.Init {
		return w.common.Stream(purpose, 0, uint64(step))
	}
	return w.key.Stream(purpose, 0, uint64(step))
}

// noiseKey names the noise of one tensor in a step.
func (w *workspace) noiseKey(tensor, step int) (compute.NoiseKey, error) {
	return w.key.NoiseKey(privacy.Noise, tensor, uint64(step))
}

// countNoise draws n numbers of deviation std for a release of counts, multiples of
// unit, for one purpose and step: once each, or noise would repeat.
func (w *workspace) countNoise(purpose privacy.Purpose, step int, std, unit float64, n int) ([]float64, error) {
	if std == 0 {
		return make([]float64, n), nil
	}
	return w.kind.counts(w.key, purpose, step, std, unit, n)
}

// statedSensitivity returns the clipper's own: of a sum of real numbers.
func (w *workspace) statedSensitivity() float64 { return w.clipper.Sensitivity(w.terms.Spec.Params()) }

// readSums reads the sums of all tensors, one after the other, into dst.
func (w *workspace) readSums(ctx context.Context, dst []float64, from []compute.Sums) error {
	for _, s := range from {
		if err := kernel.ReadSums(ctx, w.be, dst[:s.Len()], s); err != nil {
			return fmt.Errorf("train: %w", err)
		}
		dst = dst[s.Len():]
	}
	return nil
}

// parameters returns all of the model's that are trained, one tensor after the other: read in pieces, as
// what is fetched is a copy.
func (w *workspace) parameters(ctx context.Context) ([]float32, error) {
	const piece = 1 << 20
	v := make([]float32, w.terms.Spec.Params())
	for at := 0; at < len(v); at += piece {
		part := v[at:min(at+piece, len(v))]
		if err := compute.Read(ctx, w.be, part, w.model.All().Slice(at, len(part))); err != nil {
			return nil, fmt.Errorf("train: reading parameters: %w", err)
		}
	}
	return v, nil
}
