package rough_test

import (
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/compute/rough"
)

// in returns what opens a backend that adds in an order.
func in(order rough.Order) func() compute.Backend {
	return func() compute.Backend { return rough.New(purego.New(), order, compute.PieceRows) }
}

// TestBackendPassesTheSuite: rough, but within the contract.
func TestBackendPassesTheSuite(t *testing.T) {
	computetest.RunAll(t, in(rough.Orders["forward"]))
}

// TestEveryOrderPassesTheSuite: in every order, which is all that they do not have in common.
func TestEveryOrderPassesTheSuite(t *testing.T) {
	for name, order := range rough.Orders {
		t.Run(name, func(t *testing.T) { computetest.RunKernel(t, "addOuter", in(order)) })
	}
}
