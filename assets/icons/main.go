// Command icons draws the page's icons. Run it in assets/ after a change.
//
// The picture is the project in one figure: a bell of gradient norms, cut at a
// threshold.
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"math"
	"os"
)

var (
	ground = color.NRGBA{0x0f, 0x12, 0x15, 0xff}
	curve  = color.NRGBA{0x5a, 0xb6, 0xea, 0xff} // released
	cut    = color.NRGBA{0xea, 0xa6, 0x1c, 0xff} // diagnostic
	rule   = color.NRGBA{0xe6, 0xe9, 0xec, 0xff}
)

func main() {
	log.SetFlags(0)
	files := []struct {
		name   string
		size   int
		inset  float64 // share of the side that is left empty on each side
		radius float64 // of the corners, as a share of the side
	}{
		{"icon-192.png", 192, 0.14, 0.18},
		{"icon-512.png", 512, 0.14, 0.18},
		{"icon-maskable-512.png", 512, 0.24, 0},
	}
	for _, f := range files {
		if err := write(f.name, draw(f.size, f.inset, f.radius)); err != nil {
			log.Fatal("icons: ", err)
		}
	}
	if err := os.WriteFile("icon.svg", []byte(svg()), 0o644); err != nil {
		log.Fatal("icons: ", err)
	}
}

func write(name string, m image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, m); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.Close()
}

// bell is the height, 0 to 1, of the curve at x from 0 to 1, and threshold
// where it is cut.
func bell(x float64) float64 { return math.Exp(-math.Pow((x-0.4)/0.22, 2)) }

const threshold = 0.58

// samples is the side of the grid that each pixel is averaged over.
const samples = 4

func draw(size int, inset, radius float64) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, size, size))
	for py := range size {
		for px := range size {
			m.SetNRGBA(px, py, average(px, py, size, inset, radius))
		}
	}
	return byNumber(m)
}

// byNumber returns the picture with its colours numbered, which is shorter in a file, where they are
// no more than a byte can number.
func byNumber(m *image.NRGBA) image.Image {
	numbered, seen := image.NewPaletted(m.Rect, nil), map[color.NRGBA]uint8{}
	for i := range numbered.Pix {
		c := m.NRGBAAt(i%m.Rect.Dx(), i/m.Rect.Dx())
		k, ok := seen[c]
		if !ok {
			if len(seen) == 256 {
				return m
			}
			k = uint8(len(seen))
			seen[c], numbered.Palette = k, append(numbered.Palette, c)
		}
		numbered.Pix[i] = k
	}
	return numbered
}

func average(px, py, size int, inset, radius float64) color.NRGBA {
	var r, g, b, a float64
	for i := range samples * samples {
		x := (float64(px) + (float64(i%samples)+0.5)/samples) / float64(size)
		y := (float64(py) + (float64(i/samples)+0.5)/samples) / float64(size)
		c := at(x, y, inset, radius)
		w := float64(c.A) / 255
		r, g, b, a = r+w*float64(c.R), g+w*float64(c.G), b+w*float64(c.B), a+w
	}
	if a == 0 {
		return color.NRGBA{}
	}
	return color.NRGBA{uint8(r/a + 0.5), uint8(g/a + 0.5), uint8(b/a + 0.5), uint8(255*a/(samples*samples) + 0.5)}
}

// at is the colour at a point of the unit square.
func at(x, y, inset, radius float64) color.NRGBA {
	if outside(x, y, radius) {
		return color.NRGBA{}
	}
	u, v := (x-inset)/(1-2*inset), (1-inset-y)/(1-2*inset)
	const stroke = 0.035
	switch {
	case math.Abs(u-threshold) < stroke/2 && v > 0 && v < 1.02, math.Abs(v) < stroke/2 && u > 0 && u < 1:
		return rule
	case u > 0 && u < threshold && v > 0 && v < 0.9*bell(u):
		return curve
	case u > threshold && u < 1 && v > 0 && v < 0.9*bell(u):
		return cut
	default:
		return ground
	}
}

func outside(x, y, r float64) bool {
	dx, dy := math.Max(r-math.Min(x, 1-x), 0), math.Max(r-math.Min(y, 1-y), 0)
	return r > 0 && dx*dx+dy*dy > r*r
}

// svg is the same picture as paths.
func svg() string {
	area := func(from, to float64) string {
		s := fmt.Sprintf("M%.1f 86", place(from))
		for i := range 41 {
			x := from + (to-from)*float64(i)/40
			s += fmt.Sprintf("L%.1f %.1f", place(x), 86-72*0.9*bell(x))
		}
		return s + fmt.Sprintf("L%.1f 86Z", place(to))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100" rx="18" fill="%s"/><path d="%s" fill="%s"/><path d="%s" fill="%s"/><path d="M%.1f 12V86M14 86H86" stroke="%s" stroke-width="2.500" fill="none"/></svg>
`, hex(ground), area(0, threshold), hex(curve), area(threshold, 1), hex(cut), place(threshold), hex(rule))
}

func place(x float64) float64 { return 14 + 72*x }

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
