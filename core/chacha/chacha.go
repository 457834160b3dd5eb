package chacha

import "math/bits"

// Rounds is the number of ChaCha rounds behind everything this package gives.
const Rounds = 12

// Block writes block counter of the stream of key and nonce to out, as words;
// the byte stream of the cipher is those words in little-endian order.
func Block(key *[8]uint32, counter uint32, nonce *[3]uint32, out *[16]uint32) {
	block(Rounds, key, counter, nonce, out)
}

// block is Block for any even number of rounds, so that the published vectors
// of the 20-round cipher test the code that Block runs.
func block(rounds int, key *[8]uint32, counter uint32, nonce *[3]uint32, out *[16]uint32) {
	// The words "expa", "nd 3", "2-by", "te k".
	const c0, c1, c2, c3 = 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574
	x0, x1, x2, x3 := uint32(c0), uint32(c1), uint32(c2), uint32(c3)
	x4, x5, x6, x7 := key[0], key[1], key[2], key[3]
	x8, x9, x10, x11 := key[4], key[5], key[6], key[7]
	x12, x13, x14, x15 := counter, nonce[0], nonce[1], nonce[2]
	for range rounds / 2 {
		x0, x4, x8, x12 = quarterRound(x0, x4, x8, x12)
		x1, x5, x9, x13 = quarterRound(x1, x5, x9, x13)
		x2, x6, x10, x14 = quarterRound(x2, x6, x10, x14)
		x3, x7, x11, x15 = quarterRound(x3, x7, x11, x15)

		x0, x5, x10, x15 = quarterRound(x0, x5, x10, x15)
		x1, x6, x11, x12 = quarterRound(x1, x6, x11, x12)
		x2, x7, x8, x13 = quarterRound(x2, x7, x8, x13)
		x3, x4, x9, x14 = quarterRound(x3, x4, x9, x14)
	}
	*out = [16]uint32{
		x0 + c0, x1 + c1, x2 + c2, x3 + c3,
		x4 + key[0], x5 + key[1], x6 + key[2], x7 + key[3],
		x8 + key[4], x9 + key[5], x10 + key[6], x11 + key[7],
		x12 + counter, x13 + nonce[0], x14 + nonce[1], x15 + nonce[2],
	}
}

func quarterRound(a, b, c, d uint32) (uint32, uint32, uint32, uint32) {
	a += b
	d = bits.RotateLeft32(d^a, 16)
	c += d
	b = bits.RotateLeft32(b^c, 12)
	a += b
	d = bits.RotateLeft32(d^a, 8)
	c += d
	b = bits.RotateLeft32(b^c, 7)
	return a, b, c, d
}
