package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/nn"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// TestViewsOfAPictureAreDrawnEquallyOften: a view is the picture moved and mirrored, colour by
// colour, with 0 where nothing was; all moves and both sides are drawn, and equally often.
func TestViewsOfAPictureAreDrawnEquallyOften(t *testing.T) {
	shape := nn.Shape{Height: 3, Width: 5, Channels: 2}
	src := make([]float32, shape.Len())
	for i := range src {
		src[i] = float32(i + 1)
	}
	moved := func(down, right int, mirrored bool) []float32 {
		dst := make([]float32, len(src))
		for c := range 2 {
			for row := range 3 {
				for column := range 5 {
					r, k := row+down, column+right
					if mirrored {
						k = 4 - column + right
					}
					if r >= 0 && r < 3 && k >= 0 && k < 5 {
						dst[c*15+row*5+column] = src[c*15+r*5+k]
					}
				}
			}
		}
		return dst
	}
	for _, tt := range []struct {
		crop, flip bool
		kinds      int
	}{{true, false, 81}, {false, true, 2}, {true, true, 162}} {
		a := &augmentation{shape: shape, crop: tt.crop, flip: tt.flip, rng: rand.New(rand.NewPCG(1, 1)), plain: make([]float32, 7*shape.Len())}
		const n, count = 7, 3000
		x := make([]float32, count*n*shape.Len())
		for i := range n {
			copy(x[i*shape.Len():], src)
		}
		a.views(x, n)
		index := func(v []float32) string {
			var s strings.Builder
			for _, f := range v {
				s.WriteByte(byte(f))
			}
			return s.String()
		}
		seen := map[string]int{}
		for at := 0; at < len(x); at += shape.Len() {
			seen[index(x[at:at+shape.Len()])]++
		}
		want := map[string]float64{} // some moves leave nothing, and look alike
		for down := -4; down <= 4; down++ {
			for right := -4; right <= 4; right++ {
				for side := range 2 {
					if !tt.crop && (down != 0 || right != 0) || !tt.flip && side == 1 {
						continue
					}
					want[index(moved(down, right, side == 1))] += float64(n*count) / float64(tt.kinds)
				}
			}
		}
		for v, got := range seen {
			// 6.5 standard deviations, of up to 162 kinds: falsely alarmed once in 10⁷.
			if e := want[v]; math.Abs(float64(got)-e) > 6.5*math.Sqrt(e)+0.5 {
				t.Errorf("crop %v, flip %v: a view came %d times of %.0f: %v", tt.crop, tt.flip, got, e, []byte(v))
			}
		}
		if len(seen) != len(want) {
			t.Errorf("crop %v, flip %v: %d different views, want %d", tt.crop, tt.flip, len(seen), len(want))
		}
	}
}

// TestNoViewsAddMoreThanStated is the law of rows for examples with several views, for
// every method that takes them, on every back end.
func TestNoViewsAddMoreThanStated(t *testing.T) {
	rows := 600
	if testing.Short() {
		rows = 90
	}
	ds := hostilePictures(rows)
	dropping := pictureModels["res"]
	dropping.Dropout = 0.4
	models := map[string]run.Model{"softmax": {Kind: "softmax"}, "conv": pictureModels["conv"], "res": pictureModels["res"], "dropping": dropping}
	for name, open := range computetest.Backends(t) {
		for _, m := range clip.Methods() {
			if !m.Private || m.Name == "value" || m.Name == "value-tight" {
				continue
			}
			t.Run(name+"/"+m.Name, func(t *testing.T) {
				t.Parallel()
				for kind, model := range models {
					for i, size := range []float32{0.1, 1, 30} {
						be := open()
						r := begunAs(t, run.Config{Method: m.Name, Model: model, Augmentation: run.Augmentation{Kind: "flip", Multiplicity: 3}}, ds, size, be)
						if err := overshoot(t, r, i*rows/3, (i+1)*rows/3); err != nil {
							t.Errorf("%s, weights ×%g: %v", kind, size, err)
						}
						be.Close()
					}
				}
			})
		}
	}
}

