package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/data"
	"clipscope/core/lab"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Gradients are those of a batch that a run looked at, with the model as it stood.
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
}

// Look measures the gradients of a batch of training rows with the model as it stands:
// the batch-th of those that are drawn for it, apart from those that are trained on. It
// holds as many rows as a step's batch is expected to, or as go through the model at once,
// [lab.Most] at most. The run goes on after it as if it had not been.
func (r *Run) Look(ctx context.Context, batch int) (*Gradients, error) {
	n := min(int(math.Round(r.batch)), r.model.Capacity, lab.Most, r.ds.Train.N)
	g := &Gradients{run: r, step: r.done, losses: make([]float32, n), mean: make([]float64, r.spec.Params())}
	rng := rand.New(r.stream(privacy.Looking, batch))
	g.rows = rng.Perm(r.ds.Train.N)[:n]
	if n == 0 {
		var err error
		g.Batch, err = lab.New(nil, 0)
		return g, err
	}
	r.load(&r.ds.Train, g.rows, nil)
	r.model.Forward(r.x, n, 1)
	r.judge(n)
	r.model.Backward()

	products := r.be.New(n * n)
	defer r.be.Free(products)
	kernel.Fill(r.be, n*n, 0, products)
	r.model.Gram(products)
	gram := make([]float32, n*n)
	if err := compute.Read(ctx, r.be, gram, products); err != nil {
		return nil, fmt.Errorf("train: looking: %w", err)
	}
	if err := compute.Read(ctx, r.be, g.losses, r.report.losses.Slice(0, n)); err != nil {
		return nil, fmt.Errorf("train: looking: %w", err)
	}
	var err error
	if g.Batch, err = lab.New(gram, n); err != nil {
		return nil, err
	}
	return g, g.readMean(ctx, gram)
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
	for _, f := range r.factors {
		r.be.Write(f.Slice(0, n), keep)
	}
	for _, s := range r.sums {
		kernel.Clear(r.be, s)
	}
	r.model.Add(r.sums, r.factors, kernel.Plain())
	if err := r.readSums(ctx, g.mean, r.sums); err != nil {
		return err
	}
	for i := range g.mean {
		g.mean[i] /= float64(n)
	}
	return nil
}

// pictured is how many pictures are shown of those with the longest, and the shortest,
// gradients.
const pictured = 8

// Told is what there is to see of the batch.
func (g *Gradients) Told() run.Look {
	r := g.run
	l := run.Look{
		Step: g.step, Steps: r.steps, Rows: g.Len(), Parameters: r.spec.Params(), NoiseMultiplier: run.Number(r.gradNoise), BatchSize: r.batch,
		SensitivityOf: r.cfg.Method, MaxGradNorm: r.clipper.Rule.C(), TrueNorm: run.Number(g.TrueNorm), Norms: g.Norms, Along: g.Along, Across: g.Across, NonFinite: g.NonFinite,
	}
	if r.sigma == 0 {
		l.NoiseMultiplier = 0
	}
	if r.cfg.Seed != nil {
		l.Seed = *r.cfg.Seed
	}
	for _, v := range g.losses {
		l.Losses = append(l.Losses, run.Number(v))
	}
	if r.ds.Task == data.Classification {
		l.Classes = r.ds.Classes
		for _, row := range g.rows {
			l.Labels = append(l.Labels, int(r.ds.Train.Y[row]))
		}
	}
	if r.ds.Train.U8 != nil && len(r.ds.Shape) >= 2 && l.Labels != nil {
		order := g.byNorm()
		for k := range min(pictured, len(order)) {
			l.Smallest = append(l.Smallest, g.picture(order[k]))
			l.Largest = append(l.Largest, g.picture(order[len(order)-1-k]))
		}
	}
	return l
}

// byNorm are the examples, the shortest gradient first.
func (g *Gradients) byNorm() []int {
	order := make([]int, g.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(g.Norms[a], g.Norms[b]) })
	return order
}

func (g *Gradients) picture(i int) run.Example {
	ds := g.run.ds
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
	if _, plain := r.mech.(*gaussian); !plain {
		return run.Draws{}, &run.ConfigError{Field: "method", Message: "the noise of this method, or of secure noise, has coordinates of its own and is not drawn here"}
	}
	std := 0.0
	if r.sigma > 0 {
		std = r.gradNoise * c / r.batch
	}
	out := run.Draws{Draws: draws, Formula: run.Number(std * std * float64(len(g.mean)))}
	noise := make([]float32, len(g.mean))
	drawn := r.be.New(len(g.mean)) // the gradient's memory is the next step's
	defer r.be.Free(drawn)
	var sum, squares float64
	for k := range draws {
		at := 0
		for i, w := range r.grads {
			dst := drawn.Slice(at, w.Len())
			key, err := r.key.NoiseKey(privacy.Shown, i, uint64(k))
			if err != nil {
				return out, fmt.Errorf("train: %w", err)
			}
			kernel.Noise(r.be, dst.Len(), float32(std), key, dst)
			if err := compute.Read(ctx, r.be, noise[at:at+dst.Len()], dst); err != nil {
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

// Boundary is what a model of two features answers all over the plane of its data, and
// where the batch's rows are.
func (g *Gradients) Boundary(ctx context.Context, size int) (run.Boundary, error) {
	r := g.run
	ds := r.ds
	if ds.Features != 2 || ds.Task != data.Classification || ds.Train.F32 == nil || len(ds.Bounds) != 2 || r.pca != nil {
		return run.Boundary{}, &run.ConfigError{Field: "data", Message: "only data with two features and classes have a plane: moons, blobs, spirals"}
	}
	b := run.Boundary{Size: size, X: [2]float64{ds.Bounds[0].Lo, ds.Bounds[0].Hi}, Y: [2]float64{ds.Bounds[1].Lo, ds.Bounds[1].Hi}}
	points := data.Split{N: size * size, F32: make([]float32, 2*size*size), Y: make([]float32, size*size)}
	for i := range points.N {
		at := func(lo, hi float64, k int) float32 { return float32(lo + (hi-lo)*(float64(k)+0.5)/float64(size)) }
		points.F32[2*i], points.F32[2*i+1] = at(b.X[0], b.X[1], i%size), at(b.Y[0], b.Y[1], i/size)
	}
	k := r.model.Outputs()
	z := make([]float32, r.model.Capacity*k)
	rows := make([]int, 0, r.model.Capacity)
	for lo := 0; lo < points.N; lo += len(rows) {
		rows = rows[:0]
		for i := lo; i < min(points.N, lo+r.model.Capacity); i++ {
			rows = append(rows, i)
		}
		r.load(&points, rows, nil)
		if err := compute.Read(ctx, r.be, z[:len(rows)*k], r.model.Forward(r.x, len(rows), 1)); err != nil {
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
