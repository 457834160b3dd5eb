package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
	"clipscope/core/run"
	"clipscope/core/score"
)

// Evaluate says how the model fares on labelled files: tables with the label's column,
// or pictures of the model's shape. Labels are matched by name to the model's classes.
// Rows with a cell that cannot be read, or that is missing where there is no rule for it,
// are left out and counted. progress may be nil. The error is a [data.Error], which names
// a label that is of no class, or ctx's.
//
// Guarantee: none. What it says is computed from the rows without noise.
func (p *Predictor) Evaluate(ctx context.Context, files []source.File, progress func(source.Progress)) (*run.Evaluation, error) {
	if len(files) == 0 {
		return nil, &data.Error{Expected: "a file with labels", Got: "none", Fix: "Choose a file as the model was trained on."}
	}
	e := p.newExam()
	if err := e.read(ctx, files, progress); err != nil {
		return nil, err
	}
	return e.evaluation(), nil
}

// read takes in the rows of files.
func (e *exam) read(ctx context.Context, files []source.File, progress func(source.Progress)) (err error) {
	if e.p.encoder != nil {
		for _, f := range files {
			if err = e.table(ctx, f, progress); err != nil {
				return err
			}
		}
	} else if err = e.pictures(ctx, files, progress); err != nil {
		return err
	}
	if e.result.Rows == 0 {
		return &data.Error{File: files[0].Name(), Expected: "rows with labels that the model can answer", Got: "none. The first: " + strings.TrimSuffix(e.result.Problem, "."), Fix: "Choose a file as the model was trained on."}
	}
	return nil
}

// exam compares answers with labels.
type exam struct {
	p       *Predictor
	keep    *PublicRows    // takes the rows in the place of the comparison; nil: they are compared
	classes *score.Classes // nil but of classes
	labels  *score.Labels  // nil but of several labels a row
	numbers *score.Numbers // nil but of numbers
	names   []string
	hits    int
	result  *run.Evaluation
}

func (p *Predictor) newExam() *exam {
	e := &exam{p: p, result: &run.Evaluation{Accuracy: run.Number(math.NaN())}}
	k := p.file.Apply.Outputs
	if data.Task(p.file.Apply.Task) == data.Regression {
		e.numbers = score.NewNumbers(k)
		return e
	}
	for i := range k {
		e.names = append(e.names, p.class(i))
	}
	if data.Task(p.file.Apply.Task) == data.MultiLabel {
		e.labels = score.NewLabels(e.names)
		return e
	}
	e.classes = score.NewClasses(e.names)
	return e
}

// mark takes in rows with their targets.
func (e *exam) mark(ctx context.Context, rows *data.Split) error {
	if e.keep != nil {
		e.result.Rows += rows.N
		return e.keep.add(rows)
	}
	z, err := e.p.outputs(ctx, rows)
	if err != nil {
		return err
	}
	k := e.p.net.Outputs()
	for i := range rows.N {
		out := z[i*k:][:k]
		if e.numbers != nil {
			e.numbers.Add(rows.Y[i*k:][:k], out)
			continue
		}
		if e.labels != nil {
			y := rows.Y[i*k:][:k]
			e.labels.Add(y, out)
			if right(y, out) {
				e.hits++
			}
			continue
		}
		class := int(rows.Y[i])
		e.classes.Add(class, out)
		if e.p.answer(out, nil).Answer == e.names[class] {
			e.hits++
		}
	}
	e.result.Rows += rows.N
	return nil
}

// right reports whether all labels of a row are as its logits say.
func right(labels, logits []float32) bool {
	for j, z := range logits {
		if math.IsNaN(float64(z)) || math.IsInf(float64(z), 0) || (z > 0) != (labels[j] > 0.5) {
			return false
		}
	}
	return true
}

