package computetest

import (
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel/sequence"
)

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
		mutant{"Typed", "the last token left out", with("typed", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
		mutant{"Typed", "the last type is none", with("typed", func(a *compute.Args) { a.N[2] = max(a.N[2]-1, 1) })},
		mutant{"Typed", "what is none is the first token", after("typed", 1, func(_ compute.Args, _ [][]float32, v []float32) {
			for i := range v {
				v[i] = max(v[i], 0)
			}
		})},
		mutant{"TokenGrad", "the last example left out", with("tokenGrad", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
		mutant{"TokenGrad", "added to what is there", after("tokenGrad", 2, func(_ compute.Args, was [][]float32, v []float32) {
			for i := range v {
				v[i] += was[2][i]
			}
		})},
		mutant{"TokenGrad", "a token counts once", after("tokenGrad", 2, func(a compute.Args, was [][]float32, v []float32) {
			d := a.N[3]
			for j := range was[0] {
				if firstPlace(was[0], j, a.N[1], a.N[2]) == j {
					copy(v[j*d:][:d], was[1][j*d:][:d])
				}
			}
		})},
		mutant{"AddTokens", "the last example left out", with("addTokens", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
		mutant{"AddTokens", "never clamped", with("addTokens", func(a *compute.Args) { a.N[4] &^= 1 })},
		mutant{"AddTokens", "never rounded", with("addTokens", func(a *compute.Args) { a.N[4] &^= 2 })},
		mutant{"AddTokens", "the last token is none", with("addTokens", func(a *compute.Args) {
			if a.N[1] > 0 {
				a.N[2] = max(a.N[2]-1, 0)
			}
		})},
		mutant{"TokenGram", "the last token is none", with("tokenGram", func(a *compute.Args) { a.N[2] = max(a.N[2]-1, 0) })},
		mutant{"TokenGram", "not added to what is there", after("tokenGram", 2, func(_ compute.Args, was [][]float32, v []float32) {
			for i := range v {
				v[i] -= was[2][i]
			}
		})},
		mutant{"Mean", "the last row left out", with("mean", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
		mutant{"Mean", "divided by the number of places", after("mean", 2, func(a compute.Args, was [][]float32, v []float32) {
			for i := range v {
				_, n := meant(was[0], i/a.N[4], a.N[1], a.N[2], a.N[3], sequence.Over(a.F[0]))
				v[i] *= float32(n) / float32(a.N[2])
			}
		})},
		mutant{"Mean", "the first and last tokens are all", with("mean", func(a *compute.Args) { a.F[0] = 0 })},
		mutant{"Mean", "the first token is the last", with("mean", func(a *compute.Args) { a.F[0] = min(a.F[0], 1) })},
		mutant{"MeanGrad", "the last row left out", with("meanGrad", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
		mutant{"MeanGrad", "what is no token has a gradient", after("meanGrad", 2, func(a compute.Args, was [][]float32, v []float32) {
			p, d := a.N[2], a.N[4]
			for i := range v {
				_, n := meant(was[0], i/d/p, a.N[1], p, a.N[3], sequence.Over(a.F[0]))
				v[i] = was[1][i/d/p*d+i%d] / float32(n)
			}
		})},
		mutant{"MeanGrad", "the first token is the last", with("meanGrad", func(a *compute.Args) { a.F[0] = min(a.F[0], 1) })},
		mutant{"Attend", "what is no token is looked at", before("attend", 0, func(v []float32) { clear(v) })},
		mutant{"Attend", "the last place has no answer", with("attend", func(a *compute.Args) { a.N[1] = max(a.N[1]-1, 0) })},
		mutant{"Attend", "one head", with("attend", func(a *compute.Args) {
			if a.N[3] > 1 {
				a.N[0], a.N[3] = min(a.N[0], 1), 1
			}
		})},
		mutant{"AttendGrad", "the last row left out", with("attendGrad", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
		mutant{"AttendGrad", "what a query sees is not taken off", before("attendGrad", 2, func(v []float32) { clear(v) })},
		mutant{"AttendGrad", "products are not scaled", after("attendGrad", 4, func(a compute.Args, _ [][]float32, v []float32) {
			for i := range v {
				if i/a.N[3]%3 < 2 {
					v[i] *= float32(math.Sqrt(float64(a.N[3] / a.N[2])))
				}
			}
		})},
	)
}
