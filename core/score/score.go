// Package score measures how good predictions are on rows whose answers are known. Its
// figures are exact, without noise, and so for the owner of the rows alone.
package score

import (
	"cmp"
	"math"
	"slices"

	"clipscope/core/run"
)

const (
	mostShown  = 30      // classes of a table that a person reads
	mostRanked = 4 << 20 // odds that are kept to be ranked: 32 MB
	mostPoints = 200     // of a curve
	mostWrong  = 12      // mistakes that are looked at
	bins       = 10      // of a calibration, as usual since Guo et al. 2017
)

// Mistake is a row that was answered wrongly.
type Mistake struct {
	Row           int // in the order in which rows were added, from 0
	Class, Answer int
	Sure          float64 // the answer's probability
}

// Classes takes in answers of a classifier, row by row.
type Classes struct {
	names []string
	// By class: its rows, those of them that were told, and all that were taken for it.
	rows, right, taken []int
	lost               int     // rows without an answer
	confusion          [][]int // nil where nobody reads it
	bins               [bins]struct {
		rows, right int
		sure        float64
	}
	rowCount int
	mistakes []Mistake // the surest, the surest first
	// Of every row, its class and the logarithm of each class's odds; nil once that is too
	// much. Odds put rows in the order that probabilities do, and still tell rows apart
	// whose probabilities are 0 or 1 but for rounding.
	truth []int
	odds  [][]float64 // by class
	p     []float64
}

// NewClasses is for classes of these names.
func NewClasses(names []string) *Classes {
	k := len(names)
	c := &Classes{
		names: names, rows: make([]int, k), right: make([]int, k), taken: make([]int, k),
		odds: make([][]float64, k), p: make([]float64, k),
	}
	if k <= mostShown {
		for range k {
			c.confusion = append(c.confusion, make([]int, k))
		}
	}
	return c
}

// Add takes in a row of a class and the outputs for it, as logits: [classes]. The first
// largest is the answer; of outputs that are not all finite there is none.
func (c *Classes) Add(class int, logits []float32) {
	row := c.rowCount
	c.rowCount++
	answer, finite := 0, true
	for j, z := range logits {
		if z > logits[answer] {
			answer = j
		}
		finite = finite && !math.IsNaN(float64(z)) && !math.IsInf(float64(z), 0)
	}
	c.rows[class]++
	if !finite {
		c.lost++
		c.truth, c.odds = nil, nil
		return
	}
	c.taken[answer]++
	if answer == class {
		c.right[class]++
	}
	if c.confusion != nil {
		c.confusion[class][answer]++
	}
	others := c.others(logits, answer, logits[answer])
	sure := 1 / (1 + others)
	b := &c.bins[min(bins-1, int(bins*sure))]
	b.rows, b.sure = b.rows+1, b.sure+sure
	if answer == class {
		b.right++
	} else {
		c.mistake(Mistake{row, class, answer, sure})
	}
	if c.odds == nil {
		return
	}
	if len(c.p)*(len(c.truth)+1) > mostRanked {
		c.truth, c.odds = nil, nil
		return
	}
	c.truth = append(c.truth, class)
	for j, z := range logits {
		if j != answer {
			c.odds[j] = append(c.odds[j], float64(z)-float64(logits[answer])-math.Log1p(others-c.p[j]))
		}
	}
	c.odds[answer] = append(c.odds[answer], c.certainty(logits, answer, others))
}

// certainty is the logarithm of the answer's odds, of which others is the inverse. Where that
// is too small for a float, it is measured from the second largest logit.
func (c *Classes) certainty(logits []float32, answer int, others float64) float64 {
	const least = 0x1p-1000 // of numbers with all their digits, 0x1p-1022
	if others > least {
		return -math.Log(others)
	}
	second := float32(math.Inf(-1))
	for j, z := range logits {
		if j != answer {
			second = max(second, z)
		}
	}
	return float64(logits[answer]) - float64(second) - math.Log(c.others(logits, answer, second))
}

