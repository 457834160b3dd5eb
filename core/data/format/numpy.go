package format

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
)

// Arrays of NumPy come one in a file (NPY) or several in an archive (NPZ). The name of an array says
// what it is for, as x_train, y_train, x_test and y_test do in mnist.npz; otherwise its shape decides.

// numPyFormat reads NumPy's arrays.
var numPyFormat = Format{
	Name: "numpy",
	Sniff: func(_ string, head []byte, _ int64) (bool, error) {
		return bytes.HasPrefix(head, []byte(npyMagic)), nil
	},
	Holds: func(path string) bool { return strings.HasSuffix(path, ".npy") },
	Load:  loadNumPy,
}

// npyArray is an array whose values have not been read.
type npyArray struct {
	file  source.File
	name  string
	head  npyHeader
	words []string // of the name

	number int   // tells it from the others
	err    error // why it cannot be read, which matters where it is needed
}

// has reports whether one of the words of the array's name is one of these.
func (a npyArray) has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(a.words, w) })
}

// npyFeatures and npyLabels list the usual names of arrays, the likeliest first.
var (
	npyFeatures = []string{"x", "xtrain", "xtest", "data", "images", "image", "imgs", "features", "inputs", "pixels", "arr_0"}
	npyLabels   = []string{"y", "ytrain", "ytest", "labels", "label", "targets", "target", "classes", "class", "arr_1"}
	npyOthers   = []string{"val", "valid", "validation", "dev"}
)

// npyPair holds the arrays of some rows: their features and their targets, and where there is such an array
// the names of the labels.
type npyPair struct{ x, y, names *npyArray }

func loadNumPy(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
	trainArrays, err := npyArrays(in, train)
	if err != nil {
		return nil, err
	}
	var testArrays []npyArray
	if len(test) > 0 {
		testArrays, err = npyArrays(in, test)
	} else {
		trainArrays, testArrays = partArrays(trainArrays)
	}
	if err != nil {
		return nil, err
	}
	rows, err := pairArrays(in, train[0], trainArrays)
	if err != nil {
		return nil, err
	}
	var held npyPair
	if len(testArrays) > 0 {
		if held, err = pairArrays(in, testArrays[0].file, testArrays); err != nil {
			return nil, err
		}
	}
	return readPairs(in, rows, held)
}

// partArrays splits the arrays of one archive into those to train on and to test on.
func partArrays(arrays []npyArray) (train, test []npyArray) {
	for _, a := range arrays {
		if a.has("test", "xtest", "ytest") {
			test = append(test, a)
		} else {
			train = append(train, a)
		}
	}
	if len(train) == 0 {
		return test, nil
	}
	return train, test
}

// npyArrays returns the headers of all arrays of files.
func npyArrays(in *source.Reading, files []source.File) ([]npyArray, error) {
	var all []npyArray
	for _, f := range files {
		parts := []source.File{f}
		if a, ok := f.(*source.Archive); ok {
			parts = a.Files(".npy")
		}
		for _, part := range parts {
			a, err := readNPYArray(in, part)
			if err != nil && (len(parts) == 1 || in.Ended() != nil) {
				return nil, err
			}
			a.number, a.err = len(all), err
			if a.name == "" { // not even a header
				a.name = path.Base(part.Name())
			}
			all = append(all, a)
		}
	}
	return all, nil
}

func readNPYArray(in *source.Reading, f source.File) (npyArray, error) {
	s, err := in.Open(f, source.PhaseSniff)
	if err != nil {
		return npyArray{}, err
	}
	defer s.Close()
	h, err := readNPYHeader(s, in.Limits)
	name := path.Base(f.Name())
	for _, end := range []string{".gz", ".npy"} {
		name = strings.TrimSuffix(name, end)
	}
	words := append(source.NameWords(name), strings.ToLower(name))
	if e, ok := f.(*source.Entry); ok && strings.HasPrefix(name, "arr_") { // a name that says nothing
		words = append(words, source.NameWords(e.Archive.Name())...)
	}
	return npyArray{file: f, name: name, head: h, words: words}, err
}

