package lab

import (
	"errors"
	"os"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/client"
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
	l.course.fetch()
	c := &l.course
	if len(c.list) == 0 {
		t.Fatal(c.fault)
	}
	for i := range c.list {
		c.open(c.list[i].ID)
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
				c.check()
				if !c.answer[c.key()].right || c.hidden() {
					t.Errorf("%s, step %d: the right answer is wrong", c.at.ID, c.step+1)
				}
			}
			c.view()
			c.gameView()
			if c.step == len(c.at.Steps)-1 {
				break
			}
			c.move(1)
		}
	}
}

func TestQuestionsOfALessonThatWasNotDone(t *testing.T) {
	l := New(fake{})
	l.course.fetch()
	c := &l.course
	for i := range c.list {
		for k, s := range c.list[i].Steps {
			c.open(c.list[i].ID)
			c.step = k
			c.enter()
			if s.Ask != nil && c.book.Ready(s.Ask) {
				t.Errorf("%s, step %d can be answered before anything was done", c.at.ID, k+1)
			}
		}
	}
}

func TestLessonsThatDidNotCome(t *testing.T) {
	l := New(fake{broken: true})
	l.course.fetch()
	if l.course.fault == "" || l.course.asked {
		t.Error("nothing is said, or they cannot be asked for again")
	}
	l.course.view()
}
