package lab

import (
	"slices"

	"clipscope/ui/browser"
	"clipscope/ui/lesson"
)

// send applies a command and draws what it touched: the page, but for what a hand does many
// times a second, which is drawn past the virtual DOM.
func (l *Lab) send(c command) {
	what := thePage
	switch c.(type) {
	case attach, detach, moveC, slide, price, typeAnswer:
		what = 0
	}
	l.update(what, func() { c.apply(l) })
}

// update changes the state by f, as a command does or an answer of the trainer, and has the
// screens draw what it touched besides what.
func (l *Lab) update(what aspect, f func()) {
	l.touched |= what
	f()
	l.lanes.retarget()
	what, l.touched = l.touched, 0
	frozen := l.state
	for _, draw := range l.screens {
		draw(&frozen, what)
	}
}

// answer has an answer of the trainer come in as an update.
func answer[T any](l *Lab, what aspect, f func(T, error)) func(T, error) {
	return func(v T, err error) { l.update(what, func() { f(v, err) }) }
}

// failed reports whether there is an error, and shows it.
func (l *Lab) failed(err error) bool {
	if err != nil {
		l.problem, l.bench.busy = err.Error(), ""
		l.touched |= thePage
	}
	return err != nil
}

// retarget has all lanes steered once the chosen one has ended.
func (l *lanes) retarget() {
	if l.target != "" && len(l.steered()) == 0 {
		l.target = ""
	}
}

// toggled returns list with an item added to it, or taken away.
func toggled(list []string, item string) []string {
	if i := slices.Index(list, item); i >= 0 {
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	return append(slices.Clone(list), item)
}

// writeHash puts the state in the URL without a step in the history.
func (l *Lab) writeHash() { browser.SetHash(l.hash()) }

// note notes a result of the experiment for the open lesson.
func (l *Lab) note(name string, value float64) {
	c, s := &l.course, l.course.now()
	if s == nil {
		return
	}
	waited := s.Ask != nil && !c.book.Ready(s.Ask)
	c.book.Note(name, value)
	if waited && c.book.Ready(s.Ask) {
		l.touched |= thePage
	}
}

// stands is the ids of the parts of the laboratory on the page.
var stands = map[lesson.Part]string{
	lesson.Plane: "lab-plane", lesson.U: "lab-u", lesson.Sweep: "sweep", lesson.Lanes: "lanes", lesson.Game: "game", lesson.Rows: "lab-rows",
}

// showStep brings in sight what the step speaks of, or what is to be pressed for that.
func (l *Lab) showStep() {
	s := l.course.now()
	switch {
	case s == nil || stands[s.Show] == "":
	case l.bench.before(s.From):
		browser.Scroll("lab-actions")
	default:
		browser.Scroll(stands[s.Show])
	}
}
