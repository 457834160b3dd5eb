package cards

import (
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// all are the cards with everything on them that can be.
func all() map[form.Card]app.Composer {
	table := exampleReport()
	return map[form.Card]app.Composer{
		form.Data:      &Data{Form: exampleForm(form.Data), View: DataView{Report: table, Table: table}, Loader: nobody{}},
		form.Model:     &Model{Form: exampleForm(form.Model), Starter: nobody{}, Mixer: nobody{}},
		form.Clipping:  &Clipping{Form: exampleForm(form.Clipping)},
		form.Privacy:   &Privacy{Form: exampleForm(form.Privacy)},
		form.Optimiser: &Optimiser{Form: exampleForm(form.Optimiser)},
		form.Foot:      &Foot{Form: exampleForm(form.Foot)},
	}
}

// TestDeclaredIsCompared: the owner sees how far a declared number is from the counted one, where
// both are known and differ.
func TestDeclaredIsCompared(t *testing.T) {
	for _, c := range []struct {
		declared, rows int
		want           string
	}{{0, 100, ""}, {100, 0, ""}, {100, 100, ""}, {1000, 912, "912 rows to train on, and 1,000 declared"}} {
		if got := declared(c.declared, c.rows); got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%d declared, %d counted: %q", c.declared, c.rows, got)
		}
		if far := strings.Contains(declared(c.declared, c.rows), "far apart"); far {
			t.Errorf("%d declared, %d counted: far apart", c.declared, c.rows)
		}
	}
	for _, rows := range []int{400, 2100} {
		if got := declared(1000, rows); !strings.Contains(got, "far apart") {
			t.Errorf("1000 declared, %d counted: %q", rows, got)
		}
	}
}

// Every field of the configuration has its control and a place for what is wrong
// with it, once, on the card that the table says; so a field that is added to the
// table is on the page.
func TestEveryFieldIsOnItsCard(t *testing.T) {
	html := map[form.Card]string{}
	for card, c := range all() {
		html[card] = app.HTMLString(c)
	}
	for card := range html {
		for _, f := range form.On(card) {
			want := `id="f-` + strings.ReplaceAll(f.Key, ".", "-") + `-fault"`
			switch {
			case f.Kind == form.Notice:
				want = f.Help
			case f.Now != nil:
				want = "<legend>" + f.Label + "</legend>"
			}
			for other, text := range html {
				if n := strings.Count(text, want); (n == 1) != (other == card) || n > 1 {
					t.Errorf("%s, of card %q, stands %d times on %q", f.Key, card, n, other)
				}
			}
		}
	}
}

// TestSizeNamesTheRowsOfATabAlone: a GPU takes other numbers of rows at once than a tab, which the plan
// does not know.
func TestSizeNamesTheRowsOfATabAlone(t *testing.T) {
	for backend, want := range map[string]string{
		"simd":   "7 parameters; about 3 kB of memory, with 512 rows at once.",
		"webgpu": "7 parameters; as many rows at once as the GPU has memory for.",
	} {
		if got := size(&run.PlanInfo{Parameters: 7, MemoryBytes: 3000, PhysicalBatch: 512, Backend: backend}); got != want {
			t.Errorf("%s: %q, want %q", backend, got, want)
		}
	}
}
