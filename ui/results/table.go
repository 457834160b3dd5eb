package results

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/words"
)

// Table has a row for each configuration.
type Table struct {
	Columns []Column
	Rows    []*Row
}

// Kind tells what a column holds.
type Kind int

// The kinds: what was set, what may be published, and what is for the owner's eyes.
const (
	IsSetting Kind = iota
	IsReleased
	IsDiagnostic
)

// Column is a column of the table.
type Column struct {
	Key, Title string
	Kind       Kind
	// at returns a row's cell: its text, and the number to sort by; NaN: it is sorted by its text.
	at func(*Row) (string, float64)
	// of returns the cell of a single run as exports have it.
	of func(*Run) string
}

// Text returns a row's cell.
func (c *Column) Text(r *Row) string {
	text, _ := c.at(r)
	return text
}

// Row is the runs of one configuration.
type Row struct {
	Runs []*Run
}

// whole returns the runs that measure the configuration.
func (r *Row) whole() []*Run {
	return slices.DeleteFunc(slices.Clone(r.Runs), func(x *Run) bool { return x.Partial != "" || x.Diagnostic == nil })
}

// N is the number of runs that the means are over.
func (r *Row) N() int { return len(r.whole()) }

// Partial counts the runs that are in no mean.
func (r *Row) Partial() int { return len(r.Runs) - r.N() }

// stat returns the mean of a figure over the runs that have it.
func (r *Row) stat(of func(*Diagnostic) (float64, bool)) Stat {
	var values []float64
	for _, x := range r.whole() {
		if v, ok := of(x.Diagnostic); ok {
			values = append(values, v)
		}
	}
	return NewStat(values)
}

// Score returns the mean of a measure.
func (r *Row) Score(m Measure) Stat {
	return r.stat(func(d *Diagnostic) (float64, bool) { v, ok := d.Scores[m]; return v, ok })
}

// New groups runs: those that differ in nothing but their randomness are one configuration. Rows come
// in the order of their first runs. Columns of settings are those in which rows differ.
func New(runs []Run) *Table {
	t := &Table{}
	rows := map[string]*Row{}
	for i := range runs {
		x := &runs[i]
		key := identity(x)
		if rows[key] == nil {
			rows[key] = &Row{}
			t.Rows = append(t.Rows, rows[key])
		}
		rows[key].Runs = append(rows[key].Runs, x)
	}
	t.Columns = append(t.settings(), t.figures()...)
	return t
}

// Private reports whether all runs carry a guarantee.
func (t *Table) Private() bool {
	return !slices.ContainsFunc(t.Rows, func(r *Row) bool { return !r.Runs[0].Private })
}

// identity tells configurations apart. A run without a guarantee is none of those that have one.
func identity(x *Run) string {
	c := x.Config
	c.Seed, c.Note = nil, ""
	b, err := json.Marshal(c)
	if err != nil { // such as a setting that is no number
		b = []byte(err.Error())
	}
	return strings.Join([]string{string(b), x.Data, strconv.FormatBool(x.Private)}, "\n")
}

// settings returns a column for each setting that differs between rows.
func (t *Table) settings() (list []Column) {
	names := map[string]bool{}
	for _, r := range t.Rows {
		for _, key := range own(&r.Runs[0].Config) {
			names[key] = true
		}
	}
	if t.differ(func(r *Row) string { return r.Runs[0].Data }) {
		data := func(x *Run) string { return x.Data }
		list = append(list, Column{"data", "Data", IsSetting, func(r *Row) (string, float64) { return data(r.Runs[0]), math.NaN() }, data})
	}
	for _, f := range append(form.Settings(), unlisted(names)...) {
		get := func(x *Run) string { return form.Get(&x.Config, f.Key) }
		if f.Key == "data" || f.Key == "seed" || f.Key == "note" || strings.HasSuffix(f.Key, ".public") || !t.differ(func(r *Row) string { return get(r.Runs[0]) }) ||
			f.Key == "target_epsilon" && t.Private() { // ε stands beside it
			continue
		}
		list = append(list, Column{f.Key, f.Label, IsSetting, func(r *Row) (string, float64) { return shown(f, get(r.Runs[0])) }, get})
	}
	return list
}

// differ reports whether rows differ in something.
func (t *Table) differ(of func(*Row) string) bool {
	return slices.ContainsFunc(t.Rows, func(r *Row) bool { return of(r) != of(t.Rows[0]) })
}

