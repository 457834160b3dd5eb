package format_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// matFile writes a MATLAB file of elements.
func matFile(order binary.AppendByteOrder, elements ...[]byte) []byte {
	b := append([]byte("MATLAB 5.0 MAT-file, made by a test"), bytes.Repeat([]byte(" "), 89)...)[:124]
	b = order.AppendUint16(b, 0x0100)
	b = order.AppendUint16(b, 0x4d49)
	return append(b, slices.Concat(elements...)...)
}

// matElement writes an element, filled up to eight bytes.
func matElement(order binary.AppendByteOrder, kind uint32, b []byte) []byte {
	e := order.AppendUint32(order.AppendUint32(nil, kind), uint32(len(b)))
	e = append(e, b...)
	return append(e, make([]byte, (8-len(b)%8)%8)...)
}

// matArray writes an array of a class, whose values are of a type.
func matArray(order binary.AppendByteOrder, name string, class, kind uint32, values []byte, dims ...int) []byte {
	var d []byte
	for _, n := range dims {
		d = order.AppendUint32(d, uint32(n))
	}
	flags := order.AppendUint32(order.AppendUint32(nil, class), 0)
	return matElement(order, 14, slices.Concat(matElement(order, 6, flags), matElement(order, 5, d), matElement(order, 1, []byte(name)), matElement(order, kind, values)))
}

// matPacked packs an element.
func matPacked(order binary.AppendByteOrder, element []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(element)
	z.Close()
	return append(order.AppendUint32(order.AppendUint32(nil, 15), uint32(b.Len())), b.Bytes()...)
}

// matPictures returns n pictures of h×w pixels with planes as MATLAB has them: the value at row r and
// column c of plane p of picture i is i+100p+10r+c.
func matPictures(n, h, w, planes int) []byte {
	var b []byte
	for i := range n {
		for p := range planes {
			for c := range w {
				for r := range h {
					b = append(b, byte(i+100*p+10*r+c))
				}
			}
		}
	}
	return b
}

// doubles writes numbers of eight bytes.
func doubles(order binary.AppendByteOrder, values ...float64) (b []byte) {
	for _, v := range values {
		b = order.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func TestPicturesOfMATLABAreTurned(t *testing.T) {
	little, big := binary.LittleEndian, binary.BigEndian
	y := []byte{1, 10, 2, 10, 1}
	other := matArray(little, "meta", 2, 1, nil, 1, 1) // a struct
	x := matArray(little, "X", 9, 2, matPictures(5, 3, 2, 3), 3, 2, 3, 5)
	for name, file := range map[string][]byte{
		"plain":                  matFile(little, x, matArray(little, "y", 9, 2, y, 5, 1)),
		"packed":                 matFile(little, matPacked(little, x), matPacked(little, matArray(little, "y", 9, 2, y, 5, 1))),
		"labels first":           matFile(little, other, matArray(little, "y", 6, 9, doubles(little, 1, 10, 2, 10, 1), 5, 1), matPacked(little, x)),
		"doubles kept as bytes":  matFile(little, x, matArray(little, "y", 6, 2, y, 1, 5)),
		"the other order":        matFile(big, matArray(big, "X", 9, 2, matPictures(5, 3, 2, 3), 3, 2, 3, 5), matArray(big, "y", 6, 9, doubles(big, 1, 10, 2, 10, 1), 5, 1)),
		"gzip":                   datatest.GzipOf(matFile(little, matPacked(little, x), matArray(little, "y", 9, 2, y, 5, 1))),
		"beside what is skipped": matFile(little, other, matElement(little, 14, nil), matElement(little, 77, []byte("later")), x, matArray(little, "y", 9, 2, y, 5, 1)),
	} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("train_32x32.mat", file)}, source.Bytes("test_32x32.mat", file))
		if r.Format != "mat" || !slices.Equal(ds.Shape, []int{3, 3, 2}) || !slices.Equal(ds.Classes, []string{"0", "1", "2"}) {
			t.Fatalf("%s: %s of shape %v, classes %q", name, r.Format, ds.Shape, ds.Classes)
		}
		if !slices.Equal(ds.Train.Y, []float32{1, 0, 2, 0, 1}) || !slices.Equal(ds.Test.Y, ds.Train.Y) {
			t.Errorf("%s: classes of the rows %v and %v", name, ds.Train.Y, ds.Test.Y)
		}
		want := []byte{4, 5, 14, 15, 24, 25, 104, 105, 114, 115, 124, 125, 204, 205, 214, 215, 224, 225}
		if last := ds.Train.U8[4*18:]; !bytes.Equal(last, want) || !bytes.Equal(ds.Test.U8, ds.Train.U8) {
			t.Errorf("%s: the last picture is %v, want %v", name, last, want)
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), "label 10 is read as the digit 0") {
			t.Errorf("%s: %q", name, r.Warnings)
		}
	}
	grey := matFile(little, matArray(little, "x", 9, 2, matPictures(4, 2, 2, 1), 2, 2, 1, 4), matArray(little, "Y", 9, 2, []byte{10, 0, 10, 1}, 4, 1))
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("a.mat", grey), source.Bytes("b.mat", grey)})
	if ds.Train.N != 8 || !slices.Equal(ds.Shape, []int{2, 2}) || !slices.Equal(ds.Classes, []string{"0", "1", "10"}) {
		t.Errorf("two files of grey pictures: %d rows of shape %v, classes %q", ds.Train.N, ds.Shape, ds.Classes)
	}
}

