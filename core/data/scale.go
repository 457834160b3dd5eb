package data

import (
	"fmt"
	"math"
	"slices"
)

// Scale brings the features of a row to a common size while the row is copied
// into a batch. It is not changed once made and may be shared. Features of texts stay as they are, since those of
// each text have length 1.
//
// Guarantee: a Scale made by [NoScale], [RowScale], [DeclaredScale] or
// [BoundsScale] maps each row by itself, so it costs nothing beyond what its
// arguments cost. One made by [MeasuredScale] depends on every training row
// without noise: a run that uses it has no guarantee.
type Scale struct {
	features int
	dense    int // of them, the first: features of texts, which come behind, are never scaled
	// bytes is what each byte becomes where all features are scaled alike,
	// which is nearly always so for images.
	bytes  *[256]float32
	mul    []float64 // per feature: x·mul + add, in float64, as bounds may be close and far from 0; nil with bytes
	add    []float64
	bounds []Bound // that it maps to [0, 1], one where all are the same; nil without
	clamp  bool    // then to [0, 1]
	unit   bool    // then divided by the row's L2 norm
}

// NoScale leaves features as they are; bytes become 0 … 255.
func NoScale(ds *Dataset) *Scale {
	s := &Scale{features: ds.Features, dense: ds.Dense()}
	if ds.Train.U8 != nil {
		s.bytes = byteTable(1, 0, false)
		return s
	}
	s.mul, s.add = make([]float64, s.dense), make([]float64, s.dense)
	for i := range s.mul {
		s.mul[i] = 1
	}
	return s
}

// RowScale divides each row by its own L2 norm. Rows of zeros stay zeros.
func RowScale(ds *Dataset) *Scale {
	s := NoScale(ds)
	s.unit = true
	return s
}

// DeclaredScale maps bounds that are public to [0, 1] and clamps what lies
// outside. The bounds are lo and hi for every feature that comes from a number
// and has none of its own (categories are 0 or 1 as they are), or, where lo and hi are both 0, the
// bounds the data set declares: 0–255 for images. The error says so when there
// are none, or when lo < hi does not hold for finite numbers.
func DeclaredScale(ds *Dataset, lo, hi float64) (*Scale, error) {
	if lo == 0 && hi == 0 {
		if ds.Bounds == nil {
			return nil, fmt.Errorf("data: scaling: this data declares no bounds of its own; state lo and hi, or choose another scaling")
		}
		return BoundsScale(ds, ds.Bounds)
	}
	bounds := ds.KnownBounds()
	offsets := ds.offsets()
	for _, i := range ds.NumericFeatures() {
		bounds[i] = Bound{lo - offsets[i], hi - offsets[i]}
	}
	return BoundsScale(ds, bounds)
}

// BoundsScale maps each feature's bounds to [0, 1] and clamps what lies
// outside. bounds has one element a dense feature, with finite Lo < Hi.
//
// Guarantee: as that of the bounds.
func BoundsScale(ds *Dataset, bounds []Bound) (*Scale, error) {
	s := &Scale{features: ds.Features, dense: ds.Dense(), clamp: true}
	if len(bounds) != s.dense {
		return nil, fmt.Errorf("data: scaling: %d bounds for %d features", len(bounds), s.dense)
	}
	same := len(bounds) > 0
	for i, b := range bounds {
		if !(b.Lo < b.Hi) || math.IsInf(b.Hi-b.Lo, 0) {
			return nil, fmt.Errorf("data: scaling: bounds of feature %d: want finite lo < hi, have %v and %v", i+1, b.Lo, b.Hi)
		}
		same = same && b == bounds[0]
	}
	if s.bounds = slices.Clone(bounds); same {
		s.bounds = s.bounds[:1:1]
	}
	if same && ds.Train.U8 != nil {
		s.bytes = byteTable(1/(bounds[0].Hi-bounds[0].Lo), -bounds[0].Lo/(bounds[0].Hi-bounds[0].Lo), true)
		return s, nil
	}
	s.mul, s.add = make([]float64, s.dense), make([]float64, s.dense)
	for i, b := range bounds {
		s.mul[i], s.add[i] = 1/(b.Hi-b.Lo), -b.Lo/(b.Hi-b.Lo)
	}
	return s, nil
}

// Bounds returns the values that become 0 and 1, of each feature, or one that holds for all; nil of
// a scale without bounds. They are not to be changed.
//
// Guarantee: as that of the bounds that [BoundsScale] was given.
func (s *Scale) Bounds() []Bound { return s.bounds }

// MeasuredScale gives each feature mean 0 and deviation 1 over the rows of
// split. Features that never change become 0.
//
// Guarantee: none. The means and deviations are exact functions of all rows.
func MeasuredScale(ds *Dataset, split *Split) *Scale {
	f := ds.Dense()
	mean, dev := make([]float64, f), make([]float64, f)
	for i := range split.N {
		for j := range f { // Welford's update, which does not cancel
			x := float64(split.value(i*f + j))
			d := x - mean[j]
			mean[j] += d / float64(i+1)
			dev[j] += d * (x - mean[j])
		}
	}
	s := &Scale{features: ds.Features, dense: f, mul: make([]float64, f), add: make([]float64, f)}
	for j := range f {
		sd := math.Sqrt(dev[j] / max(1, float64(split.N)))
		if sd > 1e-9*math.Abs(mean[j]) && sd > 0 {
			s.mul[j] = 1 / sd
			s.add[j] = -mean[j] / sd
		}
	}
	return s
}

