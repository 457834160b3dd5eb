package train

import (
	"math"
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/scores"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// TestScoresAreShown: of each task what it has, and nothing that is not a number.
func TestScoresAreShown(t *testing.T) {
	nan := run.Number(math.NaN())
	regression := &run.Result{TestAccuracy: nan, TestLoss: 2, TestRows: 9, TestScores: &run.Scores{
		Balanced: nan, ROCArea: nan, AveragePrecision: nan, CalibrationError: nan, MeanError: 1.25, RootError: 1.5, R2: 0.75,
	}}
	for _, tt := range []struct {
		name    string
		result  *run.Result
		want    []string
		without []string
	}{
		{"classes", exampleResult(), []string{"What was answered", "How sure, and how right", "area under ROC", "0.94", "<td>38</td>", "<td>84.0 %</td>"}, []string{"R²", "NaN"}},
		{"numbers", regression, []string{"mean absolute error", "1.25", "R²", "0.75"}, []string{"ROC", "By class", "What was answered", "NaN"}},
	} {
		html := app.HTMLString(scores.View(tt.result))
		for _, want := range tt.want {
			if !strings.Contains(html, want) {
				t.Errorf("%s: no %q in %s", tt.name, want, html)
			}
		}
		for _, not := range tt.without {
			if strings.Contains(html, not) {
				t.Errorf("%s: there is %q in %s", tt.name, not, html)
			}
		}
	}
}
