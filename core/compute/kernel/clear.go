package kernel

import "clipscope/core/compute"

// Clear sets all of s to zero.
func Clear(q compute.Queue, s compute.Sums) {
	q.Run(clearSums, compute.Args{N: sizes{s.N}, Sums: s})
}

var clearSums = compute.Define(compute.Kernel{Name: "clear", Loop: func(o *compute.Operands) {
	clear(o.Sums)
}})
