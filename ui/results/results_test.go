package results

import (
	"encoding/csv"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
)

// configured returns a run of a method at an ε that ended with an accuracy.
func configured(method string, epsilon, accuracy float64) Run {
	cfg := run.Config{Data: "moons", Method: method, TargetEpsilon: &epsilon, LearningRate: 0.5}
	return Run{Config: cfg, Data: "moons, 400 × 2", Released: Released{run.Number(epsilon), 1e-5, true, 20},
		Diagnostic: &Diagnostic{Seconds: 2, Scores: map[Measure]float64{Accuracy: accuracy}}}
}

func TestNewStat(t *testing.T) {
	for _, c := range []struct {
		values   []float64
		mean, sd float64
	}{
		{nil, math.NaN(), math.NaN()},
		{[]float64{0.9}, 0.9, math.NaN()},
		{[]float64{1, 3}, 2, math.Sqrt2},                           // (1 + 1)/1
		{[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, math.Sqrt(32. / 7)}, // squares sum to 9+1+1+1+0+0+4+16
		{[]float64{0.5, 0.5, 0.5}, 0.5, 0},
	} {
		s := NewStat(c.values)
		if !near(s.Mean, c.mean) || !near(s.SD, c.sd) || s.N != len(c.values) {
			t.Errorf("%v: %+v, not %v ± %v", c.values, s, c.mean, c.sd)
		}
	}
}

func near(x, y float64) bool {
	return math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) < 1e-12
}

func titles(t *Table) (all []string) {
	for _, c := range t.Columns {
		all = append(all, c.Title)
	}
	return all
}

// texts returns the cells of a column.
func texts(t *testing.T, table *Table, key string) (all []string) {
	t.Helper()
	i := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Key == key })
	if i < 0 {
		t.Fatalf("no column %s in %v", key, titles(table))
	}
	for _, r := range table.Rows {
		all = append(all, table.Columns[i].Text(r))
	}
	return all
}

func TestRunsOfOneConfigurationAreOneRow(t *testing.T) {
	seven, eight := uint64(7), uint64(8)
	a, b, c := configured("constant", 1, 0.8), configured("constant", 1, 0.9), configured("psac", 1, 0.7)
	b.Config.Note = "again"
	seeded, other := configured("constant", 1, 0.6), configured("constant", 1, 0.6)
	seeded.Config.Seed, seeded.Private = &seven, false
	other.Config.Seed, other.Private = &eight, false
	failed, stopped := configured("psac", 1, 0.1), configured("psac", 1, 0.2)
	failed.Partial, failed.Diagnostic = "out of memory", nil
	stopped.Partial = "stopped after step 3 of 20"
	table := New([]Run{a, c, b, failed, seeded, other, stopped})
	if got, want := strings.Join(titles(table), ", "), "Method, n, ε of each run, test accuracy, time"; got != want {
		t.Errorf("columns %s, not %s", got, want)
	}
	for key, want := range map[string][]string{
		"runs":                     {"2", "1 of 3", "2"},
		"epsilon":                  {"1.00", "1.00", "no guarantee"},
		"diagnostic_test_accuracy": {"85.0 ± 7.1 %", "70.0 %", "60.0 ± 0.0 %"},
		"diagnostic_seconds":       {"2.0 s", "2.0 s", "2.0 s"},
	} {
		if got := texts(t, table, key); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", key, got, want)
		}
	}
}

func TestTheTableHasWhatDiffers(t *testing.T) {
	a, b := configured("constant", 1, 0.8), configured("constant", 4, 0.8)
	if got := titles(New([]Run{a, b})); got[0] != "n" { // ε says it
		t.Errorf("columns %v", got)
	}
	a.Private, b.Private = false, false
	if got := titles(New([]Run{a, b})); got[0] != "Privacy budget ε" { // and here nothing else would
		t.Errorf("columns %v", got)
	}
	b = configured("psac", 1, 0.8)
	b.Config.Params, b.Data = map[string]float64{"r": 0.1}, "other, 3 × 2"
	b.Config.CSV.Columns = map[string]string{"age": "numeric"}
	table := New([]Run{configured("constant", 1, 0.8), b})
	for key, want := range map[string][]string{"data": {"moons, 400 × 2", "other, 3 × 2"}, "r": {"–", "0.1"}, "csv.columns.age": {"–", "numeric"}} {
		if got := texts(t, table, key); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", key, got, want)
		}
	}
	if table := New(nil); len(table.Rows) != 0 {
		t.Errorf("rows of nothing: %v", table.Rows)
	}
}

