package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"strings"
	"unicode/utf8"

	"clipscope/core/data/source"
)

const (
	// mostBlock limits the bytes of whole lines that are cut into cells at a time.
	mostBlock = 64 << 10
	// leastBlock is the number of bytes below which a block costs more than it saves; mostSmall such are taken all the same,
	// of short tables.
	leastBlock, mostSmall = 4 << 10, 64
)

// records cuts text into the records that [csv.Reader] would return, and faster: lines that are plain are cut in blocks
// of many, without a copy of each cell. All other records are left to a csv.Reader, which is given a line at a time, so
// that it reads none of the next record.
type records struct {
	lines *bufio.Reader
	guard source.Guard // of the bytes behind block
	csv   *csv.Reader
	comma byte // between cells of plain lines; 0: no line is plain

	block string // whole lines that are not yet read
	cells []string
	err   error // of lines, for csv to return: a bufio.Reader tells an error once
	small int   // blocks below leastBlock
	read  int   // ends of lines that are read
	given int   // of these, the ones that csv has seen
}

func newRecords(lines *bufio.Reader, comma rune, limit int64, f source.File) *records {
	r := &records{lines: lines}
	r.guard = source.Guard{R: r, Limit: limit, File: f.Name(), Of: "rows",
		Fix: advice(f, "Look for a quote that is not closed, or choose a file with line ends.", "Shorten the texts of the row, or leave it out.")}
	r.csv = csv.NewReader(&r.guard)
	r.csv.Comma = comma
	r.csv.FieldsPerRecord = -1
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = comma != '\t' && comma != ' '
	if comma == '\t' || ' ' <= comma && comma < utf8.RuneSelf {
		r.comma = byte(comma)
	}
	return r
}

// next returns the cells of the next record, with spaces around them or without, and the line at which it begins, from 1.
// The cells are valid until the next call; their texts stay. An error is that of [csv.Reader.Read], for which
// lines count from offset + 1.
func (r *records) next() (cells []string, line, offset int, err error) {
	r.guard.Begin()
	for r.comma != 0 {
		if r.block == "" && !r.refill() {
			break
		}
		end := strings.IndexByte(r.block, '\n')
		text := strings.TrimSuffix(r.block[:end], "\r")
		if text == "" {
			r.skip(end + 1)
			continue
		}
		if !r.split(text) {
			break
		}
		r.skip(end + 1)
		return r.cells, r.read, 0, nil
	}
	offset = r.read - r.given
	cells, err = r.csv.Read()
	if err == nil {
		line, _ = r.csv.FieldPos(0)
	}
	return cells, line + offset, offset, err
}

// skip counts a line of n bytes of the block as read.
func (r *records) skip(n int) {
	r.block = r.block[n:]
	r.guard.Skip(n)
	r.read++
}

// refill takes whole lines that are at hand. ok is false where none is.
func (r *records) refill() (ok bool) {
	if _, r.err = r.lines.Peek(1); r.err != nil {
		return false
	}
	b, _ := r.lines.Peek(min(r.lines.Buffered(), mostBlock))
	n := bytes.LastIndexByte(b, '\n') + 1
	if n == 0 || n < leastBlock && r.small == mostSmall {
		return false
	}
	if n < leastBlock {
		r.small++
	}
	r.block = string(b[:n])
	_, err := r.lines.Discard(n)
	return err == nil
}

// Read reads the rest of the line for csv, or a part of it, and no byte of the next.
func (r *records) Read(p []byte) (n int, err error) {
	if r.block != "" {
		n = min(len(p), strings.IndexByte(r.block, '\n')+1)
		copy(p, r.block[:n])
		r.block = r.block[n:]
	} else {
		if r.err == nil {
			_, r.err = r.lines.Peek(1)
		}
		if r.err != nil {
			return 0, r.err
		}
		b, _ := r.lines.Peek(min(r.lines.Buffered(), len(p)))
		n = copy(p, b)
		if end := bytes.IndexByte(b, '\n'); end >= 0 {
			n = end + 1
		}
		if _, err = r.lines.Discard(n); err != nil {
			return 0, err
		}
	}
	if n > 0 && p[n-1] == '\n' {
		r.read++
		r.given++
	}
	return n, nil
}

// split cuts a line into cells where it is plain: each quote is around a whole cell, and none is within one.
func (r *records) split(text string) (plain bool) {
	r.cells = r.cells[:0]
	comma, begin := r.comma, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case comma:
			r.cells = append(r.cells, text[begin:i])
			begin = i + 1
		case '"':
			if i != begin {
				return false
			}
			n := strings.IndexByte(text[i+1:], '"')
			end := i + 1 + n + 1
			if n < 0 || end < len(text) && text[end] != comma {
				return false
			}
			r.cells = append(r.cells, text[i+1:end-1])
			if end == len(text) {
				return true
			}
			i, begin = end, end+1
		}
	}
	r.cells = append(r.cells, text[begin:])
	return true
}
