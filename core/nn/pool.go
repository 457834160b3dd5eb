package nn

import (
	"math"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
)

func poolForm(name string, how picture.Pooling) form {
	return form{
		usage: name + ":SIZE, with :sSTRIDE where windows overlap", least: 1, most: 1, letters: "s",
		read: func(a arguments) layerSpec { return poolSpec{how, a.numbers[0], a.option('s', a.numbers[0])} },
	}
}

// globalForm is the mean over all positions.
var globalForm = form{usage: "globalpool", read: func(arguments) layerSpec { return poolSpec{picture.Mean, 0, 1} }}

// poolSpec is pooling as it is written in a list of layers. A size of 0 is the whole picture.
type poolSpec struct {
	how          picture.Pooling
	size, stride int
}

func (p poolSpec) window(in Shape) picture.Window {
	w := picture.Window{Height: in.Height, Width: in.Width, Channels: in.Channels, High: p.size, Wide: p.size, Stride: p.stride}
	if p.size == 0 {
		w.High, w.Wide = in.Height, in.Width
	}
	return w
}

func (p poolSpec) outline(in Shape) (Outline, error) {
	if !in.IsPicture() {
		return Outline{}, errNoPicture(in)
	}
	w := p.window(in)
	down, across := w.Out()
	if err := fits(w, 0, down, across); err != nil {
		return Outline{}, err
	}
	out := Shape{down, across, in.Channels}
	return Outline{Out: out, Floats: int64(out.Len()) + int64(in.Len()), Back: int64(in.Len())}, nil
}

func (poolSpec) lipschitz() bool { return true }

func (p poolSpec) layer(b *builder, in Shape, _ bool) Layer {
	w := p.window(in)
	return &pool{be: b.be, how: p.how, window: w, y: b.rows(w.Places() * in.Channels), dx: b.back(in.Len())}
}

// pool takes the greatest or the mean of every channel in a window.
type pool struct {
	be     compute.Backend
	how    picture.Pooling
	window picture.Window

	n        int
	x, y, dx compute.Buffer
}

func (p *pool) Sites() []Site { return nil }

func (p *pool) Forward(x compute.Buffer, n int) compute.Buffer {
	p.x, p.n = x, n
	picture.Pool(p.be, p.how, p.window, n, x, p.y)
	return p.y
}

func (p *pool) Backward(dy compute.Buffer, want bool) compute.Buffer {
	if want {
		picture.PoolGrad(p.be, p.how, p.window, p.n, p.x, p.y, dy, p.dx)
	}
	return p.dx
}

func (p *pool) Init(*rand.Rand) {}

// Bound: of one window, the greatest of its values moves no further than they do,
// and their mean by at most 1/√count of it; a value is in at most overlap windows.
// Backwards these are linear maps with the same bounds. Rounding takes gamma of
// the sum of what overlaps, or of the values of a window.
func (p *pool) Bound(dst compute.Buffer) {
	w := p.window
	norm := math.Sqrt(float64(w.Overlap()))
	if p.how == picture.Mean {
		norm /= math.Sqrt(float64(w.High * w.Wide))
	}
	norm *= 1 + gamma(w.Overlap()+w.High*w.Wide)
	kernel.Fill(p.be, 1, kernel.Above(norm), dst.Slice(0, 1))
	kernel.Fill(p.be, 1, kernel.Above(max(1, norm)), dst.Slice(1, 1))
}
