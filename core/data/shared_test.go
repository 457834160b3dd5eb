package data

import (
	"crypto/md5"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
)

// onDisk is a File of the file system.
type onDisk string

func (f onDisk) Name() string                 { return filepath.Base(string(f)) }
func (f onDisk) Open() (io.ReadCloser, error) { return os.Open(string(f)) }
func (f onDisk) Size() int64 {
	info, err := os.Stat(string(f))
	if err != nil {
		return -1
	}
	return info.Size()
}

// shared returns files of the optional folder of public data sets beside the
// repository, and skips the test where it is not; every format is also tested
// on generated files.
func shared(t *testing.T, names ...string) []File {
	t.Helper()
	root := os.Getenv("CLIPSCOPE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	var files []File
	for _, name := range names {
		path := filepath.Join(root, "data", filepath.FromSlash(name))
		if _, err := os.Stat(path); err != nil {
			t.Skipf("no %s: not tested on the published files", name)
		}
		files = append(files, onDisk(path))
	}
	t.Logf("tested on the published files %v", names)
	return files
}

func labels(y []float32, n int) []int {
	var l []int
	for _, v := range y[:n] {
		l = append(l, int(v))
	}
	return l
}

func counts(ds *Dataset, sp Split) []int {
	c := make([]int, ds.Outputs)
	for _, y := range sp.Y {
		c[int(y)]++
	}
	return c
}

func TestMNIST(t *testing.T) {
	ds, _ := load(t, run.CSV{}, shared(t, "mnist/train-labels-idx1-ubyte.gz", "mnist/train-images-idx3-ubyte.gz"),
		shared(t, "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz")...)
	if ds.Train.N != 60000 || ds.Test.N != 10000 || !slices.Equal(ds.Shape, []int{28, 28}) {
		t.Fatalf("%d + %d rows of shape %v", ds.Train.N, ds.Test.N, ds.Shape)
	}
	if l := labels(ds.Train.Y, 10); !slices.Equal(l, []int{5, 0, 4, 1, 9, 2, 1, 3, 1, 4}) {
		t.Errorf("first labels %v", l)
	}
	if l := labels(ds.Test.Y, 10); !slices.Equal(l, []int{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}) {
		t.Errorf("first test labels %v", l)
	}
	if c := counts(ds, ds.Train); !slices.Equal(c, []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}) {
		t.Errorf("class counts %v", c)
	}
	// The published md5 of the uncompressed test images covers the header.
	h := md5.New()
	h.Write(idx(ds.Test.U8, 10000, 28, 28))
	if sum := hex.EncodeToString(h.Sum(nil)); sum != "2646ac647ad5339dbf082846283269ea" {
		t.Errorf("md5 of the test images %s", sum)
	}
}

func TestFashionMNIST(t *testing.T) {
	ds, _ := load(t, run.CSV{TestShare: -1}, shared(t, "fashion-mnist/t10k-images-idx3-ubyte.gz", "fashion-mnist/t10k-labels-idx1-ubyte.gz"))
	if l := labels(ds.Train.Y, 10); !slices.Equal(l, []int{9, 2, 1, 1, 6, 1, 4, 6, 5, 7}) || ds.Train.N != 10000 {
		t.Errorf("%d rows, first labels %v", ds.Train.N, l)
	}
}

func TestCIFAR10(t *testing.T) {
	ds, _ := load(t, run.CSV{TestShare: -1}, shared(t, "cifar-10/test_10k.bin.gz"))
	for c, n := range counts(ds, ds.Train) {
		if n != 1000 {
			t.Errorf("%d of class %d", n, c)
		}
	}
	if ds.Train.N != 10000 || !slices.Equal(ds.Shape, []int{3, 32, 32}) {
		t.Errorf("%d rows of shape %v", ds.Train.N, ds.Shape)
	}
}

func TestAdult(t *testing.T) {
	train, test := shared(t, "tabular/adult.data"), shared(t, "tabular/adult.test")
	_, r, err := Load(t.Context(), train, test, run.CSV{}, nil)
	if err == nil || !strings.Contains(err.Error(), "column 2 (1836), column 7 (1843), column 14 (583)") || r.Rows != 32561 {
		t.Errorf("%d rows, error %v", r.Rows, err)
	}
	ds, r := load(t, run.CSV{Missing: "drop"}, train, test...)
	if ds.Train.N != 32561-2399 || ds.Test.N != 16281-1221 || ds.Features != 105 || r.Dropped != 2399+1221 {
		t.Errorf("drop: %d + %d rows of %d features", ds.Train.N, ds.Test.N, ds.Features)
	}
	ds, r = load(t, run.CSV{Missing: "zero"}, train, test...)
	if ds.Features != 108 || !slices.Equal(counts(ds, ds.Train), []int{24720, 7841}) || !slices.Equal(counts(ds, ds.Test), []int{12435, 3846}) {
		t.Errorf("zero: %d features, classes %v and %v", ds.Features, counts(ds, ds.Train), counts(ds, ds.Test))
	}
	if !slices.Equal(ds.Classes, []string{"<=50K", ">50K"}) || !strings.Contains(strings.Join(r.Warnings, "\n"), "1x3 Cross validator") {
		t.Errorf("classes %q, warnings %q", ds.Classes, r.Warnings)
	}
}

func TestSmallTables(t *testing.T) {
	for name, want := range map[string]struct {
		rows, features int
		classes        []string
		counts         []int
	}{
		"iris.csv":          {150, 4, []string{"setosa", "versicolor", "virginica"}, []int{50, 50, 50}},
		"breast_cancer.csv": {569, 30, []string{"malignant", "benign"}, []int{212, 357}},
		"wdbc.data":         {569, 30, []string{"B", "M"}, []int{357, 212}},
	} {
		t.Run(name, func(t *testing.T) {
			ds, _ := load(t, run.CSV{TestShare: -1}, shared(t, "tabular/"+name))
			if ds.Train.N != want.rows || ds.Features != want.features || !slices.Equal(ds.Classes, want.classes) || !slices.Equal(counts(ds, ds.Train), want.counts) {
				t.Errorf("%d rows of %d features, classes %q with %v rows", ds.Train.N, ds.Features, ds.Classes, counts(ds, ds.Train))
			}
		})
	}
}
