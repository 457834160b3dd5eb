package rough_test

import (
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/compute/rough"
)

// TestSuite: rough, but within the contract, in every order.
func TestSuite(t *testing.T) {
	for name, order := range rough.Orders {
		t.Run(name, func(t *testing.T) {
			computetest.RunAll(t, func() compute.Backend { return rough.New(purego.New(), order, compute.PieceRows) })
		})
	}
}
