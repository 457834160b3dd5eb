package format_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestNPZ: an archive as Keras has it for MNIST.
func TestNPZ(t *testing.T) {
	x, y := datatest.Ramp[uint8](20*4*5), make([]uint8, 20)
	for i := range y {
		y[i] = uint8(3 + i%3)
	}
	b := datatest.Zip("x_test.npy", datatest.NPY("|u1", "6, 4, 5", x[:6*20]), "x_train.npy", datatest.NPY("|u1", "20, 4, 5", x), "y_train.npy", datatest.NPY("|u1", "20,", y), "y_test.npy", datatest.NPY("|u1", "6,", y[:6]))
	ds, r := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("mnist.npz", b)})
	if ds.Train.N != 20 || ds.Test.N != 6 || !slices.Equal(ds.Shape, []int{4, 5}) || !bytes.Equal(ds.Train.U8, x) || !slices.Equal(ds.Classes, []string{"3", "4", "5"}) || ds.Train.Y[4] != 1 || ds.Bounds[0] != (data.Bound{Lo: 0, Hi: 255}) {
		t.Errorf("%d and %d rows of %v, classes %v, %v", ds.Train.N, ds.Test.N, ds.Shape, ds.Classes, ds.Bounds[0])
	}
	if r.Format != "numpy" || len(r.Preview.Images) != 10 || ds.Name != "mnist.npz" {
		t.Errorf("%s %s, %d pictures", ds.Name, r.Format, len(r.Preview.Images))
	}
}

// TestNPZWithOthers: what is not needed need not be readable, and what is must be.
func TestNPZWithOthers(t *testing.T) {
	x, y := datatest.NPY("<f4", "12, 3", datatest.Ramp[float32](36)), datatest.NPY("<i8", "12,", datatest.Ramp[int64](12))
	names, seed := datatest.NPY("|O", "1,", make([]byte, 9)), datatest.NPY("<i8", "", []int64{7})
	ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("a.npz", datatest.Zip("class_names.npy", names, "X.npy", x, "y.npy", y, "seed.npy", seed, "none.npy", ""))})
	if said := strings.Join(r.Warnings, "\n"); ds.Train.N != 12 || !strings.Contains(said, "Left out: class_names, seed, none.npy") {
		t.Errorf("%d rows: %s", ds.Train.N, said)
	}
	loadtest.Refused(t, "pickled labels", []source.File{source.Bytes("a.npz", datatest.Zip("X.npy", x, "y.npy", names, "seed.npy", seed))}, "y.npy: expected a NumPy array (NPY), found an array of Python objects")
}

// TestLargeLabels: whole numbers that a float32 cannot tell apart are not made one class.
func TestLargeLabels(t *testing.T) {
	y := []int64{1 << 24, 1<<24 + 1, 1 << 24, 1<<24 + 1}
	loadtest.Refused(t, "large labels", []source.File{source.Bytes("X.npy", datatest.NPY("<f4", "4, 3", datatest.Ramp[float32](12))), source.Bytes("y.npy", datatest.NPY("<i8", "4,", y))}, "expected labels below 16777216")
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), datatest.One(strings.Repeat("1,20230101\n2,20230102\n", 5)))
	if !slices.Equal(ds.Classes, []string{"20230101", "20230102"}) || ds.Train.Y[1] != 1 {
		t.Errorf("classes %v, %v", ds.Classes, ds.Train.Y)
	}
}

