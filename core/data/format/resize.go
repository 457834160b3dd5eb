package format

import (
	"image"
	"image/color"

	"clipscope/core/run"
)

// frame is the common size of pictures: height, width and 1 or 3 planes.
type frame struct{ height, width, planes int }

func (f frame) values() int { return f.height * f.width * f.planes }

// resizer brings pictures to a frame, in whole numbers, so that every machine makes
// the same rows of them. It is no guarantee of anything; each picture is taken by itself.
//
// Every pixel becomes a mean of those under a triangle that is as wide as two pixels
// of the larger grid: bilinear interpolation where a picture grows, and with all pixels
// counted where it shrinks. The transform says what becomes of proportions.
type resizer struct {
	frame
	transform        string
	across, down     []taps      // of the sizes of the last picture
	fromSize, toSize image.Point // these sizes
	row              []uint8
	middle           []uint8 // pictures of the new width and the old height
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

// placed returns the part of an upright picture that is shown, and the part of the frame that shows it.
// Lengths are rounded to the nearest pixel, halves up, and margins down.
func (r *resizer) placed(size image.Point) (from, to image.Rectangle) {
	from, to = image.Rectangle{Max: size}, image.Rect(0, 0, r.width, r.height)
	wide, high := int64(size.X)*int64(r.height), int64(size.Y)*int64(r.width) // wider than the frame where wide > high
	share := func(of, a, b int64) int { return int(max(1, (2*of*a+b)/(2*b))) }
	middle := func(within *image.Rectangle, w, h int) {
		x, y := (within.Dx()-w)/2, (within.Dy()-h)/2
		*within = image.Rect(x, y, x+w, y+h)
	}
	switch {
	case wide == high:
	case r.transform == run.TransformFit && wide > high:
		middle(&to, r.width, share(int64(r.width), int64(size.Y), int64(size.X)))
	case r.transform == run.TransformFit:
		middle(&to, share(int64(r.height), int64(size.X), int64(size.Y)), r.height)
	case r.transform == run.TransformCrop && wide > high:
		middle(&from, share(int64(size.Y), int64(r.width), int64(r.height)), size.Y)
	case r.transform == run.TransformCrop:
		middle(&from, size.X, share(int64(size.X), int64(r.height), int64(r.width)))
	}
	return from, to
}

// into writes a picture, turned upright, into dst [planes×height×width], one plane after the other; what
// the picture does not cover is 0. It asks alive at every row of the picture, and ends with its error.
func (r *resizer) into(dst []uint8, img image.Image, turn turn, alive func() error) error {
	b := img.Bounds()
	size := turn.upright(b.Size())
	from, to := r.placed(size)
	from, shown := turn.stored(from, size).Add(b.Min), turn.upright(to.Size())
	if from.Size() != r.fromSize || shown != r.toSize {
		r.fromSize, r.toSize = from.Size(), shown
		r.across, r.down = triangles(from.Dx(), shown.X), triangles(from.Dy(), shown.Y)
	}
	r.row = grown(r.row, b.Dx()*r.planes)
	r.middle = grown(r.middle, from.Dy()*shown.X*r.planes)
	part := r.row[(from.Min.X-b.Min.X)*r.planes:][:from.Dx()*r.planes]
	for y := range from.Dy() {
		if err := alive(); err != nil {
			return err
		}
		readRow(r.row, img, from.Min.Y+y, r.planes)
		line := r.middle[y*shown.X*r.planes:][:shown.X*r.planes]
		if from.Dx() == shown.X {
			copy(line, part)
			continue
		}
		for x, t := range r.across {
			for p := range r.planes {
				sum, at := int32(1<<(tapBits-1)), t.first*r.planes+p
				for _, weight := range t.weights {
					sum += weight * int32(part[at])
					at += r.planes
				}
				line[x*r.planes+p] = uint8(sum >> tapBits)
			}
		}
	}
	if to.Size() != (image.Point{r.width, r.height}) {
		clear(dst)
	}
	for y, t := range r.down {
		for x := range shown.X {
			at := turn.place(image.Pt(x, y), to.Size()).Add(to.Min)
			for p := range r.planes {
				sum, from := int32(1<<(tapBits-1)), (t.first*shown.X+x)*r.planes+p
				for _, weight := range t.weights {
					sum += weight * int32(r.middle[from])
					from += shown.X * r.planes
				}
				dst[(p*r.height+at.Y)*r.width+at.X] = uint8(sum >> tapBits)
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
