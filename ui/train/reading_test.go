package train

import (
	"testing"

	"clipscope/core/data/source"
)

// TestProgressOfReadingOnlyGrows: over two passes, several files and other phases, up to the end.
func TestProgressOfReadingOnlyGrows(t *testing.T) {
	pass := func(phase string, files ...string) (all []source.Progress) {
		for i, f := range files {
			for _, done := range []int64{0, 10, 20} {
				all = append(all, source.Progress{Phase: phase, File: f, Done: done * int64(i+1), Total: 20 * int64(i+1)})
			}
		}
		return all
	}
	for name, told := range map[string][]source.Progress{
		"a table":     append(pass("scan", "t.csv"), pass("read", "t.csv")...),
		"two tables":  append(pass("scan", "a.csv", "b.csv"), pass("read", "a.csv", "b.csv")...),
		"with tests":  append(append(append(pass("scan", "a.csv"), pass("scan", "b.csv")...), pass("read", "a.csv")...), pass("read", "b.csv")...),
		"images":      pass("read", "x.gz", "y.gz"),
		"nothing yet": {{Phase: "read", File: "a", Done: 0, Total: 0}, {Phase: "read", File: "a", Done: 20, Total: 20}},
	} {
		var g reading
		for _, p := range told {
			before := g.Share
			if g.add(p); g.Share < before || g.Share > 1 {
				t.Errorf("%s: %v after %v, at %+v", name, g.Share, before, p)
			}
			if p.Phase == "scan" && g.Share > 0.5 {
				t.Errorf("%s: %v in the first pass", name, g.Share)
			}
		}
		if g.Share != 1 {
			t.Errorf("%s ends at %v", name, g.Share)
		}
	}
}
