package optim

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/purego"
)

// reference is each optimiser as its paper prints it, in float64; noise is the variance in each step.
func reference(c Config, w []float64, grads [][]float64, noise []float64) []float64 {
	v, m := make([]float64, len(w)), make([]float64, len(w))
	phi := 0.0
	for t, g := range grads {
		phi = c.Beta2*phi + (1-c.Beta2)*noise[t]
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
			case "adam-bc":
				m[i] = c.Beta1*m[i] + (1-c.Beta1)*g[i]
				v[i] = c.Beta2*v[i] + (1-c.Beta2)*g[i]*g[i]
				mHat := m[i] / (1 - math.Pow(c.Beta1, float64(t+1)))
				vHat := v[i] / (1 - math.Pow(c.Beta2, float64(t+1)))
				phiHat := phi / (1 - math.Pow(c.Beta2, float64(t+1)))
				w[i] -= c.LearningRate * mHat / (math.Sqrt(max(vHat-phiHat, Floor*noise[t])) + c.Eps)
			}
		}
	}
	return w
}

func TestStepsEqualTheirPapers(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		be := open()
		defer be.Close()
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
			{Name: "adam-bc", LearningRate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
			{Name: "adam-bc", LearningRate: 0.01, Beta1: 0.5, Beta2: 0.9, Eps: 1e-3, WeightDecay: 0.5},
		} {
			const n, steps = 13, 20
			rng := rand.New(rand.NewPCG(1, 1))
			first, grads := make([]float32, n), make([][]float64, steps)
			want := make([]float64, n)
			for i := range first {
				first[i] = float32(rng.NormFloat64())
				want[i] = float64(first[i])
			}
			noise := make([]float64, steps)
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
				if s > 4 {
					noise[s] = float64(float32(2 * rng.Float64()))
				}
				be.Write(g, part)
				opt.SetNoise(noise[s])
				opt.Step(w, g)
			}
			got := make([]float32, n)
			if err := compute.Read(context.Background(), be, got, w); err != nil {
				t.Fatal(err)
			}
			for i, x := range reference(c, want, grads, noise) {
				if math.Abs(float64(got[i])-x) > 1e-5*(1+math.Abs(x)) {
					t.Errorf("%s on %s: parameter %d is %g, want %g", c.Name, name, i, got[i], x)
				}
			}
		}
	}
}

// TestWithoutNoiseItIsAdam holds that adam-bc makes Adam's steps, to the bit, where nothing was noised.
func TestWithoutNoiseItIsAdam(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		be := open()
		defer be.Close()
		const n = 13
		var got [2][n]float32
		for k, which := range []string{"adam", "adam-bc"} {
			rng := rand.New(rand.NewPCG(2, 2))
			opt, err := New(be, Config{Name: which, LearningRate: 0.1, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}, n)
			if err != nil {
				t.Fatal(err)
			}
			w, g := be.New(n), be.New(n)
			kernel.Fill(be, n, 0.5, w)
			for range 20 {
				part := make([]float32, n)
				for i := range part {
					part[i] = float32(rng.NormFloat64())
				}
				be.Write(g, part)
				opt.SetNoise(0)
				opt.Step(w, g)
			}
			if err := compute.Read(context.Background(), be, got[k][:], w); err != nil {
				t.Fatal(err)
			}
		}
		if got[0] != got[1] {
			t.Errorf("%s: %v, of Adam %v", name, got[1], got[0])
		}
	}
}

func TestAnUnknownOptimizerIsRefused(t *testing.T) {
	if _, err := New(purego.New(), Config{Name: "lion"}, 0); err == nil {
		t.Error("an unknown optimizer was accepted")
	}
}
