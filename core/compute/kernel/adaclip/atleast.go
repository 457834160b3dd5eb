package adaclip

import "clipscope/core/compute"

// AtLeast lifts norms to times·from[0], rounded to float32. NaN, on either side,
// stays.
//
//	for i := range n { u[i] = max(u[i], times * from[0]) }
func AtLeast(q compute.Queue, n int, times float32, from, u compute.Buffer) {
	q.Run(atLeast, compute.Args{N: [5]int{n}, F: [6]float64{float64(times)}, Buf: [5]compute.Buffer{from.Slice(0, 1), u.Slice(0, n)}})
}

var atLeast = compute.Define(compute.Kernel{Name: "atLeast", Loop: func(o *compute.Operands) {
	least := float32(o.F[0] * float64(o.Buf[0][0]))
	for i, v := range o.Buf[1] {
		o.Buf[1][i] = max(v, least)
	}
}})
