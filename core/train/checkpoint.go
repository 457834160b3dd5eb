package train

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// Checkpoint holds the state of a run, so that the run can go on when its process is gone.
//
// # Guarantee
//
// It holds what the run has released, or what was computed from that alone: parameters, those that are not
// trained as well, the optimiser's state, iterate and geometry, the threshold rule's state, thresholds,
// private bounds and principal directions, and how long it took, which is not covered by
// the run's guarantee as it never is. It has no row, no key, and no place in a stream of
// noise. Of a run without noise it holds what the run's result holds, without a
// guarantee as that. What was measured without noise before the first step is left out,
// and measured again.
type Checkpoint struct {
	state      checkpointState
	plan, data [32]byte // name what it fits
	seconds    float64
	notes      []string
	bounds     []data.Bound // of features, then of targets; nil unless they were paid for
	directions []float32    // as [input.Projection] has them; nil unless they were paid for
	frozen     []float32    // parameters that are not trained, which count as public
	seen       *seen        // by early stopping; nil where nothing is watched
}

// Step returns the number of steps that had been released when the state was taken.
func (c *Checkpoint) Step() int { return c.state.step }

// mostStateWords bounds the size of a state, to 256 MB: it takes as much twice more to be
// written.
const mostStateWords = 1 << 26

// Checkpoint returns the state of the run, no earlier than the last step that was
// reported; nil before the first. It holds until the next step.
func (r *Run) Checkpoint(ctx context.Context) (*Checkpoint, error) {
	switch {
	case r.ended:
		return nil, errors.New("train: the run has ended")
	case r.failed != nil:
		return nil, r.failed
	case len(r.course.turns) > 0:
		return nil, ErrChanged
	}
	words := len(r.work.frozen)
	for _, p := range r.state() {
		words += p.Len()
	}
	if words > mostStateWords {
		return nil, fmt.Errorf("its state takes %d MB, more than %d", words>>18, mostStateWords>>18)
	}
	s, err := r.latestState(ctx)
	if err != nil || s.step == 0 {
		return nil, err
	}
	c := &Checkpoint{state: s, seconds: r.seconds, notes: r.work.notes, frozen: r.work.frozen}
	if c.plan, c.data, err = r.plan.Names(); err != nil {
		return nil, err
	}
	features, targets := r.work.terms.PaidBounds()
	if features > 0 {
		c.bounds = eachBound(r.feed.scale.Bounds(), features)
	}
	if targets > 0 {
		c.bounds = slices.Concat(c.bounds, r.feed.targetScale.Bounds())
	}
	if r.work.terms.PCANoise > 0 {
		c.directions = r.feed.pca.Directions
	}
	if r.watch != nil {
		now := r.watch.seen
		c.seen = &now
	}
	return c, nil
}

// eachBound is the bounds of every feature, where one may stand for all.
func eachBound(bounds []data.Bound, features int) []data.Bound {
	if len(bounds) == features {
		return bounds
	}
	all := make([]data.Bound, features)
	for i := range all {
		all[i] = bounds[0]
	}
	return all
}

// ErrChanged says that a run that was changed while it went on has no checkpoint: what
// goes on from one is made by the configuration, which does not have the changes.
var ErrChanged = errors.New("it was changed while it went on, and what goes on from its state would begin without the changes")

// Why a checkpoint is not gone on from.
var (
	ErrOtherData = errors.New("the data are not those of the interrupted run")
	ErrOtherPlan = errors.New("the checkpoint is of another configuration")
	ErrFormat    = errors.New("the checkpoint is damaged, or of another version")
)

// Fits says why a run of a plan cannot go on from the checkpoint; nil: it can, unless
// the state is not of its size, which shows when it is taken up.
func (c *Checkpoint) Fits(p *plan.Plan) error {
	plan, of, err := p.Names()
	terms := p.Terms()
	f := terms.Meta.Features
	features, targets := terms.PaidBounds()
	switch {
	case err != nil:
		return err
	case c.data != of:
		return fmt.Errorf("train: %w", ErrOtherData)
	case c.plan != plan:
		return fmt.Errorf("train: %w", ErrOtherPlan)
	case len(c.bounds) != features+targets:
		return fmt.Errorf("train: %w: %d bounds of %d features and %d targets", ErrFormat, len(c.bounds), features, targets)
	case c.seen != nil && terms.Config.EarlyStopping.Monitor == "":
		return fmt.Errorf("train: %w: it watches what the run does not", ErrFormat)
	case (terms.PCANoise > 0) != (c.directions != nil) || c.directions != nil && len(c.directions) != f*terms.Inputs():
		return fmt.Errorf("train: %w: %d numbers of directions", ErrFormat, len(c.directions))
	case len(c.frozen) != terms.Spec.Frozen():
		return fmt.Errorf("train: %w: %d parameters of layers that are not trained", ErrFormat, len(c.frozen))
	}
	return nil
}

// checkpointMagic begins a checkpoint, and ends with the version of its format.
const checkpointMagic = "clipscope state\x02"

