package train

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// statementView is the whole statement of a run's privacy, folded away.
type statementView struct {
	app.Compo
	Result *run.Result

	copied bool
}

// stated is what the page itself reads of a statement.
type stated struct {
	Text   string               `json:"text"`
	Ledger *run.StatementLedger `json:"ledger"`
}

// read is empty where there is no statement.
func read(statement json.RawMessage) stated {
	var s stated
	if json.Unmarshal(statement, &s) != nil {
		return stated{}
	}
	return s
}

// spentBefore says what the data have spent where this run was not the first on them; "" where
// it was, or they have no ledger.
func spentBefore(statement json.RawMessage) string {
	spent := read(statement).Ledger
	if spent == nil || spent.Runs < 2 {
		return ""
	}
	return fmt.Sprintf("With this run the data have spent ε = %s at δ = %s, in %s. That is what all that is published of them costs together; to choose the best of several is not covered.",
		words.Epsilon(float64(spent.Epsilon)), words.Upper(spent.Delta, 2), words.Plural(spent.Runs, "run"))
}

func (v *statementView) Render() app.UI {
	text := read(v.Result.Statement).Text
	if text == "" {
		return app.Div().Class("statement")
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	label := "Copy"
	if v.copied {
		label = "Copied"
	}
	return app.Details().Class("statement").ID("statement").Body(
		app.Summary().Text("Privacy statement"),
		app.Div().Class("statement-text").Body(
			app.Range(lines).Slice(func(i int) app.UI { return app.P().Text(lines[i]) }),
		),
		app.Div().Class("buttons downloads").Body(
			app.Button().Type("button").ID("copy-statement").OnClick(v.copy).Body(widget.Icon("share"), app.Span().Aria("live", "polite").Text(label)),
			widget.Download("statement-text", "Statement, text", v.save("txt")),
			widget.Download("statement-json", "Statement, JSON", v.save("json")),
			app.A().ID("check-statement").Href(widget.Link("/check")).Text("Check a file"),
		),
	)
}

func (v *statementView) copy(ctx app.Context, _ app.Event) {
	browser.Copy(read(v.Result.Statement).Text, func(ok bool) {
		ctx.Dispatch(func(ctx app.Context) {
			v.copied = ok
			ctx.After(3*time.Second, func(app.Context) { v.copied = false })
		})
	})
}

func (v *statementView) save(kind string) app.EventHandler {
	return func(app.Context, app.Event) {
		text, mime := read(v.Result.Statement).Text, "text/plain"
		if kind == "json" {
			text, mime = indented(v.Result.Statement), "application/json"
		}
		browser.Save("clipscope-statement."+kind, mime, text)
	}
}

func indented(b json.RawMessage) string {
	out, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return string(b)
	}
	return string(out) + "\n"
}
