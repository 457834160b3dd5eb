package builtin

import (
	"math"
	"math/rand/v2"
	"strconv"

	"clipscope/core/data"
)

const (
	side   = 28
	pixels = side * side
)

// Digits draws n training and test digits of 28×28 bytes. Each image takes one
// way to write its digit, moves every point of the pen's path a little, bends
// the plane, slants, turns, stretches and shifts it, and draws the path with a
// pen of random width and ink. Classes come in random order, about equally often.
func Digits(seed uint64, n, test int) *data.Dataset {
	return digits("digits", seed, n, test, func(rng *rand.Rand) int { return rng.IntN(10) })
}

// RareDigit is the class that few of [RareDigits] have.
const RareDigit = 8

// RareDigits returns digits of which three in a hundred are eights. The class is so small that a mean
// over all rows hardly shows how well it is learned.
func RareDigits(seed uint64, n, test int) *data.Dataset {
	const share = 0.03
	return digits("digits-rare", seed, n, test, func(rng *rand.Rand) int {
		if rng.Float64() < share {
			return RareDigit
		}
		return (RareDigit + 1 + rng.IntN(9)) % 10
	})
}

func digits(name string, seed uint64, n, test int, class func(*rand.Rand) int) *data.Dataset {
	ds := &data.Dataset{Name: name, Task: data.Classification, Features: pixels, Shape: []int{side, side}, Outputs: 10,
		Bounds: data.ByteBounds(pixels)}
	for c := range 10 {
		ds.Classes = append(ds.Classes, strconv.Itoa(c))
	}
	ds.Train = drawDigits(newRand(seed, name+" train"), n, class)
	ds.Test = drawDigits(newRand(seed, name+" test"), test, class)
	return ds
}

func drawDigits(rng *rand.Rand, n int, class func(*rand.Rand) int) data.Split {
	sp := data.Split{N: n, U8: make([]uint8, n*pixels), Y: make([]float32, n)}
	p := pen{rng: rng}
	for i := range p.near {
		p.near[i] = math.Inf(1)
	}
	ways := glyphs()
	for i := range n {
		c := class(rng)
		sp.Y[i] = float32(c)
		p.draw(ways[c][rng.IntN(len(ways[c]))], sp.U8[i*pixels:(i+1)*pixels])
	}
	return sp
}

// pen draws one glyph after the other and keeps its buffers.
type pen struct {
	rng  *rand.Rand
	near [pixels]float64 // the square of the distance from a pixel to the path, where line has looked; +Inf between images
	path []point

	left, right, top, bottom int // of the pixels that line has looked at
}

// hand maps the strokes of one image: from the unit box to pixels.
type hand struct {
	a, b, c, d float64 // pixels = [a b; c d]·(p − ½) + centre
	cx, cy     float64
	bend       [4]wave // two for x, two for y
	radius     float64 // of the pen, in pixels
	soft       float64 // width of the edge, in pixels
	dark       float64 // ink at the middle of a stroke
}

// reach returns the distance from the path up to which there is ink.
func (h *hand) reach() float64 { return h.radius + h.soft/2 }

// wave bends the plane smoothly, so that strokes that meet still meet.
type wave struct{ kx, ky, phase, size float64 }

func (w wave) at(p point) float64 { return w.size * math.Sin(w.kx*p.x+w.ky*p.y+w.phase) }

func newHand(rng *rand.Rand) hand {
	turn := 0.13 * about(rng)
	slant := 0.08 + 0.17*about(rng)
	height := 19 * (1 + 0.08*about(rng))
	width := height * (0.88 + 0.12*about(rng))
	sin, cos := math.Sincos(turn)
	h := hand{
		a: cos * width, b: -cos*slant*height - sin*height,
		c: sin * width, d: -sin*slant*height + cos*height,
		cx: side/2 + 0.9*about(rng), cy: side/2 + 0.9*about(rng),
		radius: 0.75 + 0.75*rng.Float64(), soft: 0.8 + 0.6*rng.Float64(), dark: 0.78 + 0.22*rng.Float64(),
	}
	for i := range h.bend {
		h.bend[i] = wave{kx: 3 * about(rng), ky: 3 * about(rng), phase: 2 * math.Pi * rng.Float64(), size: 0.045}
	}
	return h
}

// about draws a normal number and clamps it to ±2, so that no stroke leaves the page.
func about(rng *rand.Rand) float64 { return min(max(rng.NormFloat64(), -2), 2) }

