package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/table"
	"clipscope/core/input"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// Predictor is a model on a backend. It is used by one goroutine at a time.
//
// Guarantee: its answers are post-processing of what the file holds. They tell of the
// rows they are given, and cost nothing.
type Predictor struct {
	// Files reads files; the zero value reads all but Parquet.
	Files load.Loader
	// Features makes the features of rows for a model that was trained on what another made of texts; nil: it answers none, and Lack says
	// why. Others do not use it.
	Features data.Extractor
	// Yield, where it is not nil, is called before each batch and each row that is written, so that a context can end meanwhile.
	Yield func()

	file    *File // without parameters
	encoder *table.Encoder
	be      *compute.Scope
	net     *nn.Model
	pipe    *input.Pipe
	x       compute.Buffer
	floats  *data.Scale    // of features as numbers
	bytes   *data.Scale    // and as bytes, which pictures in files are
	host    []float32      // a batch of scaled rows
	line    *run.ClassLine // nil: the likeliest class is answered
	texts   []int          // columns of which Features makes the features; nil: none
}

// rows at once: as many as share what a call costs, as long as a batch has no more
// values than this, nor takes more multiplications: half a second in a browser, before which nothing else is heard.
const (
	mostRows   = 512
	mostBatch  = 1 << 26
	mostAtOnce = 1 << 32
)

// Open brings a model that has passed [File.Check] onto a backend; Close gives its memory
// back. Its error says what was left out of the file, where that cannot be done without.
func Open(f *File, be compute.Backend) (*Predictor, error) {
	a := f.Apply
	if why := f.Apply.LeftOut(); why != "" {
		return nil, errors.New("model: " + why)
	}
	if b := a.FeaturesOf; b != nil && b.Column == "" {
		return nil, fmt.Errorf("model: this one was trained on features, and has not what makes them of a row: %s. predict.mjs and predict.py answer such features, given as numbers", backboneInWords(b))
	}
	spec, err := f.spec()
	if err != nil {
		return nil, err
	}
	p := &Predictor{be: compute.NewScope(be)}
	if p.encoder, p.texts, err = encoderOf(a); err != nil {
		return nil, fmt.Errorf("model: columns: %w", err)
	}
	if err := p.openScale(a); err != nil {
		return nil, err
	}
	capacity := int(max(1, min(mostRows, mostBatch/max(1, spec.Floats(1)+int64(2*a.Features)), mostAtOnce/max(1, products(spec)))))
	p.net = nn.New(p.be, spec, capacity, 1)
	p.be.Write(p.net.All(), f.Parameters)
	var pca *input.Projection
	if a.PCA != nil {
		pca = input.NewProjection(p.be, p.be.New(capacity*a.Features), directions(a.PCA), a.Features)
	}
	p.pipe = input.NewPipe(spec.Input, pca, a.MaxNorm)
	p.x, p.host = p.be.New(capacity*spec.Input.Len()), make([]float32, capacity*a.Features)
	p.file = new(File)
	*p.file = *f
	p.file.Parameters = nil // which the backend has
	return p, nil
}

// Close gives the memory back.
func (p *Predictor) Close() { p.be.Close() }

func (p *Predictor) openScale(a *run.Application) (err error) {
	ds := &data.Dataset{Features: a.Features, Columns: columns(a)}
	ds.Train.F32 = []float32{}
	if p.floats, err = scaleOf(a, ds); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	ds.Train.F32, ds.Train.U8 = nil, []uint8{}
	p.bytes, err = scaleOf(a, ds)
	return err
}

// scaleOf returns the preprocessing that the trainer fitted to its rows, as the file has it.
func scaleOf(a *run.Application, ds *data.Dataset) (*data.Scale, error) {
	s := &a.Scaling
	switch {
	case len(s.Lo) > 0:
		bounds := make([]data.Bound, ds.Dense())
		for i := range bounds {
			k := min(i, len(s.Lo)-1)
			bounds[i] = data.Bound{Lo: s.Lo[k], Hi: s.Hi[k]}
		}
		return data.BoundsScale(ds, bounds)
	case s.Kind == "row":
		return data.RowScale(ds), nil
	}
	return data.NoScale(ds), nil
}

