// Package backbone turns rows into features with a model that was trained elsewhere. It
// makes a row the model's input, and the model's output the row's features. A [Runtime]
// runs the model; this package knows no format of models.
package backbone

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
)

// Runtime has a model open. It is for one goroutine.
//
// Guarantee: wanted of it: what Run gives depends on its arguments alone. [New] tries
// that, and does not prove it.
type Runtime interface {
	Inputs() []run.BackboneTensor
	Outputs() []run.BackboneTensor
	// Run runs the model for each of x.Calls inputs anew, and returns its outputs of that
	// name. It does not keep x.
	Run(ctx context.Context, input string, x Values, output string) (Values, error)
}

// Values are the inputs or outputs of a model, of so many calls one after the other:
// of one of the kinds, row-major. No text comes out.
type Values struct {
	Calls int
	Shape []int // of one call
	F32   []float32
	U8    []uint8
	Text  []string
}

// Limits of what a model may ask for.
const (
	mostValues = 1 << 24 // of its input: 64 MB
	mostBatch  = 256
	together   = 1 << 22 // values of calls that are handed over at once: 16 MB
)

// Extractor makes features with a model: a [data.Extractor].
//
// Guarantee: with a batch of 1 the model is run for each row anew and given nothing but
// that row (a model that takes a fixed number of rows is given copies of it), so features
// depend on the row alone if Run keeps its promise. With larger batches they do if, in
// addition, the model treats rows of a batch apart, which New tries on made-up rows and
// does not prove.
type Extractor struct {
	rt       Runtime
	fit      fit
	output   string
	width    int
	batch    int // rows at a time
	backbone run.Backbone
}

// New fits the model to the rows of a data set, tries it on made-up ones and refuses one
// that does not fit, or that gives a row other features when it is asked again or in a
// batch. q.Salt does not matter.
func New(ctx context.Context, rt Runtime, meta data.Meta, q run.BackboneRequest) (*Extractor, error) {
	e := &Extractor{rt: rt, batch: max(q.Batch, 1)}
	if q.Batch < 0 || q.Batch > mostBatch {
		return nil, refusal("a batch of 1 to 256 rows", fmt.Sprint(q.Batch), "Leave batch out: 1 is what the guarantee is proven for.")
	}
	var err error
	if e.fit, err = newFit(rt.Inputs(), meta, q); err != nil {
		return nil, err
	}
	if rt.Inputs()[0].Pairs {
		e.batch = 1 // a tokenizer takes each row alone, however many there are in a call
	}
	output, err := choose(rt.Outputs(), q.Output)
	if err != nil {
		return nil, err
	}
	e.output = output.Name
	if f := e.fit.fixed; f > 0 && e.batch > 1 && e.batch != f {
		return nil, refusal(fmt.Sprintf("a batch of %d, which the model fixes, or 1", f), fmt.Sprint(e.batch), "Leave batch out.")
	}
	if n := max(e.batch, e.fit.fixed); n > mostValues/e.fit.values() {
		return nil, refusal(fmt.Sprintf("a model whose input is at most %d numbers", mostValues), fmt.Sprintf("%d rows of %s", n, sizes(e.fit.shape)), "Take a smaller batch, or a model for smaller pictures.")
	}
	if err := e.try(ctx, meta); err != nil {
		return nil, err
	}
	e.backbone = run.Backbone{Output: e.output, Column: e.fit.column, Second: e.fit.second, Normalise: e.fit.normalise, Resize: e.fit.resize, Batch: e.batch, Tokens: output.Tokens, Types: output.Types}
	return e, nil
}

// Width returns the number of features.
func (e *Extractor) Width() int { return e.width }

// Made says how features are made, but for the model's hash.
func (e *Extractor) Made() run.Backbone { return e.backbone }

// Input is the shape of a row as the model gets it.
func (e *Extractor) Input() []int { return e.fit.shape }

