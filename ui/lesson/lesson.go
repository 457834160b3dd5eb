// Package lesson holds the laboratory's lessons, and judges the answers to their
// questions. A lesson has a few short steps; the numbers of the experiment that the person
// has just done answer its questions. It knows of no page.
package lesson

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Lesson is some ten minutes of experiments.
type Lesson struct {
	ID      string `json:"id"` // in a link: #lesson=id
	Title   string `json:"title"`
	Minutes int    `json:"minutes"`
	Steps   []Step `json:"steps"`
	// Noiseless leaves the noise out of the plane, before the lesson about it.
	Noiseless bool `json:"noiseless,omitempty"`
	// Teacher is what one who teaches it should know: what usually comes out, and what
	// students ask.
	Teacher string `json:"teacher"`
}

// Step is a text beside the experiment that it speaks of.
type Step struct {
	Text string `json:"text"` // at most [MostWords]
	// Set is what the experiment is set to when the step is opened, by the names of the
	// configuration; what it does not name stays.
	Set map[string]any `json:"set,omitempty"`
	// Show is the part of the page that the step is about.
	Show Part `json:"show,omitempty"`
	// As names what is measured during the step, so that later questions can ask for it:
	// best_c, measured in a step that is "low", is best_c@low.
	As string `json:"as,omitempty"`
	// From is the step of training that the experiment has to be taken to: what is seen of a
	// batch before is no answer.
	From int `json:"from,omitempty"`
	// Hide keeps the answer out of sight until the person has said what they expect.
	Hide bool      `json:"hide,omitempty"`
	Ask  *Question `json:"ask,omitempty"`
}

// MostWords limits a step's text: nobody reads more beside an experiment.
const MostWords = 40

// Part is a part of the laboratory.
type Part string

// The parts.
const (
	Plane Part = "plane"
	U     Part = "u"
	Sweep Part = "sweep"
	Lanes Part = "lanes"
	Game  Part = "game"
	Rows  Part = "rows" // the plane of the data, or examples
)

// Question is checked by facts that the experiment has noted; without them it cannot be
// answered. It is of one of three kinds.
type Question struct {
	Text  string `json:"text"`
	After string `json:"after"` // what is said once it is answered, right or not

	// A number is asked for where there are no Options: right within Factor of Fact.
	Fact   string  `json:"fact"`
	Factor float64 `json:"factor,omitempty"`
	// Of Options the one is right that Fact falls to: where Than is another fact, the
	// first where Fact is more than Margin times as large, the second where Than is, the
	// third otherwise; where it is not, Bounds part the options, from below.
	Options []string  `json:"options,omitempty"`
	Than    string    `json:"than,omitempty"`
	Margin  float64   `json:"margin,omitempty"`
	Bounds  []float64 `json:"bounds,omitempty"`
}

// Needs are the facts without which the question cannot be answered.
func (q *Question) Needs() []string {
	if q.Than != "" {
		return []string{q.Fact, q.Than}
	}
	return []string{q.Fact}
}

// Read reads lessons and refuses those that could not be taught.
func Read(b []byte) ([]Lesson, error) {
	var list []Lesson
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("lesson: %w", err)
	}
	for _, l := range list {
		if err := l.checkParts(); err != nil {
			return nil, fmt.Errorf("lesson: %q: %w", l.ID, err)
		}
	}
	return list, nil
}

func (l *Lesson) checkParts() error {
	if l.ID == "" || l.Title == "" || l.Minutes <= 0 || len(l.Steps) == 0 {
		return fmt.Errorf("an id, a title, minutes and steps are needed")
	}
	for i := range l.Steps {
		if err := l.Steps[i].checkText(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (s *Step) checkText() error {
	if n := len(strings.Fields(s.Text)); n == 0 || n > MostWords {
		return fmt.Errorf("a text of %d words; 1 to %d are read", n, MostWords)
	}
	if !slices.Contains([]Part{"", Plane, U, Sweep, Lanes, Game, Rows}, s.Show) {
		return fmt.Errorf("there is no part %q", s.Show)
	}
	if s.Ask == nil {
		return nil
	}
	return s.Ask.checkOptions()
}

func (q *Question) checkOptions() error {
	switch {
	case q.Text == "" || q.After == "" || q.Fact == "":
		return fmt.Errorf("a question needs its text, a fact, and what is said after it")
	case len(q.Options) == 0 && !(q.Factor > 1):
		return fmt.Errorf("a number is right within a factor above 1, not %v", q.Factor)
	case len(q.Options) > 0 && q.Than != "" && (len(q.Options) != 3 || !(q.Margin >= 1)):
		return fmt.Errorf("two facts are compared by three options and a margin of at least 1")
	case len(q.Options) > 0 && q.Than == "" && (len(q.Bounds) != len(q.Options)-1 || !slices.IsSorted(q.Bounds)):
		return fmt.Errorf("%d options are parted by %d rising bounds", len(q.Options), len(q.Options)-1)
	}
	return nil
}

// Book records the results of a lesson's experiments.
type Book struct {
	as    string
	facts map[string]float64
}

// Open has what is noted from now on belong to a step.
func (b *Book) Open(s *Step) { b.as = s.As }

// Note writes a fact down, in the place of what it was before. One that is not a number
// is none.
func (b *Book) Note(name string, value float64) {
	if math.IsNaN(value) {
		return
	}
	if b.facts == nil {
		b.facts = map[string]float64{}
	}
	b.facts[name] = value
	if b.as != "" {
		b.facts[name+"@"+b.as] = value
	}
}

// Fact returns the value that was noted last under a name.
func (b *Book) Fact(name string) (value float64, known bool) {
	value, known = b.facts[name]
	return value, known
}

// Ready reports whether the experiments that a question is about have been done.
func (b *Book) Ready(q *Question) bool {
	for _, name := range q.Needs() {
		if _, known := b.facts[name]; !known {
			return false
		}
	}
	return true
}

// Agree reports whether an answer is right where truth is what the experiment says: the same option, or a number
// within the question's factor.
func (q *Question) Agree(answer, truth float64) bool {
	if len(q.Options) > 0 || truth == 0 {
		return answer == truth
	}
	ratio := answer / truth
	return ratio <= q.Factor && ratio >= 1/q.Factor
}

// Option is the option that is right, or −1 of a question that is not [Book.Ready] or has
// none.
func (b *Book) Option(q *Question) int {
	if !b.Ready(q) || len(q.Options) == 0 {
		return -1
	}
	fact := b.facts[q.Fact]
	if q.Than != "" {
		switch than := b.facts[q.Than]; {
		case fact > q.Margin*than:
			return 0
		case than > q.Margin*fact:
			return 1
		}
		return 2
	}
	i := 0
	for i < len(q.Bounds) && fact >= q.Bounds[i] {
		i++
	}
	return i
}
