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
	be       compute.Backend
	sums     []compute.Sums   // Σ g_i of the step
	rounded  []compute.Buffer // the same as buffers
	dots     compute.Buffer
	clipped  []float64 // Σ ĝ_i, on this side
	exact    []float64 // Σ g_i
	part     []float32
	rows     int // of the last physical batch, where they are compared
	examples []example
}

// example is what one example of the last physical batch looks like.
type example struct{ norm, dot float64 }

// sizeParts is how finely a batch is sorted by gradient norm.
const sizeParts = 10

func (r *Run) newTeacher() *teacher {
	if r.cfg.DiagnosticsEvery <= 0 {
		return nil
	}
	t := &teacher{be: r.be, dots: r.be.New(r.model.Capacity), part: make([]float32, r.model.Capacity)}
	d := r.spec.Params()
	t.clipped, t.exact = make([]float64, d), make([]float64, d)
	for _, w := range r.model.Params() {
		t.sums, t.rounded = append(t.sums, r.be.NewSums(w.Len())), append(t.rounded, r.be.New(w.Len()))
	}
	return t
}

// teaching reports whether the present step is compared.
func (r *Run) teaching() bool {
	return r.teacher != nil && r.done%r.cfg.DiagnosticsEvery == 0
}

// teach adds the true gradients of the n rows just backpropagated; with compare
// they are still there to be compared one by one.
func (r *Run) teach(n int, compare bool) {
	if !r.teaching() {
		return
	}
	r.teacher.rows = 0
	if compare {
		r.teacher.rows = n
	}
	r.model.Add(r.teacher.sums, []compute.Buffer{r.report.keep}, kernel.Plain())
}

func (t *teacher) reset() {
	for _, s := range t.sums {
		kernel.Clear(t.be, s)
	}
	t.examples = t.examples[:0]
}

// readSums reads the sums of all tensors, one after the other, into dst.
func (r *Run) readSums(ctx context.Context, dst []float64, from []compute.Sums) error {
	for _, s := range from {
		if err := kernel.ReadSums(ctx, r.be, dst[:s.Len()], s); err != nil {
			return fmt.Errorf("train: %w", err)
		}
		dst = dst[s.Len():]
	}
	return nil
}

// compare reads both sums, before noise, and says how they differ. The examples'
// cosines are those of the last physical batch, of these norms, with the whole true
// gradient.
func (r *Run) compare(ctx context.Context, norms []float64) (*run.GradientDiag, error) {
	t, unit := r.teacher, r.mech.unit()
	if err := r.readSums(ctx, t.clipped, r.sums); err != nil {
		return nil, err
	}
	if err := r.readSums(ctx, t.exact, t.sums); err != nil {
		return nil, err
	}
	var cc, ee, ce, diff float64
	for i, c := range t.clipped {
		a, b := c*unit, t.exact[i]
		cc, ee, ce, diff = cc+a*a, ee+b*b, ce+a*b, diff+(a-b)*(a-b)
	}
	g := &run.GradientDiag{
		Cosine: run.Number(ce / math.Sqrt(cc*ee)), Bias: run.Number(math.Sqrt(diff) / r.batch), TrueNorm: run.Number(math.Sqrt(ee) / r.batch),
	}
	if r.sigma > 0 {
		std := r.gradNoise * r.mech.sensitivity() / r.batch
		spread, err := r.mech.spread(ctx)
		if err != nil {
			return nil, fmt.Errorf("train: the noise: %w", err)
		}
		g.NoiseVariance = run.Number(std * std * spread)
	}
	if err := r.compareExamples(ctx, norms, math.Sqrt(ee)); err != nil {
		return nil, err
	}
	g.BySize = bySize(t.examples, math.Sqrt(ee))
	return g, nil
}

// compareExamples finds each example's inner product with the true gradient.
func (r *Run) compareExamples(ctx context.Context, norms []float64, total float64) error {
	t, n := r.teacher, r.teacher.rows
	if n == 0 || total == 0 {
		return nil
	}
	kernel.Fill(r.be, n, 0, t.dots)
	for i, b := range t.rounded {
		kernel.Fill(r.be, b.Len(), 0, b)
		kernel.Settle(r.be, b.Len(), t.sums[i], b)
	}
	r.model.Dots(t.dots, t.rounded)
	if err := compute.Read(ctx, r.be, t.part[:n], t.dots); err != nil {
		return fmt.Errorf("train: reading inner products: %w", err)
	}
	for i, dot := range t.part[:n] {
		if norm := norms[i]; norm > 0 && finite(norm) {
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
