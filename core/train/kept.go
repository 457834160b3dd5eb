package train

import (
	"context"
	"fmt"

	"clipscope/core/compute"
)

// keptRows holds what frozen layers have made of the training rows that were drawn, so that each goes through them once.
//
// Guarantee: what they make of a row depends on the row alone, to the bit ([nn.Layer]), so that a step is the same whether
// it is kept or made anew. How long a step takes tells how many of its rows are new; times are not covered.
type keptRows struct {
	width int
	rows  [][]float32    // by number; nil: not drawn yet
	h     compute.Buffer // of a physical batch [capacity×width]
	host  []float32
	fresh []int
}

// newKeptRows keeps rows where the plan has room for all of them, and the backend has no memory of its own, from which
// they would have to be fetched; else it returns nil.
func newKeptRows(w *workspace, rows int) *keptRows {
	if _, own := w.be.Backend.(compute.Reserver); own || w.terms.Kept() == 0 {
		return nil
	}
	width := w.terms.Spec.Before()
	return &keptRows{width: width, rows: make([][]float32, rows), h: w.be.New(w.capacity * width), host: make([]float32, w.capacity*width)}
}

// pass brings training rows onto the backend as they are trained on, takes them through the model, and returns how many
// views of each there are.
func (f *feed) pass(ctx context.Context, step int, rows []int) (views int, err error) {
	k := f.kept
	if k == nil {
		views = f.loadViews(rows)
		f.model.ForwardDropping(f.x, f.dropKeys(step, rows, views), len(rows), views)
		return views, nil
	}
	if err := f.makeFresh(ctx, rows); err != nil {
		return 0, err
	}
	views = f.loadViews(rows)
	for i, row := range rows {
		copy(k.host[i*k.width:], k.rows[row])
	}
	f.be.Write(k.h, k.host[:len(rows)*k.width])
	f.model.After(f.x, k.h, f.dropKeys(step, rows, views), len(rows))
	return views, nil
}

// makeFresh takes those rows through the frozen layers that were not drawn before.
func (f *feed) makeFresh(ctx context.Context, rows []int) error {
	k := f.kept
	k.fresh = k.fresh[:0]
	for _, row := range rows {
		if k.rows[row] == nil {
			k.fresh = append(k.fresh, row)
		}
	}
	n := len(k.fresh)
	if n == 0 {
		return nil
	}
	f.load(&f.ds.Train, k.fresh)
	if err := compute.Read(ctx, f.be, k.host[:n*k.width], f.model.Before(f.x, n)); err != nil {
		return fmt.Errorf("train: frozen layers: %w", err)
	}
	all := make([]float32, n*k.width)
	copy(all, k.host)
	for i, row := range k.fresh {
		k.rows[row] = all[i*k.width : (i+1)*k.width : (i+1)*k.width]
	}
	return nil
}
