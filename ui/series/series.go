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

// The columns of a [Series]. Those from Clipped to TestAcc are diagnostic, the others are
// released or public. What kept runs have is numbered, so that a new one comes last.
const (
	Step Column = iota
	C
	Epsilon
	NoisyNorm
	Clipped
	TrainLoss
	TrainAcc
	TestLoss
	TestAcc
	Parties // in the sum of a run of several; 0 where it is void
	Rate    // the learning rate, which is public
	Columns
)

// diagnostic reports whether a column is.
func (c Column) diagnostic() bool { return Clipped <= c && c <= TestAcc }

// Point is an event's numbers, by column; NaN where the event has none.
type Point [Columns]float64

// FromEvent takes the numbers out of an event.
func FromEvent(e *run.Event) Point {
	p := Point{
		Step: float64(e.Step), C: e.Released.MaxGradNorm,
		Epsilon: float64(e.Released.Epsilon), NoisyNorm: float64(e.Released.GradNorm),
	}
	for i := Clipped; i < Columns; i++ {
		p[i] = math.NaN()
	}
	if n := e.Released.Parties; n > 0 || e.Released.Void {
		p[Parties] = float64(n)
	}
	if rate := e.Released.LearningRate; rate > 0 {
		p[Rate] = rate
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

// Decode reads what Encode wrote, and what it wrote when there were fewer columns, at least up to TestAcc.
func Decode(b []byte) ([]Point, error) {
	const head = 8
	var columns uint64
	if len(b) >= head {
		columns = binary.LittleEndian.Uint64(b)
	}
	size := int(8 * columns)
	if columns <= uint64(TestAcc) || columns > uint64(Columns) || (len(b)-head)%size != 0 {
		return nil, fmt.Errorf("series: %d bytes are not points of %d columns", len(b), Columns)
	}
	points := make([]Point, (len(b)-head)/size)
	for i := range points {
		for c := range points[i] {
			points[i][c] = math.NaN()
			if c < int(columns) {
				points[i][c] = math.Float64frombits(binary.LittleEndian.Uint64(b[head+size*i+8*c:]))
			}
		}
	}
	return points, nil
}

// Limit is the most points that a [Series] holds: more than a screen shows.
const Limit = 2000

// Series is a run at bounded resolution. When it is full, neighbours are merged
// in pairs and later points are gathered in buckets twice as large. In a bucket
// diagnostic values are averaged, since they are noisy; of the others the last
// one stands, since they are exact, but the least of Parties, so that no step is lost
// to the eye in which somebody was not there. The zero value is empty and ready.
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
	case n > 0 && c == Parties:
		return min(old, v), n + 1
	case n == 0 || !c.diagnostic():
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
