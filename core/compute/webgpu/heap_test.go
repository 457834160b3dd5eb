package webgpu

import (
	"math/rand/v2"
	"testing"
)

// What is in use never overlaps, what is given back is whole again, and nothing is
// lost on the way.
func TestHeapNeverOverlapsNorLeaks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var h heap
	live := map[int]int{} // by place, the words asked for
	owner := map[int]int{}
	for range 20000 {
		if len(live) > 0 && rng.IntN(2) == 0 {
			for at, n := range live {
				for w := at; w < at+n; w++ {
					delete(owner, w)
				}
				delete(live, at)
				h.give(at)
				break
			}
			continue
		}
		n := rng.IntN(300)
		at, ok := h.take(n)
		if !ok {
			h.grow(h.size + units(n) + unit*rng.IntN(4))
			if at, ok = h.take(n); !ok {
				t.Fatalf("no %d words in a heap that has just grown", n)
			}
		}
		if at%unit != 0 || at+n > h.size {
			t.Fatalf("%d words at %d of %d", n, at, h.size)
		}
		for w := at; w < at+n; w++ {
			if other, taken := owner[w]; taken {
				t.Fatalf("word %d belongs to %d and %d", w, other, at)
			}
			owner[w] = at
		}
		live[at] = n
	}
	for at := range live {
		h.give(at)
	}
	if len(h.free) != 1 || h.free[0] != (span{0, h.size}) {
		t.Errorf("of %d words %v are free", h.size, h.free)
	}
	defer func() {
		if recover() == nil {
			t.Error("what was given back was taken back again")
		}
	}()
	h.give(0)
}
