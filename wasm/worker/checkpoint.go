package worker

import (
	"encoding/binary"
	"errors"
	"hash/crc64"
	"slices"
)

// checkpoint is the content of one of a run's files: the number of steps that may have been seen,
// and in two of the files also the state from which the run goes on.
//
// It is written as magic; number, released, step and the lengths of about and state, 8
// bytes each, the least significant first; about; a checksum of all that; state, and
// where there is one, a checksum of it. What follows is left of a longer one. One without a
// state is written twice in a row: a byte that changed, or a crash in the midst of writing,
// leaves one of the two whole, the new one or that before.
type checkpoint struct {
	number   uint64 // of the writes to the run's files, from 1
	released int
	step     int
	info     []byte // JSON
	state    []byte // none: only released is written
}

const (
	checkpointMagic = "clipscope run 1\n"
	checkpointHead  = len(checkpointMagic) + 5*8
	checksum        = 8
	// mostRunInfo is larger than any configuration that a person makes, and mostState as
	// much as is worth writing: package train makes no larger one.
	mostRunInfo = 1 << 19
	mostState   = 1 << 29
	mostSteps   = 1 << 40
	// listed is the number of bytes of a file that describe its content.
	listed = checkpointHead + mostRunInfo + checksum
)

// damage is the fault of a run of which nothing can be told any more.
const damage = "what was stored of this run is damaged, so it cannot go on; its whole charge stays"

var (
	errDamaged = errors.New("worker: " + damage)
	errNone    = errors.New("worker: no checkpoint of this run was stored")
	crcTable   = crc64.MakeTable(crc64.ECMA)
)

// bytes returns the checkpoint in its written form.
func (r *checkpoint) bytes() []byte {
	b := make([]byte, 0, checkpointHead+len(r.info)+len(r.state)+2*checksum)
	b = append(b, checkpointMagic...)
	for _, n := range []uint64{r.number, uint64(r.released), uint64(r.step), uint64(len(r.info)), uint64(len(r.state))} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, r.info...)
	b = binary.LittleEndian.AppendUint64(b, crc64.Checksum(b, crcTable))
	if len(r.state) > 0 {
		b = append(b, r.state...)
		b = binary.LittleEndian.AppendUint64(b, crc64.Checksum(r.state, crcTable))
	}
	return b
}

// fileBytes returns the content of the checkpoint's file: the checkpoint once, or twice if it has no
// state.
func (r *checkpoint) fileBytes() []byte {
	b := r.bytes()
	if r.state == nil {
		b = append(b, b...)
	}
	return b
}

// readCheckpoint reads a file; of one with a state, whole says that the state is wanted.
// Without it b may end anywhere after the first checksum. The checkpoint shares
// memory with b.
func readCheckpoint(b []byte, whole bool) (*checkpoint, error) {
	if len(b) < checkpointHead || string(b[:len(checkpointMagic)]) != checkpointMagic {
		return nil, errDamaged
	}
	var n [5]uint64
	for i := range n {
		n[i] = binary.LittleEndian.Uint64(b[len(checkpointMagic)+8*i:])
	}
	if n[0] == 0 || n[1] > mostSteps || n[2] > n[1] || n[3] > mostRunInfo || n[4] > mostState || (n[3] == 0) != (n[4] == 0) {
		return nil, errDamaged
	}
	r := &checkpoint{number: n[0], released: int(n[1]), step: int(n[2])}
	end := checkpointHead + int(n[3])
	if !checked(b, 0, end) {
		return nil, errDamaged
	}
	if r.info = b[checkpointHead:end]; len(r.info) == 0 || !whole {
		return r, nil
	}
	from := end + checksum
	if !checked(b, from, from+int(n[4])) {
		return nil, errDamaged
	}
	r.state = b[from : from+int(n[4])]
	return r, nil
}

// readJournal reads a file of the journal, which has its checkpoint twice, and returns the newer
// of those that are whole.
func readJournal(b []byte) (*checkpoint, error) {
	first, err := readCheckpoint(b, false)
	second, other := readCheckpoint(b[min(len(b), checkpointHead+checksum):], false)
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
	return !slices.ContainsFunc(b[:min(len(b), checkpointHead)], func(c byte) bool { return c != 0 })
}

// checked reports whether a part of b is followed by its checksum.
func checked(b []byte, from, end int) bool {
	return len(b) >= end+checksum && crc64.Checksum(b[from:end], crcTable) == binary.LittleEndian.Uint64(b[end:])
}