// Info describes the model.
func (p *Predictor) Info() run.ModelInfo {
	f, a := p.file, p.file.Apply
	info := run.ModelInfo{
		Program: f.Program, Task: a.Task, Outputs: a.Outputs, Classes: a.Classes, Features: a.Features, Shape: a.Shape, Columns: a.Columns, Transform: a.Transform, Scaling: a.Scaling,
		Layers: a.Layers, Parameters: p.net.Spec.Params(), Method: f.Config.WithDefaults().Method,
		Guarantee: f.Guarantee, Statement: f.Statement, Epsilon: f.Epsilon, Delta: f.Delta, Accountant: f.Accountant, Steps: f.Steps,
		FeaturesOf: a.FeaturesOf, Lacks: p.Lack(),
	}
	if p.Reads() {
		info.Columns, _, _ = tableOf(a) // of which the encoder was made
	}
	if p.encoder != nil && len(p.encoder.Labels()) == 1 {
		info.Label = p.encoder.Columns()[p.encoder.Label()].Name
	}
	return info
}

// Reads reports whether another model makes the model's features, of texts.
func (p *Predictor) Reads() bool { return p.texts != nil }

// Lack says which files are missing that make features of texts; empty where the model answers.
func (p *Predictor) Lack() string {
	if !p.Reads() || p.Features != nil {
		return ""
	}
	b := p.file.Apply.FeaturesOf
	return fmt.Sprintf("It reads texts through a %s, which is not in its file. Choose the same as in training: %s.", b.Kind(), b.Files())
}

// whole returns an error where files are missing that make features.
func (p *Predictor) whole() error {
	if lack := p.Lack(); lack != "" {
		return errors.New("model: " + strings.TrimSuffix(lack, "."))
	}
	return nil
}

// made returns the rows with the features of their texts.
func (p *Predictor) made(ctx context.Context, rows *data.Split) (*data.Split, error) {
	f := &data.Split{N: rows.N, F32: make([]float32, rows.N*p.file.Apply.Features)}
	if rows.N == 0 {
		return f, nil
	}
	if _, err := data.Extract(ctx, p.Features, data.Split{N: rows.N, Text: rows.Text}, f.F32); err != nil {
		return nil, fmt.Errorf("model: features: %w", err)
	}
	return f, nil
}

// outputs returns the outputs for the rows of a split, as the layers give them: [rows×outputs].
func (p *Predictor) outputs(ctx context.Context, rows *data.Split) ([]float32, error) {
	k, f := p.net.Outputs(), p.file.Apply.Features
	z := make([]float32, rows.N*k)
	if p.Reads() {
		var err error
		if rows, err = p.made(ctx, rows); err != nil {
			return nil, err
		}
	}
	scale := p.floats
	if rows.U8 != nil {
		scale = p.bytes
	}
	idx := make([]int, 0, p.net.Capacity)
	for lo := 0; lo < rows.N; lo += len(idx) {
		if err := p.pause(ctx); err != nil {
			return nil, err
		}
		idx = idx[:0]
		for i := lo; i < min(rows.N, lo+p.net.Capacity); i++ {
			idx = append(idx, i)
		}
		x := p.host[:len(idx)*f]
		scale.Rows(x, rows, idx)
		p.pipe.Write(p.be, x, f, p.x)
		out := p.net.Forward(p.x, len(idx), 1)
		if err := compute.Read(ctx, p.be, z[lo*k:(lo+len(idx))*k], out); err != nil {
			return nil, fmt.Errorf("model: outputs: %w", err)
		}
	}
	return z, nil
}

