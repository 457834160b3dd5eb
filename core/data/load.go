package data

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"clipscope/core/run"
)

// Load reads local files into a Dataset. What a file is, is decided by its
// content: IDX (images with labels), CIFAR-10 or CIFAR-100 binary records, NumPy arrays
// (NPY, NPZ), pictures (PNG, JPEG) or a table (CSV, a sheet of an .xlsx), each plain, gzip
// or in a zip archive. Files of one kind belong together: one IDX pair, arrays of
// features and labels, several CIFAR or table files joined in the order given, pictures
// with tables that say what they show. opt.Roles moves files between
// train and test; without test files, those of the train files that call
// themselves test (t10k-…, adult.test) are taken, and failing that opt.TestShare
// of the rows (default 0.2; negative for none), chosen by a fixed shuffle, and of each
// class alike where some are rare.
//
// A file is streamed: besides the Dataset itself, of a gigabyte at most, a few
// hundred kilobytes are held, and of tables the lists of their categories.
// progress may be nil; it is called about every megabyte and every quarter of a
// second on the caller's goroutine, and may block to let others run. Load ends
// with ctx's error when ctx does.
//
// Values are finite: a file with NaN or Inf is refused (or its NaN treated as
// missing, as opt.Missing says), as is one without rows or with one class only.
// What is wrong with the input is an [*Error]. The Report says what was
// understood, also beside an error as far as that is known; it is never nil.
func Load(ctx context.Context, train, test []File, opt run.CSV, progress func(Progress)) (*Dataset, *Report, error) {
	return Loader{}.Load(ctx, train, test, opt, progress)
}

// Loader is [Load] with what this package does not do itself.
type Loader struct {
	// Parquet opens a Parquet file; nil: such files are refused. opt.Label names the
	// column of the labels, where it is not empty. What is wrong with the file is an
	// [*Error].
	Parquet func(ctx context.Context, f File, opt run.CSV) (Columns, error)
}

// Load is as the function of its name.
func (how Loader) Load(ctx context.Context, train, test []File, opt run.CSV, progress func(Progress)) (*Dataset, *Report, error) {
	l := newLoader(ctx, opt)
	l.progress, l.parquet = progress, how.Parquet
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
	*work
	opt      run.CSV
	progress func(Progress)
	now      func() time.Time
	limits   limits
	claimed  int64 // bytes of limits.bytes that the data read so far takes
	tables   int   // of limits.tables, those in archives that were looked at
	free     []*bufio.Reader
	decoded  int64 // bytes of limits.decoded that pictures have taken
	words    int64 // bytes of limits.texts that the shared texts of spreadsheets take
	opened   []io.Closer
	parquet  func(context.Context, File, run.CSV) (Columns, error)
	notes    []note
	report   *Report
}

func newLoader(ctx context.Context, opt run.CSV) *loader {
	return &loader{work: newWork(ctx), opt: opt, now: time.Now, limits: defaultLimits(), report: &Report{Warnings: []string{}}}
}

// note is all warnings of one kind, which is one format. A table can give
// cause for thousands; a few show what is the matter.
type note struct {
	kind  string
	texts []string
	more  int // warnings that are counted only
}

const mostAlike = 5 // warnings of a kind that are shown

func (l *loader) warn(format string, args ...any) {
	i := slices.IndexFunc(l.notes, func(n note) bool { return n.kind == format })
	if i < 0 {
		i = len(l.notes)
		l.notes = append(l.notes, note{kind: format})
	}
	n := &l.notes[i]
	if len(n.texts) == mostAlike {
		n.more++
		return
	}
	n.texts = append(n.texts, fmt.Sprintf(format, args...))
}

// tell puts the warnings into the report.
func (l *loader) tell() {
	for _, n := range l.notes {
		l.report.Warnings = append(l.report.Warnings, n.texts...)
		if n.more > 0 {
			l.report.Warnings = append(l.report.Warnings, fmt.Sprintf("And %d more like the one before.", n.more))
		}
	}
}

