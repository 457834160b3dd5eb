package ui

import (
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// ledgerStories are the ledger's components, each alone.
func ledgerStories() []Story {
	return []Story{
		{Name: "Budget of the data", View: func() app.UI { return &ledgerBlock{View: exampleLedger(false), Actions: noLedgerUser{}} }},
		{Name: "Budget of the data, to be deleted", View: func() app.UI { return &ledgerBlock{View: exampleLedger(true), Actions: noLedgerUser{}} }},
		{Name: "Over the limit", View: func() app.UI {
			return &ledgerAsk{Question: &ledgerQuestion{Text: "With this run, ε = 3.2 at δ = 1e-05 would have been spent on this data, more than your limit of 3. So far it is 2.1.", Kind: overLimit}, Answer: noLedgerUser{}}
		}},
	}
}

// noLedgerUser takes the events of stories.
type noLedgerUser struct{}

func (noLedgerUser) SetLimit(string) {}
func (noLedgerUser) Export()         {}
func (noLedgerUser) Forget(bool)     {}
func (noLedgerUser) ConfirmRun()     {}
func (noLedgerUser) DeclineRun()     {}

func exampleLedger(sure bool) LedgerView {
	limit, next := 3.0, run.Number(3.2)
	return LedgerView{Shown: true, Sure: sure, Total: &spending{Runs: []string{"a", "b", "c"}, Open: 1, Unprotected: 1, Epsilon: 2.1, Delta: 1e-5, Next: &next, Limit: &limit}}
}
