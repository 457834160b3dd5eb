package train

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/results"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// tabled returns the cells of a table by the keys of its columns.
func tabled(t *results.Table) (rows []map[string]string) {
	for _, r := range t.Rows {
		row := map[string]string{}
		for _, c := range t.Columns {
			row[c.Key] = c.Text(r)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestARunThatCameToRestIsWhole: unlike one that a person stopped, it is what its configuration asked for.
func TestARunThatCameToRestIsWhole(t *testing.T) {
	b, _ := newShelfBench(t)
	b.run(t, 300, nil)
	r := b.trials.last
	if r.outcome(r.entry()).Partial == "" {
		t.Error("a run that was stopped counts")
	}
	if r.result.Rested = true; r.outcome(r.entry()).Partial != "" {
		t.Error("a run that came to rest does not count")
	}
}

func TestKeptRunsBecomeATableOfResults(t *testing.T) {
	b, k := newShelfBench(t)
	b.run(t, 600, nil)
	b.run(t, 600, nil)
	b.run(t, 300, nil) // which was stopped
	b.Set("method", "psac")
	b.tick()
	b.run(t, 600, nil)
	b.run(t, 10, errors.New("out of memory"))
	b.results.toggle()
	rows := tabled(b.results.made())
	if len(rows) != 2 || rows[0]["runs"] != "2 of 3" || rows[1]["runs"] != "1 of 2" || rows[0]["diagnostic_test_accuracy"] != "91.2 ± 0.0 %" || rows[1]["diagnostic_test_accuracy"] != "91.2 %" || rows[0]["method"] == rows[1]["method"] {
		t.Errorf("rows %v", rows)
	}
	// Runs of an earlier visit are read from storage.
	again := benchOf(k, k.fakeClient)
	again.load(6000)
	again.keptRuns.followStore()
	again.results.toggle()
	if got := tabled(again.results.made()); len(got) != 2 || got[0]["runs"] != "2 of 3" {
		t.Errorf("in another visit %v", got)
	}
	// One that is taken out, or deleted, is in it no more.
	list := again.keptRuns.entries()
	again.results.choose(list[0].ID, false)
	again.keptRuns.removeRun(list[1].ID, false)
	again.keptRuns.removeRun(list[1].ID, true)
	if got := tabled(again.results.made()); len(got) != 1 || got[0]["runs"] != "2 of 3" {
		t.Errorf("without runs %v", got)
	}
	b.results.chooseAll(false)
	if html := app.HTMLString(b.results.view()); !strings.Contains(html, "No run is in the table.") || strings.Contains(html, "<table") {
		t.Errorf("of no run: %s", html)
	}
	// A run that ends while the table is shown comes into it.
	b.run(t, 600, nil)
	if got := tabled(b.results.made()); len(got) != 1 || got[0]["runs"] != "1" {
		t.Errorf("with a new run %v", got)
	}
}

func TestTheTableBeginsWithRunsOnTheNewestData(t *testing.T) {
	b, _ := newShelfBench(t)
	b.run(t, 600, nil)
	b.load(400)
	b.run(t, 600, nil)
	b.run(t, 600, nil)
	b.results.toggle()
	if rows := tabled(b.results.made()); len(rows) != 1 || rows[0]["runs"] != "2" {
		t.Errorf("rows %v", rows)
	}
	b.results.chooseAll(true)
	rows := tabled(b.results.made())
	if len(rows) != 2 || rows[0]["data"] == rows[1]["data"] {
		t.Errorf("rows of all data %v", rows)
	}
}

func TestColumnsSortTheTable(t *testing.T) {
	b, _ := newShelfBench(t)
	for _, rate := range []string{"0.5", "2", "10"} {
		b.Set("learning_rate", rate)
		b.tick()
		b.run(t, 600, nil)
	}
	b.results.toggle()
	rates := func() (all []string) {
		for _, row := range tabled(b.results.made()) {
			all = append(all, row["learning_rate"])
		}
		return all
	}
	column := b.results.made().Columns[0]
	for _, want := range [][]string{{"0.5", "2", "10"}, {"10", "2", "0.5"}} {
		if b.results.sort(column); !slices.Equal(rates(), want) {
			t.Errorf("sorted by %s: %v, not %v", column.Key, rates(), want)
		}
	}
	if html := app.HTMLString(b.results.view()); strings.Count(html, `aria-sort="descending"`) != 1 {
		t.Errorf("no column says that it sorts: %s", html)
	}
}

func TestARunThatCannotBeReadIsNamed(t *testing.T) {
	b, k := newShelfBench(t)
	b.run(t, 600, nil)
	again := benchOf(k, k.fakeClient)
	again.load(6000)
	again.keptRuns.followStore()
	clear(k.bodies)
	again.results.toggle()
	if html := app.HTMLString(again.results.view()); !strings.Contains(html, "cannot be read: no longer there") {
		t.Errorf("%s", html)
	}
}

func TestAFailedCheckTakesTheGuaranteeFromTheTable(t *testing.T) {
	b, _ := newShelfBench(t)
	b.run(t, 600, nil)
	x := b.trials.shown
	x.record.Plan.Private = true
	e := x.entry()
	if r := x.outcome(e); !r.Private || r.Partial != "" {
		t.Errorf("a whole run: %+v", r)
	}
	x.result.Checks = []run.Check{{Name: "noise"}}
	if r := x.outcome(e); r.Private {
		t.Errorf("a check failed: %+v", r)
	}
}