// rowOverhead is the per-row cost beside the features, in bytes: a target, and its place
// in the shuffle that holds rows out.
const rowOverhead = 4 + 4

// textOverhead is the per-row cost, in bytes, of a string header.
const textOverhead = 16

// claim takes rows of so many bytes each from what the data may take in all. It
// is called before anything of that size is allocated.
func (l *loader) claim(file string, rows, features, bytes int64) error {
	err := l.room(file, rows, features, bytes)
	l.claimed += rows * bytes
	return err
}

// room is claim without taking anything.
func (l *loader) room(file string, rows, features, bytes int64) error {
	if rows <= l.limits.bytes/max(1, bytes) && l.claimed+rows*bytes <= l.limits.bytes { // the first, as the product may overflow
		return nil
	}
	return &Error{File: file, Expected: fmt.Sprintf("at most %d MB of data", l.limits.bytes>>20),
		Got: fmt.Sprintf("data larger than that: %d rows of %d features or more", rows, features),
		Fix: "Use fewer rows, or ignore columns that do not matter or have many categories."}
}

// format is the format of a file.
type format string

const (
	formatIDX      format = "idx"
	formatCIFAR    format = "cifar-10"
	formatCIFAR100 format = "cifar-100"
	formatCSV      format = "csv"
	formatNumPy    format = "numpy"
	formatPictures format = "pictures"
	formatXLSX     format = "xlsx"
	formatParquet  format = "parquet"
)

func (l *loader) load(train, test []File) (*Dataset, error) {
	defer l.tell()
	defer l.close()
	train, test = Gather(train), Gather(test)
	l.allow(train...)
	l.allow(test...)
	if len(train) == 0 {
		return nil, &Error{Expected: "at least one file to train on", Got: "none",
			Fix: "Choose a table, NumPy arrays, pictures in folders, a pair of IDX files or CIFAR batches."}
	}
	share, err := testShare(l.opt)
	if err != nil {
		return nil, err
	}
	if h := l.opt.HoldOut; h != "" && h != holdOutShuffle && h != holdOutRow {
		return nil, badOption("hold_out", `"shuffle" or "row"`, h)
	}
	if train, test, err = l.split(train, test); err != nil {
		return nil, err
	}
	name := train[0].Name()
	kind, err := l.recognise(&train, &test)
	if err != nil {
		return nil, err
	}
	if err := l.warnAlike(train); err != nil {
		return nil, err
	}
	var ds *Dataset
	switch kind {
	case formatIDX:
		ds, err = l.loadIDX(train, test)
	case formatCIFAR:
		ds, err = l.loadCIFAR(cifar10(), train, test)
	case formatCIFAR100:
		ds, err = l.loadCIFAR(cifar100(l.opt.Labels), train, test)
	case formatNumPy:
		ds, err = l.loadNumPy(train, test)
	case formatPictures:
		ds, err = l.loadPictures(train, test)
	case formatXLSX:
		ds, err = l.loadSheets(train, test)
	case formatParquet:
		ds, err = l.loadParquet(train, test)
	default:
		ds, err = l.loadCSV(train, test)
	}
	if err != nil {
		return nil, err
	}
	ds.Name = name
	if ds.Test.N == 0 && share > 0 {
		if l.opt.HoldOut == holdOutRow {
			ds.holdOutByRow(share)
		} else {
			ds.holdOut(share)
		}
		l.warnHeldOut(ds)
	}
	l.report.describe(ds, string(kind))
	return ds, nil
}

