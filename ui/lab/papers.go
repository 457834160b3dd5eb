package lab

import (
	"math"

	"clipscope/ui/lesson"
	"clipscope/ui/words"
)

// papers is the state of the papers' figures, as experiments to run again in small.
type papers struct {
	list  []lesson.Figure // nil until they have come
	at    *lesson.Figure
	asked bool
	fault string
	shown *lesson.Figure // the figure without runs that the boards show; nil: none
}

// titles is the papers' names by their short names, and order the order they are listed in.
var (
	titles = map[string]string{"VC": "Value clipping", "DC": "DC-SGD", "AC": "AdaCliP", "PS": "DP-PSAC"}
	order  = []string{"VC", "DC", "AC", "PS"}
)

// claim returns the claim of a figure and where to see it, for the part that has its experiment.
func claim(f *lesson.Figure) string {
	if f == nil {
		return ""
	}
	text := titles[f.Paper] + ", " + f.Figure + ": " + f.Claim + " Otherwise than in the paper: " + f.Differs
	if len(f.Lanes) > 0 {
		head, _ := column(f.Watch)
		text += " Look at: " + head + "."
	}
	return text
}

// column returns the header and the text of a figure's column in the table of its stored runs.
func column(watch string) (head string, cell func(*lesson.Outcome) string) {
	switch watch {
	case "loss":
		return "test loss", func(o *lesson.Outcome) string { return words.Number(float64(o.Loss), 3) }
	case "clip_fraction":
		return "clipped at first, and at the end; accuracy", func(o *lesson.Outcome) string {
			return words.Percent(float64(o.Clipped[0]), 0) + ", " + words.Percent(float64(o.Clipped[1]), 0) + "; " + words.Percent(float64(o.Accuracy), 1)
		}
	case "max_grad_norm":
		return "C at the end", func(o *lesson.Outcome) string { return words.Number(float64(o.MaxGradNorm), 3) }
	case "seconds":
		return "time of a step, in parts of the first’s", func(o *lesson.Outcome) string { return words.Number(float64(o.Time), 2) }
	case "noise":
		return "length of the noise", func(o *lesson.Outcome) string { return words.Number(math.Sqrt(float64(o.Noise)), 3) }
	case "cosine":
		return "cosine of the clipped with the true mean; accuracy", func(o *lesson.Outcome) string {
			return words.Number(float64(o.Cosine), 3) + "; " + words.Percent(float64(o.Accuracy), 1)
		}
	}
	return "test accuracy", func(o *lesson.Outcome) string { return words.Percent(float64(o.Accuracy), 1) }
}
