package chart

import (
	"os"
	"strings"
	"testing"
)

// TestEveryChartIsInTheGuide: the guide to the charts has a row for each, with its mark.
func TestEveryChartIsInTheGuide(t *testing.T) {
	b, err := os.ReadFile("../../docs/reading-the-charts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(b), "\n| chart | mark | what it draws |\n")
	table, _, ended := strings.Cut(table, "\n\n")
	if !found || !ended {
		t.Fatal("docs/reading-the-charts.md has no table of charts")
	}
	marks := map[string]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); len(cells) == 3 {
			for _, title := range strings.Split(strings.TrimPrefix(cells[0], "| "), ", ") {
				marks[title] = cells[1]
			}
		}
	}
	for c := range New(1).charts {
		if marks[c.Title] != string(c.Ink) {
			t.Errorf("the table of charts in docs/reading-the-charts.md marks %q as %q, want %q", c.Title, marks[c.Title], c.Ink)
		}
	}
}
