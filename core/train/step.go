package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// step takes one private step: sample, clip and sum, add noise, move.
func (p *Plan) step(ctx context.Context) (run.Event, error) {
	began := time.Now()
	s := p.st
	c := p.clipper.Rule.C()
	s.rows = p.sample(s.rows[:0])
	s.tall.reset()
	clear(s.stat)
	s.lastBatch = 0
	if p.teaching() {
		s.teacher.reset(p.be)
	}
	p.empty(c)
	if s.bounds != nil {
		if err := s.bounds.Refresh(ctx); err != nil {
			return run.Event{}, err
		}
	}
	if err := p.addUp(ctx, s.rows); err != nil {
		return run.Event{}, err
	}
	var gradient *run.GradientDiag
	if p.teaching() {
		var err error
		if gradient, err = p.compare(ctx); err != nil {
			return run.Event{}, err
		}
	}
	if err := p.addNoise(ctx); err != nil {
		return run.Event{}, err
	}
	norm, err := p.move(ctx)
	if err != nil {
		return run.Event{}, err
	}
	s.done++
	if s.iterate != nil {
		s.iterate.add(s.params, s.done)
	}
	s.thresholds = append(s.thresholds, c)
	e := run.Event{Step: s.done, Steps: p.steps, Released: p.adapt(c, norm)}
	seconds := time.Since(began).Seconds()
	s.trainSeconds += seconds
	e.Diag = s.tall.diag(p.clipper, c, seconds)
	e.Diag.Gradient = gradient
	return e, nil
}

// empty makes ready for the sum of a step at threshold c.
func (p *Plan) empty(c float64) {
	s := p.st
	if s.coords != nil {
		s.coords.weights = 0
		s.coords.limit(c, p.ds.Train.N)
	}
	if s.secure != nil {
		s.secure.unit = gridUnit(c)
	}
	for _, sum := range s.sums {
		kernel.Clear(p.be, sum)
	}
}

// sample draws the present step's batch, in an order that is uniformly random and
// independent of what is in it: see [Plan.sensitivity].
func (p *Plan) sample(dst []int) []int {
	src := p.stream(privacy.Sampling, p.st.done)
	rows := p.st.sampler.Append(dst, src)
	p.st.mix(rows, src)
	return rows
}

