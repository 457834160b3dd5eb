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
