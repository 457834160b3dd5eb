package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNothingHotRecovers: web/lines.mjs takes out of the program which calls were inlined, and recover counts them. So
// none of the packages that have calls inlined, the Makefile's HOT, calls it.
func TestNothingHotRecovers(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	hot := regexp.MustCompile(`(?s)\nHOT +:= (.*?[^\\])\n`).FindSubmatch(makefile)
	if hot == nil {
		t.Fatal("the Makefile has no HOT")
	}
	list := regexp.MustCompile(`\$\(addprefix (\S+),(.*?)\)`).ReplaceAllStringFunc(string(hot[1]), func(call string) string {
		prefix, names, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(call, "$(addprefix "), ")"), ",")
		return prefix + strings.Join(strings.Fields(names), " "+prefix)
	})
	list = strings.ReplaceAll(list, "dsp/...", "dsp/fourier") // the one of them that we use
	args := append([]string{"list", "-f", "{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}\n{{end}}"}, strings.Fields(strings.ReplaceAll(list, "\\", " "))...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	files, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile(`\brecover\(\)`)
	comment := regexp.MustCompile(`//.*`)
	all := strings.Fields(string(files))
	if len(all) < 100 {
		t.Fatalf("the packages have %d files", len(all))
	}
	for _, file := range all {
		if filepath.Base(filepath.Dir(file)) == "runtime" {
			continue // it is what recover is made of
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if calls.Match(comment.ReplaceAll(text, nil)) {
			t.Errorf("%s recovers", file)
		}
	}
}
