package nn

import (
	"fmt"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
)

var groupNormForm = form{usage: "groupnorm:GROUPS", least: 1, most: 1, read: func(a arguments) layerSpec { return groupNormSpec{a.numbers[0]} }}

// groupNormSpec is group normalisation as it is written in a list of layers.
type groupNormSpec struct{ groups int }

func (g groupNormSpec) outline(in Shape) (Outline, error) {
	if !in.IsPicture() {
		return Outline{}, errNoPicture(in)
	}
	if in.Channels%g.groups != 0 {
		return Outline{}, fmt.Errorf("%d channels cannot be parted into %d groups of the same size; take a number that divides %d", in.Channels, g.groups, in.Channels)
	}
	d := 2 * in.Channels
	return Outline{Out: in, Parameters: d, Tensors: tensors(in.Channels), Floats: 2*int64(in.Len()) + int64(2*g.groups) + int64(d), Back: int64(in.Len() + d), Formed: int64(d)}, nil
}

// lipschitz is false: a group whose values are nearly alike is stretched by as much
// as 1/√ε.
func (groupNormSpec) lipschitz() bool { return false }

func (g groupNormSpec) layer(b *builder, in Shape, _ bool) Layer {
	return newGroupNorm(b, picture.Groups{Positions: in.Height * in.Width, Channels: in.Channels, Count: g.groups})
}

func newGroupNorm(b *builder, groups picture.Groups) *groupNorm {
	n := groups.Positions * groups.Channels
	l := &groupNorm{affine: newAffine(b, groups.Channels, groups.Channels, nil), groups: groups, stats: b.rows(groups.Stats()), y: b.rows(n), dx: b.back(n)}
	l.joining()
	return l
}

// groupNorm brings groups of one example's channels to mean 0 and variance 1, together or at each
// position by itself, and
// then has a factor and a summand for each channel (Wu & He 2018). Unlike batch
// normalisation it looks at one example alone.
type groupNorm struct {
	affine // the factors, which are its weights, and the summands
	groups picture.Groups
	n      int            // rows of the last pass
	x      compute.Buffer // of the last pass; not owned
	stats  compute.Buffer
	y, dx  compute.Buffer
}

func (l *groupNorm) Forward(x compute.Buffer, n int) compute.Buffer {
	l.x, l.n = x, n
	l.join()
	picture.GroupNorm(l.be, l.groups, n, x, l.p, l.stats, l.y)
	return l.y
}

func (l *groupNorm) Backward(dy compute.Buffer, want bool) compute.Buffer {
	in, stats := l.groups.Positions*l.groups.Channels, l.groups.Stats()
	l.form(l.n, func(from, n int, dst compute.Buffer) {
		picture.GroupNormParams(l.be, l.groups, n, l.x.Slice(from*in, n*in), l.stats.Slice(from*stats, n*stats), dy.Slice(from*in, n*in), dst)
	}, func(from, n int, dst compute.Buffer) {
		sumPlaces(l.be, n, l.groups.Positions, l.groups.Channels, dy.Slice(from*in, n*in), dst)
	})
	if want {
		picture.GroupNormGrad(l.be, l.groups, l.n, l.x, l.p, l.stats, dy, l.dx)
	}
	return l.dx
}

// Init starts with factors of 1 and summands of 0.
func (l *groupNorm) Init(*rand.Rand) {
	if l.how == whole {
		kernel.Fill(l.be, l.w.Len(), 1, l.w)
	}
	if l.site != nil {
		kernel.Fill(l.be, l.b.Len(), 0, l.b)
	}
}
