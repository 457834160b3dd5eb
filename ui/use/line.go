package use

import (
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// line holds the settings of the line between two classes.
type line struct {
	class int
	text  string // per cent, as it was typed; "": half way
	fault string
	drawn *run.ClassLine // by which answers go, as the last text that could be read has it
}

// hasLine reports whether a model answers with one of two classes.
func hasLine(info *run.ModelInfo) bool {
	return info != nil && data.Task(info.Task) == data.Classification && info.Outputs == 2
}

// className returns the name that a model has for a class.
func className(info *run.ModelInfo, i int) string {
	if len(info.Classes) > 0 {
		return info.Classes[i]
	}
	return strconv.Itoa(i)
}

// read returns the line, nil where the likelier class is answered.
func (l *line) read(info *run.ModelInfo) (*run.ClassLine, bool) {
	text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(l.text), "%"))
	if text == "" {
		return nil, true
	}
	percent, err := form.Parse(text)
	if err != nil || !(percent > 0 && percent < 100) {
		return nil, false
	}
	return &run.ClassLine{Class: className(info, l.class), From: percent / 100}, true
}

// said says which line an answer goes by; "" where that is what is likelier.
func (l *line) said() string {
	if l.drawn == nil {
		return ""
	}
	return "“" + data.Shown(l.drawn.Class) + "” is answered from " + words.Percent(l.drawn.From, 1) + " on."
}

// draw has answers go by the line as it was set, and asks again what was asked. A line that cannot be read leaves the one
// there was.
func (u *Use) draw(class int, text string) {
	u.line.class, u.line.text, u.line.fault = class, text, ""
	drawn, ok := u.line.read(u.info())
	if !ok {
		u.line.fault = "“" + text + "” is no probability: type per cent between 0 and 100, such as 12."
		u.changed()
		return
	}
	u.line.drawn = drawn
	u.model.Draw(drawn)
	if u.table.busy || u.table.result != nil {
		u.table.refuse(u.table.name, "The line between the classes has moved: choose "+data.Shown(u.table.name)+" again.", func() {})
	}
	if u.row.answer != nil || u.row.busy {
		u.typed()
	}
	if u.picture.answer != nil || u.picture.busy {
		u.look()
	}
	u.changed()
}

// linePart has the line between two classes drawn elsewhere.
func (u *Use) linePart() app.UI {
	info := u.info()
	if !hasLine(info) {
		return app.Div().Hidden(true)
	}
	return part("line", "Draw the line elsewhere",
		app.P().Class("help").Text("The likelier of the two classes is answered, from 50 % on. Where one mistake costs more than the other, have one of them answered sooner. What a line finds and misses stands with a run’s test rows, and below, where answers are compared with labels."),
		app.Div().Class("decision-line").Body(
			app.Label().For("line-class").Text("Answer"),
			app.Select().ID("line-class").OnChange(func(ctx app.Context, _ app.Event) {
				class, _ := strconv.Atoi(ctx.JSSrc().Get("value").String())
				u.draw(class, u.line.text)
			}).Body(app.Range([]int{0, 1}).Slice(func(i int) app.UI {
				return app.Option().Value(strconv.Itoa(i)).Selected(i == u.line.class).Text(data.Shown(className(info, i)))
			})),
			app.Label().For("line-from").Text("from a probability of"),
			app.Input().Type("text").ID("line-from").Class("line-from").Attr("inputmode", "decimal").AutoComplete(false).Placeholder("50").Value(u.line.text).Aria("describedby", "line-fault").
				OnChange(func(ctx app.Context, _ app.Event) { u.draw(u.line.class, ctx.JSSrc().Get("value").String()) }),
			app.Span().Text("% on"),
		),
		widget.Message("line-fault", "fault", u.line.fault),
	)
}
