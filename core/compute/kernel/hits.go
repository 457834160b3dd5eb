package kernel

import "clipscope/core/compute"

// Hits writes 1 for each row of predictions z [m×n] that is right and else 0.
// Where classes are told apart, targets [m], the first largest is the one of the
// target; where labels are [m×n], every one is on where its logit is positive.
func Hits(q compute.Queue, labels bool, m, n int, z, t, dst compute.Buffer) {
	width, kind := 1, 0
	if labels {
		width, kind = n, 1
	}
	q.Run(hits, compute.Args{N: sizes{kind, m, n}, Buf: buffers{z.Matrix(m, n), t.Matrix(m, width), vec(dst, m)}})
}

var hits = compute.Define(compute.Kernel{Name: "hits", Loop: func(o *compute.Operands) {
	n := o.N[2]
	for i := range o.Buf[2] {
		row := o.Buf[0][i*n : (i+1)*n]
		right := float32(1)
		if o.N[0] == 0 {
			best := 0
			for j, v := range row {
				if v > row[best] {
					best = j
				}
			}
			if float32(best) != o.Buf[1][i] {
				right = 0
			}
		} else {
			for j, v := range row {
				if (v > 0) != (o.Buf[1][i*n+j] > 0.5) {
					right = 0
				}
			}
		}
		o.Buf[2][i] = right
	}
}})
