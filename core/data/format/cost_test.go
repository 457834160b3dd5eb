package format

import (
	"fmt"
	"image"
	"image/color"
	"runtime"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/source"
)

// TestCostIsTheDecoders: no decoder reads more scans than are counted, whatever stands
// between them.
func TestCostIsTheDecoders(t *testing.T) {
	for _, scans := range []int{1, 2, 7, 31} {
		b := datatest.ScansOver(80, 40, scans)
		c := image.Config{Width: 80, Height: 40, ColorModel: color.GrayModel}
		cost := costOfJPEG(c, b)
		if cost.scans != scans || cost.blocks != 50 || cost.visited != int64(50*scans) || cost.memory != 50*64*5 || !cost.progressive {
			t.Errorf("%d scans: %+v", scans, cost)
		}
	}
	for parts, want := range map[string]pictureCost{
		"420": {memory: 6 * 64, made: 48, blocks: 6, scans: 1, visited: 6}, "444": {memory: 3 * 2 * 2 * 64, made: 96, blocks: 12, scans: 1, visited: 12},
	} {
		of := datatest.Colours420
		if parts == "444" {
			of = datatest.Colours444
		}
		b := datatest.JPEGOf(datatest.MadeJPEG{W: 16, H: 16, Parts: of}, datatest.WholeScan(0, 1, 2))
		if cost := costOfJPEG(image.Config{Width: 16, Height: 16, ColorModel: color.YCbCrModel}, b); cost != want {
			t.Errorf("%s: %+v, want %+v", parts, cost, want)
		}
	}
}

func FuzzPictureCost(f *testing.F) {
	for _, b := range [][]byte{datatest.ScansOver(64, 64, 3), datatest.JPEGOf(datatest.MadeJPEG{W: 16, H: 16, Parts: datatest.Colours420}, datatest.WholeScan(0, 1, 2)), datatest.PNGOf(9, 9, 8, 0, 1, 90), datatest.PNGOf(9, 9, 1, 3, 0, 27), datatest.JPEG(datatest.Drawn(9, 9, datatest.Plain(color.White)))} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l := source.DefaultLimits()
		l.Pixels, l.Decoding = 1<<16, 1<<20
		d, err := newPictureDecoder("x", b, &l)
		if err != nil {
			if strings.Contains(err.Error(), "%!") {
				t.Fatal(err)
			}
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := d.decode(&feed{b, t.Context().Err})
		runtime.ReadMemStats(&after)
		if err == nil && (m.Bounds().Dx() != d.Width || m.Bounds().Dy() != d.Height) {
			t.Fatal(fmt.Sprint(m.Bounds(), d.Config))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(2*l.Decoding+16<<20) {
			t.Fatalf("%d bytes were allocated", n)
		}
	})
}

// TestHonestPicturesHaveTheirSize: the header of every picture that is to be read says its size.
func TestHonestPicturesHaveTheirSize(t *testing.T) {
	most := source.DefaultLimits()
	for name, p := range datatest.HonestPictures() {
		d, err := newPictureDecoder(name, p.Picture, &most)
		if err != nil || d.Width != p.Width || d.Height != p.Height {
			t.Errorf("%s: %d×%d, %v", name, d.Width, d.Height, err)
		}
	}
}