func TestNewDiagnosticHasTheScoresOfTheTask(t *testing.T) {
	nan := run.Number(math.NaN())
	classes := func(rows ...int) (all []run.ClassScore) {
		for _, n := range rows {
			all = append(all, run.ClassScore{Rows: n})
		}
		return all
	}
	scores := func() *run.Scores {
		return &run.Scores{Balanced: 0.6, ROCArea: 0.7, R2: nan, MeanError: nan, RootError: nan}
	}
	for _, c := range []struct {
		name   string
		result run.Result
		want   map[Measure]float64
		rare   bool
	}{
		{"even classes", run.Result{TestRows: 10, TestAccuracy: 0.8, TestClasses: classes(5, 5), TestScores: scores()}, map[Measure]float64{Accuracy: 0.8, Balanced: 0.6, Area: 0.7}, false},
		{"a rare class", run.Result{TestRows: 10, TestAccuracy: 0.8, TestClasses: classes(8, 2), TestScores: scores()}, map[Measure]float64{Accuracy: 0.8, Balanced: 0.6, Area: 0.7}, true},
		{"a class without rows", run.Result{TestRows: 10, TestAccuracy: 0.8, TestClasses: classes(5, 5, 0)}, map[Measure]float64{Accuracy: 0.8}, false},
		{"numbers", run.Result{TestRows: 10, TestAccuracy: nan, TestLoss: 3, TestScores: &run.Scores{Balanced: nan, R2: 0.5, MeanError: 2, RootError: 3}}, map[Measure]float64{R2: 0.5, MeanError: 2, RootError: 3}, false},
		{"several labels", run.Result{TestRows: 10, TestAccuracy: 0.2, TestScores: &run.Scores{Balanced: 0.6, ROCArea: 0.7, R2: nan, LabelMean: &run.LabelScore{Accuracy: 0.9}}}, map[Measure]float64{LabelAccuracy: 0.9, Balanced: 0.6, Area: 0.7}, true},
		{"diverged", run.Result{TestRows: 10, TestAccuracy: nan, TestLoss: run.Number(math.Inf(1))}, map[Measure]float64{}, false},
		{"a loss alone", run.Result{TestRows: 10, TestAccuracy: nan, TestLoss: 3}, map[Measure]float64{Loss: 3}, false},
		{"no test rows", run.Result{}, map[Measure]float64{}, false},
	} {
		d := NewDiagnostic(&c.result)
		same := len(d.Scores) == len(c.want)
		for m, v := range c.want {
			same = same && d.Scores[m] == v
		}
		if !same || d.Rare != c.rare {
			t.Errorf("%s: %v, rare %v", c.name, d.Scores, d.Rare)
		}
	}
}

func TestAreasStandBesideAccuracyWhereAClassIsRare(t *testing.T) {
	a := configured("constant", 1, 0.8)
	a.Diagnostic.Scores[Balanced], a.Diagnostic.Scores[Area] = 0.6, 0.75
	if got := titles(New([]Run{a})); slices.Contains(got, "test area under ROC") {
		t.Errorf("columns %v", got)
	}
	a.Diagnostic.Rare = true
	if got := texts(t, New([]Run{a}), "diagnostic_test_roc_auc"); got[0] != "0.750" {
		t.Errorf("area %v", got)
	}
}

func TestSortKeepsMissingValuesLast(t *testing.T) {
	lacking := configured("auto-s", 1, 0)
	delete(lacking.Diagnostic.Scores, Accuracy)
	table := New([]Run{lacking, configured("constant", 1, 0.9), configured("psac", 1, 0.7)})
	for _, descending := range []bool{false, true} {
		table.Sort("diagnostic_test_accuracy", descending)
		want := []string{"70.0 %", "90.0 %"}
		if descending {
			slices.Reverse(want)
		}
		if got := texts(t, table, "diagnostic_test_accuracy"); !slices.Equal(got, append(want, "–")) {
			t.Errorf("descending %v: %q", descending, got)
		}
	}
	table.Sort("nothing", true) // leaves all as it is
	if len(table.Rows) != 3 {
		t.Errorf("%d rows", len(table.Rows))
	}
	rates := []Run{configured("constant", 1, 0.5), configured("constant", 1, 0.5), configured("constant", 1, 0.5)}
	for i, rate := range []float64{10, 9, 0.5} {
		rates[i].Config.LearningRate = rate
	}
	table = New(rates)
	table.Sort("learning_rate", false)
	if got := texts(t, table, "learning_rate"); !slices.Equal(got, []string{"0.5", "9", "10"}) { // as numbers
		t.Errorf("rates %q", got)
	}
}

