package format_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestPictures: a zip archive of folders.
func TestPictures(t *testing.T) {
	red, blue := datatest.PNG(datatest.Drawn(8, 6, datatest.Plain(color.NRGBA{255, 0, 0, 255}))), datatest.JPEG(datatest.Drawn(8, 6, datatest.Plain(color.NRGBA{0, 0, 255, 255})))
	b := datatest.Zip("set/", "", "set/train/red/1.png", red, "set/train/blue/a.JPG", blue, "set/train/red/2.png", red, "set/val/blue/3.jpeg", blue, "set/train/red/4.webp", "x", "set/README.txt", "hello", "__MACOSX/set/._1.png", "x")
	ds, r := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("set.zip", b)})
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

// TestPlacesOfPictures: what the folders say.
func TestPlacesOfPictures(t *testing.T) {
	g := datatest.Grey(4, 4, 9)
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
		var files []source.File
		for p := range strings.FieldsSeq(tc.paths) {
			parts = append(parts, p, g)
			files = append(files, source.Bytes("top/"+p, g))
		}
		for how, files := range map[string][]source.File{"archive": {source.Bytes("a.zip", datatest.Zip(parts...))}, "folder": append(files, source.Bytes("top/.DS_Store", []byte{0, 1}))} {
			ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), files)
			if strings.Join(ds.Classes, " ") != tc.classes || ds.Train.N != tc.train || ds.Test.N != tc.test || !slices.Equal(ds.Shape, []int{4, 4}) || len(r.Files) != 1 {
				t.Errorf("%s, %s: %v, %d and %d rows of %v, %v", name, how, ds.Classes, ds.Train.N, ds.Test.N, ds.Shape, r.Files)
			}
		}
	}
	// Archives given for testing are for that.
	ds, _ := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("a.zip", datatest.Zip("a/1.png", g, "b/1.png", g))}, source.Bytes("b.zip", datatest.Zip("x/a/1.png", g, "x/b/1.png", g)))
	if ds.Train.N != 2 || ds.Test.N != 2 || ds.Test.Y[1] != 1 {
		t.Errorf("%d and %d rows", ds.Train.N, ds.Test.N)
	}
}

// TestPicturesOfTables: a table says what pictures show, in the archive or beside it.
func TestPicturesOfTables(t *testing.T) {
	var parts []any
	for i := range 6 {
		parts = append(parts, fmt.Sprintf("img/%d.png", i), datatest.Grey(4, 4, uint8(10*i)))
	}
	archive := func(more ...any) source.File {
		return source.Bytes("a.zip", datatest.Zip(append(slices.Clone(parts), more...)...))
	}
	const table = "filename,label\n0.png,no\n1.png,yes\n2.png,no\n3.png,yes\n4.png,no\n"
	for name, tc := range map[string]struct {
		files   []source.File
		opt     run.CSV
		classes string
		train   int
		test    int
		last    float32
	}{
		"inside":          {[]source.File{archive("labels.csv", table)}, run.CSV{}, "no yes", 5, 0, 0},
		"beside":          {[]source.File{source.Bytes("labels.csv", []byte(table)), archive()}, run.CSV{}, "no yes", 5, 0, 0},
		"paths":           {[]source.File{archive("l.csv", "label;path\nno;./img/0.png\nyes;img/1.png\nno;data/img/5.png\n")}, run.CSV{}, "no yes", 3, 0, 0},
		"stems":           {[]source.File{archive("l.csv", "id,breed\n0,b\n1,a\n5,c\n")}, run.CSV{}, "a b c", 3, 0, 2},
		"named as labels": {[]source.File{archive("l.csv", "label,file\n0,0.png\n1,1.png\n0,2.png\n1,3.png\n0,4.png\n")}, run.CSV{}, "0 1", 5, 0, 0},
		"no header":       {[]source.File{archive("l.tsv", "0.png\tb\n1.png\ta\n2.png\tb\n")}, run.CSV{}, "a b", 3, 0, 1},
		"chosen":          {[]source.File{archive("l.csv", "file,width,kind\n0.png,1,b\n1.png,1,a\n2.png,1,c\n")}, run.CSV{Label: "kind"}, "a b c", 3, 0, 2},
		"two tables":      {[]source.File{archive("train.csv", "file,label\n0.png,b\n1.png,a\n", "test.csv", "file,label\n4.png,a\n5.png,b\n")}, run.CSV{}, "a b", 2, 2, 0},
		"numbers":         {[]source.File{archive("l.csv", "file,label\n0.png,0.5\n1.png,-2\n2.png,7\n")}, run.CSV{Task: "regression"}, "", 3, 0, 7},
		"as in a folder":  {[]source.File{source.Bytes("top/a/0.png", datatest.Grey(4, 4, 1)), source.Bytes("top/b/1.png", datatest.Grey(4, 4, 2)), source.Bytes("top/l.csv", []byte("f,label\n0.png,x\n1.png,y\n"))}, run.CSV{}, "x y", 2, 0, 1},
	} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(tc.opt), tc.files)
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
		parts = append(parts, fmt.Sprintf("img/%d.png", i), datatest.Grey(4, 4, uint8(i)))
	}
	loadtest.Refused(t, "a table of other pictures", []source.File{source.Bytes("a.zip", datatest.Zip(append(parts, "l.csv", table)...))}, "12 pictures without either")
}

