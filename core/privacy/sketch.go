package privacy

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
)

// SketchSize is the most hashes that a [Sketch] keeps.
const SketchSize = 4096

// A Sketch recognises a set of rows or pictures by the SketchSize least of their hashes,
// 64 bits each. The zero value is that of the empty set.
//
// Guarantee: two sets of at most SketchSize members that have one in common have a hash in
// common. So do two larger sets of which the larger has n and that have m in common, but
// for a probability of at most 2(1 − m/n)^SketchSize: 3·10⁻⁹ where they share 1/200 of it,
// 3.3 % where they share 1/1000. (The least common hash is missing from a sketch only where
// no common member is among the SketchSize least of n, which are a uniform draw.) Two sets
// without a common member have a common hash with probability of at most 2⁻⁴⁰, as no more
// than 2·SketchSize hashes of 64 bits meet; of large sets the hashes kept are small, so
// for 10⁶ members it is 2⁻³².
type Sketch struct {
	least []uint64 // unordered, with repetitions; SketchSize are the least so far once it was cut
	bound uint64   // no hash above it is among the least; 0: all may be
}

// Add adds a member by its hash, of which 8 bytes are used.
func (s *Sketch) Add(hash []byte) {
	v := binary.BigEndian.Uint64(hash)
	if s.bound != 0 && v > s.bound {
		return
	}
	if s.least = append(s.least, v); len(s.least) >= 2*SketchSize {
		s.cut()
	}
}

func (s *Sketch) cut() {
	slices.Sort(s.least)
	s.least = slices.Compact(s.least)
	if len(s.least) >= SketchSize {
		s.least = s.least[:SketchSize]
		s.bound = s.least[SketchSize-1]
	}
}

// Text returns the sketch in base64; "" of the empty set.
func (s *Sketch) Text() string {
	s.cut()
	b := make([]byte, 0, 8*len(s.least))
	for _, v := range s.least {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// hashesOf returns the hashes of a sketch as Text has written it, 8 bytes each.
func hashesOf(text string) ([]string, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b)%8 != 0 {
		return nil, errors.New("privacy: the ledger's sketch of a data set is damaged")
	}
	hashes := make([]string, len(b)/8)
	for i := range hashes {
		hashes[i] = string(b[8*i : 8*i+8])
	}
	return hashes, nil
}
