package webgpu

import (
	"fmt"
	"math"

	"clipscope/core/compute/shader"
)

// slot is the size of one kernel's arguments in words: the least that WebGPU lets
// their places be apart.
const slot = 64

// soon is the number of commands after which the GPU may begin, while more are written.
const soon = 64

// What the words of a stream begin with.
const (
	opRun  = iota + 1 // program, groups across, down, deep; the next slot's arguments
	opCopy            // from the heap, to the staging buffer, words
)

// runWords is the number of words of an opRun.
const runWords = 5

var none [slot]uint32

// stream is the queue of calls that have not been submitted yet.
type stream struct {
	words  []uint32
	args   []uint32
	staged int // words of the staging buffer that are spoken for
}

func (s *stream) empty() bool { return len(s.words) == 0 }

func (s *stream) slots() int { return len(s.args) / slot }

func (s *stream) clear() { s.words, s.args, s.staged = s.words[:0], s.args[:0], 0 }

// run writes one entry point of a kernel's call, by its number; its sums are some of so many.
func (s *stream) run(id int, g [3]int, a *shader.Call, sums int, at func(memory any) uint32) {
	s.words = append(s.words, opRun, uint32(id), uint32(g[0]), uint32(g[1]), uint32(g[2]))
	s.args = append(s.args, none[:]...)
	w := s.args[len(s.args)-slot:]
	for i, n := range a.N {
		if n < 0 || n > math.MaxInt32 {
			panic(fmt.Sprintf("webgpu: a size of %d", n))
		}
		w[i] = uint32(n)
	}
	for i, b := range a.Buf {
		if b.Memory != nil {
			w[5+i] = at(b.Memory) + uint32(b.Off)
		}
	}
	if a.Sums.Memory != nil {
		w[10], w[29] = at(a.Sums.Memory)+uint32(a.Sums.Off), uint32(sums)
	}
	w[11] = uint32(g[0])
	copy(w[12:20], a.Key.Key[:])
	copy(w[20:23], a.Key.Nonce[:])
	for i, f := range a.F {
		w[23+i] = math.Float32bits(float32(f))
		bits := math.Float64bits(f)
		w[30+2*i], w[31+2*i] = uint32(bits), uint32(bits>>32)
	}
	copy(w[44:], a.More)
}

// undo takes back the last run, behind which nothing was written.
func (s *stream) undo() {
	s.words, s.args = s.words[:len(s.words)-runWords], s.args[:len(s.args)-slot]
}

// fetch writes a copy into the staging buffer, and returns where it will be.
func (s *stream) fetch(from uint32, n int) (at int) {
	at = s.staged
	s.words = append(s.words, opCopy, from, uint32(at), uint32(n))
	s.staged += n
	return at
}
