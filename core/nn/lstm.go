package nn

import (
	"fmt"
	"math"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel/sequence"
)

var lstmForm = form{usage: "lstm:CELLS", least: 1, most: 1, read: func(a arguments) layerSpec { return lstmSpec{a.numbers[0]} }}

// lstmSpec is a long short-term memory as it is written in a list of layers. [reader.place] has it
// stand where a row has all of its tokens.
type lstmSpec struct{ cells int }

// mostNumbered bounds the places that float32 can number.
const mostNumbered = 1 << 24

// gates returns the map of a place, or of the results at the one before, to the gates.
func (l lstmSpec) gates() convSpec { return convSpec{channels: 4 * l.cells, size: 1, stride: 1} }

// shown returns the shape of the results.
func (l lstmSpec) shown(in Shape) Shape { return Shape{in.Height, in.Width, l.cells} }

func (l lstmSpec) outline(in Shape) (Outline, error) {
	if in.Height > mostNumbered {
		return Outline{}, fmt.Errorf("a row has %d places, more than the %d that it can pass", in.Height, mostNumbered)
	}
	o, err := l.gates().outline(in)
	if err != nil {
		return o, err
	}
	b, err := l.gates().outline(l.shown(in))
	h := l.cells
	o.Out = l.shown(in)
	o.Parameters += b.Parameters
	o.Tensors = []Tensor{{Name: "weight_ih", Shape: []int{in.Channels, 4 * h}}, {Name: "bias_ih", Shape: []int{4 * h}}, {Name: "weight_hh", Shape: []int{h, 4 * h}}, {Name: "bias_hh", Shape: []int{4 * h}}}
	o.Formed += b.Formed
	o.Anew = append(o.Anew, b.Anew...)
	o.Products += b.Products
	// What cells hold, the results, those at the place before, and where that is.
	o.Floats += b.Formed + 3*int64(o.Out.Len()) + int64(in.Height)
	o.Back += b.Formed + int64(o.Out.Len()) + int64(in.Height)
	return o, err
}

// lipschitz is false: what is held at a place may grow with all before it.
func (lstmSpec) lipschitz() bool { return false }

func (l lstmSpec) layer(b *builder, in Shape, wantDx bool) Layer {
	shown := l.shown(in)
	m := &lstm{
		be: b.be, tokens: b.tokens, places: in.Height, cells: l.cells,
		in: l.gates().newConv(b, in, wantDx), back: l.gates().newMap(b, shown),
		held: b.rows(shown.Len()), y: b.rows(shown.Len()), before: b.back(shown.Len()), last: b.back(in.Height),
	}
	m.back.joining()
	if b.how != still {
		m.findLast()
	}
	return m
}

// lstm passes a row through cells that hold on to what they have seen, token by token. Its
// parameters are as PyTorch has them, but for their matrices being transposed.
type lstm struct {
	be            compute.Backend
	tokens        *tokens
	places, cells int
	in            *conv // [channels×4·cells]: what the input adds to the gates
	back          *conv // [cells×4·cells]: what the results at the place before add
	n             int
	a             compute.Buffer // what in gave, and then the gates; not owned
	held, y       compute.Buffer
	before        compute.Buffer // the results at the place before
	last          compute.Buffer // the number of that place, among those of some rows
}

// some is a number of rows whose places float32 can number.
func (l *lstm) some() int { return mostNumbered / l.places }

func (l *lstm) findLast() {
	all := make([]float32, l.last.Len())
	for i := range all {
		if all[i] = float32(i%(l.some()*l.places) - 1); i%l.places == 0 {
			all[i] = -1
		}
	}
	l.be.Write(l.last, all)
}

func (l *lstm) Sites() []Site { return append(l.in.Sites(), l.back.Sites()...) }

func (l *lstm) Forward(x compute.Buffer, n int) compute.Buffer {
	l.n, l.a = n, l.in.Forward(x, n)
	l.back.join()
	sequence.LSTM(l.be, n, l.places, l.tokens.many, l.cells, l.tokens.x, l.a, l.back.p, l.held, l.y)
	return l.y
}

// Backward is for one call after a Forward: the gates become the gradients by what they are made of.
func (l *lstm) Backward(dy compute.Buffer, want bool) compute.Buffer {
	sequence.LSTMGrad(l.be, l.n, l.places, l.tokens.many, l.cells, l.tokens.x, l.a, l.back.w, l.held, dy)
	for from, some := 0, l.some()*l.places; from < l.n*l.places; from += some {
		some = min(some, l.n*l.places-from)
		y, before := l.y.Slice(from*l.cells, some*l.cells), l.before.Slice(from*l.cells, some*l.cells)
		sequence.Embed(l.be, some, some, l.cells, l.last, y, before)
	}
	l.back.weigh(l.before, l.a, l.n)
	return l.in.Backward(l.a, want)
}

// Init draws from −1/√cells to 1/√cells, as PyTorch does.
func (l *lstm) Init(rng *rand.Rand) {
	most := 1 / math.Sqrt(float64(l.cells))
	for _, c := range []*conv{l.in, l.back} {
		if c.site == nil {
			continue
		}
		v := make([]float32, c.site.p.Len())
		for i := range v {
			v[i] = float32(most * (2*rng.Float64() - 1))
		}
		l.be.Write(c.site.p, v)
	}
}