// pairArrays finds the features and the labels among arrays.
func pairArrays(in *source.Reading, file source.File, arrays []npyArray) (p npyPair, err error) {
	var unused []string
	candidates := slices.DeleteFunc(slices.Clone(arrays), func(a npyArray) bool { return a.err != nil })
	if len(arrays) > 2 {
		candidates = slices.DeleteFunc(candidates, func(a npyArray) bool { return a.has(npyOthers...) })
	}
	if len(candidates) > 2 {
		candidates = slices.DeleteFunc(candidates, func(a npyArray) bool {
			if !a.has("names") || len(a.head.shape) != 1 || !a.head.text() {
				return false
			}
			p.names = &a
			return true
		})
	}
	p.x, p.y = called(candidates, npyFeatures), called(candidates, npyLabels)
	if len(candidates) == 2 && p.x == nil && p.y == nil { // nothing but their shapes tells
		if a, b := &candidates[0], &candidates[1]; a.head.row() > b.head.row() {
			p = npyPair{x: a, y: b, names: p.names}
		} else if b.head.row() > a.head.row() {
			p = npyPair{x: b, y: a, names: p.names}
		}
	}
	if len(candidates) == 2 { // what is left is the other
		for i := range candidates {
			switch a := &candidates[i]; {
			case p.x == nil && p.y != nil && p.y != a:
				p.x = a
			case p.y == nil && p.x != nil && p.x != a:
				p.y = a
			}
		}
	}
	var have []string
	for _, a := range arrays {
		if a.err != nil && (p.x == nil || p.y == nil) {
			return p, a.err
		}
		have = append(have, fmt.Sprintf("%s (%s)", a.name, a.head))
		if p.x != nil && a.number != p.x.number && p.y != nil && a.number != p.y.number && (p.names == nil || a.number != p.names.number) {
			unused = append(unused, a.name)
		}
	}
	if p.x == nil || p.y == nil || p.x == p.y {
		return p, &data.Error{File: file.Name(), Expected: "an array of features and one of labels, called x_train and y_train, X and y, data and labels or the like",
			Got: data.List(have), Fix: "Rename the arrays, or save both in one file with numpy.savez(file, X=…, y=…)."}
	}
	if x, y := p.x.head.shape[0], p.y.head.shape[0]; x != y {
		return p, &data.Error{File: p.y.file.Name(), Expected: fmt.Sprintf("%d labels, one for each row of %s", x, data.Shorten(p.x.name)), Got: fmt.Sprint(y),
			Fix: "Choose the labels that belong to these rows."}
	}
	if len(unused) > 0 {
		in.Warn("Left out: %s.", data.List(unused))
	}
	return p, nil
}

// called returns the array with the likeliest of the names, the first of several; nil: none has one.
func called(arrays []npyArray, names []string) *npyArray {
	for _, name := range names {
		for i := range arrays {
			if arrays[i].has(name) {
				return &arrays[i]
			}
		}
	}
	return nil
}

// npyLayout is the layout of a row's values in memory.
type npyLayout struct {
	shape   []int // as [Dataset.Shape]
	strides []int // of the array's indices
	bytes   bool  // whether values stay bytes
}

