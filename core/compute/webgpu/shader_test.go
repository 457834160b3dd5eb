package webgpu

import (
	"regexp"
	"slices"
	"testing"

	"clipscope/core/compute"
)

// Every kernel has its shader, whose entry points are all called, and in which no name is
// declared twice.
func TestShaders(t *testing.T) {
	entry := regexp.MustCompile(`@compute @workgroup_size\([^)]*\)\s*fn (\w+)`)
	declared := regexp.MustCompile(`(?m)^(?:@.*\s)?(?:fn|struct|const|override|alias|var<\w+(?:, \w+)?>) *(\w+)`)
	for _, k := range compute.Kernels() {
		sh, err := shaderOf(k)
		if err != nil {
			t.Error(err)
			continue
		}
		var called, there []string
		for _, s := range sh.stages {
			called = append(called, s.entry)
		}
		for _, m := range entry.FindAllStringSubmatch(sh.text, -1) {
			there = append(there, m[1])
		}
		slices.Sort(called)
		slices.Sort(there)
		if !slices.Equal(called, there) {
			t.Errorf("%s: its first lines call %v, and it has %v", k.Name, called, there)
		}
		seen := map[string]bool{}
		for _, m := range declared.FindAllStringSubmatch(prelude+sh.text, -1) {
			if seen[m[1]] {
				t.Errorf("%s: %s is declared twice", k.Name, m[1])
			}
			seen[m[1]] = true
		}
		if !seen["words"] || !seen["Args"] || !seen[called[0]] {
			t.Errorf("%s: declarations are not found: %v", k.Name, seen)
		}
	}
}

func TestStagesAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "fn main() {}\n", "//! main\n", "//! main n0 n1 n2 n3\n", "//! main n5\n", "//! main n0/0\n", "//! main n0/x\n", "//! main q\n", "//! main n0*\n",
		"//! main n0 if\n", "//! main n0 if \n", "//! main n0 if n1\n", "//! main n0 if n1<\n", "//! main n0 if n5<1\n", "//! main n0 if n1!1\n", "//! main n0 if s<1\n", "//! main n0 if n1<-1\n",
		"//! main n0 if n1%0\n", "//! main n0 else\n", "//! main n0\n//! other n0 else\n", "//! main n0 if n1>1 unless \n", "//! main n0 if n1>1 unless x\n",
	} {
		if stages, err := stagesOf(text); err == nil {
			t.Errorf("%q gives %+v", text, stages)
		}
	}
}

// A stream's words are what gpu.js reads, and its arguments what the prelude declares.
func TestStream(t *testing.T) {
	var s stream
	if !s.empty() {
		t.Error("a new stream is not empty")
	}
	st := stage{entry: "main", grid: []extent{{terms: []term{{'n', 0}}, by: 4}}}
	at := func(memory any) uint32 { return uint32(memory.(int)) }
	args := compute.Args{
		N: [5]int{9, 8, 7, 6, 5}, F: [6]float64{1.5, 0.1},
		Buf: [5]compute.Buffer{{Memory: 64, Off: 3, N: 2}, {}, {Memory: 128}}, Sums: compute.Sums{Memory: 256, N: 99},
	}
	args.Key.Key[7], args.Key.Nonce[2] = 77, 88
	st.id = 4
	s.run(st, &args, at)
	s.run(st, &compute.Args{}, at) // over nothing
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
		0: 9, 4: 5, 5: 67, 6: 0, 7: 128, 10: 256, 11: 3, 19: 77, 22: 88,
		23: 0x3fc00000, 24: 0x3dcccccd, 29: 99, 30: 0, 31: 0x3ff80000, 32: 0x9999999a, 33: 0x3fb99999, 63: 0,
	} {
		if s.args[i] != v {
			t.Errorf("argument word %d is %#x, want %#x", i, s.args[i], v)
		}
	}
	s.clear()
	if !s.empty() || s.slots() != 0 || s.staged != 0 {
		t.Error("a stream that was cleared is not empty")
	}
}
