package train

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
)

// norms of the law of weights: hostile ones, all that a device might take for a
// number, and many of every size.
func lawNorms(c float64) []float32 {
	u := []float32{
		0, math.SmallestNonzeroFloat32, 1e-40, 0x1p-126, 0x1p-50, 1e-12, 1, math.MaxFloat32,
		float32(math.Inf(1)), float32(math.NaN()), float32(math.Inf(-1)), -1, float32(c), float32(c * (1 + 1e-6)), float32(c * (1 - 1e-6)),
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 400 {
		u = append(u, float32(c*math.Exp(2*rng.NormFloat64())), math.Float32frombits(rng.Uint32()), float32(math.Exp(3*rng.NormFloat64())))
	}
	return u
}

// TestWeightsOnTheBackendStayWithinC: for every weight function, C over 24 decades and
// hostile norms, a factor times its norm stays within C with a table that is
// right, stale or corrupt; and a right table's factor is that of float64 within
// 3·10⁻⁵ of it.
func TestWeightsOnTheBackendStayWithinC(t *testing.T) {
	for name, open := range computetest.Backends(t) {
		be := open()
		for _, weight := range clip.Weights() {
			w, err := clip.New(clip.Choice{Method: "constant", Weight: weight}, clip.Env{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 1, ExpectedBatchSize: 1, Dim: 1})
			if err != nil {
				t.Fatal(err)
			}
			table := newWeights(be, w.Weight)
			for e := -12; e <= 12; e++ {
				c := below(math.Pow(10, float64(e)))
				l := kernel.Limit{C: c, Gain: float32(table.at(float64(c))), Most: kernel.GreatestFactor}
				u := lawNorms(float64(c))
				worst := 0.0
				for i, f := range weighed(t, be, l, u, table.buffer) {
					if lawful(t, name+", "+weight, l, u[i], f); f == 0 || f >= kernel.GreatestFactor {
						continue
					}
					want := w.Weight.Factor(float64(u[i]), float64(c))
					worst = max(worst, math.Abs(float64(f)-want)/want)
				}
				if worst > 3e-5 {
					t.Errorf("%s, %s, C = %g: a factor is off by %.2g of itself", name, weight, c, worst)
				}
				// Stale: of another threshold. Corrupt: of nothing.
				stale, corrupt := l, be.New(kernel.TableSize)
				stale.Gain *= 1e6
				rng := rand.New(rand.NewPCG(uint64(e+12), 3))
				bits := make([]float32, kernel.TableSize)
				for i := range bits {
					bits[i] = math.Float32frombits(rng.Uint32())
				}
				be.Write(corrupt, bits)
				for i, f := range weighed(t, be, stale, u, table.buffer) {
					lawful(t, name+", "+weight+", stale", l, u[i], f)
				}
				for i, f := range weighed(t, be, l, u, corrupt) {
					lawful(t, name+", "+weight+", corrupt", l, u[i], f)
				}
				be.Free(corrupt)
			}
		}
		be.Close()
	}
}

func lawful(t *testing.T, what string, l kernel.Limit, u, f float32) {
	t.Helper()
	// The product of two float32 is exact in float64.
	if x := float64(f) * float64(u); f != 0 && !(f > 0 && u >= 0 && x <= float64(l.C)) {
		t.Errorf("%s: the factor of a norm of %g is %g, which lets %g through; C is %g", what, u, f, x, l.C)
	}
}

// weighed are the factors of norms u.
func weighed(t *testing.T, be compute.Backend, l kernel.Limit, u []float32, table compute.Buffer) []float32 {
	t.Helper()
	n := len(u)
	norms, keep, factors := be.New(n), be.New(n), be.New(n)
	defer be.Free(norms)
	defer be.Free(keep)
	defer be.Free(factors)
	be.Write(norms, u)
	kernel.Fill(be, n, 1, keep)
	kernel.Weigh(be, n, l, norms, keep, table, factors)
	f := make([]float32, n)
	if err := compute.Read(context.Background(), be, f, factors); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFactorsAreTheWeightFunctions: what a method weighs by on the backend is what its weight
// function says, on a batch.
func TestFactorsAreTheWeightFunctions(t *testing.T) {
	for _, m := range clip.Methods() {
		cfg := base(m.Name)
		cfg.Steps = 3
		r := started(t, cfg, small(t))
		if r.work.clipper.Coordinates || r.work.clipper.NonPrivate || r.work.clipper.Geometry != nil {
			continue
		}
		weighsAs(t, m.Name, r)
	}
}

// weighsAs holds the factors of a few rows against the weight function at each group's threshold.
func weighsAs(t *testing.T, what string, r *Run) {
	t.Helper()
	v := reported(t, r, []int{1, 2, 3}[:min(3, r.work.model.Capacity)])
	for i := range v.n {
		for g, c := range r.work.clipper.GroupThresholds(len(v.of.norms)) {
			u, f := float64(v.column(3 + 2*g)[i]), float64(v.column(4 + 2*g)[i])
			if want := r.work.clipper.Weight.Factor(u, c); math.Abs(f-want) > 3e-5*want {
				t.Errorf("%s: group %d has factor %g of a norm of %g, want %g", what, g, f, u, want)
			}
		}
	}
}

// reported returns the report on rows of a physical batch, as a step measures and weighs them.
func reported(t *testing.T, r *Run, rows []int) view {
	t.Helper()
	e := r.beginStep()
	if err := r.addUp(t.Context(), rows, e); err != nil {
		t.Fatal(err)
	}
	v, err := e.parts[0].wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}
