package lab

import (
	"math"

	"errors"
	"os"
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/lesson"
)

// fake is a client with the lessons of this repository.
type fake struct {
	Client
	broken bool
}

func (f fake) Text(_ string, done func([]byte, error)) {
	if f.broken {
		done(nil, errors.New("no network"))
		return
	}
	done(os.ReadFile("../../assets/lessons.json"))
}

func (fake) Ask(string, any, func([]byte, error)) func()                    { return func() {} }
func (fake) Ready(func(error))                                              {}
func (fake) Train(run.Config, client.Handle, bool, func(client.Run, error)) {}

// TestLessonsCanBeWalked opens every step of every lesson, answers its question as the
// experiment that was done has it, and finds that nothing can be answered before.
func TestLessonsCanBeWalked(t *testing.T) {
	l := New(fake{})
	l.send(fetchLessons{})
	c := &l.course
	if len(c.list) == 0 {
		t.Fatal(c.fault)
	}
	for i := range c.list {
		l.send(openLesson{c.list[i].ID})
		for {
			if l.fault != "" {
				t.Fatalf("%s, step %d: %s", c.at.ID, c.step+1, l.fault)
			}
			s := c.now()
			if q := s.Ask; q != nil {
				ready := c.book.Ready(q)
				for k, name := range q.Needs() {
					if !ready {
						c.book.Note(name, float64(k+1))
					}
				}
				if !c.book.Ready(q) {
					t.Errorf("%s, step %d: the experiment says nothing of %v", c.at.ID, c.step+1, q.Needs())
				}
				c.chosen, c.typed = c.book.Option(q), "1"
				if fact, _ := c.book.Fact(q.Fact); len(q.Options) == 0 && fact != 1 {
					t.Errorf("%s, step %d: %v", c.at.ID, c.step+1, fact)
				}
				l.send(checkAnswer{})
				if !c.answer[c.key()].right || c.hidden() {
					t.Errorf("%s, step %d: the right answer is wrong", c.at.ID, c.step+1)
				}
			}
			parts(l)
			if c.step == len(c.at.Steps)-1 {
				checkCard(t, c)
				break
			}
			if got := c.onward(); got != "Next" {
				t.Errorf("%s, step %d leads to %q", c.at.ID, c.step+1, got)
			}
			l.send(nextStep{})
		}
		want := "Next lesson"
		if i == len(c.list)-1 {
			want = "All lessons"
		}
		if got := c.onward(); got != want {
			t.Errorf("%s leads to %q, want %q", c.at.ID, got, want)
		}
	}
}

func TestQuestionsOfALessonWaitForItsMeasurements(t *testing.T) {
	l := New(fake{})
	l.send(fetchLessons{})
	c := &l.course
	for i := range c.list {
		for k, s := range c.list[i].Steps {
			l.openLesson(c.list[i].ID, k+1)
			if s.Ask != nil && c.book.Ready(s.Ask) {
				t.Errorf("%s, step %d can be answered before anything was done", c.at.ID, k+1)
			}
		}
	}
}

// A link to a step has the experiment as the steps before it have set it, and says what it
// leads to; going back does the same, and so does a lesson that is not there.
func TestALinkLeadsToAStep(t *testing.T) {
	l := New(fake{})
	l.send(fetchLessons{})
	c := &l.course
	read := func(hash string) {
		l.read(hash)
		l.openLesson(l.wanted.lesson, l.wanted.step)
	}
	for _, want := range []struct {
		hash, now string
		step      int
		c, batch  float64
		waits     string
	}{
		{"lesson=noise.2", "lesson=noise.2", 2, 10, 512, "Do the experiment first"},
		{"lesson=noise.3", "lesson=noise.3", 3, 1, 1024, "an earlier step"},
		{"lesson=noise.99", "lesson=noise.3", 3, 1, 1024, "an earlier step"},
		{"lesson=noise", "lesson=noise", 1, 1, 512, "Do the experiment first"},
	} {
		read(want.hash)
		if c.step+1 != want.step || l.config.MaxGradNorm != want.c || l.config.ExpectedBatchSize != want.batch || l.hash() != want.now {
			t.Errorf("%s: at step %d, C %v, a batch of %v, %q", want.hash, c.step+1, l.config.MaxGradNorm, l.config.ExpectedBatchSize, l.hash())
		}
		if got := c.waits(c.now().Ask); !strings.Contains(got, want.waits) {
			t.Errorf("%s: it waits for %q, want %q", want.hash, got, want.waits)
		}
	}
	read("lesson=noise.3")
	l.send(backStep{})
	if l.config.MaxGradNorm != 10 || l.config.ExpectedBatchSize != 512 {
		t.Errorf("back at step 2 C is %v, the batch %v", l.config.MaxGradNorm, l.config.ExpectedBatchSize)
	}
	read("lesson=nowhere")
	if c.at != nil || !strings.Contains(l.lost, `"nowhere"`) {
		t.Errorf("of a lesson that is not there it says %q", l.lost)
	}
}

func TestLessonsThatFailedCanBeAskedForAgain(t *testing.T) {
	l := New(fake{broken: true})
	l.send(fetchLessons{})
	if l.course.fault == "" || l.course.requested {
		t.Error("nothing is said, or they cannot be asked for again")
	}
	parts(l)
}

// checkCard holds that what is handed in at a lesson's end has its answers, and is read on a teacher's page.
func checkCard(t *testing.T, c *course) {
	t.Helper()
	c.name = " Anna\t"
	all := class{pasted: "from a phone: " + c.card().Text()}
	all.read(c.list)
	cards := all.of(c.id())
	if len(cards) != 1 || len(all.refused) > 0 || cards[0].Name != "Anna" {
		t.Fatalf("%s: %+v, %v", c.id(), cards, all.refused)
	}
	for _, q := range c.at.Tallies(cards) {
		if len(q.Said) != 1 || q.Right != 1 {
			t.Errorf("%s, step %d: %d answers, %d of them right", c.id(), q.Step, len(q.Said), q.Right)
		}
	}
}

func TestAClassOfAnySizeIsRead(t *testing.T) {
	c := class{pasted: strings.Repeat("x", mostText+1)}
	c.read(nil)
	if len(c.cards) > 0 || len(c.refused) != 1 {
		t.Errorf("%d cards, %v", len(c.cards), c.refused)
	}
	c = class{pasted: " \n"}
	if c.read(nil); len(c.refused) > 0 {
		t.Errorf("nothing is refused: %v", c.refused)
	}
}

// TestAStripHasAllNumbers within its picture, whatever they are.
func TestAStripHasAllNumbers(t *testing.T) {
	for _, said := range [][]float64{{1}, {0, 0}, {-1, 1e-300}, {1e-300, 1e300}, {-math.MaxFloat64, math.MaxFloat64}, {1, 100}} {
		q := lesson.Tally{Said: said, Truth: said[0]}
		s := newStrip(&q)
		for _, v := range said {
			if x := s.at(v); !(x >= 0 && x <= stripWidth) {
				t.Errorf("%v of %v lies at %v", v, said, x)
			}
		}
		if s.at(s.lo) > s.at(s.hi) || strings.Contains(s.picture(&q), "NaN") {
			t.Errorf("%v: %s", said, s.picture(&q))
		}
	}
	if s := (strip{1, 100, true}); math.Abs(s.at(10)-stripWidth/2) > 1e-9 {
		t.Errorf("10 lies at %v between 1 and 100", s.at(10))
	}
}
