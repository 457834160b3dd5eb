package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Sampler draws Poisson batches: each of n rows enters independently with
// probability q.
type Sampler struct {
	n   int
	q   float64
	log float64 // ln(1−q)
}

// NewSampler returns the sampler of n rows at rate sampleRate, or an error that
// says which of them is impossible. Zero rows, and rates of 0 and 1, are legal.
func NewSampler(n int, sampleRate float64) (Sampler, error) {
	if n < 0 {
		return Sampler{}, fmt.Errorf("privacy: a data set cannot have %d rows", n)
	}
	if !(sampleRate >= 0 && sampleRate <= 1) {
		return Sampler{}, fmt.Errorf("privacy: sample_rate %v is not in [0, 1]: expected_batch_size may not exceed the number of rows", sampleRate)
	}
	return Sampler{n, sampleRate, math.Log1p(-sampleRate)}, nil
}

// Append appends the indices of one batch to dst, in rising order, and returns
// it. The batch may be empty; a step is taken and counted all the same.
//
// It draws the gaps between members, which are geometric, so it costs the batch
// and not the data set. A gap is ⌊ln U/ln(1−q)⌋ with U uniform on the 2⁵³
// midpoints of (0, 1).
//
// Guarantee: src being uniform, one batch's distribution is within
// (qn + 2)·2⁻⁴⁹ in total variation of independent draws with probability q (2⁻⁵³
// from the grid of U, the rest from rounding of the logarithms), which adds
// less than 1e-9 to δ over 10⁴ batches of 600.
func (s Sampler) Append(dst []int, src rand.Source) []int {
	if s.q == 0 {
		return dst
	}
	for i := 0; i < s.n; i++ {
		if s.q < 1 {
			u := (float64(src.Uint64()>>11) + 0.5) * 0x1p-53
			gap := math.Log(u) / s.log
			if gap >= float64(s.n-i) {
				break
			}
			i += int(gap)
		}
		dst = append(dst, i)
	}
	return dst
}
