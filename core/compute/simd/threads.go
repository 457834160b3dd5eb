package simd

import (
	"slices"
	"time"
)

// A trial compares two numbers of threads in turns, tries windows of each, and each of at least
// one step and window of time. Between two trials a run computes for rests times as long as a
// trial took, twice that after each trial that changes nothing, and mostRests times at most.
const (
	tries     = 3
	window    = 10 * time.Millisecond
	rests     = 16
	mostRests = 64
	// worth is the share of the time of a step that another number of threads has to stay below.
	worth = 0.95
)

// chooser finds the number of threads that a run's steps take least time with, from the times
// that they took. Its choice is a function of these alone, and a step's bits depend on none of
// them.
type chooser struct {
	most   int // threads that there are
	chosen int

	rival   int // in the trial under way; 0: there is none
	turn    int // which of the rivals is next
	windows [2][]float64
	spent   time.Duration // in this window
	steps   int           // in this window
	trial   time.Duration // that the trial takes so far, or took
	rest    time.Duration // until the next
	factor  int           // of the rest, in trials
}

// newChooser begins with all of so many threads, and lets engines compile for a while before the
// first trial.
func newChooser(most int) *chooser {
	return &chooser{most: most, chosen: most, factor: rests, rest: rests * window}
}

// threads returns the number of threads for the next step.
func (c *chooser) threads() int {
	if c.rival > 0 && len(c.windows[0]) > len(c.windows[1]) {
		return c.rival
	}
	return c.chosen
}

// took takes in the time of a step with so many threads as [chooser.threads] returned.
func (c *chooser) took(d time.Duration) {
	if c.most < 2 {
		return
	}
	if c.rival == 0 {
		if c.rest -= d; c.rest <= 0 {
			c.begin()
		}
		return
	}
	c.trial += d
	c.spent += d
	if c.steps++; c.spent < window {
		return
	}
	of := 0
	if len(c.windows[0]) > len(c.windows[1]) {
		of = 1
	}
	c.windows[of] = append(c.windows[of], float64(c.spent)/float64(c.steps))
	c.spent, c.steps = 0, 0
	if len(c.windows[1]) == tries {
		c.end()
	}
}

// begin starts a trial of the next number that could be better.
func (c *chooser) begin() {
	var rivals []int
	for _, n := range []int{c.chosen - 1, c.most, c.chosen / 2, c.chosen + 1} {
		if n >= 1 && n <= c.most && n != c.chosen && !slices.Contains(rivals, n) {
			rivals = append(rivals, n)
		}
	}
	c.rival = rivals[c.turn%len(rivals)]
	c.turn++
	c.windows, c.trial = [2][]float64{}, 0
}

// end takes the better of the two.
func (c *chooser) end() {
	own, other := middle(c.windows[0]), middle(c.windows[1])
	if c.factor = min(2*c.factor, mostRests); other < worth*own {
		c.chosen, c.turn, c.factor = c.rival, 0, rests
	}
	c.rival = 0
	c.rest = c.trial * time.Duration(c.factor)
}

func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
