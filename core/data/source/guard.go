package source

import (
	"cmp"
	"fmt"
	"io"

	"clipscope/core/data"
)

// Guard ends a row that goes on and on: an open quote would otherwise
// collect the rest of the file in memory.
type Guard struct {
	R     io.Reader
	Limit int64
	File  string
	Fix   string
	read  int64
	Start int64 // of the current row
}

func (g *Guard) Read(p []byte) (int, error) {
	if g.read-g.Start > g.Limit {
		return 0, &data.Error{File: g.File, Byte: g.Start, Expected: fmt.Sprintf("rows of at most %d MB", g.Limit>>20),
			Got: "a longer one", Fix: cmp.Or(g.Fix, "Look for a quote that is not closed, or choose a file with line ends.")}
	}
	n, err := g.R.Read(p)
	g.read += int64(n)
	return n, err
}

// Begin begins a row behind what was read.
func (g *Guard) Begin() { g.Start = g.read }

// Skip counts n bytes as read that were not read of g.
func (g *Guard) Skip(n int) { g.read += int64(n) }
