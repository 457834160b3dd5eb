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
	seed  maphash.Seed
	first []uint64          // hashes of the tensors as the run began, once they are on this side
	sizes [][256]int        // of each tensor, how many numbers had a float32 exponent then
	begin []compute.Pending // the tensors on their way there
	last  []float32         // the last step's parameters, where the run ends with others
	rows  []compute.Pending // and the lengths of what rows that are made up add, by tensor
	since int               // the step after which it began

	allowed float64   // the length that such a row may have
	inside  run.Check // every tensor is inside the norm
	noise   []dispersion
	lengths compute.Buffer  // of the tensors' noise
	waiting []pendingLength // not yet on this side
	spare   compute.Buffer  // of secure noise, three parts
	tested  int             // steps whose noise was tested
	numbers int             // noise values that were tested
	added   int             // steps to which noise was added
	batches *batchSizes
	epsilon float64 // of the last step
	fell    bool
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

// openSelfCheck begins to test the run. A run without noise promises nothing to be tested.
func (r *Run) openSelfCheck(context.Context) error {
	if r.sigma == 0 {
		return nil
	}
	c := &selfCheck{seed: maphash.MakeSeed(), since: r.done, noise: make([]dispersion, len(r.grads)), lengths: r.be.New(len(r.grads)), batches: newBatchSizes(r.ds.Train.N, r.rate)}
	c.batches.public = newBatchSizes(r.meta.TrainRows, r.rate).pNear
	r.self = c
	for _, w := range r.model.Params() {
		c.begin = append(c.begin, r.be.Fetch(w))
	}
	c.passMadeUp(r)
	return nil
}

// received takes in what was asked for before the first step, once steps are waited for.
func (c *selfCheck) received(ctx context.Context, r *Run) error {
	if c == nil || c.first != nil {
		return nil
	}
	for i, w := range r.model.Params() {
		v := make([]float32, w.Len())
		if err := c.begin[i].Wait(ctx, v); err != nil {
			return fmt.Errorf("train: reading parameters: %w", err)
		}
		c.first = append(c.first, c.hash(v))
		var sizes [256]int
		for _, x := range v {
			sizes[math.Float32bits(x)>>23&255]++
		}
		c.sizes = append(c.sizes, sizes)
	}
	c.begin = nil
	return c.judgeMadeUp(ctx, r)
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
func (c *selfCheck) passMadeUp(r *Run) {
	c.inside = run.Check{Name: "every tensor is inside the clipped norm", OK: true}
	if _, ok := r.source.(bounded); ok {
		return
	}
	rng := rand.New(rand.NewPCG(1, 2)) // no secret: the rows are nobody's
	views := r.cfg.Augmentation.Multiplicity
	x := make([]float32, r.inputs()*views)
	r.be.Write(r.targets, make([]float32, views*r.ds.TargetWidth()))
	for range madeUpRows {
		for i := range x {
			x[i] = float32(4 * rng.NormFloat64())
		}
		r.limit = r.mech.limit()
		r.limit.Gain = float32(r.weights.at(float64(r.limit.C)))
		r.mech.begin()
		r.be.Write(r.x, x)
		r.model.Forward(r.x, 1, views)
		r.judge(1)
		r.model.Backward()
		r.mech.norms(1, r.report.norms)
		r.weigh(1)
		r.mech.add(1, r.factors, r.report.keep)
		r.mech.unnoised()
		for i, g := range r.grads {
			kernel.RowNorms(r.be, 1, g.Len(), g, c.lengths.Slice(i, 1))
		}
		c.rows = append(c.rows, r.be.Fetch(c.lengths))
		c.allowed = r.mech.sensitivity() / r.mech.unit()
	}
}

// judgeMadeUp holds that what a row adds, over all tensors, is no longer than the
// sensitivity that noise is drawn for: a tensor that the norm leaves out makes it longer.
func (c *selfCheck) judgeMadeUp(ctx context.Context, r *Run) error {
	all := 0
	for _, g := range r.grads {
		all += g.Len()
	}
	if d := r.model.All().Len(); all != r.spec.Params() || all != d {
		c.inside.OK, c.inside.Detail = false, fmt.Sprintf("The clipped norm is of %d parameters, and the model has %d.", all, d)
		return nil
	}
	c.inside.Detail = fmt.Sprintf("All %d parameters belong to layers whose gradients are bounded.", all)
	v := make([]float32, len(r.grads))
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
		c.inside.Detail = fmt.Sprintf("All %s are clipped together: rows that were made up add no more to the sum than max_grad_norm.", tensors(len(r.grads)))
	}
	c.rows = nil
	return nil
}

