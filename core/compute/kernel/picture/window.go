// Package picture defines the kernels of layers whose rows are pictures. The values of a
// position, its channels, stand one after the other, positions row by row.
//
// Each kernel treats each picture on its own and in the same way wherever it
// stands among the others.
package picture

import (
	"fmt"

	"clipscope/core/compute"
)

// Window moves High×Wide positions over pictures of Height×Width: Stride
// apart in both directions, from Pad positions outside. What lies outside is 0.
type Window struct {
	Height, Width, Channels int
	High, Wide, Stride, Pad int
}

// Out returns the number of places that the window takes, down and across; 0 where it does not fit.
func (w Window) Out() (down, across int) {
	return w.places(w.Height, w.High), w.places(w.Width, w.Wide)
}

func (w Window) places(n, size int) int {
	if n += 2*w.Pad - size; n >= 0 {
		return n/w.Stride + 1
	}
	return 0
}

// In is the number of values of a picture, Patch of those in the window.
func (w Window) In() int    { return w.Height * w.Width * w.Channels }
func (w Window) Patch() int { return w.High * w.Wide * w.Channels }

// Places is the number of places in all.
func (w Window) Places() int {
	down, across := w.Out()
	return down * across
}

// Overlap is the most places whose windows cover one position.
func (w Window) Overlap() int {
	down, across := w.Out()
	return min(down, (w.High+w.Stride-1)/w.Stride) * min(across, (w.Wide+w.Stride-1)/w.Stride)
}

// args are a kernel's arguments for m pictures, with one more size.
func (w Window) args(m, more int, buf ...compute.Buffer) compute.Args {
	if w.Stride < 1 || w.Pad < 0 || w.High < 1 || w.Wide < 1 {
		panic(fmt.Sprintf("picture: no window: %+v", w))
	}
	a := compute.Args{
		N: [5]int{m, w.Height, w.Width, w.Channels, more},
		F: [6]float64{float64(w.High), float64(w.Wide), float64(w.Stride), float64(w.Pad)},
	}
	copy(a.Buf[:], buf)
	return a
}

func windowOf(o *compute.Operands) Window {
	return Window{o.N[1], o.N[2], o.N[3], int(o.F[0]), int(o.F[1]), int(o.F[2]), int(o.F[3])}
}

// each calls f for every place of the window and every value in it, with where the
// value stands in the picture, -1 outside, and in the patch.
func (w Window) each(f func(place, at, inPatch int)) {
	down, across := w.Out()
	for p := range down * across {
		for a := range w.High {
			for b := range w.Wide {
				y, x := p/across*w.Stride+a-w.Pad, p%across*w.Stride+b-w.Pad
				at := -1
				if y >= 0 && y < w.Height && x >= 0 && x < w.Width {
					at = (y*w.Width + x) * w.Channels
				}
				for c := range w.Channels {
					if at < 0 {
						f(p, -1, (a*w.Wide+b)*w.Channels+c)
					} else {
						f(p, at+c, (a*w.Wide+b)*w.Channels+c)
					}
				}
			}
		}
	}
}
