// Package loadtest loads files in tests, and checks what comes of them.
package loadtest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// Read loads files that have to be readable, and checks the data set.
func Read(t *testing.T, opt run.CSV, train []source.File, test ...source.File) (*data.Dataset, *data.Report) {
	t.Helper()
	ds, r, err := load.Load(t.Context(), train, test, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := datatest.Check(ds); err != nil {
		t.Fatal(err)
	}
	return ds, r
}

// Refused loads files that have to be refused, in words that hold want, with little memory.
func Refused(t *testing.T, name string, files []source.File, want string, bounds ...func(*source.Limits)) {
	t.Helper()
	in := source.NewReading(t.Context(), run.CSV{})
	for _, bound := range bounds {
		bound(&in.Limits)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ds, err := load.Files(in, files, nil)
	runtime.ReadMemStats(&after)
	var e *data.Error
	switch {
	case err == nil:
		t.Errorf("%s: %d rows were read of it", name, ds.Train.N)
	case !errors.As(err, &e) || e.Fix == "" || BadVerb(err.Error()) || !strings.Contains(err.Error(), want):
		t.Errorf("%s: %v, want %q", name, err, want)
	}
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
		t.Errorf("%s: %d MB were allocated", name, mb)
	}
}

// Sound loads files and checks that the outcome is a sound data set or an
// *Error that says something, and that the report survives JSON.
func Sound(t *testing.T, train, test []source.File, opt run.CSV) {
	in := source.NewReading(t.Context(), opt)
	in.Limits.Bytes, in.Limits.Features, in.Limits.Columns, in.Limits.Categories, in.Limits.Category = 1<<20, 1<<12, 1000, 50, 100
	in.Limits.Texts, in.Limits.Classes, in.Limits.Record = 1<<14, 50, 1<<16
	in.Limits.Heads = 100
	in.Limits.Directory, in.Limits.Picture, in.Limits.Pixels, in.Limits.Decoding = 1<<16, 1<<16, 1<<16, 1<<20
	ds, err := load.Files(in, train, test)
	if _, jerr := json.Marshal(in.Report); jerr != nil {
		t.Fatal(jerr)
	}
	if err != nil {
		var e *data.Error
		if !errors.As(err, &e) || len(e.Error()) < 20 || e.Fix == "" {
			t.Fatalf("error %#v", err)
		}
		if BadVerb(err.Error()) && !BadVerb(opt.Label+opt.Missing+opt.Task+opt.Sheet+opt.Labels+opt.HoldOut) && !slices.ContainsFunc(slices.Concat(train, test), HoldsBadVerb) {
			t.Fatalf("a message that was put together wrongly: %v", err)
		}
		return
	}
	if err := datatest.Check(ds); err != nil {
		t.Fatal(err)
	}
	if s, err := data.DeclaredScale(ds, -1, 1); err != nil {
		t.Fatal(err)
	} else {
		s.Rows(make([]float32, ds.Features), &ds.Train, []int{ds.Train.N - 1})
	}
}

// BadVerb reports whether s has what fmt writes for a verb that does not fit.
func BadVerb(s string) bool { return strings.Contains(s, "%!") }

// HoldsBadVerb reports whether a message may have it from f's own text.
func HoldsBadVerb(f source.File) bool {
	r, _ := f.Open()
	content, _ := io.ReadAll(r)
	if zr, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
		content, _ = io.ReadAll(zr)
	}
	if zr, err := zip.NewReader(bytes.NewReader(content), int64(len(content))); err == nil {
		for _, entry := range zr.File {
			if e, err := entry.Open(); err == nil {
				text, _ := io.ReadAll(e)
				content = append(content, text...)
			}
		}
	}
	return BadVerb(f.Name() + strings.ReplaceAll(string(content), "\x00", ""))
}
