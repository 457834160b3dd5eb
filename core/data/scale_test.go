package data

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// small returns the same values as bytes and as floats.
func small(n, f int) (u8, f32 *Dataset) {
	rng := rand.New(rand.NewPCG(3, 4))
	u8 = &Dataset{Task: Regression, Features: f, Outputs: 2, Bounds: ByteBounds(f)}
	u8.Train.N = n
	for range n * f {
		u8.Train.U8 = append(u8.Train.U8, uint8(rng.IntN(256)))
	}
	for i := range n * 2 {
		u8.Train.Y = append(u8.Train.Y, float32(i))
	}
	copy := *u8
	copy.Train.U8 = nil
	for _, b := range u8.Train.U8 {
		copy.Train.F32 = append(copy.Train.F32, float32(b))
	}
	return u8, &copy
}

// TestScaleEqualsItsFormula checks each scaling, on bytes and floats alike,
// against the formula in float64.
func TestScaleEqualsItsFormula(t *testing.T) {
	const n, f = 9, 5
	u8, f32 := small(n, f)
	clear(u8.Train.U8[2*f : 3*f]) // a row of zeros
	clear(f32.Train.F32[2*f : 3*f])
	uneven := []Bound{{0, 255}, {-10, 10}, {100, 101}, {0, 1e6}, {-1, 300}}
	must := func(s *Scale, err error) *Scale {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	within := func(b func(int) Bound) func(row []float64, j int) float64 {
		return func(row []float64, j int) float64 {
			return min(max((row[j]-b(j).Lo)/(b(j).Hi-b(j).Lo), 0), 1)
		}
	}
	measured := func(row []float64, j int) float64 {
		mean, dev := 0.0, 0.0
		for i := range n {
			mean += float64(f32.Train.F32[i*f+j]) / n
		}
		for i := range n {
			d := float64(f32.Train.F32[i*f+j]) - mean
			dev += d * d / n
		}
		return (row[j] - mean) / math.Sqrt(dev)
	}
	for name, tc := range map[string]struct {
		scale func(ds *Dataset) *Scale
		want  func(row []float64, j int) float64
	}{
		"none": {NoScale, func(row []float64, j int) float64 { return row[j] }},
		"row": {RowScale, func(row []float64, j int) float64 {
			sum := 0.0
			for _, x := range row {
				sum += x * x
			}
			return row[j] / max(math.Sqrt(sum), 1e-300)
		}},
		"declared by the data": {func(ds *Dataset) *Scale { return must(DeclaredScale(ds, 0, 0)) }, within(func(int) Bound { return Bound{0, 255} })},
		"declared":             {func(ds *Dataset) *Scale { return must(DeclaredScale(ds, 10, 200)) }, within(func(int) Bound { return Bound{10, 200} })},
		"bounds":               {func(ds *Dataset) *Scale { return must(BoundsScale(ds, uneven)) }, within(func(j int) Bound { return uneven[j] })},
		"measured":             {func(ds *Dataset) *Scale { return MeasuredScale(ds, &ds.Train) }, measured},
	} {
		for kind, ds := range map[string]*Dataset{"bytes": u8, "floats": f32} {
			idx := []int{4, 0, 2, 8, 4}
			dst := make([]float32, len(idx)*f)
			tc.scale(ds).Rows(dst, &ds.Train, idx)
			for k, i := range idx {
				row := make([]float64, f)
				for j := range row {
					row[j] = float64(f32.Train.F32[i*f+j])
				}
				for j := range row {
					if have, want := float64(dst[k*f+j]), tc.want(row, j); math.Abs(have-want) > 1e-5*max(1, math.Abs(want)) {
						t.Errorf("%s of %s: row %d, feature %d is %v, want %v", name, kind, i, j, have, want)
					}
				}
			}
			if table := tc.scale(ds).Table(); table != nil {
				raw := make([]uint8, len(dst))
				ds.Train.Bytes(raw, idx)
				for i, b := range raw {
					if table[b] != dst[i] {
						t.Errorf("%s of %s: the table has %v for value %d, which is %v", name, kind, table[b], i, dst[i])
					}
				}
			}
			tc.scale(ds).Rows(nil, &ds.Train, nil) // an empty batch
			ds.Train.Bytes(nil, nil)
		}
	}
}

func TestScaleStaysFinite(t *testing.T) {
	ds := &Dataset{Features: 3, Task: Regression, Outputs: 1}
	const big = math.MaxFloat32
	ds.Train = Split{N: 3, F32: []float32{big, 1e-30, 7, -big, 2e-30, 7, big, 1e-30, 7}, Y: make([]float32, 3)}
	declared, err := DeclaredScale(ds, -1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Scale{"row": RowScale(ds), "declared": declared, "measured": MeasuredScale(ds, &ds.Train), "none": NoScale(ds)} {
		dst := make([]float32, 9)
		s.Rows(dst, &ds.Train, []int{0, 1, 2})
		for i, v := range dst {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Errorf("%s: value %d is %v", name, i, v)
			}
		}
		if name == "measured" && (dst[2] != 0 || dst[5] != 0) {
			t.Errorf("a feature that never changes became %v", dst[2])
		}
	}
}

// TestDeclaredBoundsLeaveCategories: a number declared to lie in 0 … 100 says
// nothing of the one-hot features beside it.
func TestDeclaredBoundsLeaveCategories(t *testing.T) {
	ds := &Dataset{Features: 4, Task: Regression, Outputs: 1, Columns: []Column{
		{Name: "a", Kind: Categorical, Categories: []string{"x", "y"}, First: 0}, {Name: "n", Kind: Numeric, First: 2},
		{Name: "y", Kind: Label, First: -1}, {Name: "m", Kind: Numeric, First: 3}}}
	ds.Train = Split{N: 1, F32: []float32{0, 1, 50, 200}, Y: []float32{0}}
	s, err := DeclaredScale(ds, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, 4)
	s.Rows(dst, &ds.Train, []int{0})
	if !slices.Equal(dst, []float32{0, 1, 0.5, 1}) {
		t.Errorf("row %v", dst)
	}
	if idx := ds.NumericFeatures(); !slices.Equal(idx, []int{2, 3}) {
		t.Errorf("numeric features %v", idx)
	}
	if _, err := DeclaredScale(ds, 0, 0); err == nil {
		t.Error("no bounds were declared, and none are missed")
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, b := range []Bound{{1, 1}, {2, 1}, {0, inf}, {-inf, 0}, {nan, 1}, {0, nan}, {-math.MaxFloat64, math.MaxFloat64}} {
		if _, err := DeclaredScale(ds, b.Lo, b.Hi); err == nil {
			t.Errorf("bounds %v are accepted", b)
		}
	}
	if _, err := BoundsScale(ds, make([]Bound, 3)); err == nil {
		t.Error("3 bounds do for 4 features")
	}
}

func TestTargets(t *testing.T) {
	ds, _ := small(5, 1)
	dst := make([]float32, 6)
	ds.Train.Targets(dst, 2, []int{3, 0, 3})
	if !slices.Equal(dst, []float32{6, 7, 0, 1, 6, 7}) {
		t.Errorf("pairs %v", dst)
	}
	s := Split{N: 3, Y: []float32{5, 6, 7}}
	s.Targets(dst[:2], 1, []int{2, 1})
	if !slices.Equal(dst[:2], []float32{7, 6}) {
		t.Errorf("classes %v", dst[:2])
	}
}

func TestBinsCoverTheLine(t *testing.T) {
	for i := range binsPer {
		b := edges(i)
		if !(b.Lo < b.Hi) || i > 0 && edges(i-1).Hi != b.Lo {
			t.Fatalf("bin %d is %v after %v", i, b, edges(max(0, i-1)))
		}
		for _, x := range []float64{b.Lo + (b.Hi-b.Lo)/3, (b.Lo + b.Hi) / 2, math.Nextafter(b.Lo, b.Hi), math.Nextafter(b.Hi, b.Lo)} {
			if bin(x) != i {
				t.Fatalf("%v is in bin %d, not %d of %v", x, bin(x), i, b)
			}
		}
	}
	if bin(math.MaxFloat32) != binsPer-1 || bin(-math.MaxFloat32) != 0 || bin(0) != binsPer/2 {
		t.Error("the largest numbers and 0 are in the wrong bins")
	}
}

// TestBoundsHistogramSensitivity takes away one example at a time: the
// histogram must move by at most its Sensitivity, and by that where nothing is
// a category.
func TestBoundsHistogramSensitivity(t *testing.T) {
	ds := normalRows(7, 40, 6)
	whole := NewBoundsHistogram(ds, true, false)
	if whole.Len() != 6*binsPer || whole.Sensitivity() != math.Sqrt(6) {
		t.Fatalf("%d counts of sensitivity %v", whole.Len(), whole.Sensitivity())
	}
	for i := range ds.Train.N {
		less := *ds
		less.Train = Split{N: ds.Train.N - 1, F32: slices.Delete(slices.Clone(ds.Train.F32), i*6, (i+1)*6)}
		sum := 0.0
		for k, c := range NewBoundsHistogram(&less, true, false).counts {
			sum += (whole.counts[k] - c) * (whole.counts[k] - c)
		}
		if math.Abs(math.Sqrt(sum)-whole.Sensitivity()) > 1e-12 {
			t.Fatalf("without row %d the histogram moves by %v", i, math.Sqrt(sum))
		}
	}
}

func TestBoundsHistogram(t *testing.T) {
	const n, f = 20_000, 3
	ds := &Dataset{Features: f, Task: Regression, Outputs: 1}
	rng := rand.New(rand.NewPCG(1, 9))
	for range n { // [1, 4), (−8, 8), about 1e-3
		ds.Train.F32 = append(ds.Train.F32, 1+3*rng.Float32(), 16*rng.Float32()-8, 1e-3*(1+0.5*rng.Float32()))
	}
	ds.Train.N = n
	h := NewBoundsHistogram(ds, true, false)
	sigma := 2 * h.Sensitivity()
	// The threshold lets noise through in less than 1 % of runs, so of 200
	// runs 10 or more fail with probability below 5e-5. The seed is fixed.
	failures := 0
	for range 200 {
		found, err := h.Bounds(normalNoise(rng, sigma), sigma)
		if err != nil {
			t.Fatal(err)
		}
		if b := found.Features; b[0] != (Bound{1, 4}) || b[1] != (Bound{-8, 8}) || b[2] != (Bound{math.Ldexp(1, -10), math.Ldexp(1, -9)}) || found.UncertainFeatures != 0 {
			failures++
		}
	}
	if failures >= 10 {
		t.Errorf("%d of 200 runs found other bounds", failures)
	}
	if _, err := h.Bounds(func([]float64) {}, math.NaN()); err == nil {
		t.Error("sigma NaN is accepted")
	}
	// Noise that drowns everything still gives usable bounds, and says so.
	found, err := h.Bounds(normalNoise(rng, 1e6), 1e9)
	if err != nil || found.UncertainFeatures != f {
		t.Fatalf("%+v are not all uncertain, %v", found, err)
	}
	if _, err := BoundsScale(ds, found.Features); err != nil {
		t.Error(err)
	}
}

// BenchmarkRows is the hot path: a batch of 128 images.
func BenchmarkRows(b *testing.B) {
	ds, _ := small(1000, 28*28)
	s, _ := DeclaredScale(ds, 0, 0)
	idx := make([]int, 128)
	for i := range idx {
		idx[i] = i * 7
	}
	dst := make([]float32, len(idx)*28*28)
	b.SetBytes(int64(len(dst)))
	for b.Loop() {
		s.Rows(dst, &ds.Train, idx)
	}
}
