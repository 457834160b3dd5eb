package webgpu

import (
	"testing"

	"clipscope/core/compute"
)

// Workgroups are rounded up, stand in rows where one size asks for too many, and are cut
// off where a kernel says that it goes on by itself; there are none where a condition
// does not hold.
func TestStageGroups(t *testing.T) {
	const many = 100_000
	for text, want := range map[string][3]int{
		"//! main n0/256\n":        {1, 1, 1},
		"//! main n1/16\n":         {50_000, 2, 1}, // 100,000 in rows
		"//! main n1/16+ n0/128\n": {mostGroups, 1, 1},
		"//! main n0 b0*2/3 s\n":   {5, 3, 7},

		"//! main n0 if n0<6 n0>4 n0=5\n": {5, 1, 1},
		"//! main n0 if n0<5\n":           {},
		"//! main n0 if n0=5 n0>5\n":      {},
		"//! main n0 if n1%16 b0%4\n":     {5, 1, 1},
		"//! main n0 if n0%2\n":           {},
		"//! main n0 if b1%4\n":           {},
	} {
		stages, err := stagesOf(text)
		if err != nil {
			t.Fatal(err)
		}
		a := compute.Args{N: [5]int{5, 16 * many}, Buf: [5]compute.Buffer{{N: 4, Off: 8}, {Off: 2}}, Sums: compute.Sums{N: 7}}
		if got, err := stages[0].groups(&a); err != nil || got != want {
			t.Errorf("%q: %v workgroups, error %v, want %v", text, got, err, want)
		}
	}
	stages, err := stagesOf("//! main n0 n1\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stages[0].groups(&compute.Args{N: [5]int{1, many}}); err == nil {
		t.Error("more workgroups than WebGPU allows are no error")
	}
	for n, want := range map[int][2]bool{6: {true, false}, 5: {false, true}} {
		stages, err = stagesOf("//! main n0 if n0%2\n//! other n0 else\n")
		if err != nil {
			t.Fatal(err)
		}
		a := compute.Args{N: [5]int{n}}
		if got := [2]bool{stages[0].runs(&a), stages[1].runs(&a)}; got != want {
			t.Errorf("of an entry point and another for all else there run, for %d, %v, want %v", n, got, want)
		}
	}
}

// What is for programs alone is left out on a GPU, where what is for all else then always
// runs.
func TestStagesForPrograms(t *testing.T) {
	stages, err := stagesOf("//! slow n0 if program n0<9\n//! fast n0 else if n0>1\n//! last n0 else\n//! scratch n0*2 n0 1 if program\n")
	if err != nil {
		t.Fatal(err)
	}
	sh := shader{stages: stages[:3], scratch: stages[3:]}
	on := map[bool]string{true: "pw", false: "w"}
	for _, c := range []struct {
		program bool
		n       int
		want    string
	}{{true, 8, "slow"}, {true, 9, "fast"}, {true, 1, "slow"}, {false, 8, "fast"}, {false, 9, "fast"}, {false, 1, "last"}, {true, 0, "slow"}} {
		a, got := compute.Args{N: [5]int{c.n}}, ""
		for _, s := range sh.on(on[c.program]).stages {
			if s.runs(&a) {
				got += s.entry
			}
		}
		if got != c.want {
			t.Errorf("with a program %t there run, for %d, %q, want %q", c.program, c.n, got, c.want)
		}
	}
	a := compute.Args{N: [5]int{5}}
	if s := sh.on("pw").scratch; len(s) != 1 || s[0].words(&a) != 16 || len(sh.on("w").scratch) != 0 {
		t.Errorf("scratch of a program: %+v", s)
	}
	for letters, want := range map[string][2]bool{"pw": {true, false}, "w": {true, true}} {
		stages, err := stagesOf("//! main n0 if n0>1 unless program n0>4 n0<9\n")
		if err != nil {
			t.Fatal(err)
		}
		s := stagesOn(stages, letters)[0]
		if got := [2]bool{s.runs(&compute.Args{N: [5]int{9}}), s.runs(&a)}; got != want {
			t.Errorf("unless on %q: for 9 and 5 it runs %v, want %v", letters, got, want)
		}
	}
	if always, err := stagesOf("//! slow n0 if program\n//! fast n0 else\n"); err != nil {
		t.Error(err)
	} else if s := stagesOn(always, "pw"); !s[0].runs(&a) || s[1].runs(&a) {
		t.Error("what is for all else runs on a program, too")
	}
}

// A call knows sums as they are held if something that runs asks for that, or writes over them.
func TestStagesForSums(t *testing.T) {
	stages, err := stagesOf("//! first n0 if program empty n0<9\n//! last n0 else\n//! holds n0*2 if program empty n0<9\n//! holds 0 if program n0=20\n")
	if err != nil {
		t.Fatal(err)
	}
	sh := shader{stages: stages[:2], holds: stages[2:]}
	for _, c := range []struct {
		letters string
		n       int
		want    string
		knows   bool
		holds   int
	}{
		{"pe", 8, "first", true, 16}, {"pe", 9, "last", false, -1}, {"pe", 20, "last", true, 0},
		{"pw", 8, "last", false, -1}, {"po", 8, "last", false, -1}, {"po", 20, "last", true, 0},
		{"w", 8, "last", false, -1}, {"w", 20, "last", false, -1},
	} {
		a, on, got, holds := compute.Args{N: [5]int{c.n}}, sh.on(c.letters), "", -1
		for _, s := range on.stages {
			if s.runs(&a) {
				got += s.entry
			}
		}
		for _, s := range on.holds {
			if s.runs(&a) {
				holds = s.words(&a)
			}
		}
		if got != c.want || on.knows(&a) != c.knows || holds != c.holds {
			t.Errorf("%q, for %d: %q runs, it knows the sums: %t, they are then %d; want %q, %t, %d", c.letters, c.n, got, on.knows(&a), holds, c.want, c.knows, c.holds)
		}
	}
}

// The program that widens sums is no kernel's, and has one entry point, for them alone.
func TestWidening(t *testing.T) {
	stages, err := stagesOf(widening)
	if err != nil || len(stages) != 1 {
		t.Fatalf("%d entry points, error %v", len(stages), err)
	}
	a := compute.Args{N: [5]int{5000}}
	if g, err := stages[0].groups(&a); err != nil || g[0] == 0 {
		t.Errorf("over %d sums run %v workgroups, error %v", a.N[0], g, err)
	}
}
