package data

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTargetScale(t *testing.T) {
	s, err := NewTargetScale([]Bound{{0, 200_000}, {-3, -1}})
	if err != nil {
		t.Fatal(err)
	}
	y := []float32{0, -3, 100_000, -2, 200_000, -1, 150_000, -1.5, 1e9, 7, -1e9, float32(math.Inf(-1))}
	s.Scale(y)
	if want := []float32{-1, -1, 0, 0, 1, 1, 0.5, 0.5, 1, 1, -1, -1}; !slices.Equal(y, want) {
		t.Errorf("scaled to %v, want %v", y, want)
	}
	s.Unscale(y)
	if want := []float32{0, -3, 100_000, -2, 200_000, -1, 150_000, -1.5, 200_000, -1, 0, -3}; !slices.Equal(y, want) {
		t.Errorf("taken back to %v, want %v", y, want)
	}
	nan := []float32{float32(math.NaN())}
	if s.Scale(nan); !math.IsNaN(float64(nan[0])) {
		t.Errorf("NaN became %v", nan)
	}
	var none *TargetScale
	y = []float32{5, 6}
	none.Scale(y)
	none.Unscale(y)
	none.Fold(y, y)
	if !slices.Equal(y, []float32{5, 6}) || none.Bounds() != nil {
		t.Errorf("no scale made %v", y)
	}
	if _, err := NewTargetScale(nil); err == nil {
		t.Error("no bounds are taken")
	}
	for _, b := range []Bound{{1, 1}, {2, 1}, {math.NaN(), 1}, {0, math.Inf(1)}, {0, 2e30}, {-2e30, 0}, {0, 5e-324}, {0, 1e-31}} {
		if _, err := NewTargetScale([]Bound{{0, 1}, b}); err == nil {
			t.Errorf("bounds %v are taken", b)
		}
	}
}

// TestTargetScaleFold: a folded layer answers what Unscale makes of its answers.
func TestTargetScaleFold(t *testing.T) {
	const inputs, targets = 5, 3
	rng := rand.New(rand.NewPCG(1, 2))
	s, err := NewTargetScale([]Bound{{1000, 9000}, {-1, 1}, {-1e6, 3e6}})
	if err != nil {
		t.Fatal(err)
	}
	var x, w, b []float32
	for range inputs {
		x = append(x, rng.Float32())
	}
	for range inputs * targets {
		w = append(w, rng.Float32()-0.5)
	}
	for range targets {
		b = append(b, rng.Float32())
	}
	answer := func() []float32 {
		z := slices.Clone(b)
		for i := range inputs {
			for k := range targets {
				z[k] += x[i] * w[i*targets+k]
			}
		}
		return z
	}
	want := answer()
	s.Unscale(want)
	s.Fold(w, b)
	for k, z := range answer() {
		if math.Abs(float64(z-want[k])) > 1e-5*(s.half[k]+math.Abs(s.mid[k])) {
			t.Errorf("output %d is %v, want %v", k, z, want[k])
		}
	}
}

