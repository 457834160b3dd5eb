// Package compute defines the contract between the training code and the machine.
//
// Memory is float32 in [Buffer]s, kernels are values (package kernel has them),
// and everything is queued: [Backend.Run], [Backend.Write] and [Backend.WriteBytes] take effect in call
// order, and only [Pending.Wait] waits. A backend may therefore put all of it off
// until then (package deferred does just that, and a GPU will).
//
// All matrices are row-major and dense. Sizes are passed with each call and may
// be smaller than the buffers they address, so that one buffer serves batches of
// every size up to its own; sizes of zero are legal and do nothing (except that a
// product with k = 0 still scales its destination by beta). Buffers passed to one
// call must not overlap unless the kernel's comment says so.
//
// NaN and ±Inf flow through every kernel as IEEE 754 arithmetic has them, except
// where a comment says otherwise. A backend may take denormal values for 0 in
// arithmetic, but not in norms and factors, nor where values are only moved. Sums may
// be taken in any order and, in float32, with or without fused multiply-add: package
// computetest states the tolerance.
//
// A caller that passes a buffer of another backend, a size larger than a buffer
// or a negative size has a bug; implementations panic then, and package train,
// which sizes all buffers, is written so that it cannot happen.
package compute

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"clipscope/core/chacha"
)

// Buffer is a run of float32 values in a backend's memory: a small value, of which
// a part costs nothing. The zero Buffer is no memory at all.
type Buffer struct {
	Memory any // the backend's
	Off, N int // the first value, and how many
}

// Len is the number of values.
func (b Buffer) Len() int { return b.N }

// Slice is the n values from the one at from on.
func (b Buffer) Slice(from, n int) Buffer {
	if from < 0 || n < 0 || from > b.N || n > b.N-from {
		panic(fmt.Sprintf("compute: values %d to %d of a buffer of %d", from, from+n, b.N))
	}
	return Buffer{b.Memory, b.Off + from, n}
}

// Matrix is the first m×n values.
func (b Buffer) Matrix(m, n int) Buffer {
	if m < 0 || n < 0 || n > 0 && m > math.MaxInt32/n {
		panic(fmt.Sprintf("compute: size %d×%d", m, n))
	}
	return b.Slice(0, m*n)
}

// Sums is a run of sums in more digits than float32 has: what examples add to is
// held here until noise has been added.
type Sums struct {
	Memory any // the backend's
	Off, N int // the first of them, and how many
}

// Len is the number of sums.
func (s Sums) Len() int { return s.N }

// Holding is s, which has to hold m×n sums.
func (s Sums) Holding(m, n int) Sums {
	if m < 0 || n < 0 || n > 0 && m > s.N/n {
		panic(fmt.Sprintf("compute: %d×%d of %d sums", m, n, s.N))
	}
	return s
}

// PieceRows bounds the rows of a batch that a backend may add up in float32. The
// kernels that add to [Sums] take rows in pieces, 0 to 63, 64 to 127 and so on, in
// any order within a piece. The sums of BlockPieces pieces that follow each other,
// from the first of a call on, may still be added in float32, in any order; those
// of such blocks, and of calls, are added in float64, or as exactly. Package
// train derives from this how far rounding can carry one example's part.
const (
	PieceRows   = 64
	BlockPieces = 4
	BlockRows   = PieceRows * BlockPieces
)

// MaxInput is the length beyond which a row of a layer's inputs is refused: its
// example counts as one whose gradient is not finite. Below it, what underflow
// takes from a product is nothing beside the least threshold.
const MaxInput = 0x1p60

// Kernel is a computation. Its Loop defines the result and is the reference.
type Kernel struct {
	Name  string
	Keyed bool // it reads the key
	Index int  // among [Kernels]
	Loop  func(*Operands)
}

var kernels []*Kernel

// Define makes a kernel known, while the program starts.
func Define(k Kernel) *Kernel {
	k.Index = len(kernels)
	kernels = append(kernels, &k)
	return &k
}

// Kernels are all that have been defined.
func Kernels() []*Kernel { return kernels }

// Args are the arguments of a kernel, each kernel's as its comment has them: a
// value, so that a call allocates nothing.
type Args struct {
	N    [5]int     // sizes and choices
	F    [6]float64 // scalars
	Buf  [5]Buffer  // cut to what the kernel touches
	Sums Sums
	Key  NoiseKey
}

