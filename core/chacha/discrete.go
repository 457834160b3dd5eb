package chacha

import (
	"fmt"
	"math"
)

// The layout of a table of magnitudes: TableColumns first entries and, for every
// column, TableDigits further digits of its threshold.
const (
	columnBits   = 14
	firstBits    = 16 // binary digits of a threshold beside its column's alias
	digitBits    = 24 // of each further digit
	TableColumns = 1 << columnBits
	TableDigits  = 11
	TableLen     = TableColumns * (1 + TableDigits)
	// ThresholdBits is the number of binary digits of a threshold: from 0, never
	// keep the column, to 2^ThresholdBits, always keep it.
	ThresholdBits = firstBits + TableDigits*digitBits
)

// MostJoined limits the samples that an element of the discrete sequence is joined
// from.
const MostJoined = 5

// SetColumn writes a column of a table: its alias, the threshold's leading
// firstBits digits, 0 … 2¹⁶, and the others, from the first on.
func SetColumn(table []float32, column, alias int, first uint32, digits [TableDigits]uint32) {
	// Of bits that are never those of a NaN, which a copy might change.
	table[column] = math.Float32frombits(first<<columnBits | uint32(alias))
	for i, d := range digits {
		table[TableColumns+column*TableDigits+i] = float32(d)
	}
}

// Column returns the values that SetColumn wrote.
func Column(table []float32, column int) (alias int, first uint32, digits [TableDigits]uint32) {
	entry := math.Float32bits(table[column])
	for i := range digits {
		digits[i] = uint32(table[TableColumns+column*TableDigits+i])
	}
	return int(entry & (TableColumns - 1)), entry >> columnBits, digits
}

// Discrete writes the first len(dst) elements of the discrete sequence of key,
// nonce, table and multipliers (see the package comment): exact integers, the same
// to the bit wherever they are drawn.
//
// Guarantee: that of [Normal]; one key and nonce give this sequence or that, and
// only once.
//
// It is an error if there are more samples than one key and nonce give, fewer than
// one multiplier or more than [MostJoined], or if the table is too short; dst is
// untouched then.
func Discrete(key *[8]uint32, nonce *[3]uint32, table []float32, multipliers, dst []float64) error {
	k := len(multipliers)
	if k < 1 || k > MostJoined || len(table) < TableLen {
		return fmt.Errorf("chacha: %d samples an element from a table of %d values", k, len(table))
	}
	if n := int64(k) * int64((len(dst)+groupLen-1)/groupLen) * groupLen; n > 1<<32 {
		return fmt.Errorf("chacha: %d samples asked of one key and nonce, which give %d", n, int64(1)<<32)
	}
	s := samples{key: key, nonce: nonce, table: table}
	for i := 0; i < len(dst); i += groupLen {
		part := dst[i:min(i+groupLen, len(dst))]
		clear(part)
		for j, m := range multipliers {
			s.group(uint32(i/groupLen*k + j))
			for p := range part {
				part[p] += m * float64(s.sample(p))
			}
		}
	}
	return nil
}

// samples holds the samples of one group of four blocks.
type samples struct {
	key   *[8]uint32
	nonce *[3]uint32
	table []float32
	g     uint32
	words [4][16]uint32
}

func (s *samples) group(g uint32) {
	s.g = g
	for lane := range s.words {
		Block(s.key, 4*g+uint32(lane), s.nonce, &s.words[lane])
	}
}

// sample is the group's p-th.
func (s *samples) sample(p int) int {
	w := s.words[p%4][p/4]
	magnitude := int(w >> (32 - columnBits))
	alias, first, digits := Column(s.table, magnitude)
	switch fraction := w >> 1 & (1<<firstBits - 1); {
	case fraction > first, fraction == first && !s.below(digits, groupLen*s.g+uint32(p)):
		magnitude = alias
	}
	if w>>(31-columnBits)&1 == 1 {
		return -magnitude
	}
	return magnitude
}

// below reports whether the further digits of a sample are below a threshold's.
func (s *samples) below(digits [TableDigits]uint32, index uint32) bool {
	nonce := [3]uint32{s.nonce[0] ^ 1<<31, s.nonce[1], s.nonce[2]}
	var more [16]uint32
	Block(s.key, index, &nonce, &more)
	for i, d := range digits {
		if e := more[i] >> (32 - digitBits); e != d {
			return e < d
		}
	}
	return false
}
