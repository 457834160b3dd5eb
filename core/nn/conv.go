package nn

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel/picture"
)

var convForm = form{
	usage: "conv:CHANNELS:SIZE, with :sSTRIDE and :pPADDING where they are not 1 and 0", least: 2, most: 2, letters: "sp",
	read: func(a arguments) layerSpec {
		return convSpec{channels: a.numbers[0], size: a.numbers[1], stride: a.option('s', 1), pad: a.option('p', 0)}
	},
}

var conv1dForm = form{
	usage: "conv1d:CHANNELS:SIZE", least: 2, most: 2,
	read: func(a arguments) layerSpec {
		return conv1dSpec{convSpec{channels: a.numbers[0], size: a.numbers[1], stride: 1, wide: 1}}
	},
}

// conv1dSpec is a convolution along a sequence as it is written in a list of layers: place j sees
// the tokens from j on, and the last places, which would see less, are left out.
type conv1dSpec struct{ convSpec }

// convSpec is a convolution as it is written in a list of layers.
type convSpec struct {
	channels, size, stride, pad int
	wide                        int // of the kernel; 0 where that is square
}

func (c convSpec) window(in Shape) picture.Window {
	return picture.Window{Height: in.Height, Width: in.Width, Channels: in.Channels, High: c.size, Wide: cmp.Or(c.wide, c.size), Stride: c.stride, Pad: c.pad}
}

func (c convSpec) outline(in Shape) (Outline, error) {
	if !in.IsPicture() {
		return Outline{}, errNoPicture(in)
	}
	if c.pad >= c.size {
		return Outline{}, fmt.Errorf("with a padding of %d, a kernel of %d×%d would see nothing but padding; take at most %d", c.pad, c.size, c.size, c.size-1)
	}
	w := c.window(in)
	if w.Patch() >= maxParams/c.channels { // a product of all four sizes could pass 2⁶⁴
		return Outline{}, fmt.Errorf("its %d kernels of %d×%d×%d have more parameters than a browser tab can hold (%d)", c.channels, w.High, w.Wide, in.Channels, maxParams)
	}
	down, across := w.Out()
	if err := fits(w, c.pad, down, across); err != nil {
		return Outline{}, err
	}
	o := Outline{Out: Shape{down, across, c.channels}, Parameters: (w.Patch() + 1) * c.channels}
	o.Tensors = tensors(w.High, w.Wide, in.Channels, c.channels)
	o.Products = int64(w.Places()) * int64(w.Patch()) * int64(c.channels)
	// Outputs, the gradient by the input, and the parameters' gradient of each row.
	o.Formed = int64(o.Parameters)
	o.Anew = []int{o.Parameters}
	o.Back = int64(in.Len()) + o.Formed
	o.Floats = int64(w.Places())*int64(c.channels) + o.Back
	return o, nil
}

// fits says what is wrong with a window that takes no place.
func fits(w picture.Window, pad, down, across int) error {
	if down > 0 && across > 0 {
		return nil
	}
	more := ""
	if pad > 0 {
		more = fmt.Sprintf(" with a padding of %d", pad)
	}
	return fmt.Errorf("the kernel is %d×%d, its input only %d×%d%s; take a smaller one, or fewer layers before it that make pictures smaller", w.High, w.Wide, w.Height, w.Width, more)
}

func (convSpec) lipschitz() bool { return true }

func (c convSpec) layer(b *builder, in Shape, wantDx bool) Layer { return c.newConv(b, in, wantDx) }

func (c convSpec) newConv(b *builder, in Shape, wantDx bool) *conv {
	l := c.newMap(b, in)
	l.y = b.rows(l.window.Places() * c.channels)
	if wantDx {
		l.dx = b.back(in.Len())
	}
	return l
}

// newMap makes a convolution that is asked for its weights' gradients alone, which [conv.weigh] forms.
func (c convSpec) newMap(b *builder, in Shape) *conv {
	w := c.window(in)
	shared := b.anew
	if !formsAnew(shared.values, (w.Patch()+1)*c.channels) {
		shared = nil
	}
	return &conv{affine: newAffine(b, w.Patch()*c.channels, c.channels, shared), window: w, channels: c.channels, variance: 2}
}

