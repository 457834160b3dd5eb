package lesson

import (
	"math"
	"os"
	"strings"
	"testing"
)

func lessons(t *testing.T) []Lesson {
	b, err := os.ReadFile("../../assets/lessons.json")
	if err != nil {
		t.Fatal(err)
	}
	list, err := Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestEveryLessonHasItsQuestions holds what is promised of them: eight, each with two questions at
// least, whose facts an earlier step or their own can have measured.
func TestEveryLessonHasItsQuestions(t *testing.T) {
	list := lessons(t)
	if len(list) != 8 {
		t.Errorf("%d lessons", len(list))
	}
	seen := map[string]bool{}
	for _, l := range list {
		if seen[l.ID] {
			t.Errorf("two lessons are %q", l.ID)
		}
		seen[l.ID] = true
		if l.Teacher == "" || l.Minutes > 12 {
			t.Errorf("%s: %d minutes, for the teacher %q", l.ID, l.Minutes, l.Teacher)
		}
		names, questions := map[string]bool{"": true}, 0
		for i, s := range l.Steps {
			names[s.As] = true
			if s.Ask == nil {
				continue
			}
			questions++
			for _, fact := range s.Ask.Needs() {
				_, as, _ := strings.Cut(fact, "@")
				if !names[as] {
					t.Errorf("%s, step %d: nothing is measured as %q before", l.ID, i+1, fact)
				}
			}
		}
		if questions < 2 {
			t.Errorf("%s has %d questions", l.ID, questions)
		}
	}
}

func TestReadRefusesFaultyLessons(t *testing.T) {
	step := func(s string) string {
		return `[{"id":"a","title":"A","minutes":5,"steps":[` + s + `]}]`
	}
	for name, text := range map[string]string{
		"no list":        `{}`,
		"nothing":        `[{}]`,
		"no steps":       step(""),
		"no text":        step(`{}`),
		"long":           step(`{"text":"` + strings.Repeat("word ", MostWords+1) + `"}`),
		"part":           step(`{"text":"a","show":"garden"}`),
		"question":       step(`{"text":"a","ask":{"text":"?","after":"b"}}`),
		"factor":         step(`{"text":"a","ask":{"text":"?","after":"b","fact":"c","factor":1}}`),
		"two options":    step(`{"text":"a","ask":{"text":"?","after":"b","fact":"c","than":"d","margin":1,"options":["x","y"]}}`),
		"no margin":      step(`{"text":"a","ask":{"text":"?","after":"b","fact":"c","than":"d","options":["x","y","z"]}}`),
		"bounds":         step(`{"text":"a","ask":{"text":"?","after":"b","fact":"c","options":["x","y"]}}`),
		"falling bounds": step(`{"text":"a","ask":{"text":"?","after":"b","fact":"c","options":["x","y","z"],"bounds":[2,1]}}`),
	} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Read([]byte(step(`{"text":"a","ask":{"text":"?","after":"b","fact":"c","factor":1.5}}`))); err != nil {
		t.Error(err)
	}
}

func TestQuestionsWaitForTheExperiment(t *testing.T) {
	var b Book
	number := &Question{Fact: "best_c@low", Factor: 1.5}
	compare := &Question{Fact: "best_c@low", Than: "best_c@high", Margin: 1.2, Options: []string{"more", "less", "same"}}
	within := &Question{Fact: "clipped", Options: []string{"few", "half", "most"}, Bounds: []float64{0.3, 0.7}}
	if b.Ready(number) || b.Option(compare) != -1 || b.Option(within) != -1 {
		t.Error("an experiment that was not done has an answer")
	}
	b.Open(&Step{As: "low"})
	b.Note("best_c", 3)
	b.Note("clipped", math.NaN())
	if b.Option(compare) != -1 || b.Option(within) != -1 {
		t.Error("half an experiment has an answer")
	}
	for _, c := range []struct {
		answer float64
		right  bool
	}{{3, true}, {2.1, true}, {4.4, true}, {1.9, false}, {4.6, false}, {-3, false}, {math.NaN(), false}, {math.Inf(1), false}, {0, false}} {
		if number.Agree(c.answer, 3) != c.right {
			t.Errorf("%v is right: %v", c.answer, !c.right)
		}
	}
	b.Open(&Step{As: "high"})
	for _, c := range []struct {
		high   float64
		option int
	}{{1, 0}, {10, 1}, {3.1, 2}} {
		b.Note("best_c", c.high)
		if got := b.Option(compare); got != c.option {
			t.Errorf("3 against %v is option %d", c.high, got)
		}
	}
	for _, c := range []struct {
		share  float64
		option int
	}{{0, 0}, {0.3, 1}, {0.69, 1}, {0.7, 2}, {1, 2}} {
		b.Note("clipped", c.share)
		if got := b.Option(within); got != c.option {
			t.Errorf("%v is option %d", c.share, got)
		}
	}
	if v, known := b.Fact("best_c@low"); v != 3 || !known {
		t.Error("a later step changed an earlier one's fact")
	}
}