// hostile are settings that a link or a file may have brought.
func hostile() []Run {
	a, b := configured("=1+1", 1, 0.8), configured(`a|b_c&d%\{$}<i>#~^`, 1, 0.7)
	b.Config.LearningRate = 1
	b.Data = "@sum\n|x"
	return []Run{a, a, b}
}

func TestCSVHasEveryRunAndNoFormula(t *testing.T) {
	all := hostile()
	all[1].Partial, all[1].Diagnostic = "-failed", nil
	seed := uint64(3)
	all[2].Config.Seed, all[2].Private, all[2].Epsilon = &seed, false, run.Number(math.Inf(1))
	var b strings.Builder
	if err := New(all).CSV(&b, true); err != nil {
		t.Fatal(err)
	}
	text, found := strings.CutPrefix(b.String(), "# "+Warning+"\n")
	if !found {
		t.Errorf("no warning in %q", b.String())
	}
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		strings.Split("configuration repeat data method learning_rate epsilon diagnostic_test_accuracy diagnostic_seconds delta guarantee planned_steps seed diagnostic_excluded_because", " "),
		{"1", "1", "moons, 400 × 2", "'=1+1", "0.5", "1", "0.8", "2", "1e-05", "true", "20", "", ""},
		{"1", "2", "moons, 400 × 2", "'=1+1", "0.5", "1", "", "", "1e-05", "true", "20", "", "'-failed"},
		{"2", "1", "'@sum\n|x", `a|b_c&d%\{$}<i>#~^`, "1", "Infinity", "0.7", "2", "1e-05", "false", "20", "3", ""},
	}
	for i := range want {
		if i >= len(lines) || !slices.Equal(lines[i], want[i]) {
			t.Errorf("line %d: %q\nnot %q", i, lines[min(i, len(lines)-1)], want[i])
		}
	}
	if len(lines) != len(want) {
		t.Errorf("%d lines, not %d", len(lines), len(want))
	}
}

func TestFilesWithoutDiagnosticsHoldNoScore(t *testing.T) {
	all := hostile()
	for name, write := range map[string]func(*Table, *strings.Builder, bool) error{
		"csv":      func(t *Table, b *strings.Builder, d bool) error { return t.CSV(b, d) },
		"markdown": func(t *Table, b *strings.Builder, d bool) error { return t.Markdown(b, d) },
		"latex":    func(t *Table, b *strings.Builder, d bool) error { return t.LaTeX(b, d) },
	} {
		all[1].Partial = "stopped early"
		for i := range all {
			all[i].Diagnostic.Scores[Accuracy], all[i].Diagnostic.Seconds = 0.12345, 777
		}
		for _, diagnostics := range []bool{false, true} {
			var b strings.Builder
			if err := write(New(all), &b, diagnostics); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			if has := strings.Contains(text, "12.3") || strings.Contains(text, "0.12345") || strings.Contains(text, "777") || strings.Contains(text, "accuracy"); has != diagnostics {
				t.Errorf("%s, diagnostics %v: %s", name, diagnostics, text)
			}
			if told := strings.Contains(text, "1 of 2") || strings.Contains(text, "stopped"); told != diagnostics { // which may depend on the data
				t.Errorf("%s, diagnostics %v: %s", name, diagnostics, text)
			}
			if warned := strings.Contains(text, "No guarantee covers them"); warned != diagnostics {
				t.Errorf("%s, diagnostics %v: warned %v", name, diagnostics, warned)
			}
		}
	}
}

