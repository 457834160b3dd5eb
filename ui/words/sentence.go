package words

import (
	"fmt"
	"math"
	"strings"

	"clipscope/core/run"
)

// Moment holds the values that the sentences under the charts are made from: the newest
// event, and the threshold some steps before it.
type Moment struct {
	Event run.Event
	// Test is the newest measurement on test rows, which not every event has, and
	// Tested the step after which it was made. Of how many rows may not be known any
	// more, nor of how many examples the batch was: 0 rows, and less than 0 examples.
	Test   *run.Eval
	Tested int
	// RecentC is the mean threshold of the last few steps and EarlierC that of
	// a few EarlierSteps before; EarlierSteps is 0 when there are none.
	RecentC      float64
	EarlierC     float64
	EarlierSteps int
	// PlannedEpsilon is that of the whole run, which it is charged whenever it
	// ends; 0 when it is not known or infinite.
	PlannedEpsilon float64
	// Unbacked says that the run carries no guarantee, though it adds noise.
	Unbacked bool
	// PerLayer says that each layer has a threshold of its own.
	PerLayer bool
	// Weight is the method's weight function of a whole gradient; nil when it has none.
	Weight func(norm, c float64) float64
}

// Clipping says how much of the batch was clipped.
func Clipping(m Moment) string {
	d := m.Event.Diag
	if d == nil {
		return ""
	}
	if d.BatchSize == 0 {
		return "The batch of this step was empty; a step with noise alone was taken, and it counts."
	}
	f := float64(d.ClipFraction)
	if math.IsNaN(f) {
		return ""
	}
	what := "gradients longer than"
	if d.Norms != nil && d.Norms.Bounds {
		what = "a bound on the gradient above"
	}
	examples := "examples"
	if d.BatchSize > 0 {
		examples = Plural(d.BatchSize, "example")
	}
	s := fmt.Sprintf("%s of the %s in this step had ", Percent(f, 0), examples)
	if m.PerLayer {
		s += "a layer whose gradient is longer than its threshold."
	} else {
		s += fmt.Sprintf("%s C = %s.", what, Number(m.Event.Released.MaxGradNorm, 3))
	}
	if d.NonFinite > 0 {
		s += fmt.Sprintf(" %s had a gradient that is not finite and added nothing.", Plural(d.NonFinite, "example"))
	}
	return s
}

// steady is the change of C, as a share, that is not worth calling a change.
const steady = 0.05

// Threshold says where C went, and why where the rule's own curves tell.
func Threshold(m Moment) string {
	c := m.Event.Released.MaxGradNorm
	if !(c > 0) || math.IsInf(c, 1) {
		return ""
	}
	if m.EarlierSteps == 0 || !(m.EarlierC > 0) || !(m.RecentC > 0) {
		return fmt.Sprintf("C is %s.", Number(c, 3))
	}
	verb := "rose"
	switch change := m.RecentC/m.EarlierC - 1; {
	case m.RecentC == m.EarlierC:
		return fmt.Sprintf("C stays at %s.", Number(c, 3))
	case math.Abs(change) < steady:
		return fmt.Sprintf("C is steady, about %s.", Number(m.RecentC, 2))
	case change < 0:
		verb = "fell"
	}
	return fmt.Sprintf("C %s from about %s to %s in %s%s.", verb,
		Number(m.EarlierC, 2), Number(m.RecentC, 2), Plural(m.EarlierSteps, "step"), because(m, verb == "rose"))
}

// Rate says where the learning rate stands in its course.
func Rate(m Moment) string {
	now := m.Event.Released.LearningRate
	if !(now > 0) {
		return ""
	}
	return fmt.Sprintf("The learning rate is %s at step %s.", Number(now, 3), Count(m.Event.Step))
}

// because says what the move changed by the present curves: of the two parts of the
// error, one grew by less than the other shrank. It is silent where they say
// something else.
func because(m Moment, rose bool) string {
	v0, b0, before := errorAt(m.Event.Released.Curves, m.EarlierC)
	v1, b1, now := errorAt(m.Event.Released.Curves, m.RecentC)
	switch {
	case !before || !now || !(v1+b1 < v0+b0):
		return ""
	case rose && b1 < b0 && v1 >= v0:
		return ": less clipping outweighs more noise"
	case !rose && v1 < v0 && b1 >= b0:
		return ": less noise outweighs more clipping"
	default:
		return ""
	}
}

// errorAt reads both curves at the candidate nearest to c; not ok when c lies
// beyond them.
func errorAt(e *run.ErrorCurves, c float64) (variance, bias float64, ok bool) {
	if e == nil || len(e.C) == 0 || len(e.Variance) != len(e.C) || len(e.Bias) != len(e.C) {
		return 0, 0, false
	}
	best := 0
	for i := range e.C {
		if math.Abs(e.C[i]-c) < math.Abs(e.C[best]-c) {
			best = i
		}
	}
	return e.Variance[best], e.Bias[best], c <= 1.1*e.C[len(e.C)-1]
}

