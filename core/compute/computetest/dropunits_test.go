package computetest

import "clipscope/core/compute"

func init() {
	mutants = append(mutants,
		mutant{"DropUnits", "all layers drop alike", with("dropUnits", func(a *compute.Args) { a.N[2] = 0 })},
		mutant{"DropUnits", "the second key is nothing to it", before("dropUnits", 0, func(v []float32) {
			for i := 1; i < len(v); i += 2 {
				v[i] = 0
			}
		})},
		mutant{"DropUnits", "0·NaN is NaN", after("dropUnits", 2, func(_ compute.Args, was [][]float32, v []float32) {
			for i, x := range was[1] {
				if x != x {
					v[i] = x
				}
			}
		})},
		mutant{"DropUnits", "what stays keeps its size", with("dropUnits", func(a *compute.Args) { a.F[0] = 1 })},
	)
}
