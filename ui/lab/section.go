package lab

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// command is a change of the state that a part asks for. Only [Lab.send] applies it.
type command interface{ apply(*Lab) }

// sender takes the commands of the parts.
type sender func(command)

// section is a section of the page: a copy of the state to draw, and the function that takes its
// commands.
type section struct {
	state
	send sender
}

// press returns a button that sends a command. scope tells apart buttons of one id.
func (p *section) press(id, text string, c command, scope ...any) app.HTMLButton {
	send := p.send
	return app.Button().Type("button").ID(id).Text(text).OnClick(func(app.Context, app.Event) { send(c) }, app.EventScope(append(scope, id)...))
}

// pressOnce is like press, but ignores the second click of a double click: that was meant for
// the button that stood there before, such as the one that has started what this one stops.
func (p *section) pressOnce(id, text string, c command) app.HTMLButton {
	send := p.send
	return app.Button().Type("button").ID(id).Text(text).OnClick(func(_ app.Context, e app.Event) {
		if e.Get("detail").Int() < 2 {
			send(c)
		}
	}, app.EventScope(id))
}

// tick returns a checkbox that sends the command for its new state.
func (p *section) tick(id, text string, on, off bool, c func(on bool) command) app.HTMLLabel {
	send := p.send
	return app.Label().Class("tick").Body(
		app.Input().Type("checkbox").ID(id).Checked(on).Disabled(off).OnChange(func(ctx app.Context, _ app.Event) {
			send(c(ctx.JSSrc().Get("checked").Bool()))
		}, app.EventScope(id)),
		app.Span().Text(text),
	)
}

// values returns a table of text in a fold; caption is for who cannot see what it is of.
func values(caption string, head []string, rows [][]string) app.UI {
	return app.Details().Class("values").Body(
		app.Summary().Text("Values"),
		app.Table().Body(
			app.Caption().Class("visually-hidden").Text(caption),
			app.THead().Body(app.Tr().Body(app.Range(head).Slice(func(i int) app.UI { return app.Th().Scope("col").Text(head[i]) }))),
			app.TBody().Body(app.Range(rows).Slice(func(i int) app.UI {
				return app.Tr().Body(app.Th().Scope("row").Text(rows[i][0]), app.Range(rows[i][1:]).Slice(func(k int) app.UI { return app.Td().Class("figure").Text(rows[i][1+k]) }))
			})),
		),
	)
}
