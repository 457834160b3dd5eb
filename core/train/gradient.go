package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/run"
)

// teacher holds what comparing clipped with true gradients needs. It looks at
// private values only to show them to their owner.
type teacher struct {
	sums     []compute.Sums   // Σ g_i of the step
	rounded  []compute.Buffer // the same as buffers
	dots     compute.Buffer
	clipped  []float64 // Σ ĝ_i, on this side
	exact    []float64 // Σ g_i
	part     []float32
	examples []example
}

// example is what one example of the last physical batch looks like.
type example struct{ norm, dot float64 }

// sizeParts is how finely a batch is sorted by gradient norm.
const sizeParts = 10

func (p *Plan) newTeacher(s *state) *teacher {
	if p.cfg.DiagnosticsEvery <= 0 {
		return nil
	}
	t := &teacher{dots: p.be.New(s.model.Capacity), part: make([]float32, s.model.Capacity)}
	d := p.spec.Params()
	t.clipped, t.exact = make([]float64, d), make([]float64, d)
	for _, w := range s.params {
		t.sums, t.rounded = append(t.sums, p.be.NewSums(w.Len())), append(t.rounded, p.be.New(w.Len()))
	}
	return t
}

// teaching reports whether the present step is compared.
func (p *Plan) teaching() bool {
	return p.st.teacher != nil && p.st.done%p.cfg.DiagnosticsEvery == 0
}

// teach adds the true gradients of the physical batch just backpropagated; rows
// of them are still there to be compared one by one.
func (p *Plan) teach(rows int) {
	if p.teaching() {
		p.st.lastBatch = rows
		p.st.model.Add(p.st.teacher.sums, []compute.Buffer{p.st.keep}, kernel.Plain())
	}
}

func (t *teacher) reset(be compute.Backend) {
	for _, s := range t.sums {
		kernel.Clear(be, s)
	}
	t.examples = t.examples[:0]
}

// compare reads both sums, before noise, and says how they differ. The examples'
// cosines are those of the last physical batch with the whole true gradient.
func (p *Plan) compare(ctx context.Context) (*run.GradientDiag, error) {
	s, t := p.st, p.st.teacher
	if err := p.readSums(ctx, t.clipped, s.sums); err != nil {
		return nil, err
	}
	if err := p.readSums(ctx, t.exact, t.sums); err != nil {
		return nil, err
	}
	unit := 1.0
	if s.secure != nil {
		unit = s.secure.unit
	}
	var cc, ee, ce, diff float64
	for i, c := range t.clipped {
		a, b := c*unit, t.exact[i]
		cc, ee, ce, diff = cc+a*a, ee+b*b, ce+a*b, diff+(a-b)*(a-b)
	}
	g := &run.GradientDiag{
		Cosine: run.Number(ce / math.Sqrt(cc*ee)), Bias: run.Number(math.Sqrt(diff) / p.batch), TrueNorm: run.Number(math.Sqrt(ee) / p.batch),
		NoiseVariance: run.Number(p.noiseVariance()),
	}
	if err := p.compareExamples(ctx, math.Sqrt(ee)); err != nil {
		return nil, err
	}
	g.BySize = bySize(t.examples, math.Sqrt(ee))
	return g, nil
}

// noiseVariance is the expected squared norm of the noise on the mean gradient:
// σ_T²·S²·d/B² for a sensitivity S, or σ_T²·S²·Σb²/B² in scaled coordinates.
func (p *Plan) noiseVariance() float64 {
	if p.sigma == 0 {
		return 0
	}
	std := p.gradNoise * p.sensitivity() / p.batch
	if p.st.coords == nil {
		return std * std * float64(p.spec.Params())
	}
	return std * std * p.st.coords.total * p.st.coords.total // b² = s·Σs
}

// compareExamples finds each example's inner product with the true gradient.
func (p *Plan) compareExamples(ctx context.Context, total float64) error {
	s, t := p.st, p.st.teacher
	n := s.lastBatch
	if n == 0 || total == 0 {
		return nil
	}
	kernel.Fill(p.be, n, 0, t.dots)
	for i, b := range t.rounded {
		kernel.Fill(p.be, b.Len(), 0, b)
		kernel.Settle(p.be, b.Len(), t.sums[i], b)
	}
	s.model.Dots(t.dots, t.rounded)
	if err := compute.Read(ctx, p.be, t.part[:n], t.dots); err != nil {
		return fmt.Errorf("train: reading inner products: %w", err)
	}
	for i, dot := range t.part[:n] {
		if norm := s.host.norms[i]; norm > 0 && finite(norm) {
			t.examples = append(t.examples, example{norm, float64(dot)})
		}
	}
	return nil
}

// bySize sorts examples by norm into equal parts.
func bySize(examples []example, total float64) []run.SizeCosine {
	slices.SortFunc(examples, func(a, b example) int {
		switch {
		case a.norm < b.norm:
			return -1
		case a.norm > b.norm:
			return 1
		}
		return 0
	})
	var parts []run.SizeCosine
	for k := range sizeParts {
		part := examples[k*len(examples)/sizeParts : (k+1)*len(examples)/sizeParts]
		if len(part) == 0 {
			continue
		}
		var norm, cosine float64
		for _, e := range part {
			norm += e.norm
			cosine += e.dot / (e.norm * total)
		}
		n := float64(len(part))
		parts = append(parts, run.SizeCosine{Norm: run.Number(norm / n), Cosine: run.Number(cosine / n)})
	}
	return parts
}
