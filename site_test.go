//go:build !js

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestAttributesAreInOrder(t *testing.T) {
	for in, want := range map[string]string{
		`<a href="/x" class="b c">text <b>not="an" attribute</b></a>`:        `<a class="b c" href="/x">text <b>not="an" attribute</b></a>`,
		`<script src="s.js" defer></script>`:                                 `<script defer src="s.js"></script>`,
		`<meta name="a &#34;quoted&#34; > value" content="x=&#34;1&#34; y">`: `<meta content="x=&#34;1&#34; y" name="a &#34;quoted&#34; > value">`,
		"<p>2 < 3 and a=\"b\"</p>":                                           "<p>2 < 3 and a=\"b\"</p>",
		`<br>`:                                                               `<br>`,
		"<input\n  value=\"1\" id=\"f\" aria-describedby=\"f-help\" type=\"text\">": `<input aria-describedby="f-help" id="f" type="text" value="1">`,
	} {
		if got := string(inOrder([]byte(in))); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", in, got, want)
		}
	}
}

// TestTwoBuildsAreEqual: the same sources make the same site, wherever it is put.
func TestTwoBuildsAreEqual(t *testing.T) {
	if _, err := os.Stat("web/node_modules/uplot"); err != nil {
		t.Skip("make fetches what the site is made of")
	}
	wasm := t.TempDir()
	for _, name := range []string{"app.wasm", "kernels.wasm", "kernels-relaxed.wasm", "licenses.txt"} {
		if err := os.WriteFile(filepath.Join(wasm, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var outs []string
	for range 3 {
		out := filepath.Join(t.TempDir(), "site")
		if err := (site{source: ".", wasm: wasm, out: out, prefix: "/repo"}).generate(); err != nil {
			t.Fatal(err)
		}
		outs = append(outs, out)
	}
	files := 0
	err := walkFiles(outs[0], func(rel, name string) error {
		files++
		first, err := os.ReadFile(name)
		for _, other := range outs[1:] {
			if second, _ := os.ReadFile(filepath.Join(other, rel)); !bytes.Equal(first, second) {
				t.Errorf("%s differs from one build to the next", rel)
			}
		}
		return err
	})
	if err != nil || files < 20 {
		t.Errorf("%d files, %v", files, err)
	}
}
