// Package source opens local files for the readers of formats: plain, gzipped, in archives (zip, tar) or in folders. A
// [Reading] bounds the memory and the work that they take, reports progress, ends when its context does,
// and collects warnings for the owner.
package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
)

// Reading holds the state of one reading of files: its options, its limits, and the report and warnings
// for the owner. It is for one goroutine.
type Reading struct {
	*Work
	Options run.CSV
	Limits  Limits
	Taken   Taken
	Report  *data.Report // of the files, as far as they are understood; never nil
	// Parquet opens a file of columns; nil: such files are refused.
	Parquet func(File) (Columns, error)

	// Progress is called about every megabyte and every quarter of a second by the clock Now, on
	// the caller's goroutine; nil: nothing is reported.
	Progress func(Progress)
	Now      func() time.Time

	buffers  buffers
	opened   []io.Closer
	warnings warnings
}

// Taken counts the parts of its limits that all files of a reading take together.
type Taken struct {
	Bytes   int64 // of Limits.Bytes: rows
	Tables  int   // of Limits.Tables: files in archives that are looked at one by one
	Decoded int64 // of Limits.Decoded: pictures
	Texts   int64 // of Limits.Texts: texts that the cells of spreadsheets share
}

// NewReading returns a reading with the usual limits, whose work ends with ctx. The caller closes it.
func NewReading(ctx context.Context, opt run.CSV) *Reading {
	return &Reading{Work: newWork(ctx), Options: opt, Limits: DefaultLimits(), Report: &data.Report{Warnings: []string{}}, Now: time.Now}
}

// Warn tells the owner of something that was decided or left out without asking. All warnings with the
// same format are of one kind.
func (in *Reading) Warn(format string, args ...any) { in.warnings.add(false, format, args...) }

// Doubt is a Warn of what the owner alone can tell: the page has it read before a run.
func (in *Reading) Doubt(format string, args ...any) { in.warnings.add(true, format, args...) }

// Ask is a Doubt that an option of how files are read settles, such as "csv.header". The report has it in its Asks.
func (in *Reading) Ask(option, format string, args ...any) {
	in.Doubt(format, args...)
	if !slices.Contains(in.Report.Asks, option) {
		in.Report.Asks = append(in.Report.Asks, option)
	}
}

// Warnings returns the warnings for the owner, in the order in which they were found, and those of
// them that are doubts.
func (in *Reading) Warnings() (all, doubts []string) { return in.warnings.texts() }

// RowOverhead is the per-row cost beside the features, in bytes: a target, and the row's place in the
// shuffle that holds rows out.
const RowOverhead = 4 + 4

// TextOverhead is the per-row cost, in bytes, of a string header.
const TextOverhead = 16

// Claim takes the memory of rows, of so many bytes each, from the limit on all data. It is called before
// anything of that size is allocated. The error is a [*data.Error].
func (in *Reading) Claim(file string, rows, features, bytes int64) error {
	err := in.Room(file, rows, features, bytes)
	in.Taken.Bytes += rows * bytes
	return err
}

// Room returns the error that Claim would return, and takes nothing.
func (in *Reading) Room(file string, rows, features, bytes int64) error {
	if rows <= in.Limits.Bytes/max(1, bytes) && in.Taken.Bytes+rows*bytes <= in.Limits.Bytes { // the first, as the product may overflow
		return nil
	}
	return &data.Error{File: file, Expected: fmt.Sprintf("at most %d MB of data", in.Limits.Bytes>>20),
		Got: fmt.Sprintf("data larger than that: %d rows of %d features or more", rows, features),
		Fix: "Use fewer rows, or ignore columns that do not matter or have many categories."}
}

// Meter returns a reader of rc, the stored form of f, that reports progress and ends when the
// context does. rc may be nil where the caller counts what is done.
func (in *Reading) Meter(rc io.ReadCloser, f File, phase string) *Meter {
	return &Meter{in: in, rc: rc, File: f, phase: phase, told: in.Now()}
}

// Close closes what is open for the whole reading: archives.
func (in *Reading) Close() {
	in.buffers = nil
	for _, c := range in.opened {
		c.Close() // an error loses nothing: the file was only read
	}
	in.opened = nil
}

// CountTables adds n to the number of files in archives that are opened one by one, as tables are. The
// error, a [*data.Error], says that the limit is passed.
func CountTables(in *Reading, f File, n int) error {
	if in.Taken.Tables += n; in.Taken.Tables <= in.Limits.Tables {
		return nil
	}
	return &data.Error{File: f.Name(), Expected: fmt.Sprintf("at most %d tables in archives", in.Limits.Tables), Got: "more",
		Fix: "Join the tables into fewer files, or leave out those that do not matter."}
}

// Head returns the beginning of f's content, and the size of all of it in bytes; 0 where f is
// compressed.
func Head(in *Reading, f File) (head []byte, size int64, err error) {
	s, err := in.Open(f, PhaseSniff)
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	head, err = s.Peek(HeadSize)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	if len(head) == 0 {
		return nil, 0, emptyFile(f)
	}
	if !s.Gzip {
		size = f.Size()
	}
	return bytes.Clone(head), size, nil // the stream gives its memory back
}
