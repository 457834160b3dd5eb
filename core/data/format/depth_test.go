package format

import (
	"errors"
	"image"
	"testing"

	"clipscope/core/data/datatest"
)

// TestStretchingEnds: a picture of 16 bits is stretched in parts between which reading may end.
func TestStretchingEnds(t *testing.T) {
	raw := datatest.PNGOf(8, 8, 16, 0, 0, 0, datatest.Chunk("sBIT", []byte{12}))
	for name, img := range map[string]image.Image{"grey": image.NewGray16(image.Rect(0, 0, 1000, 1000)), "colour": image.NewRGBA64(image.Rect(0, 0, 1000, 1000))} {
		pix, _, _ := deepSamples(img)
		for i := range pix {
			pix[i] = 5 // 1285 is not one of 12 bits that was scaled
		}
		looks, most := 0, 1<<30
		over := errors.New("over")
		alive := func() error {
			if looks++; looks > most {
				return over
			}
			return nil
		}
		var d depth
		if err := d.read(img, raw, alive); err != nil || d.stretched != 1 || looks < 2*len(pix)>>16 {
			t.Fatalf("%s: %d looks, %+v, %v", name, looks, d, err)
		}
		for _, most = range []int{0, looks / 4} {
			looks = 0
			if err := new(depth).read(img, raw, alive); err != over || looks != most+1 {
				t.Errorf("%s: %d looks of %d, %v", name, looks, most, err)
			}
		}
	}
}
