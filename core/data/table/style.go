package table

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"clipscope/core/data"
	"clipscope/core/run"
)

// A style is a way to write the numbers of a column: the mark before the decimals and the one between
// thousands (0: none). Where the numbers are days, date is the order of year, month and day, and
// decimal is the mark that the countries with this order of dates use.
type style struct {
	decimal, thousands byte
	date               string
}

// styles holds all known styles. Of those that fit a column equally well, the earliest is taken. A set
// of styles is a bit mask.
var styles = [...]style{
	plainPoint: {'.', 0, ""}, plainComma: {',', 0, ""},
	pointAndCommas: {'.', ',', ""}, commaAndPoints: {',', '.', ""},
	{'.', ' ', ""}, {',', ' ', ""}, {'.', '\'', ""}, {',', '\'', ""},
	plainDate: {'.', 0, "ymd"}, {',', 0, "dmy"}, {'.', 0, "mdy"},
}

// The styles in which the same point or comma may stand before decimals or between thousands.
const (
	plainPoint = iota
	plainComma
	pointAndCommas
	commaAndPoints
)

// plainDate is the style of dates that are stored as such.
const plainDate = 8

// what says what a cell in the style is.
func (st style) what() string {
	switch {
	case st.date != "":
		return "a date (" + st.date + ")"
	case st.decimal == '.' && st.thousands == 0:
		return "a number"
	case st.thousands == 0:
		return "a number such as 1234,5"
	}
	return fmt.Sprintf("a number such as 1%c234%c5", st.thousands, st.decimal)
}

type styleSet uint16

const (
	pointStyles styleSet = 0x55
	commaStyles styleSet = 0xaa
	dateStyles  styleSet = 0x700

	numberStyles = pointStyles | commaStyles
)

func (set styleSet) has(k int) bool { return set>>k&1 != 0 }

func (set styleSet) first() int { return bits.TrailingZeros16(uint16(set)) }

// fitting returns the styles in which s is a number or a date.
func fitting(s string) styleSet {
	digits, marks, dashes, odd := 0, 0, 0, false
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c == '.' || c == ',' || c == ' ' || c == '\'':
			marks++
		case 'a' <= c|' ' && c|' ' <= 'z' && !strings.ContainsRune("eETZAaPpMm", rune(c)):
			if infinite(s) {
				return numberStyles
			}
			if number := withoutWord(s); number != "" {
				return fitting(number) & numberStyles
			}
			return 0 // most text, without the cost of an error
		case i > 0 || c != '+' && c != '-':
			odd = true
			if c == '-' || c == '/' {
				dashes++
			}
		}
	}
	switch {
	case digits == 0:
		return 0
	case marks == 0 && !odd:
		return numberStyles
	case marks == 1 && !odd && strings.Contains(s, "."):
		const group = 3 // digits behind a mark between thousands
		if len(s)-1-strings.IndexByte(s, '.') == group && styles[commaAndPoints].written(s) != "" {
			return pointStyles | 1<<commaAndPoints
		}
		return pointStyles
	}
	var set styleSet
	for k, st := range styles {
		if dashes > 1 && st.date == "" {
			continue // an exponent has one
		}
		if _, ok := st.parse(s); ok {
			set |= 1 << k
		}
	}
	return set
}

// plainNumber reports whether s has nothing but what Go's numbers and the marks in them are written with.
func plainNumber(s string) bool {
	for i := range len(s) {
		if c := s[i]; c == '$' || c == '%' || c == '(' || c >= utf8.RuneSelf || 'a' <= c|' ' && c|' ' <= 'z' && c|' ' != 'e' {
			return false
		}
	}
	return len(s) == 0 || s[len(s)-1] != '-'
}

// below0 returns what stands in parentheses, or before a minus at the end of a number with decimals, as
// accountants write negative numbers. It has no sign of its own.
func below0(s string) (inner string, ok bool) {
	if inner, ok = strings.CutPrefix(s, "("); ok {
		inner, ok = strings.CutSuffix(inner, ")")
	} else if inner, ok = strings.CutSuffix(s, "-"); ok { // a digit before it, as the Swiss write 12.- for 12.00
		ok = strings.ContainsAny(inner, ".,") && '0' <= inner[len(inner)-1] && inner[len(inner)-1] <= '9'
	}
	inner = strings.TrimSpace(inner)
	return inner, ok && strings.Trim(inner, "+-") == inner && inner != ""
}

