package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"unicode/utf8"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
	"clipscope/core/lab"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Gradients holds the gradients of a batch that a run looked at, with the model as it stood.
//
// All of it is private, and for the owner's eyes: nothing is released by looking, and no
// step knows of it.
type Gradients struct {
	*lab.Batch
	run    *Run
	rows   []int
	mean   []float64 // ḡ, all tensors one after the other
	losses []float32
	step   int
	// parts holds, for each layer, the length of every example's gradient by that layer; nil unless rows are letters.
	parts [][]float32
}

// Look measures the gradients of a batch of training rows with the model as it stands:
// the batch-th of those that are drawn for it, apart from those that are trained on. It
// holds as many rows as a step's batch is expected to, or as go through the model at once,
// [lab.Most] at most. The run goes on after it as if it had not been.
func (r *Run) Look(ctx context.Context, batch int) (*Gradients, error) {
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	n := min(int(math.Round(r.work.terms.BatchSize)), r.work.model.Capacity, lab.Most, r.feed.ds.Train.N)
	g := &Gradients{run: r, step: r.done, losses: make([]float32, n), mean: make([]float64, r.work.terms.Spec.Params())}
	rng := rand.New(r.work.stream(privacy.Looking, batch))
	g.rows = rng.Perm(r.feed.ds.Train.N)[:n]
	if n == 0 {
		var err error
		g.Batch, err = lab.New(nil, 0)
		return g, err
	}
	r.feed.load(&r.feed.ds.Train, g.rows)
	r.work.model.Forward(r.feed.x, n, 1)
	r.feed.judge(n)
	r.feed.adjust(n, 1)
	r.work.model.Backward()

	products := r.work.be.New(n * n)
	defer r.work.be.Free(products)
	kernel.Fill(r.work.be, n*n, 0, products)
	r.work.model.Gram(products)
	gram := make([]float32, n*n)
	if err := compute.Read(ctx, r.work.be, gram, products); err != nil {
		return nil, fmt.Errorf("train: looking: %w", err)
	}
	if err := compute.Read(ctx, r.work.be, g.losses, r.work.report.losses.Slice(0, n)); err != nil {
		return nil, fmt.Errorf("train: looking: %w", err)
	}
	if err := g.readParts(ctx); err != nil {
		return nil, err
	}
	var err error
	if g.Batch, err = lab.New(gram, n); err != nil {
		return nil, err
	}
	return g, g.readMean(ctx, gram)
}

// readParts measures gradients by layer where rows are letters, whose text the page can show.
func (g *Gradients) readParts(ctx context.Context) error {
	r, n := g.run, len(g.rows)
	if r.feed.ds.Task != data.Classification || !sentences(r.feed.ds.Columns) {
		return nil
	}
	var lengths []compute.Buffer
	for range r.work.terms.Spec.Groups() {
		b := r.work.be.New(n)
		defer r.work.be.Free(b)
		kernel.Fill(r.work.be, n, 0, b)
		lengths = append(lengths, b)
	}
	r.work.model.Norms(lengths)
	for _, b := range lengths {
		part := make([]float32, n)
		if err := compute.Read(ctx, r.work.be, part, b); err != nil {
			return fmt.Errorf("train: looking: %w", err)
		}
		g.parts = append(g.parts, part)
	}
	return nil
}

// sentences reports whether rows are the letters of one column, and nothing else.
func sentences(columns []data.Column) bool {
	at := slices.IndexFunc(columns, func(c data.Column) bool { return c.Makes() })
	return at >= 0 && columns[at].Kind == data.Letters && !slices.ContainsFunc(columns[at+1:], func(c data.Column) bool { return c.Makes() })
}

// readMean adds up the gradients that are finite, which are still there.
func (g *Gradients) readMean(ctx context.Context, gram []float32) error {
	r, n := g.run, g.Len()
	keep := make([]float32, n)
	for i := range keep {
		if finite(float64(gram[i*n+i])) {
			keep[i] = 1
		}
	}
	for _, f := range r.work.factors {
		r.work.be.Write(f.Slice(0, n), keep)
	}
	r.clipping.part.clearSums(r.work.be)
	r.work.model.Add(r.clipping.part.sums, r.work.factors, kernel.Plain())
	if err := r.work.readSums(ctx, g.mean, r.clipping.part.sums); err != nil {
		return err
	}
	for i := range g.mean {
		g.mean[i] /= float64(n)
	}
	return nil
}

