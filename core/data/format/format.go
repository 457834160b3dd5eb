// Package format reads the formats in which data sets are published. [Format] describes one; a file
// holds each, and a slice lists them in the order in which files are tested.
package format

import (
	"bytes"
	"cmp"
	"hash"
	"path"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// Format describes a format of data sets: how its files are recognised, and how they are read. Only Name
// and Load are always set.
type Format struct {
	// Name is that of [data.Report.Format].
	Name string
	// Sniff reports whether a file is of the format: by the first bytes of its content, and by its
	// name only where they do not tell. size is that of the content, 0 where that is not known.
	// The error is that of a file which says by its name that it is of the format, and is not.
	Sniff func(name string, head []byte, size int64) (bool, error)
	// Holds reports whether an entry of that path, in small letters, makes an archive a file of
	// the format as a whole. The files of other archives are looked at one by one.
	Holds func(path string) bool
	// Beside names the format of files that may stand beside those of this one, and say what
	// they hold.
	Beside string
	// Load reads the rows of train and test. It opens files through in alone, spends from its
	// allowance what it makes of them, and claims the memory of rows before it is taken.
	Load func(in *source.Reading, train, test []source.File) (*data.Dataset, error)
	// Table returns the table that a file of the format has, as a file of text; nil where it has
	// none.
	Table func(in *source.Reading, f source.File) (source.File, error)
	// Parts writes to h, one after the other, what a ledger recognises the people of files by, as
	// load.Parts has it. The parts of a format with tables are their rows.
	Parts func(in *source.Reading, files []source.File, tested bool, h hash.Hash, add func()) error
}

// formats lists all formats in the order in which files are tested. Text may be nearly
// anything, and records of bytes without a mark nearly any file, so they come late.
var formats = [...]*Format{
	&numPyFormat,
	&idxFormat,
	&matFormat,
	&parquetFormat,
	&csvFormat,
	&cifar10Format,
	&cifar100Format,
	&xlsxFormat,
	&picturesFormat,
}

// Of returns the format of a file by its name, the first bytes of its content, and how many
// that has; 0 where that is not known. encoding is what the owner says of text.
func Of(name string, head []byte, size int64, encoding string) (*Format, error) {
	if source.UTF16Mark(head) || encoding == source.UTF16 {
		return &csvFormat, nil
	}
	for _, f := range formats {
		if f.Sniff == nil {
			continue
		}
		if is, err := f.Sniff(name, head, size); is || err != nil {
			return f, err
		}
	}
	if k := pickledCIFAR(name, head); k != nil {
		return nil, k.pickled(name)
	}
	return nil, NotData(name, cmp.Or(foreign(head), "binary data of an unknown kind"))
}

// OfMany returns the format of a folder, or of an archive by the names in it; nil where its
// files are to be looked at one by one.
func OfMany(f source.File) (*Format, error) {
	a, ok := f.(*source.Archive)
	if !ok {
		return &picturesFormat, nil
	}
	other := ""
	for _, e := range a.Entries {
		path := strings.ToLower(e.Path)
		if k := pickledFolder(path); k != nil {
			return nil, k.pickled(a.Name())
		}
		for _, f := range formats {
			if f.Holds != nil && f.Holds(path) {
				return f, nil
			}
		}
		other = cmp.Or(foreignEntry(path), other)
	}
	if other != "" {
		return nil, NotData(a.Name(), other)
	}
	if slices.ContainsFunc(a.Entries, func(e *source.Entry) bool { return source.IsPicture(e.Path) }) {
		return &picturesFormat, nil
	}
	return nil, nil
}

// Aside reports whether an entry of an archive tells its readers about the data and has none: a readme, a
// licence, a page, or the list of CIFAR's classes. It is read only where there is nothing else.
func Aside(name string) bool {
	base := strings.ToLower(path.Base(name))
	word := strings.TrimSuffix(base, path.Ext(base))
	return slices.Contains([]string{"readme", "license", "licence", "copying"}, word) && source.EndsWith(base, word, ".txt", ".md", ".rst", ".html", ".pdf") ||
		source.EndsWith(base, ".html", ".htm", ".md") || slices.Contains(cifarLists, base)
}

// foreignEntry names the kind of an archive that has an entry of that path; empty for none known.
func foreignEntry(path string) string {
	switch {
	case path == "word/document.xml":
		return "a text document"
	case path == "ppt/presentation.xml":
		return "a presentation"
	case path == "xl/workbook.bin":
		return "a binary spreadsheet (.xlsb)"
	case path == "content.xml":
		return "an OpenDocument file"
	case strings.HasSuffix(path, "data.pkl"):
		return "a PyTorch file, whose pickle is never unpacked"
	}
	return ""
}

// NotData returns the error for a file of another kind.
func NotData(name, what string) error {
	return &data.Error{File: name,
		Expected: "a table (CSV, Excel's .xlsx, Parquet), NumPy arrays, pictures (PNG, JPEG) in folders or a zip or tar archive, IDX images and labels, MATLAB pictures (.mat), or CIFAR records",
		Got:      what,
		Fix:      "Choose another file, or save the data as CSV."}
}

// pickle names Python's own form of objects.
const pickle = "a Python pickle"

// foreign names common files that are not data this package reads.
func foreign(head []byte) string {
	if c := head[0]; (c >= 'A' && c <= 'Z') && !isBinary(head) {
		return "" // a table may begin with a column named PAR1
	}
	if source.Tarred(head) {
		return "a tar archive inside another: unpack it first"
	}
	for _, m := range []struct{ magic, what string }{
		{"<!DOCTYPE", "a web page"},
		{"<!doctype", "a web page"},
		{"<html", "a web page"},
		{"<?xml", "an XML file, such as a spreadsheet of another kind: save it as .xlsx"},
		{"{\"", "a JSON file"},
		{"[{", "a JSON file"},
		{"\x89PNG", "a PNG image, whose name does not say so"},
		{"\xff\xd8\xff", "a JPEG image, whose name does not say so"},
		{"GIF8", "a GIF image"},
		{"%PDF", "a PDF document"},
		{"PK\x03\x04", "a zip archive inside another: unpack it first"},
		{"\xd0\xcf\x11\xe0", "an Office file of the old kind (.xls), or one with a password: save it as .xlsx"},
		{"\x89HDF", "an HDF5 file"},
		{"MATLAB 7.3", "a MATLAB file of version 7.3: save it with -v7"},
		{"SQLite format 3", "an SQLite database"},
		{"\x80\x02", pickle},
		{"\x80\x03", pickle},
		{"\x80\x04", pickle},
		{"\x80\x05", pickle},
		{"\x1f\x8b", "a gzip file inside a gzip file: unpack it first"},
		{"BZh", "a bzip2 file: unpack it first"},
		{"\xfd7zXZ", "an xz file: unpack it first"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.what
		}
	}
	return ""
}
