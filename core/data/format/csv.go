package format

import (
	"clipscope/core/data/source"
	"clipscope/core/data/table"
)

// csvFormat reads tables: text whose lines are rows.
var csvFormat = Format{
	Name:  "csv",
	Sniff: func(_ string, head []byte, _ int64) (bool, error) { return !isBinary(head) && foreign(head) == "", nil },
	Load:  table.Load,
	Table: func(_ *source.Reading, f source.File) (source.File, error) { return f, nil },
}

// isBinary reports whether head is not text: it has a NUL or many control bytes.
// Text need not be UTF-8; old tables are in Windows-1252.
func isBinary(head []byte) bool {
	control := 0
	for _, c := range head {
		if c == 0 {
			return true
		}
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' || c == 0x7f {
			control++
		}
	}
	return control > len(head)/100
}
