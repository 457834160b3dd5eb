package table_test

import (
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

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
		"a\tb\n1\t\"x\r\n2\ty\"z\r\n3\t\"\"\n", "3\na b label\n1.jpg  1 -1 1\r\n2.jpg -1 -1 -1 \n3.jpg -1 1 1\n", "2\nid b label\n1.jpg 1 -1\n2.jpg\t1  1",
	} {
		f.Add([]byte(s), []byte(s), "", "", "", uint8(0))
		f.Add([]byte(s), datatest.GzipOf([]byte(s)), "drop", "1", "classification", uint8(1))
		f.Add([]byte(s), []byte("x"), "zero", "label", "regression", uint8(2))
		f.Add([]byte(s), []byte(s), "indicator", "", "", uint8(1|4|8))
		f.Add([]byte(s), []byte(s), "indicator", "", "", uint8(1|16|32))
		f.Add([]byte(s), []byte(s), "zero", "", "", uint8(64))
		f.Add([]byte(s), []byte(s), "drop", "", "", uint8(1|128))
	}
	f.Add([]byte("a"), []byte("sep=0"), "", "", "", uint8(0))
	f.Fuzz(func(t *testing.T, a, b []byte, missing, label, task string, how uint8) {
		opt := run.CSV{Missing: missing, Label: label, Task: task, Columns: map[string]string{}}
		for bit, set := range []func(){
			func() { opt.BadRows = "skip" },
			func() { opt.Decimal = "," },
			func() { opt.Columns["a"] = "bucketed" },
			func() { opt.Bounds = map[string]run.Bounds{"b": {Lo: -1, Hi: 1}} },
			func() { opt.Columns["column 1"] = "bucketed" },
			func() { opt.Encoding, opt.Date = source.Windows1252, "mdy" },
			func() { opt.Columns["b"] = "text" },
			func() { opt.Columns["column 2"] = "text" },
		} {
			if how>>bit&1 != 0 {
				set()
			}
		}
		loadtest.Sound(t, []source.File{source.Bytes("a.csv", a)}, nil, opt)
		loadtest.Sound(t, []source.File{source.Bytes("a.csv", a)}, []source.File{source.Bytes("b.csv", b)}, opt)
		loadtest.Sound(t, []source.File{source.Bytes("a.csv", a), source.Bytes("b.csv", b)}, nil, opt)
	})
}

// FuzzLabels reads tables of which two columns hold labels.
func FuzzLabels(f *testing.F) {
	for _, s := range []string{
		"a,b,x\n1,0,3\n0,1,4\n1,1,5\n", "x;a;b\n1,5;true;FALSE\n2,5;false;TRUE\n", "a,b,x\n1,-1,3\n-1,1,4\n", "a,b,x\n1,0,3\n0,2,4\n", "a,b,x\n1,,3\n0,1,4\n", "a,b\n1,0\n0,1\n",
		"b\ta\tx\n0.0\t1.0\t7\n1.0\t0.0\t8\n", "a,b,x\n-1,0,1\n1,1,2\n",
	} {
		for how := range uint8(4) {
			f.Add([]byte(s), []byte(s), "", "", how)
			f.Add([]byte(s), []byte("a,b,x\n1,0,3\n"), "drop", "x", how)
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte, missing, label string, how uint8) {
		opt := run.CSV{Missing: missing, Label: label, Columns: map[string]string{"a": "label", "b": "label"}}
		if how&1 != 0 {
			opt.BadRows = "skip"
		}
		if how&2 != 0 {
			opt.Task, opt.HoldOut = "multi-label", "row"
		}
		loadtest.Sound(t, []source.File{source.Bytes("a.csv", a)}, nil, opt)
		loadtest.Sound(t, []source.File{source.Bytes("a.csv", a)}, []source.File{source.Bytes("b.csv", b)}, opt)
	})
}
