package lab

import (
	"os"
	"path"
	"strings"
	"testing"

	"clipscope/ui/lesson"
)

// librarian is a client with the figures of this repository.
type librarian struct{ *fakeClient }

func (librarian) Text(url string, done func([]byte, error)) {
	done(os.ReadFile("../../assets/" + path.Base(url)))
}

// A figure's experiment has its claim beside it, until there is another experiment.
func TestAFigureSaysWhatItShows(t *testing.T) {
	l := New(librarian{&fakeClient{bench: newBench()}})
	l.send(fetchFigures{})
	if len(l.papers.list) == 0 {
		t.Fatal(l.papers.fault)
	}
	for i := range l.papers.list {
		f := &l.papers.list[i]
		if titles[f.Paper] == "" {
			t.Errorf("%s: no paper is called %q", f.ID, f.Paper)
		}
		l.send(reproduce{f})
		at := l.lanes.about
		if len(f.Lanes) == 0 {
			at = l.papers.shown
		}
		if at != f || !strings.Contains(claim(at), f.Claim) || !strings.Contains(claim(at), f.Differs) {
			t.Errorf("%s: beside its experiment stands %q", f.ID, claim(at))
		}
		l.send(vary{"max_grad_norm", "1,3"})
		if l.open(places{}); l.lanes.about != nil || l.papers.shown != nil {
			t.Errorf("%s: its claim stands beside another experiment", f.ID)
		}
	}
	parts(l)
}

// TestShadesShareOneScale: the least of all grids is the lightest, the greatest the darkest, and
// grids of one value have one shade.
func TestShadesShareOneScale(t *testing.T) {
	shade := shades([]lesson.Grid{{Stored: [][]float64{{0.5, 0.6}}}, {Stored: [][]float64{{0.7, 1}}}})
	for v, want := range map[float64]int{0.5: 0, 0.65: 1, 0.75: 2, 0.99: 4, 1: 4} {
		if got := shade(v); got != want {
			t.Errorf("%v is shade %d, want %d", v, got, want)
		}
	}
	if got := shades([]lesson.Grid{{Stored: [][]float64{{0.5, 0.5}}}})(0.5); got != 0 {
		t.Errorf("a grid of one value has shade %d", got)
	}
}
