package calculator

import (
	"clipscope/core/run"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Stories are the calculator's components, each alone.
func Stories() []widget.Story {
	return []widget.Story{
		{Name: "Audit", View: func() app.UI {
			return newAuditPanel(run.Config{}.WithDefaults(), &auditState{method: "constant clipping, float noise", report: &run.AuditReport{
				Claimed: 4, Delta: 1e-5, LowerBound: 2.05, AnyMechanism: 1.3, Confidence: 0.95, Canaries: 2000, Guesses: 400, Correct: 330, Steps: 200, SampleRate: 0.1, NoiseMultiplier: 1.76}})
		}},
		{Name: "Audit on worst-case data", View: func() app.UI {
			return newAuditPanel(run.Config{}.WithDefaults(), &auditState{kind: "worst-case", method: "constant clipping, float noise", report: &run.AuditReport{
				Claimed: 1, Delta: 1e-5, Confidence: 0.95, Steps: 1, SampleRate: 1, NoiseMultiplier: 3.73, Runs: 200,
				WorstCases: []run.WorstCase{
					{Name: "rows whose sum rounds differently with one row more", Rows: 60_000, Included: 81, Excluded: 77},
					{Name: "a small gradient of a long input, at a small threshold", Rows: 1000, Included: 70, Excluded: 74},
				}}})
		}},
	}
}
