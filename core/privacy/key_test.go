package privacy

import (
	"math"
	"testing"
)

// The nonce holds the triple: reading it back is the proof that no two triples
// share one.
func FuzzNoiseKeyInjective(f *testing.F) {
	f.Add(uint8(1), uint16(0), uint64(0))
	f.Add(uint8(255), uint16(math.MaxUint16), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, p uint8, tensor uint16, step uint64) {
		k := SeededKey(3)
		n, err := k.NoiseKey(Purpose(p), int(tensor), step)
		if err != nil {
			t.Fatal(err)
		}
		if n.Nonce[0]>>31 != 0 {
			t.Error("the bit that package chacha flips is set")
		}
		if uint8(n.Nonce[0]>>16) != p || uint16(n.Nonce[0]) != tensor || uint64(n.Nonce[1])|uint64(n.Nonce[2])<<32 != step {
			t.Errorf("(%d, %d, %d) cannot be read back from %v", p, tensor, step, n.Nonce)
		}
		if n.Key != k {
			t.Error("another key")
		}
	})
}

// A tensor more than the nonce tells apart would draw another's noise again.
func TestNoiseKeyRefusesOverflow(t *testing.T) {
	for _, tensor := range []int{-1, 1 << 16, 1<<16 + 1, math.MaxInt} {
		if _, err := SeededKey(1).NoiseKey(Noise, tensor, 0); err == nil {
			t.Errorf("tensor %d was accepted", tensor)
		}
	}
}

func TestPurposesDiffer(t *testing.T) {
	seen := map[Purpose]bool{}
	for _, p := range []Purpose{Init, Sampling, Noise, Statistic, OneOff, Canary} {
		if seen[p] || p == 0 {
			t.Errorf("purpose %d twice", p)
		}
		seen[p] = true
	}
}

// A false alarm has probability below 2⁻²⁰⁰.
func TestKeysDiffer(t *testing.T) {
	a, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if a == b || a == (Key{}) {
		t.Error("two keys are equal, or zero")
	}
	if SeededKey(1) == SeededKey(2) || SeededKey(1) == SeededKey(1<<32) {
		t.Error("two seeds give one key")
	}
}

// Blocks of noise across purposes, tensors and steps, also under a second key as
// after a resumption: no 64-bit word appears twice. A false alarm has
// probability n²/2⁶⁵ < 1e-10.
func TestNoBlockRepeats(t *testing.T) {
	seen := map[uint64]string{}
	for run := range uint64(2) {
		for _, p := range []Purpose{Sampling, Noise, Statistic} {
			for tensor := range uint16(5) {
				for _, step := range []uint64{0, 1, 2, 1 << 20, 1 << 32} {
					s := SeededKey(run).Stream(p, tensor, step)
					for range 16 {
						v := s.Uint64()
						if seen[v] != "" {
							t.Fatalf("word of stream (%d, %d, %d) was in %s", p, tensor, step, seen[v])
						}
						seen[v] = "another"
					}
				}
			}
		}
	}
}
