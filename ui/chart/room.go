package chart

import (
	"math"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// room charts who took part in the steps of a run of several parties.
func room() *Chart {
	quorum := func(r *series.Record) float64 {
		if g := r.Config.Together; g.Quorum < g.Parties {
			return float64(g.Quorum)
		}
		return math.NaN() // the line of all who were invited says it
	}
	return &Chart{
		Title: "Parties in each sum", Ink: Released,
		Empty: "How many parties answered in every step. A step that one of them left open has no sum, and counts.",
		Spec: Spec{Kind: "lines", Sync: syncSteps, X: stepAxis, Y: Axis{Format: "number"}, Mark: "horizontal", MarkLabel: "needed",
			Series: []Line{{Label: "parties", Ink: Released, Width: 2, Stepped: true}}},
		fits:     func(c *run.Config, _ data.Task, _ *series.Record) bool { return c.Together.Parties > 0 },
		has:      column(series.Parties),
		draw:     markedLines(quorum, series.Parties),
		sentence: func(r *series.Record) string { return words.Attendance(r.Moment()) },
		rows: func(r *series.Record) []Row {
			return []Row{{"parties in the last sum", words.Count(r.Last.Released.Parties), Released}}
		},
	}
}
