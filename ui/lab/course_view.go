package lab

import (
	"fmt"
	"strconv"
	"strings"

	"clipscope/ui/lesson"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// courseView is the open lesson, or the list of them, and the game.
type courseView struct{ part }

func (v *courseView) view() app.UI {
	s := v.course.now()
	return app.Section().Class("lessons").ID("lessons").Aria("label", "Lessons").Body(
		widget.Message("lessons-fault", "fault", v.course.fault),
		app.If(s != nil, func() app.UI { return v.stepView(s) }).ElseIf(len(v.course.list) > 0, func() app.UI { return v.listView() }),
	)
}

func (v *courseView) listView() app.UI {
	return app.Details().Class("lesson-list").Open(v.course.listed).Body(
		app.Summary().ID("lesson-list").Text("Lessons: seven experiments, about ten minutes each"),
		app.Ol().Body(app.Range(v.course.list).Slice(func(i int) app.UI {
			l := &v.course.list[i]
			return app.Li().Body(
				v.press("lesson-"+l.ID, l.Title, openLesson{l.ID}).Class("plain link"),
				app.Span().Class("muted").Text(fmt.Sprintf(" %d minutes", l.Minutes)),
			)
		})),
		app.Details().Class("teacher").Body(
			app.Summary().Text("For teachers"),
			app.Range(v.course.list).Slice(func(i int) app.UI { return teacherView(&v.course.list[i]) }),
		),
	)
}

// teacherView shows what a teacher should know of a lesson: timing, answers, questions.
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

func (v *courseView) stepView(s *lesson.Step) app.UI {
	return app.Div().Class("lesson").Body(
		app.Div().Class("lesson-head").Body(
			app.H2().Text(fmt.Sprintf("Lesson %d of %d: %s", v.course.number(), len(v.course.list), v.course.at.Title)),
			app.Span().Class("muted").Text(fmt.Sprintf("step %d of %d", v.course.step+1, len(v.course.at.Steps))),
			v.press("lesson-back", "Back", backStep{}).Disabled(v.course.step == 0),
			v.press("lesson-next", v.course.onward(), nextStep{}),
			widget.QR(),
			v.press("lesson-leave", "Leave", leaveLesson{}).Class("plain"),
		),
		app.P().ID("lesson-text").Class("lesson-text").Aria("live", "polite").Text(s.Text),
		app.If(s.Ask != nil, func() app.UI { return v.questionView(s.Ask) }),
	)
}

func (v *courseView) questionView(q *lesson.Question) app.UI {
	done, has := v.course.answer[v.course.key()]
	said := ""
	switch {
	case has && done.right:
		said = "Right. " + q.After
	case has:
		said = "Your experiment says: " + done.truth + ". " + q.After
	}
	return app.Div().Class("question").OnKeyDown(func(_ app.Context, e app.Event) {
		if e.Get("key").String() == "Enter" && e.Get("target").Get("tagName").String() == "INPUT" {
			v.send(checkAnswer{})
		}
	}, app.EventScope(v.course.at.ID, v.course.key())).Body(
		app.If(len(q.Options) > 0, func() app.UI { return v.optionsView(q) }).Else(func() app.UI { return v.numberView(q) }),
		v.press("lesson-check", "Check", checkAnswer{}).Disabled(!v.course.book.Ready(q)),
		widget.Message("lesson-wait", "help", v.course.waits(q)),
		widget.Message("lesson-verdict", "verdict", said),
	)
}

func (v *courseView) numberView(q *lesson.Question) app.UI {
	hint := ""
	if v.course.byHandle(q) {
		hint = "as the handle"
	}
	return &answerField{Send: v.send, Of: v.course.at.ID + "." + v.course.key(), Text: q.Text, Hint: hint, Typed: v.course.typed}
}

// answerField is a field to type a number in.
type answerField struct {
	app.Compo
	Send              sender
	Of                string // which question
	Text, Hint, Typed string
}

// CompoID gives each question a field of its own: one that is set to nothing keeps on the
// page what was typed into it, which would be the answer to the next question.
func (f *answerField) CompoID() string { return f.Of }

func (f *answerField) Render() app.UI {
	return app.Span().Class("answer").Body(
		app.Label().For("lesson-answer").Text(f.Text),
		app.Input().Type("text").ID("lesson-answer").Class("number").Attr("inputmode", "decimal").AutoComplete(false).Placeholder(f.Hint).Value(f.Typed).
			OnInput(func(ctx app.Context, _ app.Event) { f.Send(typeAnswer{ctx.JSSrc().Get("value").String()}) }),
	)
}

func (v *courseView) optionsView(q *lesson.Question) app.UI {
	return app.FieldSet().Class("segments").Body(
		app.Legend().Text(q.Text),
		app.Div().Class("segments-row").Body(app.Range(q.Options).Slice(func(i int) app.UI {
			id := fmt.Sprintf("lesson-option-%d", i)
			return app.Span().Class("segment").Body(
				app.Input().Type("radio").ID(id).Name("lesson-option").Checked(v.course.chosen == i).
					OnChange(func(app.Context, app.Event) { v.send(pickAnswer{i}) }, app.EventScope(v.course.at.ID, v.course.key(), strconv.Itoa(i))),
				app.Label().For(id).Text(q.Options[i]),
			)
		})),
	)
}

// gameView is the game, where the step is about it.
func (v *courseView) gameView() app.UI {
	s := v.course.now()
	if s == nil || s.Show != lesson.Game {
		return app.Div().ID("game").Hidden(true)
	}
	g := &v.game
	return app.Section().Class("game").ID("game").Aria("label", "Was it in?").Body(
		app.P().Text(fmt.Sprintf("σ = %s%s", words.Number(g.noise, 2), g.epsilon)),
		app.Raw(g.picture()),
		app.P().Class("bells-key").Body(
			app.Span().Class("out").Text("what is released without the digit"),
			app.Span().Class("in").Text("with it"),
			app.Span().Class("released").Text("what was released this time"),
		),
		app.Div().Class("buttons").Body(
			v.press("guess-in", "It was in", guessIn{true}),
			v.press("guess-out", "It was not", guessIn{false}),
			v.press("guess-best", "The best player, 100 times", playBest{}),
		),
		app.P().Class("help").Role("status").Text(strings.TrimSpace(g.said+" "+g.score())),
	)
}