func (h *hand) place(p point) point {
	x := p.x + h.bend[0].at(p) + h.bend[1].at(p) - 0.5
	y := p.y + h.bend[2].at(p) + h.bend[3].at(p) - 0.5
	return point{h.a*x + h.b*y + h.cx, h.c*x + h.d*y + h.cy}
}

// draw draws g. Where most of the work is, here and below, it compares: to WebAssembly min
// and max are calls.
func (p *pen) draw(g glyph, dst []uint8) {
	h := newHand(p.rng)
	reach := h.reach()
	most := reach * reach
	p.left, p.right, p.top, p.bottom = side, 0, side, 0
	for _, s := range g {
		p.trace(&h, s)
		for i := 1; i < len(p.path); i++ {
			p.line(reach, p.path[i-1], p.path[i])
		}
	}
	dark := float32(h.dark)
	for y := p.top; y < p.bottom; y++ {
		ink := dst[y*side+p.left : y*side+p.right]
		for i, sq := range p.near[y*side+p.left : y*side+p.right] {
			p.near[y*side+p.left+i] = math.Inf(1)
			if sq >= most {
				continue
			}
			v := float32((reach - math.Sqrt(sq)) / h.soft)
			if v <= 0 {
				continue
			}
			if v > 1 {
				v = 1
			}
			// Paper is rough: ink varies from pixel to pixel.
			v *= dark * (0.88 + 0.24*p.rng.Float32())
			if v *= 255; v > 255 {
				v = 255
			}
			ink[i] = uint8(v)
		}
	}
}

// trace puts the points of s as this hand places them on the path, with the
// curve between them (Catmull and Rom's spline).
func (p *pen) trace(h *hand, s stroke) {
	const wobble, steps = 0.016, 4
	var at [16]point // more than any stroke has
	q := at[:len(s)]
	for i, c := range s {
		if i > 0 && s[i-1] == c {
			q[i] = q[i-1]
			continue
		}
		q[i] = h.place(point{c.x + wobble*p.rng.NormFloat64(), c.y + wobble*p.rng.NormFloat64()})
	}
	p.path = append(p.path[:0], q[0])
	for i := 1; i < len(q); i++ {
		before, after := q[max(i-2, 0)], q[min(i+1, len(q)-1)]
		if q[i] == q[i-1] {
			continue
		}
		for k := 1; k <= steps; k++ {
			p.path = append(p.path, spline(before, q[i-1], q[i], after, float64(k)/steps))
		}
	}
}

// spline returns the point at t of the curve from b to c; a comes before, d after.
func spline(a, b, c, d point, t float64) point {
	f := func(a, b, c, d float64) float64 {
		return b + 0.5*t*(c-a+t*(2*a-5*b+4*c-d+t*(3*(b-c)+d-a)))
	}
	return point{f(a.x, b.x, c.x, d.x), f(a.y, b.y, c.y, d.y)}
}

// line comes near the pixels within reach of the segment from a to b, and looks at few
// others.
func (p *pen) line(reach float64, a, b point) {
	dx, dy := b.x-a.x, b.y-a.y
	left, right, top, bottom := a.x, b.x, a.y, b.y
	if dx < 0 {
		left, right = right, left
	}
	if dy < 0 {
		top, bottom = bottom, top
	}
	x0, x1 := within(left-reach), within(right+reach+1)
	y0, y1 := within(top-reach), within(bottom+reach+1)
	if x0 < p.left {
		p.left = x0
	}
	if x1 > p.right {
		p.right = x1
	}
	if y0 < p.top {
		p.top = y0
	}
	if y1 > p.bottom {
		p.bottom = y1
	}
	inv := 1 / max(dx*dx+dy*dy, 1e-12)
	for y := y0; y < y1; y++ {
		row := p.near[y*side+x0 : y*side+x1]
		x, py := float64(x0)+0.5, float64(y)+0.5-a.y
		for i, near := range row {
			px := x - a.x
			x++
			t := (px*dx + py*dy) * inv
			if t < 0 {
				t = 0
			} else if t > 1 {
				t = 1
			}
			ex, ey := px-t*dx, py-t*dy
			if sq := ex*ex + ey*ey; sq < near {
				row[i] = sq
			}
		}
	}
}

// within rounds a coordinate down to a pixel of the image.
func within(v float64) int {
	if v < 0 {
		return 0
	}
	if v > side {
		return side
	}
	return int(v)
}
