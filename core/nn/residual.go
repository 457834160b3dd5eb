package nn

import (
	"fmt"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

var skipForm = form{
	usage: "skip, or skip:CHANNELS with :sSTRIDE, before a block that ends with add", most: 1, letters: "s",
	read: func(a arguments) layerSpec {
		if len(a.numbers) == 0 {
			return skipSpec{bare: true, stride: a.option('s', 1)}
		}
		return skipSpec{convSpec: convSpec{channels: a.numbers[0], size: 1, stride: a.option('s', 1)}}
	},
}

// skipSpec is the start of a residual block: its input goes around the block, as it is or through
// a convolution of one position.
type skipSpec struct {
	convSpec
	bare   bool
	stride int // of a bare one, which can have none
}

func (s skipSpec) outline(in Shape) (Outline, error) {
	switch {
	case s.bare && s.stride != 1:
		return Outline{}, fmt.Errorf("a stride needs a convolution: write skip:CHANNELS:s%d", s.stride)
	case s.bare:
		return Outline{Out: in}, nil
	}
	return s.convSpec.outline(in)
}

// residualSpec is a residual block: what the layers between skip and add make of x, plus
// what goes around them.
type residualSpec struct {
	skip   skipSpec
	around Shape
	layers []placed
	out    Shape
}

// readResidual reads a residual block, from its skip on, for an input of shape in.
func (r *reader) readResidual(s skipSpec, in Shape) (layerSpec, error) {
	if err := r.place(s, in); err != nil {
		return nil, err
	}
	b := residualSpec{skip: s, around: r.spec.Layers[len(r.spec.Layers)-1].Out}
	r.spec.Layers[len(r.spec.Layers)-1].Out = in // what the block begins with
	var err error
	if b.layers, b.out, err = r.readChain(in, true); err != nil {
		return nil, err
	}
	return b, r.place(b, in)
}

func (b residualSpec) outline(in Shape) (Outline, error) {
	if b.out != b.around {
		return Outline{}, fmt.Errorf("the block gives %v, its skip %v; both have to be alike: give the block's convolutions the padding that keeps sizes (1 for a kernel of 3), and write skip:CHANNELS:sSTRIDE with the block's channels and strides", b.out, b.around)
	}
	return Outline{Out: b.out, Floats: int64(b.out.Len() + in.Len()), Back: int64(in.Len())}, nil
}

// lipschitz is false: the bounds that value clipping has are for chains.
func (residualSpec) lipschitz() bool { return false }

func (b residualSpec) layer(m *builder, in Shape, wantDx bool) Layer {
	l := &residual{be: m.be, in: in.Len(), out: b.out.Len(), y: m.rows(b.out.Len())}
	if !b.skip.bare {
		l.around = []Layer{b.skip.convSpec.layer(m, in, wantDx)}
	}
	l.within = build(m, b.layers, wantDx)
	if wantDx {
		l.dx = m.back(in.Len())
	}
	return l
}

// residual is y = within(x) + around(x).
type residual struct {
	be             compute.Backend
	in, out        int
	within, around []Layer
	n              int
	y, dx          compute.Buffer
}

func (r *residual) Sites() []Site { return append(sitesOf(r.around), sitesOf(r.within)...) }

func (r *residual) Forward(x compute.Buffer, n int) compute.Buffer {
	r.n = n
	r.addBranches(r.out, forward(r.around, x, n), forward(r.within, x, n), r.y)
	return r.y
}

func (r *residual) Backward(dy compute.Buffer, want bool) compute.Buffer {
	a, b := backward(r.around, dy, want), backward(r.within, dy, want)
	if want {
		r.addBranches(r.in, a, b, r.dx)
	}
	return r.dx
}

func (r *residual) addBranches(width int, a, b, dst compute.Buffer) {
	kernel.Copy(r.be, r.n*width, dst, a)
	kernel.Axpy(r.be, r.n*width, 1, b, dst)
}

func (r *residual) Init(rng *rand.Rand) {
	initAll(r.around, rng)
	initAll(r.within, rng)
}
