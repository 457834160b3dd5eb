package train

import (
	"context"
	"fmt"

	"clipscope/core/compute"
	"clipscope/core/data"
)

// keptRows holds what frozen layers have made of rows, so that in steps and tests each goes through them once: of training
// rows once they are drawn, and of test rows.
//
// Guarantee: what they make of a row depends on the row alone, to the bit ([nn.Layer]), so that a step is the same whether
// it is kept or made anew. How long a step takes tells how many of its rows are new; times are not covered.
type keptRows struct {
	width int
	rows  map[*data.Split][][]float32 // by number; nil: not made yet
	h     compute.Buffer              // of a physical batch [capacity×width]
	host  []float32
	fresh []int
}

// newKeptRows keeps rows where the plan has room for all of them, and the backend has no memory of its own, from which
// they would have to be fetched; else it returns nil.
func newKeptRows(w *workspace, splits ...*data.Split) *keptRows {
	if _, own := w.be.Backend.(compute.Reserver); own || w.terms.Kept() == 0 {
		return nil
	}
	width := w.terms.Spec.Before()
	k := &keptRows{width: width, rows: map[*data.Split][][]float32{}, h: w.be.New(w.capacity * width), host: make([]float32, w.capacity*width)}
	for _, s := range splits {
		k.rows[s] = make([][]float32, s.N)
	}
	return k
}

// pass brings training rows onto the backend as they are trained on, takes them through the model, and returns how many
// views of each there are.
func (f *feed) pass(ctx context.Context, step int, rows []int) (views int, err error) {
	if f.kept == nil {
		views = f.loadViews(rows)
		f.model.ForwardDropping(f.x, f.dropKeys(step, rows, views), len(rows), views)
		return views, nil
	}
	return 1, f.passKept(ctx, &f.ds.Train, rows, f.dropKeys(step, rows, 1))
}

// passTest is pass of test rows, as they are.
func (f *feed) passTest(ctx context.Context, rows []int) error {
	if f.kept == nil {
		f.load(&f.ds.Test, rows)
		f.model.Forward(f.x, len(rows), 1)
		return nil
	}
	return f.passKept(ctx, &f.ds.Test, rows, compute.Buffer{})
}

func (f *feed) passKept(ctx context.Context, of *data.Split, rows []int, keys compute.Buffer) error {
	k := f.kept
	if err := f.makeFresh(ctx, of, rows); err != nil {
		return err
	}
	f.load(of, rows)
	for i, row := range rows {
		copy(k.host[i*k.width:], k.rows[of][row])
	}
	f.be.Write(k.h, k.host[:len(rows)*k.width])
	f.model.After(f.x, k.h, keys, len(rows))
	return nil
}

// makeFresh takes those rows through the frozen layers that have not been.
func (f *feed) makeFresh(ctx context.Context, of *data.Split, rows []int) error {
	k, made := f.kept, f.kept.rows[of]
	k.fresh = k.fresh[:0]
	for _, row := range rows {
		if made[row] == nil {
			k.fresh = append(k.fresh, row)
		}
	}
	n := len(k.fresh)
	if n == 0 {
		return nil
	}
	f.load(of, k.fresh)
	if err := compute.Read(ctx, f.be, k.host[:n*k.width], f.model.Before(f.x, n)); err != nil {
		return fmt.Errorf("train: frozen layers: %w", err)
	}
	all := make([]float32, n*k.width)
	copy(all, k.host)
	for i, row := range k.fresh {
		made[row] = all[i*k.width : (i+1)*k.width : (i+1)*k.width]
	}
	return nil
}
