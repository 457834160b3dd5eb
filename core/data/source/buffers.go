package source

import (
	"bufio"
	"io"
	"slices"
)

// buffers keeps the memory of readers that are closed for those that are opened next.
type buffers []*bufio.Reader

// mostFree limits the buffers that are kept: those of two tables.
const mostFree = 6

// reader returns a reader of r with a buffer of at least size bytes.
func (b *buffers) reader(r io.Reader, size int) *bufio.Reader {
	i := slices.IndexFunc(*b, func(free *bufio.Reader) bool { return free.Size() == size })
	if i < 0 {
		return bufio.NewReaderSize(r, size)
	}
	free := (*b)[i]
	*b = slices.Delete(*b, i, i+1)
	free.Reset(r)
	return free
}

// keep takes back the buffer of a reader that is closed.
func (b *buffers) keep(r *bufio.Reader) {
	r.Reset(nothing{})
	if len(*b) < mostFree {
		*b = append(*b, r)
	}
}

// nothing is a reader at its end.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }
