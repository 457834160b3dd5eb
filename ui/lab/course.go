package lab

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"clipscope/ui/browser"
	"clipscope/ui/form"
	"clipscope/ui/lesson"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// course is the lessons, and where in them the person is.
type course struct {
	lab    *Lab
	list   []lesson.Lesson // nil until they have come
	fault  string
	asked  bool // for the lessons
	at     *lesson.Lesson
	step   int
	book   lesson.Book
	typed  string // in the question's field
	lacks  string // what an answer lacked that was to be checked
	chosen int    // of its options; −1: none
	answer map[string]answered
	teach  bool // the teacher's page is open
	listed bool // the list of lessons is open, where it is shown
}

// answered is what came of a question.
type answered struct {
	right bool
	truth string // what the experiment says
}

// fetch has the lessons come, once.
func (c *course) fetch() {
	if c.asked {
		return
	}
	c.asked = true
	c.lab.client.Text(widget.Link("/web/assets/lessons.json"), func(b []byte, err error) {
		if err == nil {
			c.list, err = lesson.Read(b)
		}
		if err != nil {
			c.fault, c.asked = "The lessons did not come: "+err.Error(), false
		}
		if to := c.lab.wanted; c.at == nil && to.lesson != "" {
			c.open(to.lesson, to.step)
		}
		c.lab.changed()
	})
}

// open opens a lesson by its id at one of its steps, from 1, or the nearest that there is;
// the experiment is what the steps before have set it to. An unknown one closes what is open.
func (c *course) open(id string, step int) {
	c.at, c.step, c.answer, c.book = nil, 0, map[string]answered{}, lesson.Book{}
	i := slices.IndexFunc(c.list, func(l lesson.Lesson) bool { return l.ID == id })
	if i < 0 {
		if id != "" {
			c.lab.address.lost = fmt.Sprintf("This link leads to a lesson that is not here: %q.", id)
		}
		c.enter(nil)
		return
	}
	c.at = &c.list[i]
	c.step = min(max(step, 1), len(c.at.Steps)) - 1
	c.enter(c.setSoFar())
}

// setSoFar is what the lesson has set by the step that is open.
func (c *course) setSoFar() map[string]any {
	set := map[string]any{}
	for _, s := range c.at.Steps[:c.step+1] {
		maps.Copy(set, s.Set)
	}
	return set
}

// close leaves the lesson.
func (c *course) close() { c.open("", 1) }

// id is that of the lesson that is open, or "".
func (c *course) id() string {
	if c.at == nil {
		return ""
	}
	return c.at.ID
}

// now is the step that is open, or nil.
func (c *course) now() *lesson.Step {
	if c.at == nil {
		return nil
	}
	return &c.at.Steps[c.step]
}

// stands is where the parts of the laboratory stand on the page.
var stands = map[lesson.Part]string{
	lesson.Plane: "lab-plane", lesson.U: "lab-u", lesson.Sweep: "sweep", lesson.Lanes: "lanes", lesson.Game: "game", lesson.Rows: "lab-rows",
}

// enter has the step begin, and the experiment set to what it is about.
func (c *course) enter(set map[string]any) {
	c.typed, c.chosen, c.lacks = "", -1, ""
	s := c.now()
	if s != nil {
		c.book.Open(s)
	}
	c.lab.opened(set)
	c.lab.address.write()
	c.show()
}

// show brings in sight what the step speaks of, or what is to be pressed for that.
func (c *course) show() {
	s := c.now()
	switch {
	case s == nil || stands[s.Show] == "":
	case c.lab.hands.before(s.From):
		browser.Scroll("lab-actions")
	default:
		browser.Scroll(stands[s.Show])
	}
}

// next goes on to the next step, in the experiment as it stands but for what that sets.
func (c *course) next() {
	c.step++
	c.enter(c.now().Set)
	c.lab.changed()
}