func tensors(n int) string {
	if n == 1 {
		return "1 tensor"
	}
	return fmt.Sprintf("%d tensors", n)
}

// due reports whether the noise of the present step is tested.
func (c *selfCheck) due(step int) bool {
	return c != nil && (c.numbers < testedNumbers || step%testedEvery == 0)
}

// promised is the least and the greatest deviation that the present step's noise may have,
// in the coordinates in which it is drawn.
func (r *Run) promised() (least, most float64) {
	return r.gradNoise * r.clipper.Sensitivity(r.spec.Params()), r.gradNoise * r.mech.sensitivity()
}

// checkDrawn tests the noise in the gradient before anything is added to it.
func (r *Run) checkDrawn() {
	c := r.self
	if c == nil {
		return
	}
	c.added++
	if !c.due(r.done) {
		return
	}
	for i, g := range r.grads {
		kernel.RowNorms(r.be, 1, g.Len(), g, c.lengths.Slice(i, 1))
	}
	least, most := r.promised()
	c.expect(r, least, most, func(i int) int { return r.grads[i].Len() })
}

// expect queues the reading of lengths.
func (c *selfCheck) expect(r *Run, least, most float64, n func(tensor int) int) {
	c.tested++
	for i := range c.noise {
		c.noise[i].n += n(i)
		c.numbers += n(i)
	}
	c.waiting = append(c.waiting, pendingLength{r.be.Fetch(c.lengths), least, most})
	for len(c.waiting) > 0 && c.waiting[0].Done() {
		if c.take(context.Background()) != nil {
			return // and again at the end, where it is said
		}
	}
}

// take waits for the first lengths that are on their way.
func (c *selfCheck) take(ctx context.Context) error {
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
		c.batches.add(n)
	}
}

