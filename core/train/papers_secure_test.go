package train

import (
	"fmt"
	"testing"
	"time"

	"clipscope/core/run"
)

// TestPapersSecure compares secure with float noise on MNIST: the accuracy over
// the same seeds, and what a step costs.
func TestPapersSecure(t *testing.T) {
	papers(t)
	ds := images(t, "mnist")
	say("\n### Secure noise on MNIST: softmax (ε = 1, B = 600, C = 4, 20 epochs, η = 0.25) and MLP 784-128-10 (σ = 1, B = 128, C = 1, one epoch, η = 0.25)\n")
	header("model", "noise", "test accuracy %, five seeds", "ms a step")
	for _, m := range []struct {
		name string
		cfg  run.Config
	}{
		{"softmax", softmax("constant", 1, 20)},
		{"MLP", perceptron("constant", 1, 1)},
	} {
		means := map[string]float64{}
		for _, mode := range []string{"float", "secure"} {
			steps, began := 0, time.Now()
			var s sample
			for _, seed := range measuring(5) {
				o := once(t, with(m.cfg, func(c *run.Config) { c.NoiseMode, c.LearningRate = mode, 0.25 }), ds, seed)
				s, steps = append(s, 100*float64(o.test.Accuracy)), steps+len(o.events)
			}
			means[mode] = s.mean()
			row(m.name, mode, s, fmt.Sprintf("%.2f", time.Since(began).Seconds()*1000/float64(steps)))
		}
		if d := means["secure"] - means["float"]; d < -0.2 {
			t.Errorf("%s: secure noise costs %.2f points", m.name, -d)
		}
	}
}
