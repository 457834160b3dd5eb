package source_test

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// streamed is a file that is read from its beginning only.
type streamed struct{ source.File }

// tars returns a tar archive in each form in which it may be given.
func tars(b []byte) map[string]source.File {
	return map[string]source.File{
		"plain": source.Bytes("a.tar", b), "gzip": source.Bytes("a.tar.gz", datatest.GzipOf(b)), "tgz of parts": source.Bytes("a.tgz", slices.Concat(datatest.GzipOf(b[:700]), datatest.GzipOf(b[700:]))),
		"no place but the beginning": streamed{source.Bytes("a.tar", b)},
	}
}

// TestTarIsReadAsZip: what is read of a zip archive is read of a tar archive, to the same rows.
func TestTarIsReadAsZip(t *testing.T) {
	var pictures []any
	for i := range 40 {
		pictures = append(pictures, fmt.Sprintf("set/%s/%s/%d.png", []string{"train", "val"}[i/30], []string{"cat", "dog"}[i%2], i), datatest.Grey(9, 9, uint8(5*i)))
	}
	img, lab := datatest.Images(8000, 4, 5, 3)
	long := "x,label\n" + strings.Repeat("1.25,a\n2.5,b\n", 11_000)
	for name, parts := range map[string][]any{
		"a long table":   {"t.csv", long, "test.csv", long},
		"pictures":       pictures,
		"a label table":  {"1.png", datatest.Grey(9, 9, 3), "2.png", datatest.Grey(9, 9, 7), "3.png", datatest.Grey(9, 9, 9), "labels.csv", "filename,label\n1.png,a\n2.png,b\n3.png,a\n"},
		"tables":         {"adult.data", "1,a\n2,b\n3,a\n", "adult.test", "1,a\n2,b\n"},
		"a packed table": {"t.csv.gz", datatest.GzipOf([]byte("1,a\n2,b\n3,a\n4,b\n5,b\n6,a\n"))},
		"IDX":            {"img", img, "lab", datatest.GzipOf(lab)},
		"NPY":            {"x_train.npy", datatest.NPY("<f4", "6, 2", datatest.Ramp[float32](12)), "y_train.npy", datatest.NPY("|u1", "6", []uint8{0, 1, 0, 1, 0, 1})},
		"labels first":   {"y_train.npy", datatest.NPY("|u1", "6", []uint8{0, 1, 0, 1, 0, 1}), "x_train.npy", datatest.NPY("<f4", "6, 9000", datatest.Ramp[float32](54_000))},
		"CIFAR":          {"c-bin/data_batch_1.bin", datatest.CIFAR(60), "c-bin/data_batch_2.bin", datatest.CIFAR(50), "c-bin/test_batch.bin", datatest.CIFAR(45)},
	} {
		want, wantReport := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("a.zip", datatest.Zip(parts...))})
		for _, form := range []tar.Format{tar.FormatUSTAR, tar.FormatPAX, tar.FormatGNU} {
			for how, f := range tars(datatest.TarOf(form, parts...)) {
				in := source.NewReading(t.Context(), run.CSV{})
				if form == tar.FormatGNU {
					in.Limits.Heads = 0
				}
				got, err := load.Files(in, []source.File{f}, nil)
				if err != nil {
					t.Errorf("%s, %s: %v", name, how, err)
					continue
				}
				if report := in.Report; report.Format != wantReport.Format || !bytes.Equal(got.Train.U8, want.Train.U8) || !slices.Equal(got.Train.F32, want.Train.F32) || !slices.Equal(got.Train.Y, want.Train.Y) || !bytes.Equal(got.Test.U8, want.Test.U8) || !slices.Equal(got.Test.Y, want.Test.Y) || !slices.Equal(got.Classes, want.Classes) {
					t.Errorf("%s, %s, %s: %s, %d and %d rows, want %s, %d and %d", name, form, how, in.Report.Format, got.Train.N, got.Test.N, wantReport.Format, want.Train.N, want.Test.N)
				}
			}
		}
	}
}

