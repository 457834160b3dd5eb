package score

import (
	"math"

	"clipscope/core/run"
)

// Labels takes in answers of several labels a row, row by row.
type Labels struct {
	names []string
	n     int
	lost  int // rows without an answer
	// By label: the rows that have it, those answered with it, and of the answers the right ones: where the row has
	// it, and where it has not.
	rows, taken, right, quiet []int
	// By label, whether each row has it and its logit; nil once that is too much.
	truth [][]int
	odds  [][]float64
}

// NewLabels is for labels of these names.
func NewLabels(names []string) *Labels {
	k := len(names)
	return &Labels{names: names, rows: make([]int, k), taken: make([]int, k), right: make([]int, k), quiet: make([]int, k), truth: make([][]int, k), odds: make([][]float64, k)}
}

// Add takes in a row's labels, 0 or 1 each, and the outputs for it, as logits: [labels]. A label is on where its
// logit is positive. Of outputs that are not all finite no label is right.
func (c *Labels) Add(targets, logits []float32) {
	c.n++
	answered := true
	for _, z := range logits {
		answered = answered && !math.IsNaN(float64(z)) && !math.IsInf(float64(z), 0)
	}
	if !answered {
		c.lost++
	}
	if !answered || len(c.names)*c.n > mostRanked {
		c.truth, c.odds = nil, nil
	}
	for j, y := range targets {
		has := 0
		if y > 0.5 {
			has = 1
			c.rows[j]++
		}
		if !answered {
			continue
		}
		switch on := logits[j] > 0; {
		case on && has == 1:
			c.right[j]++
			c.taken[j]++
		case on:
			c.taken[j]++
		case has == 0:
			c.quiet[j]++
		}
		if c.odds != nil {
			c.truth[j], c.odds[j] = append(c.truth[j], has), append(c.odds[j], float64(logits[j]))
		}
	}
}

// label scores label j. What the rows say nothing of is NaN. precision is the average one.
func (c *Labels) label(j int) (s run.LabelScore, precision float64) {
	n, rows, right, quiet := float64(c.n), float64(c.rows[j]), float64(c.right[j]), float64(c.quiet[j])
	r := ranking{area: math.NaN(), precision: math.NaN()}
	if c.odds != nil {
		r = ranked(c.truth[j], c.odds[j], 1, false)
	}
	return run.LabelScore{
		Label: c.names[j], Rows: c.rows[j],
		Accuracy: run.Number((right + quiet) / n), Majority: run.Number(max(rows, n-rows) / n),
		Balanced: run.Number((right/rows + quiet/(n-rows)) / 2), F1: run.Number(2 * right / (rows + float64(c.taken[j]))),
		ROCArea: run.Number(r.area),
	}, r.precision
}

// Scores returns the scores of all rows so far: of each label, and their means over the labels that have one.
func (c *Labels) Scores() *run.Scores {
	nan := run.Number(math.NaN())
	s := &run.Scores{Unanswered: c.lost, CalibrationError: nan, MeanError: nan, MedianError: nan, OfMean: nan, RootError: nan, R2: nan}
	var accuracy, majority, balanced, f1, area, precision mean
	for j := range c.names {
		l, p := c.label(j)
		s.Labels = append(s.Labels, l)
		accuracy.add(l.Accuracy)
		majority.add(l.Majority)
		balanced.add(l.Balanced)
		f1.add(l.F1)
		area.add(l.ROCArea)
		precision.add(run.Number(p))
	}
	s.LabelMean = &run.LabelScore{Accuracy: accuracy.of(), Majority: majority.of(), Balanced: balanced.of(), F1: f1.of(), ROCArea: area.of()}
	s.Balanced, s.ROCArea, s.AveragePrecision = s.LabelMean.Balanced, s.LabelMean.ROCArea, precision.of()
	return s
}

// mean is the mean of the numbers that were added, without NaN; NaN of none.
type mean struct{ sum, n float64 }

func (m *mean) add(x run.Number) {
	if v := float64(x); !math.IsNaN(v) {
		m.sum, m.n = m.sum+v, m.n+1
	}
}

func (m *mean) of() run.Number { return run.Number(m.sum / m.n) }
