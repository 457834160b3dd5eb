package load_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// pictureTrial is an archive or a folder of pictures as people have them, and what reading it has to give.
type pictureTrial struct {
	file  string // its name in ../shared/trials, or that of a sibling
	parts []any  // of a sibling: names and contents
	opt   run.CSV
	want  string // a part of what pictured says
	said  string // a part of a warning; empty: no warning but of rows held out
	doubt bool   // that warning is one
	was   string // what an older version made of it in silence, for the reader
}

// pictured says in one line what pictures were read as: rows, shape, the rows of each class, and the largest
// value. Of a refusal it is the error's text.
func pictured(t *testing.T, files []source.File, opt run.CSV) (line, warnings, doubts string) {
	t.Helper()
	opt.TestShare = -1
	ds, r, err := load.Load(t.Context(), files, nil, opt, nil)
	if err != nil {
		return "refused: " + err.Error(), strings.Join(r.Warnings, "\n"), strings.Join(r.Doubts, "\n")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows of %v;", ds.Train.N, ds.Shape)
	for k, name := range ds.Classes {
		n := 0
		for _, y := range ds.Train.Y {
			if int(y) == k {
				n++
			}
		}
		fmt.Fprintf(&b, " %s %d;", name, n)
	}
	fmt.Fprintf(&b, " up to %d", slices.Max(ds.Train.U8))
	return b.String(), strings.Join(r.Warnings, "\n"), strings.Join(r.Doubts, "\n")
}

func (c *pictureTrial) run(t *testing.T, how string, files []source.File) {
	t.Helper()
	line, warnings, doubts := pictured(t, files, c.opt)
	if c.doubt && !strings.Contains(doubts, c.said) {
		t.Errorf("%s, %s: no doubt says %q", c.file, how, c.said)
	}
	if !strings.Contains(line, c.want) || !strings.Contains(warnings, c.said) || c.said == "" && warnings != "" {
		t.Errorf("%s, %s: %s\n%s\nwant %q, said %q; it was %s", c.file, how, line, warnings, c.want, c.said, c.was)
	} else {
		t.Logf("%s, %s: %s\n%s", c.file, how, line, warnings)
	}
}

// TestPictureTrials reads the pictures of ../shared/trials.
func TestPictureTrials(t *testing.T) {
	for _, c := range []pictureTrial{
		{file: "05b-ipynb.zip", want: "12 rows of [3 8 8]; cat 6; dog 6;", said: `hidden folders (the first: ".ipynb_checkpoints")`, was: "a class .ipynb_checkpoints, and a cat twice"},
		{file: "06b-missing-pictures.zip", want: "10 rows of [8 8]; bus 5; car 5;", said: `10 of 20 rows name no picture that is there, and are left out. The first: "im10.png", row 12`, was: "10 rows, without a word"},
		{file: "06c-other-extension.zip", want: "20 rows of [8 8]; bus 10; car 10;", said: `20 of 20 rows name pictures with another extension or other capitals. The first: "im00.jpg" is part1/im00.png`, was: "classes part1, part2"},
		{file: "13-png-12in16.zip", want: "12 rows of [8 8]; a 6; b 6;", said: "12 PNG pictures of 16 bits have no value above", was: "nearly black, without a word"},
		{file: "14-nfd.zip", want: "18 rows of [3 8 8]; Brot 6; Käse 12;", said: "are the same", was: "Käse twice"},
	} {
		b, err := os.ReadFile(filepath.Join("../../../../shared/trials", c.file))
		if os.IsNotExist(err) {
			t.Skip("../shared/trials is not there; the siblings are generated")
		} else if err != nil {
			t.Fatal(err)
		}
		c.run(t, "archive", []source.File{source.Bytes(c.file, b)})
	}
}

// deepPNG returns a grey PNG of 16 bits whose values at gives, with chunks behind its header.
func deepPNG(side int, at func(i int) uint16, chunks ...[]byte) []byte {
	m := image.NewGray16(image.Rect(0, 0, side, side))
	for i := range side * side {
		m.SetGray16(i%side, i/side, color.Gray16{at(i)})
	}
	b := datatest.PNG(m)
	const head = 8 + 25
	return slices.Concat(b[:head], slices.Concat(chunks...), b[head:])
}

// stated returns the chunk in which a PNG states its significant bits.
func stated(bits ...byte) []byte { return datatest.Chunk("sBIT", bits) }

// TestSiblingsOfPictureTrials reads pictures of the same kinds of trouble, in a zip archive, in a tar archive, gzipped or
// not, and in a folder.
func TestSiblingsOfPictureTrials(t *testing.T) {
	g := func(v int) []byte { return datatest.Grey(8, 8, uint8(v)) }
	pets := func(more ...any) []any {
		return append([]any{"d/cat/0.png", g(10), "d/cat/1.png", g(20), "d/dog/0.png", g(30), "d/dog/1.png", g(40)}, more...)
	}
	flat := func(n int, table string) []any {
		var parts []any
		for i := range n {
			parts = append(parts, fmt.Sprintf("d/img/p%d.png", i), g(10*i+10))
		}
		return append(parts, "d/labels.csv", table)
	}
	parted := func(table string) []any {
		return []any{"d/part1/a.png", g(1), "d/part1/b.png", g(2), "d/part2/a.png", g(3), "d/part2/c.png", g(4), "d/labels.csv", table}
	}
	deep := func(of func(i int) uint16, chunks ...[]byte) []any {
		var parts []any
		for i := range 4 {
			parts = append(parts, fmt.Sprintf("d/%c/%d.png", 'a'+i%2, i), deepPNG(8, func(k int) uint16 { return of(k + i) }, chunks...))
		}
		return parts
	}
	skip := run.CSV{BadRows: "skip"}
	for _, c := range []pictureTrial{
		{file: "thumbnails", parts: pets("d/.thumbnails/t.png", g(50), "d/dog/.thumbnails/t.png", g(50)), want: "4 rows of [8 8]; cat 2; dog 2;", said: `2 files in hidden folders (the first: ".thumbnails")`, was: "a class .thumbnails"},
		{file: "a network drive", parts: pets("d/@eaDir/cat/0.png/SYNOPHOTO_THUMB_M.png", g(50), "d/cat/@eaDir/1.png", g(50), "d/#recycle/2.png", g(50)), want: "4 rows of [8 8]; cat 2; dog 2;", said: `3 files in hidden folders (the first: "@eaDir")`, was: "classes @eaDir and #recycle"},
		{file: "deleted", parts: pets("d/.Trash-1000/files/9.png", g(50), "d/.Trash-1000/files/labels.csv", "filename,label\n0.png,x\n"), want: "4 rows of [8 8]; cat 2; dog 2;", said: `2 files in hidden folders (the first: ".Trash-1000")`, was: "a class .Trash-1000"},
		{file: "macOS", parts: pets("d/__MACOSX/cat/._0.png", "x", "d/cat/._0.png", "x", "d/.DS_Store", "x"), want: "4 rows of [8 8]; cat 2; dog 2;", was: "refused in a folder: ._0.png is no picture"},
		{file: "points", parts: []any{"d/v1.0/0.png", g(1), "d/v1.0/1.png", g(2), "d/v2..1/0.png", g(3)}, want: "3 rows of [8 8]; v1.0 2; v2..1 1;"},

		{file: "half is missing", parts: flat(4, "filename,label\np0.png,a\np1.png,b\np2.png,a\np3.png,b\nq4.png,a\nq5.png,b\nq6.png,a\n"), want: "4 rows of [8 8]; a 2; b 2;", said: `3 of 7 rows name no picture that is there, and are left out. The first: "q4.png", row 6`, was: "4 rows, without a word"},
		{file: "another folder's", parts: parted("filename,label\npart1/a.png,x\npart1/b.png,y\npart2/b.png,x\npart2/a.png,y\npart2/c.png,x\n"), want: "4 rows of [8 8]; x 2; y 2;", said: `1 of 5 rows name no picture that is there, and are left out. The first: "part2/b.png", row 4`, was: "part1/b.png as x"},
		{file: "all are missing", parts: parted("filename,label\nx1.png,x\nx2.png,y\nx3.png,y\n"), want: `refused: `, said: "names none of the pictures", was: "classes part1, part2"},
		{file: "two labels", parts: flat(4, "filename,label\np0.png,a\np1.png,b\np2.png,a\np3.png,b\np0.png,b\n"), want: "expected one label for each picture, found", was: "p0.png as b"},
		{file: "two labels, skipped", opt: skip, parts: flat(5, "filename,label\np0.png,a\np1.png,b\np2.png,a\np3.png,b\np0.png,b\np4.png,b\n"), want: "4 rows of [8 8]; a 1; b 3;", said: "p0.png is left out", was: "p0.png as b"},
		{file: "two names", parts: flat(4, "filename,label\np0.png,a\np1.png,b\nimg/p0.png,b\np3.png,b\n"), want: "expected one label for each picture, found", was: "p0.png as b"},
		{file: "the same twice", parts: flat(4, "filename,label\np0.png,a\np1.png,b\np2.png,a\np3.png,b\np0.png,a\n"), want: "4 rows of [8 8]; a 2; b 2;"},

		{file: "another extension", parts: flat(4, "filename,label\np0.tif,a\np1.tif,b\np2.tif,a\np3.tif,b\n"), want: "4 rows of [8 8]; a 2; b 2;", said: `4 of 4 rows name pictures with another extension`, was: "refused"},
		{file: "folders and another extension", parts: parted("filename,label\npart1/a.jpeg,x\npart1/b.jpeg,y\npart2/a.jpeg,y\npart2/c.jpeg,x\n"), want: "4 rows of [8 8]; x 2; y 2;", said: `The first: "part1/a.jpeg" is `, was: "classes part1, part2"},
		{file: "capitals", parts: flat(4, "filename,label\nP0.PNG,a\nP1.PNG,b\nP2.PNG,a\nP3.PNG,b\n"), want: "4 rows of [8 8]; a 2; b 2;", said: `4 of 4 rows name pictures with another extension or other capitals`, was: "refused"},
		{file: "one of two", parts: []any{"d/a.png", g(1), "d/a2.png", g(2), "d/b.jpg", datatest.JPEG(image.NewGray(image.Rect(0, 0, 8, 8))), "d/labels.csv", "filename,label\na.png,x\na.jpg,y\na2.png,y\nb.jpg,x\n"}, want: "3 rows of [8 8]; x 2; y 1;", said: `1 of 4 rows name no picture that is there, and are left out. The first: "a.jpg", row 3`, was: "3 rows, without a word"},

		{file: "folders of a camera", parts: []any{"DCIM/100APPLE/IMG_1.JPG", g(1), "DCIM/100APPLE/IMG_2.JPG", g(2), "DCIM/101APPLE/IMG_3.JPG", g(3), "Arten.csv", "Datei;Art;Finder\nIMG_1.JPG;Pilz;Anna\nIMG_2.JPG;Blatt;Ben\nIMG_3.JPG;Pilz;Anna\n"}, want: "100APPLE 2; 101APPLE 1;", said: "Arten.csv is not used: none of its 3 columns is called label (Datei, Art, Finder)", doubt: true, was: "classes by the camera's folders, with a note alone"},
		{file: "folders of a camera, Art", opt: run.CSV{Label: "Art"}, parts: []any{"DCIM/100APPLE/IMG_1.JPG", g(1), "DCIM/100APPLE/IMG_2.JPG", g(2), "DCIM/101APPLE/IMG_3.JPG", g(3), "Arten.csv", "Datei;Art;Finder\nIMG_1.JPG;Pilz;Anna\nIMG_2.JPG;Blatt;Ben\nIMG_3.JPG;Pilz;Anna\n"}, want: "Blatt 1; Pilz 2;"},
		{file: "a table beside folders", parts: pets("d/noisy.csv", "path,clean,noisy,more\ncat/0.png,cat,dog,1\ncat/1.png,cat,cat,2\ndog/0.png,dog,dog,3\ndog/1.png,dog,cat,4\n"), want: "cat 2; dog 2;", said: "noisy.csv is not used: none of its 4 columns is called label"},

		{file: "12 bits, stated", parts: deep(func(i int) uint16 { return uint16(61*i+5) % 4096 }, stated(12)), want: "4 rows of [8 8]; a 2; b 2; up to 251", said: "4 PNG pictures of 16 bits were stretched", was: "up to 15"},
		{file: "10 bits, stated", parts: deep(func(i int) uint16 { return uint16(15*i+3) % 1024 }, stated(10)), want: "a 2; b 2; up to 248", said: "4 PNG pictures of 16 bits were stretched", was: "up to 3"},
		{file: "14 bits, not stated", parts: deep(func(i int) uint16 { return uint16(255*i) % 16384 }), want: "a 2; b 2; up to 63", said: "have no value above 16320 of 65535", was: "dark, without a word"},
		{file: "12 bits, scaled", parts: deep(func(i int) uint16 { return uint16(61*i%4096) << 4 }, stated(12)), want: "a 2; b 2; up to 251"},
		{file: "12 bits, scaled and dark", parts: deep(func(i int) uint16 { return uint16(i+1) << 4 }, stated(12)), want: "a 2; b 2; up to 4", said: "have no value above"},
		{file: "16 bits", parts: deep(func(i int) uint16 { return uint16(1013 * i) }), want: "a 2; b 2; up to 253"},

		{file: "cafe\u0301", parts: []any{"d/cafe\u0301/0.png", g(1), "d/caf\u00e9/1.png", g(2), "d/bar/2.png", g(3)}, want: "bar 1; caf\u00e9 2;", was: "three classes"},
		{file: "ha\u0301n", parts: []any{"d/\u1112\u1161\u11ab/0.png", g(1), "d/\ud55c/1.png", g(2), "d/\u304b\u3099/2.png", g(3), "d/\u304c/3.png", g(4)}, want: "\u304c 2; \ud55c 2;", was: "four classes"},
		{file: "a table of u\u0308", parts: []any{"d/\u00fc1.png", g(1), "d/u\u03082.png", g(2), "d/3.png", g(3), "d/labels.csv", "filename,label\nu\u03081.png,Tu\u0308r\n\u00fc2.png,T\u00fcr\n3.png,Tor\n"}, want: "3 rows of [8 8]; Tor 1; T\u00fcr 2;", was: "refused, or three classes"},
	} {
		for how, files := range map[string][]source.File{"zip": {source.Bytes("d.zip", datatest.Zip(c.parts...))}, "tar": {source.Bytes("d.tar", datatest.Tar(c.parts...))}, "tar.gz": {source.Bytes("d.tar.gz", datatest.GzipOf(datatest.Tar(c.parts...)))}, "folder": loose(c.parts)} {
			c.run(t, how, files)
		}
	}
}

// loose returns the files of a folder.
func loose(parts []any) (files []source.File) {
	for i := 0; i < len(parts); i += 2 {
		b, ok := parts[i+1].([]byte)
		if !ok {
			b = []byte(parts[i+1].(string))
		}
		files = append(files, source.Bytes(parts[i].(string), b))
	}
	return files
}

// photograph returns a picture of w×h, a JPEG or a PNG, as a camera stores it that was held in one of the eight ways: dark to
// the left, with a light patch at the top left, once it is upright.
func photograph(kind string, w, h, orientation int) []byte {
	dark, patch := color.Gray{40}, color.Gray{250}
	upright := func(x, y int) color.Color {
		switch {
		case x < w/4 && y < h/2:
			return patch
		case x < w/2:
			return dark
		}
		return color.Gray{130}
	}
	sw, sh := w, h
	if orientation >= 5 {
		sw, sh = h, w
	}
	at := func(x, y int) color.Color {
		switch orientation { // where the pixel is shown that is stored at x, y: EXIF 2.32, 4.6.4.A
		case 2:
			return upright(w-1-x, y)
		case 3:
			return upright(w-1-x, h-1-y)
		case 4:
			return upright(x, h-1-y)
		case 5:
			return upright(y, x)
		case 6:
			return upright(w-1-y, x)
		case 7:
			return upright(w-1-y, h-1-x)
		case 8:
			return upright(y, h-1-x)
		}
		return upright(x, y)
	}
	drawn := datatest.Drawn(sh, sw, at)
	var order binary.AppendByteOrder = binary.BigEndian
	tiff := []byte("MM\x00*")
	if orientation%2 == 0 {
		order, tiff = binary.LittleEndian, []byte("II*\x00")
	}
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, tag := range []uint16{256, 274} {
		tiff = order.AppendUint16(order.AppendUint16(tiff, tag), 3)
		tiff = order.AppendUint16(order.AppendUint16(order.AppendUint32(tiff, 1), uint16(orientation)), 0)
	}
	if kind == "png" {
		b := datatest.PNG(drawn)
		const header = 8 + 25 // the signature and IHDR
		return slices.Concat(b[:header], datatest.Chunk("eXIf", tiff), b[header:])
	}
	b := datatest.JPEG(drawn)
	exif := append([]byte("Exif\x00\x00"), tiff...)
	segment := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2)), exif...)
	return slices.Concat(b[:2], segment, b[2:])
}