func infinite(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return strings.EqualFold(s, "inf") || strings.EqualFold(s, "infinity")
}

// parse reads s like read, rounded to float32.
func (st style) parse(s string) (v float32, ok bool) {
	f, ok := st.read(s)
	return float32(f), ok
}

// read reads a number, whose unit does not count, or a date. ok is true for numbers that are out of range too:
// they come as ±Inf.
func (st style) read(s string) (v float64, ok bool) {
	if st.date != "" {
		return parseDate(s, st.date)
	}
	if v, ok = quick(s, st.decimal); ok {
		return v, true
	}
	if s = st.written(s); s == "" || strings.ContainsAny(s, "_xX") { // which Go's own numbers may have
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, false
	}
	return f, true
}

// quick returns the number s where it is digits with one decimal mark at most, behind a sign at most, as most cells
// are. ok is false for what takes a closer look. Both parts of the quotient are exact, so that it is the nearest float64,
// as that of [strconv.ParseFloat] is (Clinger 1990).
func quick(s string, decimal byte) (v float64, ok bool) {
	const exact = 15 // digits
	signed := s != "" && (s[0] == '-' || s[0] == '+')
	n, digits, mark := 0, 0, -1
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9' && digits < exact:
			n, digits = 10*n+int(c-'0'), digits+1
		case c == decimal && mark < 0:
			mark = i
		case i > 0 || !signed:
			return 0, false
		}
	}
	v = float64(n)
	if mark >= 0 {
		v /= powers[len(s)-1-mark]
	}
	if signed && s[0] == '-' {
		v = -v
	}
	return v, digits > 0
}

// powers lists those of 10.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// written returns the number s as Go would write it; empty where s is plainly no number in this style.
func (st style) written(s string) string {
	s = bare(s)
	if st.decimal == '.' && st.thousands == 0 {
		return s
	}
	exponent := ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		s, exponent = s[:i], s[i:]
	}
	whole, decimals, found := strings.Cut(s, string(rune(st.decimal)))
	if strings.ContainsAny(decimals, ".,' ") {
		return ""
	}
	if st.thousands != 0 && strings.IndexByte(whole, st.thousands) >= 0 {
		if digits := strings.TrimLeft(whole, "+-"); !grouped(digits, st.thousands) && !(st.thousands == ',' && lakhs(digits)) {
			return ""
		}
		whole = strings.ReplaceAll(whole, string(rune(st.thousands)), "")
	}
	switch {
	case strings.ContainsAny(whole, ".,' "):
		return ""
	case !found:
		return whole + exponent
	}
	return whole + "." + decimals + exponent
}

