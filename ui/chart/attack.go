package chart

import (
	"math"

	"clipscope/core/run"
)

// AttackTitle names the chart of an attacker's best tests.
const AttackTitle = "Rows found against rows accused"

// Attack is the chart of what share of the rows that were in a test finds at most, against the
// share of rows that were not in which it accuses; beside it, guessing.
var Attack = &Spec{Kind: "lines", X: Axis{Label: "accused", Log: true, Format: "number"}, Y: Axis{Log: true, Format: "bound", Max: 1}, Values: Released, Side: 76,
	Series: []Line{{Label: "at most", Ink: Released, Width: 2}, {Label: "guessing", Ink: Released, Width: 1}}}

// DrawAttack sends an attacker's bounds to a chart.
func DrawAttack(feed *Feed, a *run.Attack) {
	rates, found := make([]float64, len(a.FalsePositive)), make([]float64, len(a.FalsePositive))
	for i, f := range a.FalsePositive {
		rates[i], found[i] = float64(f), float64(a.TruePositive[i])
	}
	feed.Cover = Covered
	feed.Lines(1, math.NaN(), rates, found, rates)
}