// TestSizesOfPictures: what pictures of several sizes are brought to.
func TestSizesOfPictures(t *testing.T) {
	colour := datatest.PNG(datatest.Drawn(100, 70, datatest.Plain(color.NRGBA{10, 200, 30, 255})))
	small, large := datatest.Zip("a/1.png", datatest.Grey(28, 20, 1), "a/2.png", datatest.Grey(28, 20, 1), "b/1.png", datatest.Grey(28, 30, 1)), datatest.Zip("a/1.png", datatest.Grey(200, 200, 7), "b/1.png", colour)
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
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{Image: tc.image}), []source.File{source.Bytes("a.zip", tc.b)})
		if said := strings.Join(r.Warnings, "\n"); !slices.Equal(ds.Shape, tc.shape) || !strings.Contains(said, tc.said) {
			t.Errorf("%s: %v, %s", name, ds.Shape, said)
		}
	}
	for _, bad := range []run.Image{{Size: []int{0}}, {Size: []int{-1, 3}}, {Size: []int{1, 2, 3}}, {Size: []int{2000}}, {Channels: 2}, {Size: []int{500}, Channels: 3}} {
		if _, _, err := load.Load(t.Context(), []source.File{source.Bytes("a.zip", small)}, nil, run.CSV{Image: bad}, nil); err == nil || len(err.Error()) < 40 {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestPicturesAreSkipped: what cannot be read is left out where that is chosen, unless
// it is most.
func TestPicturesAreSkipped(t *testing.T) {
	g := datatest.Grey(9, 9, 3)
	b := datatest.Zip("a/1.png", g, "a/2.png", "nothing", "b/1.png", g, "b/2.png", g[:30])
	if _, _, err := load.Load(t.Context(), []source.File{source.Bytes("x.zip", b)}, nil, run.CSV{}, nil); err == nil || !strings.Contains(err.Error(), "x.zip/a/2.png: expected a PNG or JPEG picture, found one that begins with 6e 6f 74 68") {
		t.Errorf("a bad picture: %v", err)
	}
	ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{BadRows: "skip"}), []source.File{source.Bytes("x.zip", b)})
	if ds.Train.N != 2 || r.BadRows != 2 || !strings.Contains(strings.Join(r.Warnings, "\n"), "2 pictures are left out because they cannot be read. The first: x.zip/a/2.png") {
		t.Errorf("%d rows, %d bad, %v", ds.Train.N, r.BadRows, r.Warnings)
	}
	b = datatest.Zip("a/1.png", g, "a/2.png", "x", "b/1.png", g, "b/2.png", "x", "b/3.png", "x")
	if _, _, err := load.Load(t.Context(), []source.File{source.Bytes("x.zip", b)}, nil, run.CSV{BadRows: "skip"}, nil); err == nil || !strings.Contains(err.Error(), "most pictures to be readable") {
		t.Errorf("mostly bad: %v", err)
	}
}