// grouped reports whether s is digits in groups of three behind the first, which
// may be shorter and is not zero.
func grouped(s string, mark byte) bool {
	first := strings.IndexByte(s, mark)
	if first < 1 || first > 3 || s[0] == '0' || (len(s)-first)%4 != 0 {
		return false
	}
	for i := range len(s) {
		if parts := i >= first && (i-first)%4 == 0; parts != (s[i] == mark) || !parts && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// lakhs reports whether s is digits with commas as in India: groups of two behind the first, and then one of three.
func lakhs(s string) bool {
	at := strings.LastIndexByte(s, ',')
	if at < 1 || len(s)-at-1 != 3 || strings.Trim(s, "0123456789,") != "" || s[0] == '0' {
		return false
	}
	for i, group := range strings.Split(s[:at], ",") {
		if len(group) != 2 && !(i == 0 && len(group) == 1) {
			return false
		}
	}
	return true
}

var asciiNumber = strings.NewReplacer("\u00a0", " ", "\u2007", " ", "\u2009", " ", "\u202f", " ", "−", "-", "’", "'")

// bare returns a number without the sign of a currency or of per cent, and with ASCII's own minus, spaces
// and apostrophe. One in parentheses, or with decimals and a minus behind, is negative.
func bare(s string) string {
	number, _, _ := split(s)
	return number
}

// split returns a number as bare does, the place of its currency in units, plus 1, or 0 for none, and whether
// it has the sign of per cent.
func split(s string) (bare string, currency int, perCents bool) {
	if plainNumber(s) {
		return s, 0, false
	}
	s = asciiNumber.Replace(s)
	if inner, ok := below0(s); ok {
		s = "-" + inner
	}
	number := strings.TrimLeft(s, "+-")
	sign := s[:len(s)-len(number)]
	for k, symbol := range units[:len(units)-1] {
		short := strings.TrimPrefix(number, symbol)
		if short == number {
			short = strings.TrimSuffix(number, symbol)
		}
		if short != number {
			number, currency = short, 1+k
			break
		}
	}
	number, perCents = strings.CutSuffix(number, perCent)
	return sign + strings.TrimSpace(number), currency, perCents
}

// exponentCode reports whether s is digits, an E and digits. Programs write an exponent's sign or a
// point before it; people write codes so.
func exponentCode(s string) bool {
	i := max(strings.IndexByte(s, 'e'), strings.IndexByte(s, 'E'))
	return i > 0 && i < len(s)-1 && strings.Trim(s[:i]+s[i+1:], "0123456789") == ""
}

// unitOf returns the place in units of the unit of a number, plus 1; 0 where it has none.
func unitOf(s string) int {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	if digit(s[len(s)-1]) && (digit(s[0]) || s[0] == '-' && len(s) > 1 && digit(s[1])) {
		return 0
	}
	_, currency, perCents := split(s)
	if currency == 0 && perCents {
		return len(units)
	}
	return currency
}

// units are the signs and names of currencies, and the sign of per cent.
var units = [...]string{"$", "€", "£", "¥", "₹", "CHF", "EUR", "USD", "GBP", "kr.", "kr", "Kr", "Fr.", perCent}

const perCent = data.PerCent

// withoutWord returns a number beside the name of a currency, without it; empty where there is none.
func withoutWord(s string) string {
	digits, letters := false, 0
	for i := range len(s) {
		c := s[i]
		digits = digits || '0' <= c && c <= '9'
		if 'a' <= c|' ' && c|' ' <= 'z' {
			letters++
		}
	}
	if !digits || letters > 4 {
		return ""
	}
	number := bare(s)
	if strings.IndexFunc(number, func(r rune) bool { return 'a' <= r|' ' && r|' ' <= 'z' && r|' ' != 'e' }) >= 0 {
		return ""
	}
	return number
}

// parseDate reads a date, parted by '-', '/' or '.', with or without a time, as days since 1970
// began. A year has four digits or, at the end of a date, two: see [century].
func parseDate(s, order string) (days float64, ok bool) {
	clock := ""
	if i := strings.IndexAny(s, "T "); i >= 0 {
		s, clock = s[:i], s[i+1:]
		if clock == "" {
			return 0, false
		}
	}
	at := strings.IndexAny(s, "-/.")
	if len(s) < len("1/1/70") || at < 1 || (at == 4) != (order[0] == 'y') || s[at] == '.' && order == "mdy" {
		return 0, false
	}
	mark, rest := s[at:at+1], s
	var of [256]int // year, month and day, by their letter
	for i := range order {
		var part string
		part, rest, ok = strings.Cut(rest, mark)
		n, err := strconv.ParseUint(part, 10, 16)
		if last := i == 2; ok == last || err != nil || order[i] == 'y' && len(part) != 4 && !shortYear(s, order) || order[i] != 'y' && len(part) > 2 {
			return 0, false
		}
		of[order[i]] = int(n)
		if order[i] == 'y' && len(part) == 2 {
			of['y'] += century(int(n))
		}
	}
	t := time.Date(of['y'], time.Month(of['m']), of['d'], 0, 0, 0, 0, time.UTC)
	if of['y'] == 0 || t.Month() != time.Month(of['m']) || t.Day() != of['d'] {
		return 0, false
	}
	seconds, ok := parseClock(clock)
	return (float64(t.Unix()) + seconds) / (24 * 60 * 60), ok
}

// shortYear reports whether a date ends with a year of two digits. Marks other than '/' need two digits
// of day and month as well, as numbers of versions and chapters have fewer.
func shortYear(date, order string) bool {
	last := len(date) - len("/70")
	return order[0] != 'y' && last > 0 && date[last] == date[strings.IndexAny(date, "-/.")] && (date[last] == '/' || last == len("31.12"))
}

// century returns the years before one of two digits: 1900 from 69 on, else 2000, as POSIX has it.
func century(year int) int {
	if year >= 69 {
		return 1900
	}
	return 2000
}

// parseClock reads a time of day in seconds of UTC, of 24 hours or with AM or PM, with a zone behind seconds or none; an empty
// one is midnight.
func parseClock(s string) (seconds float64, ok bool) {
	if s == "" {
		return 0, true
	}
	if hours, half := strings.ToUpper(s), s[len(s)-1]|' '; half == 'm' {
		noon, pm := strings.CutSuffix(hours, "PM")
		morning, am := strings.CutSuffix(hours, "AM")
		if !pm && !am {
			return 0, false
		}
		if am {
			noon = morning
		}
		noon = strings.TrimSuffix(noon, " ")
		h, err := strconv.ParseUint(strings.SplitN(noon, ":", 2)[0], 10, 8)
		if seconds, ok = parseClock(noon); err != nil || h < 1 || h > 12 || strings.ContainsAny(noon, "Z+-") {
			return 0, false
		}
		if h == 12 {
			seconds -= 12 * 60 * 60
		}
		if pm {
			seconds += 12 * 60 * 60
		}
		return seconds, ok && noon != ""
	}
	if i := strings.LastIndexByte(s, ' '); i > 0 && strings.IndexAny(s[i:], "Z+-") == 1 { // before a zone
		s = s[:i] + s[i+1:]
	}
	for _, layout := range []string{"15:04:05", "15:04", "15:04:05Z07:00", "15:04:05Z0700", "15:04:05Z07"} { // the last as of PostgreSQL
		if t, err := time.Parse(layout, s); err == nil {
			return t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Seconds(), true
		}
	}
	return 0, false
}

// missing reports whether a cell says, in whatever column, that there is no value.
func missing(s string) bool {
	switch len(s) {
	case 0:
		return true
	case 1:
		return s == "?"
	case 2:
		return strings.EqualFold(s, "na") || s == `\N` // of MySQL and Hive
	case 3:
		return strings.EqualFold(s, "nan") || strings.EqualFold(s, "n/a") || strings.EqualFold(s, "n/d") || s == "NaT" ||
			s == "#NV" // #N/A of a German spreadsheet
	case 4:
		return strings.EqualFold(s, "null") || s == "#N/A" || strings.EqualFold(s, "-nan") || strings.EqualFold(s, "<na>") ||
			strings.EqualFold(s, "n.a.") || strings.EqualFold(s, "k.a.") // keine Angabe
	case 5:
		return strings.EqualFold(s, "k. a.") || s == "#REF!" || s == "#NUM!"
	case 6, 7:
		return strings.EqualFold(s, "k.\u00a0a.") || strings.EqualFold(s, "k.\u202fa.") || s == "#DIV/0!" || s == "#NAME?" || s == "#VALUE!" || s == "#NULL!"
	}
	return false
}

// noNumber reports whether a cell says in a column of numbers that there is no value. Among texts
// it may be one of them.
func noNumber(s string) bool {
	switch s {
	case "-", "--", ".", "..", "…", "–", "—":
		return true
	}
	if len(s) < len("none") || len(s) > len("not available") || s[0]|' ' < 'a' || s[0]|' ' > 'z' {
		return false
	}
	switch strings.ToLower(s) {
	case "none", "missing", "unknown", "not available", "unbekannt", "fehlt", "n.b.", "n. b.", "n.v.", "n. v.": // nicht bestimmt, nicht vorhanden
		return true
	}
	return false
}

// styleCount counts, over the cells of a column, which styles they fit.
type styleCount struct {
	cells    int              // that have a value
	fit      [len(styles)]int // but for the newest, see run
	run      int              // newest cells that fit runSet and no other style; countRun adds them to fit
	runSet   styleSet
	misses   [len(styles)]*cell // the first cell that does not fit
	missed   styleSet           // those that have one
	fraction styleSet           // in which some number is not whole
	unclear  *cell              // the first number whose point or comma may be either mark
	infinite *cell              // the first number that is not finite
	short    *cell              // the first date whose year has two digits
	negative *cell              // the first number below 0 by parentheses or a minus behind
}

// count counts s, a cell with a value, and returns the styles it fits. at is
// called to keep the cell.
func (c *styleCount) count(s string, at func() *cell) styleSet {
	set := fitting(s)
	c.cells++
	for k := range c.fit {
		if set.has(k) {
			c.fit[k]++
		} else if c.misses[k] == nil {
			c.misses[k] = at()
			c.missed |= 1 << k
		}
	}
	odd := len(s) >= 38 || lettered(s) // neither surely finite nor, without a mark, surely whole
	odd = odd || s[0] == '(' || s[len(s)-1] == '-'
	if set == 0 || set == numberStyles && !odd {
		return set
	}
	if c.short == nil && set&dateStyles != 0 {
		if date, _, _ := strings.Cut(s, " "); shortYear(date, "dmy") {
			c.short = at()
		}
	}
	if c.negative == nil && (s[0] == '(' || s[len(s)-1] == '-') {
		c.negative = at()
	}
	if odd && c.infinite == nil {
		if v, _ := styles[set.first()].parse(s); math.IsInf(float64(v), 0) {
			c.infinite = at()
		}
	}
	for rest := set &^ c.fraction; rest != 0; rest &= rest - 1 {
		k := rest.first()
		if v, _ := styles[k].read(s); v != math.Trunc(v) {
			c.fraction |= 1 << k
		}
	}
	if c.unclear == nil && (set.has(plainPoint) && set.has(commaAndPoints) || set.has(plainComma) && set.has(pointAndCommas)) && set != numberStyles {
		c.unclear = at()
	}
	return set
}

// lettered reports whether s has a letter of an exponent or of infinity.
func lettered(s string) bool {
	for i := range len(s) {
		if c := s[i] | ' '; c == 'e' || c == 'i' {
			return true
		}
	}
	return false
}

// glanceStyles returns the styles of a number that is digits behind a minus at most, without a zero in front of others, or
// with a point that can only be before decimals; 0 for all else, which takes a closer look.
func glanceStyles(s string) styleSet {
	const group, sure = 3, 38 // digits behind a mark between thousands; bytes of what is surely finite
	digits := s
	if len(s) > 0 && s[0] == '-' {
		digits = s[1:]
	}
	point := -1
	for i := range len(digits) {
		switch c := digits[i]; {
		case '0' <= c && c <= '9':
		case c == '.' && point < 0:
			point = i
		default:
			return 0
		}
	}
	switch n := len(digits); {
	case n == 0 || len(s) >= sure || point == 0 || point == n-1 || n-1-point == group && point >= 0:
		return 0
	case point > 0:
		return pointStyles
	case s[0] == '0' && n > 1:
		return 0
	}
	return numberStyles
}

// learned reports whether a number of glanceStyles, which fits set, tells nothing new but that there is one more.
func (c *styleCount) learned(set styleSet) bool {
	const all = 1<<len(styles) - 1
	return (all&^set)&^c.missed == 0 && (set == numberStyles || set&^c.fraction == 0)
}

// recount counts a cell that fits set and tells nothing else.
func (c *styleCount) recount(set styleSet) {
	c.cells++
	if set != c.runSet {
		c.countRun()
		c.runSet = set
	}
	c.run++
}

// countRun adds the cells of the run to those of each style.
func (c *styleCount) countRun() {
	for set := c.runSet; set != 0; set &= set - 1 {
		c.fit[set.first()] += c.run
	}
	c.run = 0
}

// best returns the allowed style that most cells fit; of several, the one with the table's decimal mark.
func (c *styleCount) best(allowed styleSet, decimal byte) int {
	best := allowed.first()
	for k, st := range styles {
		if !allowed.has(k) {
			continue
		}
		if c.fit[k] > c.fit[best] || c.fit[k] == c.fit[best] && st.decimal == decimal && styles[best].decimal != decimal {
			best = k
		}
	}
	return best
}

// allowedStyles returns the styles that the user's choices leave.
func allowedStyles(opt run.CSV) styleSet {
	var set styleSet
	for k, st := range styles {
		switch {
		case st.date != "":
			if opt.Date != "" && opt.Date != st.date {
				continue
			}
		case opt.Decimal != "" && opt.Decimal[0] != st.decimal,
			opt.Thousands == "none" && st.thousands != 0,
			opt.Thousands != "" && opt.Thousands != "none" && opt.Thousands[0] != st.thousands:
			continue
		}
		set |= 1 << k
	}
	return set
}

// Pointed returns a number so that its decimal point cannot be taken for a mark between thousands,
// whatever the texts beside it look like.
func Pointed(number string) string {
	if strings.Contains(number, ".") && styles[commaAndPoints].written(number) != "" {
		return number + "0"
	}
	return number
}

// InPerCent returns a share in per cent, with all of its digits, such as 12% for 0.12. Columns with units read it as the share. What is no
// finite number is returned as it is.
func InPerCent(share string) string {
	v, ok := styles[plainPoint].read(share)
	if v = hundredfold(v); !ok || v-v != 0 {
		return share
	}
	return Pointed(styles[plainPoint].write(v)) + perCent
}