// back goes to the step before, and has the experiment as that step has it.
func (c *course) back() {
	c.step--
	c.enter(c.setSoFar())
	c.lab.changed()
}

// note writes down what an experiment showed.
func (c *course) note(name string, value float64) {
	s := c.now()
	if s == nil {
		return
	}
	waited := s.Ask != nil && !c.book.Ready(s.Ask)
	c.book.Note(name, value)
	if waited && c.book.Ready(s.Ask) {
		c.lab.changed()
	}
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

func (c *course) key() string { return strconv.Itoa(c.step) }

// submit has an answer checked, if there is one. Where the question is which C is best, the
// handle is an answer, too.
func (c *course) submit(q *lesson.Question) {
	if c.typed == "" && c.byHandle(q) {
		c.typed = words.Number(c.lab.hands.c, 3)
	}
	switch {
	case len(q.Options) > 0 && c.chosen < 0:
		c.lacks = "Choose an answer first."
	case len(q.Options) == 0 && strings.TrimSpace(c.typed) == "":
		c.lacks = "Type a number first."
	default:
		c.lacks = ""
		c.check()
	}
	c.lab.changed()
}

// guess is the number that was typed, which may be a percentage.
func (c *course) guess() (float64, error) {
	typed, percent := strings.CutSuffix(strings.TrimSpace(c.typed), "%")
	v, err := form.Parse(strings.TrimSpace(typed))
	if percent {
		v /= 100
	}
	return v, err
}

func (c *course) byHandle(q *lesson.Question) bool {
	return len(q.Options) == 0 && strings.HasPrefix(q.Fact, "best_c")
}

// check compares an answer with what the experiment says; what is none stays to be mended.
func (c *course) check() {
	q := c.now().Ask
	var a answered
	if len(q.Options) > 0 {
		i := c.book.Option(q)
		a = answered{i >= 0 && i == c.chosen, q.Options[max(i, 0)]}
	} else {
		v, err := c.guess()
		if err != nil {
			c.lacks = err.Error() + "."
			return
		}
		fact, _ := c.book.Fact(q.Fact)
		a = answered{c.book.Right(q, v), words.Number(fact, 3)}
	}
	c.answer[c.key()] = a
	c.lab.hands.paint()              // what was hidden until then
	browser.Reveal("lesson-verdict") // which a phone has below what it shows of the lesson
}

// configured is what of set belongs to the configuration, and not to a part of the page.
func configured(set map[string]any) map[string]any {
	own := maps.Clone(set)
	for _, key := range []string{"lanes", "game"} {
		delete(own, key)
	}
	return own
}

// view is the open lesson, or the list of them.
func (c *course) view() app.UI {
	s := c.now()
	return app.Section().Class("lessons").ID("lessons").Aria("label", "Lessons").Body(
		widget.Message("lessons-fault", "fault", c.fault),
		app.If(s != nil, func() app.UI { return c.stepView(s) }).ElseIf(len(c.list) > 0, func() app.UI { return c.listView() }),
	)
}

func (c *course) listView() app.UI {
	return app.Details().Class("lesson-list").Open(c.listed).Body(
		app.Summary().ID("lesson-list").Text("Lessons: seven experiments, about ten minutes each"),
		app.Ol().Body(app.Range(c.list).Slice(func(i int) app.UI {
			l := &c.list[i]
			return app.Li().Body(
				app.Button().Type("button").Class("plain link").Text(l.Title).OnClick(func(app.Context, app.Event) {
					c.open(l.ID, 1)
					c.lab.changed()
					browser.Focus("lesson-next") // the list is gone
				}, app.EventScope(l.ID)),
				app.Span().Class("muted").Text(fmt.Sprintf(" %d minutes", l.Minutes)),
			)
		})),
		app.Details().Class("teacher").Open(c.teach).Body(
			app.Summary().Text("For teachers"),
			app.Range(c.list).Slice(func(i int) app.UI { return teacherView(&c.list[i]) }),
		),
	)
}

// teacherView is what a teacher should know of a lesson: timing, answers, what is asked.
func teacherView(l *lesson.Lesson) app.UI {
	var questions []*lesson.Question
	for i := range l.Steps {
		if q := l.Steps[i].Ask; q != nil {
			questions = append(questions, q)
		}
	}
	return app.Section().Body(
		app.H2().Text(fmt.Sprintf("%s, %d minutes", l.Title, l.Minutes)),
		app.P().Text(l.Teacher),
		app.Ul().Body(app.Range(questions).Slice(func(i int) app.UI {
			q := questions[i]
			return app.Li().Text(q.Text + " " + q.After)
		})),
	)
}

func (c *course) stepView(s *lesson.Step) app.UI {
	return app.Div().Class("lesson").Body(
		app.Div().Class("lesson-head").Body(
			app.H2().Text(fmt.Sprintf("Lesson %d of %d: %s", c.number(), len(c.list), c.at.Title)),
			app.Span().Class("muted").Text(fmt.Sprintf("step %d of %d", c.step+1, len(c.at.Steps))),
			app.Button().Type("button").Text("Back").Disabled(c.step == 0).OnClick(func(app.Context, app.Event) { c.back() }),
			app.Button().Type("button").ID("lesson-next").Text(c.onward()).
				OnClick(func(app.Context, app.Event) { c.goOn() }),
			widget.QR(),
			app.Button().Type("button").Class("plain").Text("Leave").OnClick(func(app.Context, app.Event) {
				c.leave(false)
			}),
		),
		app.P().ID("lesson-text").Class("lesson-text").Aria("live", "polite").Text(s.Text),
		app.If(s.Ask != nil, func() app.UI { return c.questionView(s.Ask) }),
	)
}

// onward says where the lesson goes on.
func (c *course) onward() string {
	switch {
	case c.step < len(c.at.Steps)-1:
		return "Next"
	case c.number() < len(c.list):
		return "Next lesson"
	}
	return "All lessons"
}

// goOn leads to the next step, from the last one to the next lesson, and from the last
// lesson to the list of all.
func (c *course) goOn() {
	switch {
	case c.step < len(c.at.Steps)-1:
		c.next()
	case c.number() < len(c.list):
		c.open(c.list[c.number()].ID, 1)
		c.lab.changed()
	default:
		c.leave(true)
	}
}

// leave closes the lesson, for the list of them: open or not.
func (c *course) leave(listed bool) {
	c.listed = listed
	c.close()
	c.lab.changed()
	browser.Focus("lesson-list")
}

// number is that of the lesson, from 1.
func (c *course) number() int {
	return 1 + slices.IndexFunc(c.list, func(l lesson.Lesson) bool { return l.ID == c.at.ID })
}

func (c *course) questionView(q *lesson.Question) app.UI {
	done, has := c.answer[c.key()]
	ready := c.book.Ready(q)
	verdict := ""
	switch {
	case has && done.right:
		verdict = "Right. " + q.After
	case has:
		verdict = "Your experiment says: " + done.truth + ". " + q.After
	}
	check := func() { // which stays as it is while the step is drawn anew
		if s := c.now(); s != nil && s.Ask != nil && c.book.Ready(s.Ask) {
			c.submit(s.Ask)
		}
	}
	return app.Div().Class("question").OnKeyDown(func(_ app.Context, e app.Event) {
		if e.Get("key").String() == "Enter" && e.Get("target").Get("tagName").String() == "INPUT" {
			check()
		}
	}, app.EventScope(c.at.ID, c.key())).Body(
		app.If(len(q.Options) > 0, func() app.UI { return c.optionsView(q) }).Else(func() app.UI { return c.numberView(q) }),
		app.Button().Type("button").ID("lesson-check").Text("Check").Disabled(!ready).OnClick(func(app.Context, app.Event) { check() }, app.EventScope(c.at.ID, c.key())),
		widget.Message("lesson-wait", "help", c.waits(q)),
		widget.Message("lesson-verdict", "verdict", verdict),
	)
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

// earlier reports whether a fact is still unknown, and one of a step before this.
func (c *course) earlier(fact string) bool {
	_, known := c.book.Fact(fact)
	_, as, ok := strings.Cut(fact, "@")
	return !known && ok && as != c.now().As
}

func (c *course) numberView(q *lesson.Question) app.UI {
	hint := ""
	if c.byHandle(q) {
		hint = "as the handle"
	}
	return &answerField{Course: c, Of: c.at.ID + "." + c.key(), Text: q.Text, Hint: hint, Typed: c.typed}
}

// answerField is where a number is typed.
type answerField struct {
	app.Compo
	Course            *course
	Of                string // which question
	Text, Hint, Typed string
}

// CompoID gives each question a field of its own: one that is set to nothing keeps on the
// page what was typed into it, which would stand there as the answer to the next question.
func (f *answerField) CompoID() string { return f.Of }

func (f *answerField) Render() app.UI {
	return app.Span().Class("answer").Body(
		app.Label().For("lesson-answer").Text(f.Text),
		app.Input().Type("text").ID("lesson-answer").Class("number").Attr("inputmode", "decimal").AutoComplete(false).Placeholder(f.Hint).Value(f.Typed).
			OnInput(func(ctx app.Context, _ app.Event) { f.Course.typed = ctx.JSSrc().Get("value").String() }),
	)
}

func (c *course) optionsView(q *lesson.Question) app.UI {
	return app.FieldSet().Class("segments").Body(
		app.Legend().Text(q.Text),
		app.Div().Class("segments-row").Body(app.Range(q.Options).Slice(func(i int) app.UI {
			id := fmt.Sprintf("lesson-option-%d", i)
			return app.Span().Class("segment").Body(
				app.Input().Type("radio").ID(id).Name("lesson-option").Checked(c.chosen == i).
					OnChange(func(app.Context, app.Event) { c.chosen = i }, app.EventScope(c.at.ID, c.key(), strconv.Itoa(i))),
				app.Label().For(id).Text(q.Options[i]),
			)
		})),
	)
}

// gameView is the game, where the step is about it.
func (c *course) gameView() app.UI {
	s := c.now()
	if s == nil || s.Show != lesson.Game {
		return app.Div().ID("game").Hidden(true)
	}
	g := &c.lab.game
	guess := func(id, text string, f func()) app.UI {
		return app.Button().Type("button").ID(id).Text(text).OnClick(func(app.Context, app.Event) {
			browser.KeepFocus()
			f()
			c.note("guesses", float64(g.guesses))
			c.note("right", float64(g.right)/float64(g.guesses))
			if g.guesses >= leastGuesses {
				c.note("ceiling", g.ceiling())
			}
			c.lab.changed()
		}, app.EventScope(id))
	}
	return app.Section().Class("game").ID("game").Aria("label", "Was it in?").Body(
		app.P().Text(fmt.Sprintf("σ = %s%s", words.Number(g.noise, 2), g.epsilon)),
		app.Raw(g.picture()),
		app.P().Class("bells-key").Body(
			app.Span().Class("out").Text("what is released without the digit"),
			app.Span().Class("in").Text("with it"),
			app.Span().Class("released").Text("what was released this time"),
		),
		app.Div().Class("buttons").Body(
			guess("guess-in", "It was in", func() { g.guess(true) }),
			guess("guess-out", "It was not", func() { g.guess(false) }),
			guess("guess-best", "The best player, 100 times", func() { g.play(100) }),
		),
		app.P().Class("help").Role("status").Text(strings.TrimSpace(g.said+" "+g.score())),
	)
}

// leastGuesses is how many guesses it takes before the game's questions can be answered:
// fewer say nothing.
const leastGuesses = 20
