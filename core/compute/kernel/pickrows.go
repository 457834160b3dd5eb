package kernel

import (
	"math"

	"clipscope/core/compute"
)

// PickRows is [LookUp] of n of the rows that src holds, of k bytes each, one after the other: those that
// rows [n] numbers, as four bytes each. Of a picture of several planes of colour, one after the
// other, the values of each position become neighbours. A number beyond src is a bug.
//
//	for i := range n, j := range k { dst[i][j] = table[byte (j%planes)·k/planes + j/planes of row rows[i]] }
func PickRows(q compute.Queue, n, k, planes int, table, rows, src, dst compute.Buffer) {
	q.Run(pickRows, compute.Args{N: sizes{n, k, planes}, Buf: buffers{vec(table, 256), vec(rows, n), src, vec(dst, n*k)}})
}

var pickRows = compute.Define(compute.Kernel{Name: "pickRows", Loop: func(o *compute.Operands) {
	k, planes := o.N[1], o.N[2]
	table, rows, src, dst := o.Buf[0], o.Buf[1], o.Buf[2], o.Buf[3]
	for i := range dst {
		j := i % k
		at := int(math.Float32bits(rows[i/k]))*k + j%planes*(k/planes) + j/planes
		dst[i] = table[math.Float32bits(src[at/4])>>(8*(at%4))&255]
	}
}})
