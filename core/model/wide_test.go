package model

import (
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// TestOutputsAreHeldInParts: of a model of one feature and many outputs no more rows are answered together than their outputs
// have room, 16 MB.
func TestOutputsAreHeldInParts(t *testing.T) {
	f := outline(nn.Shape{Channels: 1}, mostOutputs, 1, "dense")
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	p, err := Open(f, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if n := p.newBatch().size * p.net.Outputs(); n > mostGathered {
		t.Errorf("%d outputs are held, in %d MB", n, 4*n>>20)
	}
	if n := p.gathered(); n*mostOutputs > mostGathered {
		t.Errorf("%d rows are evaluated together", n)
	}
	// Nor are more typed rows answered at once than the page has room for.
	rows := make([]run.Row, mostAnswered/mostOutputs+1)
	if _, err := p.Predict(t.Context(), rows); err == nil || !strings.Contains(err.Error(), "ask for at most 128 rows at once") {
		t.Errorf("%d rows of %d outputs: %v", len(rows), mostOutputs, err)
	}
}
