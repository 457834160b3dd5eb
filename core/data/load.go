package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"clipscope/core/run"
)

// Load reads local files into a Dataset. What a file is, is decided by its
// content: IDX (images with labels), CIFAR-10 binary records or a table, each
// plain or gzip. Files of one kind belong together: one IDX pair, several
// CIFAR or table files joined in the order given. Without test files, those of
// the train files that call themselves test (t10k-…, adult.test) are taken, and
// failing that opt.TestShare of the rows (default 0.2; negative for none),
// chosen by a fixed shuffle.
//
// A file is streamed: besides the Dataset itself a few hundred kilobytes are
// held. progress may be nil; it is called about every megabyte on the caller's
// goroutine, and may block to let others run. Load ends with ctx's error when
// ctx does.
//
// Values are finite: a file with NaN or Inf is refused (or its NaN treated as
// missing, as opt.Missing says), as is one without rows or with one class only.
// What is wrong with the input is an [*Error]. The Report says what was
// understood, also beside an error as far as that is known; it is never nil.
func Load(ctx context.Context, train, test []File, opt run.CSV, progress func(Progress)) (*Dataset, *Report, error) {
	l := &loader{ctx: ctx, opt: opt, progress: progress, limits: defaultLimits(), report: &Report{Warnings: []string{}}}
	ds, err := l.load(train, test)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("data: load: %w", ctx.Err())
		}
		return nil, l.report, err
	}
	return ds, l.report, nil
}

type loader struct {
	ctx      context.Context
	opt      run.CSV
	progress func(Progress)
	limits   limits
	report   *Report
}

func (l *loader) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if !slices.Contains(l.report.Warnings, w) {
		l.report.Warnings = append(l.report.Warnings, w)
	}
}

// format is what a file holds.
type format string

const (
	formatIDX   format = "idx"
	formatCIFAR format = "cifar-10"
	formatCSV   format = "csv"
)

func (l *loader) load(train, test []File) (*Dataset, error) {
	if len(train) == 0 {
		return nil, &Error{Expected: "at least one file to train on", Got: "none",
			Fix: "Choose a table, a pair of IDX files or CIFAR-10 batches."}
	}
	share, err := testShare(l.opt)
	if err != nil {
		return nil, err
	}
	train, test = l.splitByName(train, test)
	kind, err := l.recognise(train, test)
	if err != nil {
		return nil, err
	}
	var ds *Dataset
	switch kind {
	case formatIDX:
		ds, err = l.loadIDX(train, test)
	case formatCIFAR:
		ds, err = l.loadCIFAR(train, test)
	default:
		ds, err = l.loadCSV(train, test)
	}
	if err != nil {
		return nil, err
	}
	ds.Name = train[0].Name()
	if ds.Test.N == 0 && len(test) == 0 && share > 0 {
		ds.holdOut(share)
		l.warn("No test file: %d of %d rows, chosen by a fixed shuffle, are held out for testing.", ds.Test.N, ds.Test.N+ds.Train.N)
	}
	l.finish(ds, kind)
	return ds, nil
}

// finish fills the report from ds, keeping what a parser has put there.
func (l *loader) finish(ds *Dataset, kind format) {
	r := Summarize(ds, string(kind))
	old := l.report
	r.Warnings = old.Warnings
	r.Delimiter, r.Header, r.Label, r.Missing, r.Dropped = old.Delimiter, old.Header, old.Label, old.Missing, old.Dropped
	if old.Preview.Rows != nil {
		r.Preview.Rows = old.Preview.Rows
	}
	l.report = r
}

func testShare(opt run.CSV) (float64, error) {
	switch s := opt.TestShare; {
	case s == 0:
		return 0.2, nil
	case s < 0:
		return 0, nil
	case s > 0 && s <= 0.9:
		return s, nil
	default:
		return 0, &Error{Expected: "a test_share between 0 and 0.9", Got: fmt.Sprint(s),
			Fix: "Leave test_share out for 0.2, or give 0.1 for a tenth of the rows."}
	}
}

// splitByName is SplitByName with a word to the owner.
func (l *loader) splitByName(train, test []File) ([]File, []File) {
	tr, te := SplitByName(train, test)
	if len(test) == 0 {
		for _, f := range te {
			l.warn("%s is used for testing, as its name says.", f.Name())
		}
	}
	return tr, te
}

// SplitByName moves files that call themselves test out of train where no test
// files were given: people drop all of a data set's files at once. Rows of the
// files that stay in train are trained on.
func SplitByName(train, test []File) ([]File, []File) {
	if len(test) > 0 {
		return train, test
	}
	var tr, te []File
	for _, f := range train {
		if namedTest(f.Name()) {
			te = append(te, f)
		} else {
			tr = append(tr, f)
		}
	}
	if len(tr) == 0 || len(te) == 0 {
		return train, nil
	}
	return tr, te
}

// namedTest reports whether one of the words of a file's name is test or t10k.
func namedTest(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return strings.ContainsRune("._- ()", r)
	})
	return slices.Contains(words, "test") || slices.Contains(words, "t10k")
}

