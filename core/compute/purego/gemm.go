package purego

import "clipscope/core/compute"

// Gemm takes one row of C at a time. With B as stored, the row is the sum of
// rows of B, which reads memory in order; with B transposed each element is the
// product of two rows.
func (b *Backend) Gemm(tA, tB compute.Trans, m, n, k int, aBuf, bBuf compute.Buffer, beta float32, cBuf compute.Buffer) {
	av, bv, c := rows(aBuf, m, k), rows(bBuf, k, n), rows(cBuf, m, n)
	// Element (i, l) of op(A) is av[i*ai+l*al].
	ai, al := k, 1
	if tA == compute.Transpose {
		ai, al = 1, m
	}
	for i := range m {
		s := b.sums(n)
		for l := range k {
			a := float64(av[i*ai+l*al])
			if tB == compute.NoTrans {
				for j, v := range bv[l*n : (l+1)*n] {
					s[j] += a * float64(v)
				}
			} else {
				for j := range s {
					s[j] += a * float64(bv[j*k+l])
				}
			}
		}
		addTo(c[i*n:(i+1)*n], beta, s)
	}
}

// addTo is c = s + beta·c, where beta = 0 means c = s whatever c holds.
func addTo(c []float32, beta float32, s []float64) {
	for j, v := range s {
		if beta != 0 {
			v += float64(beta) * float64(c[j])
		}
		c[j] = float32(v)
	}
}