// layoutOf makes pictures of three and four dimensions, with the planes of colour one
// after the other wherever the array has the channels.
func layoutOf(in *source.Reading, x *npyArray) npyLayout {
	h := x.head
	out := npyLayout{strides: rowMajor(h.shape), bytes: h.bytes == 1 && (h.kind == 'u' || h.kind == 'b')}
	channels := func(n int) bool { return n == 1 || n == 3 || n == 4 }
	switch d := h.shape[1:]; {
	case len(d) == 2 && d[0] > 1 && d[1] > 1:
		out.shape = d
	case len(d) == 3 && channels(d[2]):
		height, width, planes := d[0], d[1], d[2]
		in.Warn("%s: the last dimension, of %d, is taken as the channels of pictures of %d×%d.", data.Shorten(x.name), planes, height, width)
		out.shape = []int{planes, height, width}
		out.strides = []int{h.row(), width, 1, height * width}
	case len(d) == 3 && channels(d[0]):
		in.Warn("%s: the second dimension, of %d, is taken as the channels of pictures of %d×%d.", data.Shorten(x.name), d[0], d[1], d[2])
		out.shape = d
	}
	if len(out.shape) == 3 && out.shape[0] == 1 {
		out.shape = out.shape[1:]
	}
	return out
}

// readPairs reads the rows to train on and, where held has any, those to test on.
func readPairs(in *source.Reading, rows, held npyPair) (*data.Dataset, error) {
	in.Warn("%s (%s) is taken as the features, %s (%s) as the labels.", data.Shorten(rows.x.name), rows.x.head, data.Shorten(rows.y.name), rows.y.head)
	layout := layoutOf(in, rows.x)
	ds := &data.Dataset{Features: rows.x.head.row(), Shape: layout.shape}
	if layout.bytes {
		ds.Bounds = data.ByteBounds(ds.Features)
		if rows.x.head.kind == 'b' {
			ds.Bounds = slices.Repeat([]data.Bound{{Lo: 0, Hi: 1}}, ds.Features)
		}
	}
	if err := readFeatures(in, &ds.Train, rows, layout); err != nil {
		return nil, err
	}
	targets, err := readTargets(in, rows.y)
	if err != nil {
		return nil, err
	}
	if err := targets.decide(ds, in, rows); err != nil {
		return nil, err
	}
	nameColumns(in, ds, layout)
	if held.x == nil {
		return ds, nil
	}
	if a, b := rows.x.head, held.x.head; a.name != b.name || !slices.Equal(a.shape[1:], b.shape[1:]) {
		return nil, &data.Error{File: held.x.file.Name(), Expected: fmt.Sprintf("rows like those of %s (%s)", data.Shorten(rows.x.name), a), Got: b.String(),
			Fix: "Choose test rows of the same shape and type."}
	}
	if err := readFeatures(in, &ds.Test, held, layout); err != nil {
		return nil, err
	}
	testTargets, err := readTargets(in, held.y)
	if err != nil {
		return nil, err
	}
	ds.Test.Y, err = testTargets.as(ds, targets, held.y)
	return ds, err
}

// nameColumns makes columns of features that are no pictures, as of a table without a
// header: their bounds are then bought as those of tables are.
func nameColumns(in *source.Reading, ds *data.Dataset, layout npyLayout) {
	switch {
	case layout.bytes:
		return
	case layout.shape != nil:
		in.Warn("What range the values of the pictures lie in is not looked up, as that is private: declare it under Scaling where it is not about 0 to 1.")
		return
	case ds.Features >= in.Limits.Columns:
		return
	}
	for i := range ds.Features {
		ds.Columns = append(ds.Columns, data.Column{Name: data.Nameless(i), Kind: data.Numeric, First: i})
	}
	if ds.Task == data.MultiLabel {
		ds.Columns = append(ds.Columns, table.FlagColumns(ds.Classes)...)
		return
	}
	ds.Columns = append(ds.Columns, data.Column{Name: "label", Kind: data.Label, First: -1, Categories: ds.Classes})
}

