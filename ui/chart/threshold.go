package chart

import (
	"strings"

	"clipscope/ui/series"
	"clipscope/ui/words"
)

// threshold charts the threshold.
func threshold() *Chart {
	return &Chart{
		Title: "Threshold C", Ink: Released,
		Empty: "The threshold of every step. Start a run to see it.",
		None:  "This run has no threshold.",
		Spec: Spec{Kind: "lines", Sync: syncSteps, X: stepAxis, Y: Axis{Log: true},
			Series: []Line{{Label: "C", Ink: Released, Width: 2, Stepped: true}}},
		has:      column(series.C),
		draw:     lines(series.C),
		sentence: func(r *series.Record) string { return words.Threshold(r.Moment()) },
		rows: func(r *series.Record) []Row {
			rows := []Row{thresholdRow(r)}
			if all := r.Moment().Event.Released.MaxGradNorms; all != nil {
				rows = append(rows, Row{"max_grad_norms, by layer", listed(all), Released})
			}
			return append(rows, Row{"noisy gradient norm", words.Number(float64(r.Last.Released.GradNorm), 4), Released})
		},
	}
}

func listed(all []float64) string {
	var texts []string
	for _, v := range all {
		texts = append(texts, words.Number(v, 3))
	}
	return strings.Join(texts, " · ")
}

func thresholdRow(r *series.Record) Row {
	return Row{"max_grad_norm", words.Number(r.Moment().Event.Released.MaxGradNorm, 4), Released}
}