// pause yields, and returns the error of a context that has ended.
func (p *Predictor) pause(ctx context.Context) error {
	if p.Yield != nil {
		p.Yield()
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// Draw has answers to rows and files, though not what [Predictor.Evaluate] says of them, go by a line between two classes, or by what is likeliest where there is none.
// Its error says what the model has not.
func (p *Predictor) Draw(line *run.ClassLine) error {
	a := p.file.Apply
	switch {
	case line == nil:
	case data.Task(a.Task) != data.Classification || a.Outputs != 2:
		return errors.New("model: a line is drawn between two classes, which this model has not")
	case p.class(0) != line.Class && p.class(1) != line.Class:
		return fmt.Errorf("model: a line for the class %q, and the model has %q and %q", line.Class, p.class(0), p.class(1))
	case !(line.From > 0 && line.From < 1):
		return fmt.Errorf("model: a line at a probability of %v: take one between 0 and 1", line.From)
	}
	p.line = line
	return nil
}

// beyond returns the class that a line has answered.
func (p *Predictor) beyond(line *run.ClassLine, probabilities []run.Number) string {
	i := 0
	if p.class(1) == line.Class {
		i = 1
	}
	if float64(probabilities[i]) >= line.From {
		return p.class(i)
	}
	return p.class(1 - i)
}

// answer turns a row's outputs into its answer, by a line where there is one.
func (p *Predictor) answer(z []float32, line *run.ClassLine) run.Answer {
	a := p.file.Apply
	for _, v := range z {
		if y := float64(v); math.IsNaN(y) || math.IsInf(y, 0) {
			return run.Answer{Problem: "The model's outputs for this row are not finite."}
		}
	}
	out := run.Answer{Outputs: make([]run.Number, len(z))}
	switch data.Task(a.Task) {
	case data.Regression:
		for i, v := range z {
			out.Outputs[i] = run.Number(v)
		}
		out.Answer = out.Outputs
		if len(z) == 1 {
			out.Answer = out.Outputs[0]
		}
	case data.MultiLabel:
		on := []string{}
		for i, v := range z {
			out.Outputs[i] = run.Number(1 / (1 + math.Exp(-float64(v))))
			if out.Outputs[i] > 0.5 {
				on = append(on, p.class(i))
			}
		}
		out.Answer = on
	default:
		best, sum := slices.Max(z), 0.0
		for i, v := range z {
			e := math.Exp(float64(v) - float64(best))
			out.Outputs[i] = run.Number(e)
			sum += e
		}
		for i := range out.Outputs {
			out.Outputs[i] /= run.Number(sum)
		}
		if out.Answer = p.class(slices.Index(z, best)); line != nil {
			out.Answer = p.beyond(line, out.Outputs)
		}
	}
	return out
}

// class is the name of an output.
func (p *Predictor) class(i int) string {
	if classes := p.file.Apply.Classes; len(classes) > 0 {
		return classes[i]
	}
	return fmt.Sprint(i)
}

// Predict answers rows that were typed: lists of cells, one for each column or for each
// but the label's, or of numbers where there are no columns; or cells by name. A row with
// a cell that cannot be read gets a problem in place of an answer. The error is the
// context's, or names the number of rows that can be answered at once: a file of rows has no such limit.
func (p *Predictor) Predict(ctx context.Context, rows []run.Row) ([]run.Answer, error) {
	if err := p.whole(); err != nil {
		return nil, err
	}
	if k := p.net.Outputs(); len(rows) > max(1, mostAnswered/k) {
		return nil, fmt.Errorf("model: %d rows of %d outputs each are more than %d numbers: ask for at most %d rows at once, or give them as a file", len(rows), k, mostAnswered, max(1, mostAnswered/k))
	}
	answers := make([]run.Answer, 0, len(rows))
	b := p.newBatch()
	for i := range rows {
		b.addAnswer(p.typed(b.next(), &rows[i]))
		if !b.full() && i < len(rows)-1 {
			continue
		}
		part, err := b.answers(ctx)
		if err != nil {
			return nil, err
		}
		answers = append(answers, part...)
	}
	return answers, nil
}

// batch gathers rows on their way to the model. Some of them have a problem instead.
type batch struct {
	p       *Predictor
	size    int
	dense   int // features of a row that are not of texts
	rows    data.Split
	pending []run.Answer // of all rows, without the model's outputs
}

// mostGathered bounds the features that are gathered, and the outputs for them, and mostPending the rows.
const (
	mostAnswered = 1 << 23 // outputs for typed rows, which take some 30 bytes each with their text
	mostGathered = 1 << 22
	mostPending  = 4096
	mostTexts    = 64 // rows whose features another model makes, which takes long
)

// gathered returns the number of rows that are answered together.
func (p *Predictor) gathered() int {
	if p.Reads() {
		return mostTexts
	}
	return max(1, min(mostPending, mostGathered/max(p.file.Apply.Features, p.file.Apply.Outputs)))
}

func (p *Predictor) newBatch() *batch {
	b := &batch{p: p, size: p.gathered(), dense: p.file.Apply.Features}
	if p.encoder != nil {
		b.dense = p.encoder.Dense()
	}
	b.rows.F32 = make([]float32, 0, b.dense)
	return b
}

// next is room for the dense features of a row.
func (b *batch) next() []float32 {
	f := b.dense
	b.rows.F32 = slices.Grow(b.rows.F32[:b.rows.N*f], f)
	return b.rows.F32[b.rows.N*f:][:f]
}

// rowTexts holds what is not dense of a row: the features of its texts, or these where another model makes features of them.
type rowTexts struct {
	words []data.Word
	read  []string
}

// addAnswer adds the row whose features were written to next, with its texts and its answer so far; where err is
// not nil, only the problem.
func (b *batch) addAnswer(t rowTexts, a run.Answer, err error) {
	if err != nil {
		a.Problem = said(err)
	} else {
		b.rows.N++
		b.rows.F32, b.rows.Words = b.rows.F32[:b.rows.N*b.dense], append(b.rows.Words, t.words)
		b.rows.Text = append(b.rows.Text, t.read...)
	}
	b.pending = append(b.pending, a)
}

func (b *batch) full() bool { return len(b.pending) >= b.size }

// answers returns the answers for all rows that were added, and empties the batch.
func (b *batch) answers(ctx context.Context) ([]run.Answer, error) {
	z, err := b.p.outputs(ctx, &b.rows)
	if err != nil {
		return nil, err
	}
	all, k := b.pending, b.p.net.Outputs()
	for i := range all {
		if all[i].Problem != "" {
			continue
		}
		if err := b.p.pause(ctx); err != nil {
			return nil, err
		}
		told := all[i]
		all[i] = b.p.answer(z[:k], b.p.line)
		all[i].Unknown, all[i].Missing, z = told.Unknown, told.Missing, z[k:]
	}
	b.clear()
	return all, nil
}

func (b *batch) clear() {
	b.pending, b.rows.N, b.rows.F32, b.rows.Words, b.rows.Text = nil, 0, b.rows.F32[:0], b.rows.Words[:0], b.rows.Text[:0]
}

// typed writes a row's dense features to x, and returns its texts, and tells as encode does.
func (p *Predictor) typed(x []float32, r *run.Row) (t rowTexts, told run.Answer, err error) {
	if p.encoder == nil {
		return t, told, plainRow(x, r)
	}
	columns := p.encoder.Columns()
	given := r.Cells
	if r.Named != nil {
		if given, err = byName(columns, r.Named); err != nil {
			return t, told, err
		}
	}
	if labels := p.encoder.Labels(); len(labels) > 0 && len(given) == len(columns)-len(labels) {
		given = slices.Clone(given)
		for _, i := range labels {
			given = slices.Insert(given, i, run.Cell{})
		}
	}
	if len(given) != len(columns) {
		return t, told, fmt.Errorf("expected %d cells, one for each column, found %d", len(columns), len(given))
	}
	cells := make([]string, len(columns))
	for i, c := range given {
		cells[i] = c.Text
		if c.Number != nil {
			cells[i] = p.encoder.Write(i, *c.Number)
		}
	}
	return p.encode(x, cells)
}

// encode writes the dense features of cells to x, returns the row's texts, and names the columns whose category is
// unknown, or whose number is missing.
func (p *Predictor) encode(x []float32, cells []string) (t rowTexts, told run.Answer, err error) {
	if p.Reads() {
		for _, i := range p.texts {
			text := table.Text(cells[i])
			t.read, err = append(t.read, text), cmp.Or(err, data.CheckText(text))
		}
		return t, told, err
	}
	var unknown, gaps []int
	t.words, unknown, gaps, err = p.encoder.Features(x, cells)
	names := func(at []int) (all []string) {
		for _, i := range at {
			all = append(all, p.encoder.Columns()[i].Name)
		}
		return all
	}
	told.Unknown, told.Missing = names(unknown), names(gaps)
	return t, told, err
}

// byName puts cells in the order of the columns. A column that is not named is a missing
// cell; a name that is of no column is a mistake.
func byName(columns []data.Column, named map[string]run.Cell) ([]run.Cell, error) {
	cells, used := make([]run.Cell, len(columns)), 0
	for i, c := range columns {
		cell, ok := named[c.Name]
		if ok {
			used++
		}
		cells[i] = cell
	}
	if used < len(named) {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			if !slices.ContainsFunc(columns, func(c data.Column) bool { return c.Name == name }) {
				return nil, fmt.Errorf("there is no column %q", clipped(name))
			}
		}
	}
	return cells, nil
}

func plainRow(x []float32, r *run.Row) error {
	if r.Named != nil || len(r.Cells) != len(x) {
		return fmt.Errorf("expected a list of %d numbers, found %d", len(x), len(r.Cells))
	}
	for i, c := range r.Cells {
		if c.Number == nil || math.Abs(*c.Number) > math.MaxFloat32 {
			return fmt.Errorf("value %d, %q, is no number", i+1, clipped(c.String()))
		}
		x[i] = float32(*c.Number)
	}
	return nil
}

// said is an error as a sentence of its own, without the name of a package.
func said(err error) string {
	s := err.Error()
	if e := (*data.Error)(nil); errors.As(err, &e) {
		return s
	}
	return s + "."
}
