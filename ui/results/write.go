package results

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/ui/form"
	"clipscope/ui/words"
)

// Warning is the first line of a file with diagnostics.
const Warning = "Scores and times were measured on the private data without noise. No guarantee covers them."

// cost says what publishing the table costs: at most the sums of ε and δ, by basic composition.
func (t *Table) cost() string {
	n, epsilon, delta := 0, 0.0, 0.0
	for _, r := range t.Rows {
		for _, x := range r.Runs {
			n, epsilon, delta = n+1, epsilon+float64(x.Epsilon), delta+x.Delta
		}
	}
	together := "all together carry no guarantee"
	if t.Private() {
		const slack = 1 - 1e-12 // of adding, or three of 1e-5 would be shown as 3.1e-5
		together = fmt.Sprintf("all %s together cost at most their sum, ε = %s at δ = %s, and the ledger of the data may count less", words.Plural(n, "run"), words.Epsilon(slack*epsilon), words.Upper(slack*delta, 2))
	}
	return "ε is that of each run by itself; " + together + ". Choosing the best by its score is not covered."
}

// columns returns those that are written.
func (t *Table) columns(diagnostics bool) []Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool { return c.Kind == IsDiagnostic && !diagnostics })
}

// written returns a row's cell in a file. Without diagnostics it counts all runs: which of them came to their end may depend on
// the data.
func (c *Column) written(r *Row, diagnostics bool) string {
	if c.Key == "runs" && !diagnostics {
		return words.Count(len(r.Runs))
	}
	return c.Text(r)
}

