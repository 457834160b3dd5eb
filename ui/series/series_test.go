package series

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"clipscope/core/run"
)

func point(step int, c, clipped float64) Point {
	p := Point{Step: float64(step), C: c}
	for i := Clipped; i < Columns; i++ {
		p[i] = math.NaN()
	}
	p[Clipped] = clipped
	return p
}

func TestFromEventLeavesMissingValuesNaN(t *testing.T) {
	e := run.Event{Step: 3, Released: run.Released{MaxGradNorm: 2, Epsilon: 0.5, GradNorm: 7}}
	p := FromEvent(&e)
	if p[Step] != 3 || p[C] != 2 || p[Epsilon] != 0.5 || p[NoisyNorm] != 7 || !math.IsNaN(p[Clipped]) || !math.IsNaN(p[TestAcc]) {
		t.Errorf("without diagnostics: %v", p)
	}
	e.Diag = &run.Diag{ClipFraction: 0.25, TrainLoss: 1, TrainAcc: 0.5, Eval: &run.Eval{Loss: 2, Accuracy: 0.75}}
	if p = FromEvent(&e); p[Clipped] != 0.25 || p[TrainLoss] != 1 || p[TrainAcc] != 0.5 || p[TestLoss] != 2 || p[TestAcc] != 0.75 {
		t.Errorf("with diagnostics: %v", p)
	}
}

// A series stays within Limit, spans the run, keeps the newest exact value, and
// its diagnostic means weigh every point the same.
func TestSeriesStayWithinTheLimitAtAnyLength(t *testing.T) {
	for _, n := range []int{0, 1, 2, Limit - 1, Limit, Limit + 1, Limit + 2, 2*Limit + 1, 10*Limit + 7} {
		var s Series
		sum := 0.0
		for i := 1; i <= n; i++ {
			clipped := float64(i%7) / 7
			sum += clipped
			s.Add(point(i, 1/float64(i), clipped))
		}
		if s.Len() > Limit || n > 0 && s.Len() < min(n, Limit/2) {
			t.Fatalf("%d points: %d are drawn", n, s.Len())
		}
		if n == 0 {
			continue
		}
		steps, cs := s.Column(Step), s.Column(C)
		if last := s.Len() - 1; steps[last] != float64(n) || cs[last] != 1/float64(n) {
			t.Errorf("%d points: the last one drawn is step %v with C %v", n, steps[last], cs[last])
		}
		for i := 1; i < len(steps); i++ {
			if steps[i] <= steps[i-1] {
				t.Fatalf("%d points: step %v follows %v", n, steps[i], steps[i-1])
			}
		}
		if n%s.Stride() == 0 && Limit%2 == 0 {
			mean := 0.0
			for _, v := range s.Column(Clipped) {
				mean += v / float64(s.Len())
			}
			if want := sum / float64(n); math.Abs(mean-want) > 1e-9 {
				t.Errorf("%d points: the mean became %v, want %v", n, mean, want)
			}
		}
	}
}

func TestSeriesSkipsWhatIsMissing(t *testing.T) {
	var s Series
	for i := 1; i <= 2*Limit; i++ {
		clipped := math.NaN()
		if i%2 == 0 {
			clipped = 0.5
		}
		s.Add(point(i, 1, clipped))
	}
	for i, v := range s.Column(Clipped) {
		if v != 0.5 {
			t.Fatalf("point %d is %v: a missing value took part in a mean", i, v)
		}
	}
	for i, v := range s.Column(TestAcc) {
		if !math.IsNaN(v) {
			t.Fatalf("point %d: nothing became %v", i, v)
		}
	}
}

