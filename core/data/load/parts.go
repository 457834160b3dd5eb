package load

import (
	"context"
	"hash"

	"clipscope/core/data/source"
	"clipscope/core/data/table"
	"clipscope/core/run"
)

// Parts writes to h, one after the other, what a ledger recognises the people of files
// by: each picture of a folder or of an archive, and each row of a table by its cells.
// It calls add after each, and resets h before each. A picture that its folder's name
// holds for testing is written only if tested is set. Files of other kinds (IDX, MATLAB, CIFAR,
// NumPy, pictures within Parquet) have no parts: their rows are those of the Dataset,
// see [data.EachRow].
//
// The cells are written before any choice of columns, so a table without some of its
// rows, saved with another delimiter or with another label has the same parts. One with
// a column more or less has others.
//
// Guarantee: none on its own; h is to be salted, as for [data.WriteRows].
func (how Loader) Parts(ctx context.Context, files []source.File, opt run.CSV, tested bool, h hash.Hash, add func()) error {
	in := how.reading(ctx, opt, nil)
	defer in.Close()
	var of kinds
	var parts []source.File
	files = source.Gather(files)
	in.Allow(files...)
	for _, f := range files {
		found, err := sniff(in, f, of.add)
		if err != nil {
			return err
		}
		parts = append(parts, found...)
	}
	switch {
	case of.kind == nil: // no files
	case of.kind.Parts != nil:
		return of.kind.Parts(in, parts, tested, h, add)
	case of.kind.Table != nil:
		for _, f := range parts {
			if f, err := of.kind.Table(in, f); err != nil {
				return err
			} else if f == nil {
				continue
			} else if err := table.Parts(in, f, h, add); err != nil {
				return err
			}
		}
	}
	return nil
}
