package model

import (
	"os"
	"strings"
	"testing"
)

// TestRefusesModelsOfOlderVersions: what 0.1.0 saved cannot be applied, and that is said
// with what to do.
func TestRefusesModelsOfOlderVersions(t *testing.T) {
	b, err := os.ReadFile("../../testdata/0.1.0/clipscope-parameters.json")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Read(b)
	if err == nil {
		t.Fatal("it was read")
	}
	for _, part := range []string{"earlier version", "Train it again"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
