package simd

import (
	"context"
	"fmt"
	"math"
	"syscall/js"
	"time"
	"unsafe"

	"clipscope/core/compute"
)

// Backend runs the kernels. Make one with [New], and give its memory back with
// Close.
type Backend struct {
	kind string
	ids  []int32 // by Kernel.Index
	key  uint32  // where a kernel finds its key

	loader       js.Value
	threads      int
	chooser      *chooser // nil: the number of threads is asked for, or one
	live         map[*memory]struct{}
	pendingNoise *memory // what threads may be writing
}

// memory is a buffer's, or sums', in the kernels' memory.
type memory struct {
	of   *Backend
	at   uint32
	sums bool
}

// Available returns the error that New would.
func Available() error {
	_, _, err := kernels()
	return err
}

// kernels returns the kernels that kernels.js has loaded.
func kernels() (loader js.Value, kind string, err error) {
	if worker := js.Global().Get("clipscopeWorker"); worker.Type() == js.TypeObject { // web/trainer-worker.js
		loader = worker.Get("kernels")
	}
	if loader.Type() != js.TypeObject {
		return loader, "", fmt.Errorf("simd: %w: the page did not load kernels.js", ErrNone)
	}
	kind = loader.Get("bound").String()
	if kind != "relaxed" && kind != "simd128" {
		return loader, "", fmt.Errorf("simd: %w: this browser has no WebAssembly SIMD, or they could not be loaded", ErrNone)
	}
	return loader, kind, nil
}

// New returns a backend that holds no buffers yet, or an error that wraps
// [ErrNone] where the host found no kernels that its engine runs.
func New() (*Backend, error) {
	loader, kind, err := kernels()
	if err != nil {
		return nil, err
	}
	b := &Backend{kind: kind, loader: loader, live: make(map[*memory]struct{}), threads: loader.Get("threads").Int()}
	if b.threads > 1 && loader.Get("fair").Bool() {
		b.chooser = newChooser(b.threads)
		loader.Call("use", b.threads)
	}
	for _, k := range compute.Kernels() {
		b.ids = append(b.ids, int32(loader.Call("id", k.Name).Int()))
	}
	b.key = kernelAlloc(uint32(unsafe.Sizeof(compute.NoiseKey{})))
	return b, nil
}

// Name is "simd".
func (b *Backend) Name() string { return "simd" }

// Kind is the build of the kernels: "simd128", or "relaxed", where multiply-add
// is fused.
func (b *Backend) Kind() string { return b.kind }

// Share has calls shared by n threads from now on, those of backends that are open
// too: what a kernel computes does not depend on n, to the bit. With fair, they are
// fewer while other runs of the page need cores. It waits until the threads have
// started, and lets other goroutines run meanwhile; it must not be called twice at a
// time. It returns how many there are, and why where they are fewer than n.
func Share(n int, fair bool) (threads int, why string) {
	loader, _, err := kernels()
	if err != nil {
		return 1, err.Error()
	}
	done := make(chan int, 1)
	told := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- args[0].Int()
		return nil
	})
	defer told.Release()
	loader.Call("team", n, fair).Call("then", told)
	if threads = <-done; threads < n {
		why = loader.Get("alone").String()
	}
	return threads, why
}

// Cores returns the number of threads that are worth starting, and, where several cannot be, the reason.
func Cores() (n int, why string) {
	loader, _, err := kernels()
	if err != nil {
		return 1, err.Error()
	}
	return loader.Call("cores").Int(), loader.Get("alone").String()
}

// Threads returns the number of threads that shared calls when b was opened.
func (b *Backend) Threads() int { return b.threads }

// StepTook has as many threads share the next step's calls as have been found to help, where
// their number was left to us: other programs may keep a core busy.
func (b *Backend) StepTook(d time.Duration) {
	if b.chooser == nil {
		return
	}
	before := b.chooser.threads()
	b.chooser.took(d)
	if n := b.chooser.threads(); n != before {
		b.loader.Call("use", n)
	}
}

func (b *Backend) New(n int) compute.Buffer {
	if n < 0 || n > math.MaxInt32/4 {
		panic(fmt.Sprintf("simd: buffer of size %d", n))
	}
	return compute.Buffer{Memory: b.trackMemory(kernelAlloc(uint32(4*n)), false), N: n}
}

func (b *Backend) NewSums(n int) compute.Sums {
	if n < 0 || n > math.MaxInt32/8 {
		panic(fmt.Sprintf("simd: %d sums", n))
	}
	return compute.Sums{Memory: b.trackMemory(kernelNewSums(int32(n)), true), N: n}
}

