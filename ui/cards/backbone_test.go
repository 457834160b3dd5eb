package cards

import (
	"strings"
	"testing"

	"clipscope/core/data/source"
)

func TestBackboneSaysHowFarItIs(t *testing.T) {
	v := exampleBackbone()
	for _, c := range []struct {
		p    source.Progress
		says []string
	}{
		{source.Progress{}, []string{"Reading"}},
		{source.Progress{Phase: "backbone", Done: 1e6, Total: 2e6}, []string{"simclr.onnx", "MB of"}},
		{source.Progress{Phase: "runtime"}, []string{"ONNX Runtime", "… 12"}}, // 12 s so far
		{source.Progress{Phase: "trial"}, []string{"Trying simclr.onnx on a made-up row… 12"}},
		{source.Progress{Phase: "features", Total: 100}, []string{"0 of 100 rows"}},
		{source.Progress{Phase: "features", Done: 25, Total: 100}, []string{"25 of 100 rows", "36", "to go"}}, // 12 s so far
		{source.Progress{Phase: "features", Done: 100, Total: 100}, []string{"100 of 100 rows"}},
	} {
		v.Progress = c.p
		line := v.progressLine()
		for _, says := range c.says {
			if !strings.Contains(line, says) {
				t.Errorf("%+v: %q", c.p, line)
			}
		}
	}
	if got := shapeText([]int{-1, 3, 224, 224}); got != "n×3×224×224" {
		t.Error(got)
	}
}
