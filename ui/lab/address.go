package lab

import (
	"fmt"
	"strings"

	"clipscope/ui/browser"
	"clipscope/ui/link"
)

// address keeps what is tried in the URL, after the #.
type address struct {
	lab  *Lab
	lost string // what of the last link was not understood
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
	if s.C > 0 {
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
