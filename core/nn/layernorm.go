package nn

import (
	"errors"
	"math"

	"clipscope/core/compute/kernel/picture"
)

var layerNormForm = form{
	usage: "layernorm, with :e12 where not 10⁻⁵ but 10⁻¹² is added to variances", letters: "e",
	read: func(a arguments) layerSpec { return layerNormSpec{a.option('e', 5)} },
}

// layerNormSpec is layer normalisation as it is written in a list of layers: each place is brought to
// mean 0 and variance 1 by itself (Ba et al. 2016). What is added to the variance has so many decimals.
type layerNormSpec struct{ decimals int }

func (l layerNormSpec) outline(in Shape) (Outline, error) {
	if !in.IsPicture() {
		return Outline{}, errNoPicture(in)
	}
	if l.decimals > 20 { // float32 has no more than 38
		return Outline{}, errors.New("it adds too little to variances; take at most e20")
	}
	d, places := 2*in.Channels, in.Height*in.Width
	return Outline{Out: in, Parameters: d, Tensors: tensors(in.Channels), Floats: 2*int64(in.Len()) + int64(2*places) + int64(d), Back: int64(in.Len() + d), Formed: int64(d)}, nil
}

// lipschitz is false, as of [groupNormSpec].
func (layerNormSpec) lipschitz() bool { return false }

func (l layerNormSpec) layer(b *builder, in Shape, _ bool) Layer {
	return newGroupNorm(b, picture.Groups{Positions: in.Height * in.Width, Channels: in.Channels, Count: 1, Apart: true, Epsilon: math.Pow10(-l.decimals)})
}
