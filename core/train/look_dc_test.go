package train

import (
	"context"
	"fmt"
	"math"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/run"
)

// bottoms are where a U is lowest: the measured one, and that of DC's estimate of the bias.
type bottoms struct{ measured, estimated float64 }

// bottomsOf looks for both on a grid of hundredths of e, for a step's noise.
func bottomsOf(g *Gradients) bottoms {
	l := g.Told()
	noise := float64(l.NoiseMultiplier) / l.BatchSize
	variance := noise * noise * float64(l.Parameters)
	factors := make([]float64, g.Len())
	b, low, lowEstimate := bottoms{}, math.Inf(1), math.Inf(1)
	longest := 0.0
	for _, v := range g.Norms {
		longest = max(longest, v)
	}
	for c := longest / 1e4; c < 2*longest; c *= 1.01 {
		if e := g.At(g.run.clipper.Weight, c, factors).Bias2 + variance*c*c; e < low {
			b.measured, low = c, e
		}
		if e := g.Estimate(c) + variance*c*c; e < lowEstimate {
			b.estimated, lowEstimate = c, e
		}
	}
	return b
}

// settled trains with dc-e and looks at the model at each of the last steps: the geometric
// means of its thresholds and of the bottoms.
func settled(t *testing.T, be compute.Backend, cfg run.Config, ds *data.Dataset, looks int) (c float64, b bottoms) {
	t.Helper()
	p, err := New(cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Start(context.Background(), ds, be)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var cs, measured, estimated []float64
	for e, err := range r.Steps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Step > r.steps/2 && (e.Step-r.steps/2)%max(1, r.steps/2/looks) == 0 {
			at := bottomsOf(look(t, r, e.Step))
			cs, measured, estimated = append(cs, r.clipper.Rule.C()), append(measured, at.measured), append(estimated, at.estimated)
		}
	}
	return geometricMean(cs), bottoms{geometricMean(measured), geometricMean(estimated)}
}

// TestTheBottomOfTheU has dc-e on drawn digits settle, and compares its threshold with
// where the measured U is lowest, and DC's own. DC takes all gradients to point the same
// way, and so sees more bias than there is: its bottom lies above.
func TestTheBottomOfTheU(t *testing.T) {
	t.Parallel()
	ds := data.Digits(1, 400, 0)
	for name, model := range lookedAt {
		c, b := settled(t, fast(t), run.Config{
			Method: "dc-e", Model: model, NoiseMultiplier: ptr(1.0), MaxGradNorm: 1, ExpectedBatchSize: 200, Steps: 40, LearningRate: 0.1, Seed: ptr(uint64(1)),
		}, ds, 10)
		t.Logf("%s: C %.3g, the bottom of the measured U %.3g, of DC's %.3g", name, c, b.measured, b.estimated)
		if c > 1.5*b.estimated || b.estimated > 1.5*c {
			t.Errorf("%s: dc-e settles at %.3g, DC's own U is lowest at %.3g", name, c, b.estimated)
		}
		if b.measured > b.estimated {
			t.Errorf("%s: the measured U is lowest at %.3g, above DC's %.3g", name, b.measured, b.estimated)
		}
	}
}

// TestPapersBottomOfTheU is the same at full size.
func TestPapersBottomOfTheU(t *testing.T) {
	papers(t)
	say("\n### Where the U is lowest, and C of dc-e: σ = 1, η = 0.1; geometric means over the second half\n")
	header("data", "model", "B", "C of dc-e", "lowest as measured", "C in parts of it", "lowest as DC estimates", "C in parts of it")
	digits := data.Digits(1, 4000, 0)
	for _, c := range []struct {
		name  string
		ds    func() *data.Dataset
		model run.Model
		batch float64
		steps int
	}{
		{"drawn digits", func() *data.Dataset { return digits }, run.Model{Kind: "softmax"}, 512, 160},
		{"drawn digits", func() *data.Dataset { return digits }, run.Model{Kind: "mlp", Hidden: []int{128}}, 512, 160},
		{"drawn digits", func() *data.Dataset { return digits }, lookedAt["cnn"], 512, 160},
		{"MNIST", func() *data.Dataset { return images(t, "mnist") }, run.Model{Kind: "mlp", Hidden: []int{128}}, 128, 469},
		{"MNIST", func() *data.Dataset { return images(t, "mnist") }, run.Model{Kind: "mlp", Hidden: []int{128}}, 512, 234},
		{"MNIST", func() *data.Dataset { return images(t, "mnist") }, lookedAt["cnn"], 512, 234},
	} {
		at, b := settled(t, fast(t), run.Config{
			Method: "dc-e", Model: c.model, NoiseMultiplier: ptr(1.0), MaxGradNorm: 1, ExpectedBatchSize: c.batch, Steps: c.steps, LearningRate: 0.1, Seed: ptr(uint64(1)),
		}, c.ds(), 20)
		two := func(v float64) string { return fmt.Sprintf("%.3g", v) }
		row(c.name, c.model.Kind, c.batch, two(at), two(b.measured), two(at/b.measured), two(b.estimated), two(at/b.estimated))
	}
}