// checks returns the outcomes of the run's tests but for that of ε, or nil for a run without noise.
func (r *Run) checks(ctx context.Context, parameters []float32) ([]run.Check, error) {
	c := r.self
	if c == nil {
		return nil, nil
	}
	for len(c.waiting) > 0 {
		if err := c.take(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.received(ctx, r); err != nil {
		return nil, err
	}
	if c.last != nil {
		parameters = c.last
	}
	return []run.Check{c.inside, c.moved(r, parameters), c.drawn(r.done - c.since), c.batches.check()}, nil
}

// moved compares the last step's parameters with what the tensors began as.
func (c *selfCheck) moved(r *Run, parameters []float32) run.Check {
	k := run.Check{Name: "every tensor was trained", OK: true}
	if r.done == c.since {
		k.Detail = "No step was taken since the run went on."
		return k
	}
	var stays []string
	unclear := 0
	for i, g := range r.grads {
		if c.hash(parameters[:g.Len()]) == c.first[i] {
			if r.shows(&c.sizes[i], r.done-c.since > 1) {
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
// it began with a probability below falseAlarm over the number of tensors; several says that
// there was more than one step.
//
// Given all that is before it, the last step's noise has to end in one value of float32, or in
// the step that leads to it, for each number: an interval of twice their spacing, of which a
// normal of deviation std has 2·spacing/(std·√(2π)) at most. Adam divides by a length in which
// the noise is as well, so its std is an estimate, and no number is trusted beyond 2⁻¹⁰.
func (r *Run) shows(sizes *[256]int, several bool) bool {
	c := &r.cfg
	noise := r.gradNoise * r.clipper.Sensitivity(r.spec.Params())
	if r.clipper.Geometry != nil { // b² = s·Σs, and each s is at least √Least
		noise *= math.Sqrt(r.clipper.Geometry.Least * float64(r.spec.Params()))
	}
	largest := r.mech.sensitivity()*float64(2*r.likely()) + 8*noise // of a noised sum
	std, far, trust := c.LearningRate*noise/r.batch, c.LearningRate*largest/r.batch, 0.0
	switch c.Optimizer {
	case "momentum":
		far /= 1 - c.Momentum
	case "adam":
		std *= (1 - c.Beta1) / (largest/r.batch + c.Eps)
		far, trust = c.LearningRate/(1-c.Beta1), 0x1p-10
	}
	if r.cfg.NoiseMode == "secure" { // no whole number is likelier than that
		trust = max(trust, 0.5*r.mech.unit()/noise)
	}
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
	return likely <= math.Log(falseAlarm/float64(len(r.grads)))
}

// drawn judges the noise.
func (c *selfCheck) drawn(steps int) run.Check {
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

// batchSizes tests sizes of batches against Binomial(rows, rate). What it says where nothing
// is amiss follows from the number of rows that is public.
type batchSizes struct {
	rows          int
	rate          float64
	steps, sum    int
	near, far     int     // within window of the mean, and beyond limit
	window, limit float64 // half widths
	pNear, pFar   float64 // the probabilities of these
	public        float64 // pNear of the number of rows that is public
}

func newBatchSizes(rows int, rate float64) *batchSizes {
	b := &batchSizes{rows: rows, rate: rate}
	n := float64(rows)
	mean, sd := n*rate, math.Sqrt(n*rate*(1-rate))
	b.window, b.limit = max(0.5, sd/8), 4*sd+1
	if sd == 0 {
		b.pNear, b.public = 1, 1
		return b
	}
	inside := 0.0
	for k := int(math.Max(0, math.Ceil(mean-b.limit))); k <= int(math.Min(n, math.Floor(mean+b.limit))); k++ {
		p := binomial(n, float64(k), rate)
		inside += p
		if math.Abs(float64(k)-mean) <= b.window {
			b.pNear += p
		}
	}
	const rounding = 1e-6
	b.pNear, b.pFar = min(1, b.pNear*(1+rounding)), max(0, 1-inside)+rounding
	b.public = b.pNear
	return b
}

// binomial is P(K = k) for K ~ Binomial(n, p), 0 < p < 1.
func binomial(n, k, p float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return math.Exp(a - b - c + k*math.Log(p) + (n-k)*math.Log1p(-p))
}

func (b *batchSizes) add(n int) {
	b.steps++
	b.sum += n
	away := math.Abs(float64(n) - float64(b.rows)*b.rate)
	if away <= b.window {
		b.near++
	}
	if away > b.limit {
		b.far++
	}
}

// check judges three counts, each binomial, by Chernoff's bound.
func (b *batchSizes) check() run.Check {
	k := run.Check{Name: "batch sizes fit Poisson sampling", OK: true}
	x := math.Log(2 * 3 / falseAlarm)
	t := float64(b.steps)
	all := t * float64(b.rows)
	switch {
	case t == 0:
	case all*divergence(float64(b.sum)/all, b.rate) > x:
		k.OK, k.Detail = false, "Batches are larger or smaller than sample_rate says."
	case float64(b.near)/t > b.pNear && t*divergence(float64(b.near)/t, b.pNear) > x:
		k.OK, k.Detail = false, "Batches have nearly always the same size, which those of Poisson sampling have not: ε does not hold for shuffled batches of one size."
	case float64(b.far)/t > b.pFar && t*divergence(float64(b.far)/t, b.pFar) > x:
		k.OK, k.Detail = false, "Batch sizes vary more than those of Poisson sampling."
	}
	if !k.OK {
		return k
	}
	if b.public < 1 && -t*math.Log(b.public) <= x {
		k.Detail = "Too few steps to tell batches of one size from those of Poisson sampling."
		return k
	}
	k.Detail = fmt.Sprintf("Their mean and their spread over %s fit. A false alarm has a probability below 10⁻¹⁸.", plural(b.steps, "step"))
	return k
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// divergence returns the Kullback–Leibler divergence of Bernoulli(a) from Bernoulli(p).
func divergence(a, p float64) float64 {
	term := func(a, p float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/p)
	}
	return term(a, p) + term(1-a, 1-p)
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
