package load_test

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/run"
)

func TestMNIST(t *testing.T) {
	ds, _ := loadtest.Read(t, run.CSV{}, datatest.Shared(t, "mnist/train-labels-idx1-ubyte.gz", "mnist/train-images-idx3-ubyte.gz"),
		datatest.Shared(t, "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz")...)
	if ds.Train.N != 60000 || ds.Test.N != 10000 || !slices.Equal(ds.Shape, []int{28, 28}) {
		t.Fatalf("%d + %d rows of shape %v", ds.Train.N, ds.Test.N, ds.Shape)
	}
	if l := datatest.Labels(ds.Train.Y, 10); !slices.Equal(l, []int{5, 0, 4, 1, 9, 2, 1, 3, 1, 4}) {
		t.Errorf("first labels %v", l)
	}
	if l := datatest.Labels(ds.Test.Y, 10); !slices.Equal(l, []int{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}) {
		t.Errorf("first test labels %v", l)
	}
	if c := datatest.Counts(ds, ds.Train); !slices.Equal(c, []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}) {
		t.Errorf("class counts %v", c)
	}
	// The published md5 of the uncompressed test images covers the header.
	h := md5.New()
	h.Write(datatest.IDX(ds.Test.U8, 10000, 28, 28))
	if sum := hex.EncodeToString(h.Sum(nil)); sum != "2646ac647ad5339dbf082846283269ea" {
		t.Errorf("md5 of the test images %s", sum)
	}
}

func TestFashionMNIST(t *testing.T) {
	ds, _ := loadtest.Read(t, run.CSV{TestShare: -1}, datatest.Shared(t, "fashion-mnist/t10k-images-idx3-ubyte.gz", "fashion-mnist/t10k-labels-idx1-ubyte.gz"))
	if l := datatest.Labels(ds.Train.Y, 10); !slices.Equal(l, []int{9, 2, 1, 1, 6, 1, 4, 6, 5, 7}) || ds.Train.N != 10000 {
		t.Errorf("%d rows, first labels %v", ds.Train.N, l)
	}
}

func TestCIFAR10(t *testing.T) {
	ds, _ := loadtest.Read(t, run.CSV{TestShare: -1}, datatest.Shared(t, "cifar-10/test_10k.bin.gz"))
	for c, n := range datatest.Counts(ds, ds.Train) {
		if n != 1000 {
			t.Errorf("%d of class %d", n, c)
		}
	}
	if ds.Train.N != 10000 || !slices.Equal(ds.Shape, []int{3, 32, 32}) {
		t.Errorf("%d rows of shape %v", ds.Train.N, ds.Shape)
	}
}

func TestAdult(t *testing.T) {
	train, test := datatest.Shared(t, "tabular/adult.data"), datatest.Shared(t, "tabular/adult.test")
	_, r, err := load.Load(t.Context(), train, test, run.CSV{}, nil)
	if err == nil || !strings.Contains(err.Error(), "column 2 (1836), column 7 (1843), column 14 (583)") || r.Rows != 32561 {
		t.Errorf("%d rows, error %v", r.Rows, err)
	}
	ds, r := loadtest.Read(t, run.CSV{Missing: "drop"}, train, test...)
	if ds.Train.N != 32561-2399 || ds.Test.N != 16281-1221 || ds.Features != 105 || r.Dropped != 2399+1221 {
		t.Errorf("drop: %d + %d rows of %d features", ds.Train.N, ds.Test.N, ds.Features)
	}
	ds, r = loadtest.Read(t, run.CSV{Missing: "zero"}, train, test...)
	if ds.Features != 108 || !slices.Equal(datatest.Counts(ds, ds.Train), []int{24720, 7841}) || !slices.Equal(datatest.Counts(ds, ds.Test), []int{12435, 3846}) {
		t.Errorf("zero: %d features, classes %v and %v", ds.Features, datatest.Counts(ds, ds.Train), datatest.Counts(ds, ds.Test))
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
			ds, _ := loadtest.Read(t, run.CSV{TestShare: -1}, datatest.Shared(t, "tabular/"+name))
			if ds.Train.N != want.rows || ds.Features != want.features || !slices.Equal(ds.Classes, want.classes) || !slices.Equal(datatest.Counts(ds, ds.Train), want.counts) {
				t.Errorf("%d rows of %d features, classes %q with %v rows", ds.Train.N, ds.Features, ds.Classes, datatest.Counts(ds, ds.Train))
			}
		})
	}
}
