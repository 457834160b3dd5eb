package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel/sequence"
)

// meanForm returns the form of a layer that has one vector left of those at a row's tokens.
func meanForm(name string, over sequence.Over) form {
	return form{usage: name, read: func(arguments) layerSpec { return meanSpec{over} }}
}

// meanSpec is the mean over tokens, or the first or last one, as it is written in a list of layers.
// [reader.place] has it stand where a row has its tokens.
type meanSpec struct{ over sequence.Over }

func (meanSpec) outline(in Shape) (Outline, error) {
	return Outline{Out: Shape{Channels: in.Channels}, Floats: int64(in.Len() + in.Channels), Back: int64(in.Len())}, nil
}

// lipschitz is false, as nothing that may stand before it is Lipschitz.
func (meanSpec) lipschitz() bool { return false }

func (m meanSpec) layer(b *builder, in Shape, _ bool) Layer {
	return &mean{be: b.be, over: m.over, tokens: b.tokens, places: in.Height, channels: in.Channels, y: b.rows(in.Channels), dx: b.back(in.Len())}
}

// mean is the mean of a row's vectors over the places where it has tokens, or that at the first or last of
// these. That of a row without tokens is 0.
type mean struct {
	be               compute.Backend
	over             sequence.Over
	tokens           *tokens
	places, channels int
	n                int
	y, dx            compute.Buffer
}

func (l *mean) Sites() []Site { return nil }

func (l *mean) Forward(x compute.Buffer, n int) compute.Buffer {
	l.n = n
	sequence.Mean(l.be, n, l.tokens.places, l.places, l.tokens.many, l.channels, l.over, l.tokens.x, x, l.y)
	return l.y
}

func (l *mean) Backward(dy compute.Buffer, want bool) compute.Buffer {
	if want {
		sequence.MeanGrad(l.be, l.n, l.tokens.places, l.places, l.tokens.many, l.channels, l.over, l.tokens.x, dy, l.dx)
	}
	return l.dx
}

func (l *mean) Init(*rand.Rand) {}
