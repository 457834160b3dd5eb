package source_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

func TestHostileArchives(t *testing.T) {
	all := hostileArchives()
	if len(all) < 50 {
		t.Errorf("%d hostile archives", len(all))
	}
	for name, b := range all {
		loadtest.Refused(t, name, []source.File{source.Bytes("a.zip", b)}, "")
	}
	g := datatest.Grey(9, 9, 3)
	for name, path := range map[string]string{"a path that leads out": "../../../etc/passwd/", "an absolute path": "/a/", "a drive": `C:\x/`, "control bytes": "\x00\x1b/", "not UTF-8": "\xff\xfe/", "very long": strings.Repeat("long", 9000) + "/"} {
		ds, r, err := load.Load(t.Context(), []source.File{source.Bytes("a.zip", datatest.Zip(path+"1.png", g, "b/1.png", g))}, nil, run.CSV{TestShare: -1}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if ds.Train.N != 2 || loadtest.BadVerb(strings.Join(r.Warnings, "")) {
			t.Errorf("%s: %d rows", name, ds.Train.N)
		}
	}
}

// hostileArchives are archives that lie, or hold what cannot be read.
func hostileArchives() map[string][]byte {
	g, other := datatest.Grey(9, 9, 3), datatest.Grey(9, 9, 200)
	good := datatest.Zip("a/1.png", g, "b/1.png", other, "b/2.png", other)
	dims := func(w, h uint32) []byte { // a PNG that says that it is so large
		b := slices.Clone(g)
		for i := range 4 {
			b[16+i], b[20+i] = byte(w>>(24-8*i)), byte(h>>(24-8*i))
		}
		return datatest.FixCRC(b)
	}
	at := func(i int, v byte) []byte {
		b := slices.Clone(good)
		if i < 0 {
			i += len(b)
		}
		b[i] ^= v
		return b
	}
	directory := bytes.Index(good, []byte("PK\x01\x02"))
	m := map[string][]byte{
		"cut short": good[:len(good)-30], "the beginning alone": good[:30], "nothing in it": datatest.Zip(), "the end alone": good[len(good)-22:], "folders alone": datatest.Zip("a/", "", "b/", ""),
		"no pictures": datatest.Zip("a/1.bin", []byte{0, 1, 2, 3}), "one class": datatest.Zip("a/1.png", g), "no folders": datatest.Zip("1.png", g, "2.png", g),
		"a nested archive": datatest.Zip("a/1.png", g, "b/1.png", g, "c.zip", good), "an archive of archives": datatest.Zip("a.zip", good), "a document": datatest.Zip("word/document.xml", "x"),
		"a PyTorch file": datatest.Zip("m/data.pkl", "x"), "an encrypted entry": at(directory+8, 1), "an unknown method": at(directory+10, 77), "entries that are said to be larger": at(directory+27, 0x7f),
		"packed size beyond the file": at(directory+23, 0x7f), "an offset beyond the file": at(directory+45, 0x7f), "a wrong checksum": at(directory+16, 1), "more entries than there are": at(-11, 1),
		"a directory elsewhere": at(-5, 0x40), "damage in the data": at(60, 0xff), "not a picture": datatest.Zip("a/1.png", "hello", "b/1.png", g), "an empty picture": datatest.Zip("a/1.png", "", "b/1.png", g),
		"a PNG cut short": datatest.Zip("a/1.png", g[:40], "b/1.png", g), "a JPEG cut short": datatest.Zip("a/1.jpg", datatest.JPEG(datatest.Drawn(9, 9, datatest.Plain(color.White)))[:200], "b/1.png", g),
		"a JPEG without end": datatest.Zip("a/1.jpg", []byte("\xff\xd8\xff\xe0\xff\xff"), "b/1.png", g), "a GIF that says PNG": datatest.Zip("a/1.png", "GIF89a....", "b/1.png", g),
		"a PNG of 4 gigapixels": datatest.Zip("a/1.png", dims(65535, 65535), "b/1.png", g), "a PNG of no width": datatest.Zip("a/1.png", dims(0, 5), "b/1.png", g), "a PNG of a line": datatest.Zip("a/1.png", dims(2_000_000_000, 1), "b/1.png", g),
		"a PNG larger than its data": datatest.Zip("a/1.png", dims(4000, 4000), "b/1.png", g), "a checksum of a PNG": datatest.Zip("a/1.png", append(slices.Clone(g[:30]), 1, 2, 3, 4), "b/1.png", g),
		"40 MB that are no picture": datatest.Zip("a/1.png", append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 40<<20)...), "b/1.png", g),
		"a label table of labels":   datatest.Zip("1.png", g, "2.png", g, "l.csv", "file,label,x,y\n1.png,"+strings.Repeat("long", 900)+",1,2\n2.png,b,1,2\n"),
		"a label table without":     datatest.Zip("1.png", g, "2.png", g, "l.csv", "file,u,v,w\n1.png,a,1,2\n2.png,b,1,2\n"), "a table of other pictures": datatest.Zip("1.png", g, "2.png", g, "l.csv", "file,label\n7.png,a\n8.png,b\n"),
		"a table that is none": datatest.Zip("1.png", g, "2.png", g, "l.csv", "\x00\x01\x02"), "one class in a table": datatest.Zip("1.png", g, "2.png", g, "l.csv", "file,label\n1.png,a\n2.png,a\n"),
		"a test class unknown": datatest.Zip("train/a/1.png", g, "train/b/1.png", g, "test/c/1.png", g),
	}
	many := make([]any, 0, 3000)
	for i := range 1500 {
		many = append(many, fmt.Sprintf("c%d/1.png", i), g)
	}
	m["1,500 classes"] = datatest.Zip(many...)
	for i := range 15 {
		m[fmt.Sprintf("cut to %d/16", i+1)] = good[:len(good)*(i+1)/16]
	}
	return m
}

