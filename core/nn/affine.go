package nn

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
)

// affine holds the weights and biases of a map, of which all, the biases or none are trained, and their site.
type affine struct {
	be   compute.Backend
	how  training
	w, b compute.Buffer
	p    compute.Buffer // w and then b; where biases alone are trained, it is made by join
	site *formedSite    // nil where nothing is trained
}

// newAffine makes a map of which, where all is trained, gradients are kept or have memory that is shared.
func newAffine(m *builder, weights, biases int, shared *anew) affine {
	a := affine{be: m.be, how: m.how}
	switch {
	case m.how == biasesAlone && biases > 0:
		a.w, a.site = m.still.take(weights), newFormedSite(m, biases, nil)
		if a.b = a.site.p; weights == 0 {
			a.p = a.b
		}
		return a
	case m.how == whole:
		a.site = newFormedSite(m, weights+biases, shared)
		a.p = a.site.p
	default:
		a.p = m.still.take(weights + biases)
	}
	a.w, a.b = a.p.Slice(0, weights), a.p.Slice(weights, biases)
	return a
}

// joining has p made by join, for kernels that take weights and biases in one.
func (a *affine) joining() {
	if a.p.Memory == nil {
		a.p = a.be.New(a.w.Len() + a.b.Len())
	}
}

// join brings the p of joining up to date.
func (a *affine) join() {
	if n := a.w.Len(); a.how == biasesAlone {
		kernel.Copy(a.be, n, a.p.Slice(0, n), a.w)
		kernel.Copy(a.be, a.b.Len(), a.p.Slice(n, a.b.Len()), a.b)
	}
}

func (a *affine) Sites() []Site {
	if a.site == nil {
		return nil
	}
	return []Site{a.site}
}

// form forms the gradients of so many rows: all writes those by weights and biases, and sums those by the biases,
// of n rows from row from on.
func (a *affine) form(rows int, all, sums func(from, n int, dst compute.Buffer)) {
	if a.site == nil {
		return
	}
	a.site.rows = rows
	if a.how == biasesAlone {
		all = sums
	}
	a.site.gather(all)
}

// sumPlaces writes the sums over places of gradients dy [n×places×channels] to dst [n×channels].
func sumPlaces(be compute.Backend, n, places, channels int, dy, dst compute.Buffer) {
	if places == 1 {
		kernel.Copy(be, n*channels, dst, dy)
		return
	}
	picture.Pool(be, picture.Mean, picture.Window{Height: places, Width: 1, Channels: channels, High: places, Wide: 1, Stride: 1}, n, dy, dst)
	kernel.Scale(be, n*channels, float32(places), dst)
}
