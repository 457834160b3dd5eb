package computetest

import (
	"math"

	"clipscope/core/chacha"
	"clipscope/core/compute"
)

func init() {
	mutants = append(mutants,
		mutant{"Discrete", "nonce ignored", with("discrete", func(a *compute.Args) { a.Key.Nonce[2] = 0 })},
		mutant{"Discrete", "one sample fewer", with("discrete", func(a *compute.Args) { a.N[1] = max(1, a.N[1]-1) })},
		mutant{"Discrete", "multipliers the other way round", with("discrete", func(a *compute.Args) {
			if k := a.N[1]; k > 1 {
				a.F[1], a.F[k] = a.F[k], a.F[1]
			}
		})},
		mutant{"Discrete", "the sum rounded before noise is added", in("discrete", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
			n := a.N[0]
			editSums(b, a.Sums, n, func(v []float64) {
				for i := range v {
					v[i] = float64(float32(v[i]))
				}
			})
			run(a)
		})},
		mutant{"Discrete", "sums of one block counted as none", in("discrete", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
			if a.N[0] < 8 {
				editSums(b, a.Sums, a.N[0], func(v []float64) { clear(v) })
			}
			run(a)
		})},
		mutant{"Discrete", "a tie keeps the column", atTies(1<<24 - 1)},
		mutant{"Discrete", "a tie takes the alias", atTies(0)},
		mutant{"Discrete", "of a threshold's further digits the last is lost", before("discrete", 0, func(v []float32) {
			for c := range chacha.TableColumns {
				alias, first, digits := chacha.Column(v, c)
				digits[len(digits)-1] = 0
				chacha.SetColumn(v, c, alias, first, digits)
			}
		})},
		mutant{"Discrete", "always or never is nearly so", before("discrete", 0, func(v []float32) {
			for c := range chacha.TableColumns {
				if alias, first, digits := chacha.Column(v, c); first == always {
					chacha.SetColumn(v, c, alias, always-always>>6, digits)
				}
			}
		})},
		mutant{"Discrete", "a unit in the last place off", after("discrete", 1, func(_ compute.Args, _ [][]float32, v []float32) {
			for i := range v {
				v[i] = math.Nextafter32(v[i], 0)
			}
		})},
	)
}

// atTies replaces the further digits of all thresholds: none, or the most there can
// be.
func atTies(decides uint32) func(compute.Backend) compute.Backend {
	return before("discrete", 0, func(v []float32) {
		for c := range chacha.TableColumns {
			alias, first, digits := chacha.Column(v, c)
			for i := range digits {
				digits[i] = decides
			}
			chacha.SetColumn(v, c, alias, first, digits)
		}
	})
}
