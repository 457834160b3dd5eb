package train

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/score"
)

// A run tests itself while it goes on, evaluationsMost times at most, on evaluationRows
// rows at most: enough for a curve. The result is measured on all rows. As a row
// that is tested costs some two fifths of one that is trained on, in all no more
// than testShare of what is trained on is tested, so that testing adds a tenth to
// the time; but evaluationsLeast times, or as often as fewRows rows allow, a run
// tests itself however short it is.
const (
	evaluationsMost  = 20
	evaluationsLeast = 5
	evaluationRows   = 1000
	fewRows          = 4000
	testShare        = 0.25
)

// evaluations returns how often the run tests itself before it ends, about.
func evaluations(t *plan.Terms) int {
	rows := max(1, min(evaluationRows, t.Meta.TestRows))
	most := (testShare*float64(t.Steps)*t.BatchSize - float64(t.Meta.TestRows)) / float64(rows)
	return max(evaluationsLeast, min(evaluationsMost, max(fewRows/rows, int(min(most, evaluationsMost)))))
}

// evaluate measures loss and accuracy on the first limit test rows; nil where
// there are none. It waits once.
func (f *feed) evaluate(ctx context.Context, limit int) (*run.Eval, error) {
	parts, err := f.test(ctx, 0, limit, false)
	if err != nil {
		return nil, err
	}
	return f.evaluated(ctx, parts)
}

