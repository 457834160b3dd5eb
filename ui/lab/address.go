package lab

import (
	"fmt"
	"strings"

	"clipscope/ui/browser"
	"clipscope/ui/link"
	"clipscope/ui/words"
)

// address keeps what is tried in the URL, after the #.
type address struct {
	lab  *Lab
	lost string  // what of the last link was not understood, or is not as it says
	c    float64 // the last link's, until it is known whether the curves go as far; 0: none
}

// hash is the state as text.
func (a *address) hash() string {
	l, h := a.lab, &a.lab.hands
	return link.Lab{Run: l.config, C: h.c, With: l.with, Step: h.step, Batch: h.batch, Linear: h.linear, Lanes: l.lanes.state(), Lesson: l.course.id(), LessonStep: l.course.step + 1}.Hash()
}

// write puts the state in the URL without a step in the history.
func (a *address) write() { browser.SetHash(a.hash()) }

// read takes up a hash; false if it says nothing, or what is there already.
func (a *address) read(hash string) (to places, ok bool) {
	if hash == "" || hash == a.hash() {
		return places{}, false
	}
	l, h := a.lab, &a.lab.hands
	s, lost := link.ReadLab(hash)
	if l.wanted = (wanted{s.Lesson, s.LessonStep}); l.wanted.lesson != "" {
		return places{}, false
	}
	l.config, l.with, h.linear = s.Run, s.With, s.Linear
	if a.c = s.C; s.C > 0 {
		h.c = s.C
	}
	if s.Lanes != "" && l.lanes.restore(s.Lanes) != nil {
		lost = append(lost, "lab.lanes")
	}
	a.lost = ""
	if len(lost) > 0 {
		a.lost = fmt.Sprintf("Not understood in this link, and left out: %s. Everything else is as the link says.", strings.Join(lost, ", "))
	}
	return places{step: s.Step, batch: s.Batch}, true
}

// stands says where the link's C stands, if the curves, which follow the gradients, do not
// go as far.
func (a *address) stands(c float64) {
	if a.c > 0 && a.c != c {
		beyond := fmt.Sprintf("C = %s of this link lies beyond the curves: here it is %s, where they end.", words.Number(a.c, 3), words.Number(c, 3))
		a.lost = strings.TrimSpace(a.lost + " " + beyond)
	}
	a.c = 0
}
