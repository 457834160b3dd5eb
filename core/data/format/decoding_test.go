package format_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestHostilePictures: each is refused by the name of the bound that it passes, before
// more is allocated than little.
func TestHostilePictures(t *testing.T) {
	twice := datatest.JPEGOf(datatest.MadeJPEG{W: 640, H: 480, Parts: datatest.Colours444}, datatest.WholeScan(0), datatest.WholeScan(1), datatest.WholeScan(2), datatest.WholeScan(0))
	for name, tc := range map[string]struct {
		picture []byte
		want    string
	}{
		"2,000 scans":             {datatest.ScansOver(5000, 5000, 2000), "whose 2000 scans go over its pixels 2000 times, over the limit of 32"},
		"33 scans":                {datatest.ScansOver(64, 64, 33), "go over its pixels 33 times, over the limit of 32"},
		"a component twice":       {twice, "go over its pixels 2 times, over the limit of 1"},
		"scans behind a filling":  {bytes.Replace(datatest.ScansOver(64, 64, 60), []byte("\xff\xda"), []byte("\xff\xff\xff\xff\xda"), -1), "over the limit of 32"},
		"scans behind comments":   {bytes.Replace(datatest.ScansOver(64, 64, 60), []byte("\xff\xda"), []byte("\xff\xfe\x00\x04\xff\xd9\xff\xda"), -1), "over the limit of 32"},
		"a JPEG of 65535²":        {datatest.JPEGOf(datatest.MadeJPEG{W: 65535, H: 65535, Parts: datatest.OnlyGrey, Progressive: true}), "65535×65535 pixels, over the limit of 70 million"},
		"coefficients":            {datatest.JPEGOf(datatest.MadeJPEG{W: 8000, H: 8000, Parts: datatest.Colours444, Progressive: true}), "decoding takes 915 MB, over the limit of 400"},
		"a PNG of a column":       {datatest.PNGOf(1, 1<<31-1, 8, 0, 0, 100), "2147483647×1 pixels, over the limit of 65535 a side"},
		"a PNG of 66 gigapixels":  {datatest.PNGOf(1<<31-1, 1<<31-1, 1, 0, 0, 100), "dimension overflow"},
		"a PNG of 16 bits":        {datatest.PNGOf(8000, 8000, 16, 6, 0, 100), "decoding takes 488 MB, over the limit of 400"},
		"a PNG in seven passes":   {datatest.PNGOf(8000, 8000, 16, 2, 1, 100), "decoding takes 732 MB, over the limit of 400"},
		"a PNG of two colours":    {datatest.PNGOf(20000, 20000, 1, 3, 0, 100), "20000×20000 pixels, over the limit of 70 million"},
		"a PNG with more behind":  {datatest.PNGOf(9, 9, 8, 0, 0, 32<<20), "too much pixel data"},
		"a PNG that ends":         {datatest.PNGOf(3000, 3000, 8, 0, 1, 100), "damaged"},
		"a PNG of empty parts":    {datatest.PNGOf(9, 9, 8, 0, 0, 3, bytes.Repeat(datatest.Chunk("IDAT", nil), 1<<18)), "damaged"},
		"a JPEG of fillings":      {append([]byte("\xff\xd8"), bytes.Repeat([]byte{0xff}, 8<<20)...), "damaged"},
		"a JPEG without restarts": {append([]byte("\xff\xd8\xff\xdd\x00\x04\x00\x01"), datatest.JPEG(datatest.Drawn(99, 99, datatest.Plain(color.White)))[2:]...), "damaged"},
	} {
		g := datatest.Grey(9, 9, 3)
		loadtest.Refused(t, name, []source.File{source.Bytes("a.zip", datatest.Zip("a/1.png", tc.picture, "b/1.png", g))}, tc.want)
		loadtest.Refused(t, name+", loose", []source.File{source.Bytes("x/a/1.png", tc.picture), source.Bytes("x/b/1.png", g)}, tc.want)
	}
}