// others adds up e^(z−from) over all logits z but the answer's, and keeps the summands in p.
func (c *Classes) others(logits []float32, answer int, from float32) float64 {
	sum := 0.0
	for j, z := range logits {
		if j != answer {
			c.p[j] = math.Exp(float64(z) - float64(from))
			sum += c.p[j]
		}
	}
	return sum
}

// mistake keeps m if it is among the surest.
func (c *Classes) mistake(m Mistake) {
	at := len(c.mistakes)
	for at > 0 && c.mistakes[at-1].Sure < m.Sure {
		at--
	}
	if at < mostWrong {
		c.mistakes = slices.Insert(c.mistakes, at, m)
		c.mistakes = c.mistakes[:min(len(c.mistakes), mostWrong)]
	}
}

// Mistakes are the rows that were answered wrongly with the greatest probability, twelve at
// most, the surest first.
func (c *Classes) Mistakes() []Mistake { return c.mistakes }

// Class scores class i: its rows, how many of them were told, and which share of
// those that were taken for it is of it. What is of no rows is NaN.
func (c *Classes) Class(i int) run.ClassScore {
	right := float64(c.right[i])
	return run.ClassScore{
		Class: c.names[i], Rows: c.rows[i],
		Recall: run.Number(right / float64(c.rows[i])), Precision: run.Number(right / float64(c.taken[i])),
	}
}

// Scores returns the scores of all rows so far. What the rows say nothing of is NaN.
func (c *Classes) Scores() *run.Scores {
	nan := run.Number(math.NaN())
	s := &run.Scores{Confusion: c.confusion, Unanswered: c.lost, ROCArea: nan, AveragePrecision: nan, MeanError: nan, MedianError: nan, OfMean: nan, RootError: nan, R2: nan}
	sum, there := 0.0, 0
	for i := range c.names {
		if k := c.Class(i); k.Rows > 0 {
			sum, there = sum+float64(k.Recall), there+1
		}
	}
	s.Balanced = run.Number(sum / float64(there))
	c.calibrate(s)
	if len(c.truth) > 0 {
		c.rank(s)
	}
	return s
}

func (c *Classes) calibrate(s *run.Scores) {
	all, gap := 0, 0.0
	for _, b := range c.bins {
		if b.rows == 0 {
			continue
		}
		all += b.rows
		gap += math.Abs(b.sure - float64(b.right))
		n := float64(b.rows)
		s.Calibration = append(s.Calibration, run.Calibrated{Rows: b.rows, Sure: run.Number(b.sure / n), Accuracy: run.Number(float64(b.right) / n)})
	}
	s.CalibrationError = run.Number(gap / float64(all))
}

// rank fills in what follows from the order in which a class's odds put rows.
func (c *Classes) rank(s *run.Scores) {
	if len(c.names) == 2 {
		positive := 0
		if c.Class(1).Rows < c.Class(0).Rows {
			positive = 1
		}
		r := ranked(c.truth, c.odds[positive], positive, true)
		s.Positive, s.ROCArea, s.AveragePrecision = c.names[positive], run.Number(r.area), run.Number(r.precision)
		s.ROC, s.PR, s.Cuts = r.roc, r.pr, r.cuts
		return
	}
	area, precision, n := 0.0, 0.0, 0.0
	for i := range c.names {
		if r := ranked(c.truth, c.odds[i], i, false); !math.IsNaN(r.area) {
			area, precision, n = area+r.area, precision+r.precision, n+1
		}
	}
	s.ROCArea, s.AveragePrecision = run.Number(area/n), run.Number(precision/n)
}

// ranking measures how well odds tell the rows of a class from the others.
type ranking struct {
	area, precision float64 // NaN where there are no rows of the class, or none beside
	roc, pr         []run.Point
	cuts            []run.Cut
}

