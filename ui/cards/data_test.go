package cards

import (
	"strconv"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

func TestShortNamesKeepBothEnds(t *testing.T) {
	for name, want := range map[string]string{
		"train-images-idx3-ubyte.gz": "train-images", "iris.csv": "iris.csv", "": "",
		"a-very-long-name-of-a-table.csv": "a-very-lon…table.csv", "日本語の名前がとても長いファイルです.csv": "日本語の名前がとても…ァイルです.csv",
	} {
		if got := shortName(name); got != want || len([]rune(got)) > 20 {
			t.Errorf("%q is shortened to %q, want %q", name, got, want)
		}
	}
}

// TestClassLineSaysWhichClassIsRare: a class that is rare is seen before a run, and of many
// classes some.
func TestClassLineSaysWhichClassIsRare(t *testing.T) {
	if got := classLine(exampleReport()); got != "Training rows by class: setosa: 38, versicolor: 41, virginica: 41." {
		t.Error(got)
	}
	r := &data.Report{}
	for i := range 100 {
		r.Classes, r.Preview.ClassRows = append(r.Classes, strconv.Itoa(i)), append(r.Preview.ClassRows, 1000)
	}
	if got := classLine(r); !strings.HasSuffix(got, ", 11: 1,000, and 88 more classes.") {
		t.Error(got)
	}
}

// TestGapsAreKeptFirst: where cells are missing, what keeps their rows is offered before what
// leaves them out.
func TestGapsAreKeptFirst(t *testing.T) {
	f := exampleForm(form.Data)
	f.Full.CSV.Missing = ""
	table := exampleReport()
	table.Missing = 3
	html := app.HTMLString((&Data{Form: f, View: DataView{Source: form.Files, Table: table, Refused: true}, Loader: nobody{}, Shows: nobody{}}).Render())
	keep, drop := strings.Index(html, `id="missing-indicator"`), strings.Index(html, `id="missing-drop"`)
	if keep < 0 || drop < keep {
		t.Errorf("kept at %d, left out at %d of %s", keep, drop, html)
	}
}

// TestReadingTellsHowFar: while one part of a spreadsheet is learnt, its share of the whole may rest; the bytes that are
// read of it never do.
func TestReadingTellsHowFar(t *testing.T) {
	shown := map[string]bool{}
	for done := range int64(5) {
		v := DataView{Source: form.Files, Loading: true, Slow: true, Share: 0.5, Progress: source.Progress{Phase: source.PhaseScan, File: "b.xlsx/xl/sharedStrings.xml", Done: done << 20, Total: 5 << 20}}
		shown[app.HTMLString((&Data{Form: exampleForm(form.Data), View: v, Loader: nobody{}, Shows: nobody{}}).progress())] = true
	}
	before := DataView{Source: form.Files, Loading: true, Slow: true}
	if got := app.HTMLString((&Data{Form: exampleForm(form.Data), View: before, Loader: nobody{}, Shows: nobody{}}).progress()); !strings.Contains(got, "Opening the files…") {
		t.Errorf("before anything is read: %s", got)
	}
	if len(shown) != 5 {
		t.Errorf("of 5 MB, %d states are shown: %v", len(shown), shown)
	}
}