// TestPublishedTars: CIFAR as it is published, with what its archives have beside the records.
func TestPublishedTars(t *testing.T) {
	page := "<!DOCTYPE html>\n<html>CIFAR</html>\n"
	for name, tc := range map[string]struct {
		parts       []any
		train, test int
		format      string
	}{
		"cifar-10-binary.tar.gz": {[]any{"cifar-10-batches-bin/", tar.Header{Typeflag: tar.TypeDir, Mode: 0o755}, "cifar-10-batches-bin/data_batch_1.bin", datatest.CIFAR(30), "cifar-10-batches-bin/batches.meta.txt", "airplane\nautomobile\n",
			"cifar-10-batches-bin/data_batch_2.bin", datatest.CIFAR(31), "cifar-10-batches-bin/readme.html", page, "cifar-10-batches-bin/test_batch.bin", datatest.CIFAR(20)}, 61, 20, "cifar-10"},
		"cifar-100-binary.tar.gz": {[]any{"cifar-100-binary/train.bin", datatest.CIFAR100(120), "cifar-100-binary/test.bin", datatest.CIFAR100(110), "cifar-100-binary/coarse_label_names.txt", "fish\n",
			"cifar-100-binary/fine_label_names.txt", "apple\n"}, 120, 110, "cifar-100"},
	} {
		ds, r := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes(name, datatest.GzipOf(datatest.Tar(tc.parts...)))})
		if r.Format != tc.format || ds.Train.N != tc.train || ds.Test.N != tc.test || !strings.Contains(strings.Join(r.Warnings, "\n"), "it tells about the data") {
			t.Errorf("%s: %s, %d and %d rows, %v", name, r.Format, ds.Train.N, ds.Test.N, r.Warnings)
		}
	}
}

// TestTarNames: long names, names that lead out, links and what lies in an archive twice.
func TestTarNames(t *testing.T) {
	g, h := datatest.Grey(9, 9, 3), datatest.Grey(9, 9, 200)
	long := strings.Repeat("long/", 60)
	link := tar.Header{Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}
	for name, tc := range map[string]struct {
		b    []byte
		rows int
		want string // of the warnings
	}{
		"long names of pax":       {datatest.TarOf(tar.FormatPAX, long+"a/1.png", g, long+"b/1.png", h), 2, ""},
		"long names of GNU":       {datatest.TarOf(tar.FormatGNU, long+"a/1.png", g, long+"b/1.png", h), 2, ""},
		"a prefix of ustar":       {datatest.TarOf(tar.FormatUSTAR, long[:120]+"a/1.png", g, long[:120]+"b/1.png", h), 2, ""},
		"the folder itself":       {datatest.Tar("./", tar.Header{Typeflag: tar.TypeDir}, "./a/1.png", g, "./b/1.png", h), 2, ""},
		"a path that leads out":   {datatest.Tar("../../etc/a/1.png", g, "../../etc/b/1.png", h), 2, ""},
		"an absolute path":        {datatest.Tar("/a/1.png", g, "/b/1.png", h), 2, ""},
		"system's files":          {datatest.Tar("./._a", "x", "__MACOSX/a", "x", "a/.DS_Store", "x", "a/1.png", g, "b/1.png", h), 2, ""},
		"links":                   {datatest.Tar("a/1.png", g, "b/1.png", h, "b/2.png", link, "b/3.png", tar.Header{Typeflag: tar.TypeLink, Linkname: "b/1.png"}), 2, "2 links are left out"},
		"devices":                 {datatest.Tar("a/1.png", g, "b/1.png", h, "b/2.png", tar.Header{Typeflag: tar.TypeChar}, "b/3.png", tar.Header{Typeflag: tar.TypeFifo}), 2, "2 entries are left out: they are devices"},
		"a later one of the name": {datatest.Tar("a/1.png", "damaged", "b/1.png", h, "b/2.png", h, "a/1.png", g), 3, "a.tar/a/1.png is in the archive more than once"},
		"a header of all":         {datatest.TarOf(tar.FormatPAX, "pax_global_header", tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "c0ffee"}}, "a/1.png", g, "b/1.png", h), 2, ""},
		"no end":                  {datatest.Tar("a/1.png", g, "b/1.png", h)[:2*1024], 2, ""},
	} {
		for how, f := range tars(tc.b) {
			ds, r := loadtest.Read(t, run.CSV{TestShare: -1}, []source.File{f})
			said := strings.Join(r.Warnings, "\n")
			if ds.Train.N != tc.rows || !slices.Equal(ds.Classes, []string{"a", "b"}) || !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(said, ".tar.gz", ".tar"), ".tgz", ".tar"), tc.want) {
				t.Errorf("%s, %s: %d rows, classes %v, %s", name, how, ds.Train.N, ds.Classes, said)
			}
		}
	}
	old := datatest.TarOf(tar.FormatUSTAR, "a/1.png", g, "b/1.png", h)
	for at := 0; at < 2048; at += 1024 { // before ustar
		copy(old[at+257:], make([]byte, 8))
		datatest.FixTarSum(old, at)
	}
	if ds, _ := loadtest.Read(t, run.CSV{TestShare: -1}, []source.File{source.Bytes("a.tar", old)}); ds.Train.N != 2 {
		t.Errorf("an archive of the old form: %d rows", ds.Train.N)
	}
}

