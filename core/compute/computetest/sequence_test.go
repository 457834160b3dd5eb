package computetest

import "clipscope/core/compute"

func init() {
	mutants = append(mutants,
		mutant{"Embed", "the last token left out", with("embed", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
		mutant{"Embed", "no token takes the first row", after("embed", 2, func(a compute.Args, was [][]float32, v []float32) {
			for i, x := range was[0] {
				if tokenOf(x, a.N[1]) < 0 {
					copy(v[i*a.N[2]:][:a.N[2]], was[1])
				}
			}
		})},
		mutant{"Embed", "the last row of the table is no token's", with("embed", func(a *compute.Args) { a.N[1] = max(a.N[1]-1, 0) })},
		mutant{"EmbedGrad", "the last example left out", with("embedGrad", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
		mutant{"EmbedGrad", "added to what is there", after("embedGrad", 2, func(_ compute.Args, was [][]float32, v []float32) {
			for i := range v {
				v[i] += was[2][i]
			}
		})},
		mutant{"EmbedGrad", "a token counts once", after("embedGrad", 2, func(a compute.Args, was [][]float32, v []float32) {
			t, many, d := a.N[1], a.N[2], a.N[3]
			for j, x := range was[0] {
				if k := tokenOf(x, many); k >= 0 {
					copy(v[(j/t*many+k)*d:][:d], was[1][j*d:][:d])
				}
			}
		})},
	)
}
