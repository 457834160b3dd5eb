//go:build !js

package site

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// TestArchiveIsItsFiles: an archive has every name and content, in order, and nothing of
// when, where and by whom the files were made.
func TestArchiveIsItsFiles(t *testing.T) {
	files := fstest.MapFS{"b/c.js": {Data: []byte("c")}, "a.html": {Data: []byte("aaa")}, "b.js": {Data: nil}}
	other := fstest.MapFS{}
	for name, f := range files {
		other[name] = &fstest.MapFile{Data: f.Data, Mode: 0o600, ModTime: time.Date(2031, 1, 2, 3, 4, 5, 6, time.FixedZone("", 7200))}
	}
	var one, two bytes.Buffer
	for w, fs := range map[*bytes.Buffer]fstest.MapFS{&one: files, &two: other} {
		if err := archiveTo(w, fs, "x-1"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("modes and times are in the archive")
	}
	plain, err := gzip.NewReader(&one)
	if err != nil {
		t.Fatal(err)
	}
	if !plain.ModTime.IsZero() || plain.Name != "" {
		t.Errorf("gzip says %v %q", plain.ModTime, plain.Name)
	}
	var got []string
	r := tar.NewReader(plain)
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		got = append(got, fmt.Sprintf("%s %o %d %s %v", h.Name, h.Mode, h.ModTime.Year(), b, err))
	}
	want := "x-1/a.html 644 1980 aaa <nil>|x-1/b/c.js 644 1980 c <nil>|x-1/b.js 644 1980  <nil>"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("the archive has %s\nwant %s", s, want)
	}
}

func TestSumsAreOfTheFiles(t *testing.T) {
	var got strings.Builder
	if err := sumsTo(&got, fstest.MapFS{"a b": {Data: []byte("x")}, "e": {}}); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%x  a b\n%x  e\n", sha256.Sum256([]byte("x")), sha256.Sum256(nil))
	if got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

// TestTwoReleasesAreEqual: a release is the same wherever it is put, and has the sums of
// what it is.
func TestTwoReleasesAreEqual(t *testing.T) {
	var all []map[string]string
	for range 2 {
		s := stub(t, Site{})
		if err := os.WriteFile(filepath.Join(s.Wasm, "sbom.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(t.TempDir(), "release")
		if err := s.Publish(folder); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		if err := eachFile(os.DirFS(folder), func(name string, b []byte) error { files[name] = string(b); return nil }); err != nil {
			t.Fatal(err)
		}
		all = append(all, files)
	}
	name := "clipscope-" + release
	for _, part := range []string{name + ".tar.gz", name + ".files.sha256", name + ".cdx.json", name + ".licenses.txt", "SHA256SUMS"} {
		if all[0][part] == "" || all[0][part] != all[1][part] {
			t.Errorf("%s differs, or is not there", part)
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(all[0][part])), part); part != "SHA256SUMS" && !strings.Contains(all[0]["SHA256SUMS"], line) {
			t.Errorf("SHA256SUMS has no %s", line)
		}
	}
	if len(all[0]) != 5 {
		t.Errorf("a release has %d files", len(all[0]))
	}
	if list := all[0][name+".files.sha256"]; !strings.Contains(list, "  index.html\n") || !strings.Contains(list, "  web/app.wasm\n") || !strings.Contains(list, "  verify.html\n") {
		t.Errorf("the list of files is %s", list)
	}
}

// TestPageNamesVersion: pages say the version that scripts do.
func TestPageNamesVersion(t *testing.T) {
	out := built(t, Site{})
	script, err := os.ReadFile(filepath.Join(out, "web/page.js"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`const VERSION = "(` + regexp.QuoteMeta(release) + `\+[0-9a-f]{8})"`).FindSubmatch(script)
	if m == nil {
		t.Fatal("the script has no version")
	}
	for _, page := range []string{"verify.html", "help/index.html"} {
		b, err := os.ReadFile(filepath.Join(out, page))
		if err != nil || !bytes.Contains(b, m[1]) || bytes.Contains(b, []byte("__VERSION__")) {
			t.Errorf("%s does not say %s: %v", page, m[1], err)
		}
	}
	worker, err := os.ReadFile(filepath.Join(out, "web/trainer-worker.js"))
	if err != nil || !bytes.Contains(worker, m[1]) {
		t.Errorf("the worker's script does not say %s: %v", m[1], err)
	}
}