// hostileTars are archives that lie, or hold what cannot be read.
func hostileTars() map[string][]byte {
	g := datatest.Grey(9, 9, 3)
	good := datatest.TarOf(tar.FormatUSTAR, "a/1.png", g, "b/1.png", datatest.Grey(9, 9, 200))
	second := len(good) - 1024 - 1024 // its header
	size := func(field string) []byte {
		b := slices.Clone(good)
		copy(b[second+124:second+136], field)
		return datatest.FixTarSum(b, second)
	}
	large := func(n uint64) []byte { // in base 256
		var field [12]byte
		field[0] = 0x80
		binary.BigEndian.PutUint64(field[4:], n)
		return size(string(field[:]))
	}
	kind := func(c byte) []byte {
		b := datatest.TarOf(tar.FormatGNU, "a/1.png", g, "b/1.png", g)
		b[second+156] = c
		return datatest.FixTarSum(b, second)
	}
	m := map[string][]byte{
		"cut short in a header": good[:second+100], "cut short in a file": good[:second+560], "the beginning alone": good[:512], "folders alone": datatest.Tar("a/", tar.Header{Typeflag: tar.TypeDir}, "b/", tar.Header{Typeflag: tar.TypeDir}),
		"links alone": datatest.Tar("a", tar.Header{Typeflag: tar.TypeSymlink, Linkname: "b"}), "one class": datatest.Tar("a/1.png", g), "no folders": datatest.Tar("1.png", g, "2.png", g), "an empty picture": datatest.Tar("a/1.png", "", "b/1.png", g),
		"a nested zip": datatest.Tar("a/1.png", g, "b/1.png", g, "c.zip", datatest.Zip("x", g)), "a nested tar": datatest.Tar("a/1.png", g, "b/1.png", g, "c.tar", good), "a tar of tars": datatest.Tar("a.tar", good, "b.tar", good), "a tar of packed tars": datatest.Tar("a.tgz", datatest.GzipOf(good)),
		"a negative size": size("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"), "a minus sign": size("-0000000001\x00"), "no digits": size("zzzzzzzzzzz\x00"), "digits that are not octal": size("00000000999\x00"), "8 GB": size("77777777777\x00"),
		"a size beyond the file": size("00000010000\x00"), "2⁶³ − 1 bytes": large(1<<63 - 1), "2⁶³ bytes": large(1 << 63), "2⁶² bytes": large(1 << 62), "a wrong checksum": func() []byte { b := slices.Clone(good); b[second+20] ^= 1; return b }(),
		"a wrong checksum at first": func() []byte { b := slices.Clone(good); b[20] ^= 1; return b }(), "a sparse file of GNU's": kind('S'), "a name of a megabyte": datatest.TarOf(tar.FormatGNU, "a/1.png", g, strings.Repeat("b", 1<<20)+"/1.png", g),
		"a name of 65 kB": datatest.TarOf(tar.FormatPAX, "a/1.png", g, strings.Repeat("b", 1<<16)+"/1.png", g), "a long name and nothing": datatest.TarOf(tar.FormatGNU, "a/1.png", g, strings.Repeat("long", 200), g)[:1024+512+1024+512],
		"a sparse file of pax": sparsePAX(g), "a pickle": datatest.Tar("m/data.pkl", "x"), "a document": datatest.Tar("word/document.xml", "x"), "a class of a thousand bytes and one": datatest.Tar("a/1.png", "hello", "b/1.png", g),
		"a table and pictures of IDX": datatest.Tar("t.csv", "1,a\n2,b\n", "img", datatest.IDX(make([]byte, 8), 2, 2, 2)), "fifos alone": datatest.Tar("a", tar.Header{Typeflag: tar.TypeFifo}),
		"a continued file": kind('M'),
	}
	for i := range 15 {
		m[fmt.Sprintf("cut to %d/16", i+1)] = good[:second*(i+1)/16]
	}
	return m
}

