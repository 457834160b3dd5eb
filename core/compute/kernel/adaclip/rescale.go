package adaclip

import "clipscope/core/compute"

// Rescale works out coordinates (g − m)/b from what [Spread] keeps:
//
//	for i := range n {
//		b[i] = scale * r[i]
//		inv[i] = 1 / (b[i]*b[i])
//		lin[i] = m[i] * inv[i]
//	}
func Rescale(q compute.Queue, n int, scale float32, m, r, b, inv, lin compute.Buffer) {
	q.Run(rescale, compute.Args{
		N: [5]int{n}, F: [6]float64{float64(scale)},
		Buf: [5]compute.Buffer{m.Slice(0, n), r.Slice(0, n), b.Slice(0, n), inv.Slice(0, n), lin.Slice(0, n)},
	})
}

var rescale = compute.Define(compute.Kernel{Name: "rescale", Loop: func(o *compute.Operands) {
	m, r, b, inv, lin := o.Buf[0], o.Buf[1], o.Buf[2], o.Buf[3], o.Buf[4]
	for i := range m {
		b[i] = float32(o.F[0] * float64(r[i]))
		inv[i] = float32(1 / (float64(b[i]) * float64(b[i])))
		lin[i] = float32(float64(m[i]) * float64(inv[i]))
	}
}})
