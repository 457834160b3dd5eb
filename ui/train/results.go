package train

import (
	"fmt"
	"io"
	"strings"

	"clipscope/ui/browser"
	"clipscope/ui/results"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// resultsTable is the table of results of some of the kept runs.
type resultsTable struct {
	*env
	kept *keptRuns

	open        bool
	chosen      map[string]bool        // ids of the runs in the table
	outcomes    map[string]results.Run // of runs that were read, by id
	pending     map[string]bool        // ids of runs that are being read
	table       *results.Table         // of what tabled says
	tabled      string                 // ids of its runs, and its order
	sortedBy    string                 // key of a column; "": as the runs ended
	descending  bool
	diagnostics bool // files get scores and times
	fault       string
}

func newResultsTable(e *env, kept *keptRuns) *resultsTable {
	return &resultsTable{env: e, kept: kept, chosen: map[string]bool{}, outcomes: map[string]results.Run{}, pending: map[string]bool{}}
}

// outcome returns the run, which has ended, for the table. What its data are called is in its entry.
func (t *trial) outcome(e entry) results.Run {
	_, planned := t.steps()
	plan := &t.record.Plan
	r := results.Run{Config: t.record.Config, Data: e.Data, Released: results.Released{Epsilon: e.Epsilon, Delta: plan.Delta, Private: plan.Private, Steps: planned}}
	if t.result != nil {
		r.Private = r.Private && doubt(t.result) == ""
		r.Diagnostic = results.NewDiagnostic(t.result)
	}
	switch {
	case t.result == nil || t.result.Unfinished():
		r.Partial = t.state()
	case len(t.record.Changes) > 0:
		r.Partial = "changed on its way"
	}
	return r
}

// toggle shows the table, or no more. At first it has the runs on the data of the newest.
func (r *resultsTable) toggle() {
	r.open = !r.open
	if list := r.kept.entries(); r.open && !r.any(list) {
		for _, e := range list {
			r.chosen[e.ID] = e.Data == list[0].Data
		}
	}
	r.refresh()
	r.changed()
	browser.Focus(map[bool]string{true: "results", false: "results-toggle"}[r.open])
}

// begin shows the table of the runs that end from now on.
func (r *resultsTable) begin() {
	r.open, r.sortedBy = true, ""
	clear(r.chosen)
}

// any reports whether the table has one of the runs.
func (r *resultsTable) any(list []entry) bool {
	for _, e := range list {
		if r.chosen[e.ID] {
			return true
		}
	}
	return false
}

// choose puts a run into the table, or takes it out.
func (r *resultsTable) choose(id string, in bool) {
	r.chosen[id] = in
	r.refresh()
	r.changed()
}

// chooseAll puts all runs into the table, or takes them out.
func (r *resultsTable) chooseAll(in bool) {
	for _, e := range r.kept.entries() {
		r.chosen[e.ID] = in
	}
	r.refresh()
	r.changed()
}

// addEnded puts a run that has just ended into the table that is shown.
func (r *resultsTable) addEnded(id string) {
	if r.open && id != "" {
		r.chosen[id] = true
		r.refresh()
	}
}

// refresh reads the runs that are missing.
func (r *resultsTable) refresh() {
	if !r.open {
		return
	}
	for _, e := range r.kept.entries() {
		if _, known := r.outcomes[e.ID]; known || !r.chosen[e.ID] || r.pending[e.ID] {
			continue
		}
		r.pending[e.ID] = true
		r.kept.fetchRun(e, func(t *trial, err error) {
			delete(r.pending, e.ID)
			if err != nil {
				r.chosen[e.ID], r.fault = false, "The run of "+words.When(e.Ended, r.now())+" cannot be read: "+err.Error()
			} else {
				r.outcomes[e.ID] = t.outcome(e)
			}
			r.changed()
		})
	}
}

// made returns the table of the chosen runs that were read, the oldest first.
func (r *resultsTable) made() *results.Table {
	var runs []results.Run
	list, tabled := r.kept.entries(), fmt.Sprintln(r.sortedBy, r.descending)
	for i := len(list) - 1; i >= 0; i-- {
		if x, known := r.outcomes[list[i].ID]; known && r.chosen[list[i].ID] {
			runs, tabled = append(runs, x), tabled+list[i].ID+" "
		}
	}
	if tabled != r.tabled {
		r.table, r.tabled = results.New(runs), tabled
		r.table.Sort(r.sortedBy, r.descending)
	}
	return r.table
}

// sort orders the table by a column; a second time the other way round. Scores begin with the largest.
func (r *resultsTable) sort(c results.Column) {
	if r.sortedBy == c.Key {
		r.descending = !r.descending
	} else {
		r.sortedBy, r.descending = c.Key, strings.HasPrefix(c.Key, "diagnostic_test_")
	}
	r.changed()
}

// save downloads the table in a form: csv, md or tex.
func (r *resultsTable) save(form string) {
	t := r.made()
	write, mime := map[string]func(io.Writer, bool) error{"csv": t.CSV, "md": t.Markdown, "tex": t.LaTeX}[form],
		map[string]string{"csv": "text/csv", "md": "text/markdown", "tex": "application/x-tex"}[form]
	var b strings.Builder
	if err := write(&b, r.diagnostics); err != nil {
		r.fault = err.Error()
		r.changed()
		return
	}
	name := "clipscope-results"
	if r.diagnostics || !t.Private() {
		name += "-not-private"
	}
	browser.Save(name+"."+form, mime, b.String())
}

// view is the table, with what its figures are.
func (r *resultsTable) view() app.UI {
	if !r.open {
		return app.Div().ID("results").Hidden(true)
	}
	t := r.made()
	runs := 0
	for _, row := range t.Rows {
		runs += len(row.Runs)
	}
	counted := words.Plural(runs, "run") + ", " + words.Plural(len(t.Rows), "configuration")
	if n := len(r.pending); n > 0 {
		counted += fmt.Sprintf("; reading %s more", words.Count(n))
	}
	return app.Section().Class("results").ID("results").TabIndex(-1).Aria("label", "Table of results").Body(
		app.Div().Class("results-head").Body(
			app.H2().Text("Results"),
			app.P().Class("muted").Role("status").Text(counted),
			app.Button().Type("button").ID("results-close").Text("Close").OnClick(func(app.Context, app.Event) { r.toggle() }),
		),
		widget.Message("results-fault", "fault", r.fault),
		app.If(len(t.Rows) == 0, func() app.UI {
			return app.P().Class("help").Text("No run is in the table. Open “Runs” and tick those to put in it.")
		}).Else(func() app.UI { return r.rows(t) }),
		app.If(len(t.Rows) > 0, func() app.UI { return r.files(t) }),
	)
}

// inks are the classes of cells by what they hold.
var inks = map[results.Kind]string{results.IsSetting: "", results.IsReleased: "figure value-released", results.IsDiagnostic: "figure value-diagnostic"}

func (r *resultsTable) rows(t *results.Table) app.UI {
	return app.Div().Class("scroll").TabIndex(0).Role("region").Aria("label", "Results by configuration").Body(app.Table().Body(
		app.THead().Body(app.Tr().Body(app.Range(t.Columns).Slice(func(i int) app.UI { return r.head(t.Columns[i]) }))),
		app.TBody().Body(app.Range(t.Rows).Slice(func(i int) app.UI {
			return app.Tr().Body(app.Range(t.Columns).Slice(func(k int) app.UI {
				c := t.Columns[k]
				if k == 0 && c.Kind == results.IsSetting {
					return app.Th().Scope("row").Text(words.Brief(c.Text(t.Rows[i]), mostOfCell))
				}
				return app.Td().Class(inks[c.Kind]).Text(words.Brief(c.Text(t.Rows[i]), mostOfCell))
			}))
		})),
	))
}

// mostOfCell limits the characters of a setting in the table.
const mostOfCell = 40

// head is the head of a column, which sorts by it.
func (r *resultsTable) head(c results.Column) app.UI {
	order, mark := "none", ""
	if r.sortedBy == c.Key {
		order, mark = "ascending", " ↑"
		if r.descending {
			order, mark = "descending", " ↓"
		}
	}
	return app.Th().Scope("col").Class(inks[c.Kind]).Aria("sort", order).Body(
		app.Button().Type("button").Class("plain").Title("Sort by "+strings.TrimPrefix(c.Key, "diagnostic_")).OnClick(func(app.Context, app.Event) { r.sort(c) }, app.EventScope(c.Key)).Text(c.Title + mark))
}

// files has the table saved.
func (r *resultsTable) files(t *results.Table) app.UI {
	save := func(form string) app.EventHandler { return func(app.Context, app.Event) { r.save(form) } }
	return app.Div().Class("results-foot").Body(
		widget.Message("results-difference", "value-diagnostic", t.Difference()),
		app.P().Class("help").Text(strings.Join(t.Notes(true), " ")),
		app.Div().Class("buttons downloads").Body(
			widget.Download("results-csv", "Every run, CSV", save("csv")),
			widget.Download("results-md", "Markdown", save("md")),
			widget.Download("results-tex", "LaTeX", save("tex")),
			app.Label().Class("tick").Body(
				app.Input().Type("checkbox").ID("results-diagnostics").Checked(r.diagnostics).OnChange(func(ctx app.Context, _ app.Event) {
					r.diagnostics = ctx.JSSrc().Get("checked").Bool()
				}),
				app.Span().Text("with scores and times, which no guarantee covers"),
			),
		),
	)
}
