package model

import (
	"context"
	"encoding/csv"
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
)

// Of the answers' file so much is shown.
const (
	mostFirst = 10  // rows
	mostShown = 100 // bytes of a cell
)

// Answer reads a table and writes its rows to w, as CSV, with what the model answers:
// answer, the probability of every class as p(class), and problem, which is empty or says
// why there is no answer, or which category is unknown. Columns are found by name, in any
// order, and that of the labels may be missing; of tables without names they are in the
// order of training. The delimiter is that of the table, and numbers are written as the
// model's columns have them. progress may be nil. It holds a few thousand rows at a time.
//
// A spreadsheet runs cells that begin with one of = + - @ as formulas. Cells of the table
// are its owner's, and are passed on. The names of classes are the model's, which may be
// somebody else's: one that would run, and is no number, gets an apostrophe in front.
//
// The error is a [data.Error], ctx's, or w's.
func (p *Predictor) Answer(ctx context.Context, f source.File, w io.Writer, progress func(source.Progress)) (*run.PredictReply, error) {
	t, err := p.openTable(ctx, f, progress)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	s := &sheet{p: p, t: t, w: csv.NewWriter(w), reply: &run.PredictReply{First: [][]string{}}}
	s.w.Comma = t.Comma()
	if t.Encoding() != "" { // without its mark, spreadsheets take UTF-8 for something else
		if _, err := io.WriteString(w, "\ufeff"); err != nil {
			return nil, fmt.Errorf("model: answers: %w", err)
		}
	}
	b := p.newBatch()
	for {
		cells, err := t.row()
		if err == io.EOF {
			break
		}
		if err != nil && (t.at == nil || !t.Survives(err)) {
			return nil, err
		}
		if len(s.own) == 0 {
			s.writeHead()
		}
		line := 0 // of one that cannot be read the error knows it
		if err != nil {
			b.addAnswer(rowTexts{}, run.Answer{}, err)
		} else {
			b.addAnswer(p.encode(b.next(), t.order(cells)))
			line = t.line
		}
		s.rows, s.lines = append(s.rows, s.passedOn(cells)), append(s.lines, line)
		if b.full() {
			if err := s.flush(ctx, b); err != nil {
				return nil, err
			}
		}
	}
	if len(s.own) == 0 {
		return nil, &data.Error{File: f.Name(), Expected: "rows of data", Got: "none", Fix: "Choose a file that has rows."}
	}
	return s.reply, s.flush(ctx, b)
}

// inputTable is a table whose columns have been found.
type inputTable struct {
	*table.Reader
	p     *Predictor
	file  string
	line  int      // of the last row
	at    []int    // of each of the model's columns, its place; -1 for a label that is not there
	cells []string // a row's, in the order of the model's columns

	stored bool // the cells are a spreadsheet's
}

func (p *Predictor) openTable(ctx context.Context, f source.File, progress func(source.Progress)) (*inputTable, error) {
	if p.encoder == nil {
		return nil, &data.Error{File: f.Name(), Expected: "pictures, or rows of numbers through the scripting API: this model was not trained on a table", Got: "a table",
			Fix: "Choose files of the kind that the model was trained on."}
	}
	if err := p.whole(); err != nil {
		return nil, err
	}
	columns := p.encoder.Columns()
	r, err := p.Files.OpenTable(ctx, f, columns[0].Name != data.Nameless(0), progress)
	if err != nil {
		return nil, err
	}
	t := &inputTable{Reader: r, p: p, file: f.Name(), cells: make([]string, len(columns)), stored: r.Stored()}
	if names := r.Names(); names != nil {
		if err := t.find(names); err != nil {
			r.Close()
			return nil, err
		}
	}
	return t, nil
}

// find finds the columns by name.
func (t *inputTable) find(names []string) error {
	columns := t.p.encoder.Columns()
	places, folded := map[string]int{}, map[string]int{}                               // the first of each name, as it is and whatever its case
	fold := func(name string) string { return strings.ToLower(strings.ToUpper(name)) } // as ς and σ have one capital
	for i, name := range slices.Backward(names) {
		places[name], folded[fold(name)] = i, i
	}
	for _, c := range columns {
		i, ok := places[c.Name]
		if !ok {
			if i, ok = folded[fold(c.Name)]; !ok {
				i = -1
			}
		}
		if i < 0 && c.Makes() {
			return table.NotThere(t.file, c.Name, names)
		}
		t.at = append(t.at, i)
	}
	return nil
}

// row is the next row's cells, as they stand in the file.
func (t *inputTable) row() ([]string, error) {
	cells, line, err := t.Row()
	t.line = line
	if err == nil && t.at == nil {
		err = t.count(len(cells), line)
	}
	return cells, err
}

// count finds the columns of a table without names by their number.
func (t *inputTable) count(width, line int) error {
	columns, labels := t.p.encoder.Columns(), t.p.encoder.Labels()
	without := len(labels) > 0 && width == len(columns)-len(labels)
	if width != len(columns) && !without {
		return &data.Error{File: t.file, Expected: fmt.Sprintf("%d columns, in the order of the training table", len(columns)), Got: fmt.Sprintf("%d in row %d", width, line),
			Fix: "Choose a table with the columns that the model was trained on."}
	}
	next := 0
	for i := range columns {
		if without && slices.Contains(labels, i) {
			t.at = append(t.at, -1)
			continue
		}
		t.at = append(t.at, next)
		next++
	}
	return nil
}

// order puts a row's cells in the order of the model's columns.
func (t *inputTable) order(cells []string) []string {
	for i := range t.at {
		t.cells[i] = t.cell(i, cells)
	}
	return t.cells
}

