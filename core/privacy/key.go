package privacy

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"clipscope/core/chacha"
)

// A Key is the secret that all randomness of one run comes from. Whoever knows
// it can subtract the noise: it is never shown, stored or exported.
type Key [8]uint32

// NewKey draws a key from the operating system, in a browser from
// crypto.getRandomValues.
//
// Guarantee: noise from a key that this function returned and that stays secret
// is independent of everything outside the run, as far as ChaCha is a
// pseudo-random function. A run that is resumed from a checkpoint takes a new
// key, so it cannot release the same noise on other gradients.
func NewKey() (Key, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return Key{}, fmt.Errorf("privacy: no randomness for the noise: %w", err)
	}
	return KeyFrom(b), nil
}

// KeyFrom returns the key of 32 bytes, which are as secret as the key is.
func KeyFrom(b [32]byte) Key {
	var k Key
	for i := range k {
		k[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return k
}

// SeededKey is the key of a run that can be repeated.
//
// Guarantee: none. Anyone who knows or guesses the seed can subtract the noise;
// such a run is for teaching.
func SeededKey(seed uint64) Key {
	return Key{uint32(seed), uint32(seed >> 32), 'c', 'l', 'i', 'p', 's', 'c'}
}

// KeyOf returns the key that all randomness of a run comes from: of its seed, where one is
// fixed, or one that nobody knows.
func KeyOf(seed *uint64) (Key, error) {
	if seed != nil {
		return SeededKey(*seed), nil
	}
	return NewKey()
}

// Purpose separates the streams of one run by what they are drawn for.
type Purpose uint8

const (
	Init      Purpose = iota + 1 // the first parameters
	Sampling                     // which rows a step's batch holds
	Noise                        // on the clipped sum
	Statistic                    // noise on what a threshold rule asked for
	OneOff                       // noise on releases before the first step
	Canary                       // the audit's canaries and their coin flips
	Views                        // how examples are augmented
	Looking                      // which rows the laboratory looks at
	Shown                        // noise that is drawn to be seen, and added to nothing
	Dropout                      // which units a row drops
	Public                       // which public rows a step mixes in
)

// maxTensors limits the tensors, which the nonce tells apart.
const maxTensors = 1 << 16

// NoiseKey names the stream for one purpose, tensor and step, or says that there
// are more tensors than it can tell apart.
//
// Guarantee: different triples give different nonces under the same key,
// because the nonce is the triple itself, written side by side: bits 16 … 23 of
// the first word are the purpose, bits 0 … 15 the tensor, and the other two
// words the step. The top bit of the first word stays clear: package chacha
// flips it for a second stream of its own. To use one triple once is the
// caller's part.
func (k Key) NoiseKey(p Purpose, tensor int, step uint64) (chacha.Key, error) {
	if tensor < 0 || tensor >= maxTensors {
		return chacha.Key{}, fmt.Errorf("privacy: tensor %d of a run has no stream of noise: there are %d", tensor, maxTensors)
	}
	return k.noiseKey(p, uint16(tensor), step), nil
}

func (k Key) noiseKey(p Purpose, tensor uint16, step uint64) chacha.Key {
	return chacha.Key{
		Key:   k,
		Nonce: [3]uint32{uint32(p)<<16 | uint32(tensor), uint32(step), uint32(step >> 32)},
	}
}

// Stream returns the stream of [Key.NoiseKey] as 64-bit words, for every use but noise that a backend
// adds.
//
// Guarantee: as [Key.NoiseKey].
func (k Key) Stream(p Purpose, tensor uint16, step uint64) *chacha.Stream {
	n := k.noiseKey(p, tensor, step)
	return chacha.NewStream(n.Key, n.Nonce)
}

// Normals draws n standard normals for one purpose and step: once each, or noise would
// repeat.
func (k Key) Normals(p Purpose, step, n int) ([]float64, error) {
	z := make([]float64, n)
	key := k.noiseKey(p, 0, uint64(step))
	if err := chacha.Normal(&key.Key, &key.Nonce, z); err != nil {
		return nil, fmt.Errorf("privacy: noise: %w", err)
	}
	return z, nil
}
