package format

import (
	"os"
	"strings"
	"testing"
)

// TestEveryFormatHasItsPlaces: every format can be told and read, has a name of its own, and is named
// where formats are listed for users: in the guide, in the help and in the error for other files.
func TestEveryFormatHasItsPlaces(t *testing.T) {
	places := map[string]string{"NotData": NotData("x", "y").Error()}
	for _, file := range []string{"docs/scripting.md", "ui/help.go"} {
		b, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		places[file] = string(b)
	}
	known := map[string]bool{}
	for _, f := range formats {
		if f.Name == "" || f.Load == nil || known[f.Name] {
			t.Errorf("%+v: a format needs a name of its own, and Load", *f)
		}
		known[f.Name] = true
		for place, text := range places {
			if name, _, _ := strings.Cut(f.Name, "-"); !strings.Contains(strings.ToLower(text), name) {
				t.Errorf("%s does not name %s", place, f.Name)
			}
		}
	}
	for _, f := range formats {
		if f.Beside != "" && !known[f.Beside] {
			t.Errorf("%s may have files of %q beside it, which there is not", f.Name, f.Beside)
		}
	}
}
