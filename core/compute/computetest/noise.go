package computetest

import (
	"math"
	"slices"

	"clipscope/core/chacha"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

func checkNoise(c *check) {
	keys := []compute.NoiseKey{
		{},
		{Key: [8]uint32{1, 2, 3, 4, 5, 6, 7, 8}, Nonce: [3]uint32{9, 10, 11}},
		{Key: [8]uint32{1 << 31, 0, math.MaxUint32}, Nonce: [3]uint32{1 << 31}},
		tailKey(c),
	}
	for _, h := range hostileKeys {
		c.noise(64, 1, compute.NoiseKey{Nonce: [3]uint32{0, 0, h}}, c.normals(64))
	}
	c.vectors(func(n int, data func() []float32) {
		for _, std := range []float32{1, 0, -3e-4, float32(math.Inf(1))} {
			c.noise(n, std, keys[n%len(keys)], data())
		}
	})
	for _, key := range keys {
		for _, n := range []int{127, 128, 129, 255, 256, 257, 5000} {
			c.noise(n, 2.5, key, c.normals(n))
		}
	}
}

// hostileKeys are the last words of nonces with which, under a key of zeros, block 0 has a
// word at a bound of the arithmetic. They were found by trying 2²⁸ nonces.
var hostileKeys = []uint32{
	// A radius word within 128 of 2³², which a float32 u would take for 1, and within 4.
	11_152_567, 18_955_074, 42_369_298, 92_662_431,
	// 2³¹ + 7 and 2³¹ − 3, on both sides of a half, and 1 and 0.
	64_713_082, 73_240_854, 88_967_938, 99_363_060,
	// An angle half a step from 0, ¼, ½, ¾ and 1 turns.
	1_775_256, 3_546_954, 1_276_505, 1_354_905, 952_592, 2_634_135, 24_635, 404_879, 1_898_238, 2_173_682,
	// And from ⅛, where sine and cosine change places.
	187_888, 3_539_244, 4_773_519, 7_162_396,
}

// noise asks for each value to a relative 10⁻⁵: so none is 0 where package chacha's is
// not, and what it keeps apart by more than that no backend puts together.
func (c *check) noise(n int, std float32, key compute.NoiseKey, data []float32) {
	dst := c.arg("dst", data)
	kernel.Noise(c.b, n, std, key, dst.buf)
	z := make([]float64, n)
	if err := chacha.Normal(&key.Key, &key.Nonce, z); err != nil {
		c.errorf("%v", err)
	}
	if at := slices.Index(z, 0); at >= 0 {
		c.errorf("element %d of the noise under %v is 0", at, key)
	}
	dst.want = each(n, func(i int) value {
		if std == 0 {
			return exactly(0)
		}
		var s sum
		s.addTerms(float64(std) * z[i])
		v := s.value(2)
		v.tol += 1e-5 * math.Abs(v.v)
		return v
	})
	c.verify("Noise(%d, %v)", n, std)
}

// tailKey returns a key among whose first 64 normals one is beyond 4.72, which
// one in 7,000 has: its radius word is under 2¹⁶, where 32 bits no longer do.
func tailKey(c *check) compute.NoiseKey {
	var k compute.NoiseKey
	z := make([]float64, 64)
	for ; ; k.Nonce[2]++ {
		if err := chacha.Normal(&k.Key, &k.Nonce, z); err != nil {
			c.errorf("%v", err)
			return k
		}
		if max(slices.Max(z), -slices.Min(z)) > 4.72 {
			return k
		}
	}
}
