package load

import (
	"cmp"
	"context"

	"clipscope/core/data"
	"clipscope/core/data/format"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
	"clipscope/core/run"
)

// tableIn returns the table that f is, or that it holds as an archive.
func tableIn(in *source.Reading, f source.File) (source.File, error) {
	var kind *format.Format
	files, err := sniff(in, f, func(_ source.File, k *format.Format) error {
		kind = cmp.Or(kind, k)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if kind.Table != nil && len(files) == 1 {
		if t, err := kind.Table(in, files[0]); t != nil || err != nil {
			return t, err
		}
	}
	return nil, &data.Error{File: f.Name(), Expected: "a table: CSV, a spreadsheet (.xlsx) or Parquet", Got: "a file of another kind (" + kind.Name + ")",
		Fix: "Choose a table with the columns that the model was trained on, or save it as CSV."}
}

// OpenTable opens a table: CSV, or the first sheet of a spreadsheet. Where named is true
// its first row has the columns' names; otherwise that is detected. progress may be nil, and is
// called as [Load] has it. The caller closes the reader. The error is a [*data.Error], or ctx's.
func OpenTable(ctx context.Context, f source.File, named bool, progress func(source.Progress)) (*table.Reader, error) {
	return Loader{}.OpenTable(ctx, f, named, progress)
}

// OpenTable is like the package function [OpenTable], and opens Parquet tables as well.
func (how Loader) OpenTable(ctx context.Context, f source.File, named bool, progress func(source.Progress)) (*table.Reader, error) {
	in := how.reading(ctx, run.CSV{}, progress)
	in.Allow(f)
	f, err := tableIn(in, f)
	var r *table.Reader
	if err == nil {
		r, err = table.NewReader(in, f, named)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return r, nil
}
