package computetest

import (
	"math"

	"clipscope/core/chacha"
	"clipscope/core/compute"
)

func checkAddNoise(c *check) {
	keys := []compute.NoiseKey{
		{},
		{Key: [8]uint32{1, 2, 3, 4, 5, 6, 7, 8}, Nonce: [3]uint32{9, 10, 11}},
		{Key: [8]uint32{1 << 31, 0, math.MaxUint32}, Nonce: [3]uint32{1 << 31}},
		tailKey(),
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
	c.b.AddNoise(n, std, key, dst.buf)
	if std != 0 {
		z := make([]float64, n)
		if err := chacha.Normal(&key.Key, &key.Nonce, z); err != nil {
			c.errorf("%v", err)
		}
		dst.want = each(n, func(i int) value {
			var s sum
			s.add(float64(data[i]), float64(std)*z[i])
			v := s.value(2)
			v.tol += 1e-5 * math.Abs(float64(std))
			return v
		})
	}
	c.verify("AddNoise(%d, %v)", n, std)
}

// tailKey returns a key among whose first 64 normals is one of a radius word
// under 2¹⁶, which one in 2¹¹ has.
func tailKey() compute.NoiseKey {
	var k compute.NoiseKey
	for {
		for lane := range uint32(4) {
			var words [16]uint32
			chacha.Block(&k.Key, lane, &k.Nonce, &words)
			for i := 0; i < 16; i += 2 {
				if words[i] < 1<<16 {
					return k
				}
			}
		}
		k.Nonce[2]++
	}
}