// TestNPYTypes: every type and byte order gives the same rows.
func TestNPYTypes(t *testing.T) {
	const n, d = 12, 3
	halves := make([]uint16, n*d) // 0, 1, 2 … as 16-bit floats
	for i := range halves {
		if i > 0 {
			e := int(math.Floor(math.Log2(float64(i))))
			halves[i] = uint16((e+15)<<10 | int((float64(i)/math.Ldexp(1, e)-1)*1024))
		}
	}
	labels := source.Bytes("y.npy", datatest.NPY("<i8", "12,", datatest.Ramp[int64](n)))
	for descr, values := range map[string]any{
		"|i1": datatest.Ramp[int8](n * d), "<i2": datatest.Ramp[int16](n * d), ">i2": datatest.Ramp[int16](n * d), "<i4": datatest.Ramp[int32](n * d), ">i4": datatest.Ramp[int32](n * d),
		"<i8": datatest.Ramp[int64](n * d), ">u2": datatest.Ramp[uint16](n * d), "<f2": halves, ">f2": halves,
		"<f4": datatest.Ramp[float32](n * d), ">f4": datatest.Ramp[float32](n * d), "<f8": datatest.Ramp[float64](n * d), ">f8": datatest.Ramp[float64](n * d), "=f8": datatest.Ramp[float64](n * d),
	} {
		ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("X.npy", datatest.NPY(descr, "12, 3", values)), labels})
		if !slices.Equal(ds.Train.F32, datatest.Ramp[float32](n*d)) || len(ds.Columns) != d+1 || ds.Outputs != n {
			t.Errorf("%s: %v", descr, ds.Train.F32)
		}
	}
	for descr, want := range map[string]data.Bound{"|u1": {Lo: 0, Hi: 255}, "|b1": {Lo: 0, Hi: 1}} {
		ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("X.npy", datatest.NPY(descr, "12, 3", datatest.Ramp[uint8](n*d))), labels})
		if ds.Bounds[2] != want || ds.Train.U8[1] != 1 || ds.Train.U8[0] != 0 || (ds.Train.U8[2] == 2) != (want.Hi == 255) {
			t.Errorf("%s: %v %v", descr, ds.Bounds[2], ds.Train.U8)
		}
	}
}

// TestNPYLayouts: wherever channels and rows stand, pictures are planes of rows.
func TestNPYLayouts(t *testing.T) {
	const n, h, w, c = 4, 2, 5, 3
	want := make([]uint8, n*h*w*c) // [n][c][h][w]
	last := make([]uint8, n*h*w*c) // [n][h][w][c]
	columns := make([]uint8, n*h*w*c)
	k := 0
	for i := range n {
		for p := range c {
			for y := range h {
				for x := range w {
					v := uint8(k)
					want[k] = v
					last[((i*h+y)*w+x)*c+p] = v
					columns[i+n*(y+h*(x+w*p))] = v // of last, its first index fastest
					k++
				}
			}
		}
	}
	labels := source.Bytes("labels.npy", datatest.NPY("|u1", "4", []uint8{0, 1, 0, 1}))
	for name, b := range map[string][]byte{
		"planes first": datatest.NPY("|u1", "4, 3, 2, 5", want),
		"planes last":  datatest.NPY("|u1", "4, 2, 5, 3", last),
		"Fortran":      datatest.NPYOrdered("|u1", "True", "4, 2, 5, 3", columns),
	} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("data.npy", b), labels})
		if !bytes.Equal(ds.Train.U8, want) || !slices.Equal(ds.Shape, []int{c, h, w}) {
			t.Errorf("%s: %v\n%v\n%v", name, ds.Shape, ds.Train.U8, want)
		}
		if said := strings.Join(r.Warnings, " "); !strings.Contains(said, "is taken as the channels") {
			t.Errorf("%s: nothing is said of it: %s", name, said)
		}
	}
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("data.npy", datatest.NPY("|u1", "4, 2, 5, 1", last[:40])), labels})
	if !slices.Equal(ds.Shape, []int{2, 5}) || !bytes.Equal(ds.Train.U8, last[:40]) {
		t.Errorf("one channel: %v %v", ds.Shape, ds.Train.U8)
	}
}

