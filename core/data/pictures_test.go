package data

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
)

// drawn is a picture whose pixels at say.
func drawn(h, w int, at func(x, y int) color.Color) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, at(x, y))
		}
	}
	return m
}

func plain(c color.Color) func(x, y int) color.Color { return func(int, int) color.Color { return c } }

func asPNG(m image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func asJPEG(m image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// grey is a picture of one shade.
func grey(h, w int, v uint8) []byte {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = v
	}
	return asPNG(m)
}

// TestPictures: a zip archive of folders.
func TestPictures(t *testing.T) {
	red, blue := asPNG(drawn(8, 6, plain(color.NRGBA{255, 0, 0, 255}))), asJPEG(drawn(8, 6, plain(color.NRGBA{0, 0, 255, 255})))
	b := packed("set/", "", "set/train/red/1.png", red, "set/train/blue/a.JPG", blue, "set/train/red/2.png", red, "set/val/blue/3.jpeg", blue, "set/train/red/4.webp", "x", "set/README.txt", "hello", "__MACOSX/set/._1.png", "x")
	ds, r := load(t, run.CSV{}, []File{Bytes("set.zip", b)})
	if ds.Train.N != 3 || ds.Test.N != 1 || !slices.Equal(ds.Shape, []int{3, 8, 6}) || !slices.Equal(ds.Classes, []string{"blue", "red"}) || !slices.Equal(ds.Train.Y, []float32{1, 0, 1}) || ds.Test.Y[0] != 0 {
		t.Fatalf("%d and %d rows of %v, %v %v", ds.Train.N, ds.Test.N, ds.Shape, ds.Classes, ds.Train.Y)
	}
	for p, want := range []uint8{255, 0, 0} {
		if got := ds.Train.U8[p*48 : (p+1)*48]; !bytes.Equal(got, bytes.Repeat([]byte{want}, 48)) {
			t.Errorf("plane %d of red: %v", p, got)
		}
	}
	for p, want := range []int{0, 0, 255} {
		if got := int(ds.Test.U8[p*48+7]); got < want-3 || got > want+3 {
			t.Errorf("plane %d of blue: %d", p, got)
		}
	}
	said := strings.Join(r.Warnings, "\n")
	if len(r.Preview.Images) != 3 || r.Format != "pictures" || !strings.Contains(said, "1 pictures are used for testing") || !strings.Contains(said, "4.webp is left out") || strings.Contains(said, "README") {
		t.Errorf("%d pictures to show, %q", len(r.Preview.Images), r.Warnings)
	}
}

// TestPicture: one picture is made the row that it is in a data set.
func TestPicture(t *testing.T) {
	a := asJPEG(drawn(50, 40, func(x, y int) color.Color { return color.NRGBA{uint8(5 * x), uint8(4 * y), 9, 255} }))
	ds, _ := load(t, all(run.CSV{Image: run.Image{Size: []int{12, 9}}}), []File{Bytes("a.zip", packed("a/1.jpg", a, "b/1.png", grey(9, 9, 1)))})
	got, err := Picture("p", a, ds.Shape)
	if err != nil || !bytes.Equal(got, ds.Train.U8[:ds.Features]) {
		t.Errorf("%v, %v", got, err)
	}
	for _, shape := range [][]int{nil, {3}, {0, 4}, {2, 5, 5}, {1 << 40, 1 << 40}, {-1, -1}} {
		if _, err := Picture("p", a, shape); err == nil {
			t.Errorf("no error for %v", shape)
		}
	}
	if _, err := Picture("p", a[:300], ds.Shape); err == nil {
		t.Error("no error for half a picture")
	}
}

// named is a File with the path of a folder.
func named(path string, b []byte) File { return Bytes(path, b) }

// TestPlacesOfPictures: what the folders say.
func TestPlacesOfPictures(t *testing.T) {
	g := grey(4, 4, 9)
	for name, tc := range map[string]struct {
		paths   string
		classes string
		train   int
		test    int
	}{
		"by class":             {"cat/1.png cat/2.png dog/1.png", "cat dog", 3, 0},
		"below one":            {"a/b/cat/1.png a/b/dog/1.png", "cat dog", 2, 0},
		"roles":                {"x/train/cat/1.png x/train/dog/1.png x/test/cat/1.png x/validation/dog/9.png", "cat dog", 2, 2},
		"a class called train": {"train/1.png car/1.png truck/1.png", "car train truck", 3, 0},
		"breeds":               {"cat/persian/1.png cat/manx/1.png dog/2.png", "cat dog", 3, 0},
		"numbers":              {"10/1.png 9/1.png 2/1.png", "2 9 10", 3, 0},
		"test without classes": {"x/train/cat/1.png x/train/dog/1.png x/test/1.png", "cat dog", 2, 0},
		"test alone":           {"test/cat/1.png test/dog/1.png", "cat dog", 2, 0},
	} {
		var parts []any
		var files []File
		for p := range strings.FieldsSeq(tc.paths) {
			parts = append(parts, p, g)
			files = append(files, named("top/"+p, g))
		}
		for how, files := range map[string][]File{"archive": {Bytes("a.zip", packed(parts...))}, "folder": append(files, named("top/.DS_Store", []byte{0, 1}))} {
			ds, r := load(t, all(run.CSV{}), files)
			if strings.Join(ds.Classes, " ") != tc.classes || ds.Train.N != tc.train || ds.Test.N != tc.test || !slices.Equal(ds.Shape, []int{4, 4}) || len(r.Files) != 1 {
				t.Errorf("%s, %s: %v, %d and %d rows of %v, %v", name, how, ds.Classes, ds.Train.N, ds.Test.N, ds.Shape, r.Files)
			}
		}
	}
	// Archives given for testing are for that.
	ds, _ := load(t, run.CSV{}, []File{Bytes("a.zip", packed("a/1.png", g, "b/1.png", g))}, Bytes("b.zip", packed("x/a/1.png", g, "x/b/1.png", g)))
	if ds.Train.N != 2 || ds.Test.N != 2 || ds.Test.Y[1] != 1 {
		t.Errorf("%d and %d rows", ds.Train.N, ds.Test.N)
	}
}

// TestPicturesOfTables: a table says what pictures show, in the archive or beside it.
func TestPicturesOfTables(t *testing.T) {
	var parts []any
	for i := range 6 {
		parts = append(parts, fmt.Sprintf("img/%d.png", i), grey(4, 4, uint8(10*i)))
	}
	archive := func(more ...any) File { return Bytes("a.zip", packed(append(slices.Clone(parts), more...)...)) }
	const table = "filename,label\n0.png,no\n1.png,yes\n2.png,no\n3.png,yes\n4.png,no\n"
	for name, tc := range map[string]struct {
		files   []File
		opt     run.CSV
		classes string
		train   int
		test    int
		last    float32
	}{
		"inside":          {[]File{archive("labels.csv", table)}, run.CSV{}, "no yes", 5, 0, 0},
		"beside":          {[]File{Bytes("labels.csv", []byte(table)), archive()}, run.CSV{}, "no yes", 5, 0, 0},
		"paths":           {[]File{archive("l.csv", "label;path\nno;./img/0.png\nyes;img/1.png\nno;data/img/5.png\n")}, run.CSV{}, "no yes", 3, 0, 0},
		"stems":           {[]File{archive("l.csv", "id,breed\n0,b\n1,a\n5,c\n")}, run.CSV{}, "a b c", 3, 0, 2},
		"named as labels": {[]File{archive("l.csv", "label,file\n0,0.png\n1,1.png\n0,2.png\n1,3.png\n0,4.png\n")}, run.CSV{}, "0 1", 5, 0, 0},
		"no header":       {[]File{archive("l.tsv", "0.png\tb\n1.png\ta\n2.png\tb\n")}, run.CSV{}, "a b", 3, 0, 1},
		"chosen":          {[]File{archive("l.csv", "file,width,kind\n0.png,1,b\n1.png,1,a\n2.png,1,c\n")}, run.CSV{Label: "kind"}, "a b c", 3, 0, 2},
		"two tables":      {[]File{archive("train.csv", "file,label\n0.png,b\n1.png,a\n", "test.csv", "file,label\n4.png,a\n5.png,b\n")}, run.CSV{}, "a b", 2, 2, 0},
		"numbers":         {[]File{archive("l.csv", "file,label\n0.png,0.5\n1.png,-2\n2.png,7\n")}, run.CSV{Task: "regression"}, "", 3, 0, 7},
		"as in a folder":  {[]File{named("top/a/0.png", grey(4, 4, 1)), named("top/b/1.png", grey(4, 4, 2)), named("top/l.csv", []byte("f,label\n0.png,x\n1.png,y\n"))}, run.CSV{}, "x y", 2, 0, 1},
	} {
		ds, r := load(t, all(tc.opt), tc.files)
		if strings.Join(ds.Classes, " ") != tc.classes || ds.Train.N != tc.train || ds.Test.N != tc.test || ds.Train.Y[ds.Train.N-1] != tc.last {
			t.Errorf("%s: %v, %d and %d rows, %v, %v", name, ds.Classes, ds.Train.N, ds.Test.N, ds.Train.Y, r.Warnings)
		}
	}
}

// TestTablesOfOtherPictures: a column of labels is not taken for names because of a few
// pictures that are called so.
func TestTablesOfOtherPictures(t *testing.T) {
	table := "filename,label\n"
	parts := []any{}
	for i := range 12 {
		table += fmt.Sprintf("other%d.png,%d\n", i, i%3)
		parts = append(parts, fmt.Sprintf("img/%d.png", i), grey(4, 4, uint8(i)))
	}
	refused(t, "a table of other pictures", []File{Bytes("a.zip", packed(append(parts, "l.csv", table)...))}, "12 pictures without either")
}

// TestSizesOfPictures: what pictures of several sizes are brought to.
func TestSizesOfPictures(t *testing.T) {
	colour := asPNG(drawn(100, 70, plain(color.NRGBA{10, 200, 30, 255})))
	small, large := packed("a/1.png", grey(28, 20, 1), "a/2.png", grey(28, 20, 1), "b/1.png", grey(28, 30, 1)), packed("a/1.png", grey(200, 200, 7), "b/1.png", colour)
	for name, tc := range map[string]struct {
		b     []byte
		image run.Image
		shape []int
		said  string
	}{
		"most alike": {small, run.Image{}, []int{28, 20}, "1 of 3 pictures, which are of 2 sizes, were brought to 28×20"},
		"large":      {large, run.Image{}, []int{3, 32, 32}, "2 of 2 pictures, which are of 2 sizes, were brought to 32×32"},
		"chosen":     {large, run.Image{Size: []int{10}, Channels: 1}, []int{10, 10}, "1 pictures in colour were made grey"},
		"both sides": {small, run.Image{Size: []int{7, 9}, Channels: 3}, []int{3, 7, 9}, "brought to 7×9"},
	} {
		ds, r := load(t, all(run.CSV{Image: tc.image}), []File{Bytes("a.zip", tc.b)})
		if said := strings.Join(r.Warnings, "\n"); !slices.Equal(ds.Shape, tc.shape) || !strings.Contains(said, tc.said) {
			t.Errorf("%s: %v, %s", name, ds.Shape, said)
		}
	}
	for _, bad := range []run.Image{{Size: []int{0}}, {Size: []int{-1, 3}}, {Size: []int{1, 2, 3}}, {Size: []int{2000}}, {Channels: 2}, {Size: []int{500}, Channels: 3}} {
		if _, _, err := Load(t.Context(), []File{Bytes("a.zip", small)}, nil, run.CSV{Image: bad}, nil); err == nil || len(err.Error()) < 40 {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestTriangles: weights come to one, are of the triangle, and mirror each other.
func TestTriangles(t *testing.T) {
	for from := 1; from < 40; from++ {
		for to := 1; to < 40; to++ {
			all := triangles(from, to)
			for i, tap := range all {
				sum := int32(0)
				for _, w := range tap.weights {
					if sum += w; w < 0 {
						t.Fatalf("%d → %d, pixel %d: weights %v", from, to, i, tap.weights)
					}
				}
				if sum != 1<<tapBits || tap.first < 0 || tap.first+len(tap.weights) > from {
					t.Fatalf("%d → %d, pixel %d: %d from %d, which come to %d", from, to, i, len(tap.weights), tap.first, sum)
				}
			}
		}
	}
	// Half as many: the triangle over four pixels is 1 3 3 1, and 3 3 1 or so at the ends.
	if got := triangles(8, 4)[1]; got.first != 1 || !slices.Equal(got.weights, []int32{2048, 6144, 6144, 2048}) {
		t.Errorf("8 → 4: %v", got)
	}
	// Twice as many: a quarter of the neighbour.
	if got := triangles(4, 8)[2]; got.first != 0 || !slices.Equal(got.weights, []int32{4096, 12288}) {
		t.Errorf("4 → 8: %v", got)
	}
}

// TestResize: one shade stays that shade, the mean stays the mean, and what is not
// resized is as it was.
func TestResize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := image.NewGray(image.Rect(0, 0, 61, 47))
	sum := 0
	for i := range m.Pix {
		m.Pix[i] = uint8(rng.IntN(256))
		sum += int(m.Pix[i])
	}
	same := make([]uint8, len(m.Pix))
	(&resizer{frame: frame{47, 61, 1}}).into(same, m, t.Context().Err)
	if !bytes.Equal(same, m.Pix) {
		t.Error("a picture of the size wanted is changed")
	}
	small := make([]uint8, 7*5)
	(&resizer{frame: frame{7, 5, 1}}).into(small, m, t.Context().Err)
	mean := 0
	for _, v := range small {
		mean += int(v)
	}
	if a, b := float64(sum)/float64(len(m.Pix)), float64(mean)/float64(len(small)); a-b > 4 || b-a > 4 {
		t.Errorf("a mean of %.1f has become %.1f", a, b)
	}
	half := drawn(30, 40, plain(color.NRGBA{0, 0, 0, 128}))
	for _, size := range []frame{{30, 40, 3}, {3, 90, 3}, {77, 2, 1}} {
		got := make([]uint8, size.values())
		(&resizer{frame: size}).into(got, half, t.Context().Err)
		if !bytes.Equal(got, bytes.Repeat([]uint8{127}, len(got))) {
			t.Errorf("half of black on white at %v: %v", size, got[:6])
		}
	}
}

// TestKindsOfPictures: every form that the decoders make of a file is read, alike to a
// step or two.
func TestKindsOfPictures(t *testing.T) {
	at := func(x, y int) color.Color { return color.NRGBA{uint8(8 * x), uint8(8 * y), 128, 255} }
	truth := drawn(32, 32, at)
	want := make([]uint8, 3*32*32)
	(&resizer{frame: frame{32, 32, 3}}).into(want, truth, t.Context().Err)
	deep, wide := image.NewRGBA64(truth.Bounds()), image.NewPaletted(truth.Bounds(), nil)
	for y := range 32 {
		for x := range 32 {
			deep.Set(x, y, at(x, y))
		}
	}
	wide.Palette = color.Palette{at(0, 0), at(31, 31)}
	for name, b := range map[string][]byte{"PNG": asPNG(truth), "PNG of 16 bits": asPNG(deep), "JPEG": asJPEG(truth)} {
		g := newLoader(t.Context(), run.CSV{}).newGallery([]string{"a"})
		d, err := g.limits.newPictureDecoder(name, b)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]uint8, len(want))
		(&resizer{frame: frame{32, 32, 3}}).into(got, m, t.Context().Err)
		for i := range got {
			if d := int(got[i]) - int(want[i]); d > 14 || d < -14 {
				t.Errorf("%s: value %d is %d, not %d", name, i, got[i], want[i])
				break
			}
		}
	}
	b := asPNG(wide)
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	one := make([]uint8, 32*32)
	(&resizer{frame: frame{32, 32, 1}}).into(one, m, t.Context().Err)
	if one[0] != 15 { // 0.114 × 128
		t.Errorf("blue of a palette is of shade %d", one[0])
	}
}

// hostileArchives are archives that lie, or hold what cannot be read.
func hostileArchives() map[string][]byte {
	g, other := grey(9, 9, 3), grey(9, 9, 200)
	good := packed("a/1.png", g, "b/1.png", other, "b/2.png", other)
	dims := func(w, h uint32) []byte { // a PNG that says that it is so large
		b := slices.Clone(g)
		for i := range 4 {
			b[16+i], b[20+i] = byte(w>>(24-8*i)), byte(h>>(24-8*i))
		}
		return fixCRC(b)
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
		"cut short": good[:len(good)-30], "the beginning alone": good[:30], "nothing in it": packed(), "the end alone": good[len(good)-22:], "folders alone": packed("a/", "", "b/", ""),
		"no pictures": packed("a/1.bin", []byte{0, 1, 2, 3}), "one class": packed("a/1.png", g), "no folders": packed("1.png", g, "2.png", g),
		"a nested archive": packed("a/1.png", g, "b/1.png", g, "c.zip", good), "an archive of archives": packed("a.zip", good), "a document": packed("word/document.xml", "x"),
		"a PyTorch file": packed("m/data.pkl", "x"), "an encrypted entry": at(directory+8, 1), "an unknown method": at(directory+10, 77), "entries that are said to be larger": at(directory+27, 0x7f),
		"packed size beyond the file": at(directory+23, 0x7f), "an offset beyond the file": at(directory+45, 0x7f), "a wrong checksum": at(directory+16, 1), "more entries than there are": at(-11, 1),
		"a directory elsewhere": at(-5, 0x40), "damage in the data": at(60, 0xff), "not a picture": packed("a/1.png", "hello", "b/1.png", g), "an empty picture": packed("a/1.png", "", "b/1.png", g),
		"a PNG cut short": packed("a/1.png", g[:40], "b/1.png", g), "a JPEG cut short": packed("a/1.jpg", asJPEG(drawn(9, 9, plain(color.White)))[:200], "b/1.png", g),
		"a JPEG without end": packed("a/1.jpg", []byte("\xff\xd8\xff\xe0\xff\xff"), "b/1.png", g), "a GIF that says PNG": packed("a/1.png", "GIF89a....", "b/1.png", g),
		"a PNG of 4 gigapixels": packed("a/1.png", dims(65535, 65535), "b/1.png", g), "a PNG of no width": packed("a/1.png", dims(0, 5), "b/1.png", g), "a PNG of a line": packed("a/1.png", dims(2_000_000_000, 1), "b/1.png", g),
		"a PNG larger than its data": packed("a/1.png", dims(4000, 4000), "b/1.png", g), "a checksum of a PNG": packed("a/1.png", append(slices.Clone(g[:30]), 1, 2, 3, 4), "b/1.png", g),
		"40 MB that are no picture": packed("a/1.png", append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 40<<20)...), "b/1.png", g),
		"a label table of labels":   packed("1.png", g, "2.png", g, "l.csv", "file,label,x,y\n1.png,"+strings.Repeat("long", 900)+",1,2\n2.png,b,1,2\n"),
		"a label table without":     packed("1.png", g, "2.png", g, "l.csv", "file,u,v,w\n1.png,a,1,2\n2.png,b,1,2\n"), "a table of other pictures": packed("1.png", g, "2.png", g, "l.csv", "file,label\n7.png,a\n8.png,b\n"),
		"a table that is none": packed("1.png", g, "2.png", g, "l.csv", "\x00\x01\x02"), "one class in a table": packed("1.png", g, "2.png", g, "l.csv", "file,label\n1.png,a\n2.png,a\n"),
		"a test class unknown": packed("train/a/1.png", g, "train/b/1.png", g, "test/c/1.png", g),
	}
	many := make([]any, 0, 3000)
	for i := range 1500 {
		many = append(many, fmt.Sprintf("c%d/1.png", i), g)
	}
	m["1,500 classes"] = packed(many...)
	for i := range 15 {
		m[fmt.Sprintf("cut to %d/16", i+1)] = good[:len(good)*(i+1)/16]
	}
	return m
}

