package ledger

import (
	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Stories are the ledger's components, each alone.
func Stories() []widget.Story {
	return []widget.Story{
		{Name: "Budget of the data", View: func() app.UI { return &Block{View: exampleLedger(false), Actions: nobody{}} }},
		{Name: "Budget of the data, to be deleted", View: func() app.UI { return &Block{View: exampleLedger(true), Actions: nobody{}} }},
		{Name: "Over the limit", View: func() app.UI {
			return &Ask{Question: &Question{Text: "With this run, ε = 3.2 at δ = 1e-05 would have been spent on this data, more than your limit of 3. So far it is 2.1.", Kind: client.OverLimit}, Answer: nobody{}}
		}},
	}
}

// nobody takes the events of stories.
type nobody struct{}

func (nobody) SetLimit(string) {}
func (nobody) Export()         {}
func (nobody) Forget(bool)     {}
func (nobody) ConfirmRun()     {}
func (nobody) DeclineRun()     {}

func exampleLedger(sure bool) View {
	limit, next := run.Number(3), run.Number(3.2)
	return View{Shown: true, Sure: sure, Total: &run.SpentReply{Runs: []string{"a", "b", "c"}, Open: 1, Unprotected: 1, Epsilon: 2.1, Delta: 1e-5, NextEpsilon: &next, Limit: &limit}}
}