func (l *loader) warnHeldOut(ds *Dataset) {
	if ds.Test.N == 0 {
		l.warn("No test file, and %d rows are too few to hold any out: nothing is tested.", ds.Train.N)
		return
	}
	how := "chosen by a fixed shuffle"
	switch {
	case ds.HeldOut == ByRow:
		how = "each chosen by a hash of its own cells"
	case ds.ByClass:
		how = "the same share of each class, as some are rare, chosen by a fixed shuffle"
	}
	l.warn("No test file: %d of %d rows, %s, are held out for testing.", ds.Test.N, ds.Test.N+ds.Train.N, how)
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

// buffered has a reader of r with a buffer of at least size bytes, which may be one that another
// source has let go.
func (l *loader) buffered(r io.Reader, size int) *bufio.Reader {
	i := slices.IndexFunc(l.free, func(b *bufio.Reader) bool { return b.Size() == size })
	if i < 0 {
		return bufio.NewReaderSize(r, size)
	}
	b := l.free[i]
	l.free = slices.Delete(l.free, i, i+1)
	b.Reset(r)
	return b
}

// mostFree limits the buffers that are kept for other sources: those of two tables.
const mostFree = 6

func (l *loader) close() {
	l.free = nil
	for _, c := range l.opened {
		c.Close() // of what was only read
	}
	l.opened = nil
}

// split is SplitFiles with a check of the roles and a word to the owner.
func (l *loader) split(train, test []File) ([]File, []File, error) {
	type title struct {
		name string
		size int64
	}
	given, seen := map[string]bool{}, map[title]bool{}
	for _, f := range slices.Concat(train, test) {
		as := title{f.Name(), f.Size()}
		if seen[as] {
			l.warn("%s is given twice, as it seems: then each of its rows counts twice, and more can be learnt of it than ε says.", shorten(f.Name()))
		}
		seen[as], given[f.Name()] = true, true
	}
	for name, role := range l.opt.Roles {
		if role != roleTrain && role != roleTest {
			return nil, nil, badOption("roles", `"train" or "test"`, role)
		}
		if !given[name] {
			return nil, nil, badOption("roles", "about files that are given", name)
		}
	}
	tr, te, named := SplitFiles(train, test, l.opt.Roles)
	for _, f := range tr {
		l.report.Files = append(l.report.Files, FileRole{f.Name(), roleTrain})
	}
	for _, f := range te {
		l.report.Files = append(l.report.Files, FileRole{f.Name(), roleTest})
	}
	if len(tr) == 0 {
		return nil, nil, badOption("roles", "such that a file is left to train on", "test files alone")
	}
	if named {
		for _, f := range te {
			l.warn("%s is used for testing, as its name says.", shorten(f.Name()))
		}
	}
	return tr, te, nil
}

const (
	roleTrain = "train"
	roleTest  = "test"
)

// SplitFiles moves files to where roles, by name, says that they belong. Where
// that leaves no test files, those of the others that call themselves test are,
// and named is true: people drop all of a data set's files at once. Rows of the
// files that stay in train are trained on.
func SplitFiles(train, test []File, roles map[string]string) (tr, te []File, named bool) {
	tr, te = part(train, func(f File) bool { return roles[f.Name()] == roleTest })
	back, rest := part(test, func(f File) bool { return roles[f.Name()] != roleTrain })
	if tr, te = append(tr, back...), append(te, rest...); len(te) > 0 {
		return tr, te, false
	}
	if others, te := part(tr, func(f File) bool { return roles[f.Name()] == "" && namedTest(f.Name()) }); len(others) > 0 && len(te) > 0 {
		return others, te, true
	}
	return tr, nil, false
}

// part splits files into those for which no and yes is the answer.
func part(files []File, answer func(File) bool) (no, yes []File) {
	for _, f := range files {
		if answer(f) {
			yes = append(yes, f)
		} else {
			no = append(no, f)
		}
	}
	return no, yes
}

// namedTest reports whether one of the words of a file's name is test or t10k.
func namedTest(name string) bool {
	words := nameWords(name)
	return slices.Contains(words, "test") || slices.Contains(words, "t10k")
}

// nameWords are the words of a file's name, in small letters.
func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return strings.ContainsRune("._- ()", r)
	})
}

