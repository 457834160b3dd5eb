package spent

import (
	"clipscope/core/run"
	"clipscope/ui/widget"
)

// Stories returns the list with runs and without, each alone.
func Stories() []widget.Story {
	some := &Spent{read: true, entries: []Entry{
		{Line: run.Line{Run: "a", Data: 1, Label: "people.csv", Method: "constant", Started: "2026-05-01T10:00:00Z", Charged: 300, Price: &run.Price{Delta: 1e-5, Epsilon: 2.7352, Total: 2.7352, Guaranteed: 2.7352}}, State: "closed"},
		{Line: run.Line{Run: "b", Data: 2, Label: "visits.parquet", Method: "none", Started: "2026-05-02T10:00:00Z", Charged: 1200, Unprotected: true}, State: "running"},
	}}
	return []widget.Story{
		{Name: "Runs on files", View: some.view},
		{Name: "No run on files", View: (&Spent{read: true}).view},
	}
}
