package train

import "slices"

// mostKept bounds a series: 8 MB here, and a text that a page can hold.
const mostKept = 1 << 20

// series keeps a number of every step, or of every second, fourth … where that is
// more than mostKept.
type series struct {
	values []float64
	added  int
	skips  int // between two that are kept
}

func (s *series) addValue(v float64) {
	if s.added%(s.skips+1) == 0 {
		if len(s.values) == mostKept {
			for i := range mostKept / 2 {
				s.values[i] = s.values[2*i]
			}
			s.values, s.skips = s.values[:mostKept/2], 2*s.skips+1
		}
		s.values = append(s.values, v)
	}
	s.added++
}

func (s series) clone() series {
	s.values = slices.Clone(s.values)
	return s
}

// whole reports that the series is one that add makes.
func (s *series) whole() bool {
	every := s.skips + 1
	return every&(every-1) == 0 && len(s.values) <= mostKept && len(s.values) == (s.added+s.skips)/every
}
