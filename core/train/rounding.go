package train

import (
	"math"

	"clipscope/core/compute"
)

// rounded returns the most, in L2 norm and in the clipper's coordinates, that
// one row moves the *computed* sums of a [Part] by being there, rounding
// included, where long bounds the length of what a row adds in units of C. Noise is
// scaled by it.
//
// # Guarantee
//
// Clipping bounds what a row adds to a sum of real numbers. A computed sum is
// rounded on the way, and one row more can change the rounding of all the
// others (Casacuberta, Shoemate, Vadhan & Wagaman 2022): over a long float32 sum
// by many times C. Here it cannot, for these reasons.
//
//  1. One row's part, as computed, is at most C·(1 + 10⁻⁶). Norms are upper
//     bounds, factors are rounded down; a factor times δ, and that times an
//     input, round once each by 2⁻²⁴, and C and σ·C once when they become float32.
//     Underflow adds less than 2⁻⁶⁴: a row of inputs is shorter than 2⁶⁰ and a
//     scaled δ errs by 2⁻¹⁵⁰; with value clipping it does so at every layer, and
//     the layers that it still passes and the input together make it at most 2⁶⁰
//     times as long. It is the same part wherever the row stands in the batch and
//     whoever else is there (package nn). A convolution's gradient is a sum over
//     positions whose terms may nearly cancel, so that as computed it is longer
//     than the true one by more than any bound in parts of its norm. So it is
//     formed, measured as formed, and what is added is what was measured times the
//     factor, rounded once; where value clipping bounds it unseen, the bound is on
//     the sizes of its terms and covers their rounding ([nn.Bounded]).
//
//  2. A batch is put in uniformly random order before it is summed, in pieces of
//     at most m = compute.PieceRows rows that go by position, of which up to
//     p = compute.BlockPieces make a block. Let x be the row
//     that D′ has and D has not. Given the rows sampled from D in their random
//     order, the order of D′'s batch has the same law as this: x takes a
//     position that is uniform on all, old and new, and the row that stood there
//     goes to the new last position. (So does the shuffle called inside-out
//     build a uniform order.) All other rows keep their places. So the batches
//     can be coupled such that, beside x itself, two pieces differ: one in which
//     x stands for another row, and the last, which has one more.
//
//  3. A piece of m rows, added in float32 in any order, errs by at most
//     2⁻²⁴·C·m(m+1)/2 in norm: each addition rounds a partial sum of j ≤ m rows,
//     coordinate by coordinate by 2⁻²⁴ of it, so by 2⁻²⁴·jC in norm, and j adds
//     up to m(m+1)/2 at most. Likewise p pieces of m rows, once they are summed,
//     err by 2⁻²⁴·C·m·(p(p+1)/2 − 1) when they are added. All pieces but two are
//     the same in D and D′, so what differs is two pieces and two blocks, in D
//     and in D′: 4 times the two, or 6.4·10⁻⁴·C for m = 64 and p = 4.
//
//     Where a layer's gradients are formed for fewer rows at a time, its pieces or blocks are
//     smaller, and each lies within one of those ([nn.Spec.Together]): of its coordinates
//     no row is in more partial sums than there, and the bound is of the number of these.
//
//  4. Blocks are added to 53 binary digits: K of them, N rows in all, err by
//     2⁻⁵³·(K+1)·N/2·C at most, twice.
//
//  5. To a table of tokens rows are added one by one, to 53 binary digits, in
//     place of 3 and 4: they err by 2⁻⁵³·(N+1)·N/2·C at most, twice. The table's
//     coordinates and the others are apart, so that both together err by the root
//     of the sum of squares.
//
// The pair (sum of D, sum of D′) therefore lies within C plus these, for
// every outcome of the shuffle, and with Gaussian noise costs no more than the
// Gaussian mechanism of that sensitivity; averaging over outcomes, and over
// whether x was sampled, adds nothing, as δ(ε) is jointly convex in the pair.
//
// In coordinates (g − a)/b a row's weighted gradient is not C long but at most
// 1 + centred times that, as [adaClip.norms] sees to, and so are the errors of
// 1 and 3 to 5, which cover the centre's product as well. The sum of the weights is
// exact.
//
// N is the counted number of rows, which is public, or a multiple of the declared one: the
// same on both sides. An empty row, by which zero-out replaces x, adds exactly 0
// wherever it stands: it is as though x had not been sampled.
func rounded(w *workspace, long float64) float64 {
	sums := sumSlack(w.rows, w.model.Capacity, w.terms.Spec.Together())
	if w.terms.Spec.Vocabulary() > 0 {
		sums = math.Hypot(sums, tableSlack(w.rows))
	}
	return w.statedSensitivity() * (1 + long*(rowSlack+sums))
}

// rowSlack covers the roundings of one row's part, four of 2⁻²⁴ each.
const rowSlack = 1e-6

// sumSlack returns what rounding adds to the sensitivity of a sum of up to n rows of
// norm 1, capacity of them at a time, of which so many are formed together: items 3 and 4 above.
func sumSlack(n, capacity, together int) float64 {
	const m, p = compute.PieceRows, compute.BlockPieces
	blocks := math.Ceil(float64(n)/float64(capacity)) * math.Ceil(float64(capacity)/float64(min(together, compute.BlockRows)))
	return 0x1p-22*m*((m+1)/2.0+p*(p+1)/2-1) + 0x1p-53*(blocks+1)*float64(n)
}

// tableSlack returns what rounding adds to the sensitivity of a table's sum of up to n rows of norm 1: item 5 above.
func tableSlack(n int) float64 { return 0x1p-53 * (float64(n) + 1) * float64(n) }

// above is the least float32 that is not below x.
func above(x float64) float32 {
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

// below is the greatest float32 that is not above x > 0, or 0.
func below(x float64) float32 {
	f := float32(x)
	if float64(f) > x {
		f = math.Nextafter32(f, 0)
	}
	return f
}
