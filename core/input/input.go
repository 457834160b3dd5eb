// Package input preprocesses rows (scaling, PCA, channel order) for a model. It does the
// same in training, in testing, and where a saved model is applied.
package input

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
	"clipscope/core/nn"
)

// Shape returns the shape of a model's input for data of a shape, as [data.Dataset] has it.
func Shape(shape []int, features int) nn.Shape {
	switch len(shape) {
	case 2:
		return nn.Shape{Height: shape[0], Width: shape[1], Channels: 1}
	case 3:
		return nn.Shape{Height: shape[1], Width: shape[2], Channels: shape[0]}
	}
	return nn.Shape{Channels: features}
}

// Loss is the one that fits a task.
func Loss(t data.Task) nn.Loss {
	switch t {
	case data.Classification:
		return nn.SoftmaxCE
	case data.MultiLabel:
		return nn.SigmoidBCE
	default:
		return nn.Squared
	}
}

// Pipe takes rows that have been scaled to a model.
//
// Guarantee: each row is changed by itself.
type Pipe struct {
	// PCA takes rows, which are made unit length first, to their leading directions;
	// nil for rows as they are.
	PCA *Projection
	// Longest is the length down to which rows that are longer are scaled; 0 for none.
	Longest float64
	// Turned is the shape of pictures of several planes of colour, one after the other
	// as files have them, which layers take one position after the other. Of others it is
	// zero.
	Turned nn.Shape

	spare []float32 // a picture on its way
}

// NewPipe is for a model's input in before any projection.
func NewPipe(in nn.Shape, pca *Projection, longest float64) *Pipe {
	p := &Pipe{PCA: pca, Longest: longest}
	if in.IsPicture() && in.Channels > 1 {
		p.Turned, p.spare = in, make([]float32, in.Len())
	}
	return p
}

// Write brings rows x [n×features] to dst, the model's input; x is overwritten.
func (p *Pipe) Write(be compute.Backend, x []float32, features int, dst compute.Buffer) {
	if p.PCA != nil {
		data.UnitRows(x, features)
	}
	if p.Longest > 0 {
		data.LimitRows(x, features, p.Longest)
	}
	if p.PCA != nil {
		p.PCA.project(be, x, dst)
		return
	}
	if p.Turned.IsPicture() {
		channelsLast(p.spare, x, p.Turned.Channels)
	}
	be.Write(dst, x)
}

// Planes returns the number of planes of colour that Write turns round: 1 where rows are written as
// they are, 0 where they are changed otherwise.
func (p *Pipe) Planes() int {
	if p.PCA != nil || p.Longest > 0 {
		return 0
	}
	return max(1, p.Turned.Channels)
}

// channelsLast turns pictures of one colour plane after the other, as files have
// them, into pictures of one position after the other, as layers have them. spare
// holds one of them on the way.
func channelsLast(spare, x []float32, channels int) {
	for ; len(x) > 0; x = x[len(spare):] {
		copy(spare, x)
		positions := len(spare) / channels
		for c := range channels {
			for i, v := range spare[c*positions : (c+1)*positions] {
				x[i*channels+c] = v
			}
		}
	}
}

// Projection maps rows onto directions.
type Projection struct {
	Components int
	Directions []float32 // [features×components]
	features   int
	rows, v    compute.Buffer // [capacity×features], and what Directions has
}

// NewProjection has room for rows [capacity×features] on a backend.
func NewProjection(be compute.Backend, rows compute.Buffer, directions []float32, features int) *Projection {
	v := be.New(len(directions))
	be.Write(v, directions)
	return &Projection{Components: len(directions) / features, Directions: directions, features: features, rows: rows, v: v}
}

// project maps rows x, of unit length, into dst.
func (p *Projection) project(be compute.Backend, x []float32, dst compute.Buffer) {
	n := len(x) / p.features
	be.Write(p.rows, x)
	kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, n, p.Components, p.features, p.rows, p.v, 0, dst)
}
