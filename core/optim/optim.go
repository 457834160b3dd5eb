// Package optim turns released gradients into steps. Optimisers see the noised
// mean gradient only, so whatever they compute is post-processing and free.
package optim

import (
	"fmt"
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// Optimizer moves parameters.
type Optimizer interface {
	// Step moves params, given the noised mean gradient in grads, both of one
	// length; it may overwrite grads. An empty batch's gradient, which is noise
	// alone, is a step like any other.
	Step(params, grads compute.Buffer)
	// State is what it remembers on the backend, and Skip counts steps after which
	// that was written.
	State() []compute.Buffer
	Skip(steps int)
	// SetRate has all steps to come taken at another learning rate.
	SetRate(rate float64)
	// SetNoise tells the variance of the noise in each number of the next gradient; 0 where it has none.
	SetNoise(variance float64)
}

// Config are the numbers of all optimisers; each uses its own.
type Config struct {
	Name         string // sgd, momentum, adam, adam-bc
	LearningRate float64
	Momentum     float64
	Nesterov     bool // of momentum
	Beta1, Beta2 float64
	Eps          float64
	// WeightDecay λ shortens the parameters by η·λ before each step: decoupled decay (Loshchilov &
	// Hutter 2019), which Adam does not divide by the gradient's length.
	WeightDecay float64
}

// New makes the optimiser for n parameters.
func New(be compute.Backend, c Config, n int) (Optimizer, error) {
	if c.WeightDecay > 0 {
		decay := c.WeightDecay
		c.WeightDecay = 0
		o, err := New(be, c, n)
		return &decayed{o, be, c.LearningRate, decay}, err
	}
	switch c.Name {
	case "sgd":
		return &sgd{be, float32(c.LearningRate)}, nil
	case "momentum":
		return &momentum{be, float32(c.LearningRate), float32(c.Momentum), c.Nesterov, be.New(n)}, nil
	case "adam", "adam-bc":
		return &adam{be: be, c: c, m: be.New(n), v: be.New(n)}, nil
	}
	return nil, fmt.Errorf("optim: there is no optimizer %q; choose sgd, momentum, adam or adam-bc", c.Name)
}

// decayed is w ← (1 − η·λ)·w before the step of an optimiser.
type decayed struct {
	Optimizer
	be        compute.Backend
	lr, decay float64
}

func (o *decayed) SetRate(rate float64) {
	o.lr = rate
	o.Optimizer.SetRate(rate)
}

func (o *decayed) Step(params, grads compute.Buffer) {
	kernel.Scale(o.be, params.Len(), float32(1-o.lr*o.decay), params)
	o.Optimizer.Step(params, grads)
}

// sgd is w ← w − η·g.
type sgd struct {
	be compute.Backend
	lr float32
}

func (o *sgd) State() []compute.Buffer { return nil }
func (o *sgd) Skip(int)                {}
func (o *sgd) SetRate(rate float64)    { o.lr = float32(rate) }
func (o *sgd) SetNoise(float64)        {}

func (o *sgd) Step(params, grads compute.Buffer) {
	kernel.Axpy(o.be, params.Len(), -o.lr, grads, params)
}

// momentum is v ← μ·v + g, w ← w − η·v (heavy ball, Polyak 1964), or with nesterov w ← w − η·(g + μ·v)
// (Sutskever et al. 2013, in the variables of PyTorch).
type momentum struct {
	be       compute.Backend
	lr, mu   float32
	nesterov bool
	v        compute.Buffer
}

func (o *momentum) State() []compute.Buffer { return []compute.Buffer{o.v} }
func (o *momentum) Skip(int)                {}
func (o *momentum) SetRate(rate float64)    { o.lr = float32(rate) }
func (o *momentum) SetNoise(float64)        {}

func (o *momentum) Step(params, grads compute.Buffer) {
	n := params.Len()
	kernel.Blend(o.be, n, 1, o.mu, grads, o.v)
	if o.nesterov {
		kernel.Axpy(o.be, n, -o.lr, grads, params)
		kernel.Axpy(o.be, n, -o.lr*o.mu, o.v, params)
		return
	}
	kernel.Axpy(o.be, n, -o.lr, o.v, params)
}

// Floor is the share of the noise's variance that adam-bc divides by at least: the γ′ of its paper,
// in units that do not depend on threshold, noise and batch. With β₂ = 0.999 the average of squared
// noise is off by a thirtieth of the variance, and what is left below that says nothing.
const Floor = 0.1

// adam is Kingma & Ba 2015, Algorithm 1. As adam-bc it is DP-AdamBC (Tang, Shpilevskiy & Lécuyer,
// arXiv 2312.14334, Algorithm 1): the noise's variance Φ is subtracted from the second moment, of which
// at least Floor·Φ stays. Their v̂ − Φ is the corrected average of g² − Φ, and that average is v here: so
// Φ may be another in each step, nothing more has to be kept, and without noise this is Adam.
type adam struct {
	be    compute.Backend
	c     Config
	t     float64
	noise float64 // Φ of the next step
	m, v  compute.Buffer
}

func (o *adam) State() []compute.Buffer { return []compute.Buffer{o.m, o.v} }
func (o *adam) Skip(steps int)          { o.t += float64(steps) }
func (o *adam) SetRate(rate float64)    { o.c.LearningRate = rate }

func (o *adam) SetNoise(variance float64) {
	if o.c.Name == "adam-bc" {
		o.noise = min(variance, math.MaxFloat32)
	}
}

func (o *adam) Step(params, grads compute.Buffer) {
	o.t++
	c1, c2 := 1-math.Pow(o.c.Beta1, o.t), 1-math.Pow(o.c.Beta2, o.t)
	root := math.Sqrt(c2)
	kernel.Adam(o.be, params.Len(), kernel.AdamParams{
		Rate: float32(o.c.LearningRate * root / c1), Beta1: float32(o.c.Beta1), Beta2: float32(o.c.Beta2), Eps: float32(o.c.Eps * root),
		Noise: float32(o.noise), Floor: float32(Floor * o.noise * c2),
	}, grads, o.m, o.v, params)
}