func shuffle(rows []int, src rand.Source) {
	rand.New(src).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

// addUp adds the clipped gradients of rows to the sum, in that order.
func (p *Plan) addUp(ctx context.Context, rows []int) error {
	most := p.st.model.Capacity
	for lo := 0; lo < len(rows); lo += most {
		if err := p.accumulate(ctx, rows[lo:min(lo+most, len(rows))]); err != nil {
			return err
		}
	}
	return nil
}

// accumulate adds the clipped gradients of one physical batch to the sum.
func (p *Plan) accumulate(ctx context.Context, rows []int) error {
	s, n := p.st, len(rows)
	p.load(&p.ds.Train, rows)
	s.model.Forward(s.x, n)
	losses := s.model.Losses(s.targets)
	if err := compute.Read(ctx, p.be, s.host.losses[:n], losses); err != nil {
		return fmt.Errorf("train: reading losses: %w", err)
	}
	if err := s.model.ReadOutputs(ctx, s.host.outputs); err != nil {
		return fmt.Errorf("train: reading outputs: %w", err)
	}
	s.tall.add(p, n)
	switch {
	case p.clipper.NonPrivate:
		s.model.Backward()
		p.teach(0)
		s.model.Add(s.sums, nil, kernel.Plain())
		return nil
	case p.clipper.Source == clip.Bounded:
		return p.clipByBound(ctx, n)
	default:
		return p.clipByNorm(ctx, n)
	}
}

// clipByNorm measures the gradients and then weighs their sum: two passes over
// the layers' memory, one backward pass.
func (p *Plan) clipByNorm(ctx context.Context, n int) error {
	s := p.st
	s.model.Backward()
	if err := p.norms(ctx, n); err != nil {
		return err
	}
	p.weigh(n)
	s.tall.addNorms(p, n)
	p.teach(n)
	if p.clipper.Coordinates {
		s.model.Add(s.sums, s.factors, kernel.Clamped(float32(p.clipper.Rule.C()))) // of 1 or 0
		return nil
	}
	if s.secure != nil {
		p.sumRounded(n, false)
		return nil
	}
	s.model.Add(s.sums, s.factors, kernel.Plain())
	return nil
}

// clipByBound weighs the losses by a bound known before the backward pass.
func (p *Plan) clipByBound(ctx context.Context, n int) error {
	s := p.st
	norms := s.host.norms[:n]
	if err := s.bounds.Norms(ctx, norms, s.host.losses[:n], s.host.outputs); err != nil {
		return fmt.Errorf("train: bounding gradients: %w", err)
	}
	copy(s.host.group[0], norms)
	p.weigh(n)
	s.tall.addNorms(p, n)
	if p.teaching() { // the true gradient needs a backward pass of its own here
		s.model.Backward()
		p.teach(0)
	}
	s.model.WeighLosses(s.factors[0])
	s.model.Backward()
	if s.secure != nil {
		p.sumRounded(n, true)
		return nil
	}
	s.model.Add(s.sums, []compute.Buffer{s.keep}, kernel.Plain())
	return nil
}

// load brings rows of a split and their targets onto the backend.
func (p *Plan) load(split *data.Split, rows []int) {
	s, n, width := p.st, len(rows), p.ds.TargetWidth()
	x, t := s.host.x[:n*p.ds.Features], s.host.targets[:n*width]
	p.scale.Rows(x, split, rows)
	split.Targets(t, width, rows)
	p.be.Write(s.targets, t)
	if pr := p.pca; pr != nil {
		unitRows(x, pr.features)
		p.be.Write(pr.rows, x)
		kernel.Gemm(p.be, kernel.NoTrans, kernel.NoTrans, n, pr.components, pr.features, pr.rows, pr.v, 0, s.x)
		return
	}
	p.boundFeatures(x)
	p.be.Write(s.x, x)
}

// norms computes every example's gradient norm, over all parameters and by group.
func (p *Plan) norms(ctx context.Context, n int) error {
	s := p.st
	for _, b := range s.norm {
		kernel.Fill(p.be, n, 0, b)
	}
	if s.coords != nil {
		s.model.ScaledSqNorms(s.norm[0], s.coords.Coordinates)
	} else {
		s.model.Norms(s.norm)
	}
	total := s.host.norms[:n]
	clear(total)
	for g, b := range s.norm {
		if err := compute.Read(ctx, p.be, s.host.norm[:n], b); err != nil {
			return fmt.Errorf("train: reading norms: %w", err)
		}
		for i, v := range s.host.norm[:n] {
			norm := float64(v)
			if s.coords != nil { // which were squares
				norm = math.Sqrt(norm)
			}
			total[i] = math.Hypot(total[i], norm)
			s.host.group[g][i] = norm
		}
	}
	return nil
}

// weigh turns norms into factors on the backend and feeds the rule's statistic.
// Examples whose gradient or loss is not finite get factor 0.
//
// Guarantee: example i's factor depends on its own norms and on C alone.
func (p *Plan) weigh(n int) {
	s := p.st
	for i := range n {
		s.host.keep[i] = 0
		for g := range s.factors {
			s.host.factors[g][i] = 0
		}
		if !finite(s.host.norms[i]) || !finite(float64(s.host.losses[i])) {
			continue
		}
		s.host.keep[i] = 1
		clipped := p.weighOne(i)
		if p.query != nil {
			p.query.Value(s.stat, s.host.norms[i], clipped)
		}
	}
	for g, b := range s.factors {
		p.be.Write(b, s.host.factors[g][:n])
	}
	p.be.Write(s.keep, s.host.keep[:n])
}

// weighOne sets example i's factors and returns the norm that they leave.
func (p *Plan) weighOne(i int) float64 {
	s := p.st
	c := p.threshold(len(s.factors))
	sq := 0.0
	for g := range s.factors {
		norm := s.host.group[g][i]
		f := float32(1) // clamped coordinates are not weighed
		if !p.clipper.Coordinates {
			f = p.factor(p.clipper.Weight.Factor(norm, c))
		}
		s.host.factors[g][i] = f
		sq += norm * norm * float64(f) * float64(f)
	}
	if s.coords != nil {
		s.coords.weights += float64(s.host.factors[0][i])
	}
	return math.Sqrt(sq)
}

// Factors outside of these bounds are cut: below, float32 has no digits for the
// example, which then adds nothing; above, it has no number for the factor.
const (
	leastFactor    = 0x1p-120
	greatestFactor = 0x1p100
)

// factor is f in float32, rounded down, so that it never lets more through.
func (p *Plan) factor(f float64) float32 {
	if c := p.st.coords; c != nil {
		f = c.factor(f)
	}
	if !(f >= leastFactor) {
		return 0
	}
	f = min(f, greatestFactor)
	down := float32(f)
	if float64(down) > f {
		down = math.Nextafter32(down, 0)
	}
	return down
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// addNoise adds the step's Gaussian noise to the clipped sum, once for each
// logical step however many physical batches there were.
//
// Guarantee: the standard deviation is at least σ_T times the sensitivity of the
// computed sum, every tensor and step draws from a stream of its own, and what is
// released is one rounding of the computed sum plus noise: a function of that
// number, so post-processing.
func (p *Plan) addNoise(ctx context.Context) error {
	if p.st.secure != nil {
		if err := p.addIntegers(ctx); err != nil || p.query == nil {
			return err
		}
		return p.addIntegerStatistic()
	}
	std := 0.0
	if p.sigma > 0 {
		std = p.gradNoise * p.sensitivity()
	}
	p.centre()
	for i, g := range p.st.grads {
		n, sum := g.Len(), p.st.sums[i]
		key, err := p.noiseKey(i)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		kernel.Noise(p.be, n, above(std), key, g)
		if c := p.st.coords; c != nil {
			kernel.Mul(p.be, n, g, g, c.b[i])
		}
		kernel.Settle(p.be, n, sum, g)
	}
	if p.query == nil || p.sigma == 0 {
		return nil
	}
	if !p.query.Joined {
		std = p.query.NoiseStd
	}
	z, err := p.normals(privacy.Statistic, p.st.done, len(p.st.stat))
	for i := range z {
		p.st.stat[i] += std * z[i]
	}
	return err
}

// move divides by the expected batch size and takes the optimiser's step. It
// returns the norm of the noised mean gradient.
func (p *Plan) move(ctx context.Context) (float64, error) {
	s := p.st
	kernel.Scale(p.be, s.gradient.Len(), float32(1/p.batch), s.gradient)
	if s.coords != nil {
		if err := p.recentre(ctx); err != nil {
			return 0, err
		}
	}
	norm, err := kernel.Norm(ctx, p.be, s.gradient, s.scalar)
	if err != nil {
		return 0, fmt.Errorf("train: the gradient: %w", err)
	}
	s.opt.Step(s.model.All(), s.gradient)
	return norm, nil
}

// adapt hands the rule its noised statistic and says what the step released.
func (p *Plan) adapt(c, norm float64) run.Released {
	s := p.st
	r := run.Released{MaxGradNorm: c, Epsilon: run.Number(p.curve.Epsilon(s.done)), GradNorm: run.Number(norm)}
	if p.query == nil {
		p.clipper.Rule.Adapt(nil)
		return r
	}
	if h, ok := p.clipper.Rule.(interface{ HistogramRange() float64 }); ok {
		r.Histogram, r.HistogramRange = append([]float64(nil), s.stat...), h.HistogramRange()
	}
	p.clipper.Rule.Adapt(s.stat)
	if f, ok := p.clipper.Rule.(clip.FractionReleaser); ok {
		share := run.Number(f.ClipFraction())
		r.ClipFraction = &share
	}
	if w, ok := p.clipper.Rule.(clip.Curver); ok {
		curves := w.Curves()
		r.Curves = &run.ErrorCurves{C: curves.C, Variance: curves.Variance, Bias: curves.Bias}
	}
	return r
}