// Extract implements [data.Extractor].
func (e *Extractor) Extract(ctx context.Context, rows data.Split, dst []float32) error {
	calls := max(together/(max(e.batch, e.fit.fixed)*e.fit.values()), 1)
	if e.fit.column != "" {
		calls = 1 // for what comes of texts may have as many parts as they have
	}
	for at, n := 0, 0; at < rows.N; at += n {
		if n = rows.N - at; n > e.batch {
			n = min(n/e.batch, calls) * e.batch
		}
		f, err := e.features(ctx, rows, at, n, e.batch)
		if err != nil {
			return err
		}
		if len(f) != n*e.width {
			return refusal(fmt.Sprintf("%d features of every row", e.width), fmt.Sprintf("%d of %d rows", len(f), n), "Choose another output of the model.")
		}
		copy(dst[at*e.width:], f)
	}
	return nil
}

// features runs the model on n rows from row at: whole batches, or a part of one.
func (e *Extractor) features(ctx context.Context, rows data.Split, at, n, batch int) ([]float32, error) {
	batch = min(batch, n)
	given := max(batch, e.fit.fixed)
	y, err := e.rt.Run(ctx, e.fit.name, e.fit.input(rows, at, n, batch, given), e.output)
	if err != nil {
		return nil, err
	}
	if s := y.Shape; e.fit.column != "" && len(y.F32) == 0 && len(s) == 3 && s[0] == given && s[1] == 0 && s[2] > 0 && s[2] <= mostValues/given {
		return make([]float32, batch*s[2]), nil // of texts without parts; they are handed over by the call
	}
	f, err := pooled(y, given, e.fit.last)
	if err != nil || given == batch {
		return f, err
	}
	width := len(f) / (n / batch * given)
	out := make([]float32, 0, n*width)
	for k := range n / batch {
		out = append(out, f[k*given*width:][:batch*width]...)
	}
	return out, nil
}

// choose is the output of that name, or the only one.
func choose(all []run.BackboneTensor, name string) (run.BackboneTensor, error) {
	i := slices.IndexFunc(all, func(t run.BackboneTensor) bool { return t.Name == name })
	if name == "" && len(all) == 1 {
		i = 0
	}
	if i < 0 {
		got := "the output " + name
		if name == "" {
			got = fmt.Sprintf("%d outputs and no choice", len(all))
		}
		return run.BackboneTensor{}, refusal("one of the model's outputs: "+listed(all), got,
			"Choose one of these. What is computed between them can be had where the model is exported with it as an output.")
	}
	if t := all[i]; t.Type != "float32" {
		return t, refusal("an output of float32", t.Name+" of "+t.Type, "Choose another output, or export the model in float32.")
	}
	return all[i], nil
}

// pooled are the features in what a model gave for n rows a call, row-major: of positions,
// or of parts of a text, the mean.
func pooled(y Values, n int, last bool) ([]float32, error) {
	rest := len(y.F32) / y.Calls
	sound := rest > 0 && rest*y.Calls == len(y.F32) && len(y.Shape) >= 2 && len(y.Shape) <= 4 && y.Shape[0] == n
	for _, d := range y.Shape {
		if sound = sound && d > 0 && rest%d == 0; sound {
			rest /= d
		}
	}
	if !sound || rest != 1 {
		return nil, refusal(fmt.Sprintf("an output for each of %d rows, [%d, …] with 2 to 4 sizes", n, n), sizes(y.Shape), "Choose another output of the model.")
	}
	// Positions come first where channels are last, and else after them.
	positions, channels := 1, y.Shape[len(y.Shape)-1]
	switch {
	case len(y.Shape) == 3:
		positions, last = y.Shape[1], true
	case len(y.Shape) == 4 && last:
		positions = y.Shape[1] * y.Shape[2]
	case len(y.Shape) == 4:
		positions, channels = y.Shape[2]*y.Shape[3], y.Shape[1]
	}
	if positions == 1 {
		return y.F32, nil
	}
	out := make([]float32, y.Calls*n*channels)
	for i := range out {
		row, c := i/channels, i%channels
		sum := 0.0
		for p := range positions {
			at := (row*channels+c)*positions + p
			if last {
				at = (row*positions+p)*channels + c
			}
			sum += float64(y.F32[at])
		}
		out[i] = float32(sum / float64(positions))
	}
	return out, nil
}