// hostileMAT are files that say what is not so.
func hostileMAT() map[string]struct {
	file []byte
	want string
} {
	o := binary.LittleEndian
	y := matArray(o, "y", 9, 2, []byte{0, 1}, 2, 1)
	x := matArray(o, "X", 9, 2, matPictures(2, 2, 2, 3), 2, 2, 3, 2)
	promise := func(dims ...int) []byte { return matArray(o, "X", 9, 2, matPictures(2, 2, 2, 3), dims...) }
	damaged := matPacked(o, x)
	damaged[len(damaged)-2]++
	deep := x
	for range 200 {
		deep = matElement(o, 14, slices.Concat(matElement(o, 6, make([]byte, 8)), deep))
	}
	packedDeep := x
	for range 20 {
		packedDeep = matPacked(o, packedDeep)
	}
	huge := o.AppendUint32(o.AppendUint32(nil, 14), math.MaxUint32)
	bomb := matPacked(o, matArray(o, "X", 9, 2, make([]byte, 40<<20), 1<<5, 1<<5, 1, 40<<10))
	return map[string]struct {
		file []byte
		want string
	}{
		"header alone":                 {matFile(o), "found none"},
		"header cut":                   {matFile(o, x, y)[:130], "ends early"},
		"values cut":                   {matFile(o, x, y)[:200], ""},
		"an element beyond the file":   {matFile(o, y, huge), "one of 4294967295"},
		"rows that are not there":      {matFile(o, promise(2, 2, 3, 1<<30), y), "as many bytes as X"},
		"dimensions that overflow":     {matFile(o, promise(1<<30, 1<<30, 1<<30, 1<<30), y), "as many bytes as X"},
		"a negative dimension":         {matFile(o, promise(-2, 2, 3, 2), y), "as many bytes as X"},
		"dimensions of zero":           {matFile(o, matArray(o, "X", 9, 2, nil, 0, 2, 3, 2), y), "rows of data"},
		"packed rows not there":        {matFile(o, matPacked(o, promise(2, 2, 3, 1<<30)), y), "as many bytes as X"},
		"packed, and damaged":          {matFile(o, damaged, y), ""},
		"packed, and no zlib":          {matFile(o, matElement(o, 15, []byte("not zlib at all!")), y), "sound data packed by zlib"},
		"a name without end":           {matFile(o, matArray(o, strings.Repeat("x", 1000), 9, 2, nil, 1, 1), x, y), "at most 256 bytes"},
		"deep in each other":           {matFile(o, deep, y), "arrays X"},
		"packed in each other":         {matFile(o, packedDeep, y), "arrays X"},
		"no labels":                    {matFile(o, x), "X (2×2×3×2 of uint8)"},
		"a label less":                 {matFile(o, x, matArray(o, "y", 9, 2, []byte{1}, 1, 1)), "2 labels, one for each picture"},
		"a label that is none":         {matFile(o, x, matArray(o, "y", 6, 9, doubles(o, 1, math.NaN()), 2, 1)), "row 2: expected a label that is a whole number"},
		"one class":                    {matFile(o, x, matArray(o, "y", 9, 2, []byte{3, 3}, 2, 1)), "at least two classes"},
		"pictures of doubles":          {matFile(o, matArray(o, "X", 6, 9, doubles(o, make([]float64, 24)...), 2, 2, 3, 2), y), "of double"},
		"a bomb":                       {matFile(o, bomb, y), "40960 labels, one for each picture"},
		"a small element that is long": {matFile(o, append(o.AppendUint32(nil, 9<<16|14), 0, 0, 0, 0), x, y), "at most 4 bytes"},
		"small elements without end":   {matFile(o, bytes.Repeat(append(o.AppendUint32(nil, 1<<16|1), 0, 0, 0, 0), 1<<17)), "found none"},
	}
}

func TestHostileMATLABFilesAreRefused(t *testing.T) {
	for name, tc := range hostileMAT() {
		loadtest.Refused(t, name, []source.File{source.Bytes("a.mat", tc.file)}, tc.want)
	}
	hdf := append([]byte("MATLAB 7.3 MAT-file"), make([]byte, 500)...)
	loadtest.Refused(t, "version 7.3", []source.File{source.Bytes("a.mat", hdf)}, "save it with -v7")
}

func FuzzMAT(f *testing.F) {
	o := binary.LittleEndian
	x, y := matArray(o, "X", 9, 2, matPictures(2, 2, 2, 3), 2, 2, 3, 2), matArray(o, "y", 6, 9, doubles(o, 1, 10), 2, 1)
	f.Add(matFile(o, x, y))
	f.Add(matFile(o, matPacked(o, x), matPacked(o, y)))
	f.Add(matFile(binary.BigEndian, x))
	for _, tc := range hostileMAT() {
		if len(tc.file) < 1<<12 {
			f.Add(tc.file)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file := []source.File{source.Bytes("a.mat", b)}
		loadtest.Sound(t, file, nil, run.CSV{})
		loadtest.Sound(t, file, file, run.CSV{})
	})
}
