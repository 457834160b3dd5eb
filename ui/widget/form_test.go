package widget

import (
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Rows become controls in their order: neighbours that belong together in one
// group, what has no meaning hidden, what is advanced or drawn elsewhere left out.
func TestRowsBecomeControls(t *testing.T) {
	never := func(*run.Config) bool { return false }
	rows := []form.Field{
		{Key: "a", Label: "A"}, {Key: "b", Label: "B", Pair: true, When: never}, {Key: "c", Label: "C", Pair: true, When: never},
		{Key: "d", Label: "D", When: func(*run.Config) bool { return true }}, {Key: "e", Own: true}, {Key: "g", Label: "G", Advanced: true},
	}
	f := &Form{}
	var html []string
	for _, x := range f.Plain(rows) {
		html = append(html, app.HTMLString(x))
	}
	if len(html) != 3 {
		t.Fatalf("%d groups: %q", len(html), html)
	}
	for i, want := range []struct {
		ids    string
		hidden bool
	}{{"f-a", false}, {"f-b f-c", true}, {"f-d", false}} {
		first, _, _ := strings.Cut(html[i], ">")
		if strings.Contains(first+" ", " hidden ") != want.hidden {
			t.Errorf("group %d begins %s", i, first)
		}
		for _, id := range []string{"f-a", "f-b", "f-c", "f-d", "f-e", "f-g"} {
			if strings.Contains(html[i], `id="`+id+`"`) != strings.Contains(want.ids, id) {
				t.Errorf("group %d has %s, or lacks it", i, id)
			}
		}
	}
	if h := app.HTMLString(f.Advanced(rows)); !strings.Contains(h, `id="f-g"`) || strings.Contains(h, `id="f-a"`) {
		t.Errorf("folded away: %s", h)
	}
}

// A card is marked for a fault in any of its fields, by whatever name the trainer
// has for it.
func TestACardIsMarkedForItsFaults(t *testing.T) {
	for name, card := range map[string]form.Card{"seed": form.Foot, "pca": form.Data, "learning_rate": form.Optimiser, "r": form.Clipping, form.Plan: form.Privacy} {
		f := &Form{Faults: map[string]string{name: "wrong"}}
		for _, c := range []form.Card{form.Data, form.Model, form.Clipping, form.Privacy, form.Optimiser} {
			if f.faulty(c) != (c == card) {
				t.Errorf("a fault in %s marks %q: %t", name, c, f.faulty(c))
			}
		}
	}
}

// What needs attention is said before what is for the next run.
func TestACardIsMarkedForAttentionFirst(t *testing.T) {
	f := &Form{Faults: map[string]string{"r": "wrong"}, Next: []form.Card{form.Clipping, form.Data}}
	for card, want := range map[form.Card]string{form.Clipping: ">needs attention<", form.Data: ">next run<", form.Model: " hidden"} {
		if html := app.HTMLString(Card{ID: card}.mark(f)); !strings.Contains(html, want) {
			t.Errorf("%s is marked %s", card, html)
		}
	}
}

func TestChosenReadsNoChoiceAsEmpty(t *testing.T) {
	for value, want := range map[string]string{NoChoice: "", "-": "-", "-20": "-20", "": ""} {
		if got := Chosen(value); got != want {
			t.Errorf("%q stands for %q, want %q", value, got, want)
		}
	}
}
