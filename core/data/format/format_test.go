package format

import (
	"os"
	"strings"
	"testing"
)

// TestFormats: every format can be told and read, has a name of its own, and is named where formats
// are listed for users.
func TestFormats(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/scripting.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range formats {
		if f.Name == "" || f.Load == nil || known[f.Name] {
			t.Errorf("%+v: a format needs a name of its own, and Load", *f)
		}
		known[f.Name] = true
		if !strings.Contains(strings.ToLower(string(guide)), f.Name) {
			t.Errorf("docs/scripting.md does not name %s", f.Name)
		}
	}
	for _, f := range formats {
		if f.Beside != "" && !known[f.Beside] {
			t.Errorf("%s may have files of %q beside it, which there is not", f.Name, f.Beside)
		}
	}
}
