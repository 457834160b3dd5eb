package series

import "math"

// LogLimit limits the points that a [Log] keeps, beside those that were tested.
const LogLimit = 1 << 16

// Log keeps the points of a run as they came, for the export. Beyond LogLimit
// it keeps every second one, then every fourth, and so on; the newest, and
// whatever was tested, it keeps in any case. The zero value is empty and ready.
type Log struct {
	points []Point
	at     []int // how many points came before each
	every  int   // one point in this many is kept; 0 means 1
	count  int
	loose  bool // the last is kept only while it is the newest
}

// Add takes one more point.
func (l *Log) Add(p Point) {
	if l.loose {
		l.cut(len(l.points) - 1)
	}
	l.every = max(1, l.every)
	l.points, l.at = append(l.points, p), append(l.at, l.count)
	l.loose = !l.stays(len(l.points) - 1)
	l.count++
	if l.count > l.every*LogLimit {
		l.thin()
	}
}

// stays reports whether the log keeps a point that is not the newest.
func (l *Log) stays(i int) bool {
	return l.at[i]%l.every == 0 || !math.IsNaN(l.points[i][TestLoss])
}

func (l *Log) thin() {
	l.every *= 2
	n := 0
	for i := range l.points {
		if l.stays(i) || i == len(l.points)-1 {
			l.points[n], l.at[n] = l.points[i], l.at[i]
			n++
		}
	}
	l.cut(n)
	l.loose = !l.stays(n - 1)
}

func (l *Log) cut(n int) { l.points, l.at = l.points[:n], l.at[:n] }

// Points are the kept points, oldest first.
func (l *Log) Points() []Point { return l.points }