// own returns the keys of a configuration that are in no row of the form's table.
func own(c *run.Config) []string {
	keys := slices.Collect(maps.Keys(c.Params))
	add := func(group string, names []string) {
		for _, name := range names {
			keys = append(keys, "csv."+group+"."+name)
		}
	}
	add("columns", slices.Collect(maps.Keys(c.CSV.Columns)))
	add("bounds", slices.Collect(maps.Keys(c.CSV.Bounds)))
	add("fill", slices.Collect(maps.Keys(c.CSV.Fill)))
	add("roles", slices.Collect(maps.Keys(c.CSV.Roles)))
	return keys
}

func unlisted(names map[string]bool) (list []form.Field) {
	for _, key := range slices.Sorted(maps.Keys(names)) {
		list = append(list, form.Field{Key: key, Label: key})
	}
	return list
}

// shown returns a setting as people read it, and its number; NaN: it is none.
func shown(f form.Field, value string) (string, float64) {
	if value == "" {
		return words.Missing, math.NaN()
	}
	if strings.HasSuffix(f.Key, ".sha256") {
		return words.ShortHash(value), math.NaN()
	}
	if x, err := strconv.ParseFloat(value, 64); err == nil {
		return value, x
	}
	for _, o := range f.Options {
		if o.Value == value {
			return o.Text, math.NaN()
		}
	}
	return value, math.NaN()
}

// figures returns the columns of what the runs came to.
func (t *Table) figures() []Column {
	list := []Column{
		{"runs", "n", IsReleased, func(r *Row) (string, float64) { return count(r), float64(r.N()) }, nil},
		{"epsilon", "ε of each run", IsReleased, func(r *Row) (string, float64) { return epsilon(r), charged(r) },
			func(x *Run) string { return number(float64(x.Epsilon)) }},
	}
	rare := slices.ContainsFunc(t.Rows, func(r *Row) bool {
		return slices.ContainsFunc(r.Runs, func(x *Run) bool { return x.Diagnostic != nil && x.Diagnostic.Rare })
	})
	for _, m := range measures {
		if m.beside && !rare || !slices.ContainsFunc(t.Rows, func(r *Row) bool { return r.Score(m.Measure).N > 0 }) {
			continue
		}
		list = append(list, Column{"diagnostic_" + string(m.Measure), "test " + m.title, IsDiagnostic, func(r *Row) (string, float64) {
			s := r.Score(m.Measure)
			return m.text(s), s.Mean
		}, func(x *Run) string { return scoreOf(x, m.Measure) }})
	}
	return append(list, Column{"diagnostic_seconds", "time", IsDiagnostic, func(r *Row) (string, float64) {
		s := r.stat(func(d *Diagnostic) (float64, bool) { return d.Seconds, true })
		return words.Duration(s.Mean), s.Mean
	}, func(x *Run) string {
		if x.Diagnostic == nil {
			return ""
		}
		return number(x.Diagnostic.Seconds)
	}})
}

// count is the number of runs, and of those beside them that are in no mean.
func count(r *Row) string {
	if p := r.Partial(); p > 0 {
		return words.Count(r.N()) + " of " + words.Count(len(r.Runs))
	}
	return words.Count(r.N())
}

// charged is the most that a run of the row is charged.
func charged(r *Row) float64 {
	most := 0.0
	for _, x := range r.Runs {
		if !x.Private {
			return math.Inf(1)
		}
		most = max(most, float64(x.Epsilon))
	}
	return most
}

func epsilon(r *Row) string {
	if !r.Runs[0].Private {
		return "no guarantee"
	}
	return words.Epsilon(charged(r))
}

// text writes a mean with its deviation, where there is one.
func (m *measure) text(s Stat) string {
	if s.N == 0 {
		return words.Missing
	}
	write, unit := func(x float64, digits int) string { return words.Number(x, digits) }, ""
	switch m.scale {
	case share:
		write, unit = func(x float64, _ int) string { return words.Fixed(100*x, 1) }, " %"
	case index:
		write = func(x float64, _ int) string { return words.Fixed(x, 3) }
	}
	if s.N == 1 {
		return write(s.Mean, 3) + unit
	}
	return write(s.Mean, 3) + " ± " + write(s.SD, 2) + unit
}

// Sort orders the rows by a column. Rows without a value come last either way.
func (t *Table) Sort(key string, descending bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Key == key })
	if i < 0 {
		return
	}
	at := t.Columns[i].at
	slices.SortStableFunc(t.Rows, func(a, b *Row) int {
		s, x := at(a)
		u, y := at(b)
		if lacks, others := s == words.Missing, u == words.Missing; lacks || others {
			return cmp.Compare(btoi(lacks), btoi(others))
		}
		order := strings.Compare(s, u)
		if !math.IsNaN(x) && !math.IsNaN(y) {
			order = cmp.Compare(x, y)
		}
		if descending {
			return -order
		}
		return order
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
