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

func (c *check) noise(n int, std float32, key compute.NoiseKey, data []float32) {
	dst := c.arg("dst", data)
	kernel.Noise(c.b, n, std, key, dst.buf)
	z := make([]float64, n)
	if err := chacha.Normal(&key.Key, &key.Nonce, z); err != nil {
		c.errorf("%v", err)
	}
	dst.want = each(n, func(i int) value {
		if std == 0 {
			return exactly(0)
		}
		var s sum
		s.add(float64(std) * z[i])
		v := s.value(2)
		v.tol += 1e-5 * math.Abs(float64(std))
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
