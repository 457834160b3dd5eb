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
	*workspace
	active   bool             // the present step is compared
	sums     []compute.Sums   // Σ g_i of the step
	rounded  []compute.Buffer // the same as buffers
	dots     compute.Buffer
	clipped  []float64 // Σ ĝ_i, on this side
	exact    []float64 // Σ g_i
	part     []float32
	rows     int // of the last physical batch, where they are compared
	examples []example
}

// example holds the norm of an example's gradient and its inner product with the true one.
type example struct{ norm, dot float64 }

// sizeParts counts the parts into which a batch is sorted by gradient norm.
const sizeParts = 10

func newTeacher(w *workspace) *teacher {
	if w.terms.Config.DiagnosticsEvery <= 0 {
		return nil
	}
	t := &teacher{workspace: w, dots: w.be.New(w.model.Capacity), part: make([]float32, w.model.Capacity)}
	d := w.terms.Spec.Params()
	t.clipped, t.exact = make([]float64, d), make([]float64, d)
	for _, p := range w.model.Params() {
		t.sums, t.rounded = append(t.sums, w.be.NewSums(p.Len())), append(t.rounded, w.be.New(p.Len()))
	}
	return t
}

// beginStep decides whether the gradients of a step are compared.
func (t *teacher) beginStep(step int) {
	if t == nil {
		return
	}
	if t.active = step%t.terms.Config.DiagnosticsEvery == 0; t.active {
		for _, s := range t.sums {
			kernel.Clear(t.be, s)
		}
		t.examples = t.examples[:0]
	}
}

// teaching reports whether the present step is compared.
func (t *teacher) teaching() bool { return t != nil && t.active }

// teach adds the true gradients of the n rows just backpropagated; with compare
// they are still there to be compared one by one.
func (t *teacher) teach(n int, compare bool) {
	if !t.teaching() {
		return
	}
	t.rows = 0
	if compare {
		t.rows = n
	}
	t.model.Add(t.sums, []compute.Buffer{t.report.keep}, kernel.Plain())
}

// compare reads both sums of a part, before noise, and says how they differ. The examples'
// cosines are those of the last physical batch, of these norms, with the whole true
// gradient.
func (t *teacher) compare(ctx context.Context, p Part, m mechanism) (*run.GradientDiag, error) {
	unit := m.unit()
	if err := t.readSums(ctx, t.clipped, p.sums); err != nil {
		return nil, err
	}
	if err := t.readSums(ctx, t.exact, t.sums); err != nil {
		return nil, err
	}
	var cc, ee, ce, diff float64
	for i, c := range t.clipped {
		a, b := c*unit, t.exact[i]
		cc, ee, ce, diff = cc+a*a, ee+b*b, ce+a*b, diff+(a-b)*(a-b)
	}
	g := &run.GradientDiag{
		Cosine: run.Number(ce / math.Sqrt(cc*ee)), Bias: run.Number(math.Sqrt(diff) / t.terms.BatchSize), TrueNorm: run.Number(math.Sqrt(ee) / t.terms.BatchSize),
	}
	if t.terms.NoiseMultiplier > 0 {
		std := t.terms.GradNoise * m.sensitivity() / t.terms.BatchSize
		spread, err := m.spread(ctx)
		if err != nil {
			return nil, fmt.Errorf("train: the noise: %w", err)
		}
		g.NoiseVariance = run.Number(std * std * spread)
	}
	if err := t.compareExamples(ctx, p.tally.batch, math.Sqrt(ee)); err != nil {
		return nil, err
	}
	g.BySize = bySize(t.examples, math.Sqrt(ee))
	return g, nil
}

// compareExamples finds each example's inner product with the true gradient.
func (t *teacher) compareExamples(ctx context.Context, norms []float64, total float64) error {
	n := t.rows
	if n == 0 || total == 0 {
		return nil
	}
	kernel.Fill(t.be, n, 0, t.dots)
	for i, b := range t.rounded {
		kernel.Fill(t.be, b.Len(), 0, b)
		kernel.Settle(t.be, b.Len(), t.sums[i], b)
	}
	t.model.Dots(t.dots, t.rounded)
	if err := compute.Read(ctx, t.be, t.part[:n], t.dots); err != nil {
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
	slices.SortStableFunc(examples, func(a, b example) int {
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
