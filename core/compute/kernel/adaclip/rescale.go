package adaclip

import "clipscope/core/compute"

// Rescale works out what coordinates (g − m)/b are measured with:
//
//	for i := range n {
//		inv[i] = 1 / (b[i]*b[i])
//		lin[i] = m[i] * inv[i]
//	}
func Rescale(q compute.Queue, n int, m, b, inv, lin compute.Buffer) {
	q.Run(rescale, compute.Args{N: [5]int{n}, Buf: [5]compute.Buffer{m.Slice(0, n), b.Slice(0, n), inv.Slice(0, n), lin.Slice(0, n)}})
}

var rescale = compute.Define(compute.Kernel{Name: "rescale", Loop: func(o *compute.Operands) {
	m, b, inv, lin := o.Buf[0], o.Buf[1], o.Buf[2], o.Buf[3]
	for i := range m {
		inv[i] = float32(1 / (float64(b[i]) * float64(b[i])))
		lin[i] = float32(float64(m[i]) * float64(inv[i]))
	}
}})