func (b *Backend) trackMemory(at uint32, sums bool) *memory {
	m := &memory{b, at, sums}
	b.live[m] = struct{}{}
	return m
}

// Free gives the memory back; a later use of it panics.
func (b *Backend) Free(x compute.Buffer)   { b.drop(b.own(x.Memory)) }
func (b *Backend) FreeSums(s compute.Sums) { b.drop(b.own(s.Memory)) }

func (b *Backend) drop(m *memory) {
	if m.sums {
		kernelFreeSums(m.at)
	} else {
		kernelFree(m.at)
	}
	delete(b.live, m)
	m.of = nil
}

// Close gives back everything that was not freed.
func (b *Backend) Close() {
	for m := range b.live {
		b.drop(m)
	}
	if b.key != 0 {
		kernelFree(b.key)
		b.key = 0
	}
}

func (b *Backend) own(x any) *memory {
	m, ok := x.(*memory)
	if !ok || m.of != b {
		panic(fmt.Sprintf("simd: a %T is not memory of this backend, or was freed", x))
	}
	return m
}

// at returns the address of x, or 0 of a buffer that a kernel has not.
func (b *Backend) at(x *compute.Buffer) uint32 {
	if x.Memory == nil {
		return 0
	}
	return b.own(x.Memory).at + uint32(4*x.Off)
}

func (b *Backend) Write(dst compute.Buffer, src []float32) {
	dst = dst.Slice(0, len(src))
	b.want(&dst)
	kernelWrite(b.at(&dst), unsafe.Pointer(unsafe.SliceData(src)), uint32(4*len(src)))
}

func (b *Backend) WriteBytes(dst compute.Buffer, src []byte) {
	dst = dst.Slice(0, (len(src)+3)/4)
	b.want(&dst)
	kernelWrite(b.at(&dst), unsafe.Pointer(unsafe.SliceData(src)), uint32(len(src)))
}

// want waits for x if threads may be writing there.
func (b *Backend) want(x *compute.Buffer) {
	if b.pendingNoise != nil && x.Memory == b.pendingNoise {
		b.takeBack()
	}
}

func (b *Backend) takeBack() {
	kernelTakeBack()
	b.pendingNoise = nil
}

func (b *Backend) Run(k *compute.Kernel, a compute.Args) {
	id := b.ids[k.Index]
	if id < 0 {
		panic("simd: there is no kernel " + k.Name)
	}
	for _, n := range a.N {
		if n > math.MaxInt32 {
			panic(fmt.Sprintf("simd: %s of size %d", k.Name, n))
		}
	}
	sums := uint32(0)
	if a.Sums.Memory != nil {
		sums = b.own(a.Sums.Memory).at
	}
	for i := range a.Buf {
		b.want(&a.Buf[i])
	}
	lends := k.Keyed && sums == 0 // noise, which nobody will wait for yet
	if lends && b.pendingNoise != nil {
		b.takeBack() // also where the new call is not cut: one buffer is remembered
	}
	if k.Keyed {
		kernelWrite(b.key, unsafe.Pointer(&a.Key), uint32(unsafe.Sizeof(a.Key)))
	}
	kernelRun(id, int32(a.N[0]), int32(a.N[1]), int32(a.N[2]), int32(a.N[3]), int32(a.N[4]),
		a.F[0], a.F[1], a.F[2], a.F[3], a.F[4], a.F[5],
		b.at(&a.Buf[0]), b.at(&a.Buf[1]), b.at(&a.Buf[2]), b.at(&a.Buf[3]), b.at(&a.Buf[4]), sums, b.key)
	if lends {
		b.pendingNoise, _ = a.Buf[0].Memory.(*memory)
	}
}

// pending is a copy of a buffer, made when it was fetched.
type pending []float32

// Fetch copies at once: every kernel before has run.
func (b *Backend) Fetch(x compute.Buffer) compute.Pending {
	b.want(&x)
	p := make(pending, x.N)
	kernelRead(b.at(&x), unsafe.Pointer(unsafe.SliceData(p)), uint32(4*x.N))
	return p
}

func (p pending) Done() bool { return true }

func (p pending) Wait(ctx context.Context, dst []float32) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("simd: read: %w", err)
	}
	copy(dst, p)
	return nil
}

var _ interface {
	compute.Backend
	compute.Threaded
	compute.Timed
} = (*Backend)(nil)
