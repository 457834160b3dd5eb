package data

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong with an input in terms its owner can act on: where,
// what was expected, what was found and what to do.
type Error struct {
	File string `json:"file,omitempty"`
	// Row is that of the file as a spreadsheet shows it: from 1, a header and empty rows
	// counted. 0 is unknown.
	Row        int    `json:"row,omitempty"`
	Column     int    `json:"column,omitempty"` // from 1; 0 is unknown
	ColumnName string `json:"column_name,omitempty"`
	// Byte is the offset in the file, after decompression, of what is wrong;
	// 0 is the beginning of the file, or unknown.
	Byte     int64  `json:"byte,omitempty"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	Fix      string `json:"fix,omitempty"` // a whole sentence
	Err      error  `json:"-"`             // the cause, where there is one
}

// Error returns a readable sentence, and a second one that says what to do.
func (e *Error) Error() string {
	return strings.TrimSuffix(e.Fault()+". "+e.Fix, " ")
}

// Fault returns the sentence of the error and its place, without a point.
func (e *Error) Fault() string {
	var b strings.Builder
	b.WriteString(e.place())
	switch {
	case e.Expected != "" && e.Got != "":
		fmt.Fprintf(&b, "expected %s, found %s", e.Expected, e.Got)
	case e.Expected != "":
		fmt.Fprintf(&b, "expected %s", e.Expected)
	case e.Got != "":
		b.WriteString(e.Got)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, " (%v)", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) place() string {
	var parts []string
	if e.File != "" {
		parts = append(parts, Shorten(e.File))
	}
	if e.Row > 0 {
		parts = append(parts, fmt.Sprintf("row %d", e.Row))
	}
	switch name := Nameless(e.Column - 1); {
	case e.Column > 0 && e.ColumnName != "" && e.ColumnName != name:
		parts = append(parts, fmt.Sprintf("column %d (%s)", e.Column, Quote(e.ColumnName)))
	case e.Column > 0:
		parts = append(parts, name)
	case e.ColumnName != "":
		parts = append(parts, fmt.Sprintf("column %s", Quote(e.ColumnName)))
	}
	if e.Byte > 0 {
		parts = append(parts, fmt.Sprintf("byte %d", e.Byte))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": "
}

// Nameless returns the name of column i, from 0, of a table that has no names.
func Nameless(i int) string { return fmt.Sprintf("column %d", i+1) }

// Quote shows a cell or a column's name in a message, shortened and printable.
func Quote(s string) string { return strconv.Quote(Clip(s, 40)) }

// Clip returns the first most characters of s, with an ellipsis where more follow.
func Clip(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// Shown returns a name of a file's with its bidirectional controls written as codes such as
// "⟨U+202E⟩": a control would turn round the words that stand behind the name in its line, and end
// whatever isolates it. Marks that move no other text stay.
func Shown(name string) string {
	if !strings.ContainsFunc(name, turns) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if turns(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// turns reports whether r embeds, overrides or isolates the direction of the text behind it, or
// ends what does.
func turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// Shorten returns the name of a file or a column as messages show it (see [Shown]). Of a long name the
// middle is left out, as its end says as much as its beginning.
func Shorten(name string) string {
	const most, end = 80, 20
	name = Shown(name)
	short := Clip(name, most)
	if short == name {
		return name
	}
	at := len(name)
	for range end {
		_, n := utf8.DecodeLastRuneInString(name[:at])
		at -= n
	}
	return Clip(name, most-end) + name[at:]
}

// OneClass returns the error of a file whose rows are all of one class.
func OneClass(file, class string) error {
	return &Error{File: file, Expected: "at least two classes", Got: "only class " + Quote(class),
		Fix: "Choose data with two or more classes, or another label column."}
}

// List names the first few, shortened, and counts the others.
func List(names []string) string {
	const most = 8
	var few []string
	for _, name := range names[:min(len(names), most)] {
		few = append(few, Shorten(name))
	}
	if len(names) > most {
		few = append(few, fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(few, ", ")
}

// SkipRows is the part of a fix that the option csv.bad_rows carries out.
const SkipRows = "skip rows that cannot be read"

// BadOption returns the error of an option, by its name below csv.
func BadOption(field, expected, got string) error {
	return &Error{Expected: fmt.Sprintf("csv.%s to be %s", field, expected), Got: Quote(got), Fix: "Correct the option."}
}

// Inert returns a text that no spreadsheet runs: a cell that begins with one of = + - @ and is no number gets an
// apostrophe in front.
func Inert(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
