package lipschitz

import "clipscope/core/compute"

// Chain writes how much longer a gradient, or an example, can become in all layers
// but one, for each layer where has is not 0, and 0 elsewhere: with paper, in all
// others by the second of each layer's bounds [layers×2], or in the later ones by the
// first. Beside it stands the most that the first of these layers, however many, make
// of what is 1 long, which is what the rounding at any of them can become; it is at
// least 1. Both err upwards only, by less than 10⁻⁵.
//
//	for j := range layers {
//		dst[2*j] = Π_{l > j} bounds[2*l], or Π_{l ≠ j} bounds[2*l+1]
//		dst[2*j+1] = max(1, the partial products of dst[2*j])
//	}
func Chain(q compute.Queue, layers int, paper bool, bounds, has, dst compute.Buffer) {
	n := [5]int{layers}
	if paper {
		n[1] = 1
	}
	q.Run(chain, compute.Args{N: n, Buf: [5]compute.Buffer{bounds.Slice(0, 2*layers), has.Slice(0, layers), dst.Slice(0, 2*layers)}})
}

var chain = compute.Define(compute.Kernel{Name: "chain", Loop: func(o *compute.Operands) {
	bounds, has, dst, paper := o.Buf[0], o.Buf[1], o.Buf[2], o.N[1]
	for j := range has {
		product, most := 1.0, 1.0
		for l := (1 - paper) * (j + 1); l < len(has); l++ {
			if l != j {
				product *= float64(bounds[2*l+paper])
				most = max(most, product)
			}
		}
		dst[2*j], dst[2*j+1] = 0, 0
		if has[j] != 0 {
			dst[2*j], dst[2*j+1] = orInf(product), orInf(most)
		}
	}
}})
