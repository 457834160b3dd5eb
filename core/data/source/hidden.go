package source

import (
	"path"
	"slices"
	"strings"

	"clipscope/core/data"
)

// hidden counts files that lie in hidden folders, where programs keep copies: they are no rows, and
// the folders are no classes.
type hidden struct {
	files int
	first string // the first such folder
}

// has reports whether a path leads through a hidden folder, and counts it then. What macOS writes
// into an archive beside the files is nobody's, and is not counted.
func (h *hidden) has(name string) bool {
	for rest := name; ; {
		folder, below, ok := strings.Cut(rest, "/")
		switch {
		case !ok:
			return false
		case folder == "__MACOSX":
			return true
		case hides(folder):
			if h.files++; h.files == 1 {
				h.first = strings.Clone(folder)
			}
			return true
		}
		rest = below
	}
}

// warn says what was left out of a file.
func (h *hidden) warn(in *Reading, name string) {
	if h.files > 0 {
		in.Warn("%s: %d files in hidden folders (the first: %s) are left out.", data.Shorten(name), h.files, data.Quote(strings.ToValidUTF8(h.first, "�")))
	}
}

// stores lists, in small letters, the folders in which systems keep copies and no person files, beside
// those whose names begin with a point: of Synology's and QNAP's network drives, of Windows, and of Python.
var stores = []string{"@eadir", "#recycle", "@recycle", "@recently-snapshot", "@__thumb", "$recycle.bin", "system volume information", "lost+found", "__pycache__"}

// hides reports whether a folder of that name is hidden.
func hides(folder string) bool {
	if folder == "." || folder == ".." {
		return false
	}
	return strings.HasPrefix(folder, ".") || slices.Contains(stores, strings.ToLower(folder))
}

// junk reports whether a system left the file of that name there, and no person.
func junk(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, ".") || strings.EqualFold(base, "thumbs.db") || strings.EqualFold(base, "desktop.ini")
}