// recognise finds the one kind that all files are of.
func (l *loader) recognise(train, test []File) (format, error) {
	var kind format
	var first File
	for _, f := range slices.Concat(train, test) {
		k, err := l.sniff(f)
		if err != nil {
			return "", err
		}
		if first == nil {
			kind, first = k, f
		}
		if k != kind {
			return "", &Error{File: f.Name(),
				Expected: fmt.Sprintf("a file of the same kind as %s (%s)", first.Name(), kind),
				Got:      fmt.Sprintf("a %s file", k),
				Fix:      "Choose files of one data set at a time."}
		}
	}
	return kind, nil
}

func (l *loader) sniff(f File) (format, error) {
	s, err := openSource(l.ctx, f, phaseRead, nil)
	if err != nil {
		return "", err
	}
	defer s.Close()
	head, err := s.Peek(headSize)
	if err != nil && err != io.EOF {
		return "", err
	}
	if len(head) == 0 {
		return "", emptyFile(f)
	}
	return sniff(f.Name(), head)
}

// sniff decides by the first bytes of a file, and by its name only where they
// do not tell.
func sniff(name string, head []byte) (format, error) {
	lower := strings.ToLower(name)
	other := foreign(head)
	switch {
	case looksIDX(head):
		return formatIDX, nil
	case strings.Contains(lower, "idx") || strings.Contains(lower, "ubyte"):
		return "", badMagic(name, head)
	case other == "" && !isBinary(head):
		return formatCSV, nil
	case other == "" && (looksCIFAR(head) || strings.Contains(lower, "cifar") || strings.Contains(lower, "_batch")):
		return formatCIFAR, nil
	case other == "":
		other = "binary data of an unknown kind"
	}
	return "", &Error{File: name,
		Expected: "a table (CSV), IDX images and labels, or CIFAR-10 records, plain or gzip",
		Got:      other,
		Fix:      "Choose another file, or save the data as CSV."}
}

// foreign names common files that are not data this package reads.
func foreign(head []byte) string {
	if c := head[0]; (c >= 'A' && c <= 'Z') && !isBinary(head) {
		return "" // a table may begin with a column named PAR1
	}
	for _, m := range []struct{ magic, what string }{
		{"<!DOCTYPE", "a web page"},
		{"<!doctype", "a web page"},
		{"<html", "a web page"},
		{"{\"", "a JSON file"},
		{"[{", "a JSON file"},
		{"\x89PNG", "a PNG image"},
		{"\xff\xd8\xff", "a JPEG image"},
		{"GIF8", "a GIF image"},
		{"%PDF", "a PDF document"},
		{"PK\x03\x04", "a zip archive (or a spreadsheet or NPZ file, which are zip archives)"},
		{"\x93NUMPY", "a NumPy array"},
		{"PAR1", "a Parquet file"},
		{"\x89HDF", "an HDF5 file"},
		{"SQLite format 3", "an SQLite database"},
		{"\x80\x02", "a Python pickle"},
		{"\x80\x03", "a Python pickle"},
		{"\x80\x04", "a Python pickle"},
		{"\x80\x05", "a Python pickle"},
		{"\x1f\x8b", "a gzip file inside a gzip file"},
		{"BZh", "a bzip2 file"},
		{"\xfd7zXZ", "an xz file"},
		{"\xff\xfe", "text in UTF-16 instead of UTF-8"},
		{"\xfe\xff", "text in UTF-16 instead of UTF-8"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.what
		}
	}
	return ""
}

// isBinary reports whether head is not text: it has a NUL or many control bytes.
// Text need not be UTF-8; old tables are Latin-1.
func isBinary(head []byte) bool {
	control := 0
	for _, c := range head {
		if c == 0 {
			return true
		}
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' || c == 0x7f {
			control++
		}
	}
	return control > len(head)/100
}

// holdOut moves share of the training rows to Test. The shuffle's seed is fixed
// so that the same files give the same split.
func (d *Dataset) holdOut(share float64) {
	n := d.Train.N
	k := min(int(float64(n)*share), n-1)
	if k <= 0 {
		return
	}
	rng := rand.New(rand.NewPCG(0x686f6c64, 0x6f7574))
	perm := rng.Perm(n)[:k]
	slices.Sort(perm)
	w, f := d.TargetWidth(), d.Features
	d.Test.N, d.Train.N = k, n-k
	d.Test.U8, d.Train.U8 = takeRows(d.Train.U8, f, perm)
	d.Test.F32, d.Train.F32 = takeRows(d.Train.F32, f, perm)
	d.Test.Y, d.Train.Y = takeRows(d.Train.Y, w, perm)
}

// takeRows copies the rows of a listed in idx (ascending) out and closes the
// gaps in place.
func takeRows[T any](a []T, width int, idx []int) (taken, rest []T) {
	if a == nil {
		return nil, nil
	}
	taken = make([]T, 0, len(idx)*width)
	to := idx[0] * width
	for i, at := range idx {
		taken = append(taken, a[at*width:(at+1)*width]...)
		next := len(a)
		if i+1 < len(idx) {
			next = idx[i+1] * width
		}
		to += copy(a[to:], a[(at+1)*width:next])
	}
	return taken, a[:to:to]
}

// text makes a cell fit for JSON and the page.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "�")
}
