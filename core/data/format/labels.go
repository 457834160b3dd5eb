package format

import (
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
		take, err := flags.taker(in, f, t, first, nameAt, all, names)
		if err != nil || take == nil {
			return false, err
		}
		return true, eachRow(t, first, lines, take)
	}
	labelAt, err := labelColumn(in, t, nameAt)
	if err != nil && in.Options.Label == "" && !slices.ContainsFunc(all, func(p picture) bool { return p.label == "" }) { // as imagenette's
		in.Warn("%s is not used: none of its %d columns is called label, and folders say what the pictures show. Choose the label column to have it used.", data.Shorten(f.Name()), t.Width())
		return false, nil
	}
	if err != nil || nameAt < 0 {
		if err == nil && !others {
			in.Warn("%s names none of the pictures, and is not used.", data.Shorten(f.Name()))
		}
		return false, err
	}
	held := source.NamedTest(path.Base(f.Name()))
	take := func(cells []string, _ int) error {
		if err := checkPath(f, nameAt, cells[nameAt]); err != nil {
			return err
		}
		i, ok := names.find(cells[nameAt])
		if !ok {
			return nil // of a picture that is not there
		}
		label := cells[labelAt]
		if len(label) > in.Limits.Category {
			return &data.Error{File: f.Name(), Expected: fmt.Sprintf("labels of at most %d bytes", in.Limits.Category), Got: data.Quote(label), Fix: "Choose another label column."}
		}
		if label != "" {
			all[i].label = fromTable + label
		}
		if held {
			all[i].role = source.RoleTest
		}
		return nil
	}
	if err := eachRow(t, first, lines, take); err != nil {
		return false, err
	}
	return true, nil
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

// checkPath refuses the name of a picture that no archive could have.
func checkPath(f source.File, nameAt int, name string) error {
	if n := len(name); n > mostPath {
		return &data.Error{File: f.Name(), Column: nameAt + 1, Expected: fmt.Sprintf("names of pictures of at most %d bytes, as archives have them", mostPath), Got: fmt.Sprintf("one of %d", n),
			Fix: "Correct the table, or leave it out of the archive."}
	}
	return nil
}

// pictureIndex finds pictures by what a table may call them: the path, the name, or
// the name without its end; by one of the latter two where no other is called so.
type pictureIndex struct {
	at      map[string]int
	longest int // bytes of a path
}

const several = -1

func pictureNames(all []picture) *pictureIndex {
	names, longest := map[string]int{}, 0
	for i, p := range all {
		base := path.Base(p.path)
		for _, name := range []string{base, strings.TrimSuffix(base, path.Ext(base))} {
			if other, ok := names[name]; ok && other != i {
				names[name] = several
			} else {
				names[name] = i
			}
		}
	}
	for i, p := range all {
		names[p.path] = i
		longest = max(longest, len(p.path))
	}
	return &pictureIndex{names, longest}
}

// mostAbove limits the folders that a cell may have above a picture that do not stand above it
// in the archive: those of the disk on which the table was written.
const mostAbove = 64

// mostPath is the longest path that an entry of a zip archive can have.
const mostPath = 1<<16 - 1

// find takes time in proportion to the bytes of name, whatever it is.
func (x *pictureIndex) find(name string) (int, bool) {
	name = strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "./")
	for range mostAbove {
		if len(name) <= x.longest {
			if i, ok := x.at[name]; ok {
				return i, i != several
			}
		}
		if _, name, _ = strings.Cut(name, "/"); name == "" {
			break
		}
	}
	return 0, false
}

// nameColumn returns the column of pictures' names; -1 where the table is about something else.
func nameColumn(t *table.Table, rows [][]string, names *pictureIndex) int {
	nameAt, best := -1, 0
	for i := range t.Width() {
		known, cells := map[int]bool{}, 0
		for _, row := range rows {
			if at, ok := names.find(row[i]); ok {
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
