package privacy

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
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
// and not the data set.
//
// Guarantee: src being uniform, the batch's distribution is that of independent
// draws with probability q, the float64, exactly: nothing is left to charge to δ.
func (s Sampler) Append(dst []int, src rand.Source) []int {
	if s.q == 0 {
		return dst
	}
	for i := 0; i < s.n; i++ {
		if s.q < 1 {
			gap := s.gap(s.n-i, src)
			if gap == s.n-i {
				break
			}
			i += gap
		}
		dst = append(dst, i)
	}
	return dst
}

// gap is the number of rows that are passed over before the next member, or rest
// where that is less: the largest g ≤ rest with U < (1−q)^g for U uniform on
// (0, 1), as a gap is at least g with probability (1−q)^g. That is the floor of
// ln U/ln(1−q). U is a real number whose binary digits are drawn as they are
// needed. The first 64 and the floating-point quotient nearly always settle it:
// where the floor is the same for all that the quotient's error leaves open, it is
// the answer, and only otherwise, once in 2⁴⁸·q/2 draws or so, are the powers
// compared with more digits.
func (s Sampler) gap(rest int, src rand.Source) int {
	u := src.Uint64()
	least, most := 0, rest
	if u >= 1<<12 {
		// U is within 2⁻⁶⁴ of u·2⁻⁶⁴, which is at least 2⁻⁵² of itself, and a
		// float64 is within 2⁻⁵³: ln U is good to 2⁻⁵⁰ and the logarithms'
		// roundings are of 2⁻⁵² of themselves each. The margin is four times all
		// of that.
		l := -math.Log(float64(u) * 0x1p-64)
		margin := 0x1p-48 * (1 + l)
		if l-margin >= -s.log*float64(rest) {
			return rest
		}
		least = max(0, int((l-margin)/-s.log))
		if most = int(min(float64(rest), (l+margin)/-s.log)); most == least {
			return least
		}
	}
	exact := uniform{src: src, digits: new(big.Int).SetUint64(u), n: 64}
	return least + sort.Search(most-least, func(i int) bool { return !exact.below(s.q, least+i+1) })
}

// uniform is a number from (0, 1) of which n binary digits have been drawn.
type uniform struct {
	src    rand.Source
	digits *big.Int
	n      uint
}

// below says whether U < (1−q)^g for 0 < q < 1, g ≥ 0. It draws more digits until
// those that are not known cannot matter, which is once in 2⁶⁴ times for each 64
// of them.
func (u *uniform) below(q float64, g int) bool {
	for {
		// With 128 binary digits more than U has, a product of g < 2⁶³ factors
		// is good to 2g+2 roundings, less than 2⁻⁶⁰ of U's last digit.
		power := powerOf(q, g, u.n+128)
		unit := new(big.Float).SetMantExp(big.NewFloat(1), -int(u.n))
		err := new(big.Float).SetMantExp(unit, -60)
		low := new(big.Float).SetPrec(u.n + 128).SetInt(u.digits)
		low.SetMantExp(low, -int(u.n))
		high := new(big.Float).SetPrec(u.n+128).Add(low, unit)
		if high.Add(high, err).Cmp(power) <= 0 {
			return true
		}
		if low.Sub(low, err).Cmp(power) >= 0 {
			return false
		}
		u.digits.Lsh(u.digits, 64).Or(u.digits, new(big.Int).SetUint64(u.src.Uint64()))
		u.n += 64
	}
}

// powerOf is (1−q)^g with that many binary digits.
func powerOf(q float64, g int, digits uint) *big.Float {
	x := new(big.Float).SetPrec(digits).Sub(big.NewFloat(1), big.NewFloat(q))
	power := new(big.Float).SetPrec(digits).SetInt64(1)
	for ; g > 0; g >>= 1 {
		if g&1 == 1 {
			power.Mul(power, x)
		}
		x.Mul(x, x)
	}
	return power
}
