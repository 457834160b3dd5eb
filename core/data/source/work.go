package source

import (
	"context"
	"fmt"

	"clipscope/core/data"
)

// Work holds what reading files costs against what their bytes allow: each byte that a
// reader makes of them (by unpacking, by copying a text that cells share, by writing
// columns as text) is spent, whoever makes it, and in every pass, and so are rows and cells of
// what was made. What costs nothing of that kind but takes its time is counted in steps. Both
// look whether the context has ended.
// It belongs to one reading and is for one goroutine.
type Work struct {
	ctx     context.Context
	Allowed int64  // bytes that may be made, in all
	Made    int64  // bytes that were made
	effort  int64  // since the context was looked at
	Advice  string // what to do about files that pass their allowance
}

// What to do about a file that passes its allowance, by what it holds.
const (
	adviceUnpack   = "Unpack the file and choose what was in it, or check where it comes from."
	AdviceCSV      = "Save the data again as plain CSV, or check where the file comes from."
	AdvicePictures = "Leave out pictures that are large and nearly blank, or make them smaller; or check where the file comes from."
)

const (
	// MostDeflated is the number of bytes that one of deflate's can stand for, which packs gzip, zip and
	// spreadsheets: what a file holds beyond that it does not hold, it repeats.
	MostDeflated = 1032
	// passes is the number of times that a table is read to its end.
	passes = 2
	// leastAllowed is the allowance of the smallest file: 100,000 rows of a category of
	// 40 letters, the names of its columns and numbers beside it, take 10 MB in two passes.
	leastAllowed = 32 << 20
	// rowCost and cellCost are what a row and a cell take beside their bytes, in bytes of text
	// that take as long: a row of two empty cells takes as long as some twenty bytes of a long
	// text.
	rowCost, cellCost = 16, 2
	// lookEvery is the effort, in bytes, between two looks at the context: at the slowest
	// rate of a reader in a browser, 1 MB a second, some 60 ms.
	lookEvery = 64 << 10
)

// Allowance returns the number of bytes that may be made of a file of size bytes, over all
// passes: 32 MB, and for each byte as many as deflate could have packed into it, twice.
//
// Measured, over both passes (TestHonestFilesAreAllowed): spreadsheets and packed tables take
// 16 to 26 for each byte, a table of zeros with one 1 in a hundred 320, with one in a thousand
// 1,400; 2,064 are allowed. A row that says one bit is allowed 258 bytes.
func Allowance(size int64) int64 { return leastAllowed + passes*MostDeflated*size }

func newWork(ctx context.Context) *Work {
	return &Work{ctx: ctx, Allowed: leastAllowed, Advice: adviceUnpack}
}

// Allow adds the allowance of files.
func (w *Work) Allow(files ...File) {
	for _, f := range files {
		w.Allowed += passes * MostDeflated * f.Size()
	}
}

// Spend counts n bytes that were made of a file. The error is a [*data.Error] that wraps
// [ErrTooMuch] once more were made than all files allow, or that of Ended.
func (w *Work) Spend(file string, n int64) error {
	if w.Made += n; w.Made > w.Allowed {
		return &data.Error{File: file, Expected: fmt.Sprintf("at most %d MB to be read of so few bytes", w.Allowed>>20), Got: "more: they repeat something again and again",
			Err: ErrTooMuch, Fix: w.Advice}
	}
	return w.Step(n)
}

// Step counts effort, about that of going through n bytes, and looks now and then whether the context
// has ended.
func (w *Work) Step(n int64) error {
	if w.effort += n; w.effort < lookEvery {
		return nil
	}
	w.effort = 0
	return w.Ended()
}

// Ended returns the error of the context once that has ended.
func (w *Work) Ended() error {
	if err := w.ctx.Err(); err != nil {
		return fmt.Errorf("data: load: %w", err)
	}
	return nil
}
