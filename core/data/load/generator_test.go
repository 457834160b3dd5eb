package load_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// A generator of awkward tables that knows what every cell means. What is read differently has to be said.

// meaning is the sense that a cell has to its owner.
type meaning string

const (
	amount   meaning = "amount"   // numbers to compute with
	instant  meaning = "instant"  // dates and times, in days since 1970 began
	category meaning = "category" // texts that repeat; codes
	private  meaning = "private"  // texts about one person
	index    meaning = "index"    // numbers of rows
)

// drawnCell is a cell as it is written, and what it means.
type drawnCell struct {
	text    string
	value   float64 // of an amount or an instant
	missing bool
}

// drawnColumn is a column whose truth is known.
type drawnColumn struct {
	kind  string // of the drawing
	name  string
	means meaning
	cells []drawnCell
	// doubt is a part of what has to be said even where every cell is read as meant; empty for nothing.
	doubt string
	typed bool // stored as numbers in a spreadsheet
}

// drawing draws a column of n cells.
type drawing struct {
	kind string
	make func(r *rand.Rand, n int) drawnColumn
}

// amounts draws numbers that write notes down.
func amounts(kind string, draw func(r *rand.Rand) float64, write func(r *rand.Rand, v float64) string) drawing {
	return drawing{kind, func(r *rand.Rand, n int) drawnColumn {
		c := drawnColumn{kind: kind, means: amount}
		for range n {
			v := draw(r)
			c.cells = append(c.cells, drawnCell{text: write(r, v), value: v})
		}
		return c
	}}
}

// doubtful adds what has to be said of a column.
func (d drawing) doubtful(said string) drawing {
	inner := d.make
	d.make = func(r *rand.Rand, n int) drawnColumn {
		c := inner(r, n)
		c.doubt = said
		return c
	}
	return d
}

// words draws texts from a list.
func words(kind string, means meaning, list ...string) drawing {
	return drawing{kind, func(r *rand.Rand, n int) drawnColumn {
		c := drawnColumn{kind: kind, means: means}
		for i := range n {
			text := list[r.IntN(len(list))]
			if i < len(list) { // all occur
				text = list[i]
			}
			c.cells = append(c.cells, drawnCell{text: text})
		}
		return c
	}}
}

// distinctTexts draws a text for each row.
func distinctTexts(kind string, means meaning, write func(r *rand.Rand, i int) string) drawing {
	return drawing{kind, func(r *rand.Rand, n int) drawnColumn {
		c := drawnColumn{kind: kind, means: means}
		for i := range n {
			c.cells = append(c.cells, drawnCell{text: write(r, i)})
		}
		return c
	}}
}

// instants draws times from a moment on.
func instants(kind string, from time.Time, span, grain time.Duration, write func(t time.Time) string) drawing {
	return drawing{kind, func(r *rand.Rand, n int) drawnColumn {
		c := drawnColumn{kind: kind, means: instant}
		for range n {
			t := from.Add(time.Duration(r.Int64N(int64(span)))).Truncate(grain)
			days := float64(t.Unix())/86_400 + float64(t.Nanosecond())/86_400e9
			c.cells = append(c.cells, drawnCell{text: write(t), value: days})
		}
		return c
	}}
}

// grouped writes a number with marks between thousands.
func grouped(v float64, decimals int, thousands, decimal string) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, part, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + thousands + whole[i:]
	}
	if part != "" {
		whole += decimal + part
	}
	if v < 0 {
		return "-" + whole
	}
	return whole
}

func cents(most float64) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return math.Round(r.Float64()*most*100) / 100 }
}

func whole(lo, hi int) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return float64(lo + r.IntN(hi-lo)) }
}

// signed draws cents of either sign.
func signed(most float64) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return math.Round((r.Float64()*2-1)*most*100) / 100 }
}

func notation(thousands, decimal string, decimals int) func(*rand.Rand, float64) string {
	return func(_ *rand.Rand, v float64) string { return grouped(v, decimals, thousands, decimal) }
}

