package shader

import (
	"slices"
	"testing"

	"clipscope/core/compute"
)

// Workgroups of one number stand in rows where they are too many; over none nothing runs.
func TestManyWorkgroupsStandInRows(t *testing.T) {
	for _, c := range []struct {
		groups []int
		want   []Stage
	}{
		{[]int{1}, []Stage{{"main", [3]int{1, 1, 1}}}},
		{[]int{MostGroups}, []Stage{{"main", [3]int{MostGroups, 1, 1}}}},
		{[]int{100_000}, []Stage{{"main", [3]int{50_000, 2, 1}}}},
		{[]int{5, 3, 7}, []Stage{{"main", [3]int{5, 3, 7}}}},
		{[]int{0}, nil}, {[]int{5, 0}, nil}, {[]int{5, 3, 0}, nil},
	} {
		var call Call
		if call.Run("main", c.groups...); !slices.Equal(call.Stages, c.want) {
			t.Errorf("over %v workgroups: %v, want %v", c.groups, call.Stages, c.want)
		}
	}
	call := Call{Args: compute.Args{N: [5]int{257}}}
	if Main(256)(&call); !slices.Equal(call.Stages, []Stage{{"main", [3]int{2, 1, 1}}}) {
		t.Errorf("257 values, 256 in a workgroup: %v", call.Stages)
	}
}

func TestEntriesAreFoundInTheProgram(t *testing.T) {
	text := "fn help() {}\n@compute @workgroup_size(8, 8)\nfn first(@builtin(x) id: u32) {}\n@compute @workgroup_size(64)\nfn last() {}\n"
	if got := Entries(text); !slices.Equal(got, []string{"first", "last"}) {
		t.Errorf("entry points %q", got)
	}
	if got := Entries("fn help() {}"); got != nil {
		t.Errorf("entry points %q in a program without any", got)
	}
}
