package format

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
)

// fromTable marks a label that a table gave; no folder's name begins so.
const fromTable = "\x00"

// readLabels reads a table of pictures' names and labels, of several labels a row into flags where that is not
// nil. It reports whether it is one.
func readLabels(in *source.Reading, f source.File, all []picture, names *pictureIndex, others bool, flags *flagTable) (bool, error) {
	ch, err := table.Choose(in.Options, in.Limits)
	if err != nil {
		return false, err
	}
	t, err := table.Open(in, f, source.PhaseScan, ch, nil)
	if err != nil {
		return false, err
	}
	defer t.Close()
	var first [][]string
	var lines []int
	for size := int64(0); len(first) < 100 && size < in.Limits.Record; {
		cells, line, err := t.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return false, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = strings.Clone(c)
			size += int64(len(c))
		}
		first, lines = append(first, row), append(lines, line)
	}
	nameAt := nameColumn(t, first, names)
	if flags != nil {
		l := newLabelling(in, f, all, names, first, nameAt)
		take, err := flags.taker(l, f, t, first, nameAt)
		if err != nil || take == nil {
			return false, err
		}
		if err := eachRow(t, first, lines, take); err != nil {
			return false, err
		}
		l.warn()
		return true, nil
	}
	labelAt, err := labelColumn(in, t, nameAt)
	if err != nil && in.Options.Label == "" && !slices.ContainsFunc(all, func(p picture) bool { return p.label == "" }) { // as imagenette's
		tell := in.Doubt
		if agrees(first, nameAt, all, names) {
			tell = in.Warn
		}
		tell("%s is not used: none of its %d columns is called label (%s), and folders say what the pictures show. Choose the label column to have it used.", data.Shorten(f.Name()), t.Width(), data.List(t.Names()))
		return false, nil
	}
	if err != nil || nameAt < 0 {
		if err == nil && !others {
			why := "names none of the pictures"
			if names.tellOthers(f.Name(), first) {
				why = "names the same pictures again and again"
			}
			in.Warn("%s %s, and is not used.", data.Shorten(f.Name()), why)
		}
		return false, err
	}
	l := newLabelling(in, f, all, names, first, nameAt)
	take := func(cells []string, line int) error { return l.take(cells[nameAt], cells[labelAt], line) }
	if err := eachRow(t, first, lines, take); err != nil {
		return false, err
	}
	l.warn()
	return true, nil
}

// agrees reports whether a column of a table's first rows says of each picture what its folder does.
func agrees(rows [][]string, nameAt int, all []picture, names *pictureIndex) bool {
	for column := range rows[0] {
		if !slices.ContainsFunc(rows, func(row []string) bool {
			i, _, ok := names.find(row[nameAt])
			return ok && all[i].label != source.Composed(row[column])
		}) {
			return true
		}
	}
	return false
}

// eachRow calls take for each row of a table and its number, of which the first ones have been read.
func eachRow(t *table.Table, first [][]string, lines []int, take func(cells []string, line int) error) error {
	for i, row := range first {
		if err := take(row, lines[i]); err != nil {
			return err
		}
	}
	for {
		cells, line, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = take(cells, line)
		}
		if err != nil {
			return err
		}
	}
}

// labelling gives pictures the labels of one table.
type labelling struct {
	in     *source.Reading
	file   string
	nameAt int
	all    []picture
	names  *pictureIndex
	strict bool // a picture in another folder than the table says is another one
	held   bool // the pictures are for testing

	rows            int
	missing, varied aside
}

// aside counts rows of a kind.
type aside struct {
	rows  int
	first string
	line  int
}

func (a *aside) add(first string, line int) {
	if a.rows++; a.rows == 1 {
		a.first, a.line = first, line
	}
}

func newLabelling(in *source.Reading, f source.File, all []picture, names *pictureIndex, first [][]string, nameAt int) *labelling {
	return &labelling{in: in, file: f.Name(), nameAt: nameAt, all: all, names: names, strict: nameAt >= 0 && names.strict(first, nameAt), held: source.NamedTest(path.Base(f.Name()))}
}

// take gives the picture that a row names its label.
func (l *labelling) take(name, label string, line int) error {
	i, how, ok, err := l.find(name, line)
	if !ok || err != nil {
		return err
	}
	if len(label) > l.in.Limits.Category {
		return &data.Error{File: l.file, Expected: fmt.Sprintf("labels of at most %d bytes", l.in.Limits.Category), Got: data.Quote(label), Fix: "Choose another label column."}
	}
	if label = source.Composed(label); label != "" {
		label = fromTable + label
	}
	return l.put(i, how, label, line)
}