// Append appends the checkpoint to b: the magic, and then numbers of 8 bytes, the least
// significant first, but for float32 in states, directions and frozen parameters. A list follows its length.
func (c *Checkpoint) Append(b []byte) []byte {
	b = append(b, checkpointMagic...)
	b = append(append(b, c.plan[:]...), c.data[:]...)
	for _, n := range []int{c.state.step, c.state.lost} {
		b = appendCount(b, n)
	}
	b = appendFloats(b, c.seconds)
	b = appendCount(b, len(c.notes))
	for _, n := range c.notes {
		b = append(appendCount(b, len(n)), n...)
	}
	b = appendCount(b, len(c.bounds))
	for _, x := range c.bounds {
		b = appendFloats(b, x.Lo, x.Hi)
	}
	b = appendList32(appendList32(b, c.directions), c.frozen)
	b = appendFloats(appendCount(b, len(c.state.rule)), c.state.rule...)
	t := &c.state.thresholds
	for _, n := range []int{t.added, t.skips, len(t.values)} {
		b = appendCount(b, n)
	}
	b = appendFloats(b, t.values...)
	b = appendCount(b, len(c.state.parts))
	for _, p := range c.state.parts {
		b = appendList32(b, p)
	}
	if w := c.seen; w != nil {
		b = appendFloats(appendCount(appendCount(b, w.steps), w.blocks), w.sum, w.before)
		if w.why != "" {
			b = append(appendCount(b, len(w.why)), w.why...)
		}
	}
	return b
}

func appendCount(b []byte, n int) []byte { return binary.LittleEndian.AppendUint64(b, uint64(n)) }

func appendFloats(b []byte, v ...float64) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func appendList32(b []byte, v []float32) []byte {
	return append(appendCount(b, len(v)), run.FloatBytes(v)...)
}

// More parts of a state, and more notes, no run has: there is one for each interruption. An
// empty one takes less in a file than in memory.
const (
	mostParts = 1 << 6
	mostNotes = 1 << 12
)

// ReadCheckpoint reads what Append wrote, and nothing else. It takes no more memory than
// b does.
func ReadCheckpoint(b []byte) (*Checkpoint, error) {
	r := &checkpointReader{rest: b, ok: true}
	c := &Checkpoint{}
	r.ok = string(r.bytes(len(checkpointMagic))) == checkpointMagic
	copy(c.plan[:], r.bytes(len(c.plan)))
	copy(c.data[:], r.bytes(len(c.data)))
	c.state.step, c.state.lost = r.number(plan.MaxSteps), r.number(plan.MaxSteps)
	c.seconds = r.float()
	for range r.number(mostNotes) {
		c.notes = append(c.notes, string(r.bytes(r.count(1))))
	}
	if n := r.count(16); n > 0 {
		c.bounds = make([]data.Bound, n)
	}
	for i := range c.bounds {
		c.bounds[i] = data.Bound{Lo: r.float(), Hi: r.float()}
	}
	c.directions, c.frozen = r.list32(), r.list32()
	c.state.rule = r.floats(r.count(8))
	t := &c.state.thresholds
	t.added, t.skips = r.number(plan.MaxSteps), r.number(plan.MaxSteps)
	t.values = r.floats(r.count(8))
	for range r.number(mostParts) {
		c.state.parts = append(c.state.parts, r.list32())
	}
	if len(r.rest) > 0 { // where something is watched, which earlier versions did not keep
		c.seen = &seen{steps: r.number(plan.MaxSteps), blocks: r.number(plan.MaxSteps), sum: r.float(), before: r.float()}
		if len(r.rest) > 0 { // where it has ended the run
			c.seen.why = string(r.bytes(r.count(1)))
			r.ok = r.ok && c.seen.why != ""
		}
	}
	taken := c.state.step - c.state.lost // none where all steps were void
	if !r.ok || len(r.rest) > 0 || c.state.step < 1 || taken < 0 || !(c.seconds >= 0) || t.added != taken || !t.whole() {
		return nil, fmt.Errorf("train: %w", ErrFormat)
	}
	return c, nil
}

// checkpointReader takes apart the bytes of a checkpoint. Once something is amiss it is
// not ok, and all that it reads is nothing.
type checkpointReader struct {
	rest []byte
	ok   bool
}

func (r *checkpointReader) bytes(n int) []byte {
	if r.ok = r.ok && n <= len(r.rest); !r.ok {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// number is a whole number up to most.
func (r *checkpointReader) number(most int) int {
	b := r.bytes(8)
	if b == nil {
		return 0
	}
	n := binary.LittleEndian.Uint64(b)
	if r.ok = n <= uint64(most); !r.ok {
		return 0
	}
	return int(n)
}

// count is the length of a list whose elements take so many bytes at least.
func (r *checkpointReader) count(size int) int { return r.number(len(r.rest) / size) }

func (r *checkpointReader) float() float64 {
	if b := r.bytes(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *checkpointReader) floats(n int) []float64 {
	if n == 0 {
		return nil
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = r.float()
	}
	return v
}

func (r *checkpointReader) list32() []float32 {
	b := r.bytes(4 * r.count(4))
	if len(b) == 0 {
		return nil
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}
