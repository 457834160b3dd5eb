package computetest

import "clipscope/core/compute"

func init() {
	mutants = append(mutants,
		mutant{"Columns", "rows stand side by side", with("columns", func(a *compute.Args) { a.N[2] = a.N[1] })},
		mutant{"Columns", "what else is there is cleared", after("columns", 0, func(a compute.Args, _ [][]float32, v []float32) {
			for i := range v {
				if i%a.N[3] >= a.N[1] {
					v[i] = 0
				}
			}
		})},
		mutant{"Columns", "the last row left out", with("columns", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
	)
}
