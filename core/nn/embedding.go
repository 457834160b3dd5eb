package nn

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/sequence"
)

var embeddingForm = form{
	usage: "embedding:TOKENS:CHANNELS, with :tTYPES where tokens have types", least: 2, most: 2, letters: "t", largest: mostTokens,
	read: func(a arguments) layerSpec { return embeddingSpec{a.numbers[0], a.numbers[1], a.option('t', 0)} },
}

// mostTokens bounds the numbers of tokens, types included: float32 tells them apart.
const mostTokens = 1 << 24

// embeddingSpec is an embedding as it is written in a list of layers. With types, numbers from tokens on are those of a second
// type, from 2·tokens on of a third, and a token's type has a vector, too, as BERT's segments have. 0: there are none.
type embeddingSpec struct{ tokens, channels, types int }

func (e embeddingSpec) outline(in Shape) (Outline, error) {
	if in.IsPicture() {
		return Outline{}, errors.New("it takes each number of a row for a token, and a picture has none: open a table of texts, and have tokens made of them, for a transformer by its tokenizer")
	}
	if e.types > mostTokens/e.tokens {
		return Outline{}, fmt.Errorf("its %d tokens of %d types are more than the %d that can be told apart", e.tokens, e.types, mostTokens)
	}
	if e.tokens+e.types > maxParams/e.channels {
		return Outline{}, fmt.Errorf("its table of %d×%d has more parameters than a browser tab can hold (%d)", e.tokens, e.channels, maxParams)
	}
	o := Outline{Out: Shape{in.Len(), 1, e.channels}, Parameters: (e.tokens + e.types) * e.channels}
	o.Tensors = []Tensor{{Name: "weight", Shape: []int{e.tokens, e.channels}}}
	out := int64(o.Out.Len())
	o.Back = 2 * out // its gradient, and what coordinates its tokens have
	o.Floats = out + o.Back
	if e.types > 0 {
		o.Tensors = append(o.Tensors, Tensor{Name: "types", Shape: []int{e.types, e.channels}})
		o.Back *= 2
		o.Floats = 2*(out+int64(in.Len())) + o.Back
	}
	return o, nil
}

func (e embeddingSpec) vocabulary() int { return e.tokens * max(e.types, 1) }

// lipschitz is false: two tokens are neighbours, and their vectors may be anything.
func (embeddingSpec) lipschitz() bool { return false }

func (e embeddingSpec) layer(b *builder, in Shape, _ bool) Layer {
	b.tokens.many, b.tokens.places = e.vocabulary(), in.Len()
	l := &embedding{be: b.be, read: b.tokens, words: newLookup(b, e.tokens, in.Len(), e.channels)}
	if e.types > 0 {
		types := newLookup(b, e.types, in.Len(), e.channels)
		l.types, l.parts = &types, [2]compute.Buffer{b.rows(in.Len()), b.rows(in.Len())}
	}
	return l
}

// embedding maps each token of a row to its vector, a row of W [tokens×channels], so that a
// row becomes a sequence: a picture one column wide. What is no token becomes 0. An
// example's gradient has those by its outputs, added up for each token. Where tokens have types, the type's vector, a row
// of another table, is added.
type embedding struct {
	be    compute.Backend
	read  *tokens
	words lookup
	types *lookup           // nil: there are none
	parts [2]compute.Buffer // tokens and types [rows×places]
}

func (l *embedding) lookups() []*lookup {
	if l.types == nil {
		return []*lookup{&l.words}
	}
	return []*lookup{&l.words, l.types}
}

func (l *embedding) Sites() (all []Site) {
	for _, of := range l.lookups() {
		if of.site != nil {
			all = append(all, of.site)
		}
	}
	return all
}

func (l *embedding) Forward(x compute.Buffer, n int) compute.Buffer {
	l.read.x = x
	if l.types == nil {
		return l.words.of(x, n)
	}
	places := n * l.read.places
	sequence.Typed(l.be, places, l.words.v, l.types.v, x, l.parts[0], l.parts[1])
	y := l.words.of(l.parts[0], n)
	kernel.Axpy(l.be, places*l.words.d, 1, l.types.of(l.parts[1], n), y)
	return y
}

// Backward has no gradient by the tokens: [Read] has the layer stand first.
func (l *embedding) Backward(dy compute.Buffer, _ bool) compute.Buffer {
	for _, of := range l.lookups() {
		if of.site != nil {
			of.site.gather(dy)
		}
	}
	return compute.Buffer{}
}

// Init draws the tables from the standard normal distribution.
func (l *embedding) Init(rng *rand.Rand) {
	for _, of := range l.lookups() {
		if of.site == nil {
			continue
		}
		v := make([]float32, of.p.Len())
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		l.be.Write(of.p, v)
	}
}

// lookup looks up rows of a table [v×d], each of so many places.
type lookup struct {
	be           compute.Backend
	v, d, places int
	p            compute.Buffer
	site         *lookupSite // nil where the table is not trained
	y            compute.Buffer
}

func newLookup(b *builder, v, places, d int) lookup {
	l := lookup{be: b.be, v: v, d: d, places: places, y: b.rows(places * d)}
	if b.how == whole {
		l.site = newLookupSite(b, v, places, d)
		l.p = l.site.p
	} else {
		l.p = b.still.take(v * d)
	}
	return l
}

// of returns the rows that n rows of numbers x [n×places] name: [n×places×d].
func (l *lookup) of(x compute.Buffer, n int) compute.Buffer {
	if l.site != nil {
		l.site.x, l.site.n = x, n
	}
	sequence.Embed(l.be, n*l.places, l.v, l.d, x, l.p, l.y)
	return l.y
}
