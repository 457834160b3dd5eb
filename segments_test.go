package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// A piece is a segment of a module that a test writes.
type piece struct {
	at   int64
	data []byte
}

// moduleOf writes a module with a memory, a custom section behind its data, and these.
func moduleOf(pieces ...piece) []byte {
	body := binary.AppendUvarint(nil, uint64(len(pieces)))
	for _, p := range pieces {
		body = appendVarint(append(body, 0, i32Const), p.at)
		body = binary.AppendUvarint(append(body, end), uint64(len(p.data)))
		body = append(body, p.data...)
	}
	out := append([]byte(magic), 5, 3, 1, 0, 17)
	out = append(out, dataSection)
	out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
	return append(out, 0, 3, 2, 'h', 'i')
}

// unedited leaves data as they are.
func unedited([]byte) error { return nil }

// imageOf is what a module's memory holds at first, up to its last byte that is not 0.
func imageOf(t *testing.T, module []byte) (image []byte, pieces int) {
	t.Helper()
	r := reader{bytes.TrimPrefix(module, []byte(magic))}
	for len(r.rest) > 0 {
		id := r.byte()
		section := reader{r.bytes(r.uint())}
		if id != dataSection {
			continue
		}
		n := section.uint()
		for pieces = 0; pieces < int(n); pieces++ {
			section.bytes(2)
			at := int(section.int())
			section.byte()
			data := section.bytes(section.uint())
			image = append(image, make([]byte, max(0, at+len(data)-len(image)))...)
			copy(image[at:], data)
		}
		if section.rest == nil || len(section.rest) > 0 {
			t.Fatal("the data section is not what it says")
		}
	}
	return bytes.TrimRight(image, "\x00"), pieces
}

func TestJoinSegments(t *testing.T) {
	zeros := func(n int) []byte { return make([]byte, n) }
	for _, tt := range []struct {
		name   string
		pieces []piece
		want   int
	}{
		{"none", nil, 0},
		{"nothing but zeros", []piece{{100, zeros(100)}}, 0},
		{"near", []piece{{0, []byte("a")}, {minGap, []byte("b")}}, 1},
		{"far", []piece{{0, []byte("a")}, {minGap + 1, []byte("b")}}, 2},
		{"zeros within", []piece{{64, slices.Concat([]byte("a"), zeros(minGap), []byte("b"))}}, 2},
		{"zeros around", []piece{{64, slices.Concat(zeros(9), []byte("a"), zeros(9))}}, 1},
		{"the later one stays", []piece{{5, []byte("early")}, {7, []byte("late")}}, 1},
		{"backwards", []piece{{7000, []byte("b")}, {127, []byte("a")}}, 2},
	} {
		module := moduleOf(tt.pieces...)
		joined, err := joinSegments(module, unedited)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		before, _ := imageOf(t, module)
		after, n := imageOf(t, joined)
		if n != tt.want || !bytes.Equal(before, after) {
			t.Errorf("%s: %d segments, of %d; %v became %v", tt.name, n, tt.want, before, after)
		}
		if !bytes.HasPrefix(joined, module[:13]) || !bytes.HasSuffix(joined, module[len(module)-5:]) {
			t.Errorf("%s: another section is not what it was", tt.name)
		}
		if again, err := joinSegments(joined, unedited); err != nil || !bytes.Equal(again, joined) {
			t.Errorf("%s: joined twice it is another, %v", tt.name, err)
		}
	}
}

func TestJoinSegmentsOfAnyImage(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		pieces := make([]piece, random.IntN(20))
		for i := range pieces {
			data := make([]byte, random.IntN(100))
			for j := range data {
				data[j] = byte(random.IntN(3)) * byte(random.IntN(256))
			}
			pieces[i] = piece{random.Int64N(2000), data}
		}
		module := moduleOf(pieces...)
		joined, err := joinSegments(module, unedited)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := imageOf(t, module)
		if after, _ := imageOf(t, joined); !bytes.Equal(before, after) {
			t.Fatalf("%v became %v", before, after)
		}
	}
}

func TestJoinSegmentsOfTheProgram(t *testing.T) {
	linked, err := os.ReadFile("bin/web/app.wasm")
	if err != nil {
		t.Skip("make builds the program")
	}
	joined, err := joinSegments(linked, unedited)
	if err != nil {
		t.Fatal(err)
	}
	before, many := imageOf(t, linked)
	after, few := imageOf(t, joined)
	if !bytes.Equal(before, after) || few > many/10 {
		t.Errorf("%d segments of %d bytes became %d of %d", many, len(before), few, len(after))
	}
}

func TestJoinSegmentsRefuses(t *testing.T) {
	good := moduleOf(piece{1, []byte("text")})
	for name, module := range map[string][]byte{
		"nothing":     nil,
		"no module":   []byte("<!doctype html>"),
		"cut":         good[:len(good)-7],
		"passive":     bytes.Replace(good, []byte{0, i32Const, 1}, []byte{1, i32Const, 1}, 1),
		"a global":    bytes.Replace(good, []byte{0, i32Const, 1}, []byte{0, 0x23, 1}, 1),
		"before it":   moduleOf(piece{-1, []byte("text")}),
		"too far":     moduleOf(piece{maxData, []byte("text")}),
		"a count":     append([]byte(magic), countOfData, 1, 1),
		"many pieces": append([]byte(magic), dataSection, 5, 0xff, 0xff, 0xff, 0xff, 0x0f),
	} {
		if _, err := joinSegments(module, unedited); !errors.Is(err, errModule) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzJoinSegments(f *testing.F) {
	f.Add(moduleOf())
	f.Add(moduleOf(piece{1, []byte("text")}, piece{70000, []byte("far")}))
	f.Fuzz(func(t *testing.T, module []byte) {
		joined, err := joinSegments(module, unedited)
		if err != nil {
			return
		}
		if again, err := joinSegments(joined, unedited); err != nil || !bytes.Equal(again, joined) {
			t.Fatalf("%x: joined twice it is another, %v", module, err)
		}
	})
}