func readFeatures(in *source.Reading, sp *data.Split, p npyPair, layout npyLayout) error {
	h := p.x.head
	n, features := h.shape[0], h.row()
	bytes := int64(features)
	if !layout.bytes {
		bytes *= 4
	}
	targets := 4*int64(p.y.head.row()) + source.RowOverhead
	if err := in.Claim(p.x.file.Name(), int64(n), int64(features), bytes+targets); err != nil {
		return err
	}
	sp.N = n
	if layout.bytes {
		sp.U8 = make([]uint8, n*features)
		return readArray(in, p.x, layout.strides, func(at int, b []byte) error {
			sp.U8[at] = b[0]
			if h.kind == 'b' {
				sp.U8[at] = uint8(h.number(b))
			}
			return nil
		})
	}
	if h.text() {
		return &data.Error{File: p.x.file.Name(), Expected: "features that are numbers", Got: "text", Fix: "Save the rows as a CSV table, which may have columns of text."}
	}
	sp.F32 = make([]float32, n*features)
	return readArray(in, p.x, layout.strides, func(at int, b []byte) (err error) {
		sp.F32[at], err = finite(p.x, at/features, h.number(b))
		return err
	})
}

// finite returns v as a float32, and an error where that is not finite.
func finite(a *npyArray, row int, v float64) (float32, error) {
	f := float32(v)
	if math.IsNaN(v) || math.IsInf(float64(f), 0) {
		return 0, &data.Error{File: a.file.Name(), Row: row + 1, Expected: "a finite number (below 3.4e38)", Got: fmt.Sprint(v),
			Fix: "Replace such values, or leave their rows out, before the array is saved."}
	}
	return f, nil
}

func readArray(in *source.Reading, a *npyArray, strides []int, put func(at int, b []byte) error) error {
	s, err := in.Open(a.file, source.PhaseRead)
	if err != nil {
		return err
	}
	defer s.Close()
	h, err := readNPYHeader(s, in.Limits)
	if err != nil {
		return err
	}
	if h.String() != a.head.String() || h.fortran != a.head.fortran {
		return source.Changed(a.file.Name())
	}
	return h.eachValue(s, strides, put)
}

// npyTargets holds the labels of some rows as their array has them.
type npyTargets struct {
	width   int
	values  []float32 // [rows × width]; of text the number of the word
	words   []string  // of text, in the order in which they come
	whole   bool      // they are whole numbers by their type
	onehot  bool      // every row is 0 but for one 1
	classes []float32 // the values of the classes, ascending; of text their numbers by the order of the words
}

func readTargets(in *source.Reading, y *npyArray) (*npyTargets, error) {
	h := y.head
	t := &npyTargets{width: h.row(), whole: h.whole(), values: make([]float32, h.shape[0]*h.row())}
	if t.width > in.Limits.Classes {
		return nil, &data.Error{File: y.file.Name(), Expected: fmt.Sprintf("at most %d labels a row", in.Limits.Classes), Got: fmt.Sprint(t.width), Fix: "Save one label, or fewer, for each row."}
	}
	index := map[string]float32{}
	err := readArray(in, y, rowMajor(h.shape), func(at int, b []byte) (err error) {
		if !h.text() {
			t.values[at], err = finite(y, at/t.width, h.number(b))
			return err
		}
		w := h.word(b)
		k, ok := index[w]
		if !ok {
			if len(index) == in.Limits.Classes {
				return tooManyClasses(in, y)
			}
			k = float32(len(index))
			index[w] = k
			t.words = append(t.words, w)
		}
		t.values[at] = k
		return nil
	})
	t.onehot = t.width > 1 && t.words == nil && onehot(t.values, t.width)
	return t, err
}

func tooManyClasses(in *source.Reading, y *npyArray) error {
	return &data.Error{File: y.file.Name(), Expected: fmt.Sprintf("at most %d classes", in.Limits.Classes), Got: "more",
		Fix: "Choose regression as the task where the labels are quantities, or other labels."}
}

// onehot reports whether every row of values is 0 but for one 1.
func onehot(values []float32, width int) bool {
	for ; len(values) > 0; values = values[width:] {
		ones := 0
		for _, v := range values[:width] {
			if v != 0 && v != 1 {
				return false
			}
			ones += int(v)
		}
		if ones != 1 {
			return false
		}
	}
	return true
}

