package lab

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/form"
	"clipscope/ui/words"
)

// grid is the values of C that a sweep tries: as in docs/reproductions.md, in halves of
// decades about 1.
var grid = []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100}

// swept is a curve: whole runs at every C of the grid, once for each seed.
type swept struct {
	label   string
	epsilon string // a choice of ε; "" where σ decides the noise
	runs    [][]*attempt
}

// sweep is the state of the search for the best C of whole runs.
type sweep struct {
	jobs     jobs
	base     run.Config
	of       run.Config // the laboratory's experiment that base is made of
	curves   []*swept
	chosen   []string // choices of ε, one a curve; none: the experiment's own
	chart    *chart.Swept
	drawings int
	warm     time.Time // when every worker had ended its first run
	fault    string

	// Where the person predicts first, the curve is hidden until they have shown it.
	predict, shown bool
	guess          float64
}

func (s *sweep) regression() bool { return strings.HasPrefix(s.base.Data, "regression") }

// curve returns the results of a curve's runs so far.
func (s *sweep) curve(v *swept) chart.Curve {
	var c chart.Curve
	for _, runs := range v.runs {
		var m average
		least, greatest := math.NaN(), math.NaN()
		for _, a := range runs {
			x := a.score()
			if math.IsNaN(x) || math.IsInf(x, 0) {
				continue
			}
			if m.n == 0 {
				least, greatest = x, x
			}
			m.addValue(x)
			least, greatest = min(least, x), max(greatest, x)
		}
		c.Mean, c.Least, c.Greatest = append(c.Mean, m.value()), append(c.Least, least), append(c.Greatest, greatest)
	}
	return c
}

// best returns the index of a curve's best C, −1 while it has no result.
func (s *sweep) best(c chart.Curve) int {
	at := -1
	for i, x := range c.Mean {
		if !math.IsNaN(x) && (at < 0 || s.better(x, c.Mean[at])) {
			at = i
		}
	}
	return at
}

func (s *sweep) better(x, y float64) bool {
	if s.regression() {
		return x < y
	}
	return x > y
}

// facts calls note with where the first curve is best.
func (s *sweep) facts(note func(name string, value float64)) {
	c := s.curve(s.curves[0])
	if i := s.best(c); i >= 0 {
		note("sweep_c", grid[i])
		note("sweep_accuracy", c.Mean[i])
	}
}

// attempts returns the runs of all curves.
func (s *sweep) attempts() (all []*attempt) {
	for _, v := range s.curves {
		for _, runs := range v.runs {
			all = append(all, runs...)
		}
	}
	return all
}

// progress counts the runs that have ended.
func (s *sweep) progress() (done, of int) {
	all := s.attempts()
	for _, a := range all {
		if a.ended() {
			done++
		}
	}
	return done, len(all)
}

// stopped reports whether some runs were called off.
func (s *sweep) stopped() bool {
	return slices.ContainsFunc(s.attempts(), func(a *attempt) bool { return a.fault == stopped })
}

// said says how far the sweep is, and then what it found.
func (s *sweep) said() string {
	done, of := s.progress()
	switch {
	case of == 0:
		return ""
	case s.jobs.busy() && done <= s.jobs.width:
		// A worker's first run takes as long as its start: it tells nothing of the others.
		return fmt.Sprintf("%d of %d runs.", done, of)
	case s.jobs.busy():
		left := time.Since(s.warm).Seconds() / float64(done-s.jobs.width) * float64(of-done)
		return fmt.Sprintf("%d of %d runs, %s left.", done, of, words.Duration(left))
	}
	var found []string
	for _, v := range s.curves {
		c := s.curve(v)
		i := s.best(c)
		if i < 0 {
			continue
		}
		found = append(found, fmt.Sprintf("%s: best C = %s, %s", v.label, form.Format(grid[i]), s.figure(c, i)))
	}
	if len(found) == 0 {
		return s.firstFault()
	}
	if s.stopped() {
		return "Stopped: of the runs that ended so far, " + strings.Join(found, "; ") + ". Others may do better."
	}
	return strings.Join(found, "; ") + ". " + spreadOfSeeds + " " + priceOfLooking
}

// figure returns the result at a C, with its spread.
func (s *sweep) figure(c chart.Curve, i int) string {
	half := (c.Greatest[i] - c.Least[i]) / 2
	switch {
	case math.IsNaN(c.Mean[i]):
		return words.Missing
	case s.regression():
		return words.Number(c.Mean[i], 3) + " ± " + words.Number(half, 2)
	}
	return words.Percent(c.Mean[i], 1) + " ± " + words.Number(100*half, 2)
}

// old reports whether the curves are of another experiment than now, apart from C and the noise,
// which a sweep has of its own.
func (s *sweep) old(now run.Config) bool {
	bare := func(c run.Config) run.Config {
		c.MaxGradNorm, c.NoiseMultiplier, c.TargetEpsilon, c.NoPrivacy = 0, nil, nil, false
		return c
	}
	return len(s.curves) > 0 && !reflect.DeepEqual(bare(s.of), bare(now))
}

// apart says why the curves need not be best where the U is least.
const apart = "The U above is of one step. Over a run the steps’ noise averages out, what clipping takes away does not, and a small C makes short steps: so whole runs may do best at a larger C."

// spreadOfSeeds says what stands behind ±.
const spreadOfSeeds = "Means of the seeds, ± half of what lies between the worst and the best of them."

// priceOfLooking says what such a choice would cost on private data.
const priceOfLooking = "Choosing by such runs on private data costs the ε of all of them; tuning, on the page Train, does it within one."

// firstFault says why runs did not come to their end.
func (s *sweep) firstFault() string {
	for _, a := range s.attempts() {
		if a.fault != "" && a.fault != stopped {
			return a.fault
		}
	}
	return "Stopped."
}

// verdict says how good the predicted C is, interpolated between those that were tried.
func (s *sweep) verdict() string {
	c := s.curve(s.curves[0])
	best := s.best(c)
	i, found := slices.BinarySearch(grid, s.guess)
	if best < 0 || i == len(grid) || i == 0 && !found {
		return ""
	}
	mean := c.Mean[i]
	if !found {
		share := math.Log(s.guess/grid[i-1]) / math.Log(grid[i]/grid[i-1])
		mean = (1-share)*c.Mean[i-1] + share*c.Mean[i]
	}
	guess := fmt.Sprintf("You chose C = %s: %s", words.Number(s.guess, 2), words.Percent(mean, 1))
	if s.regression() {
		guess = fmt.Sprintf("You chose C = %s: a loss of %s", words.Number(s.guess, 2), words.Number(mean, 3))
	}
	switch {
	case found && i == best:
		return guess + ", and no other is better."
	case s.regression():
		return fmt.Sprintf("%s; the best is %s, at C = %s.", guess, words.Number(c.Mean[best], 3), form.Format(grid[best]))
	}
	return fmt.Sprintf("%s, which is %s points less than the best, at C = %s.", guess, words.Number(100*max(0, c.Mean[best]-mean), 2), form.Format(grid[best]))
}
