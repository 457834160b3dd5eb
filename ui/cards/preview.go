package cards

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"clipscope/core/data"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Shower shows how a table is read, or no more.
type Shower interface{ ShowTable(shown bool) }

// Preview is a table as it is read: what each column is taken for, which can be
// changed, over the first and last rows. It is for the eyes of who has the file.
//
// Guarantee: none. It shows rows; they go nowhere else.
type Preview struct {
	app.Compo
	Form  *widget.Form
	View  DataView // with a table
	Shows Shower
}

func (c *Preview) CompoID() string { return "preview-" + strconv.Itoa(c.Form.Epoch) }

// mostColumns limits the columns that are shown: enough to find a mistake, few enough to
// keep the page light.
const mostColumns = 200

func (c *Preview) Render() app.UI {
	r, shows := c.View.Table, c.Shows
	columns := r.Columns[:min(len(r.Columns), mostColumns)]
	notes := settled(r)
	if c.View.Refused { // then the card has none
		notes = slices.Clone(r.Warnings)
	}
	if more := len(r.Columns) - len(columns); more > 0 {
		notes = append([]string{"Of this table, " + words.Plural(more, "column") + " more than stand here."}, notes...)
	}
	return app.Section().Class(widget.Stale("preview-table", c.View.Loading)).ID("table").Aria("label", "The table as it is read").TabIndex(-1).Body(
		app.Div().Class("preview-head").Body(
			app.H2().Text("The table as it is read"),
			app.Button().Type("button").Class("plain").ID("hide-table").Aria("label", "Close the table").
				OnClick(func(app.Context, app.Event) { shows.ShowTable(false) }).Body(widget.Icon("close")),
		),
		app.P().Class("help").Text(c.about()),
		app.Div().Class("columns").TabIndex(0).Role("region").Aria("label", "Columns, first rows and last").Body(app.Table().Body(
			app.THead().Body(c.row("column", columns, func(i int) app.UI {
				name := words.Brief(columns[i].Name, mostOfName)
				return app.Th().Scope("col").Title(name).Text(name)
			})),
			app.TBody().Body(
				c.row("kind", columns, func(i int) app.UI { return app.Td().Body(c.kind(i, columns[i])) }),
				c.row("read as", columns, func(i int) app.UI { return app.Td().Class("as").Text(c.readAs(columns[i])) }),
				c.row("bounds", columns, func(i int) app.UI {
					d := form.Field{Key: "csv.bounds." + columns[i].Name, Label: "Bounds of column " + words.Brief(columns[i].Name, mostOfName), Preset: "from … to …"}
					return c.declared(columnID("bounds", i), d, columns[i].Instants(), columns[i].OfNumbers(c.View.Table.Task))
				}),
				app.If(c.Form.Full.CSV.Missing == "indicator", func() app.UI {
					return c.row("if missing", columns, func(i int) app.UI {
						d := form.Field{Key: "csv.fill." + columns[i].Name, Label: "Number for missing cells of column " + words.Brief(columns[i].Name, mostOfName), Preset: "0"}
						return c.declared(columnID("fill", i), d, false, columns[i].Kind == data.Numeric && columns[i].Missing > 0)
					})
				}),
			),
			c.cells("cells", columns, r.Preview.Rows, r.Preview.Values, r.Preview.Numbers),
			app.If(len(r.Preview.Last) > 0, func() app.UI {
				return c.cells("cells last", columns, r.Preview.Last, r.Preview.LastValues, r.Preview.LastNumbers)
			}),
		)),
		app.Div().Class("notes").Body(app.Range(notes).Slice(func(i int) app.UI { return app.P().Class("note").Text(notes[i]) })),
	)
}

// cells are rows of the files, with their numbers there.
func (c *Preview) cells(class string, columns []data.Column, rows, values [][]string, numbers []int) app.UI {
	return app.TBody().Class(class).Body(app.Range(rows).Slice(func(row int) app.UI {
		number := ""
		if row < len(numbers) {
			number = words.Count(numbers[row])
		}
		return c.row(number, columns, func(i int) app.UI { return cell(rows, values, row, i) })
	}))
}

// row is a line across the table.
func (c *Preview) row(name string, columns []data.Column, at func(i int) app.UI) app.UI {
	return app.Tr().Body(append([]app.UI{app.Th().Scope("row").Text(name)}, app.Range(columns).Slice(at))...)
}

// about says how the file as a whole was read, and what that came to.
func (c *Preview) about() string {
	r := c.View.Table
	if r.Format == "xlsx" {
		return "An Excel sheet" + c.header()
	}
	if r.Format == "parquet" {
		return "A Parquet table" + c.header()
	}
	s := fmt.Sprintf("%s, %s", cmp.Or(map[string]string{"utf-8": "UTF-8", "utf-16": "UTF-16", "windows-1252": "Windows-1252"}[r.Encoding], r.Encoding),
		cmp.Or(map[string]string{",": "separated by commas", ";": "separated by semicolons", "\t": "separated by tabs", "|": "separated by bars", " ": "separated by spaces"}[r.Delimiter], "separated by “"+r.Delimiter+"”"))
	return s + c.header()
}