// sparsePAX is an archive with a file of holes, in the form that GNU tar writes today.
func sparsePAX(g []byte) []byte {
	record := func(key, value string) string {
		n := len(key) + len(value) + 3
		for len(fmt.Sprint(n))+len(key)+len(value)+3 != n {
			n = len(fmt.Sprint(n)) + len(key) + len(value) + 3
		}
		return fmt.Sprintf("%d %s=%s\n", n, key, value)
	}
	records := record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", "b/1.png") + record("GNU.sparse.realsize", "1000000000000")
	b := datatest.TarOf(tar.FormatUSTAR, "a/1.png", g, "PaxHeaders/b", records, "GNUSparseFile.0/b", "1\n0\n512\n"+strings.Repeat("\x00", 504)+strings.Repeat("x", 512))
	b[1024+156] = tar.TypeXHeader
	return datatest.FixTarSum(b, 1024)
}

func TestHostileTars(t *testing.T) {
	all := hostileTars()
	if len(all) < 45 {
		t.Errorf("%d hostile archives", len(all))
	}
	for name, b := range all {
		loadtest.Refused(t, name, []source.File{source.Bytes("a.tar", b)}, "")
		loadtest.Refused(t, name+", packed", []source.File{source.Bytes("a.tgz", datatest.GzipOf(b))}, "")
	}
	for name, want := range map[string]string{"a sparse file of GNU's": "a sparse one", "a sparse file of pax": "a sparse one", "8 GB": "ends within a file", "2⁶³ − 1 bytes": "ends within a file", "a negative size": "a sound tar archive", "a name of 65 kB": "paths of at most 65535 bytes",
		"cut short in a file": "ends within a file", "a nested zip": "an archive inside another", "a nested tar": "an archive inside another", "a tar of tars": "a tar archive inside another", "links alone": "files in the archive"} {
		loadtest.Refused(t, name, []source.File{source.Bytes("a.tar", all[name])}, want)
	}
	loadtest.Refused(t, "damage in the gzip", []source.File{source.Bytes("a.tgz", damaged(datatest.GzipOf(datatest.Tar("a/1.png", datatest.Grey(9, 9, 3), "b/1.png", datatest.Grey(9, 9, 4)))))}, "gzip file")
	loadtest.Refused(t, "a tar in a zip", []source.File{source.Bytes("a.zip", datatest.Zip("a.tar", datatest.Tar("t.csv", "1,a\n2,b\n")))}, "a tar archive inside another")
}

// damaged has another checksum at its end.
func damaged(b []byte) []byte {
	b[len(b)-6] ^= 1
	return b
}

// TestTarLimits: the list of an archive is bounded as that of a zip archive is.
func TestTarLimits(t *testing.T) {
	for how, f := range tars(datatest.Tar("a/1.png", datatest.Grey(9, 9, 3), "b/1.png", datatest.Grey(9, 9, 4), "b/2.png", datatest.Grey(9, 9, 5))) {
		loadtest.Refused(t, how, []source.File{f}, "whose directory takes", func(l *source.Limits) { l.Directory = 100 })
		loadtest.Refused(t, how, []source.File{f}, "data larger than that", func(l *source.Limits) { l.Bytes = 2 * 89 })
	}
}

