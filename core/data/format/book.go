package format

import (
	"path"
	"strings"

	"clipscope/core/data/source"
)

// bookOf returns the entry that lists the sheets, and that which says where they are; nil where
// there is none. Some programs number the first.
func bookOf(a *source.Archive) (book, rels *source.Entry) {
	for _, e := range a.Entries {
		if isBook(e.Path) {
			return e, a.Find("xl/_rels/" + path.Base(e.Path) + ".rels")
		}
	}
	return nil, nil
}

func isBook(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "xl/workbook") && strings.HasSuffix(name, ".xml")
}
