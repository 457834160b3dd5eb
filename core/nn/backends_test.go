package nn

import (
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/purego"
)

// backends are all that can run where the test runs.
func backends(t *testing.T) map[string]func() compute.Backend {
	return map[string]func() compute.Backend{
		"purego": func() compute.Backend { return purego.New() },
	}
}