// TestBoundsHistogramOfTargets takes away one example at a time: the histogram moves by
// what its Sensitivity says, whatever is counted, and finds what it is to find.
func TestBoundsHistogramOfTargets(t *testing.T) {
	for _, tc := range []struct {
		features           int
		counted, targets   bool
		weight, sensitives float64
	}{
		{6, true, true, 1, 7}, {6, false, true, 1, 1}, {16, true, true, 2, 20}, {120, true, true, 5, 145}, {120, false, true, 1, 1}, {120, true, false, 5, 120},
	} {
		ds := normalRows(7, 40, tc.features)
		for i := range ds.Train.Y {
			ds.Train.Y[i] = float32(60_000 + 100*i)
		}
		whole := NewBoundsHistogram(ds, tc.counted, tc.targets)
		if whole.Sensitivity() != math.Sqrt(tc.sensitives) || tc.counted && whole.weight() != tc.weight {
			t.Fatalf("%+v: sensitivity² %v, weight %v", tc, whole.Sensitivity()*whole.Sensitivity(), whole.weight())
		}
		for i := range ds.Train.N {
			less := *ds
			less.Train = Split{N: ds.Train.N - 1, F32: slices.Delete(slices.Clone(ds.Train.F32), i*tc.features, (i+1)*tc.features), Y: slices.Delete(slices.Clone(ds.Train.Y), i, i+1)}
			sum := 0.0
			for k, c := range NewBoundsHistogram(&less, tc.counted, tc.targets).counts {
				sum += (whole.counts[k] - c) * (whole.counts[k] - c)
			}
			if math.Abs(math.Sqrt(sum)-whole.Sensitivity()) > 1e-12 {
				t.Fatalf("%+v: without row %d the histogram moves by %v", tc, i, math.Sqrt(sum))
			}
		}
		found, err := whole.Bounds(func([]float64) {}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := []Bound{{1 << 15, 1 << 16}}; tc.targets != slices.Equal(found.Targets, want) || len(found.Features) != tc.features {
			t.Errorf("%+v: %+v", tc, found)
		}
		// Noise that drowns everything, and is said to.
		drowned, err := whole.Bounds(func(dst []float64) { dst[len(dst)-1] = 1e6 }, 1e9)
		if err != nil || tc.targets != (drowned.UncertainTargets == 1) || tc.counted != (drowned.UncertainFeatures == tc.features) {
			t.Errorf("%+v: %d and %d uncertain, %v", tc, drowned.UncertainFeatures, drowned.UncertainTargets, err)
		}
	}
}

// TestTargetsAreSeenAmongFeatures: noise that hides what features are leaves a target to
// be seen, at little cost to them.
func TestTargetsAreSeenAmongFeatures(t *testing.T) {
	const n, features = 1000, 120
	ds := normalRows(7, n, features)
	for i := range ds.Train.Y {
		ds.Train.Y[i] = float32(20_000 + 10*i)
	}
	h, rng := NewBoundsHistogram(ds, true, true), rand.New(rand.NewPCG(3, 4))
	sigma := 10 * h.Sensitivity()
	found, err := h.Bounds(normalNoise(rng, sigma), sigma)
	if err != nil || found.UncertainTargets != 0 || found.Targets[0] != (Bound{1 << 14, 1 << 15}) || found.UncertainFeatures < features/2 {
		t.Errorf("%v, %+v", err, found)
	}
	if alone := (Sought{Features: features}); h.Sensitivity() > 1.125*alone.Sensitivity() {
		t.Errorf("features have noise of %v for %v without the target", h.Sensitivity(), alone.Sensitivity())
	}
	feature, target := h.Noise(10)
	if feature.Std != sigma || feature.Least < n/2 || math.Abs(target.Std-sigma/5) > 1e-9 || target.Least > n/5 {
		t.Errorf("%+v and %+v", feature, target)
	}
	if feature, target := (Sought{}).Noise(1); feature != (Obstacle{}) || target != (Obstacle{}) {
		t.Errorf("of nothing, noise is %+v, %+v", feature, target)
	}
}

// normalNoise adds noise of deviation sigma.
func normalNoise(rng *rand.Rand, sigma float64) func(dst []float64) {
	return func(dst []float64) {
		for i := range dst {
			dst[i] += sigma * rng.NormFloat64()
		}
	}
}

// normalRows draws rows and targets from the standard normal distribution.
func normalRows(seed uint64, n, features int) *Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x726f7773))
	ds := &Dataset{Task: Regression, Features: features, Outputs: 1, Train: Split{N: n, F32: make([]float32, n*features), Y: make([]float32, n)}}
	for _, a := range [][]float32{ds.Train.F32, ds.Train.Y} {
		for i := range a {
			a[i] = float32(rng.NormFloat64())
		}
	}
	return ds
}
