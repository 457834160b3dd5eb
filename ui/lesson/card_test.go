package lesson

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func handedIn(name string, said ...float64) Card {
	return Card{Lesson: "gradients", Name: name, Answers: []Answer{{Step: 2, Said: said[0], Truth: 6, Again: 2}, {Step: 3, Said: said[1], Truth: 1}}}
}

func TestCardsAreReadBack(t *testing.T) {
	list := lessons(t)
	want := []Card{handedIn("Anna", 6.1, 1), handedIn("<b>Ümit</b>, \"=1+1\"", 4, 0), {Lesson: "clipping", Answers: []Answer{}}}
	var text strings.Builder
	text.WriteString("Dear teacher,\n")
	for _, c := range want {
		text.WriteString("> " + strings.ReplaceAll(c.Text(), "},", "},\n\t") + " Sent from a phone\r\n")
	}
	text.WriteString(want[0].Text()) // once more
	got, refused := ReadCards(text.String(), list)
	if len(refused) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, refused)
	}
	if n := len(want[1].Text()); n > 300 {
		t.Errorf("a card has %d bytes", n)
	}
}

func TestWhatIsNoCardIsRefused(t *testing.T) {
	list := lessons(t)
	whole := handedIn("Anna", 6.1, 1).Text()
	for name, text := range map[string]string{
		"nothing":      "",
		"no card":      "see you tomorrow",
		"cut off":      whole[:len(whole)-3],
		"a lesson":     strings.Replace(whole, "gradients", "cooking", 1),
		"a step":       strings.Replace(whole, `"step":2`, `"step":1`, 1),
		"far steps":    strings.Replace(whole, `"step":3`, `"step":1000000000`, 1),
		"twice":        strings.Replace(whole, `"step":3`, `"step":2`, 1),
		"fewer":        strings.Replace(whole, `"again":2`, `"again":-2`, 1),
		"an option":    handedIn("Anna", 6, 3).Text(),
		"half of one":  handedIn("Anna", 6, 0.5).Text(),
		"a number":     strings.Replace(whole, "6.1", `"<b>"`, 1),
		"a huge one":   strings.Replace(whole, "6.1", "1e999", 1),
		"a list":       mark + " [1,2]",
		"deep nesting": mark + strings.Repeat("[", 100_000),
	} {
		if cards, refused := ReadCards(text, list); len(cards) > 0 || len(refused) != 1 {
			t.Errorf("%s: %+v, %v", name, cards, refused)
		}
	}
	if cards, refused := ReadCards(strings.Repeat(whole+"\n", MostCards+1), list); len(cards) != 1 || len(refused) != 1 {
		t.Errorf("too many: %d cards, %v", len(cards), refused)
	}
}

func TestNamesAreClean(t *testing.T) {
	for name, want := range map[string]string{
		"  Anna\n":                 "Anna",
		"a" + mark + " {}":         "a {}",
		"a\u202eb\x00":             "ab",
		"clip\u200b" + mark[4:]:    "",
		mark[:5] + mark + mark[5:]: "",
		strings.Repeat("ü ", 50):   strings.TrimSpace(strings.Repeat("ü ", 20)),
	} {
		if got := Clean(name); got != want || len(got) > MostName {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestTallies(t *testing.T) {
	list := lessons(t)
	cards := []Card{handedIn("a", 6, 1), handedIn("b", 5, 1), handedIn("c", 60, 0), {Lesson: "gradients", Answers: []Answer{{Step: 2, Said: 7, Truth: 8}}}, {Lesson: "clipping", Answers: []Answer{{Step: 2, Said: 1}}}}
	all := list[0].Tallies(cards)
	if len(all) != 3 || all[0].Step != 2 || all[1].Step != 3 {
		t.Fatalf("%+v", all)
	}
	if n := all[0]; !slices.Equal(n.Said, []float64{6, 5, 60, 7}) || n.Truth != 6 || n.Right != 3 || n.Counts() != nil {
		t.Errorf("a number: %+v", n)
	}
	if o := all[1]; !slices.Equal(o.Counts(), []int{1, 2, 0}) || o.Right != 2 || o.Truth != 1 {
		t.Errorf("options: %+v", o)
	}
	if none := all[2]; len(none.Said) > 0 || none.Truth != 0 {
		t.Errorf("nobody answered: %+v", none)
	}
}

func FuzzReadCards(f *testing.F) {
	list := []Lesson{{ID: "a", Steps: []Step{{}, {Ask: &Question{Options: []string{"x", "y"}}}, {Ask: &Question{}}}}}
	f.Add(Card{Lesson: "a", Name: "n", Answers: []Answer{{Step: 2, Said: 1}, {Step: 3, Said: -4.5, Truth: 1e300, Again: 3}}}.Text())
	f.Add(mark + ` {"lesson":"a","answers":null}` + mark)
	f.Fuzz(func(t *testing.T, text string) {
		cards, refused := ReadCards(text, list)
		if len(cards)+len(refused) == 0 {
			t.Fatal("neither cards nor why there are none")
		}
		for _, tally := range list[0].Tallies(cards) {
			tally.Counts()
		}
		for _, c := range cards {
			again, refused := ReadCards(c.Text(), list)
			if len(refused) > 0 || len(again) != 1 || again[0].Text() != c.Text() {
				t.Fatalf("%+v is read as %+v, %v", c, again, refused)
			}
		}
	})
}