// decide says what the targets are: words and whole numbers are classes, as are rows
// of zeros with one 1; numbers with fractions are to be told themselves.
func (t *npyTargets) decide(ds *data.Dataset, in *source.Reading, p npyPair) error {
	y := p.y
	if multi, err := t.multiLabel(in, y); err != nil {
		return err
	} else if multi {
		ds.Task, ds.Outputs, ds.Train.Y = data.MultiLabel, t.width, t.values
		ds.Classes, err = labelNames(in, p, t.width)
		return err
	}
	ds.Task, ds.Outputs = data.Regression, t.width
	classes := t.onehot || t.width == 1 && (t.words != nil || t.whole || in.Options.Task == string(data.Classification))
	if !classes || in.Options.Task == string(data.Regression) && t.words == nil {
		ds.Train.Y = t.values
		return nil
	}
	ds.Task = data.Classification
	if t.onehot {
		for i := range t.width {
			ds.Classes = append(ds.Classes, strconv.Itoa(i))
		}
	} else if err := t.list(in, y); err != nil {
		return err
	}
	for _, c := range t.classes {
		ds.Classes = append(ds.Classes, t.class(c))
	}
	ds.Outputs = len(ds.Classes)
	var err error
	if ds.Train.Y, err = t.as(ds, t, y); err == nil && data.AllEqual(ds.Train.Y) {
		err = data.OneClass(y.file.Name(), ds.Classes[int(ds.Train.Y[0])])
	}
	return err
}

// list finds the classes.
func (t *npyTargets) list(in *source.Reading, y *npyArray) error {
	seen := map[float32]bool{}
	for _, v := range t.values {
		if seen[v] {
			continue
		}
		if len(seen) == in.Limits.Classes {
			return tooManyClasses(in, y)
		}
		if math.Abs(float64(v)) >= table.MostExact && t.words == nil {
			return &data.Error{File: y.file.Name(), Expected: fmt.Sprintf("labels below %d", table.MostExact), Got: t.class(v) + " or near it",
				Fix: "Number the classes from 0, or save their names as text."}
		}
		seen[v] = true
		t.classes = append(t.classes, v)
	}
	slices.SortFunc(t.classes, func(a, b float32) int {
		if t.words != nil {
			return strings.Compare(t.class(a), t.class(b))
		}
		return cmp.Compare(a, b)
	})
	return nil
}

// class returns the name of a class by its value.
func (t *npyTargets) class(v float32) string {
	if t.words != nil {
		return data.Clip(t.words[int(v)], table.MostShown)
	}
	return strconv.FormatFloat(float64(v), 'f', -1, 32)
}

// as returns the targets of the rows as indices of train's classes. train may be t itself.
func (t *npyTargets) as(ds *data.Dataset, train *npyTargets, y *npyArray) ([]float32, error) {
	if t.width != train.width || (t.words == nil) != (train.words == nil) {
		return nil, &data.Error{File: y.file.Name(), Expected: "labels in the form of those to train on", Got: y.head.String(), Fix: "Save both in the same form."}
	}
	if ds.Task == data.MultiLabel {
		return t.values, t.checkFlags(y)
	}
	if ds.Task != data.Classification {
		return t.values, nil
	}
	index := make(map[string]int, len(ds.Classes))
	for i, c := range ds.Classes {
		index[c] = i
	}
	rows := make([]float32, 0, len(t.values)/t.width)
	for i := 0; i < len(t.values); i += t.width {
		row := t.values[i : i+t.width]
		if train.onehot && t.onehot {
			rows = append(rows, float32(slices.Index(row, 1)))
			continue
		}
		k, ok := index[t.class(row[0])]
		if !ok || train.onehot {
			return nil, &data.Error{File: y.file.Name(), Row: i/t.width + 1, Expected: "one of the classes " + data.List(ds.Classes), Got: data.Quote(t.class(row[0])),
				Fix: "Correct the label, or leave the row out."}
		}
		rows = append(rows, float32(k))
	}
	return rows, nil
}
