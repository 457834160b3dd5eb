package train

import (
	"context"
	"errors"
	"fmt"

	"clipscope/core/clip"
	"clipscope/core/compute/kernel"
	"clipscope/core/plan"
	"clipscope/core/privacy"
)

// Exchange is where the parties of a run meet: package together has what is behind it.
type Exchange interface {
	// Common is a key that all parties have, and everybody may have: first parameters are drawn from it.
	Common() privacy.Key
	// Transcript is a hash of everything that all parties were told, in hexadecimal.
	Transcript() string
	// Settled reports whether what a step comes to is there already: nothing of this party will be in it, and
	// its rows need not be looked at.
	Settled(step int) bool
	// Sum hands in this party's words of a step and returns the sum of all parties' words, modulo 2³² each. It is nil
	// where the step is void: a party has not answered, and nothing can be told of the others' words. Each step
	// is asked for once, in turn.
	Sum(ctx context.Context, step int, words []uint32) ([]uint32, error)
	// Present lists the parties that the last step was asked of.
	Present() []int
}

// errVoid says that a step has no sum.
var errVoid = errors.New("train: the step is void")

// shared is secure noise of which this party draws a share, and whose sums are those of all parties.
//
// # Guarantee
//
// What leaves is, number by number, a whole multiple of the unit with this party's share of the noise in it,
// modulo 2³². A row adds to one party's sum alone, and no more than with secure noise. So for those who know
// only the sum of all it costs what the noise of all shares costs, and for those who know all other parties'
// words what one share costs ([privacy.Shares]). The threshold rule's statistic leaves in the same words, with noise
// shared alike. A void step was asked for and is charged as any other.
type shared struct {
	*secure
	shares plan.Shared
	unit2  float64 // the statistic's
	words  []uint32
	// squares are those of the noise in words, in units and by tensor, and deviation is what it was drawn with.
	squares   []float64
	deviation float64
}

func init() {
	register(kind{name: "shared", whole: true, open: func(w *workspace) mechanism { return newShared(newGaussian(w)) },
		fits: func(_ *clip.Clipper, n plan.Noise) bool { _, several := n.(plan.Shared); return several }})
}

func newShared(g *gaussian) *shared {
	n := g.terms.Noise.(plan.Shared)
	s := &shared{secure: newDrawn(g, n.Grid(&g.terms)), shares: n}
	if g.query != nil {
		s.unit2 = n.StatisticUnit(&g.terms)
	}
	return s
}

// release hands this party's words in and leaves the sum of all in the gradient and in the
// statistic. Of a void step it leaves zeros.
func (s *shared) release(ctx context.Context, p Part, step int) error {
	if err := s.write(ctx, p, step); err != nil {
		return err
	}
	sum, err := s.others.Sum(ctx, step, s.words)
	if err != nil { // the run ends before this step
		return fmt.Errorf("train: step %d: %w", step+1, err)
	}
	s.checkShare(s.squares, s.deviation)
	switch {
	case sum == nil:
		kernel.Fill(s.be, s.gradient.Len(), 0, s.gradient)
		return errVoid
	case len(sum) != len(s.words):
		return fmt.Errorf("train: step %d: a sum of %d words, not of %d", step+1, len(sum), len(s.words))
	}
	d := s.gradient.Len()
	for i, w := range sum[:d] {
		s.noisy[i] = float32(float64(int32(w)) * s.grid)
	}
	s.be.Write(s.gradient, s.noisy[:d])
	for i, w := range sum[d:] {
		p.statistic[i] = float64(int32(w)) * s.unit2
	}
	return nil
}

// write makes the words of a step: sums, and then the statistic, with this party's share of noise.
func (s *shared) write(ctx context.Context, p Part, step int) error {
	s.words = s.words[:0]
	noise, err := s.shares.Noise(s.terms.GradNoise*s.sensitivity(), s.grid)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	s.squares, s.deviation = make([]float64, len(p.sums)), noise.Deviation()
	err = s.eachDrawn(ctx, p, step, noise, func(tensor int, z, noise int64) {
		s.words = append(s.words, uint32(z+noise))
		s.squares[tensor] += float64(noise) * float64(noise)
	})
	if err != nil {
		return err
	}
	if s.query == nil {
		return nil
	}
	if noise, err = s.shares.Noise(s.query.NoiseStd, s.unit2); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	src := s.key.Stream(privacy.Statistic, 0, uint64(step))
	for _, x := range p.statistic {
		s.words = append(s.words, uint32(int64(x/s.unit2)+noise.Draw(src)))
	}
	return nil
}

// checkShare tests the noise of a step that was taken, of so large squares by tensor, in units.
func (s *shared) checkShare(squares []float64, deviation float64) {
	t := s.watch
	if t == nil {
		return
	}
	t.added++
	least, _ := t.promised()
	t.measured(squares, s.shares.Of(least, 1)/s.grid, deviation/s.grid, func(i int) int { return s.grads[i].Len() })
}
