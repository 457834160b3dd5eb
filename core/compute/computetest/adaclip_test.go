package computetest

import (
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

func init() {
	mutants = append(mutants,
		mutant{"Total", "of all but the last", with("total", func(a *compute.Args) { a.Buf[1].N = max(0, a.Buf[1].N-1); a.N[0] = a.Buf[1].N })},
		mutant{"Total", "half the unit", with("total", func(a *compute.Args) { a.F[0] /= 2 })},
		mutant{"AtLeast", "never", with("atLeast", func(a *compute.Args) { a.F[0] = 0 })},
		mutant{"Centre", "by the first part alone", before("centre", 0, func(v []float32) { v[1] = 1 })},
		mutant{"Spread", "its own noise counted as deviation", with("spread", func(a *compute.Args) { a.F[3] = 0 })},
		mutant{"Spread", "the sum of deviations left out", before("spread", 0, func(v []float32) { v[0] = 1 })},
		mutant{"Spread", "the greatest variance ignored", with("spread", func(a *compute.Args) { a.F[5] = math.MaxFloat32 })},
		mutant{"Rescale", "lin is 1/b²", in("rescale", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
			run(a)
			kernel.Copy(b, a.N[0], a.Buf[3], a.Buf[2])
		})},
	)
}
