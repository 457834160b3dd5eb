package format

import (
	"image"
	"image/color"
)

// frame is the common size of pictures: height, width and 1 or 3 planes.
type frame struct{ height, width, planes int }

func (f frame) values() int { return f.height * f.width * f.planes }

// resizer brings pictures to a frame, in whole numbers, so that every machine makes
// the same rows of them. It is no guarantee of anything; each picture is taken by itself.
//
// Every pixel becomes a mean of those under a triangle that is as wide as two pixels
// of the larger grid: bilinear interpolation where a picture grows, and with all pixels
// counted where it shrinks. Proportions are not kept.
type resizer struct {
	frame
	across, down       []taps // of the sizes of the last picture
	fromWidth, fromTop int    // these sizes
	row                []uint8
	middle             []uint8 // pictures of the new width and the old height
}

// taps holds the weights of one pixel's sources. Their sum is 1<<tapBits.
type taps struct {
	first   int
	weights []int32
}

const tapBits = 14

// triangles returns the taps of each of to pixels, which are made from a line of from pixels.
func triangles(from, to int) []taps {
	all := make([]taps, to)
	reach := 2 * max(from, to) // of the triangle, counted in 1/(2·to) of a source pixel
	for i := range all {
		centre := (2*i + 1) * from
		first := max(0, (centre-reach)/(2*to))
		t := taps{first: first}
		sum, weights := 0, []int(nil)
		for j := first; j < from; j++ {
			d := (2*j+1)*to - centre
			if d < 0 {
				d = -d
			} else if d >= reach {
				break
			}
			w := max(0, reach-d)
			weights, sum = append(weights, w), sum+w
		}
		left, largest := int32(1<<tapBits), 0
		for j, w := range weights {
			t.weights = append(t.weights, int32(w<<tapBits/sum))
			left -= t.weights[j]
			if w > weights[largest] {
				largest = j
			}
		}
		t.weights[largest] += left // what rounding down has left over
		all[i] = t
	}
	return all
}

// into writes a picture into dst [planes×height×width], one plane after the other. It
// asks alive at every row of the picture, and ends with its error.
func (r *resizer) into(dst []uint8, img image.Image, alive func() error) error {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	if w != r.fromWidth || h != r.fromTop {
		r.fromWidth, r.fromTop = w, h
		r.across, r.down = triangles(w, r.width), triangles(h, r.height)
	}
	r.row = grown(r.row, w*r.planes)
	r.middle = grown(r.middle, h*r.width*r.planes)
	for y := range h {
		if err := alive(); err != nil {
			return err
		}
		readRow(r.row, img, b.Min.Y+y, r.planes)
		line := r.middle[y*r.width*r.planes:][:r.width*r.planes]
		if w == r.width {
			copy(line, r.row)
			continue
		}
		for x, t := range r.across {
			for p := range r.planes {
				sum, at := int32(1<<(tapBits-1)), t.first*r.planes+p
				for _, weight := range t.weights {
					sum += weight * int32(r.row[at])
					at += r.planes
				}
				line[x*r.planes+p] = uint8(sum >> tapBits)
			}
		}
	}
	for y, t := range r.down {
		for x := range r.width {
			for p := range r.planes {
				sum, at := int32(1<<(tapBits-1)), (t.first*r.width+x)*r.planes+p
				for _, weight := range t.weights {
					sum += weight * int32(r.middle[at])
					at += r.width * r.planes
				}
				dst[(p*r.height+y)*r.width+x] = uint8(sum >> tapBits)
			}
		}
	}
	return nil
}

func grown(b []uint8, n int) []uint8 {
	if cap(b) < n {
		return make([]uint8, n)
	}
	return b[:n]
}

// readRow reads a row of a picture as bytes of red, green and blue, or of grey, pixel
// by pixel. What can be seen through is seen on white.
func readRow(dst []uint8, img image.Image, y, planes int) {
	b := img.Bounds()
	switch m := img.(type) {
	case *image.Gray:
		src := m.Pix[m.PixOffset(b.Min.X, y):][:b.Dx()]
		if planes == 1 {
			copy(dst, src)
			return
		}
		for x, v := range src {
			dst[3*x], dst[3*x+1], dst[3*x+2] = v, v, v
		}
	case *image.YCbCr:
		if planes == 1 {
			copy(dst, m.Y[m.YOffset(b.Min.X, y):][:b.Dx()])
			return
		}
		for x := range b.Dx() {
			at := m.COffset(b.Min.X+x, y)
			dst[3*x], dst[3*x+1], dst[3*x+2] = color.YCbCrToRGB(m.Y[m.YOffset(b.Min.X+x, y)], m.Cb[at], m.Cr[at])
		}
	case *image.RGBA: // of PNG without transparency
		src := m.Pix[m.PixOffset(b.Min.X, y):][:4*b.Dx()]
		for x := 0; len(src) > 0; x, src = x+1, src[4:] {
			putPixel(dst, x, planes, src[0], src[1], src[2])
		}
	case image.RGBA64Image: // as are all others of the standard library; At would allocate every pixel
		for x := range b.Dx() {
			c := m.RGBA64At(b.Min.X+x, y)
			white := 0xffff - c.A
			putPixel(dst, x, planes, uint8((c.R+white)>>8), uint8((c.G+white)>>8), uint8((c.B+white)>>8))
		}
	}
}

func putPixel(dst []uint8, x, planes int, r, g, b uint8) {
	if planes == 1 {
		// The luma of JPEG, as in image/color.
		dst[x] = uint8((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 1<<15) >> 16)
		return
	}
	dst[3*x], dst[3*x+1], dst[3*x+2] = r, g, b
}
