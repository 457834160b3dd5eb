package chacha

import (
	"fmt"
	"math"
)

// MaxNormals is the length of the normal sequence of one key and nonce: 2³²
// blocks of 16 words, one normal a word.
const MaxNormals = 1 << 36

// groupLen is the number of normals that one group of four blocks gives.
const groupLen = 64

// Normal writes the first len(dst) elements of the normal sequence of key and
// nonce (see the package comment), computed in float64. It is the reference
// that the float32 kernels are held against.
//
// Guarantee: the tail words of a nonce are those of the nonce with the top bit
// of its first word flipped, so sequences are independent as long as no two of
// one key have nonces that are equal, or equal but for that bit.
//
// The error is that of a dst longer than [MaxNormals]; dst is untouched then.
func Normal[F float32 | float64](key *[8]uint32, nonce *[3]uint32, dst []F) error {
	if err := checkLen(int64(len(dst))); err != nil {
		return err
	}
	var z [groupLen]float64
	for g := 0; g*groupLen < len(dst); g++ {
		normalGroup(key, nonce, uint32(g), &z)
		for i, v := range z[:min(groupLen, len(dst)-g*groupLen)] {
			dst[g*groupLen+i] = F(v)
		}
	}
	return nil
}

func checkLen(n int64) error {
	if n > MaxNormals {
		return fmt.Errorf("chacha: %d normals asked of one key and nonce, which give %d", n, int64(MaxNormals))
	}
	return nil
}

// normalGroup writes the 64 normals of group g.
func normalGroup(key *[8]uint32, nonce *[3]uint32, g uint32, z *[groupLen]float64) {
	tailNonce := [3]uint32{nonce[0] ^ 1<<31, nonce[1], nonce[2]}
	for lane := range uint32(4) {
		var words, tail [16]uint32
		haveTail := false
		Block(key, 4*g+lane, nonce, &words)
		for i := range 8 {
			r, a := words[2*i], words[2*i+1]
			if r < tailBelow && !haveTail {
				Block(key, 4*g+lane, &tailNonce, &tail)
				haveTail = true
			}
			z0, z1 := boxMuller(r, [2]uint32(tail[2*i:]), a)
			z[8*i+int(lane)], z[8*i+4+int(lane)] = z0, z1
		}
	}
}

// tailBelow is the bound under which a radius word is extended by 64 bits.
const tailBelow = 1 << 16

// MaxNormal bounds the magnitude of a normal: √(−2·ln 2⁻⁹⁷).
const MaxNormal = 11.6

// boxMuller returns the two normals of a radius word, its extension and an angle word.
// Neither is ever 0, or above [MaxNormal].
func boxMuller(r uint32, extension [2]uint32, a uint32) (z0, z1 float64) {
	radius := math.Sqrt(-2 * logUniform(r, extension))
	sin, cos := math.Sincos(2 * math.Pi * 0x1p-24 * (float64(a>>8) + 0.5))
	return radius * cos, radius * sin
}

// logUniform returns ln u of a radius word and its extension. A word of 2³¹ and more,
// as a number with a sign, says how far u is from 1, to a relative precision.
func logUniform(r uint32, extension [2]uint32) float64 {
	switch {
	case r >= 1<<31:
		return math.Log1p((float64(int32(r)) + 0.5) * 0x1p-32)
	case r >= tailBelow:
		return math.Log((float64(r) + 0.5) * 0x1p-32)
	default:
		upper := float64(uint64(r)<<32 | uint64(extension[0])) // 48 digits
		return math.Log(upper*0x1p-64 + (float64(extension[1])+0.5)*0x1p-96)
	}
}
