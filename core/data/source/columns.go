package source

import "io"

// Columns is an open file of columns, such as Parquet, whose form this package
// leaves to others: see [Reading.Parquet].
type Columns interface {
	// Pictures says whether the rows are pictures with labels.
	Pictures() bool
	// Rows is how many there are.
	Rows() int64
	// Classes are the names of the classes of pictures.
	Classes() []string
	// Skipped are names of columns that no table can have.
	Skipped() []string
	// Text says whether a table's column, by its place among those that Open gives, is stored as texts.
	Text(column int) bool
	// Open reads the rows from the first on. Those of a table come as CSV text with a
	// header, commas and no line ends within cells; each picture as its label and its
	// bytes, both behind their lengths as little-endian 32-bit numbers. Where what it
	// opens has a method Done() int64, that is how much of the file has been read; it may
	// read no bytes, and no error, so that progress can be said and reading be stopped.
	Open() (io.ReadCloser, error)
}

// ColumnsFile is a file of columns as a File: the text of its rows, or its pictures.
type ColumnsFile struct {
	File
	Columns
}

// Open reads the rows, as [Columns.Open].
func (c ColumnsFile) Open() (io.ReadCloser, error) { return c.Columns.Open() }

// WritesCSV says that c is [Written].
func (c ColumnsFile) WritesCSV() {}

// Written is a File whose CSV text this program writes, from another form of tables:
// with a point in numbers that were numbers there, and the year first in dates.
type Written interface{ WritesCSV() }

// Priced is a File whose cells may be shown in currencies, which are known once it has been read to its end.
type Priced interface {
	// Currencies lists the different currencies in which numbers of a column, from 0, are shown. Their texts have none.
	Currencies(column int) []string
}

// Typed is a File whose columns have types, which are known once it has been read to its end.
type Typed interface {
	// Text says whether most cells of a column, from 0, are stored as texts.
	Text(column int) bool
}
