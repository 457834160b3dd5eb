package train

import (
	"testing"

	"clipscope/core/run"
)

// TestPapersFashion compares weight functions on Fashion-MNIST at ε = 3. PS
// Table 2 uses a convolutional network, so its figures are no target here.
func TestPapersFashion(t *testing.T) {
	papers(t)
	ds := images(t, "fashion-mnist")
	say("\n### Fashion-MNIST at ε = 3, δ = 1e−5 (RDP): MLP 784-128-10, B = 512, 12 epochs, C = 1\n")
	paper := map[string]string{"constant": "86.22", "auto-s": "86.30", "psac": "86.56"}
	var lines [][]any
	for _, m := range []string{"constant", "auto-s", "psac"} {
		cfg := run.Config{
			Method: m, Model: run.Model{Kind: "mlp", Hidden: []int{128}}, Accountant: "rdp", TargetEpsilon: ptr(3.0),
			MaxGradNorm: 1, ExpectedBatchSize: 512, Epochs: 12,
		}
		best := best(try(t, m, ds, rates("", cfg, 0.25, 0.5, 1, 2), tuning(1)))
		s := scores(t, best.cfg, ds, measuring(3))
		if m == "psac" && s.min() < 82 {
			t.Errorf("psac reaches %.2f at worst, want 82", s.min())
		}
		lines = append(lines, []any{m, best.label, s, paper[m]})
	}
	header("method", "settings", "test accuracy %, three seeds", "PS Table 2, a CNN")
	for _, l := range lines {
		row(l...)
	}
}
