package train

import (
	"math/rand/v2"

	"clipscope/core/compute/kernel"
	"clipscope/core/privacy"
)

// mixIn turns the mean gradient that a step has released, g̃, into (1−w)·g̃ + w·ḡ, where ḡ is the plain mean
// gradient of public rows by the same loss, without augmentation or dropout. Rows whose loss is not finite add
// nothing to it. Where no public rows are named it changes nothing.
//
// Guarantee: that of the release. ḡ is a function of public rows, of which rows the key draws, and of parameters
// that earlier steps released, so the mix is post-processing of what is released. What adapts to the
// release has read it before.
func (r *Run) mixIn() {
	p := r.work.terms.PublicRows
	if p == nil {
		return
	}
	w, be := r.work.terms.Config.PublicRows, r.work.be
	kernel.Scale(be, r.work.gradient.Len(), float32(1-w.Weight), r.work.gradient)
	part := r.clipping.part // of the step, whose sum is released
	part.clearSums(be)
	r.rows = drawPublic(r.rows[:0], min(w.BatchSize, p.Split.N), p.Split.N, rand.New(r.work.stream(privacy.Public, r.done)))
	most := r.work.model.Capacity
	for lo := 0; lo < len(r.rows); lo += most {
		rows := r.rows[lo:min(lo+most, len(r.rows))]
		n := len(rows)
		r.feed.load(&p.Split, rows)
		r.work.model.Forward(r.feed.x, n, 1)
		r.feed.judge(n)
		r.feed.adjust(n, 1)
		for _, f := range r.work.factors {
			kernel.Fill(be, n, float32(w.Weight/float64(len(r.rows))), f)
			kernel.Finite(be, n, r.work.report.losses, f)
		}
		r.work.model.Backward()
		r.work.model.Add(part.sums, r.work.factors, kernel.Plain())
	}
	part.settleIn(be, r.work.gradient)
}

// drawPublic appends m different numbers below n to dst, each set of them equally likely (Floyd's algorithm).
func drawPublic(dst []int, m, n int, rng *rand.Rand) []int {
	drawn := make(map[int]bool, m)
	for last := n - m; last < n; last++ {
		row := rng.IntN(last + 1)
		if drawn[row] {
			row = last
		}
		drawn[row] = true
		dst = append(dst, row)
	}
	return dst
}
