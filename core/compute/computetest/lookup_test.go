package computetest

import "clipscope/core/compute"

func init() {
	mutants = append(mutants,
		mutant{"LookUp", "the bytes with a sign", after("lookUp", 2, func(_ compute.Args, was [][]float32, v []float32) {
			for i := range v {
				if v[i] == was[0][200] {
					v[i] = was[0][0]
				}
			}
		})},
		mutant{"LookUp", "the last bytes are left out", with("lookUp", func(a *compute.Args) {
			a.N[1] &^= 3
			a.Buf[2].N = a.N[0] * a.N[1]
		})},
		mutant{"LookUp", "the source is kept, not copied", func(b compute.Backend) compute.Backend { return &keepBytes{Backend: b} }},
	)
}

// keepBytes writes bytes only when a kernel runs.
type keepBytes struct {
	compute.Backend
	dst compute.Buffer
	src []byte
}

func (k *keepBytes) WriteBytes(dst compute.Buffer, src []byte) { k.dst, k.src = dst, src }

func (k *keepBytes) Run(kernel *compute.Kernel, a compute.Args) {
	if k.src != nil {
		k.Backend.WriteBytes(k.dst, k.src)
	}
	k.Backend.Run(kernel, a)
}
