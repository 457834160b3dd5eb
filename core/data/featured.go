package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"clipscope/core/run"
)

// Extractor makes features of rows.
//
// Guarantee: wanted of who implements it: what it makes of a row depends on that row
// alone, not on other rows, nor on how many there are. Then a data set that lacks a row
// lacks that row of features and no more, and what is proven of training on the features
// holds for the rows.
type Extractor interface {
	// Width is how many features it makes of a row.
	Width() int
	// Extract fills dst, [rows.N×Width], with what it makes of the rows in their order.
	// The rows have no targets.
	Extract(ctx context.Context, rows Split, dst []float32) error
}

// featuredRows is the number of rows that an extractor gets at a time. Progress is reported after each.
const featuredRows = 64

// Featured returns a copy of ds whose features are those that x makes of its rows. Targets, their names
// and their bounds stay; columns, shape and bounds of features are dropped. A feature that is not
// finite becomes 0 and is counted in odd. Where x reads texts, [Dataset.Table] has the columns. progress is called with the
// number of rows, of both splits, that are done; it may be nil. ds is not changed.
//
// Guarantee: that of x. Zeros in the place of what is not finite are decided row by row.
func Featured(ctx context.Context, ds *Dataset, x Extractor, by run.Backbone, progress func(done, total int)) (out *Dataset, odd int, err error) {
	width := x.Width()
	if err := roomForFeatures(ds, width, MostFeatures, MostBytes); err != nil {
		return nil, 0, err
	}
	if by.Column != "" {
		if err := checkTexts(ds); err != nil {
			return nil, 0, err
		}
	}
	var table []Column
	if by.Column != "" {
		table = slices.Clone(ds.Columns)
		for i := range table {
			if c := &table[i]; c.Kind != Label {
				*c = Column{Name: c.Name, Kind: c.Kind, First: -1}
				if c.Kind != Text {
					c.Kind = Ignored
				}
			}
		}
	}
	out = &Dataset{Name: ds.Name, Task: ds.Task, Features: width, Outputs: ds.Outputs, Classes: ds.Classes, TargetBounds: ds.TargetBounds, Backbone: &by, ByClass: ds.ByClass, HeldOut: ds.HeldOut, Table: table}
	total := ds.Train.N + ds.Test.N
	done := 0
	for _, s := range []struct{ from, to *Split }{{&ds.Train, &out.Train}, {&ds.Test, &out.Test}} {
		if s.from.N == 0 {
			continue
		}
		*s.to = Split{N: s.from.N, F32: make([]float32, s.from.N*width), Y: s.from.Y}
		for at := 0; at < s.from.N; at += featuredRows {
			if err := ctx.Err(); err != nil {
				return nil, 0, fmt.Errorf("data: features: %w", err)
			}
			n := min(featuredRows, s.from.N-at)
			dst := s.to.F32[at*width : (at+n)*width]
			zeros, err := Extract(ctx, x, s.from.rows(at, n, ds.Dense()), dst)
			if err != nil {
				return nil, 0, fmt.Errorf("data: features of rows %d to %d: %w", done+1, done+n, err)
			}
			odd += zeros
			done += n
			if progress != nil {
				progress(done, total)
			}
		}
	}
	return out, odd, nil
}

// Extract fills dst, [rows.N×x.Width()], with what x makes of rows. A feature that is not finite becomes 0 and is counted in odd.
func Extract(ctx context.Context, x Extractor, rows Split, dst []float32) (odd int, err error) {
	if err := x.Extract(ctx, rows, dst); err != nil {
		return 0, err
	}
	return zeroed(dst), nil
}

// roomForFeatures refuses what a tab cannot hold, before anything is allocated.
func roomForFeatures(ds *Dataset, width, mostFeatures int, mostBytes int64) error {
	rows := int64(ds.Train.N) + int64(ds.Test.N)
	switch {
	case width < 1:
		return &Error{Expected: "features of a row", Got: "none", Fix: "Choose another output of the model."}
	case width > mostFeatures:
		return &Error{Expected: fmt.Sprintf("at most %d features of a row", mostFeatures), Got: fmt.Sprint(width), Fix: "Choose an output of the model that is smaller."}
	case rows*int64(width)*4 > mostBytes:
		return &Error{Expected: fmt.Sprintf("at most %d MB of features", mostBytes>>20), Got: fmt.Sprintf("%d rows of %d, which take %d MB", rows, width, rows*int64(width)*4>>20),
			Fix: "Choose an output of the model that is smaller, or use fewer rows."}
	}
	return nil
}

// mostText limits the characters of a text for a backbone, some pages: the time and the memory of what reads it
// grow with it.
const mostText = 20_000

// checkTexts refuses texts that are too long for a backbone.
func checkTexts(ds *Dataset) error {
	for _, s := range []*Split{&ds.Train, &ds.Test} {
		for i, text := range s.Text {
			if err := tooLong(text); err != nil {
				err.Row = i/s.texts() + 1
				return err
			}
		}
	}
	return nil
}

// CheckText refuses a text that is too long for a backbone.
func CheckText(text string) error {
	if err := tooLong(text); err != nil {
		return err
	}
	return nil
}

func tooLong(text string) *Error {
	n := utf8.RuneCountInString(text)
	if n <= mostText {
		return nil
	}
	return &Error{Expected: fmt.Sprintf("texts of at most %d characters for a backbone", mostText), Got: fmt.Sprintf("%d: %s", n, Quote(text)),
		Fix: "Shorten the text, or train without a backbone, on hashed words."}
}

// rows returns n rows of so many dense features from row at on, without targets and without the features of texts.
func (s *Split) rows(at, n, features int) Split {
	out := Split{N: n}
	if s.Text != nil {
		k := s.texts()
		out.Text = s.Text[at*k : (at+n)*k]
	}
	if s.U8 != nil {
		out.U8 = s.U8[at*features : (at+n)*features]
	} else {
		out.F32 = s.F32[at*features : (at+n)*features]
	}
	return out
}

// zeroed replaces values that are not finite by 0, and counts them.
func zeroed(v []float32) (odd int) {
	for i, f := range v {
		if x := float64(f); math.IsNaN(x) || math.IsInf(x, 0) {
			v[i] = 0
			odd++
		}
	}
	return odd
}

// WriteInputs writes what an extractor sees of ds to w, a hash: the rows of both splits
// in their order, without targets.
//
// Guarantee: none. Who has the hash can check a guess of the whole data set.
func WriteInputs(w io.Writer, ds *Dataset) error {
	if _, err := fmt.Fprintf(w, "%v|%v|%d|%d|%d|", ds.Shape, ds.Bounds, ds.Features, ds.Train.N, ds.Test.N); err != nil {
		return err
	}
	if err := writeTexts(w, ds.Meta().TextNames()); err != nil {
		return err
	}
	for _, s := range []*Split{&ds.Train, &ds.Test} {
		if _, err := w.Write(s.U8); err != nil {
			return err
		}
		if err := errors.Join(writeFloats(w, s.F32), writeWords(w, s.Words), writeTexts(w, s.Text)); err != nil {
			return err
		}
	}
	return nil
}
