package use

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/words"
)

// field is a field of the form for a row.
type field struct {
	at      int // the column's place, or the feature's
	label   string
	choices []string    // nil: anything may be typed
	hint    string      // how a value is written
	usual   string      // a value in the middle of what is known of the column
	text    bool        // it may have several lines
	missing bool        // there need not be a value
	bounds  *run.Bounds // that values beyond count as; nil where there are none, or of dates
}

// counted says of a number that is beyond the bounds, and of a sign for no text, what it counts as; "" of others.
func (f *field) counted(typed string) string {
	if f.text && strings.TrimSpace(typed) == missing {
		return "counted as no text"
	}
	v, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(typed), ",", ".", 1), 64)
	switch {
	case f.bounds == nil || err != nil:
		return ""
	case v < f.bounds.Lo:
		return "counted as " + words.Number(f.bounds.Lo, 6)
	case v > f.bounds.Hi:
		return "counted as " + words.Number(f.bounds.Hi, 6)
	}
	return ""
}

// boundsOf returns the bounds that a feature is clamped to; of a column, what they are of its values.
func boundsOf(info *run.ModelInfo, feature int, c *run.AppliedColumn) *run.Bounds {
	n := len(info.Scaling.Lo)
	if n == 0 {
		return nil
	}
	k := min(feature, n-1)
	b := &run.Bounds{Lo: info.Scaling.Lo[k], Hi: info.Scaling.Hi[k]}
	if c != nil {
		b.Lo, b.Hi = b.Lo+c.Offset, b.Hi+c.Offset
	}
	return b
}

// Of more columns nobody types a row, and of more categories nobody finds one.
const (
	mostFields  = 100
	mostChoices = 200
)

// fieldsOf returns the fields for a model's rows; nil where there are too many, or none.
func fieldsOf(info *run.ModelInfo) []field {
	var all []field
	switch kindOf(info) {
	case numbers:
		for i := range min(info.Features, mostFields+1) {
			all = append(all, field{at: i, label: fmt.Sprintf("x%d", i+1), usual: middle(info, i, nil), bounds: boundsOf(info, i, nil)})
		}
	case tables:
		for i := range info.Columns {
			if c := &info.Columns[i]; makes(c) {
				all = append(all, fieldOf(info, i, c))
			}
		}
	}
	if len(all) > mostFields {
		return nil
	}
	return all
}

// makes reports whether features are made of a column's cells.
func makes(c *run.AppliedColumn) bool {
	return (&data.Column{Kind: data.ColumnKind(c.Kind)}).Makes()
}

func fieldOf(info *run.ModelInfo, i int, c *run.AppliedColumn) field {
	f := field{at: i, label: data.Shown(c.Name), missing: c.IfMissing != nil}
	if c.Kind == string(data.Numeric) {
		f.hint = map[string]string{"ymd": "1990-12-31", "dmy": "31.12.1990", "mdy": "12/31/1990"}[c.Date]
		if c.Decimal != "" {
			f.hint = "1" + c.Thousands + "234" + c.Decimal + "5"
		}
		if unit := data.UnitOf(c.Units); unit != "" {
			f.hint = data.WithUnit(unit, cmp.Or(f.hint, "12"))
		}
		if c.Time != "" {
			f.hint = "time (" + c.Time + ") such as " + writeValue(c, data.Millennium)
		}
		f.usual = middle(info, c.First, c)
		if c.Date == "" && c.Time == "" && data.UnitOf(c.Units) == "" {
			f.bounds = boundsOf(info, c.First, c)
		}
		return f
	}
	if f.text = c.Kind == string(data.Text) || c.Tokens > 0; f.text {
		f.usual, f.missing = missing, true
		return f
	}
	f.missing = slices.Contains(c.Categories, data.MissingCategory)
	if c.Buckets > 0 || len(c.Categories) > mostChoices {
		f.usual = "x"
		if c.Buckets == 0 {
			f.usual = c.Categories[0]
		}
		return f
	}
	f.choices = []string{} // there may be no category at all
	for _, k := range c.Categories {
		if k != data.MissingCategory {
			f.choices = append(f.choices, k)
		}
	}
	if f.usual = missing; len(f.choices) > 0 {
		f.usual = f.choices[0]
	}
	return f
}

// middle returns the middle of a feature's bounds, where it has some, as a column writes it.
func middle(info *run.ModelInfo, feature int, c *run.AppliedColumn) string {
	v := 0.0
	if b := boundsOf(info, feature, c); b != nil {
		v = (b.Lo + b.Hi) / 2
	} else if c != nil {
		v = c.Offset
	}
	if c != nil {
		return writeValue(c, v)
	}
	return short(v)
}

// writeValue writes a value as a column has it, to three digits.
func writeValue(c *run.AppliedColumn, v float64) string {
	switch unit := data.UnitOf(c.Units); {
	case c.Date != "":
		return day(v, c.Date)
	case c.Time != "":
		return strconv.FormatFloat(data.FromDays(c.Time, math.Floor(v)), 'f', -1, 64)
	case unit == data.PerCent:
		v *= 100
		fallthrough
	default:
		return data.WithUnit(unit, strings.Replace(short(v), ".", cmp.Or(c.Decimal, "."), 1))
	}
}

// short writes a number to three digits.
func short(v float64) string {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return strconv.FormatFloat(r, 'f', -1, 64)
}

// day is a number of days since 1970 began as a date, in such an order.
func day(v float64, order string) string {
	return time.Unix(0, 0).UTC().AddDate(0, 0, int(v)).Format(map[string]string{"ymd": "2006-01-02", "dmy": "02.01.2006", "mdy": "01/02/2006"}[order])
}

// number is a text as a number, or as it is.
func number(text string) any {
	if v, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && v-v == 0 {
		return v
	}
	return text
}
