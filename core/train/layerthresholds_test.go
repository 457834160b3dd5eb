package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/run"
)

// unevenly is a run on hostile rows whose layers have thresholds that lie far apart.
func unevenly(t *testing.T, weight, mode string, ds *data.Dataset, size float32, be compute.Backend) *Run {
	t.Helper()
	p := begunAs(t, run.Config{
		Method: "quantile", Grouping: "per-layer", Weight: weight, NoiseMode: mode, Model: run.Model{Kind: "mlp", Hidden: []int{6, 4}},
	}, ds, size, be)
	if err := p.work.clipper.Rule.Restore([]float64{40, 0.5, 1e-3, 0.5, 0.7, 0.5}); err != nil {
		t.Fatal(err)
	}
	return p
}

// byLayer returns the lengths of a gradient's parts.
func byLayer(p *Run, sum []float64) (all []float64) {
	for _, l := range p.work.terms.Spec.Layers {
		if l.Parameters > 0 {
			all, sum = append(all, length(sum[:l.Parameters])), sum[l.Parameters:]
		}
	}
	return all
}

// TestEachLayerKeepsToItsThreshold, whatever a row holds: and all layers together to the stated sensitivity.
func TestEachLayerKeepsToItsThreshold(t *testing.T) {
	t.Parallel()
	const rows = 900
	ds := hostile(rows)
	for _, mode := range []string{"float", "secure"} {
		for _, weight := range clip.Weights() {
			for i, size := range []float32{0, 1, 30} {
				p := unevenly(t, weight, mode, ds, size, purego.New())
				c := p.work.clipper.Rule.(clip.Divided)
				if s, want := p.work.statedSensitivity(), math.Sqrt(40*40+1e-6+0.49); s < want || s > want*(1+1e-9) {
					t.Fatalf("the sensitivity is %g, want %g", s, want)
				}
				most := make([]float64, 3)
				for row := i * rows / 3; row < (i+1)*rows/3; row++ {
					sum := added(t, p, []int{row})
					if n, limit := length(sum), p.work.statedSensitivity(); !(n <= limit*(1+1e-6)) {
						t.Errorf("%s, %s, weights ×%g: row %d adds %g, the sensitivity is %g", mode, weight, size, row, n, limit)
					}
					for g, n := range byLayer(p, sum) {
						most[g] = max(most[g], n)
					}
				}
				// Rounding to the grid, which C as a whole has room for, moves a layer by half a unit a number.
				slack := 0.0
				if mode == "secure" {
					slack = p.clipping.mech.unit() * math.Sqrt(float64(p.work.terms.Spec.Params())) / 2
				}
				for g, n := range most {
					if n > c.Thresholds()[g]*(1+1e-6)+slack {
						t.Errorf("%s, %s, weights ×%g: layer %d adds %g, and its threshold is %g", mode, weight, size, g, n, c.Thresholds()[g])
					}
				}
			}
		}
	}
}

// TestFactorsOfLayersAreTheWeightFunctions, each at its layer's threshold, on every back end there is here.
func TestFactorsOfLayersAreTheWeightFunctions(t *testing.T) {
	for _, weight := range clip.Weights() {
		for _, be := range []compute.Backend{purego.New(), computetest.Fast(t)} {
			weighsAs(t, be.Name()+", "+weight, unevenly(t, weight, "float", small(t), 1, be))
		}
	}
}

// TestLayersCountTheirRows: each count has ½ for every row whose part of the gradient is within its layer's
// threshold and −½ for the others, and what follows is released step by step. A row of which any layer is longer
// is told as clipped, and its other layers do not tell it again.
func TestLayersCountTheirRows(t *testing.T) {
	cfg := run.Config{
		Method: "quantile", Grouping: "per-layer", Model: run.Model{Kind: "mlp", Hidden: []int{6, 4}}, NoPrivacy: true,
		ExpectedBatchSize: 30, Steps: 12, MaxGradNorm: 2, Seed: ptr(uint64(5)), Params: map[string]float64{"eta_c": 0.7},
	}
	ds := small(t)
	p := started(t, cfg, ds)
	rng := rand.New(rand.NewPCG(3, 3))
	rows := make([]int, 30)
	for i := range rows {
		rows[i] = rng.IntN(ds.Train.N)
	}
	want := make([]float64, 3)
	rule := p.work.clipper.Rule.(clip.Divided)
	clipped, layers := 0, 0
	for _, row := range rows {
		v, above := reported(t, p, []int{row}), 0
		for g, c := range rule.Thresholds() {
			if v.norms(0).Groups[g] <= c {
				want[g] += 0.5
			} else {
				want[g] -= 0.5
				above++
			}
		}
		layers += above
		clipped += min(above, 1)
	}
	_, statistic := totals(t, p, rows)
	if got := p.clipping.part.tally.clipped; got != clipped || clipped == layers || clipped == len(rows) {
		t.Errorf("%d of %d rows are told as clipped, want %d; in all, layers are %d times", got, len(rows), clipped, layers)
	}
	if got := fmt.Sprint(statistic); got != fmt.Sprint(want) {
		t.Errorf("the statistic is %s, want %v", got, want)
	}
	events, _ := finish(t, started(t, cfg, ds))
	first := events[0].Released.MaxGradNorms
	for _, e := range events {
		together := 0.0
		for _, c := range e.Released.MaxGradNorms {
			together = math.Hypot(together, c)
		}
		if len(e.Released.MaxGradNorms) != 3 || math.Abs(together/e.Released.MaxGradNorm-1) > 1e-9 {
			t.Errorf("step %d releases thresholds %v and C = %g", e.Step, e.Released.MaxGradNorms, e.Released.MaxGradNorm)
		}
	}
	if last := events[11].Released.MaxGradNorms; first[0] != first[2] || math.Abs(math.Log(last[0]/last[2])) < 0.1 {
		t.Errorf("thresholds of layers that begin at %v end at %v", first, last)
	}
}

// TestOneLayerIsTheWhole: of a model with one layer, thresholds per layer are the threshold.
func TestOneLayerIsTheWhole(t *testing.T) {
	var ends [2]float64
	for i, grouping := range []string{"flat", "per-layer"} {
		cfg := base("quantile")
		cfg.Grouping, cfg.Model = grouping, run.Model{Kind: "softmax"}
		events, _ := finish(t, started(t, cfg, small(t)))
		last := events[len(events)-1].Released
		if ends[i] = last.MaxGradNorm; last.MaxGradNorms != nil {
			t.Errorf("%s has thresholds %v", grouping, last.MaxGradNorms)
		}
	}
	if ends[0] != ends[1] {
		t.Errorf("C ends at %g, per layer at %g", ends[0], ends[1])
	}
}
