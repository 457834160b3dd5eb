package format_test

import (
	"bytes"
	"slices"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

func TestLoadIDX(t *testing.T) {
	img, lab := datatest.Images(30, 4, 5, 3)
	testImg, testLab := datatest.Images(6, 4, 5, 3)
	for name, train := range map[string][]source.File{
		"plain":      {source.Bytes("a", img), source.Bytes("b", lab)},
		"turned":     {source.Bytes("a", lab), source.Bytes("b", img)},
		"gzip":       {source.Bytes("a.gz", datatest.GzipOf(img)), source.Bytes("b.gz", datatest.GzipOf(lab))},
		"gzip, mute": {source.Bytes("a", datatest.GzipOf(img)), source.Bytes("b", lab)},
	} {
		ds, r := loadtest.Read(t, run.CSV{}, train, source.Bytes("c", testLab), source.Bytes("d", testImg))
		if ds.Train.N != 30 || ds.Test.N != 6 || !slices.Equal(ds.Shape, []int{4, 5}) || ds.Outputs != 3 {
			t.Errorf("%s: %d + %d rows, shape %v, %d classes", name, ds.Train.N, ds.Test.N, ds.Shape, ds.Outputs)
		}
		if !bytes.Equal(ds.Train.U8, img[16:]) || ds.Train.Y[4] != 1 || ds.Bounds[19] != (data.Bound{Lo: 0, Hi: 255}) {
			t.Errorf("%s: pixels, labels or bounds differ", name)
		}
		if len(r.Preview.Images) != 10 || len(r.Preview.Images[0]) != 20 || r.Format != "idx" || r.Preview.Labels[1] != "1" {
			t.Errorf("%s: report %+v", name, r)
		}
	}
}

func FuzzIDX(f *testing.F) {
	img, lab := datatest.Images(12, 3, 2, 3)
	f.Add(img, lab)
	f.Add(datatest.GzipOf(img), lab)
	f.Add(lab, datatest.GzipOf(img))
	f.Add(img[:20], lab)
	f.Add(img, lab[:9])
	f.Add(datatest.GzipOf(img)[:20], datatest.GzipOf(lab))
	f.Add(datatest.IDX(nil, 1<<31, 1<<31, 1<<31, 1<<31), lab)
	f.Add(datatest.IDX([]byte{1, 2, 3, 4}, 2, 2), datatest.IDX([]byte{0, 1}, 2))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		loadtest.Sound(t, []source.File{source.Bytes("images-idx3", a), source.Bytes("labels-idx1", b)}, nil, run.CSV{})
		loadtest.Sound(t, []source.File{source.Bytes("a-idx", img), source.Bytes("b-idx", lab)}, []source.File{source.Bytes("c-idx", a), source.Bytes("d-idx", b)}, run.CSV{})
	})
}
