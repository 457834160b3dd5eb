package train

import (
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// A run that was chosen among others is headed by the C and the rate that it took, not by
// those that were set.
func TestAChosenRunIsHeadedByItsC(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.Set("method", "constant")
	b.Set("max_grad_norm", "1")
	b.Set("learning_rate", "0.5")
	b.Set("tuning.runs", "5")
	b.trials.start()
	r := b.client.runs[0]
	r.events([]run.Event{series.Example(1)})
	r.done(run.Result{Steps: 1, PlannedSteps: 1, Selected: &run.Candidate{LearningRate: 0.17, MaxGradNorm: 0.25}}, nil)
	s := b.trials.shown
	made := strings.ReplaceAll(strings.Join(s.description(), " · "), "\u00a0", " ")
	if !strings.Contains(made, ", C 0.25 ·") || !strings.Contains(made, "η 0.17") || strings.Contains(made, "C 1 ·") {
		t.Errorf("the run is headed %s", made)
	}
	html := app.HTMLString(&resultView{ID: s.id, Result: s.result, Training: s.training(), Saver: s})
	if !strings.Contains(html, "C, chosen") {
		t.Errorf("the result does not tell C: %s", html)
	}
}
