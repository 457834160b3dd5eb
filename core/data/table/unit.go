package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// A column remembers the units that its training cells have, and what their integers count. Both are public, like
// how numbers are written. A model is then asked in the same units.

// signNames maps signs to the one name that a column remembers of them.
var signNames = map[string]string{"EUR": "€", "GBP": "£", "Fr.": "CHF", "kr.": "kr", "Kr": "kr"}

// Currency returns the name of a currency that a spreadsheet shows beside numbers, as columns have it among their units;
// empty for what is none that is known.
func Currency(sign string) string {
	for k, u := range units[:len(units)-1] {
		if strings.TrimSuffix(u, ".") == strings.TrimSuffix(sign, ".") {
			return unitName(1 + k)
		}
	}
	return ""
}

// signOf returns the name of the sign that a number has; empty for none.
func signOf(s string) string { return unitName(unitOf(s)) }

// unitName returns the name of the unit at a place as [unitOf] returns it.
func unitName(unit int) string {
	if unit == 0 {
		return ""
	}
	u := units[unit-1]
	if name, ok := signNames[u]; ok {
		return name
	}
	return u
}

// knownUnits reports whether a list of [data.Column.Units] has nothing that is no name of a unit.
func knownUnits(list []string) bool {
	for _, u := range list {
		if u != "" && (!slices.Contains(units[:], u) || signNames[u] != "") {
			return false
		}
	}
	return true
}

// timeSet is a set of kinds of times, a bit for each of [data.TimeKinds].
type timeSet uint8

const allTimes timeSet = 1<<5 - 1