// TestManyPicturesOfNothing: each is within its bounds, and together they take more work
// than their bytes allow, which is found at once.
func TestManyPicturesOfNothing(t *testing.T) {
	scans := slices.Repeat([]datatest.JPEGScan{datatest.Band(1, 63, 0)}, 32)
	for name, picture := range map[string][]byte{
		"scans without means": datatest.JPEGOf(datatest.MadeJPEG{W: 4000, H: 4000, Parts: datatest.OnlyGrey, Progressive: true}, scans...),
		"black":               datatest.PNGOf(4000, 4000, 8, 0, 0, 4000*4001),
	} {
		var parts []any
		for i := range 30 {
			parts = append(parts, fmt.Sprintf("%d/%d.png", i%2, i), picture)
		}
		files := []source.File{source.Bytes("a.zip", datatest.Zip(parts...))}
		for _, free := range []int64{0, 100 << 20} {
			in := source.NewReading(t.Context(), run.CSV{BadRows: "skip"})
			in.Limits.Decoded = free
			if _, err := load.Files(in, files, nil); !errors.Is(err, source.ErrTooMuch) || !strings.Contains(err.Error(), "nearly blank") || strings.Contains(err.Error(), "CSV") {
				t.Errorf("%s: %v", name, err)
			}
			if in.Made > 2*in.Allowed || in.Allowed > free+64<<20 || in.Taken.Decoded != free {
				t.Errorf("%s: %d of %d bytes of work, %d for free", name, in.Made, in.Allowed, in.Taken.Decoded)
			}
		}
	}
}

// TestBlankPages: scans of empty pages, which pack to next to nothing and whose packed forms are
// alike, are read.
func TestBlankPages(t *testing.T) {
	var parts []any
	for i := range 20 {
		page := datatest.PNGOf(2480, 3508, 8, 0, 0, 3508*2481, datatest.Chunk("tEXt", fmt.Appendf(nil, "Page\x00%d", i))) // A4 at 300 dpi
		parts = append(parts, fmt.Sprintf("%d/%d.png", i%2, i), page)
	}
	in := source.NewReading(t.Context(), run.CSV{TestShare: -1})
	file := source.Bytes("scans.zip", datatest.Zip(parts...))
	ds, err := load.Files(in, []source.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ds.Train.N != 20 || in.Made <= source.Allowance(file.Size()) {
		t.Errorf("%d pages; %d bytes were made of %d, which its bytes alone allow", ds.Train.N, in.Made, file.Size())
	}
}

// TestHonestPictures: what phones, cameras and tools make is read, and a limit is met by
// what is one beyond it and by nothing else.
func TestHonestPictures(t *testing.T) {
	for name, tc := range datatest.HonestPictures() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		in := source.NewReading(t.Context(), run.CSV{TestShare: -1})
		ds, err := load.Files(in, []source.File{source.Bytes("a.zip", datatest.Zip("a/1.png", tc.Picture, "b/1.png", tc.Picture))}, nil)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if ds.Train.N != 2 {
			t.Errorf("%s: %d rows", name, ds.Train.N)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
			t.Errorf("%s: %d MB were allocated", name, mb)
		}
	}
}

// TestPhonesPicture: 48 million pixels, as phones have, become a row.
func TestPhonesPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes 48 million pixels")
	}
	m := datatest.MadeJPEG{W: 8064, H: 6048, Parts: datatest.Colours420}
	phone := datatest.JPEGOf(m, datatest.WholeScan(0, 1, 2))
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{Image: run.Image{Size: []int{8}, Transform: run.TransformStretch}}),
		[]source.File{source.Bytes("a.zip", datatest.Zip("a/phone.jpg", phone, "b/1.png", datatest.Grey(8, 8, 1)))})
	if got := ds.Train.U8[:ds.Features]; !slices.Equal(ds.Shape, []int{3, 8, 8}) || slices.ContainsFunc(got, func(v uint8) bool { return v < 127 || v > 129 }) {
		t.Errorf("a row of %v: %v", ds.Shape, got)
	}
}

// TestDecodersEnd: reading ends within a picture when the context does, and says how far it
// is meanwhile, whatever the decoder.
func TestDecodersEnd(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 300, 300))
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(rng.IntN(256)) | 1
	}
	for name, picture := range map[string][]byte{
		"PNG": datatest.PNG(noise), "JPEG": datatest.JPEG(noise), "scans": datatest.ScansOver(2000, 2000, 32),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		in := source.NewReading(ctx, run.CSV{})
		clock := time.Unix(0, 0)
		in.Now = func() time.Time { clock = clock.Add(source.ProgressAfter); return clock }
		reports := 0
		in.Progress = func(source.Progress) {
			if reports++; reports == 20 {
				cancel()
			}
		}
		parts := []source.File{source.Bytes("x/a/1.png", picture), source.Bytes("x/b/1.png", picture)}
		if _, err := load.Files(in, parts, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v after %d reports", name, err, reports)
		}
		if reports != 20 {
			t.Errorf("%s: %d reports", name, reports)
		}
	}
}
