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
