package nn

var positionForm = form{usage: "position", read: func(arguments) layerSpec { return positionSpec{} }}

// positionSpec is a vector for each place of a sequence as it is written in a list of layers. It is a
// bias, as rows of tokens have as many places each.
type positionSpec struct{ biasSpec }

func (p positionSpec) outline(in Shape) (Outline, error) {
	o, err := p.biasSpec.outline(in)
	o.Tensors = []Tensor{{Name: "weight", Shape: []int{in.Height, in.Channels}}}
	return o, err
}

func (positionSpec) layer(b *builder, in Shape, _ bool) Layer {
	return newBias(b, in, newAffine(b, in.Len(), 0, nil))
}
