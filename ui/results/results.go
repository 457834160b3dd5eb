// Package results groups runs by their configuration and writes the table of their results.
//
// Guarantee: what a [Table] writes without diagnostics is public configuration, how many runs there
// are and what they are charged.
package results

import (
	"math"
	"slices"

	"clipscope/core/run"
)

// Run is a run that has ended.
type Run struct {
	Config run.Config // with its defaults
	Data   string     // what its data are called
	Released
	// Diagnostic is nil of a run without a result.
	Diagnostic *Diagnostic
	// Partial says why the run is no measurement of its configuration: it failed, was stopped or was
	// changed on its way; empty: it is one. Such a run is charged, and counts in no mean. It may depend on the data.
	Partial string
}

// Released holds what may be published of a run.
type Released struct {
	Epsilon run.Number // what the run is charged
	Delta   float64
	Private bool // Epsilon is a guarantee
	Steps   int  // that were planned, and are charged
}

// Diagnostic holds what was measured without noise, for the owner's eyes.
type Diagnostic struct {
	Seconds float64 // in steps
	Rows    int     // to test on
	Scores  map[Measure]float64
	// Rare says that one of the classes has less than half of an even share of the test rows.
	Rare bool
}

// Measure names a score on the test rows as exports do.
type Measure string

// The measures, in the order of the table.
const (
	Accuracy      Measure = "test_accuracy"
	LabelAccuracy Measure = "test_label_accuracy"
	Balanced      Measure = "test_balanced_accuracy"
	Area          Measure = "test_roc_auc"
	R2            Measure = "test_r2"
	MeanError     Measure = "test_mean_absolute_error"
	RootError     Measure = "test_root_mean_squared_error"
	Loss          Measure = "test_loss"
)

// measure describes a Measure.
type measure struct {
	Measure
	title  string
	scale  scale
	beside bool // shown where a class is rare, or rows have several labels
}

// scale tells how a measure is written.
type scale int

const (
	amount scale = iota // of the data's own unit
	share               // of 1, in percent
	index               // at most 1
)

var measures = []measure{
	{Accuracy, "accuracy", share, false},
	{LabelAccuracy, "accuracy of a label", share, false},
	{Balanced, "balanced accuracy", share, true},
	{Area, "area under ROC", index, true},
	{R2, "R²", index, false},
	{MeanError, "mean absolute error", amount, false},
	{RootError, "root mean squared error", amount, false},
	{Loss, "loss", amount, false},
}

// NewDiagnostic returns the scores of a result: those of its task that are finite numbers.
func NewDiagnostic(r *run.Result) *Diagnostic {
	d := &Diagnostic{Seconds: r.TrainSeconds, Rows: r.TestRows, Scores: map[Measure]float64{}}
	if r.TestRows == 0 {
		return d
	}
	add := func(m Measure, x run.Number) {
		if v := float64(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
			d.Scores[m] = v
		}
	}
	s := r.TestScores
	regression := s != nil && !math.IsNaN(float64(s.R2))
	switch {
	case s != nil && s.LabelMean != nil:
		add(LabelAccuracy, s.LabelMean.Accuracy)
	default:
		add(Accuracy, r.TestAccuracy)
	}
	switch {
	case regression:
		add(R2, s.R2)
		add(MeanError, s.MeanError)
		add(RootError, s.RootError)
	case s != nil:
		add(Balanced, s.Balanced)
		add(Area, s.ROCArea)
	}
	if !regression && len(d.Scores) == 0 {
		add(Loss, r.TestLoss)
	}
	d.Rare = s != nil && s.LabelMean != nil || rare(r.TestClasses)
	return d
}

// rare reports whether one of the classes that have rows has less than half of an even share.
func rare(classes []run.ClassScore) bool {
	classes = slices.DeleteFunc(slices.Clone(classes), func(c run.ClassScore) bool { return c.Rows == 0 })
	all := 0
	for _, c := range classes {
		all += c.Rows
	}
	return slices.ContainsFunc(classes, func(c run.ClassScore) bool { return 2*c.Rows*len(classes) < all })
}

// Stat is a mean over runs.
type Stat struct {
	Mean float64 // NaN of none
	SD   float64 // the standard deviation of a sample, over n − 1; NaN of fewer than two
	N    int
}

// NewStat returns the mean and the standard deviation of values.
func NewStat(values []float64) Stat {
	n := len(values)
	s := Stat{math.NaN(), math.NaN(), n}
	if n == 0 {
		return s
	}
	s.Mean = 0
	for _, v := range values {
		s.Mean += v / float64(n)
	}
	if n == 1 {
		return s
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - s.Mean) * (v - s.Mean)
	}
	s.SD = math.Sqrt(squares / float64(n-1))
	if slices.Max(values) == slices.Min(values) { // and rounding no spread
		s.Mean, s.SD = values[0], 0
	}
	return s
}