// Operands are Args as a Loop sees them.
type Operands struct {
	N    [5]int
	F    [6]float64
	Buf  [5][]float32
	Sums []float64
	Key  NoiseKey
}

// Queue takes kernels in their order.
type Queue interface {
	Run(*Kernel, Args)
}

// Backend has memory and runs kernels on it. It is used by one goroutine at a
// time.
type Backend interface {
	Queue

	// Name is the value of a run's "backend": "purego", "simd", "webgpu" ….
	Name() string

	// New returns a buffer of n zeros.
	New(n int) Buffer

	// NewSums returns n sums, all zero.
	NewSums(n int) Sums

	// Free gives a whole buffer back, FreeSums sums. Using them afterwards is a bug.
	Free(Buffer)
	FreeSums(Sums)

	// Write copies src over the first values of dst; src may be reused as soon as
	// Write returns.
	Write(dst Buffer, src []float32)

	// WriteBytes is Write for bytes, four to a value, the first lowest. Of a last
	// value that they do not fill the rest is not said.
	WriteBytes(dst Buffer, src []byte)

	// Fetch is the buffer as it is when everything called before has run.
	Fetch(Buffer) Pending

	// Close frees everything the backend holds.
	Close()
}

// Adjoining is a Backend whose sums may stand side by side, so that one call is about many.
type Adjoining interface {
	// NewAdjoining returns sums of so many numbers each, all zero, and all of them as one. They are
	// freed as one.
	NewAdjoining(lengths ...int) (all Sums, each []Sums)
}

// Adjoin returns sums of so many numbers each that share memory, and all of them as one.
func Adjoin(memory any, lengths []int) (all Sums, each []Sums) {
	all.Memory = memory
	for _, n := range lengths {
		each = append(each, Sums{memory, all.N, n})
		all.N += n
	}
	return all, each
}

// Threaded is a Backend whose calls several threads may share.
type Threaded interface {
	// Threads is the greatest number of threads that have shared a call.
	Threads() int
}

// Timed is a Backend that learns from the times of steps, as to how it computes, and not what.
type Timed interface {
	// StepTook is called after each step of a run, with the time since the step began.
	StepTook(time.Duration)
}

// ErrLost is wrapped by a Pending's error where the backend's memory is lost.
var ErrLost = errors.New("the backend's memory is lost")

// Losable is a Backend whose memory may be lost at any time, as a GPU's is.
type Losable interface {
	// Lost is why, or nil.
	Lost() error
}

// Device is a Backend on a device of its own, to and from which values travel.
type Device interface {
	// Device is what it is called.
	Device() string
	// Moved returns the number of bytes that have been queued since it was opened, there and
	// back: a call counts when it is made, whenever it runs.
	Moved() int64
}

// Compiler is a Backend that compiles the programs of kernels when they are first called.
type Compiler interface {
	// Compiled returns the number of those that were compiled since it was opened, and the time
	// that it took.
	Compiled() (programs int, took time.Duration)
}

// Reserver is a Backend with memory of its own, apart from the program's.
type Reserver interface {
	// Reserve takes the first of these numbers of bytes that there are for the buffers that
	// follow, or else the last, halved until there are so many. It returns the number. Its
	// error wraps [ErrLost].
	Reserve(sizes ...int64) (int64, error)
}

// ThreadsOf returns the number of threads that have shared a call of b, and DeviceOf the name
// of its device: 1 and "" where b does not say.
func ThreadsOf(b Backend) int {
	if t, ok := b.(Threaded); ok {
		return t.Threads()
	}
	return 1
}

func DeviceOf(b Backend) string {
	if d, ok := b.(Device); ok {
		return d.Device()
	}
	return ""
}

// Pending is a read under way.
type Pending interface {
	// Done reports that Wait would not wait.
	Done() bool
	// Wait copies the first len(dst) values. It is called once; its error is the
	// context's, or the device's.
	Wait(ctx context.Context, dst []float32) error
}

// Read waits for the first len(dst) values of src.
func Read(ctx context.Context, b Backend, dst []float32, src Buffer) error {
	return b.Fetch(src.Slice(0, len(dst))).Wait(ctx, dst)
}

// NoiseKey names one noise sequence: a ChaCha key and a nonce that is used for
// nothing else.
type NoiseKey = chacha.Key
