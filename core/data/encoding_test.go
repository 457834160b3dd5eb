package data

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"clipscope/core/run"
)

func asUTF16(s string, order binary.AppendByteOrder) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

func asWindows1252(s string) []byte {
	var b []byte
	for _, r := range s {
		for c := range 256 {
			if fromWindows1252(byte(c)) == r {
				b = append(b, byte(c))
				break
			}
		}
	}
	return b
}

// TestEncodings reads one table in every encoding, from its first line or from
// far into the file, where only ASCII is in sight when the table is opened.
func TestEncodings(t *testing.T) {
	for _, ahead := range []int{1, 20_000} {
		table := "größe,dönüş,label\n" + strings.Repeat("1,x,a\n2,y,b\n", ahead) + "3,€ – “œ”,a\n"
		if ahead > 1 {
			table = table[strings.Index(table, "\n")+1:]
		}
		for name, tc := range map[string]struct {
			b        []byte
			opt      run.CSV
			encoding string
			warnings int
		}{
			"UTF-8":          {[]byte(table), run.CSV{}, "utf-8", 0},
			"UTF-8, BOM":     {[]byte("\ufeff" + table), run.CSV{}, "utf-8", 0},
			"UTF-16 LE":      {asUTF16(table, binary.LittleEndian), run.CSV{}, "utf-16", 0},
			"UTF-16 BE":      {asUTF16(table, binary.BigEndian), run.CSV{}, "utf-16", 0},
			"UTF-16, no BOM": {asUTF16(table, binary.BigEndian)[2:], run.CSV{Encoding: "utf-16"}, "utf-16", 0},
			"UTF-16, gzip":   {gz(asUTF16(table, binary.LittleEndian)), run.CSV{}, "utf-16", 0},
			"Windows-1252":   {asWindows1252(strings.ReplaceAll(table, "ş", "s")), run.CSV{}, "windows-1252", 1},
			"said so":        {asWindows1252(strings.ReplaceAll(table, "ş", "s")), run.CSV{Encoding: "windows-1252"}, "windows-1252", 0},
			"wrongly":        {asWindows1252(strings.ReplaceAll(table, "ş", "s")), run.CSV{Encoding: "utf-8"}, "utf-8", 1},
		} {
			opt := all(tc.opt)
			opt.Label = "3"
			ds, r := load(t, opt, []File{Bytes("t.csv", tc.b)})
			if r.Encoding != tc.encoding || len(r.Warnings) != tc.warnings {
				t.Errorf("%s, %d rows ahead: read as %s, warnings %q", name, ahead, r.Encoding, r.Warnings)
			}
			if name == "wrongly" {
				continue
			}
			if ahead == 1 && ds.Columns[0].Name != "größe" || !slices.Contains(ds.Columns[1].Categories, "€ – “œ”") {
				t.Errorf("%s, %d rows ahead: columns %+v", name, ahead, ds.Columns)
			}
		}
	}
}

func TestUTF16CutInTwo(t *testing.T) {
	_, r := load(t, run.CSV{}, []File{Bytes("t.csv", append(asUTF16("1,a\n2,b\n3,a", binary.LittleEndian), 'x'))})
	if said := strings.Join(r.Warnings, "\n"); !strings.Contains(said, "1 characters are not what utf-16 has") {
		t.Errorf("warnings %q", said)
	}
}

// TestDecoderAtEveryCut: where reads end must not matter.
func TestDecoderAtEveryCut(t *testing.T) {
	const text = "aé€𝄞z\xff\xc3b\xf0\x9d\x84"
	want, _ := io.ReadAll(newDecoder(bufio.NewReader(strings.NewReader(text)), utf8Text))
	if string(want) != "aé€𝄞z��b���" {
		t.Fatalf("%q", want)
	}
	wide := asUTF16("aé€𝄞z𝄞", binary.LittleEndian)
	for _, cut := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		got, err := io.ReadAll(newDecoder(bufio.NewReader(cut(strings.NewReader(text))), utf8Text))
		if string(got) != string(want) || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		got, err = io.ReadAll(newDecoder(bufio.NewReader(cut(strings.NewReader(string(wide)))), ""))
		if string(got) != "aé€𝄞z𝄞" || err != nil {
			t.Errorf("UTF-16: %q, %v", got, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("aé€𝄞z\xff"), "")
	f.Add(asUTF16("aé€𝄞\n", binary.BigEndian), "")
	f.Add([]byte("\x00\xd8a"), utf16Text)
	f.Add([]byte("caf\xe9"), windows1252)
	f.Fuzz(func(t *testing.T, b []byte, encoding string) {
		whole, err := io.ReadAll(newDecoder(bufio.NewReader(strings.NewReader(string(b))), encoding))
		if err != nil || !utf8.Valid(whole) {
			t.Fatalf("%q, %v", whole, err)
		}
		d := newDecoder(bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(string(b))), headSize), encoding)
		if byOne, err := io.ReadAll(d); err != nil || string(byOne) != string(whole) {
			t.Fatalf("%q byte by byte: %q, %v", whole, byOne, err)
		}
	})
}
