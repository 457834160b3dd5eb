package rough_test

import (
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/compute/rough"
)

// TestSuite: rough, but within the contract, in every order. The orders have all but the
// sums of outer products in common, which one of them is tested with.
func TestSuite(t *testing.T) {
	for name, order := range rough.Orders {
		t.Run(name, func(t *testing.T) {
			open := func() compute.Backend { return rough.New(purego.New(), order, compute.PieceRows) }
			if name == "forward" {
				computetest.RunAll(t, open)
			} else {
				computetest.RunKernel(t, "addOuter", open)
			}
		})
	}
}
