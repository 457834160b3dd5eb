package train

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

// TestDCEForgetsItsStart is TestPapersDCEStart in small, on drawn digits. The threshold is
// chosen among steps of a tenth of the present one under a noisy histogram, so
// that it wanders by a few tenths; a rule that kept any trace of C₀ would be off
// by orders of magnitude.
func TestDCEForgetsItsStart(t *testing.T) {
	t.Parallel()
	ds := builtin.Digits(1, 400, 0)
	settle := func(start float64) float64 {
		cfg := run.Config{
			Method: "dc-e", NoiseMultiplier: ptr(1.0), MaxGradNorm: start,
			ExpectedBatchSize: 200, Steps: 24, LearningRate: 0.1, Seed: ptr(uint64(1)),
		}
		o := outcomeOf(t, func() compute.Backend { return computetest.Fast(t) }, cfg, ds)
		late := sample{}
		for _, e := range o.events[len(o.events)/2:] {
			late = append(late, float64(e.Diag.ClipFraction))
		}
		c := o.thresholds
		typical := geometricMean(c[len(c)/2:])
		t.Logf("C₀ = %g: C = %.3g in the end, %.0f %% clipped", start, typical, 100*late.mean())
		if f := late.mean(); !(f > 0.02 && f < 0.98) {
			t.Errorf("from C₀ = %g, %.0f %% of gradients are clipped in the end", start, 100*f)
		}
		return typical
	}
	want := settle(1)
	for _, start := range []float64{0.01, 100} {
		if got := settle(start); got > 1.5*want || want > 1.5*got {
			t.Errorf("from C₀ = %g the threshold goes to %g, from 1 to %g", start, got, want)
		}
	}
}

func geometricMean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(v)))
}

// TestPapersDCEStart lets dc-e start four orders of magnitude apart: the
// threshold must come to the same size by itself.
func TestPapersDCEStart(t *testing.T) {
	papers(t)
	ds := images(t, "mnist")
	starts := []float64{0.01, 1, 100}
	show := []int{1, 2, 3, 5, 10, 20, 50, 100, 200, 469}
	type moment struct{ c, clipped float64 }
	seen := map[float64]map[int]moment{}
	accuracy, typical := map[float64]float64{}, map[float64]float64{}
	for _, start := range starts {
		cfg := perceptron("dc-e", start, 1)
		cfg.LearningRate = 0.1
		seen[start] = map[int]moment{}
		o := once(t, cfg, ds, 1)
		for _, e := range o.events {
			seen[start][e.Step] = moment{e.Released.MaxGradNorm, float64(e.Diag.ClipFraction)}
		}
		typical[start] = geometricMean(o.thresholds[len(o.thresholds)/2:])
		accuracy[start] = 100 * float64(o.test.Accuracy)
	}
	say("\n### dc-e on MNIST: MLP 784-128-10, B = 128, σ = 1, η = 0.1, one epoch; C_t and the share of gradients clipped\n")
	cells := []any{"step"}
	for _, s := range starts {
		cells = append(cells, fmt.Sprintf("C₀ = %g", s))
	}
	header(cells...)
	for _, step := range show {
		cells := []any{step}
		for _, s := range starts {
			m := seen[s][step]
			cells = append(cells, fmt.Sprintf("%.3g (%.0f %%)", m.c, 100*m.clipped))
		}
		row(cells...)
	}
	cells = []any{"test accuracy %"}
	for _, s := range starts {
		cells = append(cells, fmt.Sprintf("%.2f", accuracy[s]))
	}
	row(cells...)
	for _, s := range starts {
		// The threshold moves at every step; its typical size must not depend
		// on where it started.
		a, b := typical[s], typical[1]
		say("- C₀ = %g: geometric mean of C over the second half %.3g", s, a)
		if a/b > 1.5 || b/a > 1.5 {
			t.Errorf("from C₀ = %g the threshold goes to %g, from 1 to %g", s, a, b)
		}
	}
}

// dcTable is DC's Tables IV and V for one method: the paper's test accuracies on MNIST at ε = 1, 2 and 4, with Adam
// and with SGD, and what is chosen here, for Adam with DC's rate of 0.001 and for SGD beside η.
type dcTable struct {
	name, method string
	adam, sgd    [3]string
	points       []map[string]float64 // "C" is the threshold; all others are the method's own
}

var dcTables = []dcTable{
	{"constant", "constant", [3]string{"94.78", "95.62", "95.95"}, [3]string{"94.51", "95.86", "96.25"},
		[]map[string]float64{{"C": 0.3}, {"C": 1}, {"C": 4}}},
	{"quantile (Andrew)", "quantile", [3]string{"94.69", "95.45", "96.16"}, [3]string{"94.16", "95.53", "96.34"},
		[]map[string]float64{{"gamma": 0.6, "eta_c": 0.1}, {"gamma": 0.9, "eta_c": 0.1}}},
	{"schedule (Du)", "schedule", [3]string{"94.72", "95.63", "95.94"}, [3]string{"95.23", "96.10", "96.56"},
		[]map[string]float64{{"C": 1, "end_share": 0.3}, {"C": 4, "end_share": 0.3}}},
	{"dc-p", "dc-p", [3]string{"94.72", "95.08", "95.60"}, [3]string{"93.98", "94.86", "95.89"},
		[]map[string]float64{{"p": 0.6}, {"p": 0.9}}},
	{"dc-e", "dc-e", [3]string{"94.04", "94.19", "94.65"}, [3]string{"94.06", "94.34", "94.64"}, []map[string]float64{{}}},
}

