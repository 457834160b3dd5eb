package adaclip

import "clipscope/core/compute"

// Centre takes the centre's share from a sum, in float64, for weights that add up
// to w[0] + w[1]:
//
//	for i := range n { dst[i] -= (w[0] + w[1]) * a[i] }
func Centre(q compute.Queue, n int, w, a compute.Buffer, dst compute.Sums) {
	q.Run(centre, compute.Args{N: [5]int{n}, Buf: [5]compute.Buffer{w.Slice(0, 2), a.Slice(0, n)}, Sums: dst.Holding(1, n)})
}

var centre = compute.Define(compute.Kernel{Name: "centre", Loop: func(o *compute.Operands) {
	w := float64(o.Buf[0][0]) + float64(o.Buf[0][1])
	for i, v := range o.Buf[1] {
		o.Sums[i] -= w * float64(v)
	}
}})
