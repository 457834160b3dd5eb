package data

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
)

// sound loads files and checks that the outcome is a sound data set or an
// *Error that says something, and that the report survives JSON.
func sound(t *testing.T, train, test []File, opt run.CSV) {
	l := newLoader(t.Context(), opt)
	l.limits.bytes, l.limits.features, l.limits.columns, l.limits.categories, l.limits.category = 1<<20, 1<<12, 1000, 50, 100
	l.limits.texts, l.limits.text, l.limits.classes, l.limits.record = 1<<14, 100, 50, 1<<16
	l.limits.directory, l.limits.picture, l.limits.pixels, l.limits.decoding = 1<<16, 1<<16, 1<<16, 1<<20
	ds, err := l.load(train, test)
	if _, jerr := json.Marshal(l.report); jerr != nil {
		t.Fatal(jerr)
	}
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || len(e.Error()) < 20 || e.Fix == "" {
			t.Fatalf("error %#v", err)
		}
		if badVerb(err.Error()) && !badVerb(opt.Label+opt.Missing+opt.Task) && !slices.ContainsFunc(slices.Concat(train, test), holdsBadVerb) {
			t.Fatalf("a message that was put together wrongly: %v", err)
		}
		return
	}
	if err := check(ds); err != nil {
		t.Fatal(err)
	}
	if s, err := DeclaredScale(ds, -1, 1); err != nil {
		t.Fatal(err)
	} else {
		s.Rows(make([]float32, ds.Features), &ds.Train, []int{ds.Train.N - 1})
	}
}

// badVerb reports whether s has what fmt writes for a verb that does not fit.
func badVerb(s string) bool { return strings.Contains(s, "%!") }

// holdsBadVerb reports whether a message may have it from f's own text.
func holdsBadVerb(f File) bool {
	r, _ := f.Open()
	content, _ := io.ReadAll(r)
	if zr, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
		content, _ = io.ReadAll(zr)
	}
	return badVerb(f.Name() + strings.ReplaceAll(string(content), "\x00", ""))
}

// TestSoundKnowsItsOwnFaults: a message may quote such text, not hold it else.
func TestSoundKnowsItsOwnFaults(t *testing.T) {
	sound(t, []File{Bytes("%!.csv", []byte("1,a\n2,b\n%!d,a\n"))}, nil, run.CSV{})
	sound(t, one("1,a\n2,b\n"), nil, run.CSV{Label: "%!"})
	if !holdsBadVerb(Bytes("t", gz([]byte("%!d,a\n")))) || holdsBadVerb(Bytes("t", []byte("100%,!"))) {
		t.Error("the text of a file is not told from a message's own")
	}
}

func FuzzIDX(f *testing.F) {
	img, lab := images(12, 3, 2, 3)
	f.Add(img, lab)
	f.Add(gz(img), lab)
	f.Add(lab, gz(img))
	f.Add(img[:20], lab)
	f.Add(img, lab[:9])
	f.Add(gz(img)[:20], gz(lab))
	f.Add(idx(nil, 1<<31, 1<<31, 1<<31, 1<<31), lab)
	f.Add(idx([]byte{1, 2, 3, 4}, 2, 2), idx([]byte{0, 1}, 2))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		sound(t, []File{Bytes("images-idx3", a), Bytes("labels-idx1", b)}, nil, run.CSV{})
		sound(t, []File{Bytes("a-idx", img), Bytes("b-idx", lab)}, []File{Bytes("c-idx", a), Bytes("d-idx", b)}, run.CSV{})
	})
}

func FuzzCIFAR(f *testing.F) {
	f.Add(cifar(3))
	f.Add(cifar(2)[:4000])
	f.Add(gz(cifar(3)))
	f.Add(gz(cifar(3))[:30])
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, a []byte) {
		sound(t, []File{Bytes("cifar.bin", a)}, nil, run.CSV{})
		sound(t, []File{Bytes("cifar.bin", cifar(3))}, []File{Bytes("cifar-2.bin", a)}, run.CSV{})
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"a,b,label\n1,2,x\n3,4,y\n5,6,x\n",
		"39, State-gov, 77516, <=50K\n50, ?, 83311, >50K\n38, Private, 215646, <=50K\n",
		"sep=;\n1;%!d\n", "\xff\xfe1\x00,\x00a\x00\n\x002\x00,\x00b\x00", "1,caf\xe9\n2,b\n", "a;b\n96.004;48.284,52\n1,5;2024-01-31\n$1,234.50;x\n", "|1x3 Cross validator\n25, Private, <=50K.\n38, Private, >50K.\n",
		"4,2,setosa,virginica\n1,2,0\n3,4,1\n5,6,1\n7,8,0\n",
		"\ufeff\"a;b\";c;label\r\n1,5;2;3\r\n\"2\"\"\";;4\r\n",
		"a\tb\n1\t2\n3\tNaN\n4\tInf\n",
		"id,y\n1,0.5\n2,0.25\n3,1e39\n",
		"a;b\n96.004;48.284,52\n1,5;20T4-01-31\n$1,234.50;x\n",
		"1,\"2,3\n4,5\n", "1,2\"3,4\n", "\n\n", ",\n,\n", "\"\"\n", "a|b\r1|2\r",
	} {
		f.Add([]byte(s), []byte(s), "", "", "", uint8(0))
		f.Add([]byte(s), gz([]byte(s)), "drop", "1", "classification", uint8(1))
		f.Add([]byte(s), []byte("x"), "zero", "label", "regression", uint8(2))
		f.Add([]byte(s), []byte(s), "indicator", "", "", uint8(1|4|8))
		f.Add([]byte(s), []byte(s), "indicator", "", "", uint8(1|16|32))
		f.Add([]byte(s), []byte(s), "zero", "", "", uint8(64))
		f.Add([]byte(s), []byte(s), "drop", "", "", uint8(1|128))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, missing, label, task string, how uint8) {
		opt := run.CSV{Missing: missing, Label: label, Task: task, Columns: map[string]string{}}
		for bit, set := range []func(){
			func() { opt.BadRows = "skip" },
			func() { opt.Decimal = "," },
			func() { opt.Columns["a"] = bucketed },
			func() { opt.Bounds = map[string]run.Bounds{"b": {Lo: -1, Hi: 1}} },
			func() { opt.Columns["column 1"] = bucketed },
			func() { opt.Encoding, opt.Date = windows1252, "mdy" },
			func() { opt.Columns["b"] = textual },
			func() { opt.Columns["column 2"] = textual },
		} {
			if how>>bit&1 != 0 {
				set()
			}
		}
		sound(t, []File{Bytes("a.csv", a)}, nil, opt)
		sound(t, []File{Bytes("a.csv", a)}, []File{Bytes("b.csv", b)}, opt)
		sound(t, []File{Bytes("a.csv", a), Bytes("b.csv", b)}, nil, opt)
	})
}
