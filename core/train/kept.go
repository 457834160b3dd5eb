package train

import (
	"context"
	"fmt"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/sequence"
	"clipscope/core/data"
)

// keptRows holds what frozen layers have made of rows, so that in steps and tests each goes through them once: of training
// rows once they are drawn, and of test rows.
//
// Guarantee: what they make of a row depends on the row alone, to the bit ([nn.Layer]), so that a step is the same whether
// it is kept or made anew. How long a step takes tells how many of its rows are new; times are not covered.
type keptRows struct {
	keeper
	places map[*data.Split][]int // of rows in the keeper, by number; -1: not made yet
	h      compute.Buffer        // of a physical batch [capacity×width]
	fresh  []int
	at     []int
}

// keeper keeps rows [width], in the order in which they come.
type keeper interface {
	// add takes n rows more, from [n×width], and returns the place of the first, which the others follow.
	add(ctx context.Context, from compute.Buffer, n int) (first int, err error)
	// pick copies the rows at these places to h [n×width].
	pick(places []int, h compute.Buffer)
}

// newKeptRows keeps rows where the plan has room for all of them, and, where the backend has memory of its own, that has; else it
// returns nil.
func newKeptRows(w *workspace, splits ...*data.Split) *keptRows {
	if !w.kept {
		return nil
	}
	width, all := w.terms.Spec.Before(), 0
	k := &keptRows{places: map[*data.Split][]int{}, h: w.be.New(w.capacity * width)}
	for _, s := range splits {
		k.places[s] = slices.Repeat([]int{-1}, s.N)
		all += s.N
	}
	if _, own := w.be.Backend.(compute.Reserver); own {
		k.keeper = &keptThere{be: w.be, width: width, rows: w.be.New(all * width), places: w.be.New(w.capacity), most: all, host: make([]float32, w.capacity)}
	} else {
		k.keeper = &keptHere{be: w.be, width: width, host: make([]float32, w.capacity*width)}
	}
	return k
}

// keptHere keeps rows in this program's memory, which it takes as they come.
type keptHere struct {
	be    *compute.Scope
	width int
	rows  [][]float32
	host  []float32 // a physical batch
}

func (k *keptHere) add(ctx context.Context, from compute.Buffer, n int) (first int, err error) {
	all := make([]float32, n*k.width)
	if err := compute.Read(ctx, k.be, all, from); err != nil {
		return 0, err
	}
	first = len(k.rows)
	for ; len(all) > 0; all = all[k.width:] {
		k.rows = append(k.rows, all[:k.width:k.width])
	}
	return first, nil
}

func (k *keptHere) pick(places []int, h compute.Buffer) {
	for i, at := range places {
		copy(k.host[i*k.width:], k.rows[at])
	}
	k.be.Write(h, k.host[:len(places)*k.width])
}

// keptThere keeps rows in the memory of a backend that has its own, so that none of them travels.
type keptThere struct {
	be           *compute.Scope
	width        int
	rows, places compute.Buffer // [most×width], and of a physical batch
	made, most   int
	host         []float32
}

func (k *keptThere) add(_ context.Context, from compute.Buffer, n int) (first int, err error) {
	first = k.made
	kernel.Copy(k.be, n*k.width, k.rows.Slice(first*k.width, n*k.width), from.Slice(0, n*k.width))
	k.made += n
	return first, nil
}

func (k *keptThere) pick(places []int, h compute.Buffer) {
	for i, at := range places {
		k.host[i] = float32(at)
	}
	k.be.Write(k.places, k.host[:len(places)])
	sequence.Embed(k.be, len(places), k.most, k.width, k.places, k.rows, h)
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
	k.at = k.at[:0]
	for _, row := range rows {
		k.at = append(k.at, k.places[of][row])
	}
	k.pick(k.at, k.h)
	f.model.After(f.x, k.h, keys, len(rows))
	return nil
}

// makeFresh takes those rows through the frozen layers that have not been.
func (f *feed) makeFresh(ctx context.Context, of *data.Split, rows []int) error {
	k, places := f.kept, f.kept.places[of]
	k.fresh = k.fresh[:0]
	for _, row := range rows {
		if places[row] < 0 {
			k.fresh = append(k.fresh, row)
		}
	}
	n := len(k.fresh)
	if n == 0 {
		return nil
	}
	f.load(of, k.fresh)
	first, err := k.add(ctx, f.model.Before(f.x, n), n)
	if err != nil {
		return fmt.Errorf("train: frozen layers: %w", err)
	}
	for i, row := range k.fresh {
		places[row] = first + i
	}
	return nil
}