// TestNPYTargets: what labels are by their type and shape.
func TestNPYTargets(t *testing.T) {
	x := source.Bytes("X.npy", datatest.NPY("<f4", "6, 2", datatest.Ramp[float32](12)))
	text := func(words ...string) []uint32 {
		v := make([]uint32, 4*len(words))
		for i, w := range words {
			for j, r := range w {
				v[4*i+j] = uint32(r)
			}
		}
		return v
	}
	for name, tc := range map[string]struct {
		y       []byte
		opt     run.CSV
		task    data.Task
		outputs int
		classes string
		third   float32
	}{
		"whole numbers":   {datatest.NPY("<i4", "6", []int32{-1, 5, 7, 5, 7, -1}), run.CSV{}, data.Classification, 3, "-1 5 7", 2},
		"a column":        {datatest.NPY("<i4", "6, 1", []int32{0, 1, 1, 1, 0, 1}), run.CSV{}, data.Classification, 2, "0 1", 1},
		"fractions":       {datatest.NPY("<f8", "6", []float64{0, 1, 2.5, 3, 4, 5}), run.CSV{}, data.Regression, 1, "", 2.5},
		"floats, told":    {datatest.NPY("<f8", "6", []float64{0, 1, 2, 0, 1, 2}), run.CSV{Task: "classification"}, data.Classification, 3, "0 1 2", 2},
		"whole, told":     {datatest.NPY("<i8", "6", []int64{0, 1, 2, 0, 1, 2}), run.CSV{Task: "regression"}, data.Regression, 1, "", 2},
		"one-hot":         {datatest.NPY("|u1", "6, 3", []uint8{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0}), run.CSV{}, data.Classification, 3, "0 1 2", 2},
		"several numbers": {datatest.NPY("<f4", "6, 2", datatest.Ramp[float32](12)), run.CSV{}, data.Regression, 2, "", 2},
		"text":            {datatest.NPY("<U4", "6", text("b", "añ", "c", "b", "c", "añ")), run.CSV{}, data.Classification, 3, "añ b c", 2},
		"bytes":           {datatest.NPY("|S2", "6", []byte("b\x00aax\x00b\x00b\x00b\x00")), run.CSV{}, data.Classification, 3, "aa b x", 2},
		"yes and no":      {datatest.NPY("|b1", "6", []uint8{1, 0, 1, 1, 0, 1}), run.CSV{}, data.Classification, 2, "0 1", 1},
	} {
		ds, _ := loadtest.Read(t, datatest.AllToTrain(tc.opt), []source.File{x, source.Bytes("y.npy", tc.y)})
		if ds.Task != tc.task || ds.Outputs != tc.outputs || strings.Join(ds.Classes, " ") != tc.classes || ds.Train.Y[2] != tc.third {
			t.Errorf("%s: %s of %d, %v, %v", name, ds.Task, ds.Outputs, ds.Classes, ds.Train.Y)
		}
	}
}

// TestNPYRoles: which array is what, by name and by shape.
func TestNPYRoles(t *testing.T) {
	x, y := datatest.NPY("<f4", "6, 2", datatest.Ramp[float32](12)), datatest.NPY("|u1", "6", []uint8{0, 1, 0, 1, 0, 1})
	for name, parts := range map[string][]any{
		"Keras":     {"x_train.npy", x, "y_train.npy", y, "x_test.npy", x, "y_test.npy", y},
		"MedMNIST":  {"train_images.npy", x, "train_labels.npy", y, "val_images.npy", x, "val_labels.npy", y, "test_images.npy", x, "test_labels.npy", y},
		"sklearn":   {"y.npy", y, "X.npy", x},
		"positions": {"arr_0.npy", x, "arr_1.npy", y},
		"shapes":    {"one.npy", y, "two.npy", x},
		"one name":  {"pixels.npy", x, "kind.npy", y},
		"others":    {"data.npy", x, "weights.npy", x, "labels.npy", y},
	} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("a.npz", datatest.Zip(parts...))})
		want := 0
		if len(parts) > 6 {
			want = 6
		}
		if ds.Train.N != 6 || ds.Test.N != want || ds.Features != 2 || ds.Outputs != 2 {
			t.Errorf("%s: %d and %d rows of %d, %v", name, ds.Train.N, ds.Test.N, ds.Features, r.Warnings)
		}
	}
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("kmnist-train-imgs.npz", datatest.Zip("arr_0.npy", x)), source.Bytes("kmnist-train-labels.npz", datatest.Zip("arr_0.npy", y)),
		source.Bytes("kmnist-test-imgs.npz", datatest.Zip("arr_0.npy", x)), source.Bytes("kmnist-test-labels.npz", datatest.Zip("arr_0.npy", y))})
	if ds.Train.N != 6 || ds.Test.N != 6 || ds.Features != 2 {
		t.Errorf("archives of one array each: %d and %d rows of %d", ds.Train.N, ds.Test.N, ds.Features)
	}
}

