// Package purego implements the reference [compute.Backend]. Every kernel is its own plain
// loop, in float64, whose clarity matters and whose speed does not.
package purego

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"clipscope/core/compute"
)

// Backend runs the loops. Its zero value is ready.
type Backend struct {
	// What Run hands to a loop, here as it would be made anew for each: of the time of
	// short ones, that was a third.
	operands compute.Operands
}

// New returns a backend that holds no buffers yet.
func New() *Backend { return &Backend{} }

// Name is "purego".
func (b *Backend) Name() string { return "purego" }

type memory struct{ v []float32 }

type wide struct{ v []float64 }

func (b *Backend) New(n int) compute.Buffer {
	return compute.Buffer{Memory: &memory{make([]float32, n)}, N: n}
}

func (b *Backend) NewSums(n int) compute.Sums {
	return compute.Sums{Memory: &wide{make([]float64, n)}, N: n}
}

// Free drops the buffer's memory, so that a later use of it panics.
func (b *Backend) Free(x compute.Buffer) { x.Memory.(*memory).v = nil }

// NewAdjoining returns parts of one slice.
func (b *Backend) NewAdjoining(lengths ...int) (all compute.Sums, each []compute.Sums) {
	w := &wide{}
	all, each = compute.Adjoin(w, lengths)
	w.v = make([]float64, all.N)
	return all, each
}

// FreeSums is Free for sums.
func (b *Backend) FreeSums(s compute.Sums) { s.Memory.(*wide).v = nil }

// values returns the values of x.
func values(x compute.Buffer) []float32 {
	m, ok := x.Memory.(*memory)
	if !ok {
		panic(fmt.Sprintf("purego: a %T is not memory of this backend", x.Memory))
	}
	return m.v[x.Off : x.Off+x.N : x.Off+x.N]
}

func (b *Backend) Write(dst compute.Buffer, src []float32) { copy(values(dst.Slice(0, len(src))), src) }

func (b *Backend) WriteBytes(dst compute.Buffer, src []byte) {
	to := values(dst.Slice(0, (len(src)+3)/4))
	for i := range to {
		var word [4]byte
		copy(word[:], src[4*i:])
		to[i] = math.Float32frombits(binary.LittleEndian.Uint32(word[:]))
	}
}

func (b *Backend) Run(k *compute.Kernel, a compute.Args) {
	o := &b.operands
	*o = compute.Operands{N: a.N, F: a.F, Key: a.Key}
	for i, x := range a.Buf {
		if x.Memory != nil {
			o.Buf[i] = values(x)
		}
	}
	if a.Sums.Memory != nil {
		o.Sums = a.Sums.Memory.(*wide).v[a.Sums.Off:][:a.Sums.N]
	}
	k.Loop(o)
}

// pending is a copy of a buffer, made when it was fetched.
type pending []float32

func (b *Backend) Fetch(x compute.Buffer) compute.Pending {
	return pending(append([]float32(nil), values(x)...))
}

func (p pending) Done() bool { return true }

func (p pending) Wait(ctx context.Context, dst []float32) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("purego: read: %w", err)
	}
	copy(dst, p)
	return nil
}

func (b *Backend) Close() {}

var _ compute.Backend = (*Backend)(nil)
