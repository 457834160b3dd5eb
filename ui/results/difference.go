package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"clipscope/ui/words"
)

// Difference returns a sentence on whether the two configurations with the best means of a score differ by more than chance would make of
// them, and by which rule; empty where no two have a score. It is for the owner's eyes, as the scores are.
//
// With two runs or more of each the rule is Welch's t-test at 5 %. Otherwise it is whether the shares of right test rows
// lie further apart than two standard errors of both, as if each were counted on rows of its own.
func (t *Table) Difference() string {
	i := slices.IndexFunc(measures, func(m measure) bool {
		n := 0
		for _, r := range t.Rows {
			n += min(r.Score(m.Measure).N, 1)
		}
		return n > 1
	})
	if i < 0 {
		if len(t.Rows) == 1 && t.Rows[0].N() > 1 {
			return "All runs have the same settings: their scores differ by chance alone."
		}
		return ""
	}
	m := &measures[i]
	rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r *Row) bool { return r.Score(m.Measure).N == 0 })
	slices.SortStableFunc(rows, func(x, y *Row) int {
		if m.scale == amount { // an error: the least is the best
			x, y = y, x
		}
		return cmp.Compare(y.Score(m.Measure).Mean, x.Score(m.Measure).Mean)
	})
	if rows[0].Runs[0].Data != rows[1].Runs[0].Data {
		return "" // scores on other rows
	}
	a, b := rows[0].Score(m.Measure), rows[1].Score(m.Measure)
	best := ""
	if len(rows) > 2 {
		best = ", the two best,"
	}
	gap := math.Abs(a.Mean - b.Mean)
	said := fmt.Sprintf("“%s” and “%s”%s are %s apart in test %s, ", t.name(rows[0]), t.name(rows[1]), best, m.apart(gap), m.title)
	if a.N > 1 && b.N > 1 && a.SD+b.SD > 0 {
		verdict := "not distinguishable"
		if gap > welch(a, b) {
			verdict = "distinguishable"
		}
		return said + fmt.Sprintf("%s by %s and %s (Welch’s t-test, 5 %%).", verdict, words.Count(a.N), words.Plural(b.N, "run"))
	}
	why := "one run of a setting cannot tell"
	if min(a.N, b.N) > 1 {
		why = "runs that do not vary cannot tell"
	}
	n := min(rows[0].tested(), rows[1].tested())
	if m.Measure != Accuracy || n < fewRows {
		return said + "and " + why + " whether by chance."
	}
	margin := 2 * math.Sqrt(variance(a.Mean, n)+variance(b.Mean, n))
	verdict := "more than"
	if gap <= margin {
		verdict = "within"
	}
	return said + fmt.Sprintf("%s the %s (two standard errors) that %s may be off by; %s more.", verdict, m.apart(margin), words.Plural(n, "test row"), why)
}

// apart writes the difference of two means.
func (m *measure) apart(x float64) string {
	switch m.scale {
	case share:
		return words.Fixed(100*x, 1) + " points"
	case index:
		return words.Fixed(x, 3)
	}
	return words.Number(x, 2)
}

// name is a row by its settings, or by its ε where that is all that differs.
func (t *Table) name(r *Row) string {
	var parts []string
	for _, c := range t.Columns {
		if c.Kind == IsSetting {
			parts = append(parts, words.Brief(c.Text(r), 40))
		}
	}
	if parts == nil {
		return "ε " + epsilon(r)
	}
	return strings.Join(parts, ", ")
}

// fewRows is the number of test rows below which two standard errors say little.
const fewRows = 20

// variance estimates the variance of a share of n rows. Two right and two wrong ones are added (Agresti & Coull 1998): without
// them it would be 0 where all are right.
func variance(share float64, n int) float64 {
	m := float64(n) + 4
	p := (share*float64(n) + 2) / m
	return p * (1 - p) / m
}

// tested is the least number of test rows of the row's runs; 0 where it is not known of all.
func (r *Row) tested() int {
	least := math.MaxInt
	for _, x := range r.whole() {
		least = min(least, x.Diagnostic.Rows)
	}
	return least
}

// welch is the least difference of two means that Welch's t-test finds at 5 %, of two runs or more each of which some vary.
func welch(a, b Stat) float64 {
	u, v := a.SD*a.SD/float64(a.N), b.SD*b.SD/float64(b.N)
	freedom := (u + v) * (u + v) / (u*u/float64(a.N-1) + v*v/float64(b.N-1))
	return student(freedom) * math.Sqrt(u+v)
}

// student is at least the two-sided 5 % point of Student's t, and at most 1 % above it at whole degrees of freedom.
func student(freedom float64) float64 {
	points := []float64{12.707, 4.303, 3.183, 2.777, 2.571, 2.447, 2.365, 2.307, 2.263, 2.229}
	if n := int(freedom); n <= len(points) {
		return points[max(n, 1)-1]
	}
	return 1.96 + 2.7/math.Floor(freedom)
}