// TestPicturesProgress: reading pictures reports how far it is.
func TestPicturesProgress(t *testing.T) {
	var parts []any
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		m := image.NewGray(image.Rect(0, 0, 200, 200))
		for k := range m.Pix {
			m.Pix[k] = uint8(rng.IntN(256))
		}
		parts = append(parts, fmt.Sprintf("%d/%d.png", i%2, i), datatest.PNG(m))
	}
	f := source.Bytes("a.zip", datatest.Zip(parts...))
	var seen []source.Progress
	if _, _, err := load.Load(t.Context(), []source.File{f}, nil, run.CSV{}, func(p source.Progress) { seen = append(seen, p) }); err != nil {
		t.Fatal(err)
	}
	if last := seen[len(seen)-1]; len(seen) < 2 || last.Done != f.Size() || last.Total != f.Size() || last.File != "a.zip" || seen[0].Done > f.Size() {
		t.Errorf("%v", seen)
	}
}

func FuzzPictures(f *testing.F) {
	g := datatest.Grey(5, 4, 3)
	for _, b := range [][]byte{g, datatest.JPEG(datatest.Drawn(5, 4, datatest.Plain(color.White))), datatest.PNG(datatest.Drawn(3, 3, datatest.Plain(color.NRGBA{1, 2, 3, 4}))), g[:50], []byte("\xff\xd8\xff\xc0")} {
		f.Add(b, "a/1.png", "file,label\n1.png,x\n2.png,y\n")
		f.Add(b, "train/a/1.jpg", "")
		f.Add(b, "train/a/", "")
	}
	f.Fuzz(func(t *testing.T, b []byte, name, table string) {
		if strings.HasSuffix(name, "/") {
			name += "1" // or package zip takes it for a folder, to which nothing is written
		}
		loadtest.Sound(t, []source.File{source.Bytes("a.zip", datatest.Zip("b/2.png", g, name, b, "l.csv", table))}, nil, run.CSV{})
		loadtest.Sound(t, []source.File{source.Bytes("x/b/2.png", g), source.Bytes(name, b), source.Bytes("x/l.csv", []byte(table))}, nil, run.CSV{BadRows: "skip"})
	})
}

// TestImagenetteIsReadAsPublished: its archive has folders, and a table of several columns of labels.
func TestImagenetteIsReadAsPublished(t *testing.T) {
	parts, table := []any{}, "path,noisy_labels_0,noisy_labels_1,is_valid\n"
	for i := range 24 {
		class, role := []string{"n01440764", "n02102040", "n02979186"}[i%3], []string{"train", "val"}[i/18]
		name := fmt.Sprintf("%s/%s/%s_%d.JPEG", role, class, class, i)
		parts = append(parts, "imagenette2-160/"+name, datatest.JPEG(datatest.Drawn(20, 16, datatest.Plain(color.Gray{uint8(9 * i)}))))
		table += fmt.Sprintf("%s,%s,%s,%v\n", name, class, "n0"+fmt.Sprint(i%2), i >= 18)
	}
	parts = append(parts, "imagenette2-160/noisy_imagenette.csv", table)
	for name, b := range map[string][]byte{"imagenette2-160.tgz": datatest.GzipOf(datatest.Tar(parts...)), "imagenette2-160.zip": datatest.Zip(parts...)} {
		ds, r := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes(name, b)})
		if ds.Train.N != 18 || ds.Test.N != 6 || ds.Outputs != 3 || !strings.Contains(strings.Join(r.Warnings, "\n"), "noisy_imagenette.csv is not used: none of its 4 columns is called label") {
			t.Errorf("%s: %d and %d rows, %v", name, ds.Train.N, ds.Test.N, r.Warnings)
		}
		if ds, _ := loadtest.Read(t, run.CSV{Label: "noisy_labels_1"}, []source.File{source.Bytes(name, b)}); !slices.Equal(ds.Classes, []string{"n00", "n01"}) {
			t.Errorf("%s by a column of choice: classes %v", name, ds.Classes)
		}
	}
}
