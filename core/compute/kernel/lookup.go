package kernel

import (
	"math"

	"clipscope/core/compute"
)

// LookUp turns n rows of k bytes into the values [n×k] that a table [256] has for them.
// The bytes are as [compute.Backend] writes them, four to a value of src, the lowest first.
//
//	for i := range n*k { dst[i] = table[byte i of src] }
func LookUp(q compute.Queue, n, k int, table, src, dst compute.Buffer) {
	q.Run(lookUp, compute.Args{N: sizes{n, k}, Buf: buffers{vec(table, 256), vec(src, (n*k+3)/4), vec(dst, n*k)}})
}

var lookUp = compute.Define(compute.Kernel{Name: "lookUp", Loop: func(o *compute.Operands) {
	table, src := o.Buf[0], o.Buf[1]
	for i := range o.Buf[2] {
		o.Buf[2][i] = table[math.Float32bits(src[i/4])>>(8*(i%4))&255]
	}
}})
