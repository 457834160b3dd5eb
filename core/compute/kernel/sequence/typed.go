package sequence

import "clipscope/core/compute"

// Typed parts tokens that have types: of n values x, each below many for a token of type 0, below 2·many for one of type 1,
// and so on to so many types, it writes the tokens and their types. What is no token is −1 in both.
//
//	for i := range n { tokens[i], kinds[i] = x[i] % many, x[i] / many }
func Typed(q compute.Queue, n, many, types int, x, tokens, kinds compute.Buffer) {
	q.Run(typed, compute.Args{N: [5]int{n, many, types}, Buf: [5]compute.Buffer{x.Slice(0, n), tokens.Slice(0, n), kinds.Slice(0, n)}})
}

var typed = compute.Define(compute.Kernel{Name: "typed", Loop: func(o *compute.Operands) {
	many := o.N[1]
	for i := range o.N[0] {
		o.Buf[1][i], o.Buf[2][i] = -1, -1
		if k := token(o.Buf[0][i], many*o.N[2]); k >= 0 {
			o.Buf[1][i], o.Buf[2][i] = float32(k%many), float32(k/many)
		}
	}
}})
