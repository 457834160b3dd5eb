package optim

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/purego"
)

// reference is each optimiser as its paper prints it, in float64.
func reference(c Config, w []float64, grads [][]float64) []float64 {
	v, m := make([]float64, len(w)), make([]float64, len(w))
	for t, g := range grads {
		for i := range w {
			w[i] -= c.LearningRate * c.WeightDecay * w[i]
			switch c.Name {
			case "sgd":
				w[i] -= c.LearningRate * g[i]
			case "momentum":
				v[i] = c.Momentum*v[i] + g[i]
				step := v[i]
				if c.Nesterov {
					step = g[i] + c.Momentum*v[i]
				}
				w[i] -= c.LearningRate * step
			case "adam":
				m[i] = c.Beta1*m[i] + (1-c.Beta1)*g[i]
				v[i] = c.Beta2*v[i] + (1-c.Beta2)*g[i]*g[i]
				mHat := m[i] / (1 - math.Pow(c.Beta1, float64(t+1)))
				vHat := v[i] / (1 - math.Pow(c.Beta2, float64(t+1)))
				w[i] -= c.LearningRate * mHat / (math.Sqrt(vHat) + c.Eps)
			}
		}
	}
	return w
}

func TestStepsEqualTheirPapers(t *testing.T) {
	backends := map[string]compute.Backend{"purego": purego.New(), "deferred": deferred.New(purego.New())}
	for name, be := range backends {
		for _, c := range []Config{
			{Name: "sgd", LearningRate: 0.1},
			{Name: "momentum", LearningRate: 0.1, Momentum: 0.9},
			{Name: "adam", LearningRate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
			{Name: "momentum", LearningRate: 0.1, Momentum: 0.9, Nesterov: true},
			{Name: "momentum", LearningRate: 0.1, Nesterov: true},
			{Name: "sgd", LearningRate: 0.1, WeightDecay: 0.3},
			{Name: "momentum", LearningRate: 0.1, Momentum: 0.5, Nesterov: true, WeightDecay: 0.2},
			{Name: "momentum", LearningRate: 0.1, Momentum: 0.9, WeightDecay: 1},
			{Name: "adam", LearningRate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.5},
		} {
			const n, steps = 13, 20
			rng := rand.New(rand.NewPCG(1, 1))
			first, grads := make([]float32, n), make([][]float64, steps)
			want := make([]float64, n)
			for i := range first {
				first[i] = float32(rng.NormFloat64())
				want[i] = float64(first[i])
			}
			w, g := be.New(n), be.New(n)
			be.Write(w, first)
			opt, err := New(be, c, n)
			if err != nil {
				t.Fatal(err)
			}
			for s := range grads {
				grads[s] = make([]float64, n)
				part := make([]float32, n)
				for i := range part {
					part[i] = float32(rng.NormFloat64())
					grads[s][i] = float64(part[i])
				}
				be.Write(g, part)
				opt.Step(w, g)
			}
			got := make([]float32, n)
			if err := compute.Read(context.Background(), be, got, w); err != nil {
				t.Fatal(err)
			}
			for i, x := range reference(c, want, grads) {
				if math.Abs(float64(got[i])-x) > 1e-5*(1+math.Abs(x)) {
					t.Errorf("%s on %s: parameter %d is %g, want %g", c.Name, name, i, got[i], x)
				}
			}
		}
	}
}

func TestAnUnknownOptimizerIsRefused(t *testing.T) {
	if _, err := New(purego.New(), Config{Name: "lion"}, 0); err == nil {
		t.Error("an unknown optimizer was accepted")
	}
}