// test queues the measuring on test rows, and the reading of the outputs where they are
// wanted.
func (f *feed) test(ctx context.Context, from, to int, outputs bool) (parts []reading, err error) {
	to = min(to, f.ds.Test.N)
	rows := make([]int, 0, f.model.Capacity)
	for lo := from; lo < to; lo += len(rows) {
		rows = rows[:0]
		for i := lo; i < min(to, lo+f.model.Capacity); i++ {
			rows = append(rows, i)
		}
		if err := f.passTest(ctx, rows); err != nil {
			return nil, err
		}
		f.judge(len(rows))
		part := f.report.fetch(f.be, len(rows), false)
		if outputs {
			part.outputs = f.be.Fetch(f.model.Predictions().Slice(0, len(rows)*f.model.Outputs()))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// evaluated takes in what was measured; nil where nothing was.
func (f *feed) evaluated(ctx context.Context, parts []reading) (*run.Eval, error) {
	var x exam
	if err := f.mark(ctx, parts, nil, &x); err != nil || x.rows == 0 {
		return nil, err
	}
	return x.eval(f.ds.Task), nil
}

// exam adds up what was measured on test rows.
type exam struct {
	rows       int
	loss, hits float64
	credit     float64 // of all rows
}

// mostLoss is the most that a row's loss counts where runs are compared: that of a class which
// the model gives one chance in a hundred.
var mostLoss = math.Log(100)

// credit returns the part of a run's score that a test row of that loss gives: 1 where the model is
// sure of its class, and 0 from [mostLoss] on, or where it has no answer.
//
// Guarantee: a credit lies in [0, 1] whatever the row and the model are, so that one row more
// or less changes a sum of credits by at most 1. Credits are multiples of 2⁻²⁰, and so sums of
// up to 2³² of them are exact.
func credit(loss float64) float64 {
	if !finite(loss) {
		return 0
	}
	return math.Round((1-min(max(loss, 0), mostLoss)/mostLoss)*(1<<20)) / (1 << 20)
}

func (x exam) eval(task data.Task) *run.Eval {
	n := float64(x.rows)
	e := &run.Eval{Rows: x.rows, Loss: run.Number(x.loss / n), Accuracy: run.Number(math.NaN())}
	if task != data.Regression {
		e.Accuracy = run.Number(x.hits / n)
	}
	return e
}

// mark adds what was measured to an exam, and to a score, if there is one.
func (f *feed) mark(ctx context.Context, parts []reading, s scorer, x *exam) error {
	k := f.model.Outputs()
	var z []float32
	for _, p := range parts {
		v, err := p.wait(ctx)
		if err != nil {
			return fmt.Errorf("train: testing: %w", err)
		}
		for i, l := range v.losses() {
			x.loss += float64(l)
			x.credit += credit(float64(l))
			if finite(float64(l)) { // or the model has no answer
				x.hits += float64(v.hits()[i])
			}
		}
		if s != nil {
			z = append(z[:0], make([]float32, p.n*k)...)
			if err := p.outputs.Wait(ctx, z); err != nil {
				return fmt.Errorf("train: testing: %w", err)
			}
			for i := range p.n {
				s.addRow(x.rows+i, z[i*k:][:k])
			}
		}
		x.rows += p.n
	}
	return nil
}

// examined bounds the test rows that are on their way at once, with their outputs.
const examined = 4096

// examine measures the model on all test rows.
func (f *feed) examine(ctx context.Context, res *run.Result) (exam, error) {
	var x exam
	s := f.newScorer()
	for lo := 0; lo < f.ds.Test.N; lo += examined {
		parts, err := f.test(ctx, lo, lo+examined, s != nil)
		if err == nil {
			err = f.mark(ctx, parts, s, &x)
		}
		if err != nil {
			return x, err
		}
	}
	if x.rows == 0 {
		return x, nil
	}
	e := x.eval(f.ds.Task)
	res.TestRows, res.TestAccuracy, res.TestLoss = e.Rows, e.Accuracy, e.Loss
	if s != nil {
		s.tell(res)
	}
	return x, nil
}

// scorer hears of the model's outputs for every test row, once, after the run.
type scorer interface {
	addRow(row int, outputs []float32)
	tell(*run.Result)
}

// newScorer is the one for the run's task; nil where there is none.
func (f *feed) newScorer() scorer {
	switch {
	case f.ds.Task == data.Classification && len(f.ds.Classes) == f.ds.Outputs:
		return classScorer{f, score.NewClasses(f.ds.Classes)}
	case f.ds.Task == data.MultiLabel && len(f.ds.Classes) == f.ds.Outputs:
		return labelScorer{f, score.NewLabels(f.ds.Classes)}
	case f.ds.Task == data.Regression:
		return numberScorer{f, score.NewNumbers(f.ds.Outputs)}
	}
	return nil
}

type classScorer struct {
	*feed
	*score.Classes
}

func (s classScorer) addRow(row int, outputs []float32) { s.Add(int(s.ds.Test.Y[row]), outputs) }

func (s classScorer) tell(res *run.Result) {
	ds := s.ds
	res.TestScores = s.Scores()
	for i := range ds.Classes {
		res.TestClasses = append(res.TestClasses, s.Class(i))
	}
	if ds.Test.U8 == nil || len(ds.Shape) < 2 {
		return
	}
	sides := ds.Shape[len(ds.Shape)-2:]
	for _, m := range s.Mistakes() {
		res.Mistakes = append(res.Mistakes, run.Mistake{
			Class: ds.Classes[m.Class], Answer: ds.Classes[m.Answer], Sure: run.Number(m.Sure), Height: sides[0], Width: sides[1], Pixels: ds.Test.U8[m.Row*ds.Features:][:ds.Features],
		})
	}
}

type labelScorer struct {
	*feed
	*score.Labels
}

func (s labelScorer) addRow(row int, outputs []float32) {
	k := s.ds.Outputs
	s.Add(s.ds.Test.Y[row*k:][:k], outputs)
}

func (s labelScorer) tell(res *run.Result) { res.TestScores = s.Scores() }

type numberScorer struct {
	*feed
	*score.Numbers
}

func (s numberScorer) addRow(row int, outputs []float32) {
	k := s.ds.Outputs
	s.targetScale.Unscale(outputs)
	s.Add(s.ds.Test.Y[row*k:][:k], outputs)
}

func (s numberScorer) tell(res *run.Result) { res.TestScores, res.Answers = s.Scores(), s.Answers() }
