package source_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestEncodings reads one table in every encoding, from its first line or from
// far into the file, where only ASCII is in sight when the table is opened.
func TestEncodings(t *testing.T) {
	for _, ahead := range []int{1, 20_000} {
		table := "größe,dönüş,label\n" + strings.Repeat("1,x,a\n2,y,b\n1,y,a\n2,x,b\n2,x,a\n1,y,b\n", ahead) + "3,€ – “œ”,a\n"
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
			"UTF-16 LE":      {datatest.UTF16Text(table, binary.LittleEndian), run.CSV{}, "utf-16", 0},
			"UTF-16 BE":      {datatest.UTF16Text(table, binary.BigEndian), run.CSV{}, "utf-16", 0},
			"UTF-16, no BOM": {datatest.UTF16Text(table, binary.BigEndian)[2:], run.CSV{Encoding: "utf-16"}, "utf-16", 0},
			"UTF-16, gzip":   {datatest.GzipOf(datatest.UTF16Text(table, binary.LittleEndian)), run.CSV{}, "utf-16", 0},
			"Windows-1252":   {datatest.Windows1252Text(strings.ReplaceAll(table, "ş", "s")), run.CSV{}, "windows-1252", 1},
			"said so":        {datatest.Windows1252Text(strings.ReplaceAll(table, "ş", "s")), run.CSV{Encoding: "windows-1252"}, "windows-1252", 0},
			"wrongly":        {datatest.Windows1252Text(strings.ReplaceAll(table, "ş", "s")), run.CSV{Encoding: "utf-8"}, "utf-8", 1},
		} {
			opt := datatest.AllToTrain(tc.opt)
			opt.Label = "3"
			ds, r := loadtest.Read(t, opt, []source.File{source.Bytes("t.csv", tc.b)})
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
	_, r := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("t.csv", append(datatest.UTF16Text("1,a\n2,b\n3,a", binary.LittleEndian), 'x'))})
	if said := strings.Join(r.Warnings, "\n"); !strings.Contains(said, "1 characters are not what utf-16 has") {
		t.Errorf("warnings %q", said)
	}
}

// TestDecoderAtEveryCut: where reads end must not matter.
func TestDecoderAtEveryCut(t *testing.T) {
	const text = "aé€𝄞z\xff\xc3b\xf0\x9d\x84"
	want, _ := io.ReadAll(source.NewDecoder(bufio.NewReader(strings.NewReader(text)), source.UTF8))
	if string(want) != "aé€𝄞z��b���" {
		t.Fatalf("%q", want)
	}
	wide := datatest.UTF16Text("aé€𝄞z𝄞", binary.LittleEndian)
	for _, cut := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		got, err := io.ReadAll(source.NewDecoder(bufio.NewReader(cut(strings.NewReader(text))), source.UTF8))
		if string(got) != string(want) || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		got, err = io.ReadAll(source.NewDecoder(bufio.NewReader(cut(strings.NewReader(string(wide)))), ""))
		if string(got) != "aé€𝄞z𝄞" || err != nil {
			t.Errorf("UTF-16: %q, %v", got, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("aé€𝄞z\xff"), "")
	f.Add(datatest.UTF16Text("aé€𝄞\n", binary.BigEndian), "")
	f.Add([]byte("\x00\xd8a"), source.UTF16)
	f.Add([]byte("caf\xe9"), source.Windows1252)
	f.Fuzz(func(t *testing.T, b []byte, encoding string) {
		whole, err := io.ReadAll(source.NewDecoder(bufio.NewReader(strings.NewReader(string(b))), encoding))
		if err != nil || !utf8.Valid(whole) {
			t.Fatalf("%q, %v", whole, err)
		}
		d := source.NewDecoder(bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(string(b))), source.HeadSize), encoding)
		if byOne, err := io.ReadAll(d); err != nil || string(byOne) != string(whole) {
			t.Fatalf("%q byte by byte: %q, %v", whole, byOne, err)
		}
	})
}