// numpyWrote is what numpy.savez_compressed (1.24) made of x_train, of 4×3×2 big-endian
// 16-bit floats from 0 on in Fortran order, y_train, "no ja no ja", x_test, 2×3×2 of
// half those numbers in C order, and y_test, "ja no".
const numpyWrote = "" +
	"UEsDBBQAAAAIAAAAIQB6Ub0jeAAAALAAAAALABQAeF90cmFpbi5ucHkBABAAsAAAAAAAAAB4AAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6loG" +
	"6XZqSuo6Cell9UUpSYF59flJIKEg8pKk0FChdnJBakArkaJjoKxjoKRpo6CrUKZAIuBgY3Bi8GnwYHBg8GbwZfBhcGTwYfBt8GGwZ3Bq8GnwNO" +
	"DB4N3g2+Dq4Mng0+Dr4HAFBLAwQUAAAACAAAACEA7hbVL1IAAACgAAAACwAUAHlfdHJhaW4ubnB5AQAQAKAAAAAAAAAAUgAAAAAAAACb7BfqGx" +
	"DJyFDGUK2eklqcXKRupaBuE2qkrqOgnpZfVFKUmBefX5SSChJ3S8wpTgWKF2ckFqQC+RomOpo6CrUKFACuPAYGhnwgzgLiRCBG5wMAUEsDBBQA" +
	"AAAIAAAAIQDwB+E3YQAAAJgAAAAKABQAeF90ZXN0Lm5weQEAEACYAAAAAAAAAGEAAAAAAAAAm+wX6hsQychQxlCtnpJanFykbqWgbpNmpK6joJ" +
	"6WX1RSlJgXn1+UkgoSd0vMKU4FihdnJBakAvkaRjoKxjoKRpo6CrUK5AEuBgYGCwYbBjsGBwZHBicGZwaXBhcG1wZXAFBLAwQUAAAACAAAACEA" +
	"XeY4YlAAAACQAAAACgAUAHlfdGVzdC5ucHkBABAAkAAAAAAAAABQAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6loG4TaqSuo6Cell9UUpSYF5" +
	"9flJIKEndLzClOBYoXZyQWpAL5GkY6mjoKtQoUAK4sBgaGRCDOA+J8IAYAUEsBAhQDFAAAAAgAAAAhAHpRvSN4AAAAsAAAAAsAAAAAAAAAAAAA" +
	"AIABAAAAAHhfdHJhaW4ubnB5UEsBAhQDFAAAAAgAAAAhAO4W1S9SAAAAoAAAAAsAAAAAAAAAAAAAAIABtQAAAHlfdHJhaW4ubnB5UEsBAhQDFA" +
	"AAAAgAAAAhAPAH4TdhAAAAmAAAAAoAAAAAAAAAAAAAAIABRAEAAHhfdGVzdC5ucHlQSwECFAMUAAAACAAAACEAXeY4YlAAAACQAAAACgAAAAAA" +
	"AAAAAAAAgAHhAQAAeV90ZXN0Lm5weVBLBQYAAAAABAAEAOIAAABtAgAAAAA="

func TestNumPyWrote(t *testing.T) {
	b, err := base64.StdEncoding.DecodeString(numpyWrote)
	if err != nil {
		t.Fatal(err)
	}
	ds, _ := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("k.npz", b)})
	half := datatest.Ramp[float32](12)
	for i := range half {
		half[i] /= 2
	}
	if !slices.Equal(ds.Train.F32, datatest.Ramp[float32](24)) || !slices.Equal(ds.Test.F32, half) || !slices.Equal(ds.Classes, []string{"ja", "no"}) || !slices.Equal(ds.Train.Y, []float32{1, 0, 1, 0}) || !slices.Equal(ds.Test.Y, []float32{0, 1}) {
		t.Errorf("%v %v %v %v %v", ds.Train.F32, ds.Test.F32, ds.Classes, ds.Train.Y, ds.Test.Y)
	}
}

