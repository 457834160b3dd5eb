package chart

import (
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/preset"
	"clipscope/ui/series"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Stories are the charts of a run that somebody made up, and of the same
// run made blind.
func Stories() []widget.Story {
	var list []widget.Story
	for _, p := range exampleCharts(false) {
		list = append(list, widget.Story{Name: "Chart, " + p.ID, View: func() app.UI { return p }})
	}
	for _, p := range exampleCharts(true)[:2] {
		list = append(list, widget.Story{Name: "Chart, " + p.ID + ", blind", View: func() app.UI { return p }})
	}
	return list
}

func exampleCharts(blind bool) []*Panel {
	r, s := exampleRecord(400, blind), New(1)
	runs := []*series.Record{r}
	s.Draw(runs)
	return s.Panels(runs, r.Config, data.Classification, false)
}

// exampleRecord is a run of so many steps.
func exampleRecord(steps int, blind bool) *series.Record {
	cfg := preset.First()
	cfg.Blind = blind
	r := series.NewRecord(cfg.WithDefaults(), run.PlanInfo{NoiseMultiplier: 1.1, Steps: 600, Epsilon: 2})
	for step := 1; step <= steps; step++ {
		e := series.Example(step)
		if blind {
			e.Diag = nil
		}
		r.Add([]run.Event{e})
	}
	return r
}
