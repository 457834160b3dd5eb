package purego

import (
	"clipscope/core/chacha"
	"clipscope/core/compute"
)

// Noise panics for n beyond [chacha.MaxNormals], which no buffer reaches.
func (b *Backend) Noise(n int, std float32, key compute.NoiseKey, dst compute.Buffer) {
	d := take(dst, n)
	if std == 0 {
		clear(d)
		return
	}
	if cap(b.z) < n {
		b.z = make([]float64, n)
	}
	z := b.z[:n]
	if err := chacha.Normal(&key.Key, &key.Nonce, z); err != nil {
		panic(err)
	}
	for i, v := range z {
		d[i] = float32(float64(std) * v)
	}
}