// timesOf returns the kinds of times that a number may be. Of yyyymmdd it has eight digits, and may have .0 behind,
// as numbers do in a column with gaps.
func timesOf(s string) (set timeSet) {
	if len(s) < len("20191231") || s[0] < '0' || s[0] > '9' {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	for k, kind := range data.TimeKinds() {
		if data.Likely(kind, v) {
			set |= 1 << k
		}
	}
	return set
}

// countTime narrows the kinds of times that the column's numbers may all be.
func (c *tally) countTime(s string) {
	if c.notTimes == allTimes {
		return
	}
	set := timesOf(s)
	c.notTimes |= allTimes &^ set
	if c.notTimes == allTimes || c.clock {
		return
	}
	v, _ := strconv.ParseFloat(s, 64)
	for k, kind := range data.TimeKinds() {
		if days, _ := data.Days(kind, v); set>>k&1 != 0 && days != math.Trunc(days) {
			c.clock = true
		}
	}
}

// time returns the kind of times that all numbers of the column are; empty for none.
func (c *tally) time() string {
	if c.style != plainPoint && c.style != plainComma || c.numbers() == 0 {
		return ""
	}
	for k, kind := range data.TimeKinds() {
		if c.notTimes>>k&1 == 0 {
			return kind
		}
	}
	return ""
}

// learnUnits notes the units that the numbers of a column have.
func learnUnits(c *tally, col *data.Column) {
	if col.Date != "" {
		return
	}
	for k, at := range c.units {
		if name := unitName(k); at != nil && !slices.Contains(col.Units, name) {
			col.Units = append(col.Units, name)
		}
	}
	if col.Units == nil {
		col.Units = []string{""}
	}
}

// learnTime notes what the numbers of column i count, and says so where they are times.
func (s *schema) learnTime(in *source.Reading, c *tally, i int) {
	col := &s.columns[i]
	if keyName.MatchString(col.Name) {
		return // such as 1234567890123456768, which is no nanosecond
	}
	if col.Time = c.time(); col.Time == "" || col.Date != "" {
		return
	}
	what := "times (" + timeInWords(col.Time) + ")"
	if col.Time == data.YearMonthDay {
		what = "dates (" + timeInWords(col.Time) + ")"
	}
	in.Warn("%s is read as %s: %s is %s. Declare it categorical or ignored if that is wrong.", data.Shorten(col.Name), what, data.Quote(c.units[0].text), s.meaning(i, c.units[0].text))
}

func timeInWords(kind string) string {
	switch kind {
	case data.YearMonthDay:
		return "year, month and day"
	case "s":
		return "seconds since 1970 began"
	}
	return map[string]string{"ms": "milli", "us": "micro", "ns": "nano"}[kind] + "seconds since 1970 began"
}

// declaredDays brings numbers that are declared of the column together to days since 1970 began. They may be declared as
// the cells of times have them: a million days would be beyond the year 4000. field names the option in the error.
func declaredDays(col *data.Column, field string, declared ...*float64) error {
	if col.Time == "" || !slices.ContainsFunc(declared, func(v *float64) bool { return math.Abs(*v) >= 1e6 }) {
		return nil
	}
	for _, v := range declared {
		days, ok := data.Days(col.Time, *v)
		if !ok {
			return &data.Error{ColumnName: col.Name, Expected: "csv." + field + " of dates as the cells have them (" + timeInWords(col.Time) + "), or all of it in days since 1970 began", Got: strconv.FormatFloat(*v, 'f', -1, 64),
				Fix: "Correct the option."}
		}
		*v = days
	}
	return nil
}

// place brings column i near 0, and gives it a feature for the time of day where it has one.
//
// Guarantee: the offset follows from what is declared of the column, or from what it is taken for, which is public.
func (s *schema) place(in *source.Reading, c *tally, i int) {
	col := &s.columns[i]
	if col.Instants() {
		col.Offset = data.Millennium
		if c.clock && col.Time != "" || col.Date != "" && c.fraction.has(c.style) {
			col.Clock = s.features
			s.features++
		}
	}
	if b := col.Bounds; b != nil {
		if middle := b.Lo + (b.Hi-b.Lo)/2; col.Instants() || math.Abs(middle) > b.Hi-b.Lo {
			col.Offset = middle
		}
		if data.UnitOf(col.Units) == perCent && max(-b.Lo, b.Hi) >= 10 {
			in.Doubt("%s: its cells are shares, as 12%% is 0.12, and its bounds are %v to %v. Declare 0 to 1 for 0%% to 100%%.", data.Shorten(col.Name), b.Lo, b.Hi)
		}
	}
	if _, declared := in.Options.Fill[col.Name]; col.Instants() && !declared {
		if s.fill[i] = col.Offset; col.Fill != nil {
			*col.Fill = col.Offset // 0 as a feature
		}
	}
	s.tellCollapse(in, c, i)
}

// tellCollapse warns where different values of column i come to the same features or target. Of decimals, which may
// have more digits than they are exact to, that takes one in a hundred. It looks at the values that are listed, or the first of them.
func (s *schema) tellCollapse(in *source.Reading, c *tally, i int) {
	col := &s.columns[i]
	values, features := map[float64]bool{}, map[[2]float32]bool{}
	for cell := range c.sample() {
		v, ok := s.value(i, cell)
		if !ok || math.IsInf(v, 0) {
			continue
		}
		x, clock := s.near(i, v)
		if col.Clock == 0 {
			clock = 0
		}
		values[v], features[[2]float32{x, clock}] = true, true
	}
	lost := len(values) - len(features)
	switch decimals := !col.Instants() && c.fraction.has(c.style); {
	case lost == 0 || decimals && 100*lost < len(values):
	case col.Kind == data.Label:
		in.Doubt("%s: of %d different values %d fall together, as a target has 24 bits. Subtract a number that is public from all of them.", data.Shorten(col.Name), len(values), lost)
	default:
		in.Doubt("%s: of %d different values %d fall together, as a feature has 24 bits. Declare close bounds of the column (csv.bounds): their middle is then subtracted first.", data.Shorten(col.Name), len(values), lost)
	}
}

// near returns the features of the value v of column i: the number itself, and the time of day.
func (s *schema) near(i int, v float64) (x, clock float32) {
	return float32(v - s.columns[i].Offset), float32(v - math.Floor(v))
}

// value returns the number that cell c of column i says: of per cent a hundredth, and of a date or a time the days since
// 1970 began. ok is false for what is none; a number out of range is ±Inf.
func (s *schema) value(i int, c string) (v float64, ok bool) {
	col := &s.columns[i]
	v, ok = s.styles[i].read(c)
	switch {
	case !ok || math.IsInf(float64(float32(v)), 0):
	case col.Time != "":
		return data.Days(col.Time, v)
	case col.Units != nil && !plainNumber(c):
		if _, _, perCents := split(c); perCents {
			v /= 100
		}
	}
	return v, ok
}

// foreign returns the error of a number in column i with a unit that no training cell had; nil where it is as they were.
// A share in per cent fits among plain numbers.
func (s *schema) foreign(i int, c string) *data.Error {
	col := &s.columns[i]
	if col.Units == nil || col.Date != "" {
		return nil
	}
	sign := signOf(c)
	if slices.Contains(col.Units, sign) || sign == perCent && slices.Contains(col.Units, "") {
		return nil
	}
	e := &data.Error{Column: i + 1, ColumnName: col.Name, Expected: "a number with " + unitsInWords(col.Units) + ", as in the training rows", Got: data.Quote(c)}
	want, number := col.Units[0], s.styles[i].write(s.plain(i, c))
	switch {
	case sign != "" && want == "":
		e.Fix = fmt.Sprintf("Write %s if it is in the unit of the training rows; bring it to that first if not.", number)
	case sign != "":
		e.Fix = fmt.Sprintf("Bring it to the unit of the training rows, and write it as %s.", data.WithUnit(want, number))
	case want == perCent:
		e.Fix = fmt.Sprintf("Write %s if that is the number of per cent, or %s if it is a share of 1.", data.WithUnit(want, number), s.write(i, s.plain(i, c)))
	default:
		e.Fix = fmt.Sprintf("Write %s if it is in the unit of the training rows.", data.WithUnit(want, number))
	}
	return e
}

// plain returns the number in cell c of column i whatever its unit; 0 where it is none.
func (s *schema) plain(i int, c string) float64 {
	v, _ := s.styles[i].read(c)
	return v
}

func unitsInWords(list []string) string {
	all := make([]string, len(list))
	for k, u := range list {
		all[k] = data.Quote(u)
		if u == "" {
			all[k] = "no sign"
		}
	}
	return strings.Join(all, " or ")
}

// write returns the text of the value v in column i, which value reads as v.
func (s *schema) write(i int, v float64) string {
	col, st := &s.columns[i], s.styles[i]
	switch {
	case col.Time != "":
		return st.write(data.FromDays(col.Time, v))
	case data.UnitOf(col.Units) == perCent:
		v = hundredfold(v)
	}
	return data.WithUnit(data.UnitOf(col.Units), st.write(v))
}

// hundredfold returns 100·v, without what binary numbers add to decimals.
func hundredfold(v float64) float64 {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil { // v is not finite
		return v
	}
	r, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e+2), 64)
	return r
}

// what returns what a cell of column i is, in words.
func (s *schema) what(i int) string {
	if kind := s.columns[i].Time; kind != "" {
		return "a time, as " + timeInWords(kind)
	}
	return s.styles[i].what()
}

// checkUnits checks what column i of a model has of units and times, and takes the feature of its clock.
func (s *schema) checkUnits(i int, taken []bool) error {
	col := &s.columns[i]
	numbers := col.OfNumbers(s.task)
	switch {
	case !knownUnits(col.Units) || col.Units != nil && (!numbers || len(col.Units) == 0):
		return fmt.Errorf("there are no units %q", col.Units)
	case col.Time != "" && (col.Kind != data.Numeric || col.Date != "" || !slices.Contains(data.TimeKinds(), col.Time)):
		return fmt.Errorf("there are no times %s", data.Quote(col.Time))
	case col.Offset != 0 && col.Kind != data.Numeric || !(math.Abs(col.Offset) <= math.MaxFloat32):
		return fmt.Errorf("an offset %v", col.Offset)
	case col.Clock == 0:
		return nil
	case col.Kind != data.Numeric || !col.Instants():
		return fmt.Errorf("a time of day, and no times")
	}
	return take(taken, col.Clock, 1)
}
