package chart

import (
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// clipping charts the clipped share of each batch.
func clipping() *Chart {
	return &Chart{
		Title: "Clipping frequency", Ink: Diagnostic,
		Empty: "The share of each batch whose gradients were longer than C.",
		None:  "Nothing is clipped in this run.",
		Spec: Spec{Kind: "lines", Sync: syncSteps, X: stepHidden, Y: Axis{Format: "percent", Max: 1},
			Series: []Line{{Label: "clipped", Ink: Diagnostic}}},
		has:      column(series.Clipped),
		draw:     lines(series.Clipped),
		sentence: func(r *series.Record) string { return words.Clipping(r.Moment()) },
		rows:     clippingRows,
	}
}

func clippingRows(r *series.Record) []Row {
	d, size := diagnostics(r.Moment()), words.Missing
	if r.Last.Diag != nil && d.BatchSize >= 0 {
		size = words.Count(d.BatchSize)
	}
	return []Row{
		{"clipped", words.Percent(float64(d.ClipFraction), 1), Diagnostic},
		{"batch size", size, Diagnostic},
	}
}
