// Package series keeps the series that a run reported: a drawing of bounded size for the
// charts, and a log for the export.
package series

import (
	"encoding/binary"
	"fmt"
	"math"

	"clipscope/core/run"
)

// Column is a quantity over steps.
type Column int

// The columns of a [Series]. Those before Clipped are released or public, the
// others are diagnostic.
const (
	Step Column = iota
	C
	Epsilon
	NoisyNorm
	Rate // the learning rate, which is public
	Clipped
	TrainLoss
	TrainAcc
	TestLoss
	TestAcc
	Columns
)

// Point is an event's numbers, by column; NaN where the event has none.
type Point [Columns]float64

// FromEvent takes the numbers out of an event.
func FromEvent(e *run.Event) Point {
	p := Point{
		Step: float64(e.Step), C: e.Released.MaxGradNorm,
		Epsilon: float64(e.Released.Epsilon), NoisyNorm: float64(e.Released.GradNorm), Rate: e.Released.LearningRate,
	}
	if p[Rate] == 0 {
		p[Rate] = math.NaN()
	}
	for i := Clipped; i < Columns; i++ {
		p[i] = math.NaN()
	}
	if d := e.Diag; d != nil {
		p[Clipped], p[TrainLoss], p[TrainAcc] = float64(d.ClipFraction), float64(d.TrainLoss), float64(d.TrainAcc)
		if d.Eval != nil {
			p[TestLoss], p[TestAcc] = float64(d.Eval.Loss), float64(d.Eval.Accuracy)
		}
	}
	return p
}

// Encode writes points to be kept: how many columns there are, and then all numbers.
func Encode(points []Point) []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+8*int(Columns)*len(points)), uint64(Columns))
	for i := range points {
		for _, v := range points[i] {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

// Decode reads what Encode wrote, and what it wrote before points had a Rate, which is NaN then.
func Decode(b []byte) ([]Point, error) {
	const head, before = 8, Columns - 1
	columns := Columns
	if len(b) >= head && binary.LittleEndian.Uint64(b) == uint64(before) {
		columns = before
	}
	size := 8 * int(columns)
	if len(b) < head || binary.LittleEndian.Uint64(b) != uint64(columns) || (len(b)-head)%size != 0 {
		return nil, fmt.Errorf("series: %d bytes are not points of %d columns", len(b), Columns)
	}
	points := make([]Point, (len(b)-head)/size)
	for i := range points {
		from := b[head+size*i:]
		for c := range Columns {
			if c == Rate && columns == before {
				points[i][c] = math.NaN()
				continue
			}
			points[i][c] = math.Float64frombits(binary.LittleEndian.Uint64(from))
			from = from[8:]
		}
	}
	return points, nil
}

// Limit is the most points that a [Series] holds: more than a screen shows.
const Limit = 2000

// Series is a run at bounded resolution. When it is full, neighbours are merged
// in pairs and later points are gathered in buckets twice as large. In a bucket
// diagnostic values are averaged, since they are noisy; of the others the last
// one stands, since they are exact. The zero value is empty and ready.
type Series struct {
	cols     [Columns][]float64
	counts   [Columns]int // numbers behind the mean in the last bucket
	inBucket int          // points in the last bucket
	stride   int          // points a full bucket has; 0 means 1
}

// Len is the number of points to draw.
func (s *Series) Len() int { return len(s.cols[Step]) }

// Stride returns the number of events that a drawn point stands for.
func (s *Series) Stride() int { return max(1, s.stride) }

// Column is the drawn values of one column. It is valid until the next Add.
func (s *Series) Column(c Column) []float64 { return s.cols[c] }

// Add takes one more point. Infinite values are kept.
func (s *Series) Add(p Point) {
	if s.inBucket == 0 || s.inBucket == s.Stride() {
		if s.Len() == Limit {
			s.halve()
		}
		s.open(p)
		return
	}
	s.inBucket++
	last := s.Len() - 1
	for c := range Columns {
		s.cols[c][last], s.counts[c] = merge(c, s.cols[c][last], p[c], s.counts[c])
	}
}

func (s *Series) open(p Point) {
	s.inBucket = 1
	for c := range Columns {
		s.cols[c] = append(s.cols[c], p[c])
		s.counts[c] = 0
		if !math.IsNaN(p[c]) {
			s.counts[c] = 1
		}
	}
}

// merge adds v to a bucket that stands at old, made from n numbers.
func merge(c Column, old, v float64, n int) (float64, int) {
	switch {
	case math.IsNaN(v):
		return old, n
	case n == 0 || c < Clipped:
		return v, n + 1
	default:
		return old + (v-old)/float64(n+1), n + 1
	}
}

// halve merges neighbours; the number of points is even when it is called.
func (s *Series) halve() {
	s.stride = 2 * s.Stride()
	for c := range Columns {
		col := s.cols[c]
		for i := 0; i < len(col)/2; i++ {
			n := 1
			if math.IsNaN(col[2*i]) {
				n = 0
			}
			col[i], _ = merge(c, col[2*i], col[2*i+1], n)
		}
		s.cols[c] = col[:len(col)/2]
	}
}

// Mean is the mean of column c over the points that lie from or more, and less
// than to, steps before the last one; NaN when there is none.
func (s *Series) Mean(c Column, from, to int) float64 {
	sum, n := 0.0, 0
	for i := s.Len() - 1; i >= 0; i-- {
		back := s.cols[Step][s.Len()-1] - s.cols[Step][i]
		if back >= float64(to) {
			break
		}
		if v := s.cols[c][i]; back >= float64(from) && !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}
