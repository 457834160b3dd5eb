// Package datatest makes files and pictures of every format for tests, and checks data sets.
package datatest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// Check states what every Dataset holds to.
func Check(ds *data.Dataset) error {
	if ds.Features < 1 || ds.Outputs < 1 || ds.Train.N < 1 {
		return fmt.Errorf("%d features, %d outputs, %d rows", ds.Features, ds.Outputs, ds.Train.N)
	}
	if ds.Task == data.MultiLabel && (len(ds.Classes) != ds.Outputs || ds.Outputs < 2) {
		return fmt.Errorf("names %v of %d labels", ds.Classes, ds.Outputs)
	}
	if ds.Task == data.Classification && (len(ds.Classes) != ds.Outputs || ds.Outputs < 2) {
		return fmt.Errorf("%d classes for %d outputs", len(ds.Classes), ds.Outputs)
	}
	if ds.Bounds != nil && len(ds.Bounds) != ds.Dense() {
		return fmt.Errorf("%d bounds for %d features", len(ds.Bounds), ds.Dense())
	}
	if n := 1; ds.Shape != nil {
		for _, d := range ds.Shape {
			n *= d
		}
		if n != ds.Features {
			return fmt.Errorf("shape %v for %d features", ds.Shape, ds.Features)
		}
	}
	next, text := 0, ds.Dense()
	for _, c := range ds.Columns {
		switch c.Kind {
		case data.Numeric, data.Categorical:
			if c.First != next {
				return fmt.Errorf("column %q begins at %d, not %d", c.Name, c.First, next)
			}
			next += max(1, len(c.Categories))
			if c.Clock > 0 {
				if c.Clock != next {
					return fmt.Errorf("column %q has its time of day at %d, not %d", c.Name, c.Clock, next)
				}
				next++
			}
			if c.Indicator > 0 {
				if c.Indicator != next {
					return fmt.Errorf("column %q says what is missing at %d, not %d", c.Name, c.Indicator, next)
				}
				next++
			}
		case data.Letters, data.Words:
			if c.First != next {
				return fmt.Errorf("tokens of column %q begin at %d, not %d", c.Name, c.First, next)
			}
			next += c.Tokens
		case data.Text:
			if c.First != text {
				return fmt.Errorf("texts of column %q begin at %d, not %d", c.Name, c.First, text)
			}
			text += c.Buckets
		default:
			if c.First != -1 {
				return fmt.Errorf("column %q has feature %d", c.Name, c.First)
			}
		}
	}
	if ds.Columns != nil && (next != ds.Dense() || text != ds.Features) {
		return fmt.Errorf("columns make %d features of %d", next+text-ds.Dense(), ds.Features)
	}
	for _, sp := range []data.Split{ds.Train, ds.Test} {
		if err := checkSplit(ds, sp); err != nil {
			return err
		}
	}
	return nil
}

func checkSplit(ds *data.Dataset, sp data.Split) error {
	if len(sp.Y) != sp.N*ds.TargetWidth() || len(sp.U8)+len(sp.F32) != sp.N*ds.Dense() {
		return fmt.Errorf("%d rows of %d: %d targets, %d + %d values", sp.N, ds.Features, len(sp.Y), len(sp.U8), len(sp.F32))
	}
	if has := sp.N > 0 && ds.Dense() < ds.Features; has != (sp.Words != nil) || has && len(sp.Words) != sp.N {
		return fmt.Errorf("%d rows with texts of %d", len(sp.Words), sp.N)
	}
	for i, words := range sp.Words {
		last := ds.Dense() - 1
		for _, w := range words {
			if int(w.Feature) <= last || int(w.Feature) >= ds.Features || !(math.Abs(float64(w.Value)) <= 1) || w.Value == 0 {
				return fmt.Errorf("row %d has %v of feature %d behind %d", i, w.Value, w.Feature, last)
			}
			last = int(w.Feature)
		}
	}
	for i, v := range slices.Concat(sp.F32, sp.Y) {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("value %d is %v", i, v)
		}
	}
	for i, y := range sp.Y {
		if ds.Task == data.MultiLabel && y != 0 && y != 1 {
			return fmt.Errorf("a label of %v", y)
		}
		if ds.Task == data.Classification && (y < 0 || int(y) >= ds.Outputs || y != float32(int(y))) {
			return fmt.Errorf("target %d is class %v of %d", i, y, ds.Outputs)
		}
	}
	return nil
}

// One returns a table as the only file.
func One(s string) []source.File { return []source.File{source.Bytes("t.csv", []byte(s))} }

// AllToTrain returns options that hold nothing out, so that rows stay in order.
func AllToTrain(opt run.CSV) run.CSV {
	opt.TestShare = -1
	return opt
}

// GzipOf compresses b.
func GzipOf(b []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	w.Write(b)
	w.Close()
	return buf.Bytes()
}

// Digest returns a hash of what tells training sets apart.
func Digest(t *testing.T, ds *data.Dataset) [sha256.Size]byte {
	t.Helper()
	h := sha256.New()
	if err := data.WriteRows(h, ds); err != nil {
		t.Fatal(err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
