package train

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"strings"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/optim"
	"clipscope/core/run"
)

// selfCheck tests a run while it goes on: that every tensor was trained and counted in the
// norm, that noise and batches were drawn as stated, and that ε was never lowered.
//
// # Guarantee
//
// What leaves it is a verdict, never a statistic: the squared length of the noise beside a
// released sum would tell of the sum without noise. Noise, batch sizes, the first parameters
// and made-up rows are independent of what is in the rows, and so are the steps in which
// noise is tested. A verdict on them therefore passes on any data with a probability of at
// least 1 − falseAlarm each, and to publish that all passed adds at most (1+e^ε)·falseAlarm
// to δ for each. Whether a tensor moved is computed from released parameters, and whether ε
// fell from public numbers.
type selfCheck struct {
	*clipping
	feed    *feed
	seed    maphash.Seed
	first   []uint64          // hashes of the tensors as the run began, once they are on this side
	sizes   [][256]int        // of each tensor, how many numbers had a float32 exponent then
	initial []compute.Pending // the tensors on their way there
	last    []float32         // the last step's parameters, where the run ends with others
	rows    []compute.Pending // and the lengths of what rows that are made up add, by tensor
	since   int               // the step after which it began

	allowed float64   // the length that such a row may have
	inside  run.Check // every tensor is inside the norm
	batches *batchSizes
	epsilon float64 // of the last step
	fell    bool
}

// newSelfCheck begins to test a run after so many steps. A run without noise promises nothing
// to be tested.
func newSelfCheck(c *clipping, f *feed, taken int, unmeasured bool) *selfCheck {
	t := &c.terms
	if t.NoiseMultiplier == 0 {
		return nil
	}
	s := &selfCheck{clipping: c, feed: f, seed: maphash.MakeSeed(), since: taken, batches: newBatchSizes(f.ds.Train.N, t.SampleRate)}
	s.batches.public = newBatchSizes(t.Meta.TrainRows, t.SampleRate).pNear
	c.watch = &noiseTest{be: c.be, promised: s.promised, noise: make([]dispersion, len(c.grads)), lengths: c.be.New(len(c.grads))}
	for _, w := range c.model.Params() {
		s.initial = append(s.initial, c.be.Fetch(w))
	}
	s.inside = run.Check{Name: "every tensor is inside the clipped norm", OK: true}
	if !unmeasured {
		s.passMadeUp()
	}
	return s
}

// promised returns the least and the greatest deviation that the present step's noise may
// have, in the coordinates in which it is drawn.
func (c *selfCheck) promised() (least, most float64) {
	return c.terms.GradNoise * c.statedSensitivity(), c.terms.GradNoise * c.mech.sensitivity()
}

// takeInitial waits for the first parameters, whose reading newSelfCheck queued, and hashes them.
func (c *selfCheck) takeInitial(ctx context.Context) error {
	if c == nil || c.first != nil {
		return nil
	}
	for i, w := range c.model.Params() {
		v := make([]float32, w.Len())
		if err := c.initial[i].Wait(ctx, v); err != nil {
			return fmt.Errorf("train: reading parameters: %w", err)
		}
		c.first = append(c.first, c.hash(v))
		var sizes [256]int
		for _, x := range v {
			sizes[math.Float32bits(x)>>23&255]++
		}
		c.sizes = append(c.sizes, sizes)
	}
	c.initial = nil
	return c.judgeMadeUp(ctx)
}

// hash names the numbers of a tensor.
func (c *selfCheck) hash(v []float32) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.Write(run.FloatBytes(v))
	return h.Sum64()
}

// madeUpRows is the number of made-up rows that go through the model before the first step.
const madeUpRows = 3

