package series

// LogLimit is how many points a [Log] keeps.
const LogLimit = 1 << 16

// Log keeps the points of a run as they came, for the export. Beyond LogLimit
// it keeps every second one, then every fourth, and so on: the step column
// tells which. The zero value is empty and ready.
type Log struct {
	points []Point
	every  int // one point in this many is kept; 0 means 1
	seen   int
}

// Add takes one more point.
func (l *Log) Add(p Point) {
	if l.every == 0 {
		l.every = 1
	}
	keep := l.seen%l.every == 0
	l.seen++
	if !keep {
		return
	}
	if len(l.points) == LogLimit {
		l.thin()
		if (l.seen-1)%l.every != 0 {
			return
		}
	}
	l.points = append(l.points, p)
}

func (l *Log) thin() {
	l.every *= 2
	for i := 0; i < LogLimit/2; i++ {
		l.points[i] = l.points[2*i]
	}
	l.points = l.points[:LogLimit/2]
}

// Points are the kept points, oldest first.
func (l *Log) Points() []Point { return l.points }
