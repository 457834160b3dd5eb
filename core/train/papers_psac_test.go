package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/data"
	"clipscope/core/lab"
	"clipscope/core/run"
)

// psNetwork is an MLP at PS's (3, 10⁻⁵) by RDP on MNIST and Fashion-MNIST. The paper's network, cnn-tb-mnist,
// takes fifteen times as long a row.
func psNetwork(method string) run.Config {
	return run.Config{
		Method: method, Model: run.Model{Kind: "mlp", Hidden: []int{128}}, Accountant: "rdp", TargetEpsilon: ptr(3.0),
		MaxGradNorm: 1, ExpectedBatchSize: 512, Epochs: 8, EvalSteps: 1e6,
	}
}

// psPoints lists the choices of each method: C or r, and C·η.
var psPoints = [][2]float64{{0.1, 1}, {0.1, 2}, {1, 2}}

// psPoint returns cfg at a point: a constant threshold has its C there, the other methods, with C = 1, their r.
func psPoint(cfg run.Config, point [2]float64) choice {
	own, rate := point[0], point[1]
	if cfg.Method == "constant" {
		return choice{fmt.Sprintf("C=%g, C·η=%g", own, rate), with(cfg, func(c *run.Config) { c.MaxGradNorm, c.LearningRate = own, rate/own })}
	}
	return choice{fmt.Sprintf("r=%g, η=%g", own, rate), with(cfg, func(c *run.Config) { c.Params["r"], c.LearningRate = own, rate })}
}

// TestPapersPSTable2 is PS's Table 2 on MNIST and Fashion-MNIST with an MLP: each method chooses among
// three points.
func TestPapersPSTable2(t *testing.T) {
	papers(t)
	paper := map[string][]any{
		"mnist constant": {"98.12 ± 0.07"}, "mnist auto-s": {"98.17 ± 0.07"}, "mnist psac": {"98.24 ± 0.07"},
		"fashion-mnist constant": {"86.22 ± 0.29"}, "fashion-mnist auto-s": {"86.30 ± 0.21"}, "fashion-mnist psac": {"86.56 ± 0.16"},
	}
	say("\n### PS, Table 2: MLP 784-128-10 at ε = 3, δ = 1e−5 (RDP), B = 512, eight epochs\n")
	var lines [][]any
	for _, name := range []string{"mnist", "fashion-mnist"} {
		ds := images(t, name)
		for _, method := range []string{"constant", "auto-s", "psac"} {
			var grid []choice
			for _, point := range psPoints {
				grid = append(grid, psPoint(psNetwork(method), point))
			}
			chosen := best(try(t, name+", "+method, ds, grid, tuning(1)))
			lines = append(lines, append([]any{name, method, chosen.label, scores(t, chosen.cfg, ds, measuring(3))}, paper[name+" "+method]...))
			say("- %v", lines[len(lines)-1])
		}
	}
	say("")
	table(lines, "data", "method", "chosen", "test accuracy %, three seeds", "paper, a CNN")
}

