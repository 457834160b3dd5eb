package train

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// statementView is the whole statement of a run's privacy, folded away.
type statementView struct {
	app.Compo
	Result *run.Result

	feed  chart.Feed
	drawn string // the statement that feed has
}

// stated holds the parts of a statement that the page itself reads.
type stated struct {
	Text     string               `json:"text"`
	Short    string               `json:"short"`
	Sections []run.Section        `json:"sections"`
	Attacker *run.Attack          `json:"attacker"`
	Ledger   *run.StatementLedger `json:"ledger"`
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
	const choice = "Picking the best one is not covered."
	if spent.Unprotected > 0 {
		guaranteed := spent.Epsilon // of a statement of an earlier version
		if spent.GuaranteedEpsilon != nil {
			guaranteed = *spent.GuaranteedEpsilon
		}
		return words.Unprotected(spent.Runs, spent.Unprotected, float64(guaranteed)) + " " + choice
	}
	return fmt.Sprintf("Together, the %d runs on these data have spent ε = %s at δ = %s. That covers publishing all of them. "+choice,
		spent.Runs, words.Epsilon(float64(spent.Epsilon)), words.Upper(spent.Delta, 2))
}

// spentByAll returns the number of runs on the data, this one included, and their ε together; none where the data have
// no ledger.
func spentByAll(statement json.RawMessage) (runs int, epsilon float64) {
	spent := read(statement).Ledger
	switch {
	case spent == nil:
		return 0, 0
	case spent.Unprotected > 0:
		return spent.Runs, math.Inf(1)
	}
	return spent.Runs, float64(spent.Epsilon)
}

func (v *statementView) Render() app.UI {
	s := read(v.Result.Statement)
	if s.Text == "" {
		return app.Div().Class("statement")
	}
	sections := s.Sections
	if len(sections) == 0 { // of a run that an earlier version kept
		sections = []run.Section{{ID: "text", Lines: strings.Split(strings.TrimSpace(s.Text), "\n")}}
	}
	return app.Details().Class("statement").ID("statement").Body(
		app.Summary().Text("Privacy statement"),
		app.Div().Class("statement-text").Body(
			app.Range(sections).Slice(func(i int) app.UI { return v.section(sections[i], s.Attacker) }),
		),
		app.Div().Class("buttons downloads").Body(
			&widget.Copy{ID: "copy-statement", Label: "Copy", Text: s.Text},
			app.If(s.Short != "", func() app.UI { return &widget.Copy{ID: "copy-short", Label: "Copy one paragraph", Text: s.Short} }),
			widget.Download("statement-text", "Statement, text", v.save("txt")),
			widget.Download("statement-json", "Statement, JSON", v.save("json")),
			app.A().ID("check-statement").Href(widget.Link("/check")).Text("Check a file"),
		),
	)
}

// section is a heading with its paragraphs; under what an attacker can do stands the curve.
func (v *statementView) section(s run.Section, attacker *run.Attack) app.UI {
	return app.Div().Class("statement-section").Body(
		app.If(s.Title != "", func() app.UI { return app.H3().Text(s.Title) }),
		app.Range(s.Lines).Slice(func(i int) app.UI { return app.P().Text(data.Shown(s.Lines[i])) }),
		app.If(s.ID == "attacker" && attacker != nil, func() app.UI {
			if key := string(v.Result.Statement); v.drawn != key {
				v.drawn = key
				chart.DrawAttack(&v.feed, attacker)
			}
			return app.Div().Body(
				app.P().Class("help").Text(chart.AttackTitle+". Upwards: the share that a test finds of the rows that were in. Across: the share that it wrongly accuses of those that were not."),
				app.Div().Class("plot-box attack").Body(&chart.Plot{Spec: chart.Attack, Feed: &v.feed, Label: chart.AttackTitle}),
			)
		}),
	)
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