// find returns the picture that a row names. Of two rows that may mean the same picture, the one that names it
// more exactly does.
func (l *labelling) find(name string, line int) (i int, how variance, ok bool, err error) {
	if n := len(name); n > mostPath {
		return 0, 0, false, &data.Error{File: l.file, Column: l.nameAt + 1, Expected: fmt.Sprintf("names of pictures of at most %d bytes, as archives have them", mostPath), Got: fmt.Sprintf("one of %d", n),
			Fix: "Correct the table, or leave it out of the archive."}
	}
	l.rows++
	i, how, ok = l.names.find(name)
	if !ok || how&otherFolder != 0 && l.strict || l.names.labelled[i].line > 0 && how > l.names.labelled[i].how {
		l.missing.add(data.Quote(name), line)
		return 0, 0, false, nil
	}
	if how&(otherEnd|otherCase) != 0 {
		l.varied.add(fmt.Sprintf("%s is %s", data.Quote(name), data.Shorten(l.all[i].path)), line)
	}
	return i, how, true, nil
}

// put gives a picture a label, which begins with the mark of a table or is empty. A picture has one.
func (l *labelling) put(i int, how variance, label string, line int) error {
	p, before := &l.all[i], &l.names.labelled[i]
	if l.held {
		p.role = source.RoleTest
	}
	switch {
	case label == "":
	case before.line == 0 || how < before.how:
		p.label, *before = label, labelled{l.file, line, how}
	case p.label == label || p.label == fromTable:
	case l.in.Options.BadRows == "skip":
		p.label = fromTable // with none
		l.in.Doubt("%s is left out: %s has it as another class in row %d than %s in row %d.", data.Shorten(p.Name()), data.Shorten(l.file), line, data.Shorten(before.file), before.line)
	default:
		return &data.Error{File: l.file, Row: line, Expected: "one label for each picture", Got: fmt.Sprintf("%s as %s, and as %s in row %d of %s", data.Shorten(p.path), data.Quote(label[len(fromTable):]), data.Quote(p.label[len(fromTable):]), before.line, data.Shorten(before.file)),
			Fix: "Correct the table, or " + data.SkipRows + ": such pictures are left out then."}
	}
	return nil
}

// warn says of which rows the names are not those of pictures.
func (l *labelling) warn() {
	if l.missing.rows > 0 {
		l.in.Doubt("%s: %d of %d rows name no picture that is there, and are left out. The first: %s, row %d.", data.Shorten(l.file), l.missing.rows, l.rows, l.missing.first, l.missing.line)
	}
	if l.varied.rows > 0 {
		l.in.Warn("%s: %d of %d rows name pictures with another extension or other capitals. The first: %s.", data.Shorten(l.file), l.varied.rows, l.rows, l.varied.first)
	}
}

// pictureIndex finds pictures by what a table may call them: the path, with or without the folders above all pictures, or
// the name, and each of these without its end. All but the path itself find a picture only where no other is called so.
type pictureIndex struct {
	at       map[string]int
	folded   map[string]int // names without folders, in small letters; nil until it is needed
	longest  int            // bytes of a path
	flat     []bool         // whether a picture stands in no folder below those above all
	labelled []labelled     // of each picture
	others   error          // that of a table which names other pictures alone
}

// labelled holds where the label of a picture stands; a line of 0: nowhere.
type labelled struct {
	file string
	line int
	how  variance
}

// variance says in which ways a table calls a picture otherwise than it is called.
type variance uint8

const (
	otherFolder variance = 1 << iota
	otherEnd
	otherCase
)

const several = -1

func pictureNames(all []picture) *pictureIndex {
	x := &pictureIndex{at: map[string]int{}, flat: make([]bool, len(all)), labelled: make([]labelled, len(all))}
	paths := make([]string, len(all))
	above := "" // the folders above all
	for i, p := range all {
		paths[i] = source.Composed(p.path)
		dir := paths[i][:strings.LastIndexByte(paths[i], '/')+1]
		if i == 0 {
			above = dir
		}
		for !strings.HasPrefix(dir, above) {
			above = above[:strings.LastIndexByte(above[:len(above)-1], '/')+1]
		}
	}
	add := func(name string, i int) {
		if other, ok := x.at[name]; ok && other != i {
			x.at[name] = several
		} else {
			x.at[name] = i
		}
	}
	for i, p := range paths {
		base := path.Base(p)
		x.flat[i] = p[len(above):] == base
		for _, name := range []string{base, p, p[len(above):]} {
			add(strings.TrimSuffix(name, path.Ext(name)), i)
		}
		add(base, i)
		add(p[len(above):], i)
	}
	for i, p := range paths {
		x.at[p] = i
		x.longest = max(x.longest, len(p))
	}
	return x
}

// mostAbove limits the folders that a cell may have above a picture that do not stand above it
// in the archive: those of the disk on which the table was written.
const mostAbove = 64

// mostPath is the longest path that an entry of a zip archive can have.
const mostPath = 1<<16 - 1

