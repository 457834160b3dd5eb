package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestRecordsAreThoseOfCSV: records that are cut in blocks are those of encoding/csv, trimmed, with their lines and errors,
// whatever pieces the text comes in.
func TestRecordsAreThoseOfCSV(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 39))
	parts := []string{"a", "1.5", "", " ", "\t", ",", ",", ",", ";", "\"", "\"a,b\"", "\"a\"", "\"a\"\"b\"", "\"a\nb\"", "\n", "\n", "\r\n", "\r", "ä", "\u00a0", "\v", "|"}
	fast := 0
	for range 20_000 {
		var b strings.Builder
		for range rng.IntN(40) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		text, comma := b.String(), []rune(",;\t |ä\v")[rng.IntN(7)]
		want := csv.NewReader(strings.NewReader(text))
		want.Comma, want.FieldsPerRecord, want.TrimLeadingSpace = comma, -1, comma != '\t' && comma != ' '
		var in io.Reader = strings.NewReader(text)
		if rng.IntN(4) == 0 {
			in = iotest.OneByteReader(in)
		}
		got := newRecords(bufio.NewReaderSize(in, 16+rng.IntN(64)), comma, 1<<20, source.Bytes("t.csv", nil))
		for {
			cells, err := want.Read()
			mine, line, offset, failed := got.next()
			if err == io.EOF {
				if failed != io.EOF {
					t.Fatalf("%q by %q: %q, %v where it ends", text, comma, mine, failed)
				}
				break
			}
			if err != nil {
				pe, _ := failed.(*csv.ParseError)
				if pe == nil {
					t.Fatalf("%q by %q: %q, %v; want %v", text, comma, mine, failed, err)
				}
				moved := *pe
				moved.StartLine, moved.Line = pe.StartLine+offset, pe.Line+offset
				if moved.Error() != err.Error() {
					t.Fatalf("%q by %q: %v, want %v", text, comma, &moved, err)
				}
				continue
			}
			at, _ := want.FieldPos(0)
			trim := func(cells []string) (all []string) {
				for _, c := range cells {
					all = append(all, strings.TrimSpace(c))
				}
				return all
			}
			if failed != nil || line != at || !slices.Equal(trim(mine), trim(cells)) {
				t.Fatalf("%q by %q: line %d %q, %v; want line %d %q", text, comma, line, mine, failed, at, cells)
			}
		}
		if got.read > got.given {
			fast++
		}
	}
	if fast < 5000 {
		t.Errorf("%d texts had plain lines", fast)
	}
}

// TestQuickFeaturesAreThoseOfCells: what filler writes at a glance is what feature writes, to the bit.
func TestQuickFeaturesAreThoseOfCells(t *testing.T) {
	cells := append(oddTexts(), "-0", "0.1", "999999999999999", "16777217", "5.", ".5", "+.5")
	quick := 0
	for _, st := range styles {
		for _, units := range [][]string{nil, {""}, {"%"}, {"", "€"}} {
			if st.date != "" && units != nil {
				continue
			}
			col := data.Column{Name: "x", Kind: data.Numeric, Date: st.date, Units: units, Offset: 0.25}
			s := &schema{columns: []data.Column{col}, styles: []style{st}, label: -1, features: 1, fill: make([]float64, 1), noNumbers: []bool{true}, buckets: make([]uint32, 1), categories: make([]map[string]int, 1)}
			f := &filler{Reading: source.NewReading(t.Context(), run.CSV{}), schema: s, plain: []bool{s.readsPlainly(0)}}
			for _, c := range cells {
				c = strings.TrimSpace(c)
				x, want := make([]float32, 1), make([]float32, 1)
				if !f.quickly(x, 0, c) {
					continue
				}
				quick++
				if known, err := s.feature(want, 0, c); !known || err != nil || s.gone(0, c) || math.Float32bits(x[0]) != math.Float32bits(want[0]) {
					t.Fatalf("%q in %+v, %q: %v, want %v, %v", c, st, units, x, want, err)
				}
			}
		}
	}
	if quick < 500 {
		t.Errorf("%d cells were read at a glance", quick)
	}
}

// TestAReadersErrorIsTold: an error ends the records, though the reader tells it once and goes on, or ends, behind it.
func TestAReadersErrorIsTold(t *testing.T) {
	for _, text := range []string{"", "1,2\n", "1,2\n3,\"4\n", "1,2\n3", strings.Repeat("1,2\n", 2000)} {
		failing := &once{text: text, err: errors.New("the disk is gone")}
		r := newRecords(bufio.NewReader(failing), ',', 1<<20, source.Bytes("t.csv", nil))
		var err error
		for err == nil {
			_, _, _, err = r.next()
		}
		if !errors.Is(err, failing.err) {
			t.Errorf("%.12q, then an error: %v", text, err)
		}
	}
}

// once reads as text, fails, and has ended then.
type once struct {
	text string
	err  error
	told bool
}

func (r *once) Read(p []byte) (int, error) {
	n := copy(p, r.text)
	r.text = r.text[n:]
	if n > 0 {
		return n, nil
	}
	if r.told {
		return 0, io.EOF
	}
	r.told = true
	return 0, r.err
}
