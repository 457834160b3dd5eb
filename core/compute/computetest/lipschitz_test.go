package computetest

import "clipscope/core/compute"

func init() {
	mutants = append(mutants,
		mutant{"Spectral", "no rounding of squares", with("spectral", func(a *compute.Args) { a.F[0] = 0 })},
		mutant{"Spectral", "no rounding of products", with("spectral", func(a *compute.Args) { a.F[5] = 0 })},
		mutant{"Spectral", "a hair below", after("spectral", 1, func(_ compute.Args, _ [][]float32, v []float32) { v[0] *= 1 - 0x1p-20 })},
		mutant{"Spectral", "no overlap", with("spectral", func(a *compute.Args) { a.N[1] = 1 })},
		mutant{"Spectral", "biases at one place", with("spectral", func(a *compute.Args) { a.N[2] = 1 })},
		mutant{"Chain", "of the layers before", with("chain", func(a *compute.Args) { a.N[1] = 1 - a.N[1] })},
		mutant{"Chain", "for layers that have none, too", before("chain", 1, func(v []float32) {
			for i := range v {
				v[i] = 1
			}
		})},
		mutant{"Chain", "the product for all that it passes", after("chain", 2, func(_ compute.Args, _ [][]float32, v []float32) {
			for i := 0; i < len(v); i += 4 {
				v[i+2], v[i+3] = v[i], v[i+1]
			}
		})},
		mutant{"Gain", "whatever is made on the way", before("gain", 0, func(v []float32) {
			for i := 0; i < len(v); i += 4 {
				v[i+2], v[i+3] = min(v[i+2], 1), min(v[i+3], 1)
			}
		})},
		mutant{"Gain", "another loss", with("gain", func(a *compute.Args) { a.N[0] = (a.N[0] + 1) % 5 })},
		mutant{"Gain", "losses that may not fall below 0", with("gain", func(a *compute.Args) { a.F[0] = 0 })},
		mutant{"Gain", "nothing besides", with("gain", func(a *compute.Args) { a.F[1] = 0 })},
		mutant{"Gain", "the inputs of the first layer alone", with("gain", func(a *compute.Args) { a.N[4] = 0 })},
		mutant{"Gain", "the loss as computed", before("gain", 3, func(v []float32) {
			for i := range v {
				v[i] = 0
			}
		})},
	)
}
