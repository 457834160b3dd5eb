package train

import (
	"math/rand/v2"

	"clipscope/core/nn"
	"clipscope/core/plan"
)

// cropPad bounds the offset of a crop, each way, in pixels: what papers on CIFAR-10 take.
const cropPad = 4

// augmentation makes the views of examples.
//
// Guarantee: a view depends on its example and on numbers drawn apart from all
// data, as many for every example, so that the views of one are drawn alike whoever
// else is in the batch.
type augmentation struct {
	shape      nn.Shape
	crop, flip bool
	rng        *rand.Rand // of the present step
	plain      []float32
}

func newAugmentation(t *plan.Terms, capacity int) *augmentation {
	kind := t.Config.Augmentation.Kind
	if kind == "none" {
		return nil
	}
	return &augmentation{
		shape: t.Picture(), crop: kind != "flip", flip: kind != "crop",
		plain: make([]float32, capacity*t.Meta.Features),
	}
}

// views fills x [views×n×values] with views of the n rows that are its first, all
// first views before all second ones. Rows are one colour plane after the other.
func (a *augmentation) views(x []float32, n int) {
	size := a.shape.Len()
	plain := a.plain[:n*size]
	copy(plain, x)
	for i := 0; i < len(plain); i += size {
		for at := i; at < len(x); at += len(plain) {
			a.view(x[at:at+size], plain[i:i+size])
		}
	}
}

// view draws one.
func (a *augmentation) view(dst, src []float32) {
	h, w := a.shape.Height, a.shape.Width
	down, right, mirrored := 0, 0, false
	if a.crop {
		down, right = a.rng.IntN(2*cropPad+1)-cropPad, a.rng.IntN(2*cropPad+1)-cropPad
	}
	if a.flip {
		mirrored = a.rng.IntN(2) == 1
	}
	for at := range dst {
		row, column := at/w%h+down, at%w+right
		if mirrored {
			column = w - 1 - at%w + right
		}
		dst[at] = 0
		if row >= 0 && row < h && column >= 0 && column < w {
			dst[at] = src[at/(h*w)*(h*w)+row*w+column]
		}
	}
}