// try runs the model on made-up rows, to see how many features it makes and whether they
// depend on the row alone.
func (e *Extractor) try(ctx context.Context, meta data.Meta) error {
	rows := madeUp(meta, max(e.batch, 2))
	alone := func(i int) ([]float32, error) { return e.features(ctx, rows, i, 1, 1) }
	first, err := alone(0)
	if err != nil {
		return err
	}
	e.width = len(first)
	if _, err := alone(1); err != nil {
		return err
	}
	again, err := alone(0)
	if err != nil {
		return err
	}
	if !alike(first, again) {
		return refusal("the same features for the same row", "others when it was asked again", "Something in the model is random, or remembers: export it for inference, with dropout and noise left out.")
	}
	if e.batch == 1 {
		return nil
	}
	together, err := e.features(ctx, rows, 0, e.batch, e.batch)
	if err != nil {
		return err
	}
	for i := range e.batch {
		one, err := alone(i)
		if err != nil {
			return err
		}
		if !alike(one, together[i*e.width:(i+1)*e.width]) {
			return refusal("the same features for a row alone and in a batch", "others", "A row of a batch depends on the others, as with batch normalisation that is in training: no guarantee would hold. Leave batch out, or export the model for inference.")
		}
	}
	return nil
}

// rounding is the tolerance between features that are the same, relative to the largest of a
// row: sums of thousands of products in float32, in another order.
const rounding = 1e-4

func alike(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	largest := 0.0
	for _, v := range a {
		if x := math.Abs(float64(v)); !math.IsInf(x, 0) {
			largest = max(largest, x)
		}
	}
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		if x != y && !(math.IsNaN(x) && math.IsNaN(y)) && !(math.Abs(x-y) <= rounding*largest) {
			return false
		}
	}
	return true
}

// madeUp are rows of the data's form that are nobody's.
func madeUp(meta data.Meta, n int) data.Split {
	return drawn(rand.New(rand.NewPCG(1, 0x62616b62)), meta, n)
}

// drawn draws rows, each with a middle and a spread of its own, so that it shows where a
// batch is scaled by its least and greatest values.
func drawn(rng *rand.Rand, meta data.Meta, n int) data.Split {
	s := data.Split{N: n}
	for range n {
		from, to := rng.UintN(112), 144+rng.UintN(112)
		middle, spread := rng.NormFloat64(), math.Exp(rng.NormFloat64())
		for range meta.TextNames() {
			s.Text = append(s.Text, madeUpText(rng))
		}
		for range meta.Dense() {
			if meta.FeatureBytes == 1 {
				s.U8 = append(s.U8, uint8(from+rng.UintN(to-from)))
			} else {
				s.F32 = append(s.F32, float32(middle+spread*rng.NormFloat64()))
			}
		}
	}
	return s
}

// madeUpText is a text of a few words.
func madeUpText(rng *rand.Rand) string {
	words := strings.Fields("a the of and no very good bad new old blue red house water day Zürich 7 2024 runs, said. (perhaps) naïve 日本 don't")
	var text []string
	for range 1 + rng.IntN(20) {
		text = append(text, words[rng.IntN(len(words))])
	}
	return strings.Join(text, " ")
}

func refusal(expected, got, fix string) error {
	return &data.Error{Expected: expected, Got: got, Fix: fix}
}

// mostListed limits the tensors that a message names.
const mostListed = 20

// listed names tensors with their shapes.
func listed(all []run.BackboneTensor) string {
	var parts []string
	for _, t := range all[:min(len(all), mostListed)] {
		parts = append(parts, t.Name+" "+sizes(t.Shape))
	}
	if more := len(all) - mostListed; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	if len(parts) == 0 {
		return "it has none"
	}
	return strings.Join(parts, ", ")
}

// sizes writes a shape, with n for a size that is open.
func sizes(shape []int) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		if parts[i] = fmt.Sprint(d); d < 0 {
			parts[i] = "n"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
