package preset

import (
	"reflect"
	"testing"

	"clipscope/ui/form"
)

// TestPresetsVaryOneThing: what stands beside another to be compared with it differs from
// it in C alone, or in C and η.
func TestPresetsVaryOneThing(t *testing.T) {
	by := map[string]Preset{}
	for _, p := range All() {
		by[p.Name] = p
	}
	for _, c := range []struct {
		name, beside string
		c, rate      float64
	}{
		{"threshold-too-small", "digits-constant", 0.01, 0.5},
		{"threshold-too-large", "digits-constant", 50, 0.5},
		{"c-and-rate-together", "threshold-too-small", 0.01, 0.5 / 0.01},
	} {
		want := by[c.beside].Config
		want.MaxGradNorm, want.LearningRate = c.c, c.rate
		if got := by[c.name].Config; !reflect.DeepEqual(got, want) {
			t.Errorf("%s differs from %s in more: %+v", c.name, c.beside, got)
		}
	}
}

func TestEveryPresetCanBePlanned(t *testing.T) {
	list := All()
	if len(list) < 3 {
		t.Fatalf("%d presets", len(list))
	}
	seen := map[string]bool{}
	for _, p := range list {
		if p.Name == "" || p.Title == "" || p.About == "" || seen[p.Name] {
			t.Errorf("preset %+v", p)
		}
		seen[p.Name] = true
		if form.Find("method").HelpAt(p.Config.Method) == "" {
			t.Errorf("%s: there is no method %q", p.Name, p.Config.Method)
		}
		if h, err := p.Config.Hash(); err != nil || h == "" {
			t.Errorf("%s: hash %q, %v", p.Name, h, err)
		}
	}
}
