package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// TestLongRunsSayWhatFits: of a BERT-base on rows of tokens the plan says how many hours it takes, and what would take fewer;
// where it holds more than a tab can, what would need less.
func TestLongRunsSayWhatFits(t *testing.T) {
	layers := []string{"embedding:30522:768:t2", "position", "layernorm:e12"}
	for range 12 {
		layers = append(layers, strings.Fields("skip attention:12 add layernorm:e12 skip conv1d:3072:1 gelu conv1d:768:1 add layernorm:e12")...)
	}
	layers = append(layers, "first", "dense:768", "tanh", "dense")
	sha := strings.Repeat("a", 64)
	var accounts privacy.Memory
	for _, c := range []struct {
		tokens int
		part   string
		says   []string // of a warning, or of the refusal
	}{
		{64, "head", nil},
		{64, "last:1", []string{"takes about an hour; ", "its rows have 64 tokens, and with half as many it takes half as long; with start.trainable head it takes about 7 minutes."}},
		{64, "biases", []string{"takes about 12 hours; ", "with start.trainable last:1 it takes about an hour; with start.trainable head it takes about 7 minutes."}},
		{512, "all", []string{"needs 5.1 GB, more than a browser tab can hold", "or fewer than the 512 tokens of a row, or train a smaller part: start.trainable last:1 or head"}},
	} {
		m := data.Meta{Name: "m", Task: data.Classification, Features: c.tokens, Outputs: 2, Classes: []string{"a", "b"}, TrainRows: 2000, TestRows: 400, FeatureBytes: 4, Backbone: &run.Backbone{SHA256: sha, Output: "x", Batch: 1, Tokens: 30522}}
		eps := 4.0
		p, err := Recall(&accounts, run.Config{
			Model: run.Model{Kind: "layers", Layers: layers}, TargetEpsilon: &eps, Accountant: "rdp", Steps: 300, ExpectedBatchSize: 256,
			Scaling: run.Scaling{Kind: "none"}, Start: run.Start{File: "f", SHA256: sha, Public: true, Trainable: c.part},
		}, m)
		said := fmt.Sprint(err)
		if err == nil {
			said = ""
			if i := slices.IndexFunc(p.Info().Warnings, func(w run.Warning) bool { return strings.Contains(w.Message, "On two cores") }); i >= 0 {
				said = p.Info().Warnings[i].Message
			}
		}
		if c.says == nil && said != "" {
			t.Errorf("%d tokens, %s: %s", c.tokens, c.part, said)
		}
		for _, want := range c.says {
			if !strings.Contains(said, want) {
				t.Errorf("%d tokens, %s: %q does not say %q", c.tokens, c.part, said, want)
			}
		}
	}
}
