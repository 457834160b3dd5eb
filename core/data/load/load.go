// Package load turns local files into a Dataset. It recognises their format, tells files to train on
// from those to test on, and holds rows out. It knows formats by the list of package format alone.
package load

import (
	"context"
	"fmt"
	"slices"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
	"clipscope/core/run"
)

// Load reads local files into a Dataset. What a file is, is decided by its
// content: IDX (images with labels), CIFAR-10 or CIFAR-100 binary records, MATLAB pictures, NumPy arrays
// (NPY, NPZ), pictures (PNG, JPEG) or a table (CSV, a sheet of an .xlsx), each plain, gzip
// or in a zip or tar archive. Files of one kind belong together: one IDX pair, arrays of
// features and labels, several CIFAR or table files joined in the order given, pictures
// with tables that say what they show. opt.Roles moves files between
// train and test; without test files, those of the train files that call
// themselves test (t10k-…, adult.test) are taken, and failing that opt.TestShare
// of the rows (default 0.2; negative for none), chosen by a fixed shuffle, and of each
// class alike where some are rare.
//
// A file is streamed: besides the Dataset itself, of a gigabyte at most, a few
// hundred kilobytes are held, and of tables the lists of their categories and
// up to 64 MB of rows.
// progress may be nil; it is called about every megabyte and every quarter of a
// second on the caller's goroutine, and may block to let others run. Load ends
// with ctx's error when ctx does.
//
// Values are finite: a file with NaN or Inf is refused (or its NaN treated as
// missing, as opt.Missing says), as is one without rows or with one class only.
// What is wrong with the input is a [*data.Error]. The Report says what was
// understood, also beside an error as far as that is known; it is never nil.
func Load(ctx context.Context, train, test []source.File, opt run.CSV, progress func(source.Progress)) (*data.Dataset, *data.Report, error) {
	return Loader{}.Load(ctx, train, test, opt, progress)
}

// Loader is [Load] with readers of formats that this package cannot read itself.
type Loader struct {
	// Parquet opens a Parquet file; nil: such files are refused. opt.Label names the
	// column of the labels, where it is not empty. What is wrong with the file is an
	// [*data.Error].
	Parquet func(ctx context.Context, f source.File, opt run.CSV) (source.Columns, error)
}

// Load is like the package function [Load].
func (how Loader) Load(ctx context.Context, train, test []source.File, opt run.CSV, progress func(source.Progress)) (*data.Dataset, *data.Report, error) {
	in := how.reading(ctx, opt, progress)
	ds, err := Files(in, train, test)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("data: load: %w", ctx.Err())
		}
		return nil, in.Report, err
	}
	return ds, in.Report, nil
}

// reading begins a reading that knows how to open Parquet.
func (how Loader) reading(ctx context.Context, opt run.CSV, progress func(source.Progress)) *source.Reading {
	in := source.NewReading(ctx, opt)
	in.Progress = progress
	if how.Parquet != nil {
		in.Parquet = func(f source.File) (source.Columns, error) { return how.Parquet(ctx, f, opt) }
	}
	return in
}

// Files reads train and test as [Load] does, within the limits of a reading, which it closes. The
// warnings are added to the reading's report.
func Files(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
	defer func() {
		all, doubts := in.Warnings()
		in.Report.Warnings, in.Report.Doubts = append(in.Report.Warnings, all...), append(in.Report.Doubts, doubts...)
	}()
	defer in.Close()
	train, test = source.Gather(train), source.Gather(test)
	in.Allow(train...)
	in.Allow(test...)
	if len(train) == 0 {
		return nil, &data.Error{Expected: "at least one file to train on", Got: "none",
			Fix: "Choose a table, NumPy arrays, pictures in folders, a pair of IDX files or CIFAR batches."}
	}
	share, err := testShare(in.Options)
	if err != nil {
		return nil, err
	}
	if h := in.Options.HoldOut; h != "" && h != holdOutShuffle && h != holdOutRow {
		return nil, data.BadOption("hold_out", `"shuffle" or "row"`, h)
	}
	if train, test, err = splitRoles(in, train, test); err != nil {
		return nil, err
	}
	name := train[0].Name()
	kind, err := recognise(in, &train, &test)
	if err != nil {
		return nil, err
	}
	if err := source.WarnAlike(in, train); err != nil {
		return nil, err
	}
	ds, err := kind.Load(in, train, test)
	if err != nil {
		return nil, err
	}
	if err := checkLabels(in, name, kind.Name, ds); err != nil {
		return nil, err
	}
	ds.Name = name
	if ds.Test.N == 0 && share > 0 {
		if in.Options.HoldOut == holdOutRow {
			ds.HoldOutByRow(share)
		} else {
			ds.HoldOut(share)
		}
		warnHeldOut(in, ds)
	}
	in.Report.Describe(ds, kind.Name)
	return ds, nil
}

