package format_test

import (
	"bytes"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

func TestLoadCIFAR100(t *testing.T) {
	b := datatest.CIFAR100(150)
	for name, tc := range map[string]struct {
		file    source.File
		labels  string
		classes int
		last    string
		second  float32 // the class of row 101
	}{
		"fine":        {source.Bytes("train.bin", b), "", 100, "worm", 1},
		"fine, said":  {source.Bytes("train.bin", datatest.GzipOf(b)), "fine", 100, "worm", 1},
		"coarse":      {source.Bytes("train.bin", b), "coarse", 20, "vehicles_2", 1},
		"one by size": {source.Bytes("x", append(make([]byte, 2+datatest.CIFARPixels), b[:(2+datatest.CIFARPixels)*2]...)), "", 100, "worm", 0},
	} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{Labels: tc.labels}), []source.File{tc.file})
		if r.Format != "cifar-100" || len(ds.Classes) != tc.classes || ds.Classes[tc.classes-1] != tc.last || ds.Features != datatest.CIFARPixels {
			t.Fatalf("%s: %s, %d classes, the last %s", name, r.Format, len(ds.Classes), ds.Classes[len(ds.Classes)-1])
		}
		if tc.second > 0 && (ds.Train.Y[101] != tc.second || ds.Train.U8[101*datatest.CIFARPixels] != (200+101+2)%256) {
			t.Errorf("%s: row 101 is of class %v and begins with %d", name, ds.Train.Y[101], ds.Train.U8[101*datatest.CIFARPixels])
		}
	}
	if _, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("b", datatest.CIFAR(3074))}); r.Format != "cifar-10" {
		t.Errorf("records of CIFAR-10, as many as have a size of both: %s", r.Format)
	}
	b[25*3074+1] = 100
	if _, _, err := load.Load(t.Context(), []source.File{source.Bytes("train.bin", b)}, nil, run.CSV{}, nil); err == nil || !strings.Contains(err.Error(), "row 26, byte 76851: expected a label from 0 to 99, found label 100") {
		t.Errorf("a label that is out of range: %v", err)
	}
	if _, _, err := load.Load(t.Context(), []source.File{source.Bytes("train.bin", b[:3074*9])}, nil, run.CSV{Labels: "some"}, nil); err == nil {
		t.Error("no error for labels that there are none of")
	}
}

func TestLoadCIFAR(t *testing.T) {
	b := datatest.CIFAR(25)
	ds, _ := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("data_batch_1.bin", b), source.Bytes("x", datatest.GzipOf(b))}, source.Bytes("y", b))
	if ds.Train.N != 50 || ds.Test.N != 25 || ds.Classes[9] != "truck" {
		t.Errorf("%d + %d rows, classes %v", ds.Train.N, ds.Test.N, ds.Classes)
	}
	if row := ds.Train.U8[26*datatest.CIFARPixels : 27*datatest.CIFARPixels]; !bytes.Equal(row, b[datatest.CIFARRecord+1:2*datatest.CIFARRecord]) || ds.Train.Y[26] != 1 {
		t.Error("the second file's second record is not where it belongs")
	}
}

func FuzzCIFAR(f *testing.F) {
	f.Add(datatest.CIFAR(3))
	f.Add(datatest.CIFAR(2)[:4000])
	f.Add(datatest.GzipOf(datatest.CIFAR(3)))
	f.Add(datatest.GzipOf(datatest.CIFAR(3))[:30])
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, a []byte) {
		loadtest.Sound(t, []source.File{source.Bytes("cifar.bin", a)}, nil, run.CSV{})
		loadtest.Sound(t, []source.File{source.Bytes("cifar.bin", datatest.CIFAR(3))}, []source.File{source.Bytes("cifar-2.bin", a)}, run.CSV{})
	})
}

// TestPickledCIFARIsRefusedByName: the Python version is refused, and the error says where the other is.
func TestPickledCIFARIsRefusedByName(t *testing.T) {
	batch := append([]byte("\x80\x02}q\x01(U\x0bbatch_labelq\x02U\x15training batch 1 of 5q\x03U\x06labelsq\x04]q\x05("), bytes.Repeat([]byte("K\x06K\x09"), 3000)...)
	hundred := append([]byte("\x80\x02}q\x01(U\tfilenamesq\x02]q\x03(U\x16bos_taurus_s_000507.pngq\x04"), bytes.Repeat([]byte("U\x05a.pngq\x05"), 30_000)...)
	ten, fine := "cifar-10-binary.tar.gz, from https://www.cs.toronto.edu/~kriz/cifar.html", "cifar-100-binary.tar.gz, from https://www.cs.toronto.edu/~kriz/cifar.html"
	for name, tc := range map[string]struct {
		b    []byte
		want string
	}{
		"data_batch_1":           {batch, ten},
		"renamed":                {batch, ten},
		"data_batch_1.gz":        {datatest.GzipOf(batch), ten},
		"cifar-10-python.tar.gz": {datatest.GzipOf(datatest.Tar("cifar-10-batches-py/batches.meta", "\x80\x02}q", "cifar-10-batches-py/data_batch_1", batch, "cifar-10-batches-py/readme.html", "<html>")), ten},
		"cifar.zip":              {datatest.Zip("cifar-10-batches-py/data_batch_1", batch), ten},
		"batches.tar":            {datatest.Tar("data_batch_1", batch, "data_batch_2", batch), ten},
		"train":                  {hundred, fine},
		"cifar-100-python.tgz":   {datatest.GzipOf(datatest.Tar("cifar-100-python/file.txt~", "x", "cifar-100-python/train", hundred)), fine},
	} {
		loadtest.Refused(t, name, []source.File{source.Bytes(name, tc.b)}, tc.want)
		loadtest.Refused(t, name, []source.File{source.Bytes(name, tc.b)}, "binary version")
	}
	loadtest.Refused(t, "another pickle", []source.File{source.Bytes("m.pkl", []byte("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94."))}, "found a Python pickle")
}