// recognise finds the one kind that all files are of. Archives are opened, and one that
// is no kind of its own is replaced by its files.
func (l *loader) recognise(train, test *[]File) (format, error) {
	var of kinds
	for _, files := range []*[]File{train, test} {
		var all []File
		for _, f := range *files {
			parts, err := l.sniff(f, of.add)
			if err != nil {
				return "", err
			}
			all = append(all, parts...)
		}
		*files = all
	}
	if len(*test) == 0 && of.kind != formatPictures { // what was unpacked has names that were not seen before
		*train, *test, _ = SplitFiles(*train, nil, l.opt.Roles)
		for _, f := range *test {
			l.warn("%s is used for testing, as its name says.", shorten(f.Name()))
		}
	}
	return of.kind, nil
}

// kinds is the one kind that files are of. Pictures may have tables beside them, which
// say what they show.
type kinds struct {
	kind  format
	first File
}

func (of *kinds) add(f File, k format) error {
	beside := func(a, b format) bool { return a == formatPictures && b == formatCSV }
	switch {
	case of.first == nil || beside(k, of.kind):
		of.kind, of.first = k, f
	case k != of.kind && !beside(of.kind, k):
		return &Error{File: f.Name(),
			Expected: fmt.Sprintf("a file of the same kind as %s (%s)", shorten(of.first.Name()), of.kind),
			Got:      fmt.Sprintf("a %s file", k),
			Fix:      "Choose files of one data set at a time."}
	}
	return nil
}