// ranked walks down the rows by the odds of a class, those of one size at once, and
// draws the curves if they are wanted.
func ranked(truth []int, odds []float64, class int, drawn bool) ranking {
	var mine, others []float64
	for i, k := range truth {
		if k == class {
			mine = append(mine, odds[i])
		} else {
			others = append(others, odds[i])
		}
	}
	if len(mine) == 0 || len(others) == 0 {
		return ranking{area: math.NaN(), precision: math.NaN()}
	}
	sortOdds(mine)
	sortOdds(others)
	r := ranking{roc: []run.Point{{}}}
	for right, wrong := 0, 0; right < len(mine) || wrong < len(others); {
		was, false0 := right, wrong
		at := max(below(mine, right), below(others, wrong))
		for right < len(mine) && below(mine, right) == at {
			right++
		}
		for wrong < len(others) && below(others, wrong) == at {
			wrong++
		}
		recall, alarms := float64(right)/float64(len(mine)), float64(wrong)/float64(len(others))
		precision := float64(right) / float64(right+wrong)
		// Trapezia: of rows of one size, half of the pairs are in order.
		r.area += float64(wrong-false0) / float64(len(others)) * (float64(was) + float64(right)) / (2 * float64(len(mine)))
		r.precision += float64(right-was) / float64(len(mine)) * precision
		if drawn {
			r.roc = append(r.roc, run.Point{X: run.Number(alarms), Y: run.Number(recall)})
			r.pr = append(r.pr, run.Point{X: run.Number(recall), Y: run.Number(precision)})
		}
	}
	if drawn {
		r.cuts = cuts(mine, others)
	}
	r.roc, r.pr = thin(r.roc), thin(r.pr)
	return r
}

// Cuts are at odds of e^(±farthest) at most, finely enough for models that are far too sure.
const (
	farthest = 10
	finely   = 10 // cuts a unit of the odds' logarithm
)

// cuts counts sorted odds from each cut on: first all, in the middle those from even odds, then none.
func cuts(mine, others []float64) []run.Cut {
	all := []run.Cut{{From: 0, Found: len(mine), Alarms: len(others)}}
	for i := -farthest * finely; i <= farthest*finely; i++ {
		least := float64(i) / finely
		from := func(v []float64) int {
			at, _ := slices.BinarySearch(v, least)
			return len(v) - at
		}
		all = append(all, run.Cut{From: run.Number(1 / (1 + math.Exp(-least))), Found: from(mine), Alarms: from(others)})
	}
	return append(all, run.Cut{From: 1})
}

// sortOdds sorts v, without NaN, digit by digit of 11 bits: ten classes of ten thousand rows
// take a quarter of the time that they take by comparing.
func sortOdds(v []float64) {
	const digit, sign = 11, 1 << 63
	from, to := make([]uint64, len(v)), make([]uint64, len(v))
	for i, x := range v { // as whole numbers in the order of the floats
		b := math.Float64bits(x)
		from[i] = b ^ (uint64(int64(b)>>63) | sign)
	}
	for shift := 0; shift < 64; shift += digit {
		var at [1 << digit]int
		for _, x := range from {
			at[x>>shift&(1<<digit-1)]++
		}
		sum := 0
		for d, n := range at {
			at[d], sum = sum, sum+n
		}
		for _, x := range from {
			d := x >> shift & (1<<digit - 1)
			to[at[d]] = x
			at[d]++
		}
		from, to = to, from
	}
	for i, x := range from {
		v[i] = math.Float64frombits(x ^ (uint64(^int64(x)>>63) | sign))
	}
}

// below is the value that n of the sorted v are above or before, −∞ where all are.
func below(v []float64, n int) float64 {
	if n == len(v) {
		return math.Inf(-1)
	}
	return v[len(v)-1-n]
}

// thin is an even selection of points, with the first and the last.
func thin(v []run.Point) []run.Point {
	if len(v) <= mostPoints {
		return v
	}
	kept := make([]run.Point, mostPoints)
	for i := range kept {
		kept[i] = v[i*(len(v)-1)/(mostPoints-1)]
	}
	return kept
}

// Numbers takes in answers of a regression, row by row.
type Numbers struct {
	n             float64
	size, squares float64   // of what the answers are off by
	mean, spread  []float64 // of the targets, by output (Welford)
	off, targets  []float32 // of every row
	answers       []float32 // where there is one target
	outputs       int
}

// NewNumbers is for rows of so many targets.
func NewNumbers(outputs int) *Numbers {
	return &Numbers{mean: make([]float64, outputs), spread: make([]float64, outputs), outputs: outputs}
}