// CSV writes a row for each run, those that ended early too. Missing values are empty. With
// diagnostics, which no guarantee covers, the first line says so after a #.
//
// Cells are inert in spreadsheets ([data.Inert]).
func (t *Table) CSV(w io.Writer, diagnostics bool) error {
	if diagnostics {
		if _, err := fmt.Fprintf(w, "# %s\n", Warning); err != nil {
			return fmt.Errorf("results: csv: %w", err)
		}
	}
	columns := slices.DeleteFunc(t.columns(diagnostics), func(c Column) bool { return c.of == nil })
	head := []string{"configuration", "repeat"}
	for _, c := range columns {
		head = append(head, c.Key)
	}
	out := csv.NewWriter(w)
	head = append(head, "delta", "guarantee", "planned_steps", "seed")
	if diagnostics {
		head = append(head, "diagnostic_excluded_because")
	}
	lines := [][]string{head}
	for i, r := range t.Rows {
		for k, x := range r.Runs {
			line := []string{strconv.Itoa(i + 1), strconv.Itoa(k + 1)}
			for _, c := range columns {
				line = append(line, c.of(x))
			}
			line = append(line, number(x.Delta), strconv.FormatBool(x.Private), strconv.Itoa(x.Steps), form.Get(&x.Config, "seed"))
			if diagnostics {
				line = append(line, x.Partial)
			}
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		for i := range line {
			line[i] = data.Inert(line[i])
		}
		if err := out.Write(line); err != nil {
			return fmt.Errorf("results: csv: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("results: csv: %w", err)
	}
	return nil
}

// Markdown writes the table, and under it what its figures are.
func (t *Table) Markdown(w io.Writer, diagnostics bool) error {
	columns := t.columns(diagnostics)
	var b strings.Builder
	line := func(cell func(c *Column) string) {
		for i := range columns {
			b.WriteString("| " + cell(&columns[i]) + " ")
		}
		b.WriteString("|\n")
	}
	line(func(c *Column) string { return markdown.Replace(c.Title) })
	line(func(c *Column) string {
		if c.Kind == IsSetting {
			return "---"
		}
		return "--:"
	})
	for _, r := range t.Rows {
		line(func(c *Column) string { return markdown.Replace(c.written(r, diagnostics)) })
	}
	b.WriteString("\n" + markdown.Replace(strings.Join(t.under(diagnostics), " ")) + "\n")
	return write(w, b.String(), "markdown")
}

// LaTeX writes the table as a tabular, which needs no package, and under it what its figures are.
func (t *Table) LaTeX(w io.Writer, diagnostics bool) error {
	columns := t.columns(diagnostics)
	var b strings.Builder
	b.WriteString("\\begin{tabular}{")
	for _, c := range columns {
		b.WriteByte("lrr"[c.Kind])
	}
	b.WriteString("}\n\\hline\n")
	line := func(cell func(c *Column) string) {
		cells := make([]string, len(columns))
		for i := range columns {
			cells[i] = latex.Replace(cell(&columns[i]))
		}
		b.WriteString(strings.Join(cells, " & ") + " \\\\\n")
	}
	line(func(c *Column) string { return c.Title })
	b.WriteString("\\hline\n")
	for _, r := range t.Rows {
		line(func(c *Column) string { return c.written(r, diagnostics) })
	}
	b.WriteString("\\hline\n\\end{tabular}\n\n{\\footnotesize " + latex.Replace(strings.Join(t.under(diagnostics), " ")) + "}\n")
	return write(w, b.String(), "latex")
}

func write(w io.Writer, s, what string) error {
	if _, err := io.WriteString(w, s); err != nil {
		return fmt.Errorf("results: %s: %w", what, err)
	}
	return nil
}

// under returns what stands under a table in a file: with diagnostics, whether settings differ as well.
func (t *Table) under(diagnostics bool) []string {
	list := t.Notes(diagnostics)
	if apart := t.Difference(); diagnostics && apart != "" {
		list = append(list, apart)
	}
	return list
}

// Notes returns what is to be known of the figures that are written, a sentence or two each.
func (t *Table) Notes(diagnostics bool) []string {
	var list []string
	if diagnostics {
		list = append(list, "Mean ± standard deviation over n runs (n − 1 in the denominator; none of one run).")
	}
	if diagnostics && slices.ContainsFunc(t.Rows, func(r *Row) bool { return r.Partial() > 0 }) {
		list = append(list, "Runs that failed, were stopped or were changed on their way are charged, and not in the means: “2 of 3” counts those that are.")
	}
	if !t.Private() {
		list = append(list, "A run with a fixed seed or without noise carries no guarantee.")
	}
	list = append(list, t.cost())
	if diagnostics {
		list = append(list, Warning)
	}
	return list
}

// number writes x so that it is read back; NaN is empty.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return ""
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func scoreOf(x *Run, m Measure) string {
	if x.Diagnostic == nil {
		return ""
	}
	v, ok := x.Diagnostic.Scores[m]
	if !ok {
		return ""
	}
	return number(v)
}

// markdown escapes what a cell of a table gives a meaning to.
var markdown = strings.NewReplacer("\\", "\\\\", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "<", "&lt;", "&", "&amp;", "[", "\\[", "]", "\\]", "~", "\\~", "#", "\\#", "\n", " ", "\r", " ")

// latex escapes what TeX gives a meaning to, and writes signs that it has no letters for.
var latex = strings.NewReplacer(
	"\\", "\\textbackslash{}", "&", "\\&", "%", "\\%", "$", "\\$", "#", "\\#", "_", "\\_", "{", "\\{", "}", "\\}", "~", "\\textasciitilde{}", "^", "\\textasciicircum{}",
	"<", "\\textless{}", ">", "\\textgreater{}", "\n", " ", "\r", " ",
	"±", "$\\pm$", "−", "$-$", "∞", "$\\infty$", "×", "$\\times$", "²", "$^2$", "–", "--", "…", "\\dots{}", "“", "``", "”", "''", "’", "'",
	"ε", "$\\varepsilon$", "δ", "$\\delta$", "σ", "$\\sigma$", "η", "$\\eta$", "β", "$\\beta$", "₁", "$_1$", "₂", "$_2$", "µ", "$\\mu$")
