package format

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
)

// parquetFormat reads Parquet. Another program opens the files: see [source.Columns].
var parquetFormat = Format{
	Name: "parquet",
	// Its metadata may look like text of Windows-1252. A table whose first column is called PAR1 has no control byte behind that.
	Sniff: func(_ string, head []byte, _ int64) (bool, error) {
		rest, marked := bytes.CutPrefix(head, []byte("PAR1"))
		return marked && (isBinary(rest) || isBinary(rest[:min(1, len(rest))])), nil
	},
	Load:  loadParquet,
	Table: parquetTable,
}

// parquetTable returns f as text; nil where its rows are pictures, or nothing opens such files.
func parquetTable(in *source.Reading, f source.File) (source.File, error) {
	if in.Parquet == nil {
		return nil, nil
	}
	c, err := in.Parquet(f)
	if err != nil || c.Pictures() {
		return nil, err
	}
	return source.ColumnsFile{File: f, Columns: c}, nil
}

func loadParquet(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
	if in.Parquet == nil {
		return nil, NotData(train[0].Name(), "a Parquet file, which this program does not read")
	}
	open := func(files []source.File) (all []source.File, pictures int, err error) {
		for _, f := range files {
			c, err := in.Parquet(f)
			if err != nil {
				return nil, 0, err
			}
			if c.Pictures() {
				pictures++
			} else if names := c.Skipped(); len(names) > 0 {
				in.Warn("%s: columns of lists, records or bytes are left out: %s.", data.Shorten(f.Name()), data.List(names))
			}
			all = append(all, source.ColumnsFile{File: f, Columns: c})
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
		return table.Load(in, train, test)
	case len(train) + len(test):
		return loadPictureRows(in, train, test)
	}
	return nil, &data.Error{File: train[0].Name(), Expected: "files of one data set", Got: "tables as well as pictures", Fix: "Choose files of one data set at a time."}
}

// loadPictureRows reads pictures that stand in columns.
func loadPictureRows(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
	if _, err := table.Choose(in.Options, in.Limits); err != nil {
		return nil, err
	}
	name := train[0].Name()
	var classes []string
	if in.Options.Task != string(data.Regression) {
		seen := map[string]bool{}
		for _, f := range train {
			for _, c := range f.(source.ColumnsFile).Classes() {
				if !seen[c] {
					classes = append(classes, c)
				}
				seen[c] = true
			}
		}
		if len(classes) > in.Limits.Classes {
			return nil, &data.Error{File: name, Expected: fmt.Sprintf("at most %d classes", in.Limits.Classes), Got: fmt.Sprint(len(classes)), Fix: "Choose another label column, or regression as the task."}
		}
		if len(classes) < 2 {
			return nil, data.OneClass(name, strings.Join(classes, ""))
		}
	}
	in.Advice = source.AdvicePictures
	g := newGallery(in, classes)
	seen := 0
	err := g.rows(train[0].(source.ColumnsFile), source.PhaseSniff, func(_, _ string, raw []byte) error {
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
	for _, role := range []string{source.RoleTrain, source.RoleTest} {
		sp, files, n := &g.ds.Train, train, int64(0)
		if role == source.RoleTest {
			sp, files = &g.ds.Test, test
		}
		for _, f := range files {
			n += f.(source.ColumnsFile).Rows()
			if err := in.Room(name, n, int64(g.values()), int64(g.values())+source.RowOverhead); err != nil {
				return nil, err
			}
		}
		if err := g.room(name, sp, int(n)); err != nil {
			return nil, err
		}
		for _, f := range files {
			err := g.rows(f.(source.ColumnsFile), source.PhaseRead, func(row, label string, raw []byte) error {
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
