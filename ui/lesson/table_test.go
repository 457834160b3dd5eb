package lesson

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

const (
	reproductions = "../../docs/reproductions.md"
	tableBegins   = "<!-- figures, by make stored-figures FIGURES=none -->\n"
	tableEnds     = "<!-- end of figures -->\n"
)

// TestReproductionsHaveTheFigures holds the guide's table of figures to their claims and stored
// results.
func TestReproductionsHaveTheFigures(t *testing.T) {
	b, err := os.ReadFile(reproductions)
	if err != nil {
		t.Fatal(err)
	}
	if want := withTable(string(b), figures(t)); want != string(b) {
		t.Error("docs/reproductions.md has another table than the figures: “make stored-figures FIGURES=none” writes it")
	}
}

// withTable returns the guide with the table of figures.
func withTable(guide string, list []Figure) string {
	before, rest, _ := strings.Cut(guide, tableBegins)
	_, after, _ := strings.Cut(rest, tableEnds)
	var text strings.Builder
	text.WriteString(before + tableBegins + "| figure | the paper's claim | here | what differs |\n| --- | --- | --- | --- |\n")
	for i := range list {
		f := &list[i]
		var results []string
		for j := range f.Stored {
			o := &f.Stored[j]
			results = append(results, o.Label+": "+f.result(o))
		}
		for _, g := range f.Grids {
			least, greatest := math.Inf(1), math.Inf(-1)
			for _, row := range g.Stored {
				for _, v := range row {
					least, greatest = min(least, v), max(greatest, v)
				}
			}
			results = append(results, fmt.Sprintf("%s, %d × %d pairs: %s to %s", g.Label, len(g.Rows.Values), len(g.Columns.Values), percent(least), percent(greatest)))
		}
		if len(results) == 0 {
			results = []string{"by hand, in the plane and the U"}
		}
		fmt.Fprintf(&text, "| %s, %s | %s | %s | %s |\n", f.Paper, f.Figure, f.Claim, strings.Join(results, "; "), f.Differs)
	}
	return text.String() + tableEnds + after
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// result returns what a figure's watch reads of a run.
func (f *Figure) result(o *Outcome) string {
	accuracy := percent(float64(o.Accuracy))
	if math.IsNaN(float64(o.Accuracy)) {
		accuracy = fmt.Sprintf("loss %.3g", float64(o.Loss))
	}
	switch f.Watch {
	case "loss":
		return fmt.Sprintf("%.3g", float64(o.Loss))
	case "clip_fraction":
		return fmt.Sprintf("%.0f → %.0f %% clipped, %s", 100*float64(o.Clipped[0]), 100*float64(o.Clipped[1]), accuracy)
	case "max_grad_norm":
		return fmt.Sprintf("C = %.3g", float64(o.MaxGradNorm))
	case "seconds":
		return fmt.Sprintf("%.2g×", float64(o.Time))
	case "error":
		return fmt.Sprintf("distance %.3g", math.Sqrt(float64(o.Error)))
	case "cosine":
		return fmt.Sprintf("cosine %.3f, %s", float64(o.Cosine), accuracy)
	}
	return accuracy
}
