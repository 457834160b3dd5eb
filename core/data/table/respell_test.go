package table_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"image/color"
	"io"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestQuotesThatAreText: in a table of tabs whose quotes are not around whole cells, each line is a row and each
// quote a character; where they are, and in tables of other delimiters, they are as before.
func TestQuotesThatAreText(t *testing.T) {
	const said = "quotes are read as characters"
	glue := "index\tsentence\tlabel\n"
	for i := range 60 {
		glue += fmt.Sprintf("%d\t%s\t%d\n", i, []string{`"good, he said`, `a 5" pipe`, `it's "fine"`, `plain`, `"whole"`, `ends "`}[i%6], i%2)
	}
	for name, tc := range map[string]struct {
		text  string
		rows  int
		cells []string // of the column sentence
		said  bool
	}{
		"GLUE":                       {glue, 60, []string{`"good, he said`, `a 5" pipe`, `it's "fine"`, `plain`, `"whole"`, `ends "`}, true},
		"GLUE, CR LF":                {strings.ReplaceAll(glue, "\n", "\r\n"), 60, []string{`"good, he said`, `a 5" pipe`, `it's "fine"`, `plain`, `"whole"`, `ends "`}, true},
		"no line end at last":        {strings.TrimSuffix(glue, "\n"), 60, []string{`"good, he said`, `a 5" pipe`, `it's "fine"`, `plain`, `"whole"`, `ends "`}, true},
		"a stray quote late":         {glue[:len("index\tsentence\tlabel\n")] + strings.Repeat("1\tplain\t1\n2\tplain\t0\n", 9000) + "3\t\"late\t1\n", 18_001, []string{"plain", `"late`}, true},
		"two quotes that would join": {"n\tsentence\tlabel\n" + strings.Repeat("1\t\"a\tx\n2\tb\"\ty\n", 9), 18, []string{`"a`, `b"`}, true},
		"whole cells":                {"n\tsentence\tlabel\n" + strings.Repeat("1\t\"a \"\"b\"\"\"\tx\n2\t\"c\"\ty\n", 9), 18, []string{`a "b"`, `c`}, false},
		"line ends in cells":         {"n\tsentence\tlabel\n" + strings.Repeat("1\t\"a\nb\"\tx\n2\t\"c\"\ty\n", 9), 18, []string{"a\nb", `c`}, false},
		"a tab in a cell":            {"n\tsentence\tlabel\n" + strings.Repeat("1\t\"a\tb\"\tx\n2\t\"c\"\ty\n", 9), 18, []string{"a\tb", `c`}, false},
	} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{Label: "label", Task: "classification", Columns: map[string]string{"sentence": "categorical"}}), datatest.One(tc.text))
		var cells []string
		for _, c := range r.Columns {
			if c.Name == "sentence" {
				cells = c.Categories
			}
		}
		slices.Sort(tc.cells)
		if cells = slices.Sorted(slices.Values(cells)); ds.Train.N != tc.rows || !slices.Equal(cells, tc.cells) || strings.Contains(strings.Join(r.Warnings, "\n"), said) != tc.said {
			t.Errorf("%s: %d rows, %q, %v", name, ds.Train.N, cells, r.Warnings)
		}
	}
	for name, text := range map[string]string{"commas": strings.ReplaceAll(strings.ReplaceAll(glue, ",", ""), "\t", ","), "lines of other widths": glue + "1\t2\t3\t4\n"} {
		if _, _, err := load.Load(t.Context(), datatest.One(text), nil, run.CSV{}, nil); err == nil || !strings.Contains(err.Error(), "quote") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// celebA is a table as CelebA's attributes are published, of so many rows.
func celebA(rows int) string {
	b := fmt.Sprintf("%d\n5_o_Clock_Shadow Arched_Eyebrows Smiling Young \n", rows)
	for i := range rows {
		b += fmt.Sprintf("%06d.jpg %2d %2d %2d  %d\n", i+1, 1-i%2*2, -1, 1-i%3/2*2, 1)
	}
	return b
}

// TestCelebA: the table of attributes is read by itself, and beside the pictures.
func TestCelebA(t *testing.T) {
	for name, text := range map[string]string{"as published": celebA(30), "CR LF": strings.ReplaceAll(celebA(30), "\n", "\r\n"), "the column of files named": strings.Replace(celebA(30), "5_o", "image_id 5_o", 1)} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{Label: "Smiling", Task: "classification"}), []source.File{source.Bytes("list_attr_celeba.txt", []byte(text))})
		if ds.Train.N != 30 || !slices.Equal(ds.Classes, []string{"-1", "1"}) || ds.Classes[int(ds.Train.Y[2])] != "-1" || ds.Classes[int(ds.Train.Y[3])] != "1" || len(r.Columns) != 5 {
			t.Errorf("%s: %d rows, classes %v of %v, %d columns", name, ds.Train.N, ds.Classes, ds.Train.Y, len(r.Columns))
		}
	}
	parts := []any{"celeba/list_attr_celeba.txt", celebA(30)}
	for i := range 30 {
		parts = append(parts, fmt.Sprintf("celeba/img_align_celeba/%06d.jpg", i+1), datatest.JPEG(datatest.Drawn(9, 9, datatest.Plain(color.Gray{uint8(8 * i)}))))
	}
	ds, _ := loadtest.Read(t, run.CSV{Label: "Smiling", TestShare: -1}, []source.File{source.Bytes("celeba.zip", datatest.Zip(parts...))})
	if ds.Train.N != 30 || !slices.Equal(ds.Classes, []string{"-1", "1"}) {
		t.Errorf("beside pictures: %d rows, classes %v", ds.Train.N, ds.Classes)
	}
	loadtest.Refused(t, "without a choice", []source.File{source.Bytes("celeba.zip", datatest.Zip(parts...))}, "Choose the label column")
	for name, text := range map[string]string{"a row short of a cell": celebA(30) + "000031.jpg 1 1\n", "a text among numbers": celebA(30) + "000031.jpg 1 1 x 1\n"} {
		if _, _, err := load.Load(t.Context(), datatest.One(text), nil, run.CSV{Label: "Smiling"}, nil); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

// TestRespelledPartsAreRows: the ledger recognises rows of these notations as those of the same table as CSV.
func TestRespelledPartsAreRows(t *testing.T) {
	sums := func(text string) (all []uint64) {
		h := fnv.New64a()
		if err := (load.Loader{}).Parts(t.Context(), datatest.One(text), run.CSV{}, true, h, func() { all = append(all, h.Sum64()) }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	asCSV := strings.NewReplacer("   ", ",", "  ", ",", " \n", "\n", " ", ",").Replace(celebA(20))
	asCSV = "filename," + asCSV[strings.IndexByte(asCSV, '\n')+1:]
	if a, b := sums(celebA(20)), sums(asCSV); len(a) != 20 || !slices.Equal(a, b) {
		t.Errorf("%d rows as published and %d as CSV are others", len(a), len(b))
	}
}

// bytewise reads a file a byte at a time.
type bytewise struct{ source.File }

func (f bytewise) Open() (io.ReadCloser, error) {
	r, err := f.File.Open()
	return struct {
		io.Reader
		io.Closer
	}{&small{r}, r}, err
}

type small struct{ io.Reader }

func (s *small) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(1, len(p))]) }

// TestRespelledInAnyPieces: where a file is cut when it is read does not show.
func TestRespelledInAnyPieces(t *testing.T) {
	for text, label := range map[string]string{celebA(40): "Smiling", "a\tb\n" + strings.Repeat("1\t\"x\r\n2\ty\"z\r\n\n3\t\"\"\n", 20): "b"} {
		f := source.Bytes("t.txt", []byte(text))
		opt := datatest.AllToTrain(run.CSV{Label: label, Task: "classification"})
		want, _, err := load.Load(t.Context(), []source.File{f}, nil, opt, nil)
		got, _, err2 := load.Load(t.Context(), []source.File{bytewise{f}}, nil, opt, nil)
		if err != nil || err2 != nil {
			t.Errorf("%v, %v", err, err2)
		} else if !slices.Equal(got.Train.Y, want.Train.Y) || !slices.Equal(got.Train.F32, want.Train.F32) || !bytes.Equal(got.Train.U8, want.Train.U8) {
			t.Error("other rows")
		}
	}
}
