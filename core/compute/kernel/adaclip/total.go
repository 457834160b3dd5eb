package adaclip

import "clipscope/core/compute"

// Total adds up factors, in float64 and so exactly where they are multiples of a
// unit that is fine enough:
//
//	for i := range n { dst[0] += f[i] }
func Total(q compute.Queue, n int, f compute.Buffer, dst compute.Sums) {
	q.Run(total, compute.Args{N: [5]int{n}, Buf: [5]compute.Buffer{f.Slice(0, n)}, Sums: dst.Holding(1, 1)})
}

var total = compute.Define(compute.Kernel{Name: "total", Loop: func(o *compute.Operands) {
	for _, v := range o.Buf[0] {
		o.Sums[0] += float64(v)
	}
}})