func zipped(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// head is the beginning of f's content, and how many bytes that has in all; 0 where it
// is compressed.
func (l *loader) head(f File) (head []byte, size int64, err error) {
	s, err := l.open(f, phaseSniff)
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	head, err = s.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	if len(head) == 0 {
		return nil, 0, emptyFile(f)
	}
	if !s.gzip {
		size = f.Size()
	}
	return bytes.Clone(head), size, nil // as the source gives its memory back
}

// sniff tells add what f is, and returns it or, of an archive, what is to be read in
// its place.
func (l *loader) sniff(f File, add func(File, format) error) ([]File, error) {
	if _, ok := f.(*folder); ok {
		return []File{f}, add(f, formatPictures)
	}
	head, size, err := l.head(f)
	if err != nil {
		return nil, err
	}
	_, packed := f.(*entry)
	if !packed && zipped(head) && size == 0 {
		return nil, notData(f.Name(), "a zip archive inside a gzip file: unpack it first")
	}
	if !packed && zipped(head) {
		return l.sniffArchive(f, add)
	}
	k := formatCSV
	if !utf16Mark(head) && l.opt.Encoding != utf16Text {
		if k, err = sniff(f.Name(), head, size); err != nil {
			return nil, err
		}
	}
	return []File{f}, add(f, k)
}

func (l *loader) sniffArchive(f File, add func(File, format) error) ([]File, error) {
	a, err := l.openArchive(f)
	if err != nil {
		return nil, err
	}
	k, err := a.holds()
	if err != nil {
		return nil, err
	}
	if k != "" {
		return []File{a}, add(a, k)
	}
	if err := l.countTables(f, len(a.entries)); err != nil {
		return nil, err
	}
	m := &meter{l: l, file: f, phase: phaseScan, told: l.now()}
	for _, e := range a.entries {
		if err := m.check(false); err != nil {
			return nil, err
		}
		if _, err := l.sniff(e, add); err != nil {
			return nil, err
		}
		m.done += stored(e)
	}
	return a.files(), nil
}

// countTables counts n files of an archive that are opened one by one, as tables are.
func (l *loader) countTables(f File, n int) error {
	if l.tables += n; l.tables <= l.limits.tables {
		return nil
	}
	return &Error{File: f.Name(), Expected: fmt.Sprintf("at most %d tables in archives", l.limits.tables), Got: "more",
		Fix: "Join the tables into fewer files, or leave out those that do not matter."}
}

// sniff decides by the first bytes of a file, and by its name only where they
// do not tell. size is that of [loader.head].
func sniff(name string, head []byte, size int64) (format, error) {
	lower := strings.ToLower(name)
	other := foreign(head)
	records, isRecords := looksCIFAR(head, size)
	switch {
	case bytes.HasPrefix(head, []byte(npyMagic)):
		return formatNumPy, nil
	case looksIDX(head):
		return formatIDX, nil
	case strings.Contains(lower, "idx") || strings.Contains(lower, "ubyte"):
		return "", badMagic(name, head)
	case !isBinary(head) && other == "":
		return formatCSV, nil
	case bytes.HasPrefix(head, []byte("PAR1")):
		return formatParquet, nil
	case other == "" && isRecords:
		return records, nil
	case other == "" && (strings.Contains(lower, "cifar-100") || strings.Contains(lower, "cifar100")):
		return formatCIFAR100, nil
	case other == "" && (strings.Contains(lower, "cifar") || strings.Contains(lower, "_batch")):
		return formatCIFAR, nil
	case other == "":
		other = "binary data of an unknown kind"
	}
	return "", notData(name, other)
}

func notData(name, what string) error {
	return &Error{File: name,
		Expected: "a table (CSV, Excel's .xlsx, Parquet), NumPy arrays, pictures (PNG, JPEG) in folders or a zip archive, IDX images and labels, or CIFAR records",
		Got:      what,
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
		{"<?xml", "an XML file, such as a spreadsheet of another kind: save it as .xlsx"},
		{"{\"", "a JSON file"},
		{"[{", "a JSON file"},
		{"\x89PNG", "a PNG image, whose name does not say so"},
		{"\xff\xd8\xff", "a JPEG image, whose name does not say so"},
		{"GIF8", "a GIF image"},
		{"%PDF", "a PDF document"},
		{"PK\x03\x04", "a zip archive inside another"},
		{"\xd0\xcf\x11\xe0", "an Office file of the old kind (.xls), or one with a password: save it as .xlsx"},
		{"\x89HDF", "an HDF5 file"},
		{"SQLite format 3", "an SQLite database"},
		{"\x80\x02", "a Python pickle"},
		{"\x80\x03", "a Python pickle"},
		{"\x80\x04", "a Python pickle"},
		{"\x80\x05", "a Python pickle"},
		{"\x1f\x8b", "a gzip file inside a gzip file"},
		{"BZh", "a bzip2 file"},
		{"\xfd7zXZ", "an xz file"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.what
		}
	}
	return ""
}

// isBinary reports whether head is not text: it has a NUL or many control bytes.
// Text need not be UTF-8; old tables are in Windows-1252.
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

// holdOut moves share of the training rows to Test, that share of each class where some are
// rare. The shuffle's seed is fixed so that the same files give the same split.
// Both parts stay in the memory they are in.
func (d *Dataset) holdOut(share float64) {
	n := d.Train.N
	d.HeldOut = Shuffled // also where there are too few rows: with one more it could be otherwise
	k := min(int(float64(n)*share), n-1)
	if k <= 0 {
		return
	}
	perm := make([]int32, n)
	for i := range perm {
		perm[i] = int32(i)
	}
	rng := rand.New(rand.NewPCG(0x686f6c64, 0x6f7574))
	rng.Shuffle(n, func(i, j int) { perm[i], perm[j] = perm[j], perm[i] })
	of := d.quotas(share, k)
	byClass := of != nil
	if byClass {
		perm = slices.DeleteFunc(perm, func(row int32) bool {
			y := int(d.Train.Y[row])
			of[y]--
			return of[y] < 0
		})
	} else {
		perm = perm[:k]
	}
	if len(perm) == 0 {
		return
	}
	d.ByClass = byClass
	slices.Sort(perm)
	d.moveToTest(perm)
}

// The ways to choose rows that are held out, in options.
const (
	holdOutShuffle = "shuffle"
	holdOutRow     = "row"
)

// holdOutByRow moves to Test the training rows whose hash, a number between 0 and 1, is below
// share. Rows that are the same go to the same part.
//
// Guarantee: where a row goes depends on what it holds alone: one row more is one row
// more in either Train or Test, and moves no other.
func (d *Dataset) holdOutByRow(share float64) {
	var taken []int32
	for i := range d.Train.N {
		if float64(d.hash(i))*0x1p-64 < share {
			taken = append(taken, int32(i))
		}
	}
	if len(taken) == 0 {
		return
	}
	d.HeldOut = ByRow
	d.moveToTest(taken)
}

// hash mixes the features, the text and the targets of a training row: FNV-1a, and the end
// of SplitMix64 so that its leading digits are as good as its last.
func (d *Dataset) hash(row int) uint64 {
	h := uint64(0xcbf29ce484222325)
	add := func(v uint64) { h = (h ^ v) * 0x100000001b3 }
	values := func(v []float32) {
		for _, x := range v {
			add(uint64(math.Float32bits(x + 0))) // −0 as 0
		}
	}
	f, w := d.Features, d.TargetWidth()
	if d.Train.U8 != nil {
		for _, b := range d.Train.U8[row*f:][:f] {
			add(uint64(b))
		}
	} else {
		values(d.Train.F32[row*f:][:f])
	}
	if d.Train.Text != nil {
		for _, b := range []byte(d.Train.Text[row]) {
			add(uint64(b))
		}
	}
	values(d.Train.Y[row*w:][:w])
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// moveToTest makes Test of the training rows listed in perm, which ascends.
func (d *Dataset) moveToTest(perm []int32) {
	d.Test.N, d.Train.N = len(perm), d.Train.N-len(perm)
	d.Train.U8, d.Test.U8 = cut(d.Train.U8, d.Features, perm)
	d.Train.F32, d.Test.F32 = cut(d.Train.F32, d.Features, perm)
	d.Train.Text, d.Test.Text = cut(d.Train.Text, 1, perm)
	d.Train.Y, d.Test.Y = cut(d.Train.Y, d.TargetWidth(), perm)
}

// fewHeldOut is of how many test rows a class must have the prospect before chance alone
// may choose them: of five, it leaves a class with none in fewer than 1 in 100 splits (e⁻⁵).
const fewHeldOut = 5

// quotas returns the number of rows that each class gives to the k held-out ones: its share, rounded
// so that they add up, by the largest remainders and then by the classes' order; a class
// keeps a row to train on. They are nil where every class has rows enough for chance.
func (d *Dataset) quotas(share float64, k int) []int {
	if d.Task != Classification {
		return nil
	}
	rows := make([]int, len(d.Classes))
	for _, y := range d.Train.Y {
		rows[int(y)]++
	}
	few := func(n int) bool { return n > 0 && float64(n)*share < fewHeldOut }
	if !slices.ContainsFunc(rows, few) {
		return nil
	}
	of := make([]int, len(rows))
	var order []int // of those that may give one more
	for c, n := range rows {
		of[c] = int(float64(n) * share)
		k -= of[c]
		if of[c]+1 < n {
			order = append(order, c)
		}
	}
	left := func(c int) float64 { return float64(rows[c])*share - float64(of[c]) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(left(b), left(a)) })
	for _, c := range order[:min(max(k, 0), len(order))] { // rounded products may differ by one
		of[c]++
	}
	return of
}

// cut moves the rows of a listed in idx (ascending) to its end, where they keep
// their order, by exchanging them with the rows there.
func cut[T any](a []T, width int, idx []int32) (rest, taken []T) {
	if a == nil {
		return nil, nil
	}
	to := len(a)
	for _, from := range slices.Backward(idx) {
		to -= width
		for j, at := 0, int(from)*width; j < width; j++ {
			a[to+j], a[at+j] = a[at+j], a[to+j]
		}
	}
	return a[:to:to], a[to:]
}
