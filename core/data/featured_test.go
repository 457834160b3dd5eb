package data

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"reflect"
	"testing"

	"clipscope/core/run"
)

// squares makes of a row its sum, the sum of its squares, and what f says.
type squares struct {
	width int
	f     func(sum float32) float32
	calls int
	after func(calls int) error
}

func (s *squares) Width() int { return s.width }

func (s *squares) Extract(_ context.Context, rows Split, dst []float32) error {
	s.calls++
	if s.after != nil {
		if err := s.after(s.calls); err != nil {
			return err
		}
	}
	if rows.Y != nil {
		return errors.New("an extractor has no business with targets")
	}
	per := len(dst) / rows.N
	features := max(len(rows.U8), len(rows.F32)) / rows.N
	for i := range rows.N {
		out := dst[i*per : (i+1)*per]
		clear(out)
		for j := range features {
			v := rows.value(i*features + j)
			out[0] += v
			out[1] += v * v
		}
		if s.f != nil {
			out[2] = s.f(out[0])
		}
	}
	return nil
}

func pictured(train, test int) *Dataset {
	ds := &Dataset{Name: "p", Task: Classification, Features: 6, Shape: []int{2, 3}, Outputs: 2, Classes: []string{"a", "b"}, Bounds: []Bound{{0, 255}}}
	fill := func(n int) Split {
		s := Split{N: n, U8: make([]uint8, n*6), Y: make([]float32, n)}
		for i := range s.U8 {
			s.U8[i] = uint8(i * 37 % 251)
		}
		for i := range s.Y {
			s.Y[i] = float32(i % 2)
		}
		return s
	}
	ds.Train = fill(train)
	if test > 0 {
		ds.Test = fill(test)
	}
	return ds
}

func TestFeatured(t *testing.T) {
	ds := pictured(150, 70)
	before := *ds
	by := run.Backbone{SHA256: "ab", Output: "y", Batch: 1}
	var seen []int
	out, odd, err := Featured(t.Context(), ds, &squares{width: 3, f: func(sum float32) float32 {
		if int(sum)%3 == 0 {
			return float32(math.NaN())
		}
		return float32(math.Inf(1))
	}}, by, func(done, total int) {
		if total != 220 {
			t.Errorf("%d rows in all", total)
		}
		seen = append(seen, done)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, *ds) {
		t.Error("the data were changed")
	}
	if out.Features != 3 || out.Shape != nil || out.Bounds != nil || out.Columns != nil || *out.Backbone != by || out.Task != ds.Task ||
		!reflect.DeepEqual(out.Classes, ds.Classes) || !reflect.DeepEqual(out.Train.Y, ds.Train.Y) || !reflect.DeepEqual(out.Test.Y, ds.Test.Y) {
		t.Errorf("%+v", out)
	}
	if !reflect.DeepEqual(seen, []int{64, 128, 150, 214, 220}) {
		t.Errorf("progress %v", seen)
	}
	if odd != 220 {
		t.Errorf("%d numbers that are not finite, of 220", odd)
	}
	for _, s := range []struct{ from, to Split }{{ds.Train, out.Train}, {ds.Test, out.Test}} {
		for i := range s.from.N {
			want := float32(0)
			for _, v := range s.from.U8[i*6 : i*6+6] {
				want += float32(v)
			}
			if s.to.F32[i*3] != want || s.to.F32[i*3+2] != 0 {
				t.Fatalf("row %d: %v, want a sum of %v", i, s.to.F32[i*3:i*3+3], want)
			}
		}
	}
	if m := out.Meta(); m.Backbone == nil || !m.Facts().Backbone || ds.Meta().Facts().Backbone {
		t.Error("what is public of it does not say that it is features")
	}
}

// TestFeaturedWithoutARow: a data set that lacks a row lacks that row's features alone.
func TestFeaturedWithoutARow(t *testing.T) {
	ds := pictured(130, 0)
	whole, _, err := Featured(t.Context(), ds, &squares{width: 2}, run.Backbone{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []int{0, 63, 64, 129} {
		less := *ds
		less.Train = Split{N: 129, U8: append(bytes.Clone(ds.Train.U8[:gone*6]), ds.Train.U8[gone*6+6:]...), Y: append([]float32{}, ds.Train.Y[1:]...)}
		out, _, err := Featured(t.Context(), &less, &squares{width: 2}, run.Backbone{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := append(append([]float32{}, whole.Train.F32[:gone*2]...), whole.Train.F32[gone*2+2:]...)
		if !reflect.DeepEqual(out.Train.F32, want) {
			t.Errorf("without row %d others have other features", gone)
		}
	}
}

func TestFeaturedEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	x := &squares{width: 2, after: func(calls int) error {
		if calls == 2 {
			stop()
		}
		return nil
	}}
	if _, _, err := Featured(ctx, pictured(300, 0), x, run.Backbone{}, nil); !errors.Is(err, context.Canceled) || x.calls != 2 {
		t.Errorf("%v after %d calls", err, x.calls)
	}
	bad := errors.New("bad")
	x = &squares{width: 2, after: func(int) error { return bad }}
	if _, _, err := Featured(t.Context(), pictured(10, 0), x, run.Backbone{}, nil); !errors.Is(err, bad) {
		t.Error(err)
	}
}

func TestFeaturedRefusesBeforeItAllocates(t *testing.T) {
	for _, width := range []int{0, -1, 1<<16 + 1, 1 << 40, 1 << 16} {
		ds := pictured(2, 0)
		ds.Train.N = 1 << 13 // claims 2 GB at 1<<16; its rows are never read
		var e *Error
		x := &squares{width: width}
		if _, _, err := Featured(t.Context(), ds, x, run.Backbone{}, nil); !errors.As(err, &e) || e.Fix == "" || x.calls > 0 {
			t.Errorf("width %d: %v", width, err)
		}
	}
}

func TestWriteInputsTellsInputsApart(t *testing.T) {
	sum := func(change func(*Dataset)) [32]byte {
		ds := pictured(5, 2)
		change(ds)
		h := sha256.New()
		if err := WriteInputs(h, ds); err != nil {
			t.Fatal(err)
		}
		return [32]byte(h.Sum(nil))
	}
	seen := map[[32]byte]int{}
	for i, f := range []func(*Dataset){
		func(*Dataset) {},
		func(d *Dataset) { d.Train.U8[0]++ },
		func(d *Dataset) { d.Test.U8[11]++ },
		func(d *Dataset) { d.Shape = []int{3, 2} },
		func(d *Dataset) { d.Train.N, d.Test.N = 4, 3 },
		func(d *Dataset) { d.Bounds = nil },
		func(d *Dataset) { d.Train.Text = []string{"a", "b", "", "", ""} },
		func(d *Dataset) { d.Train.Text = []string{"ab", "", "", "", ""} },
		func(d *Dataset) { d.Test.Text = []string{"a", "b"} },
		func(d *Dataset) { d.Columns = []Column{{Name: "review", Kind: Text}} },
	} {
		s := sum(f)
		if j, ok := seen[s]; ok {
			t.Errorf("%d and %d have the same name", i, j)
		}
		seen[s] = i
	}
	if sum(func(*Dataset) {}) != sum(func(d *Dataset) { d.Train.Y[0]++ }) {
		t.Error("targets are no input")
	}
}
