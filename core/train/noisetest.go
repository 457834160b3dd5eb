package train

import (
	"context"
	"fmt"
	"math"
	"strings"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/run"
)

// falseAlarm bounds the probability that one of a run's checks fails though everything is
// as it should be.
const falseAlarm = 1e-18

// Noise is tested in every step until there are so many numbers, and then in one step of so
// many, so that it takes less than a hundredth of a run's time.
const (
	testedNumbers = 1 << 20
	testedEvery   = 32
)

// noiseTest tests the noise of steps while a run goes on. A run without noise has none: its
// methods do nothing on nil.
type noiseTest struct {
	be compute.Backend
	// promised returns the least and the greatest deviation that the present step's noise may
	// have, in the coordinates in which it is drawn.
	promised func() (least, most float64)

	noise   []dispersion
	lengths compute.Buffer  // of the tensors' noise
	waiting []pendingLength // not yet on this side
	spare   compute.Buffer  // of secure noise, three parts
	tested  int             // steps whose noise was tested
	numbers int             // noise values that were tested
	added   int             // steps to which noise was added
}

// pendingLength is the lengths of a step's noise on their way to this side, and the
// deviations between which they have to lie.
type pendingLength struct {
	compute.Pending
	least, most float64
}

// dispersion is the squared length of noise in units of the least and of the greatest
// deviation that was promised.
type dispersion struct {
	n          int // numbers
	low, great float64
}

// slack covers what float32 takes from a length, and a deviation that is rounded.
const slack = 1e-4

// fails reports whether so long a vector of n normal numbers has a probability below
// exp(−x) (Laurent & Massart 2000, Lemma 1).
func (d *dispersion) fails(x float64) bool {
	n := float64(d.n)
	short := d.low < n*(1-slack)-2*math.Sqrt(n*x)
	long := d.great > n*(1+slack)+2*math.Sqrt(n*x)+2*x
	return short || long || d.low != d.low
}

// tells reports whether noise of half the deviation would fail.
func (d *dispersion) tells(x float64) bool {
	n := float64(d.n)
	return n/4 < n*(1-slack)-2*math.Sqrt(n*x)
}

func tensors(n int) string {
	if n == 1 {
		return "1 tensor"
	}
	return fmt.Sprintf("%d tensors", n)
}

// due reports whether the noise of the present step is tested.
func (c *noiseTest) due(step int) bool {
	return c != nil && (c.numbers < testedNumbers || step%testedEvery == 0)
}

// checkDrawn tests the noise in the gradient before anything is added to it.
func (c *noiseTest) checkDrawn(step int, grads []compute.Buffer) {
	if c == nil {
		return
	}
	c.added++
	if !c.due(step) {
		return
	}
	for i, g := range grads {
		kernel.RowNorms(c.be, 1, g.Len(), g, c.lengths.Slice(i, 1))
	}
	least, most := c.promised()
	c.expect(least, most, func(i int) int { return grads[i].Len() })
}

// expect queues the reading of lengths.
func (c *noiseTest) expect(least, most float64, n func(tensor int) int) {
	c.tested++
	for i := range c.noise {
		c.noise[i].n += n(i)
		c.numbers += n(i)
	}
	c.waiting = append(c.waiting, pendingLength{c.be.Fetch(c.lengths), least, most})
	for len(c.waiting) > 0 && c.waiting[0].Done() {
		if c.take(context.Background()) != nil {
			return // and again at the end, where it is said
		}
	}
}

// measured tests noise of which the squared lengths, by tensor, are on this side.
func (c *noiseTest) measured(squares []float64, least, most float64, n func(tensor int) int) {
	c.tested++
	for i, s := range squares {
		d := &c.noise[i]
		d.n, d.low, d.great = d.n+n(i), d.low+s/(least*least), d.great+s/(most*most)
		c.numbers += n(i)
	}
}

// take waits for the first lengths that are on their way.
func (c *noiseTest) take(ctx context.Context) error {
	p := c.waiting[0]
	v := make([]float32, len(c.noise))
	if err := p.Wait(ctx, v); err != nil {
		return fmt.Errorf("train: reading the noise's length: %w", err)
	}
	c.waiting = c.waiting[1:]
	for i, l := range v {
		c.noise[i].low += float64(l) / p.least * float64(l) / p.least
		c.noise[i].great += float64(l) / p.most * float64(l) / p.most
	}
	return nil
}

// drawn judges the noise.
func (c *noiseTest) drawn(steps int) run.Check {
	k := run.Check{Name: "noise had the promised deviation", OK: true}
	x := math.Log(2 * float64(len(c.noise)) / falseAlarm)
	all := dispersion{}
	var amiss []string
	for i, d := range c.noise {
		all.n += d.n
		all.low += d.low
		all.great += d.great
		if d.fails(x) {
			amiss = append(amiss, fmt.Sprint(i+1))
		}
	}
	switch {
	case c.added != steps:
		k.OK, k.Detail = false, fmt.Sprintf("Noise was added in %d of %d steps.", c.added, steps)
	case len(amiss) > 0:
		k.OK, k.Detail = false, fmt.Sprintf("The noise on %s is not what was promised (number %s).", tensors(len(amiss)), strings.Join(amiss, ", "))
	case all.fails(x):
		k.OK, k.Detail = false, "The noise as a whole is not what was promised."
	case !all.tells(x):
		k.Detail = "Too few numbers to tell: noise was drawn in each step, and nothing shows that it was less than promised."
	default:
		k.Detail = fmt.Sprintf("Its length was tested in %d of %d steps, tensor by tensor. A false alarm has a probability below 10⁻¹⁸.", c.tested, steps)
	}
	return k
}
