package data

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Columns is an open file of columns, such as Parquet, whose form this package leaves
// to others: see [Loader].
type Columns interface {
	// Pictures says whether the rows are pictures with labels.
	Pictures() bool
	// Rows is how many there are.
	Rows() int64
	// Classes are the names of the classes of pictures.
	Classes() []string
	// Skipped are names of columns that no table can have.
	Skipped() []string
	// Open reads the rows from the first on. Those of a table come as CSV text with a
	// header, commas and no line ends within cells; each picture as its label and its
	// bytes, both behind their lengths as little-endian 32-bit numbers. Where what it
	// opens has a method Done() int64, that is how much of the file has been read; it may
	// read no bytes, and no error, so that progress can be said and reading be stopped.
	Open() (io.ReadCloser, error)
}

// columnsFile is such a file as the CSV text of its rows.
type columnsFile struct {
	File
	Columns
}

func (c columnsFile) Open() (io.ReadCloser, error) { return c.Columns.Open() }
func (c columnsFile) writesCSV()                   {}

func (l *loader) loadParquet(train, test []File) (*Dataset, error) {
	if l.parquet == nil {
		return nil, notData(train[0].Name(), "a Parquet file, which this program does not read")
	}
	open := func(files []File) (all []File, pictures int, err error) {
		for _, f := range files {
			c, err := l.parquet(l.ctx, f, l.opt)
			if err != nil {
				return nil, 0, err
			}
			if c.Pictures() {
				pictures++
			} else if names := c.Skipped(); len(names) > 0 {
				l.warn("%s: columns of lists, records or bytes are left out: %s.", shorten(f.Name()), list(names))
			}
			all = append(all, columnsFile{f, c})
		}
		return all, pictures, nil
	}
	train, some, err := open(train)
	if err != nil {
		return nil, err
	}
	test, more, err := open(test)
	if err != nil {
		return nil, err
	}
	switch some + more {
	case 0:
		return l.loadCSV(train, test)
	case len(train) + len(test):
		return l.loadPictureRows(train, test)
	}
	return nil, &Error{File: train[0].Name(), Expected: "files of one data set", Got: "tables as well as pictures", Fix: "Choose files of one data set at a time."}
}

// loadPictureRows reads pictures that stand in columns.
func (l *loader) loadPictureRows(train, test []File) (*Dataset, error) {
	if _, err := choices(l.opt, l.limits); err != nil {
		return nil, err
	}
	name := train[0].Name()
	var classes []string
	if l.opt.Task != string(Regression) {
		seen := map[string]bool{}
		for _, f := range train {
			for _, c := range f.(columnsFile).Classes() {
				if !seen[c] {
					classes = append(classes, c)
				}
				seen[c] = true
			}
		}
		if len(classes) > l.limits.classes {
			return nil, &Error{File: name, Expected: fmt.Sprintf("at most %d classes", l.limits.classes), Got: fmt.Sprint(len(classes)), Fix: "Choose another label column, or regression as the task."}
		}
		if len(classes) < 2 {
			return nil, oneClass(name, strings.Join(classes, ""))
		}
	}
	l.advice = advicePictures
	g := l.newGallery(classes)
	seen := 0
	err := g.rows(train[0].(columnsFile), phaseSniff, func(_, _ string, raw []byte) error {
		g.look(raw)
		if seen++; seen == sampled {
			return io.EOF
		}
		return nil
	})
	if err == nil {
		err = g.settle(name)
	}
	if err != nil {
		return nil, err
	}
	for _, role := range []string{roleTrain, roleTest} {
		sp, files, n := &g.ds.Train, train, int64(0)
		if role == roleTest {
			sp, files = &g.ds.Test, test
		}
		for _, f := range files {
			n += f.(columnsFile).Rows()
			if err := l.room(name, n, int64(g.values()), int64(g.values())+rowOverhead); err != nil {
				return nil, err
			}
		}
		if err := g.room(name, sp, int(n)); err != nil {
			return nil, err
		}
		for _, f := range files {
			err := g.rows(f.(columnsFile), phaseRead, func(row, label string, raw []byte) error {
				err := g.add(row, role, label, raw)
				if err != nil && g.skips(err) {
					return nil
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return g.done(name)
}

// rows calls do with each picture of f, its label, and what errors call it, until the
// error is io.EOF.
func (g *gallery) rows(f columnsFile, phase string, do func(row, label string, raw []byte) error) error {
	rc, err := f.Open()
	if err != nil {
		return err
	}
	defer rc.Close()
	m := &meter{l: g.loader, rc: rc, file: f, phase: phase, told: g.now()}
	g.meter = m
	r := bufio.NewReaderSize(m, headSize)
	for n := 1; ; n++ {
		label, err := g.part(r, int64(g.limits.category))
		if err == io.EOF {
			return nil
		}
		name := string(label)
		row := fmt.Sprintf("%s, picture %d", f.Name(), n)
		var raw []byte
		if err == nil {
			if raw, err = g.part(r, g.limits.picture); err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
		}
		if err == nil {
			err = g.spend(f.Name(), int64(len(name)+len(raw)))
		}
		if err == nil {
			err = do(row, name, raw)
		}
		switch {
		case err == io.EOF:
			return nil
		case err == io.ErrUnexpectedEOF || err == errTooMuch:
			return badPicture(row, "that is too large, or whose label is", nil)
		case err != nil:
			return err
		}
	}
}

// part reads bytes behind their length; they hold until the next call.
func (g *gallery) part(r io.Reader, most int64) ([]byte, error) {
	var length [4]byte
	if err := fill(r, length[:]); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(length[:]))
	if n > most {
		return nil, errTooMuch
	}
	g.raw.Reset()
	if m, err := io.CopyN(&g.raw, r, n); err != nil {
		if m < n && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return g.raw.Bytes(), nil
}
