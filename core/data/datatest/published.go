package datatest

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// OnDisk is a File of the file system.
type OnDisk string

// Name returns the name without folders.
func (f OnDisk) Name() string { return filepath.Base(string(f)) }

// Open opens the file.
func (f OnDisk) Open() (io.ReadCloser, error) { return os.Open(string(f)) }

// Size returns the number of bytes; -1 where there is no such file.
func (f OnDisk) Size() int64 {
	info, err := os.Stat(string(f))
	if err != nil {
		return -1
	}
	return info.Size()
}

// OpenAt opens the file for reading at any place.
func (f OnDisk) OpenAt() (source.ReaderAtCloser, error) { return os.Open(string(f)) }

// Shared returns files of the optional folder of public data sets beside the
// repository, and skips the test where it is not; every format is also tested
// on generated files.
func Shared(t *testing.T, names ...string) []source.File {
	t.Helper()
	root := os.Getenv("CLIPSCOPE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared") // of tests below core/data
	}
	var files []source.File
	for _, name := range names {
		path := filepath.Join(root, "data", filepath.FromSlash(name))
		if _, err := os.Stat(path); err != nil {
			t.Skipf("no %s: not tested on the published files", name)
		}
		files = append(files, OnDisk(path))
	}
	t.Logf("tested on the published files %v", names)
	return files
}

// Labels returns the first n targets as whole numbers.
func Labels(y []float32, n int) []int {
	var l []int
	for _, v := range y[:n] {
		l = append(l, int(v))
	}
	return l
}

// Counts returns the number of rows of each class.
func Counts(ds *data.Dataset, sp data.Split) []int {
	c := make([]int, ds.Outputs)
	for _, y := range sp.Y {
		c[int(y)]++
	}
	return c
}
