//go:build !js

package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// imports maps every package of the module, as built for the browser, to what it
// imports itself.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	m := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		m[fields[0]] = fields[1:]
	}
	return m
}

func below(pkg string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool {
		return pkg == "clipscope/"+d || strings.HasPrefix(pkg, "clipscope/"+d+"/")
	})
}

// TestArrows holds who may import whom.
func TestArrows(t *testing.T) {
	all := imports(t)
	if len(all) < 10 || all["clipscope/core/train"] == nil || all["clipscope/wasm"] == nil {
		t.Fatalf("go list found %d packages", len(all))
	}
	for pkg, list := range all {
		for _, dep := range list {
			switch {
			case below(pkg, "core") && (below(dep, "ui", "app", "wasm", "web") || strings.Contains(dep, "go-app")):
				t.Errorf("%s imports %s: core knows nothing of the page", pkg, dep)
			case dep == "syscall/js" && !below(pkg, "wasm", "app", "ui", "core/compute/simd", "core/compute/webgpu"):
				t.Errorf("%s imports syscall/js: only the rim may", pkg)
			case below(pkg, "wasm") && below(dep, "ui", "app"):
				t.Errorf("%s imports %s: the trainer knows nothing of the page", pkg, dep)
			case below(pkg, "wasm/worker") && dep == "syscall/js":
				t.Errorf("%s imports syscall/js: the protocol is plain Go", pkg)
			case below(pkg, "ui") && below(dep, "core/train", "core/nn", "core/optim", "core/compute"):
				t.Errorf("%s imports %s: the page computes nothing", pkg, dep)
			case below(pkg, "core/privacy") && below(dep, "core/compute"):
				t.Errorf("%s imports %s: what a run costs depends on no machine", pkg, dep)
			case dep == "clipscope/core/train" && !below(pkg, "core/train", "wasm"):
				t.Errorf("%s imports %s: only the trainer runs plans", pkg, dep)
			}
		}
	}
}
