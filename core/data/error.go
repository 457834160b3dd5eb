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

// Error is one readable sentence, and a second that says what to do.
func (e *Error) Error() string {
	return strings.TrimSuffix(e.fault()+". "+e.Fix, " ")
}

// fault returns the sentence of the error and its place, without a point.
func (e *Error) fault() string {
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

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) place() string {
	var parts []string
	if e.File != "" {
		parts = append(parts, shorten(e.File))
	}
	if e.Row > 0 {
		parts = append(parts, fmt.Sprintf("row %d", e.Row))
	}
	switch name := columnName(e.Column - 1); {
	case e.Column > 0 && e.ColumnName != "" && e.ColumnName != name:
		parts = append(parts, fmt.Sprintf("column %d (%s)", e.Column, quote(e.ColumnName)))
	case e.Column > 0:
		parts = append(parts, name)
	case e.ColumnName != "":
		parts = append(parts, fmt.Sprintf("column %s", quote(e.ColumnName)))
	}
	if e.Byte > 0 {
		parts = append(parts, fmt.Sprintf("byte %d", e.Byte))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": "
}

// columnName names a column that has no name; i counts from 0.
func columnName(i int) string { return fmt.Sprintf("column %d", i+1) }

// quote shows a cell or a column's name in a message, shortened and printable.
func quote(s string) string { return strconv.Quote(clip(s, 40)) }

// clip is s with an ellipsis for what is beyond most characters.
func clip(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// shorten is the name of a file or a column as messages show it: the middle of
// a long one is left out, as its end tells as much as its beginning.
func shorten(name string) string {
	const most, end = 80, 20
	short := clip(name, most)
	if short == name {
		return name
	}
	at := len(name)
	for range end {
		_, n := utf8.DecodeLastRuneInString(name[:at])
		at -= n
	}
	return clip(name, most-end) + name[at:]
}
