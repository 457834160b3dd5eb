package words

import (
	"fmt"
	"math"
	"strings"

	"clipscope/core/run"
)

// Clipped is the effect of one threshold on the mean gradient of a batch.
type Clipped struct {
	C        float64
	True     float64 // the length of the mean gradient
	Along    float64 // what clipping leaves of it, along itself
	Across   float64 // and across
	Bias2    float64 // the squared length of what it takes away
	Variance float64 // of the noise: the mean of its squared length
	Least    float64 // the C at which the error is least; 0 where that is not known
}

// Left returns the length of the clipped mean gradient.
func (c Clipped) Left() float64 { return math.Hypot(c.Along, c.Across) }

// String says what is left of a mean gradient, in which direction, and how long the
// noise is, both beside the true one; "" where nothing is known.
func (c Clipped) String() string {
	left := c.Left()
	if !(c.C > 0) || !(c.True > 0) || math.IsInf(c.True, 1) || math.IsNaN(left) || math.IsInf(left, 0) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "At C = %s ", Number(c.C, 3))
	what := "the true mean"
	switch turn := Turn(c.Along, c.Across); {
	case left == 0:
		b.WriteString("clipping leaves nothing of the mean gradient")
	case turn < 0.1 && math.Abs(left/c.True-1) < 0.001: // less than is shown of either
		b.WriteString("clipping leaves the mean gradient as it is")
		what = "that"
	default:
		fmt.Fprintf(&b, "clipping turns the mean gradient by %s and leaves %s %% of its length", degrees(turn), Number(100*left/c.True, 2))
	}
	if n := math.Sqrt(c.Variance); n >= 0 && !math.IsInf(n, 1) {
		if n == 0 {
			b.WriteString("; there is no noise")
		} else {
			fmt.Fprintf(&b, "; the noise is %sas long as %s", times(n/c.True), what)
		}
	}
	b.WriteString(".")
	return b.String()
}

// times is "2 times ", or "" for once.
func times(ratio float64) string {
	s := Number(ratio, 2)
	if s == "1" {
		return ""
	}
	return s + " times "
}

// Turn is by how many degrees a vector with these parts along and across another is
// turned away from it.
func Turn(along, across float64) float64 {
	return math.Abs(math.Atan2(across, along)) * 180 / math.Pi
}

// degrees writes an angle.
func degrees(d float64) string {
	if d > 0 && d < 0.1 {
		return "less than 0.1°"
	}
	return Number(d, 2) + "°"
}

// Advice says which way the error falls, from C to where it is least.
func (c Clipped) Advice() string {
	if !(c.Least > 0) || !(c.Bias2 >= 0) || !(c.Variance >= 0) {
		return ""
	}
	if c.Bias2+c.Variance == 0 {
		return "There is no error: nothing is clipped, and there is no noise."
	}
	least := Number(c.Least, 2)
	switch ratio := c.C / c.Least; {
	case ratio < 0.8:
		return fmt.Sprintf("Clipping is %s %% of the error, which would be least at C = %s.", share(c.Bias2, c.Variance), least)
	case ratio > 1.25:
		return fmt.Sprintf("Noise is %s %% of the error, which would be least at C = %s.", share(c.Variance, c.Bias2), least)
	default:
		return fmt.Sprintf("The error is about as small as it gets: clipping is %s %% of it.", share(c.Bias2, c.Variance))
	}
}

// share is part of a whole of two parts, in per cent; of nothing it is 0.
func share(part, rest float64) string {
	if !(part+rest > 0) {
		return "0"
	}
	return Number(100*part/(part+rest), 2)
}

// Walk says where a threshold that moves by itself has gone, from one C to another, and
// where the error is least for the model as it stands, 0 where that is not known. of names
// the run, "" for the one that is looked at; "" is said where C is not a positive number.
func Walk(of string, from, to, least float64) string {
	if !(from > 0) || !(to > 0) || math.IsInf(from, 1) || math.IsInf(to, 1) {
		return ""
	}
	text := "The run’s own C"
	if of != "" {
		text = "C of the run “" + of + "”"
	}
	text += fmt.Sprintf(" went from %s, the ring, to %s, the dot", Number(from, 3), Number(to, 3))
	if least > 0 && !math.IsInf(least, 1) {
		text += fmt.Sprintf("; for the model as it stands here the error is least at %s", Number(least, 2))
	}
	return text + "."
}

// Symbol returns the page's symbol of a number that runs can be told anew while they go on.
func Symbol(field string) string {
	switch field {
	case "max_grad_norm":
		return "C"
	case "noise_multiplier":
		return "σ"
	case "learning_rate":
		return "η"
	}
	return field
}

// Changes says what was changed of a run while it went on: each of a few, of more the last.
func Changes(all []run.Changed) []string {
	const few = 3
	if n := len(all); n > few {
		return []string{fmt.Sprintf("changed %d times, at last %s", n, changed(all[n-1]))}
	}
	var list []string
	for _, c := range all {
		list = append(list, changed(c))
	}
	return list
}

func changed(c run.Changed) string {
	return fmt.Sprintf("%s %s → %s from step %s", Symbol(c.Field), Number(c.From, 3), Number(c.To, 3), Count(c.Step))
}

// Lengths says how long the gradients of a batch are: how many exceed C, the typical one
// and the longest, and the noise beside what is left of their mean; "" where there are
// none. share is NaN where it is not known.
func Lengths(share, median, longest, noise, left float64) string {
	if !(median >= 0) || !(longest >= 0) || math.IsNaN(share) {
		return ""
	}
	text := fmt.Sprintf("%s of the gradients are longer than C; the median is %s long, the longest %s.", Percent(share, 0), Number(median, 3), Number(longest, 3))
	if ratio := noise / left; ratio > 0 && !math.IsInf(ratio, 1) {
		text += fmt.Sprintf(" The noise is %sas long as what clipping leaves of their mean.", times(ratio))
	}
	return text
}
