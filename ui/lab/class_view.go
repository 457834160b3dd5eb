package lab

import (
	"fmt"

	"clipscope/ui/lesson"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// classView is the answers of the person at the page, and on a teacher's those of many.
type classView struct{ section }

// handIn shows what can be handed in, at a lesson's end.
func (v *classView) handIn() app.UI {
	card := v.course.card()
	text := card.Text()
	return app.Details().Class("hand-in").ID("hand-in").Body(
		app.Summary().Text(fmt.Sprintf("Hand in: %s of %s", words.Plural(len(card.Answers), "answer"), words.Plural(len(v.course.at.Tallies(nil)), "question"))),
		app.P().Class("help").Text("Your teacher’s page reads it, under For teachers. Nothing is sent: show the code, or copy the text into a message. It has your first answer to each question, and how many came after."),
		app.Label().For("hand-in-name").Text("Your name, if it is asked for"),
		app.Input().Type("text").ID("hand-in-name").Attr("maxlength", "60").AutoComplete(false).Spellcheck(false).Value(v.course.name).
			OnInput(func(ctx app.Context, _ app.Event) { v.send(nameCard{ctx.JSSrc().Get("value").String()}) }),
		app.P().Class("hand-in-text").ID("hand-in-text").Attr("translate", "no").Text(text),
		app.Div().Class("buttons").Body(
			&widget.Copy{ID: "hand-in-copy", Label: "Copy", Text: text},
			app.Button().Type("button").ID("hand-in-save").Text("Save as a file").OnClick(func(app.Context, app.Event) { v.send(saveCard{}) }),
			widget.QROf(text, "Answers, for the teacher’s camera"),
		),
	)
}

// handedIn reads what many have handed in.
func (v *classView) handedIn() app.UI {
	c := &v.course.class
	return app.Section().Class("class").ID("class").Body(
		app.H2().Text("Answers handed in"),
		app.P().Class("help").Text("At a lesson’s end everybody can hand in what they answered. Paste here what they sent, one below the other, or what a camera reads from their codes. It stays in this tab. First answers are shown; +2 says that two others came after one."),
		app.P().Class("help").Body(app.Text("Four lessons in 45 minutes, with a handout: "), app.A().Href(widget.Link("/guides/teaching/")).Text("Teach with it"), app.Text(".")),
		app.Label().For("class-text").Text("What was handed in"),
		app.Textarea().ID("class-text").Rows(3).Attr("spellcheck", "false").Attr("autocomplete", "off").
			OnInput(func(ctx app.Context, _ app.Event) { v.send(pasteCards{ctx.JSSrc().Get("value").String()}) }),
		app.Label().Class("button").For("class-files").Text("Choose their files"),
		app.Input().Type("file").ID("class-files").Class("visually-hidden").Multiple(true).Accept(".txt,text/plain").OnChange(func(ctx app.Context, _ app.Event) {
			files := ctx.JSSrc().Get("files")
			for i := range files.Length() {
				if files.Index(i).Get("size").Int() <= mostText { // or what is pasted is said to be too much
					files.Index(i).Call("text").Then(func(text app.Value) { v.send(fileCards{text.String()}) })
				}
			}
			ctx.JSSrc().Set("value", "") // so that the same can be chosen again
		}),
		app.Range(c.refused).Slice(func(i int) app.UI { return app.P().Class("warning").Text("Not read: " + c.refused[i].Error() + ".") }),
		app.Range(v.course.list).Slice(func(i int) app.UI { return v.of(&v.course.list[i]) }),
	)
}

// of shows what was answered in one lesson; nothing where nobody has handed it in.
func (v *classView) of(l *lesson.Lesson) app.UI {
	cards := v.course.class.of(l.ID)
	if len(cards) == 0 {
		return app.Div().Hidden(true)
	}
	all := l.Tallies(cards)
	return app.Section().Class("class-lesson").ID("class-"+l.ID).Body(
		app.H3().Text(fmt.Sprintf("%s: %s", l.Title, words.Plural(len(cards), "card"))),
		app.Range(all).Slice(func(i int) app.UI { return tallyView(&all[i]) }),
		app.Div().Class("class-table").TabIndex(0).Role("region").Aria("label", "Answers: "+l.Title).Body(app.Table().Body(
			app.THead().Body(app.Tr().Body(
				app.Th().Scope("col").Text("name"),
				app.Range(all).Slice(func(i int) app.UI { return app.Th().Scope("col").Text(fmt.Sprintf("step %d", all[i].Step)) }),
			)),
			app.TBody().Body(app.Range(cards).Slice(func(i int) app.UI {
				return app.Tr().Body(
					app.Th().Scope("row").Attr("translate", "no").Text(nameOf(&cards[i])),
					app.Range(all).Slice(func(k int) app.UI { return answerCell(&cards[i], &all[k]) }),
				)
			})),
		)),
	)
}

func nameOf(c *lesson.Card) string {
	if c.Name == "" {
		return "no name"
	}
	return c.Name
}

func answerCell(c *lesson.Card, t *lesson.Tally) app.UI {
	a := c.Answer(t.Step)
	if a == nil {
		return app.Td().Text(words.Missing)
	}
	said := words.Number(a.Said, 3)
	if o := t.Question.Options; len(o) > 0 {
		said = o[int(a.Said)]
	}
	return app.Td().Body(
		app.Text(said+" "),
		app.If(t.Question.Agree(a.Said, a.Truth), func() app.UI { return app.Strong().Aria("label", "right").Text("✓") }),
		app.If(a.Again > 0, func() app.UI { return app.Span().Class("muted").Text(fmt.Sprintf(" +%d", a.Again)) }),
	)
}

// tallyView is a picture of a class's answers to a question.
func tallyView(t *lesson.Tally) app.UI {
	n := len(t.Said)
	right := fmt.Sprintf("%s of %s right.", words.Count(t.Right), words.Count(n))
	if n == 0 {
		right = "Nobody answered."
	}
	return app.Div().Class("tally").Body(
		app.P().Body(app.Text(fmt.Sprintf("Step %d. %s ", t.Step, t.Question.Text)), app.Span().Class("muted").Text(right)),
		app.If(n > 0 && len(t.Question.Options) > 0, func() app.UI { return choicesView(t) }).
			ElseIf(n > 0, func() app.UI { return numbersView(t) }),
	)
}

func choicesView(t *lesson.Tally) app.UI {
	counts := t.Counts()
	return app.Table().Class("choices").Body(app.TBody().Body(app.Range(counts).Slice(func(i int) app.UI {
		return app.Tr().Body(
			app.Th().Scope("row").Text(t.Question.Options[i]),
			app.Td().Body(app.Raw(bar(float64(counts[i])/float64(len(t.Said))))),
			app.Td().Class("number").Text(words.Count(counts[i])),
		)
	})))
}

func numbersView(t *lesson.Tally) app.UI {
	s := newStrip(t)
	return app.Figure().Class("numbers").Body(
		app.Raw(s.picture(t)),
		app.FigCaption().Body(
			app.Span().Text(words.Number(s.lo, 3)),
			app.Span().Text("line: what their experiments say, "+words.Number(t.Truth, 3)),
			app.Span().Text(words.Number(s.hi, 3)),
		),
	)
}
