package preset

import (
	"testing"

	"clipscope/ui/form"
)

func TestPresets(t *testing.T) {
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
