package model

import (
	"context"
	"fmt"

	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
	"clipscope/core/run"
)

// PublicRows holds labelled rows of a file in the form that a data set has its own.
type PublicRows struct {
	Info  run.PublicInfo // without what a configuration says of them
	Split data.Split
}

// ReadPublic reads the labelled rows of a file as rows of ds, like [Predictor.Evaluate]: columns, classes and
// labels are matched by name, and rows with a cell that cannot be read are left out and counted. progress may be
// nil. The error is a [data.Error], which names a column that is missing or a label that is of no class, or
// ctx's.
//
// Guarantee: it reads what is public of ds alone, none of its rows, and changes nothing of it.
func ReadPublic(ctx context.Context, files load.Loader, f source.File, ds *data.Dataset, progress func(source.Progress)) (*PublicRows, error) {
	p := &Predictor{Files: files, file: &File{Apply: &run.Application{
		Task: string(ds.Task), Outputs: ds.Outputs, Classes: ds.Classes, Features: ds.Features, Shape: ds.Shape, Transform: ds.Transform,
	}}}
	if ds.Columns != nil {
		var err error
		if p.encoder, err = table.NewEncoder(ds.Task, ds.Columns, ds.Classes, ds.Features); err != nil {
			return nil, fmt.Errorf("model: columns: %w", err)
		}
	}
	rows := &PublicRows{Info: run.PublicInfo{PublicRows: run.PublicRows{File: f.Name()}}}
	e := p.newExam()
	e.keep = rows
	if err := e.read(ctx, []source.File{f}, progress); err != nil {
		return nil, err
	}
	s := &rows.Split
	if (s.U8 == nil) != (ds.Train.U8 == nil) {
		return nil, &data.Error{File: f.Name(), Expected: "rows that are bytes where the data’s are, and numbers where they are numbers", Got: "others", Fix: "Save them as the data is saved."}
	}
	rows.Info.Rows, rows.Info.LeftOut, rows.Info.Problem = s.N, e.result.Problems, e.result.Problem
	return rows, nil
}

// add copies rows.
func (r *PublicRows) add(rows *data.Split) error {
	s := &r.Split
	s.N += rows.N
	s.U8, s.F32, s.Y = append(s.U8, rows.U8...), append(s.F32, rows.F32...), append(s.Y, rows.Y...)
	s.Words = append(s.Words, rows.Words...)
	if size := len(s.U8) + 4*(len(s.F32)+len(s.Y)); size > data.MostBytes {
		return &data.Error{File: r.Info.File, Expected: fmt.Sprintf("rows of at most %d MB", data.MostBytes>>20), Got: "more", Fix: "Choose fewer rows."}
	}
	return nil
}