// passMadeUp passes rows that are made up through the model, one at a time, and asks how
// long what each adds to the sum is, by tensor. The coordinates that value clipping bounds
// are those of a row's loss, and its rows are left out: to refresh the bounds would move
// them.
func (c *selfCheck) passMadeUp() {
	rng := rand.New(rand.NewPCG(1, 2)) // no secret: the rows are nobody's
	views := c.terms.Config.Augmentation.Multiplicity
	x := make([]float32, c.terms.Inputs()*views)
	c.be.Write(c.feed.targets, make([]float32, views*c.feed.ds.TargetWidth()))
	for range madeUpRows {
		for i := range x {
			x[i] = float32(4 * rng.NormFloat64())
		}
		c.beginPart()
		c.bound()
		c.be.Write(c.feed.x, x)
		c.model.Forward(c.feed.x, 1, views)
		c.feed.judge(1)
		c.model.Backward()
		c.mech.norms(1, c.report.norms)
		c.weigh(1)
		c.addWeighed(1)
		c.mech.unnoised(c.part)
		for i, g := range c.grads {
			kernel.RowNorms(c.be, 1, g.Len(), g, c.watch.lengths.Slice(i, 1))
		}
		c.rows = append(c.rows, c.be.Fetch(c.watch.lengths))
		c.allowed = c.mech.sensitivity() / c.mech.unit()
	}
}

// judgeMadeUp holds that what a row adds, over all tensors, is no longer than the
// sensitivity that noise is drawn for: a tensor that the norm leaves out makes it longer.
func (c *selfCheck) judgeMadeUp(ctx context.Context) error {
	all := 0
	for _, g := range c.grads {
		all += g.Len()
	}
	if d := c.model.All().Len(); all != c.terms.Spec.Params() || all != d {
		c.inside.OK, c.inside.Detail = false, fmt.Sprintf("The clipped norm is of %d parameters, and the model has %d.", all, d)
		return nil
	}
	c.inside.Detail = fmt.Sprintf("All %d parameters belong to layers whose gradients are bounded.", all)
	v := make([]float32, len(c.grads))
	for _, p := range c.rows {
		if err := p.Wait(ctx, v); err != nil {
			return fmt.Errorf("train: checking the norm: %w", err)
		}
		length := 0.0
		for _, l := range v {
			length = math.Hypot(length, float64(l))
		}
		if !(length <= c.allowed*(1+1e-5)) {
			c.inside.OK, c.inside.Detail = false, "A row that was made up adds more to the sum than max_grad_norm allows: a tensor is not counted in the norm."
			return nil
		}
		c.inside.Detail = fmt.Sprintf("All %s are clipped together: rows that were made up add no more to the sum than max_grad_norm.", tensors(len(c.grads)))
	}
	c.rows = nil
	return nil
}

// spent takes note of ε after a step.
func (c *selfCheck) spent(epsilon float64) {
	if c != nil {
		c.fell = c.fell || !(epsilon >= c.epsilon)
		c.epsilon = epsilon
	}
}

// batch takes note of a batch's size.
func (c *selfCheck) batch(n int) {
	if c != nil {
		c.batches.addSize(n)
	}
}

