package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Whatever its flags, Go's linker has a program hold of what file and line each of its
// instructions is, for the stack that is printed where it ends in a panic: a fourteenth of
// what is fetched. Without it a stack says which function, and how far in: "?:0 +0x1c",
// which the same source, built the same way, has the line of.

// What Go 1.20 to 1.26 write, as runtime/symtab.go and runtime/runtime2.go describe it: a
// header with where its parts are, and for each function a record.
const (
	linesMagic  = "\xf1\xff\xff\xff\x00\x00\x01\x08" // with instructions of one byte and pointers of eight
	linesHeader = 72

	headerFunctions = 8  // where in the header is how many there are,
	headerFiles     = 40 // and where the parts begin: what files are numbered by, and their names,
	headerValues    = 56 // the tables by instruction,
	headerRecords   = 64 // and the functions' records

	recordFrame  = 16 // where in a record is the table of the sizes of frames,
	recordFile   = 20 // of files,
	recordLine   = 24 // and of lines,
	recordTables = 28 // how many more tables follow it,
	recordUnit   = 32 // what the numbers of files are counted from,
	recordStart  = 36 // and the function's first line
	recordSize   = 44
)

var errLines = errors.New("the table of lines is not as Go 1.20 to 1.26 write it")

// dropLines clears the files and lines in what a program's memory holds at first, and does
// nothing where there are none that it knows. The sizes of frames and where their pointers
// are, which the runtime itself needs, are in the same table and stay.
func dropLines(image []byte) error {
	t, ok := linesOf(image)
	if !ok {
		return nil
	}
	kept := make([]bool, len(t.values))
	for i := range t.functions {
		record, err := t.record(i)
		if err != nil {
			return fmt.Errorf("%w: function %d", err, i)
		}
		needed := append(record[recordFrame:recordFile:recordFile], record[recordSize:]...)
		for ; len(needed) > 0; needed = needed[4:] {
			if err := t.keep(kept, binary.LittleEndian.Uint32(needed)); err != nil {
				return fmt.Errorf("%w: function %d", err, i)
			}
		}
		for _, at := range []int{recordFile, recordLine, recordUnit, recordStart} {
			clear(record[at : at+4])
		}
	}
	for i, keep := range kept {
		if !keep {
			t.values[i] = 0
		}
	}
	clear(t.files)
	return nil
}

// lines are the parts of the table.
type lines struct {
	functions int
	files     []byte // their names, and which a number means
	values    []byte // by instruction: see [sequence]
	records   []byte // where the records are, the records, and whatever follows
}

// linesOf finds the table.
func linesOf(image []byte) (lines, bool) {
	at := bytes.Index(image, []byte(linesMagic))
	if at < 0 || len(image)-at < linesHeader || bytes.Contains(image[at+1:], []byte(linesMagic)) {
		return lines{}, false
	}
	table := image[at:]
	part := func(field int) uint64 { return binary.LittleEndian.Uint64(table[field:]) }
	functions, files, values, records := part(headerFunctions), part(headerFiles), part(headerValues), part(headerRecords)
	if files < linesHeader || files > values || values > records || records > uint64(len(table)) || functions > uint64(len(table))/recordSize {
		return lines{}, false
	}
	return lines{int(functions), table[files:values], table[values:records], table[records:]}, true
}

// record is the i-th function's, with what further tables it has.
func (t *lines) record(i int) ([]byte, error) {
	if len(t.records) < 8*i+8 {
		return nil, errLines
	}
	at := uint64(binary.LittleEndian.Uint32(t.records[8*i+4:]))
	if at+recordSize > uint64(len(t.records)) {
		return nil, errLines
	}
	end := at + recordSize + 4*uint64(binary.LittleEndian.Uint32(t.records[at+recordTables:]))
	if end > uint64(len(t.records)) {
		return nil, errLines
	}
	return t.records[at:end:end], nil
}

// keep marks the values of a table that begins there; 0 is none.
func (t *lines) keep(kept []bool, at uint32) error {
	if at == 0 {
		return nil
	}
	if uint64(at) >= uint64(len(t.values)) {
		return errLines
	}
	n := sequence(t.values[at:])
	if n == 0 {
		return errLines
	}
	for i := range n {
		kept[int(at)+i] = true
	}
	return nil
}

// sequence is how many bytes a table has: pairs of by how much a value changes and for how
// many instructions it is so, until a change of 0 that is not the first. It is 0 where that
// does not come.
func sequence(b []byte) int {
	for n := 0; ; {
		change, size := binary.Uvarint(b[n:])
		if size <= 0 {
			return 0
		}
		if change == 0 && n > 0 {
			return n + size
		}
		n += size
		if _, size = binary.Uvarint(b[n:]); size <= 0 {
			return 0
		}
		n += size
	}
}
