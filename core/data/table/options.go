package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// Choose checks all options of a data set, and returns those that bear on how a table is written. The
// error is a [*data.Error].
func Choose(opt run.CSV, lim source.Limits) (Choices, error) {
	c := Choices{header: opt.Header, encoding: opt.Encoding, columns: named(opt)}
	switch opt.Delimiter {
	case "":
	case "tab", `\t`:
		c.comma = '\t'
	default:
		r, n := utf8.DecodeRuneInString(opt.Delimiter)
		if n != len(opt.Delimiter) || !delimits(r) {
			return c, data.BadOption("delimiter", "one character such as , ; | or tab", opt.Delimiter)
		}
		c.comma = r
	}
	for _, o := range []struct {
		field, got string
		want       []string
	}{
		{"encoding", opt.Encoding, []string{source.UTF8, source.UTF16, source.Windows1252}},
		{"header", opt.Header, []string{"yes", "no"}},
		{"decimal", opt.Decimal, []string{".", ","}},
		{"thousands", opt.Thousands, []string{"none", ".", ",", "'", " "}},
		{"date", opt.Date, []string{"ymd", "dmy", "mdy"}},
		{"missing", opt.Missing, []string{"error", "drop", "zero", "indicator"}},
		{"bad_rows", opt.BadRows, []string{"error", "skip"}},
		{"task", opt.Task, []string{string(data.Classification), string(data.MultiLabel), string(data.Regression)}},
		{"labels", opt.Labels, []string{FineLabels, CoarseLabels}},
	} {
		if o.got != "" && !slices.Contains(o.want, o.got) {
			return c, data.BadOption(o.field, "one of "+strings.Join(o.want, " "), o.got)
		}
	}
	if opt.Decimal != "" && opt.Decimal == opt.Thousands {
		return c, data.BadOption("thousands", "another mark than the decimal one", opt.Thousands)
	}
	for _, kind := range opt.Columns {
		if !slices.Contains([]string{string(data.Numeric), string(data.Categorical), bucketed, string(data.Text), string(data.Letters), string(data.Words), labelled, string(data.Ignored)}, kind) {
			return c, data.BadOption("columns", `"numeric", "categorical", "bucketed", "text", "letters", "words", "label" or "ignored"`, kind)
		}
	}
	if err := checkLabelKinds(opt); err != nil {
		return c, err
	}
	for _, b := range opt.Bounds {
		if !(b.Lo < b.Hi) || math.IsInf(b.Hi-b.Lo, 0) {
			return c, data.BadOption("bounds", "finite, with lo below hi", fmt.Sprintf("%v and %v", b.Lo, b.Hi))
		}
	}
	for _, v := range opt.Fill {
		if !(math.Abs(v) <= math.MaxFloat32) {
			return c, data.BadOption("fill", "finite numbers", fmt.Sprint(v))
		}
	}
	if opt.Buckets < 0 || opt.Buckets > lim.Categories {
		return c, data.BadOption("buckets", fmt.Sprintf("a number up to %d", lim.Categories), fmt.Sprint(opt.Buckets))
	}
	if opt.MaxLength < 0 || opt.MaxLength > mostPlaces {
		return c, data.BadOption("max_length", fmt.Sprintf("a number from 1 to %d", mostPlaces), fmt.Sprint(opt.MaxLength))
	}
	return c, nil
}

// Choices holds the user's choices that bear on a file's dialect.
type Choices struct {
	comma    rune
	header   string
	encoding string
	columns  []string // that options name
}

// named returns the names of columns in options. A label by its number has none.
func named(opt run.CSV) (all []string) {
	if _, err := strconv.Atoi(opt.Label); opt.Label != "" && err != nil {
		all = append(all, opt.Label)
	}
	for name := range opt.Columns {
		all = append(all, name)
	}
	for name := range opt.Bounds {
		all = append(all, name)
	}
	return all
}

// names reports whether a row has the name of a column that the options name: it is a header then.
func (c *Choices) names(row []string) bool {
	return slices.ContainsFunc(c.columns, func(name string) bool { return slices.Contains(row, name) })
}

// delimits reports whether r can part cells.
func delimits(r rune) bool {
	return r != utf8.RuneError && r != '"' && r != '\n' && r != '\r' && r != 0
}

// The labels of CIFAR-100, as csv.labels names them.
const (
	FineLabels   = "fine"
	CoarseLabels = "coarse"
)

// bucketed is the declared kind of categorical columns whose values are hashed.
const bucketed = "bucketed"
