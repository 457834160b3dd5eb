package format

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestTriangles: weights come to one, are of the triangle, and mirror each other.
func TestTriangles(t *testing.T) {
	for from := 1; from < 40; from++ {
		for to := 1; to < 40; to++ {
			all := triangles(from, to)
			for i, tap := range all {
				sum := int32(0)
				for _, w := range tap.weights {
					if sum += w; w < 0 {
						t.Fatalf("%d → %d, pixel %d: weights %v", from, to, i, tap.weights)
					}
				}
				if sum != 1<<tapBits || tap.first < 0 || tap.first+len(tap.weights) > from {
					t.Fatalf("%d → %d, pixel %d: %d from %d, which come to %d", from, to, i, len(tap.weights), tap.first, sum)
				}
			}
		}
	}
	// Half as many: the triangle over four pixels is 1 3 3 1, and 3 3 1 or so at the ends.
	if got := triangles(8, 4)[1]; got.first != 1 || !slices.Equal(got.weights, []int32{2048, 6144, 6144, 2048}) {
		t.Errorf("8 → 4: %v", got)
	}
	// Twice as many: a quarter of the neighbour.
	if got := triangles(4, 8)[2]; got.first != 0 || !slices.Equal(got.weights, []int32{4096, 12288}) {
		t.Errorf("4 → 8: %v", got)
	}
}

// TestResize: one shade stays that shade, the mean stays the mean, and what is not
// resized is as it was.
func TestResize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := image.NewGray(image.Rect(0, 0, 61, 47))
	sum := 0
	for i := range m.Pix {
		m.Pix[i] = uint8(rng.IntN(256))
		sum += int(m.Pix[i])
	}
	same := make([]uint8, len(m.Pix))
	(&resizer{frame: frame{47, 61, 1}}).into(same, m, 1, t.Context().Err)
	if !bytes.Equal(same, m.Pix) {
		t.Error("a picture of the size wanted is changed")
	}
	small := make([]uint8, 7*5)
	(&resizer{frame: frame{7, 5, 1}}).into(small, m, 1, t.Context().Err)
	mean := 0
	for _, v := range small {
		mean += int(v)
	}
	if a, b := float64(sum)/float64(len(m.Pix)), float64(mean)/float64(len(small)); a-b > 4 || b-a > 4 {
		t.Errorf("a mean of %.1f has become %.1f", a, b)
	}
	half := datatest.Drawn(30, 40, datatest.Plain(color.NRGBA{0, 0, 0, 128}))
	for _, size := range []frame{{30, 40, 3}, {3, 90, 3}, {77, 2, 1}} {
		got := make([]uint8, size.values())
		(&resizer{frame: size}).into(got, half, 1, t.Context().Err)
		if !bytes.Equal(got, bytes.Repeat([]uint8{127}, len(got))) {
			t.Errorf("half of black on white at %v: %v", size, got[:6])
		}
	}
}

// TestKindsOfPictures: every form that the decoders make of a file is read, alike to a
// step or two.
func TestKindsOfPictures(t *testing.T) {
	at := func(x, y int) color.Color { return color.NRGBA{uint8(8 * x), uint8(8 * y), 128, 255} }
	truth := datatest.Drawn(32, 32, at)
	want := make([]uint8, 3*32*32)
	(&resizer{frame: frame{32, 32, 3}}).into(want, truth, 1, t.Context().Err)
	deep, wide := image.NewRGBA64(truth.Bounds()), image.NewPaletted(truth.Bounds(), nil)
	for y := range 32 {
		for x := range 32 {
			deep.Set(x, y, at(x, y))
		}
	}
	wide.Palette = color.Palette{at(0, 0), at(31, 31)}
	for name, b := range map[string][]byte{"PNG": datatest.PNG(truth), "PNG of 16 bits": datatest.PNG(deep), "JPEG": datatest.JPEG(truth)} {
		g := newGallery(source.NewReading(t.Context(), run.CSV{}), []string{"a"})
		d, err := newPictureDecoder(name, b, &g.Limits)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]uint8, len(want))
		(&resizer{frame: frame{32, 32, 3}}).into(got, m, 1, t.Context().Err)
		for i := range got {
			if d := int(got[i]) - int(want[i]); d > 14 || d < -14 {
				t.Errorf("%s: value %d is %d, not %d", name, i, got[i], want[i])
				break
			}
		}
	}
	b := datatest.PNG(wide)
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	one := make([]uint8, 32*32)
	(&resizer{frame: frame{32, 32, 1}}).into(one, m, 1, t.Context().Err)
	if one[0] != 15 { // 0.114 × 128
		t.Errorf("blue of a palette is of shade %d", one[0])
	}
}
