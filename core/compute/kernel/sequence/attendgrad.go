package sequence

import "clipscope/core/compute"

// AttendGrad forms the gradient of [Attend] by a, da [n×t×3d], from that by its result, dy [n×t×d].
// p and y are what it wrote. What a place takes nothing of is left out.
//
//	for i := range n { for h := range heads { for j, k := range t×t where p[i][h][j][k] != 0 {
//		s = p[i][h][j][k]*⟨dy[i][j][h], value k − y[i][j][h]⟩/√width
//		da query j += s*key k; da key k += s*query j; da value k += p[i][h][j][k]*dy[i][j][h]
//	} } }
func AttendGrad(q compute.Queue, n, t int, h Heads, a, p, y, dy, da compute.Buffer) {
	places := t * h.Channels
	q.Run(attendGrad, compute.Args{
		N:   [5]int{n, t, h.Count, h.Channels},
		Buf: [5]compute.Buffer{a.Matrix(n, 3*places), p.Matrix(n, h.Count*t*t), y.Matrix(n, places), dy.Matrix(n, places), da.Matrix(n, 3*places)},
	})
}

var attendGrad = compute.Define(compute.Kernel{Name: "attendGrad", Loop: func(o *compute.Operands) {
	t, h := o.N[1], Heads{o.N[2], o.N[3]}
	size := t * 3 * h.Channels
	sums := make([]float64, size)
	for i := range o.N[0] {
		clear(sums)
		for head := range h.Count {
			s := seen{o.Buf[0][i*size:], h.Channels, h.width(), head}
			for j := range t {
				at := (i*t+j)*h.Channels + head*h.width()
				y, dy := o.Buf[2][at:at+h.width()], o.Buf[3][at:at+h.width()]
				own := dot(dy, y)
				for k, p := range o.Buf[1][((i*h.Count+head)*t+j)*t:][:t] {
					if p == 0 {
						continue
					}
					by := float64(p) * (dot(dy, s.of(k, 2)) - own) * h.scale()
					query, key := 3*j*h.Channels+head*h.width(), (3*k+1)*h.Channels+head*h.width()
					for c, d := range dy {
						sums[query+c] += by * float64(s.of(k, 1)[c])
						sums[key+c] += by * float64(s.of(j, 0)[c])
						sums[key+h.Channels+c] += float64(p) * float64(d)
					}
				}
			}
		}
		for c, v := range sums {
			o.Buf[4][i*size+c] = float32(v)
		}
	}
}})