// TestPapersPSFigures prints PS's Figures 1 to 3 as numbers: how gradients of each size agree with the batch's,
// the weights of gradients by size, and the cosine between the weighted and the true mean every ten steps.
func TestPapersPSFigures(t *testing.T) {
	papers(t)
	say("\n### PS, Figure 1: gradients by size and their cosine to the batch's; MLP 784-128-10, constant, C = 0.1\n")
	header("data", "smallest fifth", "second", "third", "fourth", "largest fifth", "smallest fifth on average opposed, % of steps")
	for _, name := range []string{"mnist", "fashion-mnist"} {
		o := once(t, with(psNetwork("constant"), func(c *run.Config) {
			c.MaxGradNorm, c.LearningRate, c.DiagnosticsEvery = 0.1, 20, 10
		}), images(t, name), 1)
		var norms, cosines [5]sample
		var opposed sample
		for _, e := range o.events {
			if e.Diag.Gradient == nil || len(e.Diag.Gradient.BySize) == 0 {
				continue
			}
			parts := e.Diag.Gradient.BySize
			for i, p := range parts {
				fifth := i * 5 / len(parts)
				norms[fifth] = append(norms[fifth], float64(p.Norm))
				cosines[fifth] = append(cosines[fifth], float64(p.Cosine))
			}
			opposed = append(opposed, 0)
			if parts[0].Cosine < 0 {
				opposed[len(opposed)-1] = 100
			}
		}
		cells := []any{name}
		for i := range norms {
			cells = append(cells, fmt.Sprintf("norm %.2g, cosine %.3f", norms[i].mean(), cosines[i].mean()))
		}
		row(append(cells, fmt.Sprintf("%.0f of %d", opposed.mean(), len(opposed)))...)
	}

	say("\n### PS, Figure 2: the weight of a gradient by its norm, C = 1, r = 0.1\n")
	sizes := []float64{0.001, 0.01, 0.1, 0.3, 1, 3, 10}
	cells := []any{"method"}
	for _, n := range sizes {
		cells = append(cells, n)
	}
	header(cells...)
	for _, method := range []string{"constant", "auto-s", "psac"} {
		var params map[string]float64
		if method != "constant" {
			params = map[string]float64{"r": 0.1}
		}
		clipper, err := lab.Clipper(method, params)
		if err != nil {
			t.Fatal(err)
		}
		cells := []any{method}
		for _, n := range sizes {
			cells = append(cells, fmt.Sprintf("%.3g", clipper.Weight.Factor(n, 1)))
		}
		row(cells...)
	}

	say("\n### PS, Figure 3: cosine between the weighted and the true mean, every ten steps; Fashion-MNIST, MLP 784-128-10, η = 2, r = 0.1, two seeds\n")
	ds := images(t, "fashion-mnist")
	cosines := map[string]sample{}
	for _, method := range []string{"auto-s", "psac"} {
		for _, seed := range measuring(2) {
			cosines[method] = append(cosines[method], cosinesOf(t, with(psNetwork(method), func(c *run.Config) {
				c.Params["r"], c.LearningRate, c.DiagnosticsEvery = 0.1, 2, 10
			}), ds, seed)...)
		}
	}
	above := func(s sample, least float64) string {
		return fmt.Sprintf("%.0f %%", 100*share(s, func(i int) bool { return s[i] > least }))
	}
	header("method", "mean", "above 0.7", "above 0.8", "above 0.9", "larger than the other's")
	for method, other := range map[string]string{"auto-s": "psac", "psac": "auto-s"} {
		s, o := cosines[method], cosines[other]
		row(method, s, above(s, 0.7), above(s, 0.8), above(s, 0.9), fmt.Sprintf("%.0f %%", 100*share(s, func(i int) bool { return s[i] > o[i] })))
	}
}

// cosinesOf returns the cosine of every step of a run that has a GradientDiag.
func cosinesOf(t *testing.T, cfg run.Config, ds *data.Dataset, seed uint64) (s sample) {
	t.Helper()
	for _, e := range once(t, cfg, ds, seed).events {
		if g := e.Diag.Gradient; g != nil {
			s = append(s, float64(g.Cosine))
		}
	}
	return s
}

// share returns the share of the indices of s that are chosen.
func share(s sample, chosen func(i int) bool) float64 {
	n := 0
	for i := range s {
		if chosen(i) {
			n++
		}
	}
	return float64(n) / float64(len(s))
}

// TestPapersPSFigure4 prints PS's heat maps on Fashion-MNIST over the paper's grids, for the MLP and three epochs.
func TestPapersPSFigure4(t *testing.T) {
	papers(t)
	ds := images(t, "fashion-mnist")
	for _, method := range []struct {
		name, key string
		values    []float64
	}{
		{"psac", "r", []float64{1e-4, 1e-3, 0.01, 0.1, 1}},
		{"auto-s", "r", []float64{1e-4, 1e-3, 0.01, 0.1, 1}},
		{"constant", "C", []float64{0.1, 0.2, 0.8, 4, 20}},
	} {
		say("\n### PS, Figure 4: Fashion-MNIST, %s, MLP 784-128-10 at ε = 3 (RDP), B = 2048, three epochs, one seed; accuracy %%\n", method.name)
		cells := []any{"η"}
		for _, v := range method.values {
			cells = append(cells, fmt.Sprintf("%s = %g", method.key, v))
		}
		header(cells...)
		for _, rate := range []float64{8, 4, 2, 0.8, 0.2} {
			cells := []any{rate}
			for _, v := range method.values {
				cells = append(cells, fmt.Sprintf("%.2f", scores(t, with(psNetwork(method.name), func(c *run.Config) {
					c.ExpectedBatchSize, c.Epochs, c.LearningRate = 2048, 3, rate
					if method.key == "C" {
						c.MaxGradNorm = v
					} else {
						c.Params["r"] = v
					}
				}), ds, measuring(1)).mean()))
			}
			row(cells...)
		}
	}
}

