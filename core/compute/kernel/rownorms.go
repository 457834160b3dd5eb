package kernel

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/compute"
)

// RowNorms writes an upper bound on the L2 norm of every row of x [m×n], at most a
// millionth, or 2⁻¹⁴⁹, above it for any n: clipping divides by it, and a norm that
// is too small lets an example add more than it may. Rows with NaN or ±Inf give
// NaN or +Inf.
//
//	for i := range m { s := 0.0; for j := range n { s += x[i*n+j]*x[i*n+j] }; dst[i] = √s }
func RowNorms(q compute.Queue, m, n int, x, dst compute.Buffer) {
	q.Run(rowNorms, compute.Args{N: sizes{m, n}, Buf: buffers{x.Matrix(m, n), vec(dst, m)}})
}

// JoinRowNorms joins to each norm in dst that of a row of x [m×n]. Like [RowNorms] it
// errs upwards only, by no more. NaN or ±Inf in either give NaN or +Inf.
//
//	for i := range m { dst[i] = √(dst[i]² + ‖xᵢ‖²) }
func JoinRowNorms(q compute.Queue, m, n int, x, dst compute.Buffer) {
	q.Run(rowNorms, compute.Args{N: sizes{m, n, 1}, Buf: buffers{x.Matrix(m, n), vec(dst, m)}})
}

// rowNorms joins norms to those in dst where N[2] is 1.
var rowNorms = compute.Define(compute.Kernel{Name: "rowNorms", Loop: func(o *compute.Operands) {
	n, join, x := o.N[1], o.N[2] == 1, o.Buf[0]
	for i := range o.Buf[1] {
		s := 0.0 // float64 holds the square of every float32
		for _, v := range x[i*n : (i+1)*n] {
			s += float64(v) * float64(v)
		}
		if join {
			s += float64(o.Buf[1][i]) * float64(o.Buf[1][i])
		}
		o.Buf[1][i] = Above(math.Sqrt(s))
	}
}})

// Norm waits for an upper bound on the L2 norm of x, as [RowNorms]; scalar holds
// one value on the way.
func Norm(ctx context.Context, b compute.Backend, x, scalar compute.Buffer) (float64, error) {
	var norm [1]float32
	RowNorms(b, 1, x.Len(), x, scalar)
	if err := compute.Read(ctx, b, norm[:], scalar); err != nil {
		return 0, fmt.Errorf("kernel: reading a norm: %w", err)
	}
	return float64(norm[0]), nil
}
