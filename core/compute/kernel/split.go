package kernel

import (
	"context"
	"fmt"

	"clipscope/core/compute"
)

// Split writes sums as two parts that add up to them: to 48 digits, exactly for
// whole numbers within ±2⁴⁸. Where src is beyond float32, high is that and low 0.
//
//	for i := range n { high[i] = float32(src[i]); low[i] = float32(src[i] - high[i]) }
func Split(q compute.Queue, n int, src compute.Sums, high, low compute.Buffer) {
	q.Run(split, compute.Args{N: sizes{n}, Buf: buffers{vec(high, n), vec(low, n)}, Sums: src.Holding(1, n)})
}

var split = compute.Define(compute.Kernel{Name: "split", Loop: func(o *compute.Operands) {
	for i := range o.Buf[0] {
		high := float32(o.Sums[i])
		low := float32(o.Sums[i] - float64(high))
		if high-high != 0 {
			low = 0
		}
		o.Buf[0][i], o.Buf[1][i] = high, low
	}
}})

// SplitDigits is the number of binary digits of a sum that Split keeps.
const SplitDigits = 48

// ReadSums waits for the first len(dst) of src, with what Split keeps of them.
func ReadSums(ctx context.Context, b compute.Backend, dst []float64, src compute.Sums) error {
	n := len(dst)
	both := b.New(2 * n)
	defer b.Free(both)
	Split(b, n, src, both.Slice(0, n), both.Slice(n, n))
	parts := make([]float32, 2*n)
	if err := compute.Read(ctx, b, parts, both); err != nil {
		return fmt.Errorf("kernel: reading sums: %w", err)
	}
	for i := range dst {
		dst[i] = float64(parts[i]) + float64(parts[n+i])
	}
	return nil
}
