package lipschitz

import "clipscope/core/compute"

// Chain writes how much longer a gradient, or an example, can become in all layers
// but one, for each layer where has is not 0, and 0 elsewhere: with paper, in all
// others by the second of each layer's bounds [layers×2], or in the later ones by the
// first. It errs upwards only, by less than 10⁻⁵.
//
//	for j := range layers { dst[j] = Π_{l > j} bounds[2*l], or Π_{l ≠ j} bounds[2*l+1] }
func Chain(q compute.Queue, layers int, paper bool, bounds, has, dst compute.Buffer) {
	n := [5]int{layers}
	if paper {
		n[1] = 1
	}
	q.Run(chain, compute.Args{N: n, Buf: [5]compute.Buffer{bounds.Slice(0, 2*layers), has.Slice(0, layers), dst.Slice(0, layers)}})
}

var chain = compute.Define(compute.Kernel{Name: "chain", Loop: func(o *compute.Operands) {
	bounds, has, dst, paper := o.Buf[0], o.Buf[1], o.Buf[2], o.N[1]
	for j := range dst {
		product, from := 1.0, (1-paper)*(j+1)
		for l := from; l < len(dst); l++ {
			if l != j {
				product *= float64(bounds[2*l+paper])
			}
		}
		dst[j] = 0
		if has[j] != 0 {
			dst[j] = orInf(product)
		}
	}
}})