// cell returns a row's cell in the model's column i; empty where there is none.
func (t *inputTable) cell(i int, cells []string) string {
	switch at := t.at[i]; {
	case at < 0:
		return ""
	case t.stored:
		return t.p.encoder.Stored(i, cells[at])
	default:
		return cells[at]
	}
}

// sheet writes answers beside the rows they are for.
type sheet struct {
	p     *Predictor
	t     *inputTable
	w     *csv.Writer
	keep  []int    // places of the columns that are passed on
	own   []string // names of ours
	comma bool     // numbers have a decimal comma
	rows  [][]string
	lines []int // of them in the file; 0 where the problem says it
	reply *run.PredictReply
}

// writeHead chooses the columns and writes their names. A table that comes back with
// answers gets new ones.
func (s *sheet) writeHead() {
	columns := s.p.encoder.Columns()
	s.nameOwn(func(name string) bool {
		return slices.ContainsFunc(columns, func(c data.Column) bool { return c.Name == name })
	})
	names := s.t.Names()
	var kept []string
	for i := range s.t.Width() {
		name := data.Nameless(i)
		if names != nil {
			name = names[i]
		}
		if !slices.Contains(s.own, name) {
			s.keep, kept = append(s.keep, i), append(kept, name)
		}
	}
	for _, c := range columns {
		s.comma = s.comma || c.Decimal == ","
	}
	s.writeNames(kept)
}

// writeNames writes the names of columns that are passed on, and of ours.
func (s *sheet) writeNames(kept []string) {
	s.reply.Own, s.reply.Head = len(kept), append(kept, s.own...)
	s.w.Write(s.reply.Head) // an error stays, and flush returns it
}

// nameOwn names our columns by names that are not taken.
func (s *sheet) nameOwn(taken func(name string) bool) {
	s.own = []string{"answer"}
	for i := range s.p.probabilities() {
		s.own = append(s.own, "p("+s.p.class(i)+")")
	}
	if n := s.p.net.Outputs(); s.p.probabilities() == 0 && n > 1 {
		s.own = nil
		for i := range n {
			s.own = append(s.own, fmt.Sprint("answer ", i+1))
		}
	}
	s.own = append(s.own, "problem")
	for i, name := range s.own {
		for taken(name) {
			name += " (model)"
		}
		s.own[i] = name
	}
}

// probabilities returns the number of outputs that are probabilities.
func (p *Predictor) probabilities() int {
	if data.Task(p.file.Apply.Task) == data.Regression {
		return 0
	}
	return p.net.Outputs()
}

// passedOn returns a copy of the cells that are passed on. A row with fewer cells than the table
// has gives as many as there are.
func (s *sheet) passedOn(cells []string) []string {
	row := make([]string, len(s.keep), len(s.keep)+len(s.own))
	for k, i := range s.keep {
		if i < len(cells) {
			row[k] = strings.Clone(cells[i])
		}
	}
	return row
}

func (s *sheet) flush(ctx context.Context, b *batch) error {
	answers, err := b.answers(ctx)
	if err != nil {
		return err
	}
	for i, a := range answers {
		if err := s.p.pause(ctx); err != nil {
			return err
		}
		row := append(s.rows[i], s.answered(&a)...)
		s.w.Write(row)
		s.reply.Rows++
		s.reply.Unknown += len(a.Unknown)
		s.reply.Missing += len(a.Missing)
		if a.Problem != "" {
			if s.reply.Problems++; s.reply.Problems == 1 {
				s.reply.Problem = placed(s.lines[i], a.Problem)
			}
		}
		if len(s.reply.First) < mostFirst {
			for k, c := range row {
				row[k] = clippedAt(c, mostShown)
			}
			s.reply.First = append(s.reply.First, row)
		}
	}
	s.rows, s.lines = s.rows[:0], s.lines[:0]
	s.w.Flush()
	if err := s.w.Error(); err != nil {
		return fmt.Errorf("model: answers: %w", err)
	}
	return nil
}

// placed is a problem with the row that has it.
func placed(line int, problem string) string {
	switch {
	case line == 0:
		return problem
	case strings.HasPrefix(problem, "column "):
		return fmt.Sprintf("row %d, %s", line, problem)
	}
	return fmt.Sprintf("row %d: %s", line, problem)
}

// answered are the cells that are added to a row.
func (s *sheet) answered(a *run.Answer) []string {
	cells := make([]string, len(s.own))
	last := len(cells) - 1
	if cells[last] = data.Inert(a.Problem); a.Problem != "" { // which may begin with the name of a picture
		return cells
	}
	if len(a.Unknown) > 0 {
		cells[last] = "Not seen in training, and counted as none: the category in " + strings.Join(a.Unknown, ", ")
	}
	if s.p.probabilities() == 0 {
		for i, v := range a.Outputs {
			cells[i] = s.number(float64(v))
		}
		return cells
	}
	switch v := a.Answer.(type) {
	case string:
		cells[0] = data.Inert(v)
	case []string:
		cells[0] = data.Inert(strings.Join(v, " "))
	}
	for i, v := range a.Outputs {
		cells[1+i] = s.share(float64(v))
	}
	return cells
}

// share writes a probability, to six places.
func (s *sheet) share(p float64) string {
	return s.mark(strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(p, 'f', 6, 64), "0"), "."))
}

// number writes x with as many digits as a float32 has.
func (s *sheet) number(x float64) string {
	format := byte('g')
	if size := math.Abs(x); size >= 1e-5 && size < 1e15 {
		format = 'f'
	}
	return s.mark(strconv.FormatFloat(x, format, -1, 32))
}

// mark is a number with the table's decimal mark.
func (s *sheet) mark(number string) string {
	if s.comma {
		return strings.Replace(number, ".", ",", 1)
	}
	return number
}
