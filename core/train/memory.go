package train

import (
	"clipscope/core/chacha"
	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/run"
)

// mostMemory is what a WebAssembly program may have, the kernels or ours.
const mostMemory = 1 << 32

// What of that a physical batch may fill, and with what stays: the rest is for what the
// browser itself needs. A ResNet-18's tab as a whole stays below 2 GB.
const (
	batchRoom = 1 << 30
	wholeRoom = 2 << 30
)

// checkMemory refuses what cannot fit, before any of it is taken.
func (p *Plan) checkMemory() error {
	backend, host := p.memory()
	if need := max(backend, host); need > mostMemory {
		advice := "fewer or narrower layers"
		if p.capacity() > 1 {
			advice += ", or a smaller max_physical_batch_size"
		}
		if p.cfg.Augmentation.Multiplicity > 1 {
			advice += ", or a smaller augmentation.multiplicity"
		}
		if p.spec.Input.IsPicture() {
			advice += ", or smaller pictures"
		}
		return fault(p.modelField(), "such a run needs %s GB, more than a browser tab can hold (4 GB); take %s",
			run.UpText(float64(need)/(1<<30), 2), advice)
	}
	return nil
}

// memory estimates the most bytes that a run holds at a time. On the backend:
// parameters and all that is as large, a physical batch on its way through the
// layers, and what the method asks for. On this side: the data, a physical batch,
// and at the end the parameters twice, once on their way to the page.
func (p *Plan) memory() (backend, host int64) {
	capacity := p.capacity()
	sums := 1 // in float32, and float64 from the second block on
	if p.cfg.NoiseMode == "secure" || p.cfg.DiagnosticsEvery > 0 || p.first.Geometry != nil || p.first.Coordinates ||
		min(p.likely(), p.meta.TrainRows) > min(capacity, compute.BlockRows) {
		sums = 3
	}
	backend, host = p.fixed(sums)
	backend += float * int64(capacity+1) * p.width()
	if p.meta.FeatureBytes == 1 {
		backend += int64((capacity+1)*p.meta.Features + float*256)
	}
	if f := p.meta.Features; p.cfg.PCA.Components > 0 { // before there is a model
		backend = max(backend, float*int64(f*(5*f+p.cfg.PCA.Components+capacity)))
	}
	return backend, host + float*int64((1+p.cfg.Augmentation.Multiplicity)*capacity*p.meta.Features)
}

// float is the bytes of a value.
const float = 4

// fixed is what memory holds whatever the physical batch, with so many copies of the
// parameters for their sums.
func (p *Plan) fixed(sums int) (backend, host int64) {
	copies, ours := 2+sums+map[string]int{"momentum": 1, "adam": 2}[p.cfg.Optimizer], 2
	for _, part := range []struct {
		asked        bool
		copies, ours int
	}{
		{p.cfg.Iterate != "last", 1, 0},
		{p.cfg.DiagnosticsEvery > 0, 6, 4},
		{p.first.Geometry != nil, 6, 0},
		{p.cfg.NoiseMode == "secure" && p.exact, 2, 4},
	} {
		if part.asked {
			copies, ours = copies+part.copies, ours+part.ours
		}
	}
	backend = float * (int64(copies)*int64(p.spec.Params()) + p.squares() + kernel.TableSize)
	if p.distance() > 0 {
		backend += float * chacha.TableLen
	}
	if p.cfg.NoiseMode == "secure" {
		backend += float * 3 * mostSecureNumbers
	}
	host = float * int64(ours) * int64(p.spec.Params())
	for _, rows := range []int{p.meta.TrainRows, p.meta.TestRows} {
		host += int64(rows) * int64(p.meta.FeatureBytes*p.meta.Features+float*p.meta.TargetWidth())
	}
	return backend, host
}

// width is how many values of a row the layers hold.
func (p *Plan) width() int64 {
	// What stands there for the gradient by the inputs, which is not made, is that of
	// the inputs themselves.
	views := p.cfg.Augmentation.Multiplicity
	width := p.spec.Floats(views) + int64(views*p.spec.Outputs())
	if p.cfg.PCA.Components > 0 {
		width += int64(p.meta.Features)
	}
	in := int64(p.inputs())
	for _, o := range p.spec.Layers {
		if out := int64(o.Out.Len()); o.Parameters > 0 {
			width += 12 // norms and losses
			switch d, formed := int64(o.Parameters), o.Formed > 0 || views > 1; {
			case p.first.Geometry != nil && formed:
				width += d
			case (p.first.Geometry != nil || p.cfg.DiagnosticsEvery > 0) && !formed:
				width += min(in+2*out, d)
			}
		}
		in = int64(o.Out.Len())
	}
	return width
}

// squares is how many values the matrices take that are not parameters: those of
// bounds, where of a picture's layers the least side is not known here and their
// channels bound it, of what layers make of their parameters, and of PCA.
func (p *Plan) squares() (n int64) {
	if p.first.Source == clip.Bounded {
		in := int64(p.inputs())
		for _, o := range p.spec.Layers {
			if o.Parameters > 0 {
				side := min(in, int64(o.Out.Channels))
				n += 2 * side * side
			}
			in = int64(o.Out.Len())
		}
	}
	for _, o := range p.spec.Layers {
		n += o.Once
	}
	return n + int64(p.meta.Features*p.cfg.PCA.Components)
}
