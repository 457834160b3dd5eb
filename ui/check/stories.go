package check

import (
	"clipscope/core/run"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Stories returns the verdicts, each alone.
func Stories() []widget.Story {
	return []widget.Story{
		{Name: "A file that was edited", View: func() app.UI { return verdictView(example()) }},
		{Name: "A file that nothing can be said of", View: func() app.UI {
			return verdictView(&run.Verdict{File: "model.onnx", Kind: "ONNX model", Verdict: run.Unchecked, Text: "An ONNX file has the layers and parameters and no word on privacy."})
		}},
	}
}

func example() *run.Verdict {
	return &run.Verdict{
		File: "clipscope-statement.json", Kind: "privacy statement, JSON", Program: "Clipscope 0.2.0", Verdict: run.Differs, Text: "1 claim differs: ε. Do not rely on this file. 1 cannot be checked.",
		Findings: []run.Finding{
			{Claim: "steps charged", File: "300", Recomputed: "300", Verdict: run.Agrees},
			{Claim: "ε", File: "0.1", Recomputed: "2.38431", Verdict: run.Differs, Why: "too small: it is at least 2.384"},
			{Claim: "rows", File: "8000, by sample_rate and expected_batch_size", Verdict: run.Unchecked, Why: "the data are not in the file"},
		},
		Unknown: []string{"Whether the events are what happened. Somebody who changed them and ε together is not noticed.", "Whether noise and batches were drawn as stated."},
	}
}
