package lesson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Card holds the answers of one person to a lesson, with the truth by their own experiment.
type Card struct {
	Lesson  string   `json:"lesson"`
	Name    string   `json:"name,omitempty"`
	Answers []Answer `json:"answers"` // in the order of their steps
}

// Answer is the first answer to the question of a step, and the truth by the experiment then. A choice is the option's
// place, from 0.
type Answer struct {
	Step  int     `json:"step"` // from 1
	Said  float64 `json:"said"`
	Truth float64 `json:"truth"`
	// Again counts the answers that came after the first.
	Again int `json:"again,omitempty"`
}

// mark begins every card, so that one is found in whatever a phone or a mail puts around it.
const mark = "clipscope-answers"

// MostName limits the bytes of a name, and MostCards the cards that are read at once.
const (
	MostName  = 60
	MostCards = 500
)

// Clean is a name as a card has it: printable, no longer than [MostName], and not itself taken for a card.
func Clean(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
	for strings.Contains(name, mark) {
		name = strings.ReplaceAll(name, mark, "")
	}
	for len(name) > MostName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = strings.TrimSpace(name[:len(name)-n])
	}
	return name
}

// Text is a card as one line of text, short enough for a camera's code.
func (c Card) Text() string {
	b, err := json.Marshal(c)
	if err != nil { // an answer that is no number, which no book has
		return ""
	}
	return mark + " " + string(b)
}

// ReadCards finds cards in a text, which may have anything around and between them. It returns those
// that are of these lessons, each once, and why others are not read.
func ReadCards(text string, list []Lesson) (cards []Card, refused []error) {
	parts := strings.Split(text, mark)[1:]
	if len(parts) == 0 {
		return nil, []error{errors.New("there are no answers in this text: they begin with " + mark)}
	}
	if len(parts) > MostCards {
		refused = append(refused, fmt.Errorf("of %d cards the first %d are read", len(parts), MostCards))
		parts = parts[:MostCards]
	}
	for i, part := range parts {
		var c Card
		err := json.NewDecoder(strings.NewReader(part)).Decode(&c)
		if err != nil {
			err = errors.New("it is cut off or was changed; copy it whole")
		} else {
			err = c.check(list)
		}
		switch {
		case err != nil:
			refused = append(refused, fmt.Errorf("card %d: %w", i+1, err))
		case !slices.ContainsFunc(cards, func(o Card) bool { return o.Text() == c.Text() }):
			cards = append(cards, c)
		}
	}
	return cards, refused
}

// check reports what keeps a card from being one of these lessons.
func (c *Card) check(list []Lesson) error {
	i := slices.IndexFunc(list, func(l Lesson) bool { return l.ID == c.Lesson })
	if i < 0 {
		return fmt.Errorf("there is no lesson %.40q here", c.Lesson)
	}
	c.Name = Clean(c.Name)
	steps := list[i].Steps
	for k, a := range c.Answers {
		c.Answers[k].Said, c.Answers[k].Truth = a.Said+0, a.Truth+0 // −0 is 0
		switch {
		case a.Step < 1 || a.Step > len(steps) || steps[a.Step-1].Ask == nil:
			return fmt.Errorf("step %d of this lesson asks nothing", a.Step)
		case k > 0 && c.Answers[k-1].Step >= a.Step:
			return errors.New("its answers are not in the order of their steps")
		case a.Again < 0:
			return fmt.Errorf("step %d was answered %d times more", a.Step, a.Again)
		}
		if n := len(steps[a.Step-1].Ask.Options); n > 0 && (!choice(a.Said, n) || !choice(a.Truth, n)) {
			return fmt.Errorf("step %d has %d options", a.Step, n)
		}
	}
	return nil
}

// choice reports whether v is the place of one of n options.
func choice(v float64, n int) bool { return v == math.Trunc(v) && v >= 0 && v < float64(n) }

// Tally holds the answers of a class to one question.
type Tally struct {
	Step     int // from 1
	Question *Question
	Said     []float64 // by who answered it
	Truth    float64   // the median of what their experiments say
	Right    int
}

// Tallies counts what cards of a lesson say, question by question.
func (l *Lesson) Tallies(cards []Card) []Tally {
	var all []Tally
	for i := range l.Steps {
		if q := l.Steps[i].Ask; q != nil {
			all = append(all, tally(i+1, q, l.ID, cards))
		}
	}
	return all
}

func tally(step int, q *Question, id string, cards []Card) Tally {
	t := Tally{Step: step, Question: q}
	var truths []float64
	for i := range cards {
		a := cards[i].Answer(step)
		if cards[i].Lesson != id || a == nil {
			continue
		}
		t.Said, truths = append(t.Said, a.Said), append(truths, a.Truth)
		if q.Agree(a.Said, a.Truth) {
			t.Right++
		}
	}
	if n := len(truths); n > 0 {
		slices.SortFunc(truths, cmp.Compare)
		t.Truth = truths[n/2]
	}
	return t
}

// Answer returns the answer to the question of a step; nil where there is none.
func (c *Card) Answer(step int) *Answer {
	i := slices.IndexFunc(c.Answers, func(a Answer) bool { return a.Step == step })
	if i < 0 {
		return nil
	}
	return &c.Answers[i]
}

// Counts returns how many chose each option; nil of a question that asks for a number.
func (t *Tally) Counts() []int {
	if len(t.Question.Options) == 0 {
		return nil
	}
	n := make([]int, len(t.Question.Options))
	for _, v := range t.Said {
		n[int(v)]++
	}
	return n
}
