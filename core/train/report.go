package train

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/clip"
	"clipscope/core/compute"
)

// report holds the losses, hits, norms and factors of each example of a physical
// batch: columns of one buffer, so that one read fetches all.
type report struct {
	all          compute.Buffer
	losses, hits compute.Buffer
	keep         compute.Buffer   // 1, or 0 for an example that is refused
	norms        []compute.Buffer // one, or one for each group
	factors      []compute.Buffer
	capacity     int
	host         []float32 // a report on this side
	groups       []float64 // an example's norms there
}

func newReport(be compute.Backend, capacity, groups int) *report {
	p := &report{all: be.New(capacity * (3 + 2*groups)), capacity: capacity}
	column := 0
	next := func() compute.Buffer {
		column++
		return p.all.Slice((column-1)*capacity, capacity)
	}
	p.losses, p.hits, p.keep = next(), next(), next()
	for range groups {
		p.norms, p.factors = append(p.norms, next()), append(p.factors, next())
	}
	p.host, p.groups = make([]float32, p.all.Len()), make([]float64, groups)
	return p
}

// reading is a report on its way to this side.
type reading struct {
	of      *report
	pending compute.Pending
	n       int
	weighed bool            // there are norms and factors
	outputs compute.Pending // of the model; nil where they are not wanted
}

// fetch queues the reading of a report on n examples.
func (p *report) fetch(be compute.Backend, n int, weighed bool) reading {
	return reading{of: p, pending: be.Fetch(p.all), n: n, weighed: weighed}
}

// view is a report on this side.
type view struct {
	reading
	v []float32
}

// wait brings a report to this side, in memory that the next one takes again.
func (p reading) wait(ctx context.Context) (view, error) {
	if err := p.pending.Wait(ctx, p.of.host); err != nil {
		return view{}, fmt.Errorf("train: reading a report: %w", err)
	}
	return view{p, p.of.host}, nil
}

func (v view) column(i int) []float32 { return v.v[i*v.of.capacity:][:v.n] }

func (v view) losses() []float32   { return v.column(0) }
func (v view) hits() []float32     { return v.column(1) }
func (v view) keepMask() []float32 { return v.column(2) }

// norms are example i's, those of its groups in memory that the next call takes again.
func (v view) norms(i int) clip.Norms {
	r := clip.Norms{Groups: v.of.groups}
	sq := 0.0
	for g := range v.of.norms {
		n, f := float64(v.column(3 + 2*g)[i]), float64(v.column(4 + 2*g)[i])
		r.Groups[g] = n
		r.Whole = math.Hypot(r.Whole, n)
		sq += n * n * f * f
	}
	r.Clipped = math.Sqrt(sq)
	return r
}