// TestPicturesAreUpright reads a photograph in all eight orientations as the one that is stored upright, by
// every transform.
func TestPicturesAreUpright(t *testing.T) {
	for _, kind := range []string{"jpg", "png"} {
		for _, transform := range []string{run.TransformFit, run.TransformStretch, run.TransformCrop} {
			for _, size := range [][2]int{{64, 16}, {16, 64}, {40, 40}, {63, 17}} {
				uprightAlike(t, kind, size, run.Image{Size: []int{16}, Transform: transform})
			}
		}
	}
}

// uprightAlike reads a photograph in all orientations.
func uprightAlike(t *testing.T, kind string, size [2]int, image run.Image) {
	t.Helper()
	var first []uint8
	for orientation := 1; orientation <= 8; orientation++ {
		p := photograph(kind, size[0], size[1], orientation)
		ds, r, err := load.Load(t.Context(), []source.File{source.Bytes("a.zip", datatest.Zip("a/1."+kind, p, "b/1."+kind, p))}, nil, run.CSV{TestShare: -1, Image: image}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ds.Train.U8[:ds.Features]
		if orientation == 1 {
			first = got
		} else if said := strings.Join(r.Warnings, "\n"); !strings.Contains(said, "2 of 2 pictures were turned upright") {
			t.Errorf("%s, orientation %d: %s", kind, orientation, said)
		}
		worst := 0
		for i, v := range got {
			worst = max(worst, int(v)-int(first[i]), int(first[i])-int(v))
		}
		if worst > 12 { // what JPEG loses, and where halves are rounded
			t.Errorf("%s, %s of %v: orientation %d is off by %d", kind, image.Transform, size, orientation, worst)
		}
	}
}

// TestTransforms: a picture of 640×160, three quarters light, is whole with a border beside it, squashed, or cut to
// its middle, in training and when it is shown to a model.
func TestTransforms(t *testing.T) {
	wide := datatest.PNG(datatest.Drawn(160, 640, func(x, y int) color.Color {
		if x < 160 {
			return color.Gray{100}
		}
		return color.Gray{200}
	}))
	rows := func(row []byte, n int) []byte { return bytes.Repeat(row, n) }
	quarter := append(bytes.Repeat([]byte{100}, 4), bytes.Repeat([]byte{200}, 12)...)
	for transform, want := range map[string][]byte{
		"":        slices.Concat(make([]byte, 6*16), rows(quarter, 4), make([]byte, 6*16)),
		"fit":     slices.Concat(make([]byte, 6*16), rows(quarter, 4), make([]byte, 6*16)),
		"stretch": rows(quarter, 16),
		"crop":    bytes.Repeat([]byte{200}, 256),
	} {
		opt := run.CSV{TestShare: -1, Image: run.Image{Size: []int{16}, Channels: 1, Transform: transform}}
		ds, _, err := load.Load(t.Context(), []source.File{source.Bytes("x.zip", datatest.Zip("a/1.png", wide, "b/1.png", wide))}, nil, opt, nil)
		if err != nil {
			t.Fatal(err)
		}
		near := func(got []byte) bool { // but where the halves meet
			for i, v := range got {
				if x := i % 16; (transform == "crop" || x != 3 && x != 4) && v != want[i] {
					return false
				}
			}
			return true
		}
		if got := ds.Train.U8[:256]; !near(got) {
			t.Errorf("%q: %v", transform, got)
		}
		seen, _, err := load.Loader{}.Picture(t.Context(), source.Bytes("1.png", wide), opt)
		if err != nil || !bytes.Equal(seen, ds.Train.U8[:256]) {
			t.Errorf("%q: a model is shown %v, %v", transform, seen, err)
		}
		if want := transform; want != "" && ds.Transform != want || want == "" && ds.Transform != run.TransformFit {
			t.Errorf("%q: the data say %q", transform, ds.Transform)
		}
	}
	_, _, err := load.Load(t.Context(), []source.File{source.Bytes("x.zip", datatest.Zip("a/1.png", wide, "b/1.png", wide))}, nil, run.CSV{Image: run.Image{Transform: "squeeze"}}, nil)
	if err == nil || !strings.Contains(err.Error(), "image.transform") || !strings.Contains(err.Error(), "fit, stretch or crop") {
		t.Errorf("a transform that there is not: %v", err)
	}
}

// TestPicturesAreSeenInTrainingsOrder: pictures that a model answers are those that training reads, in its order.
func TestPicturesAreSeenInTrainingsOrder(t *testing.T) {
	parts := []any{"d/dog/2.png", datatest.Grey(4, 4, 9), "d/cat/.ipynb_checkpoints/1-checkpoint.png", datatest.Grey(4, 4, 7), "d/cat/1.png", datatest.Grey(4, 4, 5), "d/cat/bad.png", "x", "d/._cat.png", "x", "d/cat/10.png", datatest.Grey(4, 8, 6)}
	for how, files := range map[string][]source.File{"zip": {source.Bytes("d.zip", datatest.Zip(parts...))}, "folder": loose(parts)} {
		opt := run.CSV{TestShare: -1, BadRows: "skip", Image: run.Image{Size: []int{4}, Channels: 1}}
		ds, _, err := load.Load(t.Context(), files, nil, opt, nil)
		if err != nil {
			t.Fatal(err)
		}
		var pixels []uint8
		var names, bad []string
		warnings, err := load.Loader{}.EachPicture(t.Context(), files, opt, nil, func(name string, p []uint8, err error) error {
			if err != nil {
				bad = append(bad, name)
			} else {
				names, pixels = append(names, name), append(pixels, p...)
			}
			return nil
		})
		if err != nil || !bytes.Equal(pixels, ds.Train.U8) || len(names) != 3 || !slices.Equal(bad, []string{"d/cat/bad.png"}) || len(warnings) != 1 || !strings.Contains(warnings[0], "1 files in hidden folders") {
			t.Errorf("%s: %v and %v, %v, %v: %v, not %v", how, names, bad, warnings, err, pixels, ds.Train.U8)
		}
	}
	_, err := load.Loader{}.EachPicture(t.Context(), []source.File{source.Bytes("a.csv", []byte("x,y\n1,a\n2,b\n"))}, run.CSV{}, nil, nil)
	if e, ok := err.(*data.Error); !ok || !strings.Contains(e.Error(), "a csv file") {
		t.Errorf("a table: %v", err)
	}
}