// inputTable reads a table and marks its rows.
func (e *exam) table(ctx context.Context, f source.File, progress func(source.Progress)) error {
	t, err := e.p.openTable(ctx, f, progress)
	if err != nil {
		return err
	}
	defer t.Close()
	labels := e.p.encoder.Labels()
	b, y := e.p.newBatch(), []float32{}
	for ended := false; !ended; {
		cells, err := t.row()
		if ended = err == io.EOF; !ended {
			if err != nil && (t.at == nil || !t.Survives(err)) {
				return err
			}
			if len(labels) == 0 || slices.ContainsFunc(labels, func(i int) bool { return t.at[i] < 0 }) {
				return e.p.noLabels(f.Name())
			}
			var target []float32
			var read rowTexts
			if err == nil {
				var fatal bool
				if target, fatal, err = e.targets(t, cells); fatal {
					return t.here(err)
				}
			}
			if err == nil {
				var told run.Answer
				read, told, err = e.p.encode(b.next(), t.order(cells))
				e.result.Unknown += len(told.Unknown)
				e.result.Missing += len(told.Missing)
			}
			if err != nil {
				e.leaveOut(t.here(err))
				continue
			}
			b.addAnswer(read, run.Answer{}, nil)
			y = append(y, target...)
		}
		if ended || b.full() {
			b.rows.Y = y
			if err := e.mark(ctx, &b.rows); err != nil {
				return err
			}
			b.clear()
			y = y[:0]
		}
	}
	return nil
}

func (e *exam) leaveOut(err error) {
	if e.result.Problems++; e.result.Problems == 1 {
		e.result.Problem = said(err)
	}
}

// here says where in a table a cell is that an error is about.
func (t *inputTable) here(err error) error {
	if e := (*data.Error)(nil); errors.As(err, &e) && e.Row == 0 {
		e.File, e.Row = t.file, t.line
	}
	return err
}

func (p *Predictor) noLabels(file string) error {
	want := "a column of labels"
	switch l := p.encoder.Labels(); {
	case len(l) > 1:
		want = "the columns with the labels: " + data.List(p.file.Apply.Classes)
	case len(l) == 1:
		want = fmt.Sprintf("the column %q with the labels", clipped(p.encoder.Columns()[l[0]].Name))
	}
	return &data.Error{File: file, Row: 1, Expected: want, Got: "a table without it", Fix: "Choose a table with labels, or ask for answers instead."}
}

// targets returns the targets of a row. An error is fatal where the labels are of another table: a class that the
// model has not. Of numbers and of several labels some cell may be none.
func (e *exam) targets(t *inputTable, cells []string) (y []float32, fatal bool, err error) {
	if e.labels != nil {
		y, err = e.p.encoder.Targets(t.order(cells))
		return y, false, err
	}
	cell := t.cell(e.p.encoder.Label(), cells)
	one, err := e.target(t, cell)
	return []float32{one}, err != nil && !table.Missing(cell) && e.classes != nil, err
}

// target returns the target of a cell in the label's column. Files that number their classes and
// name them once are understood.
func (e *exam) target(t *inputTable, cell string) (float32, error) {
	y, err := e.p.encoder.Target(cell)
	if err == nil || t.Classes() == nil {
		return y, err
	}
	if k, no := strconv.Atoi(cell); no == nil && k >= 0 && k < len(t.Classes()) {
		return e.p.encoder.Target(t.Classes()[k])
	}
	return y, err
}

