package scores

import (
	"math"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/words"
)

// Training holds the facts of a model's training on which advice depends.
type Training struct {
	Config run.Config // of the run, with its defaults
	Target string     // where the bounds of the targets come from, as [run.Scaling.TargetOf]
	// Clipped is the share of gradients that were longer than C in the last step; NaN where
	// that is not known.
	Clipped float64
}

// finding names an outcome of a result.
type finding int

const (
	useful   finding = iota // better than an answer that looks at no row
	astrayed                // the model diverged
	outlying                // a few rows far from all others decide R²
	ofMean                  // no better than the mean
	ofClass                 // no better than the largest class
	ofAlike                 // no better than answering all rows alike, label by label
)

// find says where a model is no better than one that answers with the largest class always,
// or with the mean, whatever its accuracy looks like; "" where it is better.
func find(r *run.Result) (finding, string) {
	if said := diverged(r); said != "" {
		return astrayed, "The model diverged: " + said + "."
	}
	switch s := r.TestScores; {
	case s == nil || !(s.MeanError > 0):
	case s.R2 < 0.1 && s.MeanError < 0.8*s.OfMean: // with errors about as even as the mean’s, R² would be 0.36
		return outlying, "R² is " + digits(float64(s.R2)) + ", although answers are nearer to the truth than the mean is: squares count most what a few rows far from all others are off by."
	case s.R2 <= 0:
		return ofMean, "No better than answering the mean always: R² is " + digits(float64(s.R2)) + "."
	}
	if l := ofLabels(r); l != nil && !(l.Accuracy > l.Majority) {
		return ofAlike, "No better than answering all rows alike, which is right for " + percent(float64(l.Majority)) + " of the labels."
	}
	share := r.LargestShare()
	if math.IsNaN(share) || float64(r.TestAccuracy) > share {
		return useful, ""
	}
	most := r.TestClasses[0]
	for _, c := range r.TestClasses {
		if c.Rows > most.Rows {
			most = c
		}
	}
	return ofClass, "No better than answering “" + data.Shown(most.Class) + "” always, which is right for " + words.Percent(share, 1) + " of the test rows."
}

// Flattered says where a model is no better than one that looks at no row, whatever its
// accuracy looks like; "" where it is better.
func Flattered(r *run.Result) string {
	_, said := find(r)
	return said
}

// Advice says what may help who trains another model, where [Flattered] says something: only
// what the run leaves to be done.
func Advice(r *run.Result, how Training) string {
	found, _ := find(r)
	noisy := r.Released.NoiseMultiplier > 0
	helps := []string{"More rows"}
	if noisy && r.Epsilon < weak {
		helps = append(helps, "a larger ε")
	}
	switch found {
	case astrayed:
		helps = []string{"A smaller learning rate", "fewer steps"}
		if noisy {
			helps = append(helps, "less noise")
		}
		return either(helps) + " may help."
	case outlying:
		return "Look at those rows."
	case ofMean:
		if how.Config.Model.Kind != "linear" {
			helps = append(helps, "a smaller model")
		}
		return either(helps) + " may help. " + map[string]string{
			"declared": "The bounds declared of the target should be neither too narrow nor much too wide.",
			"private":  "So may bounds that you declare of the target, neither too narrow nor much too wide.",
		}[how.Target] + map[bool]string{true: "A target far from 1 that is not scaled is hardly learned."}[how.Target == "none"]
	case ofAlike:
		return "Open “Test rows in detail” to see whether it still separates the rarer labels. " + either(helps) + " may help."
	case ofClass:
		why := ""
		if larger(r, how) {
			helps = append(helps, "a larger C")
			why = ": " + words.Percent(how.Clipped, 0) + " of the last gradients were clipped, and those of rare classes are the longest"
		}
		return "Open “Test rows in detail” to see whether it still separates the rarer classes. " + either(helps) + " may help" + why + "."
	}
	return ""
}

// weak is an ε from which on a larger one is no advice: the plan warns of it.
const weak = 10

// muchClipped is the share of clipped gradients from which on C is in the way of more than a
// few rows.
const muchClipped = 0.25

// larger reports whether a larger C is advice: C is a threshold that stays where the person
// has put it, many gradients are longer, and no larger one was tried and was worse.
func larger(r *run.Result, how Training) bool {
	c := &how.Config
	cl, err := clip.New(
		clip.Choice{Method: c.Method, Weight: c.Weight, Threshold: c.Threshold, Grouping: c.Grouping},
		clip.Env{MaxGradNorm: c.MaxGradNorm, NoiseMultiplier: 1, Steps: 10, ExpectedBatchSize: max(c.ExpectedBatchSize, 1), Dim: 1, Params: clip.Params(c.Params)})
	if err != nil || cl.NonPrivate || cl.Coordinates || cl.FeatureBound > 0 || !(how.Clipped >= muchClipped) {
		return false
	}
	if !clip.Stands(cl.Rule) || cl.Weight == nil {
		return false
	}
	// What normalises lengthens or shortens gradients below C as well: there C is a mere scale.
	for _, share := range []float64{0.01, 0.5} {
		if f := cl.Weight.Factor(share*c.MaxGradNorm, c.MaxGradNorm); !(f >= 0.85 && f <= 1) {
			return false
		}
	}
	if r.Selected != nil {
		for _, other := range c.Candidates() {
			if other.MaxGradNorm > r.Selected.MaxGradNorm {
				return false
			}
		}
	}
	return true
}

// either joins what may help.
func either(list []string) string {
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// astray is the multiple of the mean's error that marks the answers of a model that did not
// only learn little: much noise and bounds far too wide, of a few rows, come to three or ten.
const astray = 30

// diverged says what a model has come to whose parameters grew beyond what answers anything;
// "" of others.
func diverged(r *run.Result) string {
	s := r.TestScores
	switch {
	case s == nil:
		return ""
	case 2*s.Unanswered > r.TestRows:
		return words.Count(s.Unanswered) + " of " + words.Plural(r.TestRows, "row") + " have no answer"
	case !(s.OfMean > 0):
		return "" // of classes, or of rows that are all alike
	case math.IsNaN(float64(s.MeanError)) || math.IsInf(float64(s.MeanError), 0):
		return "its answers are no numbers any more"
	case s.MeanError > astray*s.OfMean:
		return "its answers are off by " + amount(float64(s.MeanError)) + " on average, and the mean of the rows by " + amount(float64(s.OfMean))
	}
	return ""
}
