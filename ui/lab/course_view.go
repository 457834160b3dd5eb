package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"clipscope/ui/lesson"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// courseView is the open lesson, or the list of them, and the game.
type courseView struct{ section }

func (v *courseView) view() app.UI {
	s := v.course.now()
	return app.Section().Class("lessons").ID("lessons").Aria("label", "Lessons").Body(
		widget.Message("lessons-fault", "fault", v.course.fault),
		app.If(s != nil, func() app.UI { return v.stepView(s) }).ElseIf(len(v.course.list) > 0, func() app.UI { return v.listView() }),
	)
}

func (v *courseView) listView() app.UI {
	return app.Details().Class("lesson-list").Open(v.course.listed).Body(
		app.Summary().ID("lesson-list").Text("Eight lessons, about ten minutes each"),
		app.Ol().Body(app.Range(v.course.list).Slice(func(i int) app.UI {
			l := &v.course.list[i]
			return app.Li().Body(
				v.press("lesson-"+l.ID, l.Title, openLesson{l.ID}).Class("plain link"),
				app.Span().Class("muted").Text(fmt.Sprintf(" %d minutes", l.Minutes)),
			)
		})),
		app.Details().Class("teacher").Body(
			app.Summary().ID("for-teachers").Text("For teachers"),
			(&classView{v.section}).handedIn(),
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
		app.If(v.course.step == len(v.course.at.Steps)-1, (&classView{v.section}).handIn),
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

// papersView is the papers' figures.
type papersView struct{ section }

func (v *papersView) view() app.UI {
	return app.Section().Class("papers").ID("papers").Aria("label", "The papers’ figures").Body(
		widget.Message("papers-fault", "fault", v.papers.fault),
		app.If(len(v.papers.list) > 0, func() app.UI {
			return app.Details().Body(
				app.Summary().Text("Figures of the papers: the claim, the experiment in small, our result"),
				app.Div().Class("figure-list").Body(app.Range(order).Slice(func(i int) app.UI { return v.ofPaper(order[i]) })),
				app.If(v.papers.at != nil, func() app.UI { return v.figureView(v.papers.at) }),
			)
		}),
	)
}

// ofPaper returns the choice among a paper's figures.
func (v *papersView) ofPaper(paper string) app.UI {
	var all []*lesson.Figure
	for i := range v.papers.list {
		if v.papers.list[i].Paper == paper {
			all = append(all, &v.papers.list[i])
		}
	}
	return app.Div().Class("figure-paper").Role("group").Aria("label", titles[paper]).Body(
		app.H3().Text(titles[paper]),
		app.Range(all).Slice(func(i int) app.UI { return v.button(all[i]) }),
	)
}

func (v *papersView) button(f *lesson.Figure) app.UI {
	return app.Button().Type("button").ID("figure-"+f.ID).Class("chip").Aria("pressed", v.papers.at == f).
		Aria("label", titles[f.Paper]+", "+f.Figure).Text(f.Figure).OnClick(func(app.Context, app.Event) { v.send(openFigure{f}) }, app.EventScope(f.ID))
}

func (v *papersView) figureView(f *lesson.Figure) app.UI {
	return app.Article().Class("figure").ID("figure").Body(
		app.H3().Text(titles[f.Paper]+", "+f.Figure),
		app.P().Text(f.Claim),
		app.P().Class("help").Text("Here: "+f.Differs),
		app.Button().Type("button").ID("figure-run").Class("primary").Text("Run it here").OnClick(func(app.Context, app.Event) { v.send(reproduce{f}) }, app.EventScope(f.ID)),
		app.If(f.Full != nil, func() app.UI { return fullView(f) }),
		app.If(len(f.Stored) > 0, func() app.UI { return storedView(f) }),
		app.If(len(f.Grids) > 0, func() app.UI { return gridsView(f.Grids) }),
	)
}

// gridsView shows the stored accuracies of more runs than lanes can show, as heat maps of one
// scale.
func gridsView(grids []lesson.Grid) app.UI {
	shade := shades(grids)
	return app.Div().Class("stored grids").Body(
		app.P().Class("help").Text("Test accuracy of every pair in %, stored as well: the stronger the colour, the better."),
		app.Range(grids).Slice(func(i int) app.UI {
			g := &grids[i]
			return app.Table().Body(
				app.Caption().Text(g.Label),
				app.THead().Body(app.Tr().Body(
					app.Td(),
					app.Range(g.Columns.Values).Slice(func(j int) app.UI {
						return app.Th().Scope("col").Text(g.Columns.Label + " = " + words.Number(g.Columns.Values[j], 3))
					}))),
				app.TBody().Body(app.Range(g.Stored).Slice(func(j int) app.UI {
					return app.Tr().Body(
						app.Th().Scope("row").Text(g.Rows.Label+" = "+words.Number(g.Rows.Values[j], 3)),
						app.Range(g.Stored[j]).Slice(func(k int) app.UI {
							return app.Td().Class("number", "heat-"+strconv.Itoa(shade(g.Stored[j][k]))).Text(words.Number(100*g.Stored[j][k], 3))
						}))
				})),
			)
		}),
	)
}

// shades returns a function from an accuracy to its place between the least and the greatest of
// all grids, 0 to 4.
func shades(grids []lesson.Grid) func(accuracy float64) int {
	least, greatest := math.Inf(1), math.Inf(-1)
	for i := range grids {
		for _, row := range grids[i].Stored {
			for _, v := range row {
				least, greatest = min(least, v), max(greatest, v)
			}
		}
	}
	return func(v float64) int {
		if !(greatest > least) {
			return 0
		}
		return min(4, int(5*(v-least)/(greatest-least)))
	}
}

// fullView leads to the runs on the paper's own data, which take too long for a lane, and
// whose files the visitor has.
func fullView(f *lesson.Figure) app.UI {
	configs, _ := f.FullConfigs() // read before
	return app.Div().Class("in-full").Body(
		app.P().Class("help").Text("Larger, on your own files of MNIST or Fashion-MNIST, which you choose there, with a network and a batch like the paper’s where it has them:"),
		app.Ul().Body(app.Range(configs).Slice(func(i int) app.UI {
			hash, _ := configs[i].Hash()
			return app.Li().Body(app.A().Href(widget.Link("/")+"#"+hash).Aria("label", "Open in Train, in full: "+f.Lanes[i].Label).Text(f.Lanes[i].Label))
		})),
	)
}

// storedView shows the stored results of a figure's runs, so marked.
func storedView(f *lesson.Figure) app.UI {
	head, cell := column(f.Watch)
	return app.Div().Class("stored").Body(
		app.P().Class("help").Text("Stored, from one machine (make stored-figures); the same seed here gives the same, up to rounding."),
		app.Table().Body(
			app.THead().Body(app.Tr().Body(app.Th().Scope("col").Text("run"), app.Th().Scope("col").Text(head))),
			app.TBody().Body(app.Range(f.Stored).Slice(func(i int) app.UI {
				o := &f.Stored[i]
				return app.Tr().Body(app.Th().Scope("row").Text(o.Label), app.Td().Class("number").Text(cell(o)))
			})),
		),
	)
}
