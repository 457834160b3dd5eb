package builtin

import (
	"math"
	"math/rand/v2"
	"slices"

	"clipscope/core/data"
)

// Lookalike draws data of classes that has the shape of what m describes: as many rows and
// columns of the same kinds, within the same bounds, but nobody's. Each class has a middle
// of its own, in so many directions that a straight line tells most rows.
//
// Guarantee: it depends on m and the seed alone, so whatever is tried on it is free.
func Lookalike(m data.Meta, seed uint64) *data.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x6c6f6f6b))
	ds := &data.Dataset{Name: m.Name, Task: m.Task, Features: m.Features, Shape: m.Shape, Outputs: m.Outputs, Columns: m.Columns, Bounds: m.Bounds, Backbone: m.Backbone, ByClass: m.ByClass, HeldOut: m.HeldOut}
	ds.Classes = m.Classes // which are public
	for k := len(ds.Classes); k < m.Outputs; k++ {
		ds.Classes = append(ds.Classes, string(rune('a'+k%26)))
	}
	d := newDrawing(rng, m)
	ds.Train = d.split(m.TrainRows)
	ds.Test = d.split(m.TestRows)
	return ds
}

// apart is the distance between classes, in deviations of a row along the line
// between them: a straight line tells nine of ten.
const apart = 2.6

// drawing draws rows of classes.
type drawing struct {
	rng    *rand.Rand
	m      data.Meta
	middle [][]float64 // of each class, by feature, in deviations
	rows   []float64
}

func newDrawing(rng *rand.Rand, m data.Meta) *drawing {
	d := &drawing{rng: rng, m: m, rows: make([]float64, m.Features)}
	for range m.Outputs {
		middle := make([]float64, m.Features)
		for j := range middle {
			middle[j] = apart * rng.NormFloat64() / math.Sqrt(2*float64(m.Features))
		}
		d.middle = append(d.middle, middle)
	}
	for _, c := range m.Columns {
		if c.Kind.IsSequence() {
			d.spread(&c)
		}
	}
	return d
}

// spread gives each class the same middle at all places of a sequence, as models look at tokens wherever they stand.
func (d *drawing) spread(c *data.Column) {
	const most = 4 // deviations, from the first class to the last
	step := min(apart/math.Sqrt(float64(c.Tokens)/2), most/float64(max(len(d.middle)-1, 1)))
	for k, middle := range d.middle {
		for j := range c.Tokens {
			middle[c.First+j] = step * (float64(k) - float64(len(d.middle)-1)/2)
		}
	}
}

func (d *drawing) split(n int) data.Split {
	s := data.Split{N: n, Y: make([]float32, n)}
	if n == 0 {
		return data.Split{}
	}
	if d.m.FeatureBytes == 1 {
		s.U8 = make([]uint8, 0, n*d.m.Features)
	} else {
		s.F32 = make([]float32, 0, n*d.m.Dense())
	}
	dense := d.m.Dense()
	for i := range n {
		class := d.rng.IntN(d.m.Outputs)
		s.Y[i] = float32(class)
		d.row(d.middle[class])
		if dense < d.m.Features {
			s.Words = append(s.Words, d.words())
		}
		for _, v := range d.rows[:dense] {
			if s.U8 != nil {
				s.U8 = append(s.U8, uint8(min(max(64+48*v, 0), 255)))
			} else {
				s.F32 = append(s.F32, float32(v))
			}
		}
	}
	return s
}

// row draws one row of a class.
func (d *drawing) row(middle []float64) {
	for j := range d.rows {
		d.rows[j] = middle[j] + d.rng.NormFloat64()
	}
	for _, c := range d.m.Columns {
		d.column(&c)
	}
	if d.m.Columns == nil && d.m.Bounds != nil && d.m.FeatureBytes != 1 {
		for j, b := range d.m.Bounds {
			d.rows[j] = inBounds(b, d.rows[j])
		}
	}
}

// column makes of what was drawn for a column's features what such a column may have: of
// categories the one for which most was drawn, of numbers one within their bounds, of sequences
// the tokens of some of the places.
func (d *drawing) column(c *data.Column) {
	switch c.Kind {
	case data.Letters, data.Words:
		part, length := d.rows[c.First:c.First+c.Tokens], 1+d.rng.IntN(c.Tokens)
		for k, v := range part {
			if part[k] = -1; k < length {
				part[k] = math.Floor(inBounds(data.Bound{Hi: float64(c.Buckets - 1)}, v))
			}
		}
	case data.Numeric:
		if c.Bounds != nil {
			d.rows[c.First] = inBounds(*c.Bounds, d.rows[c.First])
		}
		if c.Indicator > 0 {
			d.rows[c.Indicator] = 0
		}
	case data.Categorical:
		part := d.rows[c.First : c.First+len(c.Categories)]
		most := 0
		for k, v := range part {
			if v > part[most] {
				most = k
			}
		}
		clear(part)
		if len(part) > 0 {
			part[most] = 1
		}
	}
}

// words returns the features of texts that a row comes to: of each, the largest that were drawn, in size.
func (d *drawing) words() (all []data.Word) {
	const share = 16 // of the features, in a text of a hundred words
	for _, c := range d.m.Columns {
		if c.Kind != data.Text {
			continue
		}
		drawn := d.rows[c.First : c.First+c.Buckets]
		sizes := make([]float64, len(drawn))
		for k, v := range drawn {
			sizes[k] = math.Abs(v)
		}
		slices.Sort(sizes)
		least, square, from := sizes[len(sizes)-max(1, len(sizes)/share)], 0.0, len(all)
		for k, v := range drawn {
			if math.Abs(v) >= least {
				all = append(all, data.Word{Feature: uint32(c.First + k), Value: float32(v)})
				square += v * v
			}
		}
		for k := range all[from:] {
			all[from+k].Value /= float32(math.Sqrt(square))
		}
	}
	return all
}

// inBounds maps a number of deviations into the bounds: 0 to their middle, and the bounds lie four
// deviations apart. What lies outside is clamped.
func inBounds(b data.Bound, deviations float64) float64 {
	return min(max(b.Lo+(b.Hi-b.Lo)*(0.5+deviations/4), b.Lo), b.Hi)
}