// Add takes in a row's targets and the outputs for them.
func (c *Numbers) Add(targets, outputs []float32) {
	c.n++
	if c.outputs == 1 {
		c.answers = append(c.answers, outputs[0])
	}
	for j, y := range targets {
		t := float64(y)
		off := float64(outputs[j]) - t
		c.off, c.targets = append(c.off, float32(math.Abs(off))), append(c.targets, y)
		c.size += math.Abs(off)
		c.squares += off * off
		d := t - c.mean[j]
		c.mean[j] += d / c.n
		c.spread[j] += d * (t - c.mean[j])
	}
}

// Scores returns the scores of all rows so far; NaN of none.
func (c *Numbers) Scores() *run.Scores {
	nan := run.Number(math.NaN())
	all, spread := c.n*float64(c.outputs), 0.0
	for _, v := range c.spread {
		spread += v
	}
	s := &run.Scores{Balanced: nan, ROCArea: nan, AveragePrecision: nan, CalibrationError: nan, R2: nan}
	s.MeanError, s.RootError = run.Number(c.size/all), run.Number(math.Sqrt(c.squares/all))
	s.Fit = c.fit()
	s.MedianError, s.OfMean = run.Number(c.median()), run.Number(c.ofMean()/all)
	if spread > 0 {
		s.R2 = run.Number(1 - c.squares/spread)
	}
	return s
}

// mostPaired bounds the rows that are drawn one by one.
const mostPaired = 500

// Answers returns an even selection of the rows with their answers, those whose answer is a number,
// in the order in which they were added; nil where a row has more targets than one.
func (c *Numbers) Answers() (all []run.Answered) {
	n := len(c.answers)
	rows := min(n, mostPaired)
	for k := range rows {
		i := k * n / rows
		if a := float64(c.answers[i]); !math.IsNaN(a) && !math.IsInf(a, 0) {
			all = append(all, run.Answered{Target: run.Number(c.targets[i]), Answer: run.Number(a)})
		}
	}
	return all
}

// median returns the median of the answers' errors; NaN of none, or where an answer is no number.
func (c *Numbers) median() float64 {
	n := len(c.off)
	if n == 0 || math.IsNaN(c.size) {
		return math.NaN()
	}
	off := slices.Sorted(slices.Values(c.off))
	return (float64(off[(n-1)/2]) + float64(off[n/2])) / 2
}

// A part of the fit has so many rows at least, and there are so many parts at most.
const leastFitted, mostFitted = 10, 10

// LeastParted is the least number of rows for which there is a [run.Scores.Fit]: two parts.
const LeastParted = 2 * leastFitted

// fit is [run.Scores.Fit]; nil where an answer is no number. Rows of one answer are in one
// part: which of them were in which would be chance.
func (c *Numbers) fit() (all []run.Fitted) {
	n := len(c.answers)
	parts := min(n/leastFitted, mostFitted)
	if n < LeastParted || math.IsNaN(c.size) || math.IsInf(c.size, 1) {
		return nil
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(c.answers[i], c.answers[j]) })
	for from, k := 0, 1; from < n; {
		for k < parts && k*n/parts-from < leastFitted {
			k++
		}
		to := k * n / parts
		for to < n && c.answers[order[to]] == c.answers[order[to-1]] {
			to++
		}
		if n-to < leastFitted {
			to = n
		}
		rows := order[from:to]
		from = to
		answer, target, off := 0.0, 0.0, 0.0
		for _, i := range rows {
			answer += float64(c.answers[i])
			target += float64(c.targets[i])
			off += float64(c.off[i])
		}
		of := float64(len(rows))
		all = append(all, run.Fitted{Rows: len(rows), Answer: run.Number(answer / of), Target: run.Number(target / of), Off: run.Number(off / of)})
	}
	return all
}

// ofMean returns the summed error of answering every row with the mean.
func (c *Numbers) ofMean() (size float64) {
	for i, y := range c.targets {
		size += math.Abs(float64(y) - c.mean[i%c.outputs])
	}
	return size
}