// dcMNIST is DC's setting on MNIST with an MLP in the place of its small network, which takes ten times as long, and half of its ten epochs.
func dcMNIST(method, optimizer string, epsilon float64) run.Config {
	return run.Config{
		Method: method, Model: run.Model{Kind: "mlp", Hidden: []int{128}}, Accountant: "rdp", TargetEpsilon: &epsilon, TargetDelta: 1.0 / 60000,
		MaxGradNorm: 1, ExpectedBatchSize: 256, Epochs: 5, EvalSteps: 1e6, Optimizer: optimizer, LearningRate: 0.001,
	}
}

// TestPapersDCTables is DC's Tables IV and V on MNIST, without the price of tuning. Methods choose at ε = 2,
// and what is chosen stands for ε = 1 and 4 too.
func TestPapersDCTables(t *testing.T) {
	papers(t)
	ds := images(t, "mnist")
	epsilons := []float64{1, 2, 4}
	for _, optimizer := range []string{"adam", "momentum"} {
		say("\n### DC, Tables IV (Adam) and V (SGD): MNIST, MLP 784-128-10, %s, B = 256, five epochs, δ = 1/60,000 (RDP)\n", optimizer)
		var lines [][]any
		for _, m := range dcTables {
			paper, etas := m.adam, []float64{0.001}
			if optimizer == "momentum" {
				paper, etas = m.sgd, []float64{0.02, 0.05}
				if m.method == "dc-e" { // which has nothing else to choose
					etas = []float64{0.005, 0.01, 0.02, 0.05}
				}
			}
			var grid []choice
			for _, point := range m.points {
				label := ""
				cfg := with(dcMNIST(m.method, optimizer, 2), func(c *run.Config) {
					for _, key := range slices.Sorted(maps.Keys(point)) {
						label += fmt.Sprintf("%s=%g ", key, point[key])
						if key == "C" {
							c.MaxGradNorm = point[key]
						} else {
							c.Params[key] = point[key]
						}
					}
				})
				grid = append(grid, rates(label, cfg, etas...)...)
			}
			chosen := best(try(t, m.name+", "+optimizer, ds, grid, tuning(1)))
			line := []any{m.name, chosen.label}
			for i := range epsilons {
				s := scores(t, with(chosen.cfg, func(c *run.Config) { c.TargetEpsilon = &epsilons[i] }), ds, measuring(2))
				line = append(line, fmt.Sprintf("%s (%s)", s, paper[i]))
			}
			say("- %v", line)
			lines = append(lines, line)
		}
		say("")
		table(lines, "method", "chosen at ε = 2", "ε = 1: here, two seeds (paper)", "ε = 2", "ε = 4")
	}
}

// TestPapersDCResNet takes as many steps of DC's runs on CIFAR-10 as this back end can in an hour or two, on the part of
// 10,000 rows, and says what one costs. DC takes 20 epochs of 50,000 rows with batches of 256: 3,900 steps.
func TestPapersDCResNet(t *testing.T) {
	papers(t)
	ds := published(t, "cifar-10", []string{"train_10k.bin.gz"}, []string{"test_10k.bin.gz"})
	ds.Test.N = 1000 // testing all rows takes longer than training
	say("\n### DC on CIFAR-10's part: Adam, η = 0.001, C₀ = 1, ε = 2 at δ = 1/10,000 (RDP), one seed\n")
	header("model", "method", "batch", "steps", "seconds a step", "loss, first and last fifth", "C, last step", "test accuracy %, 1,000 rows")
	for _, m := range []struct {
		kind, method string
		batch, steps int
	}{{"resnet9", "dc-e", 64, 50}, {"resnet9", "constant", 64, 50}, {"resnet18", "dc-e", 32, 20}, {"resnet18", "constant", 32, 20}} {
		o := once(t, run.Config{
			Method: m.method, Model: run.Model{Kind: m.kind}, Accountant: "rdp", TargetEpsilon: ptr(2.0), TargetDelta: 1e-4,
			MaxGradNorm: 1, ExpectedBatchSize: float64(m.batch), Steps: m.steps, EvalSteps: 1e6, Optimizer: "adam", LearningRate: 0.001,
		}, ds, 1)
		var seconds, losses sample
		for _, e := range o.events {
			seconds = append(seconds, e.Diag.StepSeconds)
			losses = append(losses, float64(e.Diag.TrainLoss))
		}
		fifth := m.steps / 5
		row(m.kind, m.method, m.batch, m.steps, fmt.Sprintf("%.1f", seconds.mean()), fmt.Sprintf("%.2f, %.2f", losses[:fifth].mean(), losses[len(losses)-fifth:].mean()),
			fmt.Sprintf("%.2f", o.last().Released.MaxGradNorm), fmt.Sprintf("%.1f", 100*float64(o.test.Accuracy)))
	}
}