// find returns the picture that a table calls by name. It takes time in proportion to the bytes of name,
// whatever it is.
func (x *pictureIndex) find(name string) (i int, how variance, ok bool) {
	if len(name) > mostPath {
		return 0, 0, false
	}
	name = source.Composed(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "./"))
	if i, how, ok = x.findIn(x.at, name); ok {
		return i, how, true
	}
	if x.folded == nil {
		x.folded = map[string]int{}
		for name, i := range x.at {
			if strings.Contains(name, "/") {
				continue
			}
			if name = strings.ToLower(name); len(name) > x.longest {
				x.longest = len(name) // as of İ
			}
			if other, ok := x.folded[name]; ok && other != i {
				i = several
			}
			x.folded[name] = i
		}
	}
	i, how, ok = x.findIn(x.folded, strings.ToLower(name))
	return i, how | otherCase, ok
}

// findIn finds a name, or else that of a picture with another end.
func (x *pictureIndex) findIn(names map[string]int, name string) (i int, how variance, ok bool) {
	if i, how, ok = x.below(names, name); ok || !namesPicture(name) {
		return i, how, ok
	}
	i, how, ok = x.below(names, strings.TrimSuffix(name, path.Ext(name)))
	return i, how | otherEnd, ok
}

// below finds a name with the folders that it has, or the last of them.
func (x *pictureIndex) below(names map[string]int, name string) (i int, how variance, ok bool) {
	for above := range mostAbove {
		if len(name) <= x.longest {
			if i, ok := names[name]; ok {
				if above > 0 && i != several && !strings.Contains(name, "/") && !x.flat[i] {
					how = otherFolder
				}
				return i, how, i != several
			}
		}
		if _, name, _ = strings.Cut(name, "/"); name == "" {
			break
		}
	}
	return 0, 0, false
}

// strict reports whether one of the first rows of a table names a picture with its folder.
func (x *pictureIndex) strict(rows [][]string, nameAt int) bool {
	for _, row := range rows {
		if i, how, ok := x.find(row[nameAt]); ok && how&otherFolder == 0 && !x.flat[i] && strings.ContainsAny(row[nameAt], `/\`) {
			return true
		}
	}
	return false
}

// tellOthers notes that a table has a column of names of pictures, none of which is there. It reports whether some
// column has names of those that are.
func (x *pictureIndex) tellOthers(file string, rows [][]string) (there bool) {
	if len(rows) == 0 {
		return false
	}
	for column := range rows[0] {
		n, first, known := 0, "", 0
		for _, row := range rows {
			if namesPicture(row[column]) {
				n, first = n+1, cmp.Or(first, row[column])
				if _, _, ok := x.find(row[column]); ok {
					known++
				}
			}
		}
		if there = there || known > 0; 2*n > len(rows) && known == 0 {
			x.others = &data.Error{File: file, Column: column + 1, Expected: "the names of pictures that are there", Got: data.Quote(first) + " and others, none of which is",
				Fix: "Correct the names, or leave the table out: then folders say what the pictures show."}
		}
	}
	return there
}

// namesPicture reports whether a cell has the form of a picture's name.
func namesPicture(cell string) bool {
	return source.IsPicture(cell) || source.EndsWith(cell, unreadEnds...)
}

// nameColumn returns the column of pictures' names; -1 where the table is about something else.
func nameColumn(t *table.Table, rows [][]string, names *pictureIndex) int {
	nameAt, best := -1, 0
	for i := range t.Width() {
		known, cells := map[int]bool{}, 0
		for _, row := range rows {
			if at, _, ok := names.find(row[i]); ok {
				known[at] = true
				cells++
			}
		}
		// Labels may be called as pictures are: 0 as 0.png. They come again and again.
		if len(known) > best && 2*len(known) >= cells {
			nameAt, best = i, len(known)
		}
	}
	return nameAt
}

// labelColumn returns the column of labels of a table of pictures.
func labelColumn(in *source.Reading, t *table.Table, nameAt int) (int, error) {
	if nameAt < 0 {
		return 0, nil
	}
	for _, want := range append([]string{in.Options.Label}, table.LabelNames()...) {
		for i, name := range t.Names() {
			if want != "" && i != nameAt && strings.EqualFold(name, want) {
				return i, nil
			}
		}
	}
	if n, err := strconv.Atoi(in.Options.Label); err == nil && n >= 1 && n <= t.Width() && n != nameAt+1 {
		return n - 1, nil
	}
	if t.Width() == 2 {
		return 1 - nameAt, nil
	}
	return 0, &data.Error{File: t.Name(), Expected: "a table of two columns, filename and label", Got: fmt.Sprintf("%d columns, none of them called label", t.Width()),
		Fix: "Choose the label column, or multi-label as the task to learn several."}
}
