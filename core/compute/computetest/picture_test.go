package computetest

import "clipscope/core/compute"

func init() {
	for part, kernel := range map[string]string{"Conv": "conv", "ConvGrad": "convGrad", "ConvWeights": "convWeights", "Pool": "pool", "PoolGrad": "poolGrad"} {
		mutants = append(mutants,
			mutant{part, "the last picture left out", with(kernel, func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
		)
	}
	mutants = append(mutants,
		mutant{"Alone", "a picture's gradient is rounded otherwise among others", after("convWeights", 2, func(a compute.Args, _ [][]float32, v []float32) {
			for i := range v {
				if a.N[0] > 1 {
					v[i] *= 1 - 0x1p-22
				}
			}
		})},
		mutant{"Conv", "no bias", after("conv", 3, func(a compute.Args, was [][]float32, v []float32) {
			for i := range v {
				v[i] -= was[2][i%a.N[4]]
			}
		})},
		mutant{"ConvGrad", "added to what is there", after("convGrad", 2, func(_ compute.Args, was [][]float32, v []float32) {
			for i := range v {
				v[i] += was[2][i]
			}
		})},
		mutant{"ConvWeights", "the bias's gradient is left out", after("convWeights", 2, func(a compute.Args, was [][]float32, v []float32) {
			for i := len(v) - a.N[4]; i >= 0 && i < len(v); i++ {
				v[i] = was[2][i]
			}
		})},
		mutant{"Pool", "the greatest is at least 0", after("pool", 1, func(a compute.Args, _ [][]float32, v []float32) {
			for i := range v {
				if a.N[4] == 0 {
					v[i] = max(v[i], 0)
				}
			}
		})},
		mutant{"PoolGrad", "means are sums", after("poolGrad", 3, func(a compute.Args, _ [][]float32, v []float32) {
			for i := range v {
				if a.N[4] == 1 {
					v[i] *= float32(a.F[0] * a.F[1])
				}
			}
		})},
	)
	mutants = append(mutants, mutant{"GroupNormParams", "all positions have the statistics of the first", with("groupNormParams", func(a *compute.Args) {
		if a.N[4] == 1 { // which stand first, and then those of others
			a.N[4] = 0
			a.Buf[1] = a.Buf[1].Slice(0, a.N[0]*2*a.N[3])
		}
	})})
	mutants = append(mutants, mutant{"GroupNorm", "variances with 10⁻⁵ each", with("groupNorm", func(a *compute.Args) { a.F[0] = 1e-5 })})
	for part, kernel := range map[string]string{"GroupNorm": "groupNorm", "GroupNormGrad": "groupNormGrad", "GroupNormParams": "groupNormParams"} {
		mutants = append(mutants,
			mutant{part, "the last picture left out", with(kernel, func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
			mutant{part, "the last position left out", with(kernel, func(a *compute.Args) { a.N[1] = max(a.N[1]-1, 0) })},
		)
	}
}
