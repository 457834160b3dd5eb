package webgpu

import (
	"fmt"
	"slices"
)

// unit is the heap's unit of allocation in words: 256 bytes, as the arguments'
// slots.
const unit = 64

// heap says which of so many words are in use. The zero heap has none.
type heap struct {
	size int
	free []span // by place, never adjacent
	used map[int]int
}

type span struct{ at, n int }

func units(n int) int { return max(1, (n+unit-1)/unit) * unit }

// take finds n words, or reports that the heap has to grow.
func (h *heap) take(n int) (at int, ok bool) {
	n = units(n)
	for i, s := range h.free {
		if s.n < n {
			continue
		}
		if s.n == n {
			h.free = slices.Delete(h.free, i, i+1)
		} else {
			h.free[i] = span{s.at + n, s.n - n}
		}
		if h.used == nil {
			h.used = map[int]int{}
		}
		h.used[s.at] = n
		return s.at, true
	}
	return 0, false
}

// give takes back what take gave.
func (h *heap) give(at int) {
	n, ok := h.used[at]
	if !ok {
		panic(fmt.Sprintf("webgpu: nothing was taken at %d", at))
	}
	delete(h.used, at)
	h.addFree(span{at, n})
}

// grow makes the heap larger, to size words.
func (h *heap) grow(size int) {
	if size > h.size {
		h.addFree(span{h.size, size - h.size})
		h.size = size
	}
}

func (h *heap) addFree(s span) {
	i, _ := slices.BinarySearchFunc(h.free, s.at, func(f span, at int) int { return f.at - at })
	if i < len(h.free) && s.at+s.n == h.free[i].at {
		s.n += h.free[i].n
		h.free = slices.Delete(h.free, i, i+1)
	}
	if i > 0 && h.free[i-1].at+h.free[i-1].n == s.at {
		h.free[i-1].n += s.n
		return
	}
	h.free = slices.Insert(h.free, i, s)
}

// inUse returns the number of words that are taken.
func (h *heap) inUse() int {
	n := h.size
	for _, s := range h.free {
		n -= s.n
	}
	return n
}

// mostBeside bounds the bytes that the heap reserves beside few.
const mostBeside = 16 << 20

// beside returns the bytes that kernels keep while they run beside buffers of n bytes: an
// eighth of what a product reads (package shader), or up to eight megabytes twice, as the
// larger of two is taken before the smaller one is given back.
func beside(n int64) int64 { return n/8 + min(n, mostBeside) }

// within returns a great n for which n + beside(n) is no more than so many bytes.
func within(bytes int64) int64 { return max(bytes*8/17, (bytes-mostBeside)/9*8) }
