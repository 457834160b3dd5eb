package kernel

import "clipscope/core/compute"

// Trans says whether Gemm reads an operand as stored or transposed.
type Trans bool

const (
	NoTrans   Trans = false
	Transpose Trans = true
)

// Gemm is the matrix product C = op(A)·op(B) + beta·C, where op(A) is [m×k],
// op(B) is [k×n] and C is [m×n]; A is stored [m×k], or [k×m] when transposed, and
// B [k×n] or [n×k]. With beta = 0, C need not be initialised: NaN in it does not
// survive. A and B may be one buffer.
//
//	for i := range m { for j := range n {
//		s := 0.0; for l := range k { s += op(A)[i][l] * op(B)[l][j] }
//		C[i][j] = s + beta*C[i][j]
//	} }
func Gemm(q compute.Queue, tA, tB Trans, m, n, k int, a, b compute.Buffer, beta float32, c compute.Buffer) {
	q.Run(gemm, compute.Args{
		N: sizes{flag(tA), flag(tB), m, n, k}, F: scalars{float64(beta)},
		Buf: buffers{a.Matrix(m, k), b.Matrix(k, n), c.Matrix(m, n)},
	})
}

func flag(t Trans) int {
	if t {
		return 1
	}
	return 0
}

var gemm = compute.Define(compute.Kernel{Name: "gemm", Loop: func(o *compute.Operands) {
	m, n, k := o.N[2], o.N[3], o.N[4]
	a, b, c, beta := o.Buf[0], o.Buf[1], o.Buf[2], o.F[0]
	ai, al := k, 1 // element (i, l) of op(A) is a[i*ai+l*al]
	if o.N[0] != 0 {
		ai, al = 1, m
	}
	sums := make([]float64, n)
	for i := range m {
		clear(sums)
		for l := range k {
			x := float64(a[i*ai+l*al])
			if o.N[1] == 0 {
				for j, v := range b[l*n : (l+1)*n] {
					sums[j] += x * float64(v)
				}
			} else {
				for j := range sums {
					sums[j] += x * float64(b[j*k+l])
				}
			}
		}
		row := c[i*n : (i+1)*n]
		for j, s := range sums {
			if beta != 0 {
				s += beta * float64(row[j])
			}
			row[j] = float32(s)
		}
	}
}})
