package webgpu

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/shader"
)

// Every kernel has its shader, in which no name is declared twice; its calls run entry points
// that are there, over no more workgroups than WebGPU lets stand side by side, and each entry
// point in some call.
func TestEveryKernelHasItsShader(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^(?:@.*\s)?(?:fn|struct|const|override|alias|var<\w+(?:, \w+)?>) *(\w+)`)
	all, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	for i, k := range compute.Kernels() {
		p := all[i]
		if p.first != first || len(p.entries) == 0 {
			t.Errorf("%s: entry points %v from %d on, want some from %d on", k.Name, p.entries, p.first, first)
		}
		first += len(p.entries)
		called := map[string]bool{}
		for a := range everySize {
			c := shader.Call{Args: a}
			p.call(&c)
			for _, s := range c.Stages {
				if called[s.Entry] = true; min(s.Groups[0], s.Groups[1], s.Groups[2]) < 1 || slices.Max(s.Groups[:]) > shader.MostGroups {
					t.Fatalf("%s%v: %s over %v workgroups", k.Name, a.N, s.Entry, s.Groups)
				}
			}
			if c.Space < 0 || c.Space > 0 && a.Buf[4].Memory != nil {
				t.Fatalf("%s%v: space of %d words in the place of a buffer", k.Name, a.N, c.Space)
			}
		}
		if got := slices.Sorted(maps.Keys(called)); !slices.Equal(got, slices.Sorted(slices.Values(p.entries))) {
			t.Errorf("%s: calls run %v, and it has %v", k.Name, got, p.entries)
		}
		seen := map[string]bool{}
		for _, m := range declared.FindAllStringSubmatch(prelude+p.text, -1) {
			if seen[m[1]] {
				t.Errorf("%s: %s is declared twice", k.Name, m[1])
			}
			seen[m[1]] = true
		}
		if !seen["words"] || !seen["Args"] || !seen[p.entries[0]] {
			t.Errorf("%s: declarations are not found: %v", k.Name, seen)
		}
	}
}

// everySize yields arguments of small and large sizes, with buffers that begin at multiples of
// four and elsewhere.
func everySize(yield func(compute.Args) bool) {
	sizes := []int{0, 1, 2, 4, 33, 64, 300, 5000}
	for i := range 8 * 8 * 8 * 8 * 8 {
		var a compute.Args
		for j := range a.N {
			a.N[j] = sizes[i%8]
			i /= 8
		}
		for j := range a.Buf {
			a.Buf[j].Off, a.Buf[j].N = a.N[4]%3*j, a.N[1]*a.N[2]
		}
		if a.N[0]*a.N[1]*a.N[2] > math.MaxInt32 { // no heap holds as much
			continue
		}
		if !yield(a) {
			return
		}
	}
}

// A stream's words are what gpu.js reads, and its arguments what the prelude declares.
func TestStreamWordsAreWhatTheScriptReads(t *testing.T) {
	var s stream
	if !s.empty() {
		t.Error("a new stream is not empty")
	}
	at := func(memory any) uint32 { return uint32(memory.(int)) }
	args := shader.Call{More: []uint32{5, 6}, Args: compute.Args{
		N: [5]int{9, 8, 7, 6, 5}, F: [6]float64{1.5, 0.1},
		Buf: [5]compute.Buffer{{Memory: 64, Off: 3, N: 2}, {}, {Memory: 128}}, Sums: compute.Sums{Memory: 256, Off: 5, N: 90},
	}}
	args.Key.Key[7], args.Key.Nonce[2] = 77, 88
	s.run(4, [3]int{3, 1, 1}, &args, 99, at)
	if got := s.fetch(640, 10); got != 0 {
		t.Errorf("the first thing fetched is at %d", got)
	}
	if got := s.fetch(704, 1); got != 10 || s.staged != 11 {
		t.Errorf("the second thing fetched is at %d of %d", got, s.staged)
	}
	want := []uint32{opRun, 4, 3, 1, 1, opCopy, 640, 0, 10, opCopy, 704, 10, 1}
	if !slices.Equal(s.words, want) {
		t.Errorf("words %v, want %v", s.words, want)
	}
	if s.slots() != 1 {
		t.Fatalf("%d slots, want 1", s.slots())
	}
	for i, v := range map[int]uint32{
		0: 9, 4: 5, 5: 67, 6: 0, 7: 128, 10: 261, 11: 3, 19: 77, 22: 88,
		23: 0x3fc00000, 24: 0x3dcccccd, 29: 99, 30: 0, 31: 0x3ff80000, 32: 0x9999999a, 33: 0x3fb99999, 44: 5, 45: 6, 63: 0,
	} {
		if s.args[i] != v {
			t.Errorf("argument word %d is %#x, want %#x", i, s.args[i], v)
		}
	}
	s.run(5, [3]int{1, 1, 1}, &args, 99, at)
	s.undo()
	if !slices.Equal(s.words, append(want, opRun, 5, 1, 1, 1)[:len(want)]) || s.slots() != 1 {
		t.Errorf("a run that was taken back leaves words %v and %d slots", s.words, s.slots())
	}
	s.clear()
	if !s.empty() || s.slots() != 0 || s.staged != 0 {
		t.Error("a stream that was cleared is not empty")
	}
}
