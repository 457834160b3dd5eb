package data_test

import (
	"strings"
	"testing"

	"clipscope/core/data"
)

// TestShown: no name turns round what stands behind it in a line, whether it is short or shortened,
// and one without such controls is as it was.
func TestShown(t *testing.T) {
	for name, want := range map[string]string{
		"\u202Egpj.exe":  "⟨U+202E⟩gpj.exe",
		"a\u2069\u2067b": "a⟨U+2069⟩⟨U+2067⟩b",
		"\u202A\u202C":   "⟨U+202A⟩⟨U+202C⟩",
		"":               "",
		"שלום \u200F, é": "שלום \u200F, é",
		"a\xff\u202Db":   "a\uFFFD⟨U+202D⟩b",
		"plain":          "plain",
	} {
		if got := data.Shown(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"\u202Ex.csv", strings.Repeat("\u2066", 200)} {
		if got := data.Shorten(name); strings.ContainsAny(got, "\u202E\u2066") {
			t.Errorf("a message has %q", got)
		}
		e := &data.Error{File: name, Column: 1, ColumnName: name, Expected: "a", Got: "b"}
		if got := e.Error(); strings.ContainsAny(got, "\u202E\u2066") {
			t.Errorf("a message has %q", got)
		}
	}
}