// opening counts the bytes that are read of a file.
type opening struct {
	source.File
	bytes *int64
}

func (f opening) Open() (io.ReadCloser, error) {
	r, err := f.File.Open()
	return &countedReader{r, f.bytes}, err
}

type countedReader struct {
	io.ReadCloser
	bytes *int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	*c.bytes += int64(n)
	return n, err
}

// TestPackedTarIsReadInPasses: however many files a gzipped archive has, it is unpacked a few times.
func TestPackedTarIsReadInPasses(t *testing.T) {
	var tables, pictures, batches []any
	for i := range 200 {
		if i%5 == 0 {
			tables = append(tables, fmt.Sprintf("%d.csv", i), strings.Repeat(fmt.Sprintf("%d.5,a\n%d,b\n", i, i*i), 11_000))
		}
		pictures = append(pictures, fmt.Sprintf("%c/%d.png", 'a'+i%2, i), datatest.Grey(60, 60, uint8(i)))
	}
	for i := range 5 {
		batches = append(batches, fmt.Sprintf("data_batch_%d.bin", i), datatest.CIFAR(60+i))
	}
	for name, parts := range map[string][]any{"tables": tables, "pictures": pictures, "CIFAR": append(batches, "test_batch.bin", datatest.CIFAR(50))} {
		read := int64(0)
		f := opening{source.Bytes("a.tgz", datatest.GzipOf(datatest.Tar(parts...))), &read}
		in := source.NewReading(t.Context(), run.CSV{})
		if name == "pictures" {
			in.Limits.Heads = 1000 // as of an archive of very many
		}
		last := source.Progress{}
		in.Progress = func(p source.Progress) {
			if p.Done > p.Total || p.Phase == last.Phase && p.File == last.File && p.Done < last.Done {
				t.Errorf("%s: %v after %v", name, p, last)
			}
			last = p
		}
		if _, err := load.Files(in, []source.File{f}, nil); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f passes", name, float64(read)/float64(f.Size()))
		if read > 5*f.Size() {
			t.Errorf("%s: %d bytes are read of %d", name, read, f.Size())
		}
	}
}

// TestTarChanged: an archive that is another when its entries are read is refused.
func TestTarChanged(t *testing.T) {
	long := datatest.GzipOf(datatest.Tar("x.csv", "1,a\n2,b\n", "y.csv", strings.Repeat("1,a\n2,b\n", 90_000)))
	f := &changing{source.Bytes("a.tgz", long), source.Bytes("a.tgz", datatest.GzipOf(datatest.Tar("x.csv", "1,a\n2,b\n"))), 2}
	_, _, err := load.Load(t.Context(), []source.File{f}, nil, run.CSV{}, nil)
	if _, ok := err.(*data.Error); !ok || !strings.Contains(err.Error(), "has changed while it was read") {
		t.Errorf("%v", err)
	}
}

// changing is one file when it is opened for the first times, and another later.
type changing struct {
	source.File
	later source.File
	times int
}

func (c *changing) Open() (io.ReadCloser, error) {
	if c.times--; c.times < 0 {
		return c.later.Open()
	}
	return c.File.Open()
}

func FuzzTar(f *testing.F) {
	for _, b := range hostileTars() {
		if len(b) < 10_000 {
			f.Add(b, false)
		}
	}
	g := datatest.Grey(5, 4, 3)
	for _, form := range []tar.Format{tar.FormatUSTAR, tar.FormatPAX, tar.FormatGNU} {
		f.Add(datatest.TarOf(form, "a/1.png", g, "b/1.png", datatest.Grey(5, 4, 9)), true)
		f.Add(datatest.TarOf(form, "t.csv", "1,a\n2,b\n", "u.csv", "3,a\n4,b\n", "readme.html", "<html>"), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, packed bool) {
		name := "a.tar"
		if packed {
			b, name = datatest.GzipOf(b), "a.tgz"
		}
		loadtest.Sound(t, []source.File{source.Bytes(name, b)}, nil, run.CSV{})
		loadtest.Sound(t, []source.File{streamed{source.Bytes(name, b)}}, nil, run.CSV{BadRows: "skip"})
	})
}
