package lab

import (
	"os"
	"path"
	"strings"
	"testing"
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
