package chacha

import (
	"math"
	"math/rand/v2"
	"testing"
)

var _ rand.Source = (*Stream)(nil)

func TestStreamIsTheBlocks(t *testing.T) {
	s := NewStream(testKey, testNonce)
	for counter := range uint32(3) {
		var words [16]uint32
		Block(&testKey, counter, &testNonce, &words)
		for i := 0; i < 16; i += 2 {
			want := uint64(words[i+1])<<32 | uint64(words[i])
			if got := s.Uint64(); got != want {
				t.Fatalf("block %d, words %d and %d: got %#x, want %#x", counter, i, i+1, got, want)
			}
		}
	}
}

// The last counter's block is not given out but becomes the key.
func TestStreamRekeys(t *testing.T) {
	s := NewStream(testKey, testNonce)
	s.counter = math.MaxUint32 - 1
	for range 8 {
		s.Uint64() // the last block that is given out
	}
	var last, first [16]uint32
	Block(&testKey, math.MaxUint32, &testNonce, &last)
	key := [8]uint32(last[:8])
	Block(&key, 0, &testNonce, &first)
	for i := 0; i < 16; i += 2 {
		want := uint64(first[i+1])<<32 | uint64(first[i])
		if got := s.Uint64(); got != want {
			t.Fatalf("after the last block: got %#x, want %#x", got, want)
		}
	}
	if s.key == testKey || s.counter != 1 {
		t.Errorf("key %x and counter %d after the last block", s.key, s.counter)
	}
}

// False-alarm rate 10⁻⁶ (4.9 standard errors) for each of the 64 bits, so
// 6·10⁻⁵ in all, under a random key.
func TestStreamBitsAreFair(t *testing.T) {
	const n = 100_000
	s := NewStream(testKey, testNonce)
	var ones [64]int
	for range n {
		v := s.Uint64()
		for bit := range ones {
			ones[bit] += int(v >> bit & 1)
		}
	}
	for bit, k := range ones {
		if d := math.Abs(float64(k) - n/2); d > 4.9*math.Sqrt(n)/2 {
			t.Errorf("bit %d was set %d times in %d", bit, k, n)
		}
	}
}