// pictured bounds the pictures, or sentences, that are shown of those with the longest, and the shortest,
// gradients.
const pictured = 8

// Told returns what there is to see of the batch.
func (g *Gradients) Told() run.Look {
	r := g.run
	l := run.Look{
		Step: g.step, Steps: r.work.terms.Steps, Rows: g.Len(), Parameters: r.work.terms.Spec.Params(), NoiseMultiplier: run.Number(r.work.terms.GradNoise), BatchSize: r.work.terms.BatchSize,
		SensitivityOf: r.work.terms.Config.Method, MaxGradNorm: r.work.clipper.Rule.C(), TrueNorm: run.Number(g.TrueNorm), Norms: g.Norms, Along: g.Along, Across: g.Across, NonFinite: g.NonFinite,
	}
	if r.work.terms.NoiseMultiplier == 0 {
		l.NoiseMultiplier = 0
	}
	if r.work.terms.Config.Seed != nil {
		l.Seed = *r.work.terms.Config.Seed
	}
	for _, v := range g.losses {
		l.Losses = append(l.Losses, run.Number(v))
	}
	if r.feed.ds.Task == data.Classification {
		l.Classes = r.feed.ds.Classes
		for _, row := range g.rows {
			l.Labels = append(l.Labels, int(r.feed.ds.Train.Y[row]))
		}
	}
	show := g.picture
	if g.parts != nil {
		show, l.Modules = g.sentence, g.modules()
	}
	if l.Labels != nil && (g.parts != nil || r.feed.ds.Train.U8 != nil && len(r.feed.ds.Shape) >= 2) {
		order := g.byNorm()
		for k := range min(pictured, len(order)) {
			l.Smallest = append(l.Smallest, show(order[k]))
			l.Largest = append(l.Largest, show(order[len(order)-1-k]))
		}
	}
	return l
}

// modules returns the texts of the layers with parameters, in the order of an example's parts.
func (g *Gradients) modules() (names []string) {
	for _, o := range g.run.work.terms.Spec.Layers {
		if o.Parameters > 0 {
			names = append(names, o.Text)
		}
	}
	return names
}

// sentence returns example i with its tokens as text. A token outside ASCII, which is a hash, becomes a dot.
func (g *Gradients) sentence(i int) run.Example {
	ds, row := g.run.feed.ds, g.rows[i]
	e := run.Example{Label: int(ds.Train.Y[row]), Norm: run.Number(g.Norms[i])}
	for _, token := range ds.Train.F32[row*ds.Features:][:ds.Features] {
		switch {
		case token < 0:
		case token < utf8.RuneSelf:
			e.Text += string(rune(token))
		default:
			e.Text += "·"
		}
	}
	for _, part := range g.parts {
		e.Parts = append(e.Parts, run.Number(part[i]))
	}
	return e
}

// byNorm returns the examples, the shortest gradient first.
func (g *Gradients) byNorm() []int {
	order := make([]int, g.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(g.Norms[a], g.Norms[b]) })
	return order
}

func (g *Gradients) picture(i int) run.Example {
	ds := g.run.feed.ds
	sides := ds.Shape[len(ds.Shape)-2:]
	row := g.rows[i]
	return run.Example{
		Label: int(ds.Train.Y[row]), Norm: run.Number(g.Norms[i]), Height: sides[0], Width: sides[1], Pixels: ds.Train.U8[row*ds.Features:][:ds.Features],
	}
}

