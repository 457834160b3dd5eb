package source

import (
	"fmt"
	"io"

	"clipscope/core/data"
)

// Guard ends a row, or another part of a file, that goes on and on: an open quote would otherwise
// collect the rest of the file in memory.
type Guard struct {
	R     io.Reader
	Limit int64 // bytes of a part
	File  string
	Of    string // what the parts are, as the error names them
	Fix   string
	read  int64
	Start int64 // of the current part
}

func (g *Guard) Read(p []byte) (int, error) {
	if g.read-g.Start > g.Limit {
		return 0, &data.Error{File: g.File, Byte: g.Start, Expected: fmt.Sprintf("%s of at most %d MB", g.Of, g.Limit>>20),
			Got: "a longer one", Fix: g.Fix}
	}
	n, err := g.R.Read(p)
	g.read += int64(n)
	return n, err
}

// Begin begins a part behind what was read.
func (g *Guard) Begin() { g.Start = g.read }

// Skip counts n bytes as read that were not read of g.
func (g *Guard) Skip(n int) { g.read += int64(n) }
