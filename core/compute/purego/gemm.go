package purego

import (
	"math"

	"clipscope/core/compute"
)

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

func (b *Backend) ClampedOuter(m, n, k int, c float32, hBuf, dBuf, dstBuf compute.Buffer) {
	h, d, dst := rows(hBuf, m, n), rows(dBuf, m, k), rows(dstBuf, n, k)
	for j := range n {
		sums := b.sums(k)
		for i := range m {
			for l, x := range d[i*k : (i+1)*k] {
				sums[l] += float64(min(max(h[i*n+j]*x, -c), c))
			}
		}
		for l, s := range sums {
			dst[j*k+l] += float32(s)
		}
	}
}

func (b *Backend) RoundedOuter(m, n, k int, hBuf, dBuf, dstBuf compute.Buffer) {
	h, d, dst := rows(hBuf, m, n), rows(dBuf, m, k), rows(dstBuf, n, k)
	for j := range n {
		sums := b.sums(k)
		for i := range m {
			for l, x := range d[i*k : (i+1)*k] {
				sums[l] += math.RoundToEven(float64(h[i*n+j] * x))
			}
		}
		for l, s := range sums {
			dst[j*k+l] = float32(float64(dst[j*k+l]) + s)
		}
	}
}