// Norms says what the weight function does to the median gradient.
func Norms(m Moment) string {
	d := m.Event.Diag
	if d == nil || d.Norms == nil || d.BatchSize == 0 {
		return ""
	}
	p50, p90 := float64(d.Norms.P50), float64(d.Norms.P90)
	if math.IsNaN(p50) || math.IsNaN(p90) {
		return ""
	}
	s := fmt.Sprintf("Half of the gradients are longer than %s, a tenth longer than %s.", Number(p50, 3), Number(p90, 3))
	c := m.Event.Released.MaxGradNorm
	if m.Weight == nil || !(c > 0) || math.IsInf(c, 1) {
		return s
	}
	return s + fmt.Sprintf(" The median one is scaled by %s.", Number(m.Weight(p50, c), 2))
}

// Learning says how well the model does.
func Learning(m Moment) string {
	var said []string
	if t := m.Test; t != nil {
		rows, are, is, when := Plural(t.Rows, "test row"), "are", "is", ""
		if t.Rows == 0 {
			rows = "the test rows that were tried"
		}
		if m.Tested < m.Event.Step {
			are, is, when = "were", "was", " after step "+Count(m.Tested)
		}
		if a := float64(t.Accuracy); !math.IsNaN(a) {
			said = append(said, fmt.Sprintf("%s of %s %s classified right%s.", Percent(a, 1), rows, are, when))
		} else {
			said = append(said, fmt.Sprintf("Loss on %s %s %s%s.", rows, is, Number(float64(t.Loss), 3), when))
		}
	}
	if d := m.Event.Diag; d != nil && !math.IsNaN(float64(d.TrainLoss)) {
		said = append(said, fmt.Sprintf("Loss on this batch %s.", Number(float64(d.TrainLoss), 3)))
	}
	return strings.Join(said, " ")
}

// Spending says what the run costs, and would have cost had it been planned to end
// with this step. Of a run without a guarantee ε is what its noise alone would be good
// for, and said to be no more.
func Spending(m Moment) string {
	e := float64(m.Event.Released.Epsilon)
	done, left := m.Event.Step, m.Event.Steps-m.Event.Step
	switch {
	case math.IsNaN(e):
		return ""
	case math.IsInf(e, 1):
		return "No noise is added: ε is ∞, nothing is protected."
	case m.Unbacked && left > 0 && m.PlannedEpsilon > 0:
		return fmt.Sprintf("This run carries no guarantee. Its noise alone would be good for ε = %s after %s and ε = %s after all %s.", Epsilon(e), Plural(done, "step"), Epsilon(m.PlannedEpsilon), Count(m.Event.Steps))
	case m.Unbacked:
		return fmt.Sprintf("This run carries no guarantee. Its noise alone would be good for ε = %s after %s.", Epsilon(e), Plural(done, "step"))
	case left > 0 && m.PlannedEpsilon > 0:
		return fmt.Sprintf("ε = %s for a run planned to end after %s. This one is charged ε = %s for all %s, stopped or not.", Epsilon(e), Plural(done, "step"), Epsilon(m.PlannedEpsilon), Count(m.Event.Steps))
	default:
		return fmt.Sprintf("ε = %s for a run planned to end after %s.", Epsilon(e), Plural(done, "step"))
	}
}

// Attendance says how many parties took part in the last step.
func Attendance(m Moment) string {
	if m.Event.Released.Void {
		return "The last step has no sum, as somebody did not answer. It is charged, and the model stays as it was."
	}
	return fmt.Sprintf("The last sum is that of %s.", Plural(m.Event.Released.Parties, "party"))
}

// Trade says where the estimated error is least and what it is made of there.
func Trade(m Moment) string {
	e := m.Event.Released.Curves
	if e == nil || len(e.C) == 0 || len(e.Variance) != len(e.C) || len(e.Bias) != len(e.C) {
		return ""
	}
	best := 0
	for i := range e.C {
		if e.Variance[i]+e.Bias[i] < e.Variance[best]+e.Bias[best] {
			best = i
		}
	}
	total := e.Variance[best] + e.Bias[best]
	if !(total > 0) || math.IsInf(total, 1) {
		return fmt.Sprintf("The estimated error is least at C = %s.", Number(e.C[best], 3))
	}
	share := min(max(e.Variance[best]/total, 0), 1)
	return fmt.Sprintf("The estimated error is least at C = %s: %s noise, %s clipping.",
		Number(e.C[best], 3), Percent(share, 0), Percent(1-share, 0))
}

// Unprotected says what runs have spent of which some have no guarantee; "" where all
// have one. Epsilon is that of the others.
func Unprotected(runs, unprotected int, epsilon float64) string {
	rest := runs - unprotected
	has := "has"
	if unprotected > 1 {
		has = "have"
	}
	switch {
	case unprotected == 0:
		return ""
	case rest == 0 && runs == 1:
		return "ε = ∞: the one run has no guarantee."
	case rest == 0:
		return fmt.Sprintf("ε = ∞: none of these %d runs has a guarantee.", runs)
	case rest == 1:
		return fmt.Sprintf("ε = ∞: %d of these %d runs %s no guarantee. The other has spent %s.", unprotected, runs, has, Epsilon(epsilon))
	}
	return fmt.Sprintf("ε = ∞: %d of these %d runs %s no guarantee. The others have spent %s.", unprotected, runs, has, Epsilon(epsilon))
}
