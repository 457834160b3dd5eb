package computetest

import "clipscope/core/compute"

func init() {
	mutants = append(mutants,
		mutant{"PickRows", "the first row in the place of all", after("pickRows", 3, func(a compute.Args, _ [][]float32, v []float32) {
			for i := range v {
				v[i] = v[i%a.N[1]]
			}
		})},
		mutant{"PickRows", "planes stay one after the other", with("pickRows", func(a *compute.Args) { a.N[2] = 1 })},
	)
}
