package ui

import (
	"encoding/json"
	"testing"
)

// TestSpeedIsMeasured: every bar has a figure, and the figures a machine and a day.
func TestSpeedIsMeasured(t *testing.T) {
	var f figures
	if err := json.Unmarshal(measured, &f); err != nil {
		t.Fatal(err)
	}
	if f.Date.IsZero() || f.Commit == "" || f.Cores < 1 || f.Model == "" || f.Chromium == "" {
		t.Errorf("the figures are of %+v", f)
	}
	for _, group := range speedBars {
		if f.value(group.ours) <= 0 {
			t.Errorf("%s: there is nothing to compare with", group.title)
		}
		for _, b := range group.bars {
			if f.value(b[0]) <= 0 {
				t.Errorf("%s: %q has no figure", group.title, b[0])
			}
		}
	}
}
