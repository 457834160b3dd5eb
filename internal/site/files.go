//go:build !js

package site

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// published are the files of the sources that are served, by their place under
// /web/. Of folders, everything is taken but Go files
// and the README's picture.
var published = []struct{ from, to string }{
	{"web/guard.js", "guard.js"},
	{"web/theme.js", "theme.js"},
	{"web/predict.mjs", "predict.mjs"},
	{"web/css", "css"},
	{"assets", "assets"},
	{"web/node_modules/uplot/dist/uPlot.min.css", "uplot.css"},
	{"web/node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs", runtime + "ort.js"},
	{"web/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm", runtime + "ort.wasm"},
}

// compiled are the files that make builds, which are served under /web/ as well: programs and
// bundles (web/bundle.mjs).
var compiled = []string{
	"app.wasm", "kernels.wasm", "kernels-threads.wasm", "kernels-relaxed.wasm", "kernels-relaxed-threads.wasm",
	"page.js", "trainer-worker.js", "save.js", "parquet.js", "qr.js", "tokenizer.js", "checkpoint.js", "licenses.txt",
}

// framed is the bundle that only a site has which other pages may show.
const framed = "embed.js"

// runtime is the folder of what few visitors need, and many bytes.
const runtime = "ort/"

// later reports whether a visitor's browser fetches and keeps a file once it was asked for: the
// runtime, what reads a transformer’s files and Parquet, what draws a code for the camera of another device, which needs this
// site as well, what the program has in itself for those who save a model, and the licences.
func later(file string) bool {
	return strings.HasPrefix(file, runtime) || slices.Contains([]string{"tokenizer.js", "checkpoint.js", "parquet.js", "qr.js", "predict.mjs", "licenses.txt"}, file)
}

// copyFiles fills out/web.
func (s Site) copyFiles(out string) error {
	web := filepath.Join(out, "web")
	for _, p := range published {
		if err := copyTree(filepath.Join(s.Source, p.from), filepath.Join(web, p.to)); err != nil {
			return err
		}
	}
	if err := s.writeEarly(web); err != nil {
		return err
	}
	files := compiled
	if len(s.Frames) > 0 {
		files = append(slices.Clone(files), framed)
	}
	for _, name := range files {
		if err := copyFile(filepath.Join(s.Wasm, name), filepath.Join(web, name)); err != nil {
			return fmt.Errorf("run make: %w", err)
		}
	}
	version, err := s.version(out)
	if err != nil {
		return err
	}
	for _, name := range stamped {
		if err := replaceIn(filepath.Join(web, name), "__VERSION__", shown(version)); err != nil {
			return err
		}
	}
	return nil
}

// writeEarly joins the theme and what else a page of the program runs before it is drawn:
// they would be fetched one after the other, while a guide needs the first alone.
func (s Site) writeEarly(web string) error {
	var early []byte
	for _, name := range []string{"theme.js", "early.js"} {
		b, err := os.ReadFile(filepath.Join(s.Source, "web", name))
		if err != nil {
			return err
		}
		early = append(early, b...)
	}
	return os.WriteFile(filepath.Join(web, "early.js"), early, 0o644)
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		if d.IsDir() || filepath.Ext(p) == ".go" || d.Name() == "screenshot.png" {
			return nil
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return copyFile(p, target)
	})
}

func copyFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	_, err = io.Copy(dst, src)
	return err
}

func replaceIn(name, old, with string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !strings.Contains(string(b), old) {
		return fmt.Errorf("%s has no %s", name, old)
	}
	return os.WriteFile(name, []byte(strings.ReplaceAll(string(b), old, with)), 0o644)
}

// walkFiles calls f for every file below dir, in lexical order, with its
// slash-separated path below dir.
func walkFiles(dir string, f func(rel, name string) error) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(rel), p)
	})
}
