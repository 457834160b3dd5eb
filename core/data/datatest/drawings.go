package datatest

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
)

// Drawn returns a picture of h×w pixels, whose colours at returns.
func Drawn(h, w int, at func(x, y int) color.Color) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, at(x, y))
		}
	}
	return m
}

// Plain paints one colour.
func Plain(c color.Color) func(x, y int) color.Color { return func(int, int) color.Color { return c } }

// PNG encodes a picture.
func PNG(m image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// JPEG encodes a picture.
func JPEG(m image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Grey returns a picture of h×w pixels in one shade of grey.
func Grey(h, w int, v uint8) []byte {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = v
	}
	return PNG(m)
}

// named is a File with the path of a folder.
