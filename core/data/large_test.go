package data

import (
	"archive/zip"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"clipscope/core/run"
)

func (f onDisk) OpenAt() (ReaderAtCloser, error) { return os.Open(string(f)) }

// TestLargeArchive reads a zip archive of pictures of as many megabytes as
// CLIPSCOPE_ARCHIVE says (500), made on the fly, with flat memory and progress.
// CLIPSCOPE_ARCHIVE_AT keeps the archive there, for a browser.
func TestLargeArchive(t *testing.T) {
	megabytes, err := strconv.Atoi(os.Getenv("CLIPSCOPE_ARCHIVE"))
	if err != nil {
		t.Skip("CLIPSCOPE_ARCHIVE does not say how large")
	}
	name := os.Getenv("CLIPSCOPE_ARCHIVE_AT")
	if name == "" {
		name = filepath.Join(t.TempDir(), "pictures.zip")
	}
	n := writeArchive(t, name, int64(megabytes)<<20)
	var peak uint64
	seen, last := 0, Progress{}
	ds, _, err := Load(t.Context(), []File{onDisk(name)}, nil, run.CSV{}, func(p Progress) {
		if p.Done < last.Done {
			t.Errorf("progress went from %d back to %d", last.Done, p.Done)
		}
		last = p
		if seen++; seen%20 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := uint64(len(ds.Train.U8) + len(ds.Test.U8))
	t.Logf("%d pictures of %d MB: %d MB of rows, %d MB of heap at most, %d reports", n, megabytes, rows>>20, peak>>20, seen)
	if ds.Train.N+ds.Test.N != n || seen < megabytes/2 || last.Done != last.Total {
		t.Errorf("%d of %d rows, %d reports, the last %v", ds.Train.N+ds.Test.N, n, seen, last)
	}
	if peak > rows+100<<20 {
		t.Errorf("%d MB were held for %d MB of rows", peak>>20, rows>>20)
	}
}

// writeArchive writes noisy pictures of two classes until the archive is so large.
func writeArchive(t *testing.T, name string, size int64) (n int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	w := zip.NewWriter(f)
	var some [][]byte // drawing all would take longer than reading them
	for i := range 40 {
		m := image.NewNRGBA(image.Rect(0, 0, 400, 300))
		for y := range 300 {
			for x := range 400 {
				v := uint8(rng.IntN(256))
				m.Set(x, y, color.NRGBA{v, uint8(x + i), uint8(y), 255})
			}
		}
		if i%2 == 0 {
			some = append(some, asJPEG(m))
		} else {
			some = append(some, asPNG(m))
		}
	}
	for written := int64(0); written < size; n++ {
		b := some[n%len(some)]
		end := []string{"jpg", "png"}[n%2]
		e, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("set/%d/%d.%s", n/2%2, n, end), Method: zip.Store})
		if err == nil {
			_, err = e.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		written += int64(len(b))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}
