package run

import (
	"math"
	"strings"
	"testing"
)

// TestTwoRunsOnOneRowAddUp, and where no private run is known of nothing is said.
func TestTwoRunsOnOneRowAddUp(t *testing.T) {
	before := StartInfo{File: "before.json", Private: true, Epsilon: 2, Delta: 1e-5}
	if said := before.WithBefore(0.951, 1e-5); !strings.Contains(said, "(ε = 2.951, δ = 2e-05)") || strings.Contains(said, "neither") {
		t.Error(said)
	}
	before.Chained = true
	if said := before.WithBefore(0.951, 1e-5); !strings.Contains(said, "whose ε is in neither") {
		t.Error(said)
	}
	if said := before.WithBefore(math.Inf(1), 1e-5); !strings.Contains(said, "ε = ∞") && !strings.Contains(said, "ε = Inf") {
		t.Error(said)
	}
	public := StartInfo{File: "before.json"}
	if said := public.WithBefore(1, 1e-5) + (*StartInfo)(nil).WithBefore(1, 1e-5); said != "" {
		t.Error(said)
	}
}