// TestArchiveLimits: what an archive grows to is bounded, by what is read and not by
// what it says.
func TestArchiveLimits(t *testing.T) {
	g := datatest.Grey(9, 9, 3)
	b := datatest.Zip("a/1.png", g, "b/1.png", g, "b/2.png", g)
	for name, tc := range map[string]struct {
		limit func(*source.Limits)
		want  string
	}{

		"directory": {func(l *source.Limits) { l.Directory = 100 }, "whose directory takes"},
		"pictures":  {func(l *source.Limits) { l.Picture = 20 }, "of over 0 MB"},
		"pixels":    {func(l *source.Limits) { l.Pixels = 80 }, "9×9 pixels, over the limit"},
		"rows":      {func(l *source.Limits) { l.Bytes = 2 * 89 }, "data larger than that"},
	} {
		for _, skip := range []string{"", "skip"} {
			in := source.NewReading(t.Context(), run.CSV{BadRows: skip})
			tc.limit(&in.Limits)
			if _, err := load.Files(in, []source.File{source.Bytes("a.zip", b)}, nil); err == nil || skip == "" && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestZippedTables: an archive of what is no kind of its own is read as its files.
func TestZippedTables(t *testing.T) {
	ds, r := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("adult.zip", datatest.Zip("adult.data", "1,a\n2,b\n3,a\n", "adult.test", "1,a\n2,b\n"))})
	if ds.Train.N != 3 || ds.Test.N != 2 || r.Format != "csv" || ds.Name != "adult.zip" {
		t.Errorf("%s, %s, %d and %d rows", ds.Name, r.Format, ds.Train.N, ds.Test.N)
	}
	img, lab := datatest.Images(30, 4, 5, 3)
	if ds, r = loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("mnist.zip", datatest.Zip("img", img, "lab", datatest.GzipOf(lab)))}); ds.Train.N != 24 || r.Format != "idx" {
		t.Errorf("%s: %d rows", r.Format, ds.Train.N)
	}
}

