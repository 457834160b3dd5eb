package worker

import (
	"encoding/binary"
	"errors"
	"hash/crc64"
	"slices"
)

// slip is the content of a file in a drawer: the number of steps that may have been seen,
// and in two of the files also the state that the run goes on from.
//
// It is written as magic; number, released, step and the lengths of about and state, 8
// bytes each, the least significant first; about; a checksum of all that; state, and
// where there is one, a checksum of it. What follows is left of a longer one. One without a
// state is written twice in a row: a byte that changed, or a crash in the midst of writing,
// leaves one of the two whole, the new one or that before.
type slip struct {
	number   uint64 // of the writes to a drawer, from 1
	released int
	step     int
	about    []byte // JSON
	state    []byte // none: only released is written
}

const (
	slipMagic = "clipscope run 1\n"
	slipHead  = len(slipMagic) + 5*8
	checksum  = 8
	// mostAbout is larger than any configuration that a person makes, and mostState as
	// much as is worth writing: package train makes no larger one.
	mostAbout = 1 << 19
	mostState = 1 << 29
	mostSteps = 1 << 40
	// listed is the number of bytes of a file that describe its content.
	listed = slipHead + mostAbout + checksum
)

// damage is the fault of a run of which nothing can be told any more.
const damage = "what was stored of this run is damaged, so it cannot go on; its whole charge stays"

var (
	errSlip  = errors.New("worker: " + damage)
	errNone  = errors.New("worker: no checkpoint of this run was stored")
	crcTable = crc64.MakeTable(crc64.ECMA)
)

// bytes returns the slip as it is written.
func (r *slip) bytes() []byte {
	b := make([]byte, 0, slipHead+len(r.about)+len(r.state)+2*checksum)
	b = append(b, slipMagic...)
	for _, n := range []uint64{r.number, uint64(r.released), uint64(r.step), uint64(len(r.about)), uint64(len(r.state))} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, r.about...)
	b = binary.LittleEndian.AppendUint64(b, crc64.Checksum(b, crcTable))
	if len(r.state) > 0 {
		b = append(b, r.state...)
		b = binary.LittleEndian.AppendUint64(b, crc64.Checksum(r.state, crcTable))
	}
	return b
}

// fileBytes returns the content of the slip's file: of one without a state, the slip twice.
func (r *slip) fileBytes() []byte {
	b := r.bytes()
	if r.state == nil {
		b = append(b, b...)
	}
	return b
}

// readSlip reads a file; of one with a state, whole says that the state is wanted.
// Without it b may end anywhere after the first checksum. Parts of the slip are parts
// of b.
func readSlip(b []byte, whole bool) (*slip, error) {
	if len(b) < slipHead || string(b[:len(slipMagic)]) != slipMagic {
		return nil, errSlip
	}
	var n [5]uint64
	for i := range n {
		n[i] = binary.LittleEndian.Uint64(b[len(slipMagic)+8*i:])
	}
	if n[0] == 0 || n[1] > mostSteps || n[2] > n[1] || n[3] > mostAbout || n[4] > mostState || (n[3] == 0) != (n[4] == 0) {
		return nil, errSlip
	}
	r := &slip{number: n[0], released: int(n[1]), step: int(n[2])}
	end := slipHead + int(n[3])
	if !checked(b, 0, end) {
		return nil, errSlip
	}
	if r.about = b[slipHead:end]; len(r.about) == 0 || !whole {
		return r, nil
	}
	from := end + checksum
	if !checked(b, from, from+int(n[4])) {
		return nil, errSlip
	}
	r.state = b[from : from+int(n[4])]
	return r, nil
}

// readJournal reads a file of the journal, which has its slip twice: the newer of those that
// are whole.
func readJournal(b []byte) (*slip, error) {
	first, err := readSlip(b, false)
	second, other := readSlip(b[min(len(b), slipHead+checksum):], false)
	switch {
	case other != nil:
		return first, err
	case err != nil || second.number > first.number:
		return second, nil
	}
	return first, nil
}

// blank reports whether nothing was written to a file, or what was is deleted.
func blank(b []byte) bool {
	return !slices.ContainsFunc(b[:min(len(b), slipHead)], func(c byte) bool { return c != 0 })
}

// checked reports whether a part of b is followed by its checksum.
func checked(b []byte, from, end int) bool {
	return len(b) >= end+checksum && crc64.Checksum(b[from:end], crcTable) == binary.LittleEndian.Uint64(b[end:])
}