// conv multiplies what a window sees at each of its places with W [patch×channels]
// and adds b. An example's gradient is a sum over places, Σ_t x_t ⊗ δ_t, which is
// formed: summed in float32, it is off by more than any bound on its norm says
// where its terms cancel, so what is measured has to be what is added.
type conv struct {
	affine
	window   picture.Window
	channels int
	variance float64        // of the weights that it begins with, times the number of values that each output sums
	n        int            // rows of the last pass
	x        compute.Buffer // of the last pass; not owned
	y, dx    compute.Buffer
	bound    *spectral // made when first needed
}

func (c *conv) Forward(x compute.Buffer, n int) compute.Buffer { return c.forward(x, n, c.w) }

func (c *conv) Backward(dy compute.Buffer, want bool) compute.Buffer {
	return c.backward(dy, want, c.w)
}

// forward and backward have weights w, which are the parameters or made of them.
func (c *conv) forward(x compute.Buffer, n int, w compute.Buffer) compute.Buffer {
	c.x, c.n = x, n
	picture.Conv(c.be, c.window, n, c.channels, x, w, c.b, c.y)
	return c.y
}

func (c *conv) backward(dy compute.Buffer, want bool, w compute.Buffer) compute.Buffer {
	c.weigh(c.x, dy, c.n)
	if want {
		picture.ConvGrad(c.be, c.window, c.n, c.channels, dy, w, c.dx)
	}
	return c.dx
}

// weigh forms the weights' gradients of n rows x from those by what the convolution makes of them; both have to
// stay until the next pass.
func (c *conv) weigh(x, dy compute.Buffer, n int) {
	in, places := c.window.In(), c.window.Places()
	out := places * c.channels
	c.form(n, func(from, n int, dst compute.Buffer) {
		picture.ConvWeights(c.be, c.window, n, c.channels, x.Slice(from*in, n*in), dy.Slice(from*out, n*out), dst)
	}, func(from, n int, dst compute.Buffer) {
		sumPlaces(c.be, n, places, c.channels, dy.Slice(from*out, n*out), dst)
	})
}

// Init draws weights from a normal distribution of variance 2/patch (He et al.
// 2015), and zero biases.
func (c *conv) Init(rng *rand.Rand) {
	if c.site == nil {
		return
	}
	v := make([]float32, c.site.p.Len())
	std := math.Sqrt(c.variance / float64(c.window.Patch()))
	for i := range len(v) - c.channels {
		v[i] = float32(std * rng.NormFloat64())
	}
	c.be.Write(c.site.p, v)
}

// Bound is, with the rows of x that the window sees at each place written one
// below the other, at most ‖W‖ times as long for each, and every value of x is in
// at most [picture.Window.Overlap] of them: ‖y‖² ≤ ‖W‖²·Σ_t‖x_t‖² ≤ overlap·‖W‖²·‖x‖².
// Its adjoint has the same norm.
func (c *conv) Bound(dst compute.Buffer) {
	if c.bound == nil {
		c.bound = newSpectral(c.be, c.w, c.b, c.window.Patch(), c.channels)
		c.bound.overlap, c.bound.places = c.window.Overlap(), c.window.Places()
	}
	c.bound.bound(dst)
}

// Reach: with X the matrix of what the window sees, [X, 1]ᵀδ is at most ‖[X, 1]‖_F
// times as long as δ, and so is the sum of the sizes of its terms, of which rounding
// takes gamma.
func (c *conv) Reach() (input, one float64) {
	t := c.window.Places()
	slack := 1 + gamma(t)
	return math.Sqrt(float64(c.window.Overlap())) * slack, math.Sqrt(float64(t)) * slack
}

func (c *conv) Input() (x compute.Buffer, in int) { return c.x, c.window.In() }
