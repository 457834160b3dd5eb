package train

import (
	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/run"
)

// mostMemory is what a WebAssembly program may have, the kernels or ours.
const mostMemory = 1 << 32

// checkMemory refuses what cannot fit, before any of it is taken.
func (p *Plan) checkMemory() error {
	backend, host := p.memory()
	if need := max(backend, host); need > mostMemory {
		return fault("model.hidden", "such a run needs %s GB, more than a browser tab can hold (4 GB); take fewer or narrower layers, or a smaller max_physical_batch_size",
			run.UpText(float64(need)/(1<<30), 2))
	}
	return nil
}

// memory estimates the most bytes that a run holds at a time. On the backend:
// parameters and all that is as large, a physical batch on its way through the
// layers, and what the method asks for. On this side: the data, a physical batch,
// and at the end the parameters twice, once on their way to the page.
func (p *Plan) memory() (backend, host int64) {
	const float = 4
	capacity := p.capacity()
	sums := 1 // in float32, and float64 from the second block on
	if p.cfg.NoiseMode == "secure" || p.cfg.DiagnosticsEvery > 0 || p.first.Geometry != nil || p.first.Coordinates ||
		min(p.likely(), p.meta.TrainRows) > min(capacity, compute.BlockRows) {
		sums = 3
	}
	copies, ours := 2+sums+map[string]int{"momentum": 1, "adam": 2}[p.cfg.Optimizer], 2
	for _, part := range []struct {
		asked        bool
		copies, ours int
	}{
		{p.cfg.Iterate != "last", 1, 0},
		{p.cfg.DiagnosticsEvery > 0, 6, 4},
		{p.first.Geometry != nil, 6, 0},
		{p.cfg.NoiseMode == "secure", 2, 4},
	} {
		if part.asked {
			copies, ours = copies+part.copies, ours+part.ours
		}
	}
	backend = float * int64(copies*p.spec.Params()+(capacity+1)*p.width()+p.squares()+kernel.TableSize)
	if f := p.meta.Features; p.cfg.PCA.Components > 0 { // before there is a model
		backend = max(backend, float*int64(f*(5*f+p.cfg.PCA.Components+capacity)))
	}
	host = float * int64(ours*p.spec.Params()+2*capacity*p.meta.Features)
	for _, rows := range []int{p.meta.TrainRows, p.meta.TestRows} {
		host += int64(rows) * int64(p.meta.FeatureBytes*p.meta.Features+float*p.meta.TargetWidth())
	}
	return backend, host
}

// width is how many values of a row the layers hold.
func (p *Plan) width() int {
	width := p.inputs()
	if p.cfg.PCA.Components > 0 {
		width += p.meta.Features
	}
	for i, out := range p.spec.Widths[1:] {
		width += 5*out + 8 // outputs, activations, their gradients, scaled ones; norms, losses
		if p.first.Geometry != nil || p.cfg.DiagnosticsEvery > 0 {
			width += p.spec.Widths[i] + 2*out
		}
	}
	return width
}

// squares is how many values the matrices take that are not parameters.
func (p *Plan) squares() (n int) {
	if p.first.Source == clip.Bounded {
		for i, out := range p.spec.Widths[1:] {
			side := min(p.spec.Widths[i], out)
			n += 2 * side * side
		}
	}
	return n + p.meta.Features*p.cfg.PCA.Components
}
