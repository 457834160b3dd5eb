package nn

import "clipscope/core/compute/kernel/picture"

var layerNormForm = form{usage: "layernorm", read: func(arguments) layerSpec { return layerNormSpec{} }}

// layerNormSpec is layer normalisation as it is written in a list of layers: each place is brought to
// mean 0 and variance 1 by itself (Ba et al. 2016).
type layerNormSpec struct{}

func (layerNormSpec) outline(in Shape) (Outline, error) {
	if !in.IsPicture() {
		return Outline{}, errNoPicture(in)
	}
	d, places := 2*in.Channels, in.Height*in.Width
	return Outline{Out: in, Parameters: d, Tensors: tensors(in.Channels), Floats: 2*int64(in.Len()) + int64(2*places) + int64(d), Formed: int64(d)}, nil
}

// lipschitz is false, as of [groupNormSpec].
func (layerNormSpec) lipschitz() bool { return false }

func (layerNormSpec) layer(b *builder, in Shape, _ bool) Layer {
	return newGroupNorm(b, picture.Groups{Positions: in.Height * in.Width, Channels: in.Channels, Count: 1, Apart: true})
}