// Draws draws the noise of a step at threshold c so many times: as the mechanism draws it,
// from streams of its own, and added to nothing.
func (g *Gradients) Draws(ctx context.Context, c float64, draws int) (run.Draws, error) {
	r := g.run
	if !r.work.kind.plain {
		return run.Draws{}, &run.ConfigError{Field: "method", Message: "the noise of this method, or of secure noise, has coordinates of its own and is not drawn here"}
	}
	std := 0.0
	if r.work.terms.NoiseMultiplier > 0 {
		std = r.work.terms.GradNoise * c / r.work.terms.BatchSize
	}
	out := run.Draws{Draws: draws, Formula: run.Number(std * std * float64(len(g.mean)))}
	noise := make([]float32, len(g.mean))
	drawn := r.work.be.New(len(g.mean)) // the gradient's memory is the next step's
	defer r.work.be.Free(drawn)
	var sum, squares float64
	for k := range draws {
		at := 0
		for i, w := range r.work.grads {
			dst := drawn.Slice(at, w.Len())
			key, err := r.work.key.NoiseKey(privacy.Shown, i, uint64(k))
			if err != nil {
				return out, fmt.Errorf("train: %w", err)
			}
			kernel.Noise(r.work.be, dst.Len(), float32(std), key, dst)
			if err := compute.Read(ctx, r.work.be, noise[at:at+dst.Len()], dst); err != nil {
				return out, fmt.Errorf("train: noise: %w", err)
			}
			at += dst.Len()
		}
		var square, dot float64
		for j, z := range noise {
			square += float64(z) * float64(z)
			dot += float64(z) * g.mean[j]
		}
		along := 0.0
		if g.TrueNorm > 0 {
			along = dot / g.TrueNorm
		}
		out.Along, out.Across = append(out.Along, along), append(out.Across, math.Sqrt(max(0, square-along*along)))
		sum, squares = sum+square, squares+square*square
	}
	m := float64(draws)
	mean := sum / m
	out.MeanSquare = run.Number(mean)
	out.StandardError = run.Number(math.Sqrt(max(0, squares/m-mean*mean) / (m - 1)))
	return out, nil
}

// Boundary returns the answers of a model of two features all over the plane of its data, and
// the places of the batch's rows.
func (g *Gradients) Boundary(ctx context.Context, size int) (run.Boundary, error) {
	r := g.run
	ds := r.feed.ds
	if ds.Features != 2 || ds.Task != data.Classification || ds.Train.F32 == nil || len(ds.Bounds) != 2 || r.feed.pca != nil {
		return run.Boundary{}, &run.ConfigError{Field: "data", Message: "only data with two features and classes have a plane: moons, blobs, spirals"}
	}
	b := run.Boundary{Size: size, X: [2]float64{ds.Bounds[0].Lo, ds.Bounds[0].Hi}, Y: [2]float64{ds.Bounds[1].Lo, ds.Bounds[1].Hi}}
	points := data.Split{N: size * size, F32: make([]float32, 2*size*size), Y: make([]float32, size*size)}
	for i := range points.N {
		at := func(lo, hi float64, k int) float32 { return float32(lo + (hi-lo)*(float64(k)+0.5)/float64(size)) }
		points.F32[2*i], points.F32[2*i+1] = at(b.X[0], b.X[1], i%size), at(b.Y[0], b.Y[1], i/size)
	}
	k := r.work.model.Outputs()
	z := make([]float32, r.work.model.Capacity*k)
	rows := make([]int, 0, r.work.model.Capacity)
	for lo := 0; lo < points.N; lo += len(rows) {
		rows = rows[:0]
		for i := lo; i < min(points.N, lo+r.work.model.Capacity); i++ {
			rows = append(rows, i)
		}
		r.feed.load(&points, rows)
		if err := compute.Read(ctx, r.work.be, z[:len(rows)*k], r.work.model.Forward(r.feed.x, len(rows), 1)); err != nil {
			return b, fmt.Errorf("train: the plane: %w", err)
		}
		for i := range rows {
			class, share := surest(z[i*k : (i+1)*k])
			b.Classes, b.Share = append(b.Classes, class), append(b.Share, run.Number(share))
		}
	}
	for i, row := range g.rows {
		b.Rows = append(b.Rows, run.PlaneRow{
			X: float64(ds.Train.F32[2*row]), Y: float64(ds.Train.F32[2*row+1]), Label: int(ds.Train.Y[row]), Norm: run.Number(g.Norms[i]),
		})
	}
	return b, nil
}

// surest is the class of the largest output, and its softmax.
func surest(z []float32) (class int, share float64) {
	for j, v := range z {
		if v > z[class] {
			class = j
		}
	}
	total := 0.0
	for _, v := range z {
		total += math.Exp(float64(v - z[class]))
	}
	return class, 1 / total
}
