package train

import (
	"context"
	"fmt"
	"math/rand/v2"

	"clipscope/core/chacha"
	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/nn"
	"clipscope/core/optim"
	"clipscope/core/privacy"
)

// state is what changes while a plan runs. All buffers are made once, so that
// memory stays flat however long the run.
type state struct {
	model   *nn.Model
	bounds  *nn.Bounds   // for value clipping
	coords  *coordinates // for a geometry of its own
	opt     optim.Optimizer
	sampler privacy.Sampler
	mix     func(rows []int, src rand.Source) // shuffle, unless a test plants a fault

	gradient      compute.Buffer   // released, of all parameters
	params, grads []compute.Buffer // parts of the model and of gradient
	sums          []compute.Sums   // Σ f_i·g_i of the step, beside each of params
	x, targets    compute.Buffer
	norm, factors []compute.Buffer // one, or one for each group
	keep          compute.Buffer
	scalar        compute.Buffer

	secure    *secure  // nil: float noise
	iterate   *iterate // nil: the last
	teacher   *teacher // nil: not asked for
	lastBatch int      // rows of the step's last physical batch, when taught

	rows []int // of the step's batch
	host hostBuffers
	stat []float64 // the query's sum
	tall tally

	done         int
	thresholds   []float64
	trainSeconds float64
}

// hostBuffers are this side's copies of what crosses the backend's border.
type hostBuffers struct {
	x, targets, losses, outputs, keep, norm []float32
	factors                                 [][]float32
	norms                                   []float64   // over all parameters
	group                                   [][]float64 // by group
}

// start builds the model and its buffers.
func (p *Plan) start(ctx context.Context) (*state, error) {
	capacity := p.capacity()
	model, err := nn.New(p.be, p.spec, capacity)
	if err != nil {
		return nil, err
	}
	s := &state{model: model, params: model.Params(), mix: shuffle}
	s.model.Init(rand.New(p.stream(privacy.Init, 0)))
	if s.sampler, err = privacy.NewSampler(p.ds.Train.N, p.rate); err != nil {
		return nil, err
	}
	c := &p.cfg
	s.opt, err = optim.New(p.be, optim.Config{
		Name: c.Optimizer, LearningRate: c.LearningRate, Momentum: c.Momentum, Beta1: c.Beta1, Beta2: c.Beta2, Eps: c.Eps,
	}, p.spec.Params())
	if err != nil {
		return nil, err
	}
	if p.clipper.Source == clip.Bounded {
		if s.bounds, err = nn.NewBounds(model, p.clipper.Tight); err != nil {
			return nil, err
		}
	}
	groups := 1
	if p.clipper.Grouping == clip.PerLayer && p.clipper.Source != clip.Bounded {
		groups = model.Groups()
	}
	s.allocate(p, capacity, groups)
	if p.clipper.Geometry != nil {
		if s.coords, err = p.newCoordinates(ctx, s); err != nil {
			return nil, err
		}
	}
	s.secure = p.newSecure(s)
	s.iterate, s.teacher = p.newIterate(s), p.newTeacher(s)
	return s, nil
}

func (s *state) allocate(p *Plan, capacity, groups int) {
	s.gradient = p.be.New(s.model.All().Len())
	at := 0
	for _, w := range s.params {
		s.grads, s.sums = append(s.grads, s.gradient.Slice(at, w.Len())), append(s.sums, p.be.NewSums(w.Len()))
		at += w.Len()
	}
	s.x, s.targets = p.be.New(capacity*p.ds.Features), p.be.New(capacity*p.ds.TargetWidth())
	s.keep, s.scalar = p.be.New(capacity), p.be.New(1)
	kernel.Fill(p.be, capacity, 1, s.keep)
	h := &s.host
	for range groups {
		s.norm, s.factors = append(s.norm, p.be.New(capacity)), append(s.factors, p.be.New(capacity))
		h.factors, h.group = append(h.factors, make([]float32, capacity)), append(h.group, make([]float64, capacity))
	}
	h.x, h.targets = make([]float32, capacity*p.ds.Features), make([]float32, capacity*p.ds.TargetWidth())
	h.losses, h.keep, h.norm = make([]float32, capacity), make([]float32, capacity), make([]float32, capacity)
	h.outputs = make([]float32, capacity*s.model.Outputs())
	h.norms = make([]float64, capacity)
	if p.query != nil {
		s.stat = make([]float64, p.query.Len)
	}
}

// stream is the source of random choices for one purpose and step.
func (p *Plan) stream(purpose privacy.Purpose, step int) *chacha.Stream {
	return p.key.Stream(purpose, 0, uint64(step))
}

// noiseKey names the noise of one tensor in the present step.
func (p *Plan) noiseKey(tensor int) (compute.NoiseKey, error) {
	return p.key.NoiseKey(privacy.Noise, tensor, uint64(p.st.done))
}

// normals draws n standard normals on this side, for one purpose and step: once
// each, or noise would repeat.
func (p *Plan) normals(purpose privacy.Purpose, step, n int) ([]float64, error) {
	z := make([]float64, n)
	k, err := p.key.NoiseKey(purpose, 0, uint64(step))
	if err != nil {
		return nil, fmt.Errorf("train: noise: %w", err)
	}
	if err := chacha.Normal(&k.Key, &k.Nonce, z); err != nil {
		return nil, fmt.Errorf("train: noise: %w", err)
	}
	return z, nil
}

// readSums reads the sums of all tensors, one after the other, into dst.
func (p *Plan) readSums(ctx context.Context, dst []float64, from []compute.Sums) error {
	for _, s := range from {
		if err := kernel.ReadSums(ctx, p.be, dst[:s.Len()], s); err != nil {
			return fmt.Errorf("train: reading sums: %w", err)
		}
		dst = dst[s.Len():]
	}
	return nil
}

// readAll reads tensors, one after the other, into dst.
func (p *Plan) readAll(ctx context.Context, dst []float32, from []compute.Buffer) error {
	for _, b := range from {
		if err := compute.Read(ctx, p.be, dst[:b.Len()], b); err != nil {
			return fmt.Errorf("train: reading gradients or parameters: %w", err)
		}
		dst = dst[b.Len():]
	}
	return nil
}
