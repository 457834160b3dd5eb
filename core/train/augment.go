package train

import (
	"math/rand/v2"

	"clipscope/core/clip"
	"clipscope/core/nn"
	"clipscope/core/privacy"
)

const (
	// cropPad is how far a crop may be off, each way: what papers on CIFAR-10 take.
	cropPad = 4
	// maxViews bounds the work of a step; De et al. 2022 go to 32.
	maxViews = 128
)

// checkAugmentation refuses what images cannot be made of, or has no proof.
func (p *Plan) checkAugmentation() error {
	a := p.cfg.Augmentation
	switch a.Kind {
	case "none":
		if a.Multiplicity != 1 {
			return fault("augmentation.multiplicity", "%d views of an example would all be the same; choose an augmentation: crop, flip or crop-flip", a.Multiplicity)
		}
		return nil
	case "crop", "flip", "crop-flip":
	default:
		return fault("augmentation.kind", "there is no augmentation %q; choose none, crop, flip or crop-flip", a.Kind)
	}
	if a.Multiplicity < 1 || a.Multiplicity > maxViews {
		return fault("augmentation.multiplicity", "%d is not in 1 … %d", a.Multiplicity, maxViews)
	}
	if !p.picture().IsPicture() {
		return fault("augmentation.kind", "only images can be moved or mirrored, and this data has none; choose none")
	}
	if p.cfg.PCA.Components > 0 {
		return fault("augmentation.kind", "principal components are no images any more; choose no augmentation, or no components")
	}
	if a.Multiplicity > 1 && p.first.Source == clip.Bounded {
		return fault("augmentation.multiplicity", "%s bounds the gradient of one view, and nothing is proven for several; take 1, or another method", p.cfg.Method)
	}
	return nil
}

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

func (r *Run) newAugmentation() *augmentation {
	kind := r.cfg.Augmentation.Kind
	if kind == "none" {
		return nil
	}
	return &augmentation{
		shape: r.picture(), crop: kind != "flip", flip: kind != "crop",
		plain: make([]float32, r.model.Capacity*r.meta.Features),
	}
}

func (a *augmentation) begin(r *Run) { a.rng = rand.New(r.stream(privacy.Views, r.done)) }

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