func TestMeanIsOfTheStepsAskedFor(t *testing.T) {
	var s Series
	if !math.IsNaN(s.Mean(C, 0, 10)) {
		t.Error("an empty series has a mean")
	}
	for i := 1; i <= 100; i++ {
		s.Add(point(i, float64(i), 0))
	}
	for _, c := range []struct {
		from, to int
		want     float64
	}{{0, 1, 100}, {0, 10, 95.5}, {50, 60, 45.5}, {99, 200, 1}} {
		if got := s.Mean(C, c.from, c.to); got != c.want {
			t.Errorf("mean from %d to %d steps back is %v, want %v", c.from, c.to, got, c.want)
		}
	}
	if !math.IsNaN(s.Mean(C, 100, 200)) {
		t.Error("steps before the first have a mean")
	}
}

// A log keeps every step while there is room, then every second, every fourth, and
// always the newest and those that were tested.
func TestLogThinsEvenly(t *testing.T) {
	for _, n := range []int{0, 1, LogLimit, LogLimit + 1, 2*LogLimit + 7, 3 * LogLimit} {
		stride, tested := 1, func(i int) bool { return i%10_001 == 77 }
		for n > stride*LogLimit {
			stride *= 2
		}
		var l Log
		var want []float64
		for i := range n {
			p := point(i+1, 1, 0)
			if tested(i) {
				p[TestLoss] = 1
			}
			l.Add(p)
			if i%stride == 0 || tested(i) || i == n-1 {
				want = append(want, p[Step])
			}
		}
		var got []float64
		for _, p := range l.Points() {
			got = append(got, p[Step])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d points: %d are kept, want %d, every %dth", n, len(got), len(want), stride)
		}
	}
}

// TestPointsOfKeptRunsAreRead: runs that were kept have points of nine columns, in this order.
func TestPointsOfKeptRunsAreRead(t *testing.T) {
	b := binary.LittleEndian.AppendUint64(nil, 9)
	for i := range 9 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(i)))
	}
	points, err := Decode(b)
	if err != nil || len(points) != 1 {
		t.Fatalf("points of the nine columns that kept runs have are not read: %v", err)
	}
	for i, c := range []Column{Step, C, Epsilon, NoisyNorm, Clipped, TrainLoss, TrainAcc, TestLoss, TestAcc} {
		if points[0][c] != float64(i) {
			t.Errorf("column %d of a kept point is read as column %d: %v", i, c, points[0])
		}
	}
	if n := points[0][Parties]; !math.IsNaN(n) {
		t.Errorf("a run alone has %v parties", n)
	}
}

func TestPointsAreReadBack(t *testing.T) {
	want := []Point{point(1, 0.5, math.NaN()), point(2, math.Inf(1), 0.25)}
	got, err := Decode(Encode(want))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d points, %v", len(got), err)
	}
	for i := range want {
		for c := range Columns {
			if g, w := got[i][c], want[i][c]; g != w && !(math.IsNaN(g) && math.IsNaN(w)) {
				t.Errorf("point %d, column %d is %v, want %v", i, c, g, w)
			}
		}
	}
	b := Encode(want)
	for _, bad := range [][]byte{nil, b[:7], b[:len(b)-1], append([]byte{3}, b[1:]...)} {
		if points, err := Decode(bad); err == nil {
			t.Errorf("%d bytes are %d points", len(bad), len(points))
		}
	}
}

// TestAVoidStepIsNeverLost: however many steps share a point of the drawing.
func TestAVoidStepIsNeverLost(t *testing.T) {
	var s Series
	for step := 1; step <= 5*Limit; step++ {
		e := run.Event{Step: step, Released: run.Released{Parties: 3}}
		if step == 1001 {
			e.Released.Parties, e.Released.Void = 0, true
		}
		s.Add(FromEvent(&e))
	}
	voids := 0
	for _, n := range s.Column(Parties) {
		if n == 0 {
			voids++
		} else if n != 3 {
			t.Fatalf("%v parties", n)
		}
	}
	if voids != 1 {
		t.Errorf("%d void steps of 1", voids)
	}
	p := FromEvent(&run.Event{Step: 2, Released: run.Released{Void: true}})
	if e := p.event(9); !e.Released.Void || e.Diag != nil {
		t.Errorf("a void step of the past: %+v", e)
	}
}
