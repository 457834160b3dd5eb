package train

import (
	"clipscope/core/run"
	"clipscope/ui/scores"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// selected says what was chosen, which is released.
func selected(c *run.Candidate) app.UI {
	return app.P().ID("selected").Text("Chosen: learning rate " + words.Number(c.LearningRate, 3) + ", threshold C " + words.Number(c.MaxGradNorm, 3) + ".")
}

// triedTable lists the runs that were compared, which is for their owner alone.
func triedTable(list []run.Tried, by string) app.UI {
	score := "how many test rows a run has right"
	if by == run.ByLogLoss {
		score = "1 for each test row, less its log loss over ln 100, as one class has most of the rows"
	}
	return app.Details().Class("scores").ID("tried").Body(
		app.Summary().Text("What was tried"),
		scores.Table("Runs that were compared", []string{"run", "learning rate", "threshold C", "test accuracy", "score, noised"}, len(list), func(i int) []string {
			r := list[i]
			name := words.Count(i + 1)
			if r.Selected {
				name += ", chosen"
			}
			return []string{name, words.Number(r.LearningRate, 3), words.Number(r.MaxGradNorm, 3), words.Percent(float64(r.TestAccuracy), 1), words.Number(float64(r.Score), 4)}
		}),
		app.P().Class("help").Text("Diagnostics: the guarantee is for the chosen run alone, told to people who do not know how many there were. The score is "+score+", with the noise under which it was compared."),
	)
}