// header says whether there is one, and what the file came to.
func (c *Preview) header() string {
	r := c.View.Table
	s := ", without a header"
	if r.Header {
		s = ", header in the first row"
		if first := r.Preview.Numbers; len(first) > 0 && first[0] > 2 {
			s = fmt.Sprintf(", header above row %d", first[0])
		}
	}
	s += ", rows numbered as in a spreadsheet"
	if c.View.Refused {
		return s + ". It cannot be read as it is: see Data."
	}
	return s + ". " + reportLine(r)
}

func columnID(kind string, i int) string { return kind + "-" + strconv.Itoa(i) }

// ColumnField is the element that a field about one of the columns stands in, and what the
// column is called; "" of other fields.
func ColumnField(field string, columns []data.Column) (id, name string) {
	for _, kind := range []string{"bounds", "fill"} {
		for i, c := range columns {
			if field == "csv."+kind+"."+c.Name {
				return columnID(kind, i), words.Brief(c.Name, mostOfName)
			}
		}
	}
	return "", ""
}

// kinds lists the kinds of a column.
var kinds = []form.Option{{Value: "numeric", Text: "numeric"}, {Value: "categorical", Text: "categorical"}, {Value: "bucketed", Text: "bucketed"}, {Value: "text", Text: "text"}, {Value: "words", Text: "words in order"}, {Value: "letters", Text: "letters in order"}, {Value: "label", Text: "label"}, {Value: "ignored", Text: "ignored"}}

func (c *Preview) kind(i int, col data.Column) app.UI {
	d := form.Field{Key: "csv.columns." + col.Name, Options: kinds}
	if col.Kind == data.Label && c.Form.Text(d.Key) != string(data.Label) { // or it is one of several, and can be taken back
		return app.Text("label")
	}
	if col.Kind == "" { // what it is was not come to
		d.Options = slices.Insert(slices.Clone(kinds), 0, form.Option{Text: "not known yet"})
	}
	return c.Form.Select(d, cmp.Or(c.Form.Text(d.Key), string(col.Kind))).ID("column-"+strconv.Itoa(i)).Aria("label", "Kind of column "+words.Brief(col.Name, mostOfName))
}

// declared is the field for what is stated of a column without looking, of days or of
// numbers. It is there where that has a meaning, or has been stated all the same.
func (c *Preview) declared(id string, d form.Field, days, fits bool) app.UI {
	text, fault := c.Form.Text(d.Key), c.Form.Faults[d.Key]
	if !fits && text == "" {
		return app.Td()
	}
	if b, err := form.ParseBounds(text); err == nil && days {
		text = day(b.Lo) + " to " + day(b.Hi)
	}
	return app.Td().Body(
		c.Form.Input(d, text).ID(id).Aria("label", d.Label).Aria("describedby", id+"-fault"),
		widget.Message(id+"-fault", "fault", fault),
	)
}

// day is a number of days since 1970 began as a date, with a time where it is not whole. A number that is no such day, as
// of a column of times in milliseconds, is as it was declared.
func day(days float64) string {
	if math.Abs(days) >= 1e6 {
		return form.Format(days)
	}
	return data.Instant(days)
}

// readAs says what the cells of a column mean.
func (c *Preview) readAs(col data.Column) string {
	s, n := "", words.Count(len(col.Categories))
	switch {
	case col.Kind == "" || col.Kind == data.Label && c.View.Table.Task == "": // it was not come to
	case col.Kind == data.Text:
		s = "texts, hashed into " + words.Count(col.Buckets)
	case col.Kind.IsSequence():
		s = "the first " + words.Count(col.Tokens) + " " + string(col.Kind)
	case col.Kind == data.Ignored:
		s = "not used"
	case col.Kind == data.Label && c.View.Table.Task == data.MultiLabel:
		s = "yes or no"
	case col.Kind == data.Label && c.View.Table.Task != data.Regression:
		s = n + " classes"
		if len(col.Categories) == 0 {
			s = "classes, of which there is no list"
		}
	case col.Kind == data.Categorical && c.Form.Text("csv.columns."+col.Name) == "bucketed":
		s = n + " buckets"
	case col.Kind == data.Categorical:
		s = n + " categories"
		if len(col.Categories) == 1 {
			s = "1 category"
		}
	case col.Date != "":
		s = "dates, " + map[string]string{"dmy": "day first", "mdy": "month first", "ymd": "year first"}[col.Date]
	case col.Time != "":
		s = "times (" + col.Time + ")"
	default:
		s = "numbers such as 1" + col.Thousands + "234" + cmp.Or(col.Decimal, ".") + "5"
		if unit := data.UnitOf(col.Units); unit != "" {
			s = "numbers with “" + unit + "”"
		}
	}
	if col.Missing > 0 {
		s += "; " + words.Count(col.Missing) + " missing"
	}
	return s
}

// cell draws a cell's text in the file, and the value that is read where that is something
// else.
func cell(rows, values [][]string, row, column int) app.UI {
	if column >= len(rows[row]) {
		return app.Td()
	}
	text, value := rows[row][column], ""
	if row < len(values) && column < len(values[row]) {
		value = values[row][column]
	}
	class := "cell"
	switch value {
	case text:
		value = ""
	case "":
		class += " unused"
	case data.MissingCategory:
		value = "missing"
	case "?":
		class, value = class+" misread", "cannot be read"
	}
	return app.Td().Class(class).Title(data.Shown(text)).Body(
		app.Text(data.Shown(text)),
		app.If(value != "", func() app.UI { return app.Small().Text("→ " + data.Shown(value)) }),
	)
}