// checkLabels refuses data without several labels a row where the options ask for it, and such in which no
// label differs between rows. It warns of a label that does not.
func checkLabels(in *source.Reading, file, kind string, ds *data.Dataset) error {
	if ds.Task != data.MultiLabel {
		if table.MultiLabel(in.Options) {
			return &data.Error{File: file, Expected: "multi-label data: a table with label columns, NumPy arrays with labels [rows × labels], or pictures beside a table of labels", Got: "data of one label a row (" + kind + ")",
				Fix: "Leave the task out, or choose other files."}
		}
		return nil
	}
	var same []string
	for k, n := range ds.LabelRows() {
		if n == 0 || n == ds.Train.N {
			same = append(same, ds.Classes[k])
		}
	}
	if len(same) == ds.Outputs {
		return &data.Error{File: file, Expected: "labels that some rows have and others have not", Got: "no such label", Fix: "Choose other label columns, or data with both."}
	}
	if len(same) > 0 {
		in.Warn("All training rows or none have these labels, of which nothing can be learned: %s.", data.List(same))
	}
	return nil
}

func warnHeldOut(in *source.Reading, ds *data.Dataset) {
	if ds.Test.N == 0 {
		in.Warn("No test file, and %d rows are too few to hold any out: nothing is tested.", ds.Train.N)
		return
	}
	how := "chosen by a fixed shuffle"
	switch {
	case ds.HeldOut == data.ByRow:
		how = "each chosen by a hash of its own cells"
	case ds.ByClass:
		how = "the same share of each class, as some are rare, chosen by a fixed shuffle"
	}
	in.Warn("No test file: %d of %d rows, %s, are held out for testing.", ds.Test.N, ds.Test.N+ds.Train.N, how)
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
		return 0, &data.Error{Expected: "a test_share between 0 and 0.9", Got: fmt.Sprint(s),
			Fix: "Leave test_share out for 0.2, or give 0.1 for a tenth of the rows."}
	}
}

// splitRoles is like SplitFiles. It also checks the roles that were chosen, and warns of files that are
// given twice and of those that their names make test files.
func splitRoles(in *source.Reading, train, test []source.File) ([]source.File, []source.File, error) {
	type title struct {
		name string
		size int64
	}
	given, seen := map[string]bool{}, map[title]bool{}
	for _, f := range slices.Concat(train, test) {
		as := title{f.Name(), f.Size()}
		if seen[as] {
			in.Warn("%s is given twice, as it seems: then each of its rows counts twice, and more can be learnt of it than ε says.", data.Shorten(f.Name()))
		}
		seen[as], given[f.Name()] = true, true
	}
	for name, role := range in.Options.Roles {
		if role != source.RoleTrain && role != source.RoleTest {
			return nil, nil, data.BadOption("roles", `"train" or "test"`, role)
		}
		if !given[name] {
			return nil, nil, data.BadOption("roles", "about files that are given", name)
		}
	}
	tr, te, named := source.SplitFiles(train, test, in.Options.Roles)
	for _, f := range tr {
		in.Report.Files = append(in.Report.Files, data.FileRole{Name: f.Name(), Role: source.RoleTrain})
	}
	for _, f := range te {
		in.Report.Files = append(in.Report.Files, data.FileRole{Name: f.Name(), Role: source.RoleTest})
	}
	if len(tr) == 0 {
		return nil, nil, data.BadOption("roles", "such that a file is left to train on", "test files alone")
	}
	if named {
		for _, f := range te {
			in.Warn("%s is used for testing, as its name says.", data.Shorten(f.Name()))
		}
	}
	return tr, te, nil
}

// The ways to choose rows that are held out, in options.
const (
	holdOutShuffle = "shuffle"
	holdOutRow     = "row"
)
