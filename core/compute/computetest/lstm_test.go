package computetest

import "clipscope/core/compute"

func init() {
	fewer := func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) }
	mutants = append(mutants,
		mutant{"LSTM", "the last row left out", with("lstm", fewer)},
		mutant{"LSTM", "the place before is not seen", before("lstm", 2, func(v []float32) { clear(v[:max(len(v)-1, 0)]) })},
		mutant{"LSTM", "what is no token is passed", before("lstm", 0, func(v []float32) { clear(v) })},
		mutant{"LSTM", "cells hold nothing longer", after("lstm", 3, func(a compute.Args, _ [][]float32, v []float32) {
			for i := range v {
				if i/a.N[3]%a.N[1] > 0 {
					v[i] /= 2
				}
			}
		})},
		mutant{"LSTMGrad", "the last row left out", with("lstmGrad", fewer)},
		mutant{"LSTMGrad", "nothing comes back from the next place", before("lstmGrad", 2, func(v []float32) { clear(v) })},
		mutant{"LSTMGrad", "what is no token has a gradient", before("lstmGrad", 0, func(v []float32) { clear(v) })},
		mutant{"LSTMGrad", "cells keep what they hold", after("lstmGrad", 3, func(_ compute.Args, was [][]float32, v []float32) { copy(v, was[3]) })},
	)
}