// TestAugmentedRunsAreDeterminedByTheSeed: a run with views learns, takes other views in every
// step, and the same ones with the same seed, however many rows go through the model at once.
func TestAugmentedRunsAreDeterminedByTheSeed(t *testing.T) {
	ds := hostilePictures(64)
	for i := range ds.Train.F32 { // tame ones
		ds.Train.F32[i] = float32((i/16*7+i%16*3)%11) / 11
	}
	result := func(a run.Augmentation, physical int) []float32 {
		r := startOn(t, run.Config{
			Method: "constant", NoiseMultiplier: ptr(1.0), ExpectedBatchSize: 20, Steps: 3, Seed: ptr(uint64(2)), MaxPhysicalBatchSize: physical,
			Model: pictureModels["conv"], Augmentation: a, Scaling: run.Scaling{Kind: "none"},
		}, ds, purego.New())
		defer r.Close()
		for _, err := range r.Steps(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		res, err := r.Result(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return res.Released.Parameters
	}
	near := func(a, b []float32) bool {
		for i := range a {
			if math.Abs(float64(a[i]-b[i])) > 1e-4*(1+math.Abs(float64(a[i]))) {
				return false
			}
		}
		return true
	}
	views := run.Augmentation{Kind: "crop-flip", Multiplicity: 4}
	whole := result(views, 512)
	if !slices.Equal(whole, result(views, 512)) {
		t.Error("the same seed gave other parameters")
	}
	if !near(whole, result(views, 7)) {
		t.Error("seven rows at once gave other parameters")
	}
	for _, other := range []run.Augmentation{{}, {Kind: "crop-flip"}, {Kind: "crop", Multiplicity: 4}} {
		if near(whole, result(other, 512)) {
			t.Errorf("%+v gave the same as %+v", other, views)
		}
	}
}

func TestAugmentationIsRefused(t *testing.T) {
	images := data.Meta{Name: "m", Task: data.Classification, Features: 64, Shape: []int{8, 8}, Outputs: 10, TrainRows: 1000, FeatureBytes: 1}
	table := images
	table.Shape = nil
	for _, tt := range []struct {
		cfg   run.Config
		on    data.Meta
		field string // "": taken
	}{
		{run.Config{Augmentation: run.Augmentation{Kind: "crop", Multiplicity: 8}}, images, ""},
		{run.Config{Method: "value", Augmentation: run.Augmentation{Kind: "crop"}}, images, ""},
		{run.Config{Augmentation: run.Augmentation{Kind: "crop"}}, table, "augmentation.kind"},
		{run.Config{Augmentation: run.Augmentation{Kind: "rotate"}}, images, "augmentation.kind"},
		{run.Config{Augmentation: run.Augmentation{Multiplicity: 2}}, images, "augmentation.multiplicity"},
		{run.Config{Augmentation: run.Augmentation{Kind: "flip", Multiplicity: -1}}, images, "augmentation.multiplicity"},
		{run.Config{Augmentation: run.Augmentation{Kind: "flip", Multiplicity: 129}}, images, "augmentation.multiplicity"},
		{run.Config{Method: "value", Augmentation: run.Augmentation{Kind: "flip", Multiplicity: 2}}, images, "augmentation.multiplicity"},
		{run.Config{PCA: run.PCA{Components: 3}, Augmentation: run.Augmentation{Kind: "flip"}}, images, "augmentation.kind"},
	} {
		_, err := plan.New(tt.cfg, tt.on)
		fault, _ := err.(*run.ConfigError)
		switch {
		case tt.field == "" && err != nil:
			t.Errorf("%+v: %v", tt.cfg.Augmentation, err)
		case tt.field != "" && (fault == nil || fault.Field != tt.field):
			t.Errorf("%+v on %v: %v, want %s at fault", tt.cfg.Augmentation, tt.on.Shape, err, tt.field)
		}
	}
}
