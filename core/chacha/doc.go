// Package chacha is the source of all randomness of a run: the ChaCha stream
// cipher (Bernstein 2008; block layout of RFC 8439) reduced to 12 rounds, and
// the sequences that every backend derives from it: standard normal numbers, and
// whole ones.
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
// where, with float32(·) the correctly rounded conversion,
//
//	u = float32(float32(r)·2⁻³² + 2⁻³³)          for r ≥ 2¹⁶
//	u = float32(float32(r·2³² + e)·2⁻⁶⁴ + 2⁻⁶⁵)  for r < 2¹⁶
//	θ = 2π·(a >> 8)·2⁻²⁴
//
// and e is the word at the same place (same counter, same index) of the stream
// whose first nonce word has its top bit flipped: it carries the tail beyond
// 4.7 standard deviations out to 9.5, where a lone 32-bit word would end at
// 6.7. Of lane l in group g, the z₀ of word pair i is element 64g + 8i + l of
// the sequence and z₁ is element 64g + 8i + 4 + l. The sequence ends after
// [MaxNormals] elements, where the block counter would repeat.
//
// Since u and θ are defined to the last bit, implementations differ only by
// the rounding of ln, √, sin and cos: [Normal] has them to float64 accuracy,
// and a float32 implementation can match it to 10⁻⁵ absolutely.
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
// It is a discrete approximation of the normal distribution: angles are
// multiples of 2π·2⁻²⁴, radii those of 32-bit (in the tail 48-bit) words
// rounded to float32, the smallest radius beside 0 is 3.5·10⁻⁴, and nothing lies beyond
// 9.5 standard deviations, which the real distribution passes with probability
// 2·10⁻²¹ a draw. The privacy accounting is that of the ideal Gaussian; it does
// not cover the holes between noised float32 values, which depend on the value
// beneath and can rule one out with certainty (Mironov 2012, "On significance of
// the least significant bits for differential privacy").
package chacha
