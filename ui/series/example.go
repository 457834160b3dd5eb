package series

import (
	"math"

	"clipscope/core/run"
)

// Example is a made-up event of a run of 600 steps, for what is shown without a
// trainer.
func Example(step int) run.Event {
	t := float64(step) / 400
	c := 0.35 + 0.65*math.Exp(-6*t) + 0.02*math.Sin(float64(step))
	wave := 0.03 * math.Sin(0.9*float64(step))
	d := &run.Diag{BatchSize: 250 + step%13, ClipFraction: run.Number(0.55 + 0.3*t + wave), TrainLoss: run.Number(2.3*math.Exp(-2.2*t) + 0.3 + wave), TrainAcc: run.Number(0.9 - 0.75*math.Exp(-4*t) + wave),
		Norms: exampleNorms(0.6 + 0.8*math.Exp(-3*t))}
	if step%25 == 0 {
		d.Eval = &run.Eval{Rows: 1000, Loss: run.Number(2.2*math.Exp(-2.1*t) + 0.35), Accuracy: run.Number(0.89 - 0.75*math.Exp(-4*t))}
	}
	e := run.Event{Step: step, Steps: 600, Diag: d, Released: run.Released{MaxGradNorm: c, Epsilon: run.Number(2 * math.Sqrt(float64(step)/600)), GradNorm: 1.4}}
	e.Released.Curves = exampleCurves(c)
	return e
}

func exampleNorms(centre float64) *run.Norms {
	n := &run.Norms{Counts: make([]int, 40), Max: run.Number(4 * centre), P10: run.Number(0.5 * centre), P50: run.Number(centre), P90: run.Number(1.9 * centre)}
	for i := range n.Counts {
		x := (float64(i) + 0.5) / 10
		n.Counts[i] = int(60 * x * math.Exp(-x*x/1.2))
	}
	return n
}

func exampleCurves(c float64) *run.ErrorCurves {
	e := &run.ErrorCurves{}
	for i := 1; i <= 20; i++ {
		x := c * float64(i) / 10
		e.C = append(e.C, x)
		e.Variance = append(e.Variance, 0.4*x*x)
		e.Bias = append(e.Bias, 0.5*math.Exp(-3*x))
	}
	return e
}