// pictures reads files of pictures and marks them.
func (e *exam) pictures(ctx context.Context, files []source.File, progress func(source.Progress)) error {
	a := e.p.file.Apply
	opt := e.p.reading()
	opt.Task = a.Task // or labels such as 1.0 are amounts
	if e.labels != nil {
		opt.Columns = map[string]string{}
		for _, name := range a.Classes {
			opt.Columns[name] = string(data.Label)
		}
	}
	ds, _, err := e.p.Files.Load(ctx, files, nil, opt, progress)
	if err != nil {
		return err
	}
	if ds.Columns != nil || ds.Features != a.Features || !slices.Equal(ds.Shape, a.Shape) || e.numbers != nil || string(ds.Task) != a.Task {
		return &data.Error{File: files[0].Name(), Expected: "pictures of " + shapeText(a.Shape, a.Features), Got: "rows of " + shapeText(ds.Shape, ds.Features),
			Fix: "Choose files as the model was trained on."}
	}
	of := make([]int, len(ds.Classes))
	for i, c := range ds.Classes {
		of[i] = slices.Index(e.names, c)
	}
	for _, rows := range []*data.Split{&ds.Train, &ds.Test} { // files and folders may be called test
		if err := e.own(files[0].Name(), ds, rows, of); err != nil {
			return err
		}
		if err := e.split(ctx, rows, ds.TargetWidth()); err != nil {
			return err
		}
	}
	return nil
}

// own gives the targets of rows, whose classes are at the places of, as the model has them.
func (e *exam) own(file string, ds *data.Dataset, rows *data.Split, of []int) error {
	if e.labels != nil {
		return orderLabels(file, ds, rows, of, len(e.names))
	}
	for i, y := range rows.Y {
		k := of[int(y)]
		if k < 0 {
			return &data.Error{File: file, Row: i + 1, Expected: "one of the model's classes", Got: fmt.Sprintf("label %q", clipped(ds.Classes[int(y)])),
				Fix: "Choose pictures of the classes that the model was trained on."}
		}
		rows.Y[i] = float32(k)
	}
	return nil
}

// split marks the rows of a split, which have so many targets each.
func (e *exam) split(ctx context.Context, all *data.Split, width int) error {
	part, f := e.p.gathered(), e.p.file.Apply.Features
	for lo := 0; lo < all.N; lo += part {
		hi := min(all.N, lo+part)
		rows := data.Split{N: hi - lo, Y: all.Y[lo*width : hi*width]}
		if all.U8 != nil {
			rows.U8 = all.U8[lo*f : hi*f]
		} else {
			rows.F32 = all.F32[lo*f : hi*f]
		}
		if err := e.mark(ctx, &rows); err != nil {
			return err
		}
	}
	return nil
}

// orderLabels brings the labels of rows to the places that of has for them, in a model of so many.
func orderLabels(file string, ds *data.Dataset, rows *data.Split, of []int, labels int) error {
	sorted := slices.Sorted(slices.Values(of))
	for k := range labels {
		if len(sorted) != labels || sorted[k] != k {
			return &data.Error{File: file, Expected: "the labels of the model", Got: data.List(ds.Classes), Fix: "Choose files as the model was trained on."}
		}
	}
	row := make([]float32, len(of))
	for lo := 0; lo < len(rows.Y); lo += len(of) {
		y := rows.Y[lo : lo+len(of)]
		for i, at := range of {
			row[at] = y[i]
		}
		copy(y, row)
	}
	return nil
}

// shapeText is 28×28, or 3×32×32, or a number of values.
func shapeText(shape []int, features int) string {
	if len(shape) == 0 {
		return fmt.Sprintf("%d numbers", features)
	}
	s := ""
	for i, n := range shape {
		if i > 0 {
			s += "×"
		}
		s += strconv.Itoa(n)
	}
	return s
}

// evaluation returns the scores of the rows so far.
func (e *exam) evaluation() *run.Evaluation {
	r := e.result
	switch {
	case e.numbers != nil:
		r.Scores, r.Answers = e.numbers.Scores(), e.numbers.Answers()
		return r
	case e.labels != nil:
		r.Scores, r.Accuracy = e.labels.Scores(), run.Number(float64(e.hits)/float64(r.Rows))
		return r
	}
	r.Scores, r.Accuracy = e.classes.Scores(), run.Number(float64(e.hits)/float64(r.Rows))
	for i := range e.names {
		r.Classes = append(r.Classes, e.classes.Class(i))
	}
	return r
}
