package computetest

import "clipscope/core/compute"

func init() {
	mutants = append(mutants,
		mutant{"Blend", "the two scalars the other way round", with("blend", func(a *compute.Args) { a.F[0], a.F[1] = a.F[1], a.F[0] })},
		mutant{"Blend", "b = 0 clears NaN", in("blend", func(_ compute.Backend, a compute.Args, run func(compute.Args)) {
			if a.F[1] != 0 {
				run(a)
			}
		})},
	)
}
