package lab

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/ui/form"
	"clipscope/ui/lesson"
	"clipscope/ui/words"
)

// course is the state of the lessons, and where in them the person is.
type course struct {
	list      []lesson.Lesson // nil until they have come
	fault     string
	requested bool // for the lessons
	at        *lesson.Lesson
	step      int
	book      lesson.Book
	typed     string // in the question's field
	lacks     string // what an answer lacked to be checked
	chosen    int    // index of the option chosen; −1: none
	answer    map[string]verdict
	name      string // on the card that is handed in
	class     class
	listed    bool // the list of lessons is open, where it is shown
}

// verdict is the result of checking an answer.
type verdict struct {
	right bool
	truth string  // by the experiment
	said  float64 // the answer
	first lesson.Answer
}

// judge keeps what was answered to the open step's question; of the first answer, what the card has.
func (c *course) judge(said, fact float64, truth string) {
	first := lesson.Answer{Step: c.step + 1, Said: said, Truth: fact}
	if before, again := c.answer[c.key()]; again {
		first = before.first
		if said != before.said {
			first.Again++
		}
	}
	c.answer[c.key()] = verdict{c.now().Ask.Agree(said, fact), truth, said, first}
}

// recall has what was answered to a step stand in its question.
func (c *course) recall(s *lesson.Step) {
	v, answered := c.answer[c.key()]
	switch {
	case !answered:
	case len(s.Ask.Options) > 0:
		c.chosen = int(v.said)
	default:
		c.typed = strconv.FormatFloat(v.said, 'g', -1, 64)
	}
}

// setSoFar returns what the lesson has set up to the open step.
func (c *course) setSoFar() map[string]any {
	set := map[string]any{}
	for _, s := range c.at.Steps[:c.step+1] {
		maps.Copy(set, s.Set)
	}
	return set
}

// id returns the id of the open lesson, or "".
func (c *course) id() string {
	if c.at == nil {
		return ""
	}
	return c.at.ID
}

// now returns the open step, or nil.
func (c *course) now() *lesson.Step {
	if c.at == nil {
		return nil
	}
	return &c.at.Steps[c.step]
}

// hidden reports whether the answer is kept out of sight until the person has answered.
func (c *course) hidden() bool {
	s := c.now()
	if s == nil || !s.Hide {
		return false
	}
	_, done := c.answer[c.key()]
	return !done
}

// noiseless reports whether the open lesson leaves the noise out of the plane.
func (c *course) noiseless() bool { return c.at != nil && c.at.Noiseless }

func (c *course) key() string { return stepKey(c.step) }

func stepKey(step int) string { return strconv.Itoa(step) }

// guess parses the number that was typed, which may be a percentage.
func (c *course) guess() (float64, error) {
	typed, percent := strings.CutSuffix(strings.TrimSpace(c.typed), "%")
	v, err := form.Parse(strings.TrimSpace(typed))
	if percent {
		v /= 100
	}
	return v, err
}

// byHandle reports whether the handle's C answers the question, too.
func (c *course) byHandle(q *lesson.Question) bool {
	return len(q.Options) == 0 && strings.HasPrefix(q.Fact, "best_c")
}

// onward names the next step or lesson.
func (c *course) onward() string {
	switch {
	case c.step < len(c.at.Steps)-1:
		return "Next"
	case c.number() < len(c.list):
		return "Next lesson"
	}
	return "All lessons"
}

// number returns the number of the lesson, from 1.
func (c *course) number() int {
	return 1 + slices.IndexFunc(c.list, func(l lesson.Lesson) bool { return l.ID == c.at.ID })
}

// waits says what a question needs before it can be answered; "" if nothing.
func (c *course) waits(q *lesson.Question) string {
	switch {
	case c.book.Ready(q):
		return c.lacks
	case slices.ContainsFunc(q.Needs(), c.earlier):
		return "This needs numbers of an earlier step: go back and do its experiment first."
	}
	return "Do the experiment first: its numbers answer this."
}

// earlier reports whether a fact is unknown and belongs to an earlier step.
func (c *course) earlier(fact string) bool {
	_, known := c.book.Fact(fact)
	_, as, ok := strings.Cut(fact, "@")
	return !known && ok && as != c.now().As
}

// card returns what the person at the page can hand in of the open lesson.
func (c *course) card() lesson.Card {
	card := lesson.Card{Lesson: c.id(), Name: lesson.Clean(c.name)}
	for i := range c.at.Steps {
		if v, ok := c.answer[stepKey(i)]; ok {
			card.Answers = append(card.Answers, v.first)
		}
	}
	return card
}

// papers is the state of the papers' figures, as experiments to run again in small.
type papers struct {
	list      []lesson.Figure // nil until they have come
	at        *lesson.Figure
	requested bool
	fault     string
	shown     *lesson.Figure // the figure without runs that the boards show; nil: none
}

// titles is the papers' names by their short names, and order the order they are listed in.
var (
	titles = map[string]string{"VC": "Value clipping", "DC": "DC-SGD", "AC": "AdaCliP", "PS": "DP-PSAC"}
	order  = []string{"VC", "DC", "AC", "PS"}
)

// claim returns the claim of a figure and where to see it, for the part that has its experiment.
func claim(f *lesson.Figure) string {
	if f == nil {
		return ""
	}
	text := titles[f.Paper] + ", " + f.Figure + ": " + f.Claim + " Here: " + f.Differs
	if len(f.Lanes) > 0 {
		head, _ := column(f.Watch)
		text += " Look at: " + head + "."
	}
	return text
}

// column returns the header and the text of a figure's column in the table of its stored runs.
func column(watch string) (head string, cell func(*lesson.Outcome) string) {
	switch watch {
	case "loss":
		return "test loss", func(o *lesson.Outcome) string { return words.Number(float64(o.Loss), 3) }
	case "clip_fraction":
		return "clipped, first and last tenth of the steps; accuracy or loss", func(o *lesson.Outcome) string {
			result := words.Percent(float64(o.Accuracy), 1)
			if math.IsNaN(float64(o.Accuracy)) { // regression has none
				result = words.Number(float64(o.Loss), 3)
			}
			return words.Percent(float64(o.Clipped[0]), 0) + ", " + words.Percent(float64(o.Clipped[1]), 0) + "; " + result
		}
	case "max_grad_norm":
		return "C at the end", func(o *lesson.Outcome) string { return words.Number(float64(o.MaxGradNorm), 3) }
	case "seconds":
		return "time of a step, in parts of the first’s", func(o *lesson.Outcome) string { return words.Number(float64(o.Time), 2) }
	case "error":
		return "distance from the true gradient, by clipping and noise", func(o *lesson.Outcome) string { return words.Number(math.Sqrt(float64(o.Error)), 3) }
	case "cosine":
		return "cosine of the clipped with the true mean; accuracy", func(o *lesson.Outcome) string {
			return words.Number(float64(o.Cosine), 3) + "; " + words.Percent(float64(o.Accuracy), 1)
		}
	}
	return "test accuracy", func(o *lesson.Outcome) string { return words.Percent(float64(o.Accuracy), 1) }
}
