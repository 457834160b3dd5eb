package table

import (
	"encoding/binary"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// keptRows holds the rows that the first pass has read, so that the second needs no file. A cell is held by its place among
// the listed values of its column, or as its text. A nil *keptRows keeps nothing.
type keptRows struct {
	blocks []string // whole rows
	block  []byte   // the newest rows, which no block has yet
	left   int64    // bytes that may still be taken
	line   int      // of the newest row
	rows   []int    // of each file
}

// keptBlock is the number of bytes from which on rows become a block.
const keptBlock = 64 << 10

// begin starts a row.
func (k *keptRows) begin(line int) {
	if k == nil {
		return
	}
	k.block = binary.AppendVarint(k.block, int64(line-k.line))
	k.line = line
}

// add takes a cell by its place among the listed values of its column; −1: it is none of them.
func (k *keptRows) add(place int32, s string) {
	switch {
	case k == nil:
	case place >= 0:
		k.block = binary.AppendUvarint(k.block, uint64(place)<<1)
	default:
		k.block = append(binary.AppendUvarint(k.block, uint64(len(s))<<1|1), s...)
	}
}

// end ends a row, and reports whether there is room for more.
func (k *keptRows) end() bool {
	return k == nil || len(k.block) < keptBlock || k.cut()
}

// cut makes a block of the newest rows, and reports whether there is room for it.
func (k *keptRows) cut() bool {
	if len(k.block) > 0 {
		k.blocks = append(k.blocks, string(k.block))
	}
	k.left -= int64(len(k.block))
	k.block = k.block[:0]
	return k.left >= 0
}

// endFile ends a file of so many rows, and reports whether there is room for them.
func (k *keptRows) endFile(rows int) bool {
	if k == nil {
		return true
	}
	k.rows = append(k.rows, rows)
	k.line = 0
	return k.cut()
}

// next returns the row that stands first in block, and the block behind it. Row by row, cells and places are those of the
// row before.
func (k *keptRows) next(block string, columns []tally, cells []string, places []int32) (rest string) {
	n, rest := uvarint(block)
	k.line += int(n>>1) ^ -int(n&1) // as binary.Varint
	for i := range columns {
		n, rest = uvarint(rest)
		if n&1 == 0 {
			places[i] = int32(n >> 1)
			cells[i] = columns[i].listing[n>>1]
			continue
		}
		places[i] = -1
		cells[i], rest = rest[:n>>1], rest[n>>1:]
	}
	return rest
}

// uvarint is [binary.Uvarint] of a string, and what stands behind.
func uvarint(s string) (n uint64, rest string) {
	for i, shift := 0, 0; ; i, shift = i+1, shift+7 {
		n |= uint64(s[i]&0x7f) << shift
		if s[i] < 0x80 {
			return n, s[i+1:]
		}
	}
}

// forget drops the rows that are kept: there are too many, or the second pass would see others.
func (sc *scan) forget() {
	sc.kept = nil
	for i := range sc.columns {
		if c := &sc.columns[i]; c.distinct == nil {
			c.listing = nil
		}
	}
}

// mark holds the features of a listed value, or its target.
type mark struct {
	known                   bool
	at                      int // of a category, among those of its column
	value, clock, indicator float32
}

// keptTables fills rows from what the first pass kept of files.
func (f *filler) keptTables(files []source.File, sc *scan) error {
	k := sc.kept
	f.places, f.marks = make([]int32, sc.width), make([][]mark, sc.width)
	for i := range f.marks {
		f.marks[i] = make([]mark, len(sc.columns[i].listing))
	}
	cells, block := make([]string, sc.width), ""
	for n, file := range files {
		f.points, k.line = false, 0
		m := f.Meter(nil, file, source.PhaseRead)
		for row := range k.rows[n] { // of which each file has whole blocks
			if block == "" {
				block, k.blocks = k.blocks[0], k.blocks[1:]
				m.Done = int64(float64(row) / float64(k.rows[n]) * float64(file.Size()))
				if err := m.Check(false); err != nil {
					return err
				}
			}
			block = k.next(block, sc.columns, cells, f.places)
			if err := f.row(file.Name(), cells, k.line); err != nil && !f.badRows().take(err) {
				return err
			}
		}
		m.Done = file.Size()
		if err := m.Check(true); err != nil {
			return err
		}
	}
	return nil
}

// badRows returns the counter of rows that cannot be read; nil where they are refused.
func (f *filler) badRows() *BadRows {
	if f.Options.BadRows == "skip" {
		return &f.bad
	}
	return nil
}

// marked writes the feature of a cell of column i that is a listed value and was met before, and reports whether it is
// one. The target of a label is left in marks.
func (f *filler) marked(x []float32, i int) bool {
	if f.places == nil || f.places[i] < 0 {
		return false
	}
	m, col := &f.marks[i][f.places[i]], &f.columns[i]
	switch {
	case !m.known:
	case col.Kind == data.Categorical:
		x[col.First+m.at] = 1
	case col.Kind == data.Numeric:
		x[col.First] = m.value
		if col.Clock > 0 {
			x[col.Clock] = m.clock
		}
		if col.Indicator > 0 {
			x[col.Indicator] = m.indicator
		}
	}
	return m.known
}

// learn keeps what the cell of column i has written to x.
func (f *filler) learn(x []float32, i int) {
	if f.places == nil || f.places[i] < 0 {
		return
	}
	m, col := mark{known: true}, &f.columns[i]
	if col.Kind == data.Categorical {
		for x[col.First+m.at] == 0 {
			m.at++
		}
	} else {
		m.value = x[col.First]
		if col.Clock > 0 {
			m.clock = x[col.Clock]
		}
		if col.Indicator > 0 {
			m.indicator = x[col.Indicator]
		}
	}
	f.marks[i][f.places[i]] = m
}

// learnTarget keeps the target of a cell of label column i, unless it has a point at its end, of which
// [filler.labelled] warns.
func (f *filler) learnTarget(i int, c string, y float32) {
	if f.places != nil && f.places[i] >= 0 && !strings.HasSuffix(c, ".") {
		f.marks[i][f.places[i]] = mark{known: true, value: y}
	}
}
