package nn

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel/sequence"
)

var embeddingForm = form{
	usage: "embedding:TOKENS:CHANNELS", least: 2, most: 2,
	read: func(a arguments) layerSpec { return embeddingSpec{a.numbers[0], a.numbers[1]} },
}

// embeddingSpec is an embedding as it is written in a list of layers.
type embeddingSpec struct{ tokens, channels int }

func (e embeddingSpec) outline(in Shape) (Outline, error) {
	if in.IsPicture() {
		return Outline{}, errors.New("it takes each number of a row for a token, and a picture has none; its rows are those of a table")
	}
	if e.tokens > maxParams/e.channels {
		return Outline{}, fmt.Errorf("its table of %d×%d has more parameters than a browser tab can hold (%d)", e.tokens, e.channels, maxParams)
	}
	o := Outline{Out: Shape{in.Len(), 1, e.channels}, Parameters: e.tokens * e.channels}
	o.Tensors = []Tensor{{Name: "weight", Shape: []int{e.tokens, e.channels}}}
	o.Back = 2 * int64(o.Out.Len()) // its gradient, and what coordinates its tokens have
	o.Floats = int64(o.Out.Len()) + o.Back
	return o, nil
}

func (e embeddingSpec) vocabulary() int { return e.tokens }

// lipschitz is false: two tokens are neighbours, and their vectors may be anything.
func (embeddingSpec) lipschitz() bool { return false }

func (e embeddingSpec) layer(b *builder, in Shape, _ bool) Layer {
	b.tokens.many, b.tokens.places = e.tokens, in.Len()
	l := &embedding{be: b.be, spec: e, read: b.tokens, y: b.rows(in.Len() * e.channels)}
	if b.how == whole {
		l.site = newLookupSite(b, e.tokens, in.Len(), e.channels)
		l.table = l.site.p
	} else {
		l.table = b.still.take(e.tokens * e.channels)
	}
	return l
}

// embedding maps each token of a row to its vector, a row of W [tokens×channels], so that a
// row becomes a sequence: a picture one column wide. What is no token becomes 0. An
// example's gradient has those by its outputs, added up for each token.
type embedding struct {
	be    compute.Backend
	spec  embeddingSpec
	table compute.Buffer // W
	site  *lookupSite    // nil where it is not trained
	read  *tokens
	y     compute.Buffer
}

func (l *embedding) Sites() []Site {
	if l.site == nil {
		return nil
	}
	return []Site{l.site}
}

func (l *embedding) Forward(x compute.Buffer, n int) compute.Buffer {
	l.read.x = x
	if l.site != nil {
		l.site.x, l.site.n = x, n
	}
	sequence.Embed(l.be, n*l.read.places, l.spec.tokens, l.spec.channels, x, l.table, l.y)
	return l.y
}

// Backward has no gradient by the tokens: [Read] has the layer stand first.
func (l *embedding) Backward(dy compute.Buffer, _ bool) compute.Buffer {
	if l.site != nil {
		l.site.gather(dy)
	}
	return compute.Buffer{}
}

// Init draws the table from the standard normal distribution.
func (l *embedding) Init(rng *rand.Rand) {
	if l.site == nil {
		return
	}
	v := make([]float32, l.table.Len())
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	l.be.Write(l.table, v)
}
