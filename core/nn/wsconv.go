package nn

import (
	"errors"
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
)

var wsconvForm = form{
	usage: "wsconv:CHANNELS:SIZE, with :sSTRIDE and :pPADDING where they are not 1 and 0", least: 2, most: 2, letters: "sp",
	read: func(a arguments) layerSpec { return wsconvSpec{convForm.read(a).(convSpec)} },
}

// wsconvSpec is a wsconv, a convolution with standardised weights, as it is written in a list of
// layers.
type wsconvSpec struct{ convSpec }

func (s wsconvSpec) outline(in Shape) (Outline, error) {
	o, err := s.convSpec.outline(in)
	patch := s.window(in).Patch()
	if err == nil && patch == 1 {
		err = errors.New("a kernel that sees one value has nothing to standardise; write conv")
	}
	o.Once = int64(2*patch+4) * int64(s.channels) // all that layer makes
	return o, err
}

// lipschitz is false: weights that are nearly alike are stretched by as much as 1/√ε.
func (wsconvSpec) lipschitz() bool { return false }

func (s wsconvSpec) layer(b *builder, in Shape, wantDx bool) Layer {
	patch := s.window(in).Patch()
	l := &wsconv{
		conv:     s.newConv(b, in, wantDx),
		groups:   picture.Groups{Positions: patch, Channels: s.channels, Count: s.channels},
		standard: b.be.New(patch * s.channels),
		row:      b.be.New(patch * s.channels),
		stats:    b.be.New(2 * s.channels),
		factors:  b.be.New(2 * s.channels),
	}
	if b.how == whole {
		l.site.change = l.standardise
	}
	kernel.Fill(b.be, s.channels, float32(1/math.Sqrt(float64(patch))), l.factors.Slice(0, s.channels))
	kernel.Fill(b.be, s.channels, 0, l.factors.Slice(s.channels, s.channels))
	return l
}

// wsconv is a convolution whose weights have, for every channel that comes
// out, mean 0 and length 1: (W − mean)/√(variance·patch) (weight standardisation,
// Qiao et al. 2019, with the factor of Brock et al. 2021). That is what group
// normalisation does to a picture, so its kernels do it. An example's gradient by
// the parameters is a linear function of that by the weights, the same for all, and is
// formed of it row by row.
type wsconv struct {
	*conv
	groups         picture.Groups
	standard       compute.Buffer // weights [patch×channels], made of the parameters
	stats, factors compute.Buffer // of the standardising
	row            compute.Buffer // one example's gradient on its way
}

func (l *wsconv) Forward(x compute.Buffer, n int) compute.Buffer {
	picture.GroupNorm(l.be, l.groups, 1, l.w, l.factors, l.stats, l.standard)
	return l.forward(x, n, l.standard)
}

func (l *wsconv) Backward(dy compute.Buffer, want bool) compute.Buffer {
	return l.backward(dy, want, l.standard)
}

// standardise makes, of n examples' gradients by the weights as they are used, those by the parameters.
func (l *wsconv) standardise(n int, g compute.Buffer) {
	for i := range n {
		row := g.Slice(i*l.p.Len(), l.w.Len())
		picture.GroupNormGrad(l.be, l.groups, 1, l.w, l.factors, l.stats, row, l.row)
		kernel.Copy(l.be, l.w.Len(), row, l.row)
	}
}