func TestMarkdownEscapesCells(t *testing.T) {
	var b strings.Builder
	if err := New(hostile()).Markdown(&b, true); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, want := range []string{
		`| Data | Method | Learning rate | n | ε of each run | test accuracy | time |`,
		`| --- | --- | --- | --: | --: | --: | --: |`,
		`| moons, 400 × 2 | =1+1 | 0.5 | 2 | 1.00 | 80.0 ± 0.0 % | 2.0 s |`,
		`| @sum \|x | a\|b\_c&amp;d%\\{$}&lt;i>\#\~^ | 1 | 1 | 1.00 | 70.0 % | 2.0 s |`,
	} {
		if lines[i] != want {
			t.Errorf("line %d: %s\nnot     %s", i, lines[i], want)
		}
	}
}

func TestLaTeXEscapesCells(t *testing.T) {
	var b strings.Builder
	if err := New(hostile()).LaTeX(&b, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\\begin{tabular}{lllrrrr}\n\\hline\nData & Method & Learning rate & n & $\\varepsilon$ of each run & test accuracy & time \\\\\n\\hline\n",
		"moons, 400 $\\times$ 2 & =1+1 & 0.5 & 2 & 1.00 & 80.0 $\\pm$ 0.0 \\% & 2.0 s \\\\\n",
		`@sum |x & a|b\_c\&d\%\textbackslash{}\{\$\}\textless{}i\textgreater{}\#\textasciitilde{}\textasciicircum{} & 1 & 1 & 1.00 & 70.0 \% & 2.0 s \\` + "\n\\hline\n\\end{tabular}\n\n{\\footnotesize Mean $\\pm$ standard deviation",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s\nin %s", want, b.String())
		}
	}
	for _, r := range b.String() {
		if r > 127 {
			t.Errorf("%q, which TeX may have no letter for", r)
		}
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWritersReturnTheError(t *testing.T) {
	table := New([]Run{configured("constant", 1, 0.8)})
	for name, err := range map[string]error{
		"csv": table.CSV(fullDisk{}, false), "csv with a warning": table.CSV(fullDisk{}, true),
		"markdown": table.Markdown(fullDisk{}, true), "latex": table.LaTeX(fullDisk{}, true),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "results: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheDifferenceIsHeldAgainstChance: by Welch's t-test where runs vary, and else by the standard errors of shares of
// test rows.
func TestTheDifferenceIsHeldAgainstChance(t *testing.T) {
	runs := func(rows int, scores map[string][]float64) (all []Run) {
		for _, method := range slices.Sorted(maps.Keys(scores)) {
			for _, x := range scores[method] {
				r := configured(method, 1, x)
				r.Diagnostic.Rows = rows
				all = append(all, r)
			}
		}
		return all
	}
	errs := runs(100, map[string][]float64{"a": {3, 3.1}, "b": {1, 1.1}, "c": {2, 2.1}})
	for i := range errs { // the least is the best
		errs[i].Diagnostic.Scores = map[Measure]float64{MeanError: errs[i].Diagnostic.Scores[Accuracy]}
	}
	budgets := []Run{configured("constant", 1, 0.8), configured("constant", 4, 0.9)}
	budgets[1].Config.Steps, budgets[0].Config.Steps = 20, 20
	single := runs(100, map[string][]float64{"a": {0.7}, "b": {0.75}})
	failed := runs(100, map[string][]float64{"a": {0.7}, "b": {0.75}})
	failed[0].Diagnostic = nil
	others := runs(100, map[string][]float64{"a": {0.7}, "b": {0.75}})
	others[0].Data = "other rows"
	for _, c := range []struct {
		runs []Run
		want string
	}{
		// Both have SD 0.01, so the standard error is 0.01·√(2/3) and 4 degrees of freedom ask for 2.777 of them: 2.27 points.
		{runs(100, map[string][]float64{"a": {0.7, 0.71, 0.72}, "b": {0.73, 0.74, 0.75}}), "“b” and “a” are 3.0 points apart in test accuracy, distinguishable by 3 and 3 runs (Welch’s t-test, 5 %)."},
		{runs(100, map[string][]float64{"a": {0.7, 0.71, 0.72}, "b": {0.72, 0.73, 0.74}}), "“b” and “a” are 2.0 points apart in test accuracy, not distinguishable by 3 and 3 runs (Welch’s t-test, 5 %)."},
		// 2·√((p·(1 − p) + r·(1 − r))/104), p = 72/104 and r = 77/104: two right and two wrong are added.
		{single, "“b” and “a” are 5.0 points apart in test accuracy, within the 12.5 points (two standard errors) that 100 test rows may be off by; one run of a setting cannot tell more."},
		{runs(10000, map[string][]float64{"a": {0.7}, "b": {0.75}}), "“b” and “a” are 5.0 points apart in test accuracy, more than the 1.3 points (two standard errors) that 10,000 test rows may be off by; one run of a setting cannot tell more."},
		{runs(100, map[string][]float64{"a": {0.7, 0.7}, "b": {0.75, 0.75}}), "“b” and “a” are 5.0 points apart in test accuracy, within the 12.5 points (two standard errors) that 100 test rows may be off by; runs that do not vary cannot tell more."},
		{runs(0, map[string][]float64{"a": {0.7}, "b": {0.75}}), "“b” and “a” are 5.0 points apart in test accuracy, and one run of a setting cannot tell whether by chance."},
		{errs, "“b” and “c”, the two best, are 1 apart in test mean absolute error, distinguishable by 2 and 2 runs (Welch’s t-test, 5 %)."},
		{budgets, "“ε 4.00” and “ε 1.00” are 10.0 points apart in test accuracy, and one run of a setting cannot tell whether by chance."},
		{runs(100, map[string][]float64{"a": {0.7, 0.8}}), "All runs have the same settings: their scores differ by chance alone."},
		{runs(1, map[string][]float64{"a": {0}, "b": {1}}), "“b” and “a” are 100.0 points apart in test accuracy, and one run of a setting cannot tell whether by chance."},
		{runs(100, map[string][]float64{"a": {0.9, 0.9, 0.9}, "b": {0.91, 0.91, 0.91}}), "“b” and “a” are 1.0 points apart in test accuracy, within the 8.7 points (two standard errors) that 100 test rows may be off by; runs that do not vary cannot tell more."},
		{others, ""}, {failed, ""}, {nil, ""}, {single[:1], ""},
	} {
		table := New(c.runs)
		if got := table.Difference(); got != c.want {
			t.Errorf("%s\nnot %s", got, c.want)
		}
	}
}

// TestStudentIsNoSmallerThanItsPoints, of a table of the distribution.
func TestStudentIsNoSmallerThanItsPoints(t *testing.T) {
	for freedom, want := range map[float64]float64{1: 12.7062, 2: 4.30265, 5: 2.57058, 10: 2.22814, 11: 2.20099, 15: 2.13145, 20: 2.08596, 30: 2.04227, 60: 2.0003, 120: 1.97993, 1e6: 1.95997} {
		if got := student(freedom); got < want || got > 1.01*want {
			t.Errorf("%v degrees of freedom: %v, and the point is %v", freedom, got, want)
		}
	}
	for _, x := range []float64{0.5, 1.5, 10.9, 29.7} {
		if got, want := student(x), student(math.Max(1, math.Floor(x))); got != want {
			t.Errorf("%v degrees of freedom: %v, not %v", x, got, want)
		}
	}
}

// TestTheTableSaysWhatItsRunsCostTogether: their sum, failed runs included.
func TestTheTableSaysWhatItsRunsCostTogether(t *testing.T) {
	a, b, failed := configured("constant", 1, 0.8), configured("constant", 1, 0.9), configured("psac", 2.5, 0)
	failed.Partial, failed.Diagnostic = "failed", nil
	said := func(runs ...Run) string { return strings.Join(New(runs).Notes(false), " ") }
	if got := said(a, b, failed); !strings.Contains(got, "all 3 runs together cost at most their sum, ε = 4.50 at δ = 3e−5, and the ledger of the data may count less.") {
		t.Error(got)
	}
	b.Private = false
	if got := said(a, b); !strings.Contains(got, "all together carry no guarantee.") || strings.Contains(got, "sum") {
		t.Error(got)
	}
}

// TestAHashIsShortInTheTable and whole in the file.
func TestAHashIsShortInTheTable(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 4)
	b := configured("constant", 1, 0.8)
	b.Config.Start = run.Start{File: "before.zip", SHA256: hash}
	table := New([]Run{configured("constant", 1, 0.8), b})
	if got := texts(t, table, "start.sha256"); !slices.Equal(got, []string{"–", "01234567"}) {
		t.Errorf("%q", got)
	}
	var w strings.Builder
	if err := table.CSV(&w, false); err != nil || !strings.Contains(w.String(), hash) {
		t.Errorf("%s, %v", w.String(), err)
	}
}
