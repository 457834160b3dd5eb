// Package chacha is the source of all randomness of a run: the ChaCha stream
// cipher (Bernstein 2008; block layout of RFC 8439) reduced to 12 rounds, and
// the standard normal sequence that every backend derives from it.
//
// # The normal sequence
//
// Blocks are taken four at a time: group g holds the blocks with counters
// 4g … 4g+3, called lanes 0 … 3. Word 2i of a block (i = 0 … 7) is a radius
// word r, word 2i+1 an angle word a. They give two normals by Box and Muller,
//
//	z₀ = √(−2·ln u)·cos θ,  z₁ = √(−2·ln u)·sin θ
//
// where, with float32(·) the correctly rounded conversion,
//
//	u = float32(r)·2⁻³² + 2⁻³³   rounded to float32, for r ≥ 2¹⁶
//	u = float32(r·2³² + e)·2⁻⁶⁴ + 2⁻⁶⁵ likewise, for r < 2¹⁶
//	θ = 2π·float32(a >> 8)·2⁻²⁴
//
// and e is the word at the same place (same counter, same index) of the stream
// whose first nonce word has its top bit flipped: it carries the tail beyond
// 4.7 standard deviations out to 9.5, where a lone 32-bit word would end at 6.7.
// Of lane l in group g, z₀ is element 64g + 8i + l and z₁ element 64g + 8i + 4 + l of the sequence.
package chacha
