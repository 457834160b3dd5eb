package table

import (
	"cmp"
	"hash"
	"io"
	"strconv"

	"clipscope/core/data/source"
)

// Parts writes the rows of a table. A row that cannot be read has no part.
func Parts(in *source.Reading, f source.File, h hash.Hash, add func()) error {
	ch, err := Choose(in.Options, in.Limits)
	if err != nil {
		return err
	}
	t, err := Open(in, f, source.PhaseScan, ch, nil)
	if err != nil {
		return err
	}
	defer t.Close()
	t.bad = &BadRows{}
	t.width = cmp.Or(t.width, t.dialect.width)
	var row []byte
	for {
		cells, _, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		row = append(row[:0], "cells|"...)
		some := false
		for _, c := range cells {
			some = some || c != ""
			row = strconv.AppendInt(row, int64(len(c)), 10)
			row = append(append(row, '|'), c...)
		}
		if !some {
			continue
		}
		h.Reset()
		h.Write(row)
		add()
	}
}
