// Package chacha generates all randomness of a run. It has the ChaCha stream cipher
// (Bernstein 2008; block layout of RFC 8439) reduced to 12 rounds, and the sequences that
// every backend derives from it: standard normal numbers, and whole ones.
//
// # Blocks
//
// A key and a nonce give 2³² blocks of 16 words, block c being [Block] with
// counter c. Twelve rounds leave a wide margin over the best known attacks,
// which reach seven (Aumasson 2019, "Too Much Crypto").
//
// # The normal sequence
//
// Blocks are taken four at a time: group g holds the blocks with counters
// 4g … 4g+3, called lanes 0 … 3. Word 2i of a block (i = 0 … 7) is a radius
// word r, word 2i+1 an angle word a. They give two normals by Box and Muller
// (1958),
//
//	z₀ = √(−2·ln u)·cos θ,  z₁ = √(−2·ln u)·sin θ
//
// where
//
//	u = (r + ½)·2⁻³²                       for r ≥ 2¹⁶
//	u = (r·2⁶⁴ + e·2³² + e′ + ½)·2⁻⁹⁶      for r < 2¹⁶
//	θ = 2π·(⌊a/2⁸⌋ + ½)·2⁻²⁴
//
// and e and e′ are the words at the two places of r and a (same counter, same indices)
// of the stream whose first nonce word has its top bit flipped: they carry the tail
// beyond 4.7 standard deviations out to 11.6, where a lone 32-bit word would end at
// 6.7. Of lane l in group g, the z₀ of word pair i is element 64g + 8i + l of
// the sequence and z₁ is element 64g + 8i + 4 + l. The sequence ends after
// [MaxNormals] elements, where the block counter would repeat.
//
// u and θ are exact numbers, so implementations differ only by the rounding of u, ln,
// √, sin and cos: [Normal] has them to float64 accuracy, and a float32 implementation
// matches each element to a relative 10⁻⁵. For that it takes a word r ≥ 2³¹ as the
// number r − 2³² < 0, of which float32 keeps 24 digits: (r − 2³² + ½)·2⁻³² is u − 1,
// and ln u is made from that. A float32 u near 1 would leave 2⁸ words one value.
//
// # No element is 0, and none has a weight of its own
//
// An angle is an odd multiple of half its grid's step, so it is at least π·2⁻²⁴ from
// every axis, and |sin θ| and |cos θ| are at least 1.87·10⁻⁷. u is at most 1 − 2⁻³³, so
// the radius is at least 2⁻¹⁶·(1 − 10⁻⁹). No element is below 2.8·10⁻¹² in magnitude, and
// float32 holds such numbers to all of its digits. In float32, step by step:
//
//   - Where r ≥ 2³¹, rounding r − 2³² to 24 digits leaves it at most −1, so x = u − 1 is
//     at most −2⁻³² + 2⁻³³ = −2⁻³³. Where r < 2³¹, u is at most ½, and −2·ln u at least
//     1.38.
//   - For √½ ≤ 1+x < 1, −2·ln(1+x) is −2x + x²·(1 + x·P(x)) with 0.7 < 1 + x·P(x) < 1.3: two
//     terms above 0, at least −2x ≥ 2⁻³² together. For 1+x < √½ it is at least 0.69.
//   - The angle left of the nearest quarter turn is an odd multiple of 2⁷, below 2²⁹, in
//     units of 2π·2⁻³². float32 holds it, and times 2π·2⁻³² it is y with 1.87·10⁻⁷ ≤ |y| <
//     π/4 + 10⁻⁷. The sine is y + y·(y²·P(y²)) with −0.11 < y²·P(y²) ≤ 0, at least 0.88·|y|.
//     The cosine is at least 0.707.
//
// A radius times a sine is at least 2.5·10⁻¹², times the standard deviation.
//
// The exact u are equally likely and equally far apart (in the tail they are closer, and
// less likely), and so are the angles. float32 merges neighbours and does no more: 2⁸
// words have one u between ½ and √½, 2⁷ between ¼ and ½, 2⁶ between ⅛ and ¼, and so on,
// as do 2⁷ words one 1 − u between ¼ and 1 − √½, 2⁶ between ⅛ and ¼.
//
// # The discrete sequence
//
// Its elements are whole numbers, Σ_j m_j·x_j of k samples x_j that a table gives
// (Walker 1977), with the caller's multipliers m_j. Element i is element p = i mod 64
// of its chunk c = ⌊i/64⌋, and its j-th sample comes of group g = k·c + j: of lane
// p mod 4 the word ⌊p/4⌋. From the top, that word's bits are
//
//	column 14, sign 1, fraction 16, not used 1
//
// If the fraction is below the column's threshold, the magnitude is the column's
// number, otherwise its alias. Where the 16 digits are those of the threshold, the
// further digits decide, 24 binary ones at a time: the top ones of the words, in
// their order, of the block with counter 64·g + p of the stream whose first nonce
// word has its top bit flipped. So a column is kept with a probability of 280 digits, and nearly
// always a word is all that is drawn. The sign makes the magnitude negative or not.
// Nothing is rounded: implementations agree to the bit.
//
// # What the normal sequence is not
//
// It is a discrete approximation of the normal distribution. Let U and Θ be uniform,
// with the words as their leading digits: U in [(r)·2⁻³², (r+1)·2⁻³²), or of 2⁻⁹⁶ where
// r < 2¹⁶, and Θ alike. Of them Box and Muller's normals are exact, and the sequence has the middle
// of each cell in place of the point in it. That moves an element by less than 2·10⁻⁵,
// as long as U ≥ 2⁻⁸³, a radius of up to 10.73: a cell is at most a 2⁻¹³th of U there,
// and √(−2·ln u) moves by its half over the radius; beside 1, where a cell is largest
// against 1 − U, the radius is below 2.2·10⁻⁵ altogether. What lies beyond, with
// probability 2⁻⁸³ a pair, has fewer and fewer values, and nothing is
// beyond 11.6. Package privacy charges that end to δ (NoiseEnd). The accounting is
// otherwise that of the ideal Gaussian. It does not cover the holes between noised
// float32 values, which depend on the value
// beneath and can rule one out with certainty (Mironov 2012, "On significance of
// the least significant bits for differential privacy").
package chacha
