package purego_test

import (
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
)

func TestSuite(t *testing.T) {
	computetest.RunAll(t, func() compute.Backend { return purego.New() })
}
