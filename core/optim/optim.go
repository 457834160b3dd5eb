// Package optim turns released gradients into steps. Optimisers see the noised
// mean gradient only, so whatever they compute is post-processing and free.
package optim

import (
	"fmt"
	"math"

	"clipscope/core/compute"
)

// Optimizer moves parameters.
type Optimizer interface {
	// Step moves params, given the noised mean gradient in grads, one buffer
	// for each; it may overwrite grads. An empty batch's gradient, which is
	// noise alone, is a step like any other.
	Step(params, grads []compute.Buffer)
}

// Config are the numbers of all optimisers; each uses its own.
type Config struct {
	Name         string // sgd, momentum, adam
	LearningRate float64
	Momentum     float64
	Beta1, Beta2 float64
	Eps          float64
}

// New makes the optimiser for parameters of the given sizes.
func New(be compute.Backend, c Config, params []compute.Buffer) (Optimizer, error) {
	switch c.Name {
	case "sgd":
		return &sgd{be, float32(c.LearningRate)}, nil
	case "momentum":
		return &momentum{be, float32(c.LearningRate), float32(c.Momentum), like(be, params)}, nil
	case "adam":
		return &adam{be: be, c: c, m: like(be, params), v: like(be, params)}, nil
	}
	return nil, fmt.Errorf("optim: there is no optimizer %q; choose sgd, momentum or adam", c.Name)
}

func like(be compute.Backend, params []compute.Buffer) []compute.Buffer {
	out := make([]compute.Buffer, len(params))
	for i, p := range params {
		out[i] = be.New(p.Len())
	}
	return out
}

// sgd is w ← w − η·g.
type sgd struct {
	be compute.Backend
	lr float32
}

func (o *sgd) Step(params, grads []compute.Buffer) {
	for i, p := range params {
		o.be.Axpy(p.Len(), -o.lr, grads[i], p)
	}
}

// momentum is v ← μ·v + g, w ← w − η·v (heavy ball, Polyak 1964).
type momentum struct {
	be     compute.Backend
	lr, mu float32
	v      []compute.Buffer
}

func (o *momentum) Step(params, grads []compute.Buffer) {
	for i, p := range params {
		n := p.Len()
		o.be.Scale(n, o.mu, o.v[i])
		o.be.Axpy(n, 1, grads[i], o.v[i])
		o.be.Axpy(n, -o.lr, o.v[i], p)
	}
}

// adam is Kingma & Ba 2015, Algorithm 1.
type adam struct {
	be   compute.Backend
	c    Config
	t    float64
	m, v []compute.Buffer
}

func (o *adam) Step(params, grads []compute.Buffer) {
	o.t++
	p := compute.AdamParams{
		LR: float32(o.c.LearningRate), Beta1: float32(o.c.Beta1), Beta2: float32(o.c.Beta2), Eps: float32(o.c.Eps),
		C1: float32(1 - math.Pow(o.c.Beta1, o.t)), C2: float32(1 - math.Pow(o.c.Beta2, o.t)),
	}
	for i, w := range params {
		o.be.Adam(w.Len(), p, grads[i], o.m[i], o.v[i], w)
	}
}