// TestGather: pictures become one File, which is the same however often they are gathered.
func TestGather(t *testing.T) {
	files := []source.File{source.Bytes("b/2.png", []byte("two")), source.Bytes("b/x.csv", []byte("1,2\n")), source.Bytes("b/.DS_Store", nil), source.Bytes("b/10.JPEG", []byte("ten"))}
	once := source.Gather(files)
	if len(once) != 2 || once[0].Name() != "b" || once[0].Size() != 6 || len(source.Gather(once)) != 2 || source.Gather(once)[0] != once[0] {
		t.Fatalf("%v", once)
	}
	r, err := once[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); string(b) != "tentwo" || err != nil || r.Close() != nil {
		t.Errorf("it reads as %q, %v", b, err)
	}
}

func FuzzArchive(f *testing.F) {
	for name, b := range hostileArchives() {
		if len(b) < 10_000 && name != "" {
			f.Add(b)
		}
	}
	f.Add(datatest.Zip("a/1.png", datatest.Grey(5, 4, 3), "b/1.png", datatest.Grey(5, 4, 9)))
	f.Add(datatest.Zip("x_train.npy", datatest.NPY("<f4", "6, 2", datatest.Ramp[float32](12)), "y_train.npy", datatest.NPY("|u1", "6", []uint8{0, 1, 0, 1, 0, 1})))
	f.Fuzz(func(t *testing.T, b []byte) {
		loadtest.Sound(t, []source.File{source.Bytes("a.zip", b)}, nil, run.CSV{})
		loadtest.Sound(t, []source.File{source.Bytes("a.zip", b)}, []source.File{source.Bytes("b.zip", b)}, run.CSV{BadRows: "skip"})
	})
}

// TestLargeArchive reads a zip archive of pictures of as many megabytes as
// CLIPSCOPE_ARCHIVE says (500), made on the fly, with flat memory and progress.
// CLIPSCOPE_ARCHIVE_AT keeps the archive there, for a browser.
func TestLargeArchive(t *testing.T) {
	megabytes, err := strconv.Atoi(os.Getenv("CLIPSCOPE_ARCHIVE"))
	if err != nil {
		t.Skip("CLIPSCOPE_ARCHIVE does not say how large")
	}
	name := os.Getenv("CLIPSCOPE_ARCHIVE_AT")
	if name == "" {
		name = filepath.Join(t.TempDir(), "pictures.zip")
	}
	n := writeArchive(t, name, int64(megabytes)<<20)
	var peak uint64
	seen, last := 0, source.Progress{}
	ds, _, err := load.Load(t.Context(), []source.File{datatest.OnDisk(name)}, nil, run.CSV{}, func(p source.Progress) {
		if p.Done < last.Done {
			t.Errorf("progress went from %d back to %d", last.Done, p.Done)
		}
		last = p
		if seen++; seen%20 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := uint64(len(ds.Train.U8) + len(ds.Test.U8))
	t.Logf("%d pictures of %d MB: %d MB of rows, %d MB of heap at most, %d reports", n, megabytes, rows>>20, peak>>20, seen)
	if ds.Train.N+ds.Test.N != n || seen < megabytes/2 || last.Done != last.Total {
		t.Errorf("%d of %d rows, %d reports, the last %v", ds.Train.N+ds.Test.N, n, seen, last)
	}
	if peak > rows+100<<20 {
		t.Errorf("%d MB were held for %d MB of rows", peak>>20, rows>>20)
	}
}

// writeArchive writes noisy pictures of two classes until the archive is so large.
func writeArchive(t *testing.T, name string, size int64) (n int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	w := zip.NewWriter(f)
	var some [][]byte // drawing all would take longer than reading them
	for i := range 40 {
		m := image.NewNRGBA(image.Rect(0, 0, 400, 300))
		for y := range 300 {
			for x := range 400 {
				v := uint8(rng.IntN(256))
				m.Set(x, y, color.NRGBA{v, uint8(x + i), uint8(y), 255})
			}
		}
		if i%2 == 0 {
			some = append(some, datatest.JPEG(m))
		} else {
			some = append(some, datatest.PNG(m))
		}
	}
	for written := int64(0); written < size; n++ {
		b := some[n%len(some)]
		end := []string{"jpg", "png"}[n%2]
		e, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("set/%d/%d.%s", n/2%2, n, end), Method: zip.Store})
		if err == nil {
			_, err = e.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		written += int64(len(b))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}
