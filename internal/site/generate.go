//go:build !js

// Package site writes the static site: its pages, guides, integrity and releases.
package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// release is the version of the scripting API and the page.
const release = "0.3.0"

// Site is a static site to generate.
type Site struct {
	Source  string // folder with web/ and assets/
	Wasm    string // folder with the built .wasm files and scripts, and the terms of what they are made of
	Out     string
	Prefix  string   // "" or "/repo"
	Stories bool     // with /stories, which is for developing
	Links   bool     // for a host that keeps short links and has rooms
	Frames  []string // origins whose pages may show it in a frame, as [headers.ParseFrames] gives them

	guides []guide // what docs/ has, once it is rendered
}

// Generate writes the site, replacing what was there. It is built beside its
// place and moved, so that a server of the old one never sees half a site.
func (s Site) Generate() error {
	s.Prefix = CleanPrefix(s.Prefix)
	if err := replaceable(s.Out, "app-worker.js"); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	next := s.Out + ".next"
	if err := errors.Join(os.RemoveAll(next), os.MkdirAll(filepath.Join(next, "web"), 0o755)); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	var err error
	if s.guides, err = s.renderGuides(); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	for _, step := range []func(string) error{s.copyFiles, s.writePages, s.finishPages, s.writeGuides, s.fixManifest, s.writeHostFiles, s.writeVerify, s.seal} {
		if err := step(next); err != nil {
			return fmt.Errorf("generate: %w", err)
		}
	}
	if err := errors.Join(os.RemoveAll(s.Out), os.Rename(next, s.Out)); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	return nil
}

// replaceable is nil for a folder that is not there or empty, and for one with a file that
// tells what was written before: whatever else it has is somebody's.
func replaceable(folder, mark string) error {
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(files) == 0 {
		return nil
	}
	if _, missing := os.Stat(filepath.Join(folder, mark)); err == nil && missing != nil {
		err = fmt.Errorf("the folder %s has other files, which would be deleted: name a new one, or empty it", folder)
	}
	return err
}

func CleanPrefix(p string) string {
	p = strings.Trim(p, "/")
	if p == "" {
		return ""
	}
	return "/" + p
}