// drawnFaces draws n faces of 28×28 points, of which a fifth is held out, with five labels that need not
// come together: as CelebA has them, in small.
func drawnFaces(seed uint64, n int) *data.Dataset {
	const side = 28
	rng := rand.New(rand.NewPCG(seed, 7))
	ds := &data.Dataset{
		Name: "faces", Task: data.MultiLabel, Features: side * side, Shape: []int{side, side}, Outputs: 5,
		Classes: []string{"smiling", "eyeglasses", "hat", "beard", "mouth open"},
	}
	shares := [5]float64{0.5, 0.15, 0.1, 0.25, 0.4}
	for i := range n {
		split := &ds.Train
		if i >= n-n/5 {
			split = &ds.Test
		}
		var on [5]bool
		for k := range on {
			on[k] = rng.Float64() < shares[k]
			y := float32(0)
			if on[k] {
				y = 1
			}
			split.Y = append(split.Y, y)
		}
		smiling, glasses, hat, beard, open := on[0], on[1], on[2], on[3], on[4]
		cx, cy := 14+2*rng.NormFloat64(), 15+1.5*rng.NormFloat64()
		wide, high := 8+rng.Float64(), 10+rng.Float64()
		skin, dark := 140+40*rng.Float64(), 60*rng.Float64()
		eye, bend := 3+rng.Float64(), 0.5+0.5*rng.Float64()
		if !smiling {
			bend = -0.3 + 0.4*rng.Float64()
		}
		lips := 0.6
		if open {
			lips = 1.6
		}
		image := make([]uint8, side*side)
		for j := range image {
			x, y := float64(j%side)-cx, float64(j/side)-cy
			v := 20.0
			if x*x/(wide*wide)+y*y/(high*high) < 1 {
				v = skin
				mouth := 4.5 - bend*(x*x/4-2)
				toEye := math.Hypot(math.Abs(x)-eye, y+3)
				switch {
				case math.Abs(x) < 4 && math.Abs(y-mouth) < lips, toEye < 1:
					v = dark
				case glasses && (math.Abs(toEye-2.2) < 0.7 || math.Abs(y+3) < 0.5 && math.Abs(x) < 1), beard && y > 6.5:
					v = dark + 30
				}
			}
			if hat && y < -5 && y > -11 && math.Abs(x) < wide+1 {
				v = dark + 60
			}
			image[j] = uint8(min(max(v+25*rng.NormFloat64(), 0), 255))
		}
		split.N, split.U8 = split.N+1, append(split.U8, image...)
	}
	return ds
}

// TestPapersPSFaces is PS's row for CelebA's labels on drawn faces, at (8, 5·10⁻⁶) with cnn-tb-mnist in
// the place of a ResNet9. An accuracy is the share of rows with all labels right, and the paper's may be the mean over the labels.
func TestPapersPSFaces(t *testing.T) {
	papers(t)
	ds := drawnFaces(1, 5000)
	paper := map[string]string{"constant": "88.56 ± 0.04", "auto-s": "88.49 ± 0.10", "psac": "88.69 ± 0.01"}
	say("\n### PS, Table 2, several labels: drawn faces, cnn-tb-mnist, ε = 8, δ = 5e−6 (RDP), B = 256, thirty epochs\n")
	var lines [][]any
	for _, method := range []string{"constant", "auto-s", "psac"} {
		var grid []choice
		for _, point := range psPoints {
			grid = append(grid, psPoint(with(psNetwork(method), func(c *run.Config) {
				c.Model = run.Model{Kind: "cnn-tb-mnist"}
				c.TargetEpsilon, c.TargetDelta, c.ExpectedBatchSize, c.Epochs = ptr(8.0), 5e-6, 256, 30
			}), point))
		}
		chosen := best(try(t, method, ds, grid, tuning(1)))
		lines = append(lines, []any{method, chosen.label, scores(t, chosen.cfg, ds, measuring(3)), paper[method]})
	}
	say("")
	table(lines, "method", "chosen", "test accuracy %, three seeds", "paper, CelebA")
}