// Rows writes the rows of split that idx lists into dst [len(idx)×Features],
// scaled. dst must be that long and the indices in range, as for a slice. An
// empty idx writes nothing. Finite features give finite values.
func (s *Scale) Rows(dst []float32, split *Split, idx []int) {
	f, d := s.features, s.dense
	dst = dst[:len(idx)*f]
	for k, i := range idx {
		row := dst[k*f : (k+1)*f]
		switch {
		case split.U8 == nil:
			s.floats(row[:d], split.F32[i*d:(i+1)*d])
		case s.bytes != nil:
			lookUp(row, split.U8[i*f:(i+1)*f], s.bytes)
		default:
			s.scaleBytes(row, split.U8[i*f:(i+1)*f])
		}
		if d < f {
			clear(row[d:])
			for _, w := range split.Words[i] {
				row[w.Feature] = w.Value
			}
		}
		if s.unit {
			UnitRows(row, f)
		}
	}
}

// lookUp converts bytes through a table. It is the hot path: an image of bytes costs one load a pixel.
func lookUp(dst []float32, src []uint8, table *[256]float32) {
	dst = dst[:len(src)]
	for i, b := range src {
		dst[i] = table[b]
	}
}

func (s *Scale) floats(dst, src []float32) {
	mul, add := s.mul[:len(src)], s.add[:len(src)]
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = s.bound(float64(float64(x)*mul[i]) + add[i])
	}
}

func (s *Scale) scaleBytes(dst []float32, src []uint8) {
	mul, add := s.mul[:len(src)], s.add[:len(src)]
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = s.bound(float64(float64(x)*mul[i]) + add[i])
	}
}

// bound compares by hand: min and max are calls in wasm.
func (s *Scale) bound(x float64) float32 {
	// A huge value over a tiny deviation may leave float32's range.
	lo, hi := -math.MaxFloat32, math.MaxFloat32
	if s.clamp {
		lo, hi = 0, 1
	}
	switch {
	case x < lo:
		return float32(lo)
	case x > hi:
		return float32(hi)
	}
	return float32(x)
}

func byteTable(mul, add float64, clamp bool) *[256]float32 {
	var t [256]float32
	for i := range t {
		v := float64(i)*mul + add
		if clamp {
			v = min(max(v, 0), 1)
		}
		t[i] = float32(v)
	}
	return &t
}

// Table returns the values that [Scale.Rows] makes of each byte where that is all that counts, for
// data sets of bytes whose features are all scaled alike; otherwise nil.
func (s *Scale) Table() *[256]float32 {
	if s.unit {
		return nil
	}
	return s.bytes
}

// Bytes writes the rows that idx lists, which have to be of bytes, into dst
// [len(idx)×features] as they are.
func (s *Split) Bytes(dst []uint8, idx []int) {
	if len(idx) == 0 {
		return
	}
	f := len(dst) / len(idx)
	for k, i := range idx {
		copy(dst[k*f:(k+1)*f], s.U8[i*f:(i+1)*f])
	}
}

// Targets writes the targets of the rows that idx lists into dst
// [len(idx)×width], width being the data set's TargetWidth.
func (s *Split) Targets(dst []float32, width int, idx []int) {
	if width == 1 {
		dst = dst[:len(idx)]
		for k, i := range idx {
			dst[k] = s.Y[i]
		}
		return
	}
	for k, i := range idx {
		copy(dst[k*width:(k+1)*width], s.Y[i*width:(i+1)*width])
	}
}

// NumericFeatures lists, ascending, the features whose size is neither known nor declared. Those that stand
// for a category or a missing value have a known size; those of columns with bounds of their own a declared
// one.
func (d *Dataset) NumericFeatures() []int {
	var idx []int
	if d.Columns == nil {
		for i := range d.Features { // without columns there are no texts
			idx = append(idx, i)
		}
		return idx
	}
	for _, c := range d.Columns {
		if c.Kind == Numeric && c.Bounds == nil {
			idx = append(idx, c.First)
		}
	}
	return idx
}

// KnownBounds returns the bounds of each dense feature that are known without looking at rows; [0, 1] for
// those of NumericFeatures, of which none are known. They are the features', from which an offset is subtracted.
func (d *Dataset) KnownBounds() []Bound {
	bounds := slices.Repeat([]Bound{{0, 1}}, d.Dense())
	for _, c := range d.Columns {
		if c.Kind == Numeric && c.Bounds != nil {
			bounds[c.First] = Bound{c.Bounds.Lo - c.Offset, c.Bounds.Hi - c.Offset}
		}
	}
	return bounds
}

// offsets returns what was subtracted of each dense feature: see [Column.Offset].
func (d *Dataset) offsets() []float64 {
	all := make([]float64, d.Dense())
	for _, c := range d.Columns {
		if c.Kind == Numeric {
			all[c.First] = c.Offset
		}
	}
	return all
}