// hostileNPY are arrays that lie, or cannot be read.
func hostileNPY() map[string][]byte {
	good := datatest.NPY("<f4", "6, 2", datatest.Ramp[float32](12))
	header := func(text string) []byte {
		b := binary.LittleEndian.AppendUint16(append([]byte(datatest.NPYMagic), 1, 0), uint16(len(text)))
		return append(append(b, text...), make([]byte, 48)...)
	}
	m := map[string][]byte{
		"magic alone": []byte(datatest.NPYMagic), "version 2 cut": append([]byte(datatest.NPYMagic), 2, 0, 1), "long header": append(append([]byte(datatest.NPYMagic), 3, 0), 0xff, 0xff, 0xff, 0x7f),
		"no header": append([]byte(datatest.NPYMagic), 1, 0, 0, 0), "header cut": good[:40], "values cut": good[:len(good)-1], "bytes left over": append(slices.Clone(good), 0),
		"not a number": datatest.NPY("<f4", "6, 2", append([]float32{float32(math.NaN())}, datatest.Ramp[float32](11)...)), "infinite": datatest.NPY("<f8", "6, 2", append([]float64{1e300}, datatest.Ramp[float64](11)...)),
	}
	for _, descr := range []string{"|O", "<c16", "<M8[ns]", "|V8", "<f16", "<i3", "<U0", "<U9999", "|S99999", "", "<", "f", "<f4f4", "🐍"} {
		m["type "+descr] = header("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (6, 2), }")
	}
	for _, shape := range []string{"", "0, 2", "6, 0", "-6, 2", "6, 2, 99999999", "2147483647, 2147483647, 2147483647, 4", "6; 2", "6, 2" + strings.Repeat(", 1", 40), "1e3", "99999999999999999999", "1, 12345678"} {
		m["shape "+shape] = header("{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }")
	}
	for _, text := range []string{"{}", "{'descr'", "{'descr':", "{'descr': ", "{'descr': '<f4", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (6", "{'descr': '<f4', 'fortran_order': False, 'shape': 6}",
		"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", "{'shape': (6,), 'shape': (6,)}", "__import__('os').system('true')", strings.Repeat("(", 9999)} {
		m["header "+text[:min(len(text), 60)]] = header(text)
	}
	return m
}

func TestHostileNPY(t *testing.T) {
	y := source.Bytes("y.npy", datatest.NPY("|u1", "6", []uint8{0, 1, 0, 1, 0, 1}))
	for name, b := range hostileNPY() {
		for how, files := range map[string][]source.File{
			"plain": {source.Bytes("X.npy", b), y}, "gzip": {source.Bytes("X.npy", datatest.GzipOf(b)), y}, "packed": {source.Bytes("a.npz", datatest.Zip("X.npy", b, "y.npy", datatest.NPY("|u1", "6", []uint8{0, 1, 0, 1, 0, 1})))},
		} {
			loadtest.Refused(t, name+", "+how, files, "")
		}
	}
}

func FuzzNPY(f *testing.F) {
	y := datatest.NPY("|u1", "6", []uint8{0, 1, 0, 1, 0, 1})
	f.Add(datatest.NPY("<f4", "6, 2", datatest.Ramp[float32](12)), y)
	f.Add(datatest.NPY(">i2", "6, 2, 3, 1", datatest.Ramp[int16](36)), y)
	f.Add(datatest.NPY("|u1", "6, 3, 2, 2", datatest.Ramp[uint8](72)), datatest.NPY("<U2", "6", datatest.Ramp[int32](12)))
	for _, b := range hostileNPY() {
		f.Add(b, y)
	}
	f.Fuzz(func(t *testing.T, x, y []byte) {
		loadtest.Sound(t, []source.File{source.Bytes("X.npy", x), source.Bytes("y.npy", y)}, nil, run.CSV{})
		loadtest.Sound(t, []source.File{source.Bytes("a.npz", datatest.Zip("X_train.npy", x, "y_train.npy", y, "X_test.npy", x, "y_test.npy", y))}, nil, run.CSV{})
	})
}
