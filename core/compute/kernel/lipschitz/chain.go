package lipschitz

import "clipscope/core/compute"

// Chain writes how much longer a gradient, or an example, can become in all layers
// but one, times what that one makes of it, its reach [layers×2], 0 where it has no
// parameters: with paper, in all others by the second of each layer's bounds
// [layers×2], or in the later ones by the first. Beside it stands the most that the
// first of these layers, however many, make of what is 1 long, at least 1, which is
// what the rounding at any of them can become; times the reach, too. Both err upwards
// only, by less than 10⁻⁵.
//
//	for j := range layers { for i := range 2 {
//		product := Π_{l > j} bounds[2*l], or Π_{l ≠ j} bounds[2*l+1]
//		dst[4*j+i] = reach[2*j+i] * product
//		dst[4*j+2+i] = reach[2*j+i] * max(1, the partial products of it)
//	} }   0 where reach is 0
func Chain(q compute.Queue, layers int, paper bool, bounds, reach, dst compute.Buffer) {
	n := [5]int{layers}
	if paper {
		n[1] = 1
	}
	q.Run(chain, compute.Args{N: n, Buf: [5]compute.Buffer{bounds.Slice(0, 2*layers), reach.Slice(0, 2*layers), dst.Slice(0, 4*layers)}})
}

var chain = compute.Define(compute.Kernel{Name: "chain", Loop: func(o *compute.Operands) {
	bounds, reach, dst, paper := o.Buf[0], o.Buf[1], o.Buf[2], o.N[1]
	for j := range o.N[0] {
		product, most := 1.0, 1.0
		for l := (1 - paper) * (j + 1); l < o.N[0]; l++ {
			if l != j {
				product *= float64(bounds[2*l+paper])
				most = max(most, product)
			}
		}
		for i, r := range reach[2*j : 2*j+2] {
			dst[4*j+i], dst[4*j+2+i] = 0, 0
			if r != 0 {
				dst[4*j+i], dst[4*j+2+i] = orInf(product*float64(r)), orInf(most*float64(r))
			}
		}
	}
}})