func plainly(_ *rand.Rand, v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// with puts texts around a notation.
func wrapped(before, after string, write func(*rand.Rand, float64) string) func(*rand.Rand, float64) string {
	return func(r *rand.Rand, v float64) string {
		s := write(r, v)
		if rest, ok := strings.CutPrefix(s, "-"); ok {
			return "-" + before + rest + after
		}
		return before + s + after
	}
}

// gaps writes words for a missing number in a fifth of the cells.
func gaps(kind string, write func(*rand.Rand, float64) string, list ...string) drawing {
	inner := amounts(kind, cents(3000), write)
	return drawing{kind, func(r *rand.Rand, n int) drawnColumn {
		c := inner.make(r, n)
		for i := range c.cells {
			if i%5 == 2 {
				c.cells[i] = drawnCell{text: list[r.IntN(len(list))], missing: true}
			}
		}
		return c
	}}
}

// drawings lists the kinds of columns.
func drawings() []drawing {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	const hours, days = time.Hour, 24 * time.Hour
	layout := func(s string) func(time.Time) string { return func(t time.Time) string { return t.Format(s) } }
	either := func(all ...func(*rand.Rand, float64) string) func(*rand.Rand, float64) string {
		return func(r *rand.Rand, v float64) string { return all[r.IntN(len(all))](r, v) }
	}
	per := func(_ *rand.Rand, v float64) string {
		return strconv.FormatFloat(math.Round(v*1e4)/100, 'f', -1, 64) + "%"
	}
	share := func(r *rand.Rand) float64 { return float64(r.IntN(1000)) / 1000 }
	numbers := []drawing{
		amounts("integers", whole(0, 90), plainly),
		amounts("decimals", cents(80), plainly),
		amounts("negative", signed(80), plainly),
		amounts("German", signed(90_000), notation(".", ",", 2)),
		amounts("German thousands", whole(1000, 90_000), notation(".", ",", 0)),
		amounts("English", signed(90_000), notation(",", ".", 2)),
		amounts("English thousands", whole(1000, 90_000), notation(",", ".", 0)),
		amounts("Swiss", signed(90_000), notation("’", ".", 2)),
		amounts("Swiss straight", signed(9_000_000), notation("'", ".", 2)),
		amounts("CHF", cents(90_000), wrapped("CHF ", "", notation("’", ".", 2))),
		amounts("Fr.", cents(90_000), wrapped("Fr. ", "", notation("'", ".", 2))),
		amounts("thin", signed(90_000), notation("\u2009", ",", 2)),
		amounts("narrow", signed(90_000), notation("\u202f", ",", 2)),
		amounts("no-break", signed(90_000), notation("\u00a0", ",", 2)),
		amounts("spaces", signed(90_000), notation(" ", ",", 2)),
		amounts("kr", cents(90_000), wrapped("", " kr", notation("\u00a0", ",", 2))),
		amounts("euro behind", signed(9_000), wrapped("", " €", notation(".", ",", 2))),
		amounts("dollars", signed(9_000), wrapped("$", "", notation(",", ".", 2))),
		amounts("pounds", cents(9_000), wrapped("£", "", plainly)),
		amounts("rupees", whole(100_000, 9_000_000), func(_ *rand.Rand, v float64) string {
			s := strconv.Itoa(int(v))
			head, tail := s[:len(s)-3], s[len(s)-3:]
			for i := len(head) - 2; i > 0; i -= 2 {
				head = head[:i] + "," + head[i:]
			}
			return "₹" + head + "," + tail
		}),
		amounts("parentheses", signed(9_000), func(r *rand.Rand, v float64) string {
			if v < 0 {
				return "(" + grouped(-v, 2, ",", ".") + ")"
			}
			return grouped(v, 2, ",", ".")
		}),
		amounts("minus behind", signed(9_000), func(r *rand.Rand, v float64) string {
			if v < 0 {
				return grouped(-v, 2, ".", ",") + "-"
			}
			return grouped(v, 2, ".", ",")
		}),
		amounts("typeset minus", signed(90), func(_ *rand.Rand, v float64) string { return strings.Replace(plainly(nil, v), "-", "−", 1) }),
		amounts("plus", signed(90), func(_ *rand.Rand, v float64) string {
			if v > 0 {
				return "+" + plainly(nil, v)
			}
			return plainly(nil, v)
		}),
		amounts("exponents", signed(1e7), func(_ *rand.Rand, v float64) string { return strconv.FormatFloat(v, 'e', 8, 64) }),
		amounts("per cent", share, per),
		amounts("per cent, comma", share, func(r *rand.Rand, v float64) string {
			return strings.Replace(strings.Replace(per(r, v), ".", ",", 1), "%", " %", 1)
		}),
		amounts("per cent and shares", share, either(per, plainly)).doubtful("per cent"),
		amounts("currencies", cents(900), either(wrapped("$", "", plainly), wrapped("€", "", plainly), wrapped("£", "", plainly))).doubtful("currencies"),
		amounts("francs and plain", cents(900), either(wrapped("CHF ", "", plainly), plainly)),
		amounts("thousands in k", whole(1, 90), func(_ *rand.Rand, v float64) string { return fmt.Sprintf("%gk", v) }),
		amounts("kilograms", whole(40, 120), func(_ *rand.Rand, v float64) string { return fmt.Sprintf("%g kg", v) }),
		amounts("wide digits", whole(100, 999), func(_ *rand.Rand, v float64) string {
			return strings.Map(func(d rune) rune { return d - '0' + '０' }, fmt.Sprint(v))
		}),
		amounts("large integers", func(r *rand.Rand) float64 { return float64(20_000_000 + r.IntN(200)) }, plainly).doubtful("fall together"),
		amounts("compact times", func(r *rand.Rand) float64 { return float64(20240102030000 + r.IntN(60)) }, plainly).doubtful("fall together"),
		amounts("far decimals", func(r *rand.Rand) float64 { return 4_500_000 + float64(r.IntN(100))/100 }, notation("", ".", 2)).doubtful("fall together"),
		amounts("identifiers", func(r *rand.Rand) float64 { return 1234567890123456768 + float64(256*r.IntN(80)) }, plainly).doubtful("fall together"),
		amounts("old seconds", func(r *rand.Rand) float64 { return float64(400_000_000 + r.IntN(300)) }, plainly).doubtful("fall together"),
		gaps("gaps NA", plainly, "NA", "N/A", "", "NaN"),
		gaps("gaps SQL", plainly, "NULL", `\N`, "null", "<NA>"),
		gaps("gaps None", plainly, "None", "--", "-"),
		gaps("gaps errors", notation("", ",", 2), "#DIV/0!", "#REF!", "#N/A", "#VALUE!"),
		gaps("gaps marks", plainly, ".", "..", "n/d", "?"),
		gaps("gaps words", plainly, "missing", "unknown", "not available"),
		gaps("gaps German", notation(".", ",", 2), "k.A.", "k. A.", "n.v."),
		gaps("gaps dash", plainly, "—", "–", "…"),
		gaps("gaps below detection", plainly, "<0.5", "<LOD"),
	}
	times := []drawing{
		instants("epoch s", day(2024, 2, 14), 3*hours, time.Second, func(t time.Time) string { return fmt.Sprint(t.Unix()) }),
		instants("epoch ms", day(2023, 2, 14), hours, time.Millisecond, func(t time.Time) string { return fmt.Sprint(t.UnixMilli()) }),
		instants("epoch us", day(2022, 2, 14), hours, time.Millisecond, func(t time.Time) string { return fmt.Sprint(t.UnixMicro()) }),
		instants("epoch ns", day(2021, 2, 14), hours, time.Millisecond, func(t time.Time) string { return fmt.Sprint(t.UnixNano()) }),
		instants("epoch decimals", day(2021, 2, 14), 300*days, time.Millisecond, func(t time.Time) string { return fmt.Sprintf("%.3f", float64(t.UnixMilli())/1000) }),
		instants("yyyymmdd", day(2020, 1, 1), 90*days, days, layout("20060102")),
		instants("ISO dates", day(1999, 1, 1), 9000*days, days, layout("2006-01-02")),
		instants("ISO times", day(2024, 1, 1), 90*days, time.Second, layout("2006-01-02 15:04:05")),
		instants("ISO T Z", day(2024, 1, 1), 90*days, time.Millisecond, layout("2006-01-02T15:04:05.000Z")),
		instants("ISO zone", day(2024, 1, 1), 90*days, time.Second, func(t time.Time) string {
			return t.In(time.FixedZone("", 2*3600)).Format("2006-01-02T15:04:05-07:00")
		}),
		instants("German dates", day(2019, 1, 1), 900*days, days, layout("02.01.2006")),
		instants("German times", day(2024, 1, 1), 90*days, time.Minute, layout("02.01.2006 15:04")),
		instants("slashes", day(2019, 1, 1), 900*days, days, layout("02/01/2006")),
		instants("US", day(2019, 1, 1), 900*days, days, layout("1/2/2006")),
		instants("US AM", day(2019, 1, 1), 900*days, time.Minute, layout("1/2/2006 3:04 PM")),
		instants("two digits", day(2019, 1, 1), 900*days, days, layout("1/2/06")).doubtful("two digits"),
		instants("two digits, German", day(1998, 1, 1), 2000*days, days, layout("02.01.06")).doubtful("two digits"),
		instants("months", day(2019, 1, 1), 900*days, days, layout("02 Jan 2006")),
		instants("open order", day(2019, 1, 1), 12*days, days, func(t time.Time) string {
			return fmt.Sprintf("%02d/%02d/2019", t.Day(), 1+t.Day()%12)
		}),
	}
	for i := range times { // the truth of the open order is day first
		if times[i].kind == "open order" {
			inner := times[i].make
			times[i].make = func(r *rand.Rand, n int) drawnColumn {
				c := inner(r, n)
				for j, cell := range c.cells {
					t, _ := time.Parse("02/01/2006", cell.text)
					c.cells[j].value = float64(t.Unix() / 86_400)
				}
				c.doubt = "order"
				return c
			}
		}
	}
	texts := []drawing{
		words("towns", category, "Bonn", "Köln", "Aachen", "Trier", "Mainz"),
		words("comma towns", category, "Bonn, Rhein", "Köln; Dom", "Aachen | West", "Trier\tMosel"),
		words("quotes", category, `the "old" one`, `it's`, `"`, `a,"b"`),
		words("breaks", category, "one\ntwo", "three\r\nfour", "five; six\nseven, eight"),
		words("case", category, "Innere", "innere", "INNERE", "Chirurgie").doubtfully("told apart"),
		words("NFD", category, "Käse", "Ka\u0308se", "Brot", "Öl").doubtfully("told apart"),
		words("zeros", category, "007", "07", "7", "12", "012"),
		words("ZIP", category, "00501", "02139", "10001", "94103"),
		words("zeros alike", category, "001", "002", "003", "004"),
		words("E", category, "1E1", "10", "2E1", "20", "40E1"),
		words("E only", category, "10E2", "11E3", "12E4", "55E7"),
		words("E long", category, "123E45", "124E46", "99E900"),
		words("versions", category, "1.1", "1.10", "1.2", "1.20"),
		words("versions of three", category, "1.1.0", "1.10.2", "2.0.1", "10.2.4"),
		words("hex", category, "0x1F", "0x10", "0xFF", "0x2A"),
		words("hex float", category, "0x1p-2", "0x1p4", "0x2p1"),
		words("underscores", category, "1_000", "10_00", "1000"),
		words("infinities", category, "inf", "nan", "ok"),
		words("phones", category, "0170 1234567", "0171 7654321", "030 123456"),
		words("phones, plus", category, "+4917012345", "+4930123456", "+4940987654"),
		words("Swedish ZIP", category, "114 55", "118 26", "753 10"),
		words("Dutch ZIP", category, "1234 AB", "1011 CD", "9999 XX"),
		words("addresses", category, "10.0.0.1", "192.168.1.1", "172.16.0.254"),
		words("fractions", category, "1/2", "3/4", "1/4", "2/3"),
		words("ranges", category, "1-2", "3-4", "10-12", "5-9"),
		words("bands", category, "18-25", "26-35", "36-50", "51+"),
		words("clock", category, "12:30", "08:15", "17:45"),
		words("truth", category, "TRUE", "FALSE"),
		words("Namibia", category, "NA", "DE", "ZA", "FR"),
		words("levels", category, "none", "mild", "severe"),
		words("stars", category, "*", "**", "***", "-"),
		words("grades", category, "1", "2-", "2+", "3"),
		words("ICD", category, "E11.9", "I10", "J45.0", "1E10"),
		words("quarters", category, "2024Q1", "2024Q2", "2024Q3"),
		words("weeks", category, "2024-W01", "2024-W02", "2024-W10"),
		words("prices", category, "$5", "€5", "£5", "5"),
		words("blanks", category, "a ", "a", " a", "b"),
		distinctTexts("notes", private, func(r *rand.Rand, i int) string {
			return fmt.Sprintf("Pat. %c%c%c seen, HIV %s", 'a'+i%26, 'a'+i/26%26, 'a'+r.IntN(26), []string{"pos.", "neg."}[r.IntN(2)])
		}),
		distinctTexts("names twice", private, func(r *rand.Rand, i int) string {
			return fmt.Sprintf("%c. Muster%c%c", 'A'+i/2%26, 'a'+i/52, 'a'+i/2%26)
		}),
		distinctTexts("mail", private, func(r *rand.Rand, i int) string { return fmt.Sprintf("p%d@clinic.example", i) }),
		distinctTexts("mostly none", private, func(r *rand.Rand, i int) string {
			if i%10 < 7 {
				return "none"
			}
			return fmt.Sprintf("fell on %c%c street", 'A'+i%26, 'a'+r.IntN(26))
		}),
		distinctTexts("hashes", private, func(r *rand.Rand, i int) string { return fmt.Sprintf("%016x", r.Uint64()) }),
		distinctTexts("E hashes", private, func(r *rand.Rand, i int) string { return fmt.Sprintf("%de%d", 100+r.IntN(800), 10+r.IntN(80)) }),
	}
	return slices.Concat(numbers, times, texts)
}

// doubtfully is like doubtful.
func (d drawing) doubtfully(said string) drawing { return d.doubtful(said) }

// labels lists the kinds of labels.
func labelDrawings() []drawing {
	few := func(kind string, k int) drawing {
		return drawing{kind, func(r *rand.Rand, n int) drawnColumn {
			c := drawnColumn{kind: kind, means: category, typed: true}
			for i := range n {
				v := (i + r.IntN(2)) % k
				c.cells = append(c.cells, drawnCell{text: fmt.Sprint(v), value: float64(v)})
			}
			return c
		}}
	}
	return []drawing{
		words("classes", category, "healthy", "ill"),
		words("yes", category, "yes", "no"),
		few("few integers", 2), few("five integers", 5), few("fifteen integers", 15).doubtful("whole numbers"),
		words("label zeros", category, "01", "1", "02", "2"),
		words("label ZIP", category, "00501", "02139", "10001"),
		words("label E", category, "1E1", "10", "2E1", "20"),
		words("label money", category, "$5", "€5", "£5"),
		words("label per cent", category, "5%", "5", "7"),
		words("label versions", category, "1.1", "1.10", "1.2"),
		words("label truth", category, "TRUE", "FALSE"),
		words("label NFD", category, "Käse", "Ka\u0308se", "Brot").doubtful("told apart"),
		words("label case", category, "Yes", "yes", "no").doubtful("told apart"),
		words("label infinities", category, "inf", "nan", "ok"),
		amounts("price", cents(900), notation("", ".", 2)),
		amounts("many integers", whole(0, 400), plainly).doubtful("whole numbers"),
		amounts("German price", cents(90_000), notation(".", ",", 2)),
		amounts("parentheses label", signed(900), func(_ *rand.Rand, v float64) string {
			if v < 0 {
				return "(" + grouped(-v, 2, ",", ".") + ")"
			}
			return grouped(v, 2, ",", ".")
		}),
	}
}

// drawnTable is a table whose truth is known.
type drawnTable struct {
	name    string
	columns []drawnColumn
	label   int
	rows    int
	opt     run.CSV
	file    source.File
	text    string
	header  bool // there is one
	odd     bool // it holds numbers
}

func (d *drawnTable) kinds() (all []string) {
	for _, c := range d.columns {
		all = append(all, c.kind)
	}
	return all
}

var featureNames = []string{"y", "class", "income", "target", "output", "status", "score", "value", "type", "result", "pclass", "total_cost", "Größe", "a b", "x", "outcome2", "group", "price"}
var oddNames = []string{"2019", "2020", "2021", "NA", "inf", "50%", "1E5", "2019-01-01", "0", "1", "3.5", "01", "$5", "-", "nan", "1,5"}

// drawTable draws table number i.
func drawTable(seed uint64, i int, deal func() drawing, dealLabel func() drawing) *drawnTable {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	d := &drawnTable{rows: 60 + r.IntN(60), header: true}
	for range 3 + r.IntN(4) {
		c := deal().make(r, d.rows)
		d.columns = append(d.columns, c)
	}
	label := dealLabel().make(r, d.rows)
	d.label = len(d.columns)
	if r.IntN(3) == 0 {
		d.label = r.IntN(len(d.columns) + 1)
	}
	d.columns = slices.Insert(d.columns, d.label, label)
	names := slices.Clone(featureNames)
	r.Shuffle(len(names), func(a, b int) { names[a], names[b] = names[b], names[a] })
	odd := slices.Clone(oddNames)
	r.Shuffle(len(odd), func(a, b int) { odd[a], odd[b] = odd[b], odd[a] })
	heads := i % 6 // 0, 1, 2: names; 3: odd names; 4: none; 5: a title above
	for j := range d.columns {
		d.columns[j].name = names[j]
		if heads == 3 && (j != d.label || r.IntN(3) == 0) {
			d.columns[j].name, d.odd = odd[j], true
		}
		if j == d.label && heads != 3 {
			d.columns[j].name = []string{"verdict", "label", "species", "y"}[r.IntN(4)]
			if slices.Contains(names[:len(d.columns)], d.columns[j].name) {
				d.columns[j].name = "verdict"
			}
		}
	}
	d.header = heads != 4
	if !d.header {
		for j := range d.columns {
			d.columns[j].name = data.Nameless(j)
		}
		d.opt.Header = []string{"", "no"}[r.IntN(2)]
	}
	if r.IntN(2) == 0 {
		d.opt.Label = d.columns[d.label].name
		if !d.header {
			d.opt.Label = fmt.Sprint(d.label + 1)
		}
	}
	d.opt.Missing = []string{"", "drop", "indicator"}[r.IntN(3)]
	d.opt.TestShare = -1
	format := i % 7
	kind := ""
	switch {
	case format == 6 && heads != 4:
		kind = "xlsx"
		d.file = source.Bytes(fmt.Sprintf("table%d.xlsx", i), datatest.Book("s", d.sheet(heads == 5)))
	default:
		kind = d.write(r, i, heads == 5)
	}
	d.name = fmt.Sprintf("table %d (%s, %s, %s)", i, []string{"names", "names", "names", "odd names", "no header", "title"}[heads], kind, strings.Join(d.kinds(), "; "))
	return d
}

// write makes the table a text and returns how.
func (d *drawnTable) write(r *rand.Rand, i int, title bool) string {
	mark := []string{";", "\t", "|", ","}[r.IntN(4)]
	end := []string{"\n", "\r\n"}[r.IntN(2)]
	how := fmt.Sprintf("%q %q", mark, end)
	always := r.IntN(3) == 0
	quote := func(s string) string {
		if always || strings.ContainsAny(s, mark+"\"\r\n") || mark == "\t" && strings.Contains(s, ";") {
			return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
		return s
	}
	var b strings.Builder
	line := func(cells []string) {
		for j, s := range cells {
			if j > 0 {
				b.WriteString(mark)
			}
			b.WriteString(quote(s))
		}
		b.WriteString(end)
	}
	style := ""
	if d.header && !d.odd && !title {
		style = []string{"", "", "pandas", "R", ""}[r.IntN(5)]
	}
	row := func(k int) (cells []string) {
		for _, c := range d.columns {
			cells = append(cells, c.cells[k].text)
		}
		return cells
	}
	var names []string
	for _, c := range d.columns {
		names = append(names, c.name)
	}
	numbers := drawnColumn{kind: style, means: index}
	for k := range d.rows {
		numbers.cells = append(numbers.cells, drawnCell{text: fmt.Sprint(k), value: float64(k)})
	}
	switch style {
	case "pandas":
		names = slices.Insert(names, 0, []string{"", "Unnamed: 0", "index", "level_0"}[r.IntN(4)])
		numbers.name = names[0]
	case "R":
		for k := range numbers.cells {
			numbers.cells[k].text = fmt.Sprint(k + 1)
		}
		numbers.name = "row names"
	}
	if title {
		b.WriteString(quote("Report of the clinic") + strings.Repeat(mark, len(names)-1) + end)
		if r.IntN(2) == 0 {
			b.WriteString(strings.Repeat(mark, len(names)-1) + end)
		}
	}
	if d.header {
		line(names)
	}
	if style == "pandas" || style == "R" {
		d.columns = slices.Insert(d.columns, 0, numbers)
		d.label++
		how += " " + style
	}
	for k := range d.rows {
		line(row(k))
	}
	d.text = b.String()
	text := []byte(d.text)
	switch r.IntN(6) {
	case 0:
		text = append([]byte("\ufeff"), text...)
		how += " BOM"
	case 1:
		text = datatest.UTF16Text(d.text, binary.LittleEndian)
		how += " UTF-16"
	}
	d.file = source.Bytes(fmt.Sprintf("table%d.csv", i), text)
	return how
}

// sheet returns the table as rows of a spreadsheet. Amounts are stored as numbers where they are written plainly, all
// other cells as text.
func (d *drawnTable) sheet(title bool) string {
	var b strings.Builder
	n := 0
	row := func(cells ...string) {
		n++
		fmt.Fprintf(&b, `<row r="%d">%s</row>`, n, strings.Join(cells, ""))
	}
	at := func(j int) string { return fmt.Sprintf("%c%d", 'A'+j, n+1) }
	text := func(j int, s string) string {
		s = strings.ReplaceAll(html.EscapeString(s), "\r", "&#13;")
		return fmt.Sprintf(`<c r="%s" t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`, at(j), s)
	}
	if title {
		row(text(0, "Report of the clinic"))
	}
	var cells []string
	for j, c := range d.columns {
		if _, err := strconv.ParseFloat(c.name, 64); err == nil && c.name[0] >= '1' && c.name[0] <= '9' && !strings.Contains(c.name, "E") {
			cells = append(cells, fmt.Sprintf(`<c r="%s"><v>%s</v></c>`, at(j), c.name))
			continue
		}
		cells = append(cells, text(j, c.name))
	}
	row(cells...)
	for k := range d.rows {
		cells = nil
		for j, c := range d.columns {
			cell := c.cells[k]
			plain := (c.means == amount || c.typed) && !cell.missing
			switch v, err := strconv.ParseFloat(cell.text, 64); {
			case cell.text == "":
			case plain && err == nil && v == cell.value && !strings.HasPrefix(cell.text, "+"):
				cells = append(cells, fmt.Sprintf(`<c r="%s"><v>%s</v></c>`, at(j), cell.text))
			default:
				cells = append(cells, text(j, cell.text))
			}
		}
		row(cells...)
	}
	d.text = b.String()
	return d.text
}

// difference is something read otherwise than meant.
type difference struct {
	column string // its name; empty for the table's
	kind   string // of its drawing
	what   string
	cells  int
	said   string // the warning that says so; empty: silent
}

var spaces = regexp.MustCompile(`\s+`)

// names reports whether a warning names a column.
func namesColumn(warning, column string) bool {
	at := 0
	for {
		i := strings.Index(warning[at:], column)
		if i < 0 {
			return false
		}
		i += at
		at = i + len(column)
		edge := func(s string) bool {
			return s == "" || !strings.ContainsAny(s[:1], "abcdefghijklmnopqrstuvwxyz0123456789_")
		}
		before := warning[:i]
		if (before == "" || edge(before[len(before)-1:])) && edge(warning[at:]) {
			return true
		}
	}
}

// compare compares what was read of a table with what is meant.
func (d *drawnTable) compare(t *testing.T) (all []difference, cells int, refusal error) {
	ds, report, err := load.Load(t.Context(), []source.File{d.file}, nil, d.opt, nil)
	if err != nil {
		return nil, 0, err
	}
	warnings := report.Warnings
	saying := func(column, part string, means meaning) string {
		for _, w := range warnings {
			general := strings.Contains(w, "read as the header") || strings.Contains(w, "taken as the label") && part != "label"
			general = general || means != index && strings.Contains(w, "numbers the rows") // which is no reason to ignore a time
			if (column == "" || !general && namesColumn(w, column)) && strings.Contains(w, part) {
				return w
			}
		}
		return ""
	}
	add := func(c *drawnColumn, what string, n int, parts ...string) {
		x := difference{what: what, cells: n}
		means := meaning("")
		if c != nil {
			x.column, x.kind, means = c.name, c.kind, c.means
		}
		for _, part := range append(parts, "") {
			if part == "" && len(parts) > 0 {
				break
			}
			if x.said == "" {
				x.said = saying(x.column, part, means)
			}
		}
		all = append(all, x)
	}
	if len(ds.Columns) != len(d.columns) {
		add(nil, fmt.Sprintf("%d columns, not %d", len(ds.Columns), len(d.columns)), 0, "column")
		return all, 0, nil
	}
	// The header and the rows.
	unnamed := false
	for j, c := range ds.Columns {
		if have, want := c.Name, d.columns[j].name; have != want && !(want == "" && d.columns[j].means == index) {
			add(nil, fmt.Sprintf("column %d is named %q, not %q", j+1, have, want), 0, "First row")
			unnamed = true
			break
		}
	}
	kept := make([]int, 0, d.rows)
	for k := range d.rows {
		missing := false
		for j := range d.columns {
			gone := d.columns[j].cells[k].missing || d.columns[j].cells[k].text == "NA" || d.columns[j].cells[k].text == "nan"
			missing = missing || gone && ds.Columns[j].Used() && (d.opt.Missing == "drop" || ds.Columns[j].Kind == data.Label) && ds.Columns[j].Missing > 0
		}
		if !missing {
			kept = append(kept, k)
		}
	}
	if ds.Train.N != len(kept) {
		if unnamed && ds.Train.N != len(kept) {
			return all, 0, nil // one fault, said or not
		}
		add(nil, fmt.Sprintf("%d rows, not %d", ds.Train.N, len(kept)), 0, "row")
		return all, 0, nil
	}
	// The label.
	for j, c := range ds.Columns {
		if c.Kind != data.Label {
			continue
		}
		if j != d.label {
			add(&d.columns[j], "is taken as the label, not "+d.columns[d.label].name, 0, "label")
		} else if d.opt.Label == "" && !strings.EqualFold(c.Name, "label") && saying(c.Name, "label", "") == "" {
			add(&d.columns[j], "a guess of the label", 0, "label")
		}
	}
	for j := range d.columns {
		want, have := &d.columns[j], &ds.Columns[j]
		cells += len(kept)
		if have.OfNumbers(ds.Task) && have.Kind == data.Label || have.Kind == data.Numeric {
			if want.means == private || want.means == category && !(want.typed) || want.means == index {
				add(want, fmt.Sprintf("%s is read as numbers (label: %t)", want.means, have.Kind == data.Label), len(kept))
				continue
			}
			wrong, example := 0, ""
			seen := map[[2]float64]float64{}
			for i, k := range kept {
				cell := want.cells[k]
				var v, clock float64
				if have.Kind == data.Label {
					v = float64(ds.Train.Y[i])
				} else {
					x := ds.Train.F32[i*ds.Dense():][:ds.Dense()]
					v = float64(x[have.First])
					if have.Clock > 0 {
						clock = float64(x[have.Clock])
					}
					if cell.missing != (have.Indicator > 0 && x[have.Indicator] == 1) {
						wrong++
						example = fmt.Sprintf("%q missing", cell.text)
						continue
					}
				}
				if cell.missing {
					continue
				}
				near := func(a, b float64) bool { return math.Abs(a-b) <= 1.2e-7*max(math.Abs(b), 1e-30) }
				truth := cell.value - have.Offset
				first := truth
				if have.Clock > 0 {
					first = math.Floor(cell.value) - have.Offset
				}
				if !near(v, truth) && !near(v, first) || have.Clock > 0 && math.Abs(clock-(cell.value-math.Floor(cell.value))) > 1e-6 {
					wrong++
					example = fmt.Sprintf("%q is %v and %v, not %v", cell.text, v, clock, truth)
					continue
				}
				key := [2]float64{v, clock}
				if other, ok := seen[key]; ok && other != cell.value {
					wrong++
					example = fmt.Sprintf("%q is another's %v", cell.text, v)
				}
				seen[key] = cell.value
			}
			if wrong > 0 {
				add(want, example, wrong)
			}
		} else if have.Kind == data.Ignored || have.Kind == data.Text {
			if want.means != private && want.means != index {
				add(want, string(want.means)+" is ignored", len(kept))
			}
			continue
		} else { // categories or classes
			if want.means == private || want.means == index {
				add(want, string(want.means)+" as categories", len(kept))
				continue
			}
			if (want.means == amount || want.means == instant) && !(have.Kind == data.Label && want.doubt != "") {
				add(want, string(want.means)+" as categories", len(kept))
				continue
			}
			wrong, example := 0, ""
			for i, k := range kept {
				got := ""
				if have.Kind == data.Label {
					got = ds.Classes[int(ds.Train.Y[i])]
				} else {
					x := ds.Train.F32[i*ds.Dense():][:ds.Dense()]
					for m, name := range have.Categories {
						if x[have.First+m] == 1 {
							got += name
						}
					}
				}
				clean := func(s string) string { return strings.TrimSpace(spaces.ReplaceAllString(s, " ")) }
				if clean(got) != clean(want.cells[k].text) {
					wrong++
					example = fmt.Sprintf("%q is %q", want.cells[k].text, got)
				}
			}
			if wrong > 0 {
				add(want, example, wrong)
			}
		}
		if want.doubt != "" && have.Used() && (want.doubt != "whole numbers" || have.Kind == data.Label) {
			asCategories := want.means == amount && have.Kind != data.Numeric && !have.OfNumbers(ds.Task) && have.Kind != data.Label
			if !asCategories {
				add(want, "doubtful: "+want.doubt, 0, strings.Split(want.doubt, "/")...)
			}
		}
	}
	return all, cells, nil
}

// justified reports whether a refusal names a cell that has no value, or that is no number as all others of its column
// are, or a label of which no two rows are alike.
func (d *drawnTable) justified(err error) bool {
	var e *data.Error
	if errors.As(err, &e) && strings.HasPrefix(e.Expected, "at least one column of features") {
		return !slices.ContainsFunc(d.columns, func(c drawnColumn) bool {
			return c.means == amount && c.doubt == "" && !strings.HasPrefix(c.kind, "gaps")
		})
	}
	if !errors.As(err, &e) || e.Fix == "" || e.Column < 1 || e.Column > len(d.columns) {
		return false
	}
	c := &d.columns[e.Column-1]
	if strings.HasPrefix(e.Expected, "a label column with at most") {
		return e.Column-1 != d.label
	}
	for _, cell := range c.cells {
		if strings.HasPrefix(e.Got, strconv.Quote(cell.text)) {
			return cell.missing || c.means == category && (cell.text == "nan" || cell.text == "NA")
		}
	}
	return false
}

// drawnTables counts the tables that TestGenerated draws.
const drawnTables = 154

// deckOf deals drawings in a random order, each as often as the others.
func deckOf(seed uint64, all []drawing) func() drawing {
	r, i := rand.New(rand.NewPCG(seed, seed)), 0
	return func() drawing {
		if i%len(all) == 0 {
			r.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		}
		i++
		return all[(i-1)%len(all)]
	}
}

// TestGenerated draws tables and demands that whatever is read otherwise than meant is said.
func TestGenerated(t *testing.T) {
	for _, seed := range []uint64{39, 41, 43, 52} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { drawAndCompare(t, seed) })
	}
}

func drawAndCompare(t *testing.T, seed uint64) {
	deal, dealLabel := deckOf(seed, drawings()), deckOf(seed, labelDrawings())
	tables, columns, cells, said, silent, refused, falsely := 0, 0, 0, 0, 0, 0, 0
	for i := range drawnTables {
		d := drawTable(seed, i, deal, dealLabel)
		tables++
		columns += len(d.columns)
		all, n, err := d.compare(t)
		cells += n
		if err != nil {
			if d.justified(err) {
				refused++
				continue
			}
			falsely++
			t.Errorf("refused: %s: %v", d.name, err)
			continue
		}
		for _, x := range all {
			if x.said != "" {
				said++
				if testing.Verbose() {
					t.Logf("said: %s [%s] of %s: %s: %s", x.kind, x.column, d.name, x.what, x.said)
				}
				continue
			}
			silent++
			t.Errorf("silent: %s [%s] of %s: %s", x.kind, x.column, d.name, x.what)
		}
	}
	t.Logf("%d tables, %d columns, %d cells: %d differences said, %d silent; %d refused for the true reason, %d for another", tables, columns, cells, said, silent, refused, falsely)
}
