package chart

import (
	"slices"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// rate charts the learning rate, where it moves. It is public rather than released: it follows
// from the configuration and the number of the step.
func rate() *Chart {
	return &Chart{
		Title: "Learning rate", Ink: Public,
		Empty: "The learning rate of every step, by its schedule.",
		None:  "This run does not say what its rates were: it is of an earlier version.",
		Spec: Spec{Kind: "lines", Sync: syncSteps, X: stepAxis,
			Series: []Line{{Label: "η", Ink: Released, Width: 2, Stepped: true}}},
		fits:     rateMoves,
		has:      column(series.Rate),
		draw:     lines(series.Rate),
		sentence: func(r *series.Record) string { return words.Rate(r.Moment()) },
		rows: func(r *series.Record) []Row {
			return []Row{{"learning_rate", words.Number(r.Last.Released.LearningRate, 4), Public}}
		},
	}
}

// rateMoves reports whether the rate has a course, or was changed by hand.
func rateMoves(c *run.Config, _ data.Task, last *series.Record) bool {
	return c.WarmupSteps > 0 || c.LearningRateSchedule != "" && c.LearningRateSchedule != "constant" ||
		last != nil && slices.ContainsFunc(last.Changes, func(x run.Changed) bool { return x.Field == "learning_rate" })
}
