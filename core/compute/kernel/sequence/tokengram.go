package sequence

import "clipscope/core/compute"

// TokenGram adds to dst [m×m] the inner products of the gradients g [m×t×d] of [TokenGrad], as
// matrices [v×d]: of two examples those of the tokens that both have.
//
//	for i := range m { for k := range m { for j := range t { for l := range t {
//		where x[i][j] is a token and x[k][l] the same: dst[i][k] += ⟨g[i][j], g[k][l]⟩
//	} } } }
func TokenGram(q compute.Queue, m, t, v, d int, x, g, dst compute.Buffer) {
	q.Run(tokenGram, compute.Args{
		N:   [5]int{m, t, v, d},
		Buf: [5]compute.Buffer{x.Matrix(m, t), g.Matrix(m, t*d), dst.Matrix(m, m)},
	})
}

var tokenGram = compute.Define(compute.Kernel{Name: "tokenGram", Loop: func(o *compute.Operands) {
	m, t, v, d := o.N[0], o.N[1], o.N[2], o.N[3]
	places := make([][]int, v) // of a row's tokens
	for i := range m {
		for j := i * t; j < (i+1)*t; j++ {
			if own := token(o.Buf[0][j], v); own >= 0 {
				places[own] = append(places[own], j)
			}
		}
		for k := range m {
			s := 0.0
			for l := k * t; l < (k+1)*t; l++ {
				same := token(o.Buf[0][l], v)
				if same < 0 {
					continue
				}
				for _, j := range places[same] {
					for c := range d {
						s += float64(o.Buf[1][j*d+c]) * float64(o.Buf[1][l*d+c])
					}
				}
			}
			o.Buf[2][i*m+k] += float32(s)
		}
		for j := i * t; j < (i+1)*t; j++ {
			if own := token(o.Buf[0][j], v); own >= 0 {
				places[own] = places[own][:0]
			}
		}
	}
}})