// checks returns the outcomes of the tests after so many steps but for that of ε, or nil for a run without noise.
func (c *selfCheck) checks(ctx context.Context, parameters []float32, done int) ([]run.Check, error) {
	if c == nil {
		return nil, nil
	}
	for len(c.watch.waiting) > 0 {
		if err := c.watch.take(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.takeInitial(ctx); err != nil {
		return nil, err
	}
	if c.last != nil {
		parameters = c.last
	}
	return []run.Check{c.inside, c.moved(parameters, done), c.watch.drawn(done - c.since), c.batches.verdict()}, nil
}

// moved compares the last step's parameters with what the tensors began as.
func (c *selfCheck) moved(parameters []float32, done int) run.Check {
	k := run.Check{Name: "every tensor was trained", OK: true}
	if done == c.since {
		k.Detail = "No step was taken since the run went on."
		return k
	}
	var stays []string
	unclear := 0
	for i, g := range c.grads {
		if c.hash(parameters[:g.Len()]) == c.first[i] {
			if c.shows(&c.sizes[i], c.terms.Config.RateAt(done-1, c.terms.Steps), done-c.since > 1) {
				stays = append(stays, fmt.Sprint(i+1))
			} else {
				unclear++
			}
		}
		parameters = parameters[g.Len():]
	}
	switch {
	case len(stays) > 0:
		k.OK, k.Detail = false, fmt.Sprintf("Of %s, number %s did not move, though noise was added to its gradient.", tensors(len(c.first)), strings.Join(stays, ", "))
	case unclear > 0:
		k.Detail = fmt.Sprintf("Steps are too small to tell: learning_rate times the noise is less than float32 shows in %s.", tensors(unclear))
	default:
		k.Detail = fmt.Sprintf("All %s moved.", tensors(len(c.first)))
	}
	return k
}

// shows reports whether a tensor that began with numbers of such sizes, and is trained, is as
// it began with a probability below falseAlarm over the number of tensors; the last step had this
// rate, and several says that it was not the only one.
//
// Given all that is before it, the last step's noise has to end in one value of float32, or in
// the step that leads to it, for each number: an interval of twice their spacing, of which a
// normal of deviation std has 2·spacing/(std·√(2π)) at most. Adam divides by a length in which
// the noise is as well, so its std is an estimate, and no number is trusted beyond 2⁻¹⁰.
func (s *selfCheck) shows(sizes *[256]int, rate float64, several bool) bool {
	c := &s.terms.Config
	noise := s.mech.narrowest(s.terms.GradNoise * s.statedSensitivity())
	largest := s.mech.sensitivity()*float64(2*s.terms.Likely()) + 8*noise // of a noised sum
	std, far, trust := rate*noise/s.terms.BatchSize, c.LearningRate*largest/s.terms.BatchSize, 0.0
	switch c.Optimizer {
	case "momentum":
		far /= 1 - c.Momentum
	case "adam", "adam-bc":
		std *= (1 - c.Beta1) / (largest/s.terms.BatchSize + c.Eps)
		far, trust = c.LearningRate/(1-c.Beta1), 0x1p-10
		if c.Optimizer == "adam-bc" { // which divides by as little as this
			far = c.LearningRate * largest / (math.Sqrt(optim.Floor) * noise)
		}
	}
	trust = max(trust, s.mech.likeliest(noise))
	likely := 0.0 // its logarithm
	for exponent, n := range sizes {
		if n == 0 {
			continue
		}
		spacing := math.Ldexp(1, max(exponent, 1)-127-23)
		if several {
			spacing = max(spacing, far*0x1p-23)
		}
		p := 2 * spacing / (std * math.Sqrt(2*math.Pi))
		likely += float64(n) * math.Log(min(1, max(p, trust)))
	}
	return likely <= math.Log(falseAlarm/float64(len(s.grads)))
}

// checkEpsilon holds that ε never fell from one step to the next, and that the ε of the plan
// is no less than what is proven that so many steps cost at least, as another accountant
// works it out.
func checkEpsilon(fell bool, taken, planned int, epsilon, least float64) run.Check {
	k := run.Check{Name: "ε never fell", OK: true}
	switch {
	case fell:
		k.OK, k.Detail = false, "ε of a step was below that of the step before."
	case taken > planned:
		k.OK, k.Detail = false, fmt.Sprintf("%s were taken, and %d are charged.", plural(taken, "step"), planned)
	case epsilon < least*(1-1e-9):
		k.OK, k.Detail = false, fmt.Sprintf("ε = %s is less than %s cost at least, %s.", run.UpText(epsilon, 4), plural(planned, "step"), run.DownText(least, 4))
	default:
		k.Detail = fmt.Sprintf("It grew from step to step, and covers %s, as another accountant confirms.", plural(planned, "planned step"))
	}
	return k
}

// failedCheck says which checks failed; "" where none did.
func failedCheck(checks []run.Check) string {
	var failed []string
	for _, c := range checks {
		if !c.OK {
			failed = append(failed, "“"+c.Name+"”")
		}
	}
	if len(failed) == 0 {
		return ""
	}
	return "a check that the run makes of itself failed (" + strings.Join(failed, "; ") + ")"
}
