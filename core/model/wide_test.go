package model

import (
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/nn"
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
}
