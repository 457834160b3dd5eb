package nn

import (
	"fmt"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel/sequence"
)

var attentionForm = form{usage: "attention:HEADS", least: 1, most: 1, read: func(a arguments) layerSpec { return attentionSpec{a.numbers[0]} }}

// attentionSpec is self-attention as it is written in a list of layers. [reader.place] has it stand
// where a row has all of its tokens.
type attentionSpec struct{ heads int }

// maps returns the map of a place to its query, key and value, and the map of its heads’ results to its output.
func (attentionSpec) maps(channels int) (in, out convSpec) {
	return convSpec{channels: 3 * channels, size: 1, stride: 1}, convSpec{channels: channels, size: 1, stride: 1}
}

func (a attentionSpec) outline(in Shape) (Outline, error) {
	if in.Channels%a.heads != 0 {
		return Outline{}, fmt.Errorf("%d channels cannot be parted among %d heads; take a number that divides %d", in.Channels, a.heads, in.Channels)
	}
	first, last := a.maps(in.Channels)
	o, err := first.outline(in)
	if err != nil {
		return o, err
	}
	l, err := last.outline(in)
	c, t := in.Channels, int64(in.Height)
	o.Out = in
	o.Parameters += l.Parameters
	o.Tensors = []Tensor{{Name: "in_weight", Shape: []int{c, 3 * c}}, {Name: "in_bias", Shape: []int{3 * c}}, {Name: "out_weight", Shape: []int{c, c}}, {Name: "out_bias", Shape: []int{c}}}
	o.Formed += l.Formed
	o.Anew = append(o.Anew, l.Anew...)
	o.Products += l.Products + 2*t*t*int64(c)
	// What is taken of each place, what is seen, and the gradient by what the first map gives.
	o.Floats += l.Floats + int64(a.heads)*t*t + 4*int64(in.Len())
	o.Back += l.Back + 3*int64(in.Len())
	return o, err
}

// lipschitz is false: what a place takes of others may change as fast as their products are large.
func (attentionSpec) lipschitz() bool { return false }

func (a attentionSpec) layer(b *builder, in Shape, _ bool) Layer {
	first, last := a.maps(in.Channels)
	through, out := first.newConv(b, in, true), last.newConv(b, in, true)
	// By variances of 1/channels products of normalised places are about as large as what a softmax tells apart.
	through.variance, out.variance = 1, 1
	return &attention{
		be: b.be, tokens: b.tokens, places: in.Height, heads: sequence.Heads{Count: a.heads, Channels: in.Channels},
		in: adapt(b, through, lowRankTargets[:3]...), out: adapt(b, out, lowRankTargets[3]),
		p: b.rows(a.heads * in.Height * in.Height), y: b.rows(in.Len()), da: b.back(3 * in.Len()),
	}
}

// attention has each place of a row look at those that have a token, with some heads (Vaswani et
// al. 2017).
type attention struct {
	be     compute.Backend
	tokens *tokens
	places int
	heads  sequence.Heads
	in     Layer // [channels×3·channels]: query, key and value of all heads
	out    Layer
	n      int
	a      compute.Buffer // what in gave; not owned
	p, y   compute.Buffer
	da     compute.Buffer
}

func (l *attention) Sites() []Site { return append(l.in.Sites(), l.out.Sites()...) }

func (l *attention) Forward(x compute.Buffer, n int) compute.Buffer {
	l.n, l.a = n, l.in.Forward(x, n)
	sequence.Attend(l.be, n, l.places, l.tokens.many, l.heads, l.tokens.x, l.a, l.p, l.y)
	return l.out.Forward(l.y, n)
}

func (l *attention) Backward(dy compute.Buffer, want bool) compute.Buffer {
	sequence.AttendGrad(l.be, l.n, l.places, l.heads, l.a, l.p, l.y, l.out.Backward(dy, true), l.da)
	return l.in.Backward(l.da, want)
}

func (l *attention) Init(rng *rand.Rand) { initAll([]Layer{l.in, l.out}, rng) }
