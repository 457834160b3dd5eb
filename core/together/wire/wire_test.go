package wire

import (
	"bytes"
	"reflect"
	"testing"
)

// frames has one of each kind, and edges.
func frames() []Frame {
	return []Frame{
		Hello{Token: [TokenSize]byte{1, 2}, Entries: 7, Card: []byte("card")}, Hello{},
		Start{}, Ready{3, [ProofSize]byte{9}}, Words{5, []uint32{0, 1, 1<<32 - 1}}, Words{5, []uint32{}},
		Dispute{4, Seats{}.With(9)}, Leave{},
		Welcome{2, Terms{3, 2, 10, 20, 30}, 4, []byte("sealed")}, Card{1, []byte("x")}, Roster{[][]byte{[]byte("a"), nil, []byte("c")}},
		Round{8, Seats{}.With(0).With(8), [][ProofSize]byte{{1}, {2}}}, Sum{8, Seats{}.With(1), []uint32{4, 5}},
		Void{9, Seats{}.With(0).With(2), Seats{}.With(2)}, Over{Expired},
	}
}

func TestFramesComeBack(t *testing.T) {
	kinds := map[byte]bool{}
	for _, f := range frames() {
		b := f.Append(nil)
		kinds[b[0]] = true
		got, err := Parse(b)
		if err != nil || !bytes.Equal(got.Append(nil), b) || reflect.TypeOf(got) != reflect.TypeOf(f) {
			t.Errorf("%#v comes back as %#v: %v", f, got, err)
		}
		for n := range b {
			if got, err := Parse(b[:n]); err == nil {
				t.Errorf("%d bytes of %d of %#v are %#v", n, len(b), f, got)
			}
		}
		if got, err := Parse(append(b, 0)); err == nil {
			t.Errorf("%#v with a byte behind it is %#v", f, got)
		}
	}
	if len(kinds) != 13 {
		t.Errorf("%d kinds are tried", len(kinds))
	}
}

// TestFramesAreBound: a frame that says that it has more than it holds, or than any may have, is refused,
// and takes no memory.
func TestFramesAreBound(t *testing.T) {
	for name, b := range map[string][]byte{
		"words":   {byte(KindWords), 0, 0, 0, 0, 255, 255, 255, 255},
		"many":    {byte(KindWords), 0, 0, 0, 0, 255, 255, 255, 127, 1, 2, 3, 4},
		"cards":   {byte(KindRoster), 255, 255, 255, 0},
		"proofs":  {byte(KindRound), 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0, 0},
		"seats":   Void{1, Seats{1, 0}, nil}.Append(nil),
		"version": append([]byte{byte(KindHello), Version + 1}, Hello{}.Append(nil)[2:]...),
		"reason":  {byte(KindOver), byte(reasons)},
		"none":    {byte(KindOver), 0},
		"kind":    {200},
		"empty":   {},
		"terms":   Welcome{0, Terms{1, 1, 1, 1, 1}, 0, nil}.Append(nil),
		"seat":    Welcome{3, Terms{3, 2, 10, 20, 30}, 0, nil}.Append(nil),
		"card":    Card{0, make([]byte, MostCard+1)}.Append(nil),
	} {
		if f, err := Parse(b); err == nil {
			t.Errorf("%s: %#v", name, f)
		}
		if n := testing.AllocsPerRun(10, func() { _, _ = Parse(b) }); n > 20 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, x := range frames() {
		f.Add(x.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, err := Parse(b); err == nil && !bytes.Equal(x.Append(nil), b) {
			t.Errorf("%x is %#v, which is written otherwise", b, x)
		}
	})
}

func TestSeats(t *testing.T) {
	var s Seats
	for _, i := range []int{40, 0, 7, 8} {
		s = s.With(i)
	}
	if got := s.All(); !reflect.DeepEqual(got, []int{0, 7, 8, 40}) || s.Has(1) || s.Has(41) || s.Has(4000) {
		t.Errorf("%v", got)
	}
}
