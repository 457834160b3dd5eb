package kernel

import "clipscope/core/compute"

// Copy is
//
//	for i := range n { dst[i] = src[i] }
func Copy(q compute.Queue, n int, dst, src compute.Buffer) {
	q.Run(copyValues, compute.Args{N: sizes{n}, Buf: buffers{vec(dst, n), vec(src, n)}})
}

var copyValues = compute.Define(compute.Kernel{Name: "copy", Loop: func(o *compute.Operands) {
	copy(o.Buf[0], o.Buf[1])
}})