// fixCRC makes the checksum of a PNG's header fit.
func fixCRC(b []byte) []byte {
	crc := ^uint32(0)
	for _, c := range b[12:29] {
		crc ^= uint32(c)
		for range 8 {
			crc = crc>>1 ^ 0xedb88320&-(crc&1)
		}
	}
	for i := range 4 {
		b[29+i] = byte(^crc >> (24 - 8*i))
	}
	return b
}

func TestHostileArchives(t *testing.T) {
	all := hostileArchives()
	if len(all) < 50 {
		t.Errorf("%d hostile archives", len(all))
	}
	for name, b := range all {
		refused(t, name, []File{Bytes("a.zip", b)}, "")
	}
	g := grey(9, 9, 3)
	for name, path := range map[string]string{"a path that leads out": "../../../etc/passwd/", "an absolute path": "/a/", "a drive": `C:\x/`, "control bytes": "\x00\x1b/", "not UTF-8": "\xff\xfe/", "very long": strings.Repeat("long", 9000) + "/"} {
		ds, r, err := Load(t.Context(), []File{Bytes("a.zip", packed(path+"1.png", g, "b/1.png", g))}, nil, run.CSV{TestShare: -1}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if ds.Train.N != 2 || badVerb(strings.Join(r.Warnings, "")) {
			t.Errorf("%s: %d rows", name, ds.Train.N)
		}
	}
}

// TestArchiveLimits: what an archive grows to is bounded, by what is read and not by
// what it says.
func TestArchiveLimits(t *testing.T) {
	g := grey(9, 9, 3)
	b := packed("a/1.png", g, "b/1.png", g, "b/2.png", g)
	for name, tc := range map[string]struct {
		limit func(*limits)
		want  string
	}{

		"directory": {func(l *limits) { l.directory = 100 }, "whose directory takes"},
		"pictures":  {func(l *limits) { l.picture = 20 }, "of over 0 MB"},
		"pixels":    {func(l *limits) { l.pixels = 80 }, "9×9 pixels, over the limit"},
		"rows":      {func(l *limits) { l.bytes = 2 * 89 }, "data larger than that"},
	} {
		for _, skip := range []string{"", "skip"} {
			l := newLoader(t.Context(), run.CSV{BadRows: skip})
			tc.limit(&l.limits)
			if _, err := l.load([]File{Bytes("a.zip", b)}, nil); err == nil || skip == "" && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestPicturesAreSkipped: what cannot be read is left out where that is chosen, unless
// it is most.
func TestPicturesAreSkipped(t *testing.T) {
	g := grey(9, 9, 3)
	b := packed("a/1.png", g, "a/2.png", "nothing", "b/1.png", g, "b/2.png", g[:30])
	if _, _, err := Load(t.Context(), []File{Bytes("x.zip", b)}, nil, run.CSV{}, nil); err == nil || !strings.Contains(err.Error(), "x.zip/a/2.png: expected a PNG or JPEG picture, found one that begins with 6e 6f 74 68") {
		t.Errorf("a bad picture: %v", err)
	}
	ds, r := load(t, all(run.CSV{BadRows: "skip"}), []File{Bytes("x.zip", b)})
	if ds.Train.N != 2 || r.BadRows != 2 || !strings.Contains(strings.Join(r.Warnings, "\n"), "2 pictures are left out because they cannot be read. The first: x.zip/a/2.png") {
		t.Errorf("%d rows, %d bad, %v", ds.Train.N, r.BadRows, r.Warnings)
	}
	b = packed("a/1.png", g, "a/2.png", "x", "b/1.png", g, "b/2.png", "x", "b/3.png", "x")
	if _, _, err := Load(t.Context(), []File{Bytes("x.zip", b)}, nil, run.CSV{BadRows: "skip"}, nil); err == nil || !strings.Contains(err.Error(), "most pictures to be readable") {
		t.Errorf("mostly bad: %v", err)
	}
}

// TestZippedTables: an archive of what is no kind of its own is read as its files.
func TestZippedTables(t *testing.T) {
	ds, r := load(t, run.CSV{}, []File{Bytes("adult.zip", packed("adult.data", "1,a\n2,b\n3,a\n", "adult.test", "1,a\n2,b\n"))})
	if ds.Train.N != 3 || ds.Test.N != 2 || r.Format != "csv" || ds.Name != "adult.zip" {
		t.Errorf("%s, %s, %d and %d rows", ds.Name, r.Format, ds.Train.N, ds.Test.N)
	}
	img, lab := images(30, 4, 5, 3)
	if ds, r = load(t, run.CSV{}, []File{Bytes("mnist.zip", packed("img", img, "lab", gz(lab)))}); ds.Train.N != 24 || r.Format != "idx" {
		t.Errorf("%s: %d rows", r.Format, ds.Train.N)
	}
}

// TestGather: pictures become one File, which is the same however often they are gathered.
func TestGather(t *testing.T) {
	files := []File{named("b/2.png", []byte("two")), named("b/x.csv", []byte("1,2\n")), named("b/.DS_Store", nil), named("b/10.JPEG", []byte("ten"))}
	once := Gather(files)
	if len(once) != 2 || once[0].Name() != "b" || once[0].Size() != 6 || len(Gather(once)) != 2 || Gather(once)[0] != once[0] {
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

// TestPicturesReport how far they are.
func TestPicturesProgress(t *testing.T) {
	var parts []any
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		m := image.NewGray(image.Rect(0, 0, 200, 200))
		for k := range m.Pix {
			m.Pix[k] = uint8(rng.IntN(256))
		}
		parts = append(parts, fmt.Sprintf("%d/%d.png", i%2, i), asPNG(m))
	}
	f := Bytes("a.zip", packed(parts...))
	var seen []Progress
	if _, _, err := Load(t.Context(), []File{f}, nil, run.CSV{}, func(p Progress) { seen = append(seen, p) }); err != nil {
		t.Fatal(err)
	}
	if last := seen[len(seen)-1]; len(seen) < 2 || last.Done != f.Size() || last.Total != f.Size() || last.File != "a.zip" || seen[0].Done > f.Size() {
		t.Errorf("%v", seen)
	}
}

func FuzzPictures(f *testing.F) {
	g := grey(5, 4, 3)
	for _, b := range [][]byte{g, asJPEG(drawn(5, 4, plain(color.White))), asPNG(drawn(3, 3, plain(color.NRGBA{1, 2, 3, 4}))), g[:50], []byte("\xff\xd8\xff\xc0")} {
		f.Add(b, "a/1.png", "file,label\n1.png,x\n2.png,y\n")
		f.Add(b, "train/a/1.jpg", "")
		f.Add(b, "train/a/", "")
	}
	f.Fuzz(func(t *testing.T, b []byte, name, table string) {
		if strings.HasSuffix(name, "/") {
			name += "1" // or package zip takes it for a folder, to which nothing is written
		}
		sound(t, []File{Bytes("a.zip", packed("b/2.png", g, name, b, "l.csv", table))}, nil, run.CSV{})
		sound(t, []File{Bytes("x/b/2.png", g), Bytes(name, b), Bytes("x/l.csv", []byte(table))}, nil, run.CSV{BadRows: "skip"})
	})
}

func FuzzArchive(f *testing.F) {
	for name, b := range hostileArchives() {
		if len(b) < 10_000 && name != "" {
			f.Add(b)
		}
	}
	f.Add(packed("a/1.png", grey(5, 4, 3), "b/1.png", grey(5, 4, 9)))
	f.Add(packed("x_train.npy", npy("<f4", "6, 2", ramp[float32](12)), "y_train.npy", npy("|u1", "6", []uint8{0, 1, 0, 1, 0, 1})))
	f.Fuzz(func(t *testing.T, b []byte) {
		sound(t, []File{Bytes("a.zip", b)}, nil, run.CSV{})
		sound(t, []File{Bytes("a.zip", b)}, []File{Bytes("b.zip", b)}, run.CSV{BadRows: "skip"})
	})
}
