package kernel

import (
	"math"

	"clipscope/core/compute"
)

// Each is a function of every element of every product before it is added.
type Each struct {
	how   int
	bound float32
}

// Plain leaves elements as they are.
func Plain() Each { return Each{} }

// Clamped clamps them to [−c, c], c not negative. One that is NaN makes its sum NaN.
func Clamped(c float32) Each { return Each{1, c} }

// Rounded rounds them to the nearest whole number, ties to even, some backends to
// float32 first, where they make a tie of what is nearly one. While the sums of pieces
// stay within ±2²⁴ and dst within ±2⁵³, nothing else is rounded: secure noise builds on
// that.
func Rounded() Each { return Each{2, 0} }

// Numbers returns the function as a kernel's arguments have it: 0 for plain, 1 for clamped to the
// bound, 2 for rounded.
func (e Each) Numbers() (how int, bound float64) { return e.how, float64(e.bound) }

// AddOuter adds to dst [n×k] the sum of the outer products of the rows of
// h [m×n] and d [m×k], which may be one buffer, in pieces as [compute.PieceRows] has it:
//
//	for i := range m { for j := range n { for l := range k {
//		dst[j*k+l] += each(h[i*n+j] * d[i*k+l])
//	} } }
func AddOuter(q compute.Queue, m, n, k int, each Each, h, d compute.Buffer, dst compute.Sums) {
	how, bound := each.Numbers()
	q.Run(addOuter, compute.Args{
		N: sizes{m, n, k, how}, F: scalars{bound},
		Buf: buffers{h.Matrix(m, n), d.Matrix(m, k)}, Sums: dst.Holding(n, k),
	})
}

var addOuter = compute.Define(compute.Kernel{Name: "addOuter", Loop: func(o *compute.Operands) {
	m, n, k := o.N[0], o.N[1], o.N[2]
	if m == 1 {
		addBlock(o, 0, m, o.Sums)
		return
	}
	block := make([]float64, n*k)
	for lo := 0; lo < m; lo += compute.BlockRows {
		clear(block)
		addBlock(o, lo, min(lo+compute.BlockRows, m), block)
		for i, x := range block {
			o.Sums[i] += x
		}
	}
}})

// addBlock adds the products of rows lo to hi to sums, with no pieces, as all sums are in float64.
func addBlock(o *compute.Operands, lo, hi int, sums []float64) {
	n, k, c := o.N[1], o.N[2], float32(o.F[0])
	for i := lo; i < hi; i++ {
		for j, x := range o.Buf[0][i*n : (i+1)*n] {
			row := sums[j*k : (j+1)*k]
			for l, y := range o.Buf[1][i*k : (i+1)*k] {
				switch o.N[3] {
				case 0:
					row[l] += float64(x) * float64(y)
				case 1:
					row[l] += float64(min(max(x*y, -c), c))
				default:
					row[l] += math.RoundToEven(float64(x * y))
				}
			}
		}
	}
}
