package webgpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"syscall/js"
	"time"
	"unsafe"

	"clipscope/core/compute"
	"clipscope/core/compute/shader"
)

const (
	firstHeap  = 1 << 20  // words: four megabytes
	mostGrowth = 1 << 24  // words that the heap grows by at once, unless more are asked for
	mostSlots  = 8 * soon // of arguments in one submission
	mostStages = 8        // of a kernel's call
	mostGoing  = 8        // submissions that are waited for, before one more
	mostStaged = 1 << 24  // words that one submission brings back, unless one fetch is of more
)

// Backend is a GPU. Make one with [Open], and give the GPU back with Close.
type Backend struct {
	gpu       js.Value
	submit    js.Value // bound, as are the others that are called while training
	write     js.Value
	take      js.Value
	onFetched js.Func
	calls     calls
	compiled  []bool // by the number of an entry point: it is, or missing has it
	missing   []any  // entry points in stream that are not compiled
	adapter   Adapter

	heap   heap
	most   int // words that the heap may have
	live   map[*memory]struct{}
	stream stream
	used   []span // of the heap, by what is in stream
	freed  []int  // places that are given back when stream is on its way
	fill   *compute.Kernel
	space  compute.Buffer // for what a kernel keeps while it runs

	batch   *batch         // of what has been fetched since the last submission
	batches map[int]*batch // that are on their way, by their number
	going   []*batch       // the same in their order, and some that are there
	upload  []float32      // a copy of what is written, at a place that does not move
	lost    error

	stats Stats
}

// Stats counts what has been asked of the GPU since it was opened.
type Stats struct {
	Commands, Submits, Waits int
	Uploaded, Fetched        int // bytes, kernels' arguments among them
	Programs                 int // that were compiled
	Compiling                time.Duration
	Live, LiveWords          int // parts of the heap that are in use
}

// memory is a part of the heap.
type memory struct {
	of    *Backend
	at    int
	sums  int  // that it holds; 0 for a buffer
	fresh bool // it is to be zero, and nothing has cleared it yet
}

// batch is the values that one submission brings back.
type batch struct {
	words int
	done  chan struct{}
	err   error
	data  []float32
}

// nothing is the batch of a fetch of no values.
var nothing = func() *batch {
	t := &batch{done: make(chan struct{})}
	close(t.done)
	return t
}()

// device returns the script that drives the GPU, undefined where the host has none.
func device() js.Value {
	worker := js.Global().Get("clipscopeWorker") // web/trainer-worker.js
	if worker.Type() != js.TypeObject {
		return js.Undefined()
	}
	return worker.Get("gpu")
}

// Available returns the error that Open would where there is no WebGPU at all.
func Available() error {
	gpu := device()
	if gpu.Type() != js.TypeObject {
		return fmt.Errorf("webgpu: %w: the page did not load gpu.js", ErrNone)
	}
	if !gpu.Get("there").Bool() {
		return fmt.Errorf("webgpu: %w in this browser", ErrNone)
	}
	return nil
}

// Find says which adapter the browser would give, and opens nothing.
func Find(ctx context.Context) (Adapter, error) {
	if err := Available(); err != nil {
		return Adapter{}, err
	}
	found, err := await(ctx, device().Call("find"))
	if err != nil {
		return Adapter{}, fmt.Errorf("webgpu: %w: %w", ErrNone, err)
	}
	return adapterOf(found), nil
}

func adapterOf(v js.Value) Adapter {
	return Adapter{v.Get("adapter").String(), v.Get("fallback").Bool()}
}

// Open asks for a GPU. Its error wraps [ErrNone] where there
// is none, or none whose arithmetic is what the proofs of package train are about.
func Open(ctx context.Context) (*Backend, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	b := &Backend{live: map[*memory]struct{}{}, batches: map[int]*batch{}}
	all, err := programs()
	if err != nil {
		return nil, err
	}
	b.calls.programs = all
	sources := js.Global().Get("Array").New()
	b.compiled = make([]bool, all[len(all)-1].first+len(all[len(all)-1].entries))
	for i, k := range compute.Kernels() {
		if k.Name == "fill" {
			b.fill = k
		}
		code := js.ValueOf(prelude + all[i].text)
		for _, entry := range all[i].entries {
			sources.Call("push", map[string]any{"name": k.Name, "code": code, "entry": entry})
		}
	}
	opened, err := await(ctx, device().Call("open", sources, slot*4, mostSlots))
	if err != nil {
		return nil, fmt.Errorf("webgpu: %w: %w", ErrNone, err)
	}
	b.gpu = opened
	b.adapter = adapterOf(opened)
	b.most = opened.Get("most").Int() / 4
	for name, to := range map[string]*js.Value{"submit": &b.submit, "write": &b.write, "take": &b.take} {
		*to = opened.Get(name).Call("bind", opened)
	}
	b.onFetched = js.FuncOf(func(_ js.Value, args []js.Value) any {
		b.hear(args[0].Int(), args[1].String())
		return nil
	})
	opened.Set("told", b.onFetched)
	if why := opened.Get("gone").String(); why != "" {
		b.hear(-1, why)
	}
	if err = b.grow(firstHeap); err == nil {
		err = b.probe(ctx)
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("webgpu: %w: %s: %w", ErrNone, b.adapter.Name, err)
	}
	return b, nil
}

// await waits for a promise, and lets other goroutines run meanwhile.
func await(ctx context.Context, promise js.Value) (js.Value, error) {
	type outcome struct {
		v   js.Value
		err error
	}
	settled := make(chan outcome, 1)
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any {
		settled <- outcome{v: args[0]}
		return nil
	})
	broken := js.FuncOf(func(_ js.Value, args []js.Value) any {
		settled <- outcome{err: errors.New(args[0].Get("message").String())}
		return nil
	})
	promise.Call("then", kept, broken)
	select {
	case o := <-settled:
		kept.Release()
		broken.Release()
		return o.v, o.err
	case <-ctx.Done():
		go func() { // what comes all the same is given back
			if o := <-settled; o.err == nil && o.v.Get("close").Type() == js.TypeFunction {
				o.v.Call("close")
			}
		}()
		return js.Undefined(), ctx.Err()
	}
}

// Name is "webgpu".
func (b *Backend) Name() string { return "webgpu" }

// Adapter is the GPU that was given.
func (b *Backend) Adapter() Adapter { return b.adapter }

// Device is the adapter's name.
func (b *Backend) Device() string { return b.adapter.Name }

// Moved returns the number of bytes that were uploaded and fetched.
func (b *Backend) Moved() int64 { return int64(b.stats.Uploaded + b.stats.Fetched) }

// Lost returns the reason why the GPU is gone, or nil.
func (b *Backend) Lost() error { return b.lost }

// Stats returns the counts until now.
func (b *Backend) Stats() Stats {
	b.stats.Live, b.stats.LiveWords = len(b.live), 0
	for m := range b.live {
		b.stats.LiveWords += b.heap.used[m.at]
	}
	if m, ok := b.space.Memory.(*memory); ok { // nobody has to free it
		b.stats.Live--
		b.stats.LiveWords -= b.heap.used[m.at]
	}
	return b.stats
}

func (b *Backend) New(n int) compute.Buffer {
	if n < 0 || n > math.MaxInt32 {
		panic(fmt.Sprintf("webgpu: buffer of size %d", n))
	}
	return compute.Buffer{Memory: b.zeros(n), N: n}
}

func (b *Backend) NewSums(n int) compute.Sums {
	all, _ := b.NewAdjoining(n)
	return all
}

// NewAdjoining has the low words of all sums stand before the high ones.
func (b *Backend) NewAdjoining(lengths ...int) (all compute.Sums, each []compute.Sums) {
	n := 0
	for _, length := range lengths {
		n += length
	}
	if n < 0 || n > math.MaxInt32/2 {
		panic(fmt.Sprintf("webgpu: %d sums", n))
	}
	m := b.zeros(2 * n)
	m.sums = n
	return compute.Adjoin(m, lengths)
}

// zeros returns words of the heap that are zero, once they are used: most are written to
// first, and what clears them would have to be on its way before that. Where the GPU has
// no more, it is lost: what waits says so, and a run goes on without it.
func (b *Backend) zeros(n int) *memory {
	at, ok := b.room(n)
	if !ok {
		b.fail(fmt.Errorf("webgpu: %w: the GPU has no room for %d bytes beside %d", compute.ErrLost, 4*n, 4*b.heap.size))
		b.heap.grow(b.heap.size + units(n)) // in name alone: nothing runs any more
		at, _ = b.heap.take(n)
	}
	m := &memory{of: b, at: at, fresh: true}
	b.live[m] = struct{}{}
	return m
}

// room finds words in the heap, which it has grow if need be.
func (b *Backend) room(n int) (at int, ok bool) {
	if at, ok = b.heap.take(n); !ok && len(b.freed) > 0 {
		b.flush()
		at, ok = b.heap.take(n)
	}
	if !ok && b.lost == nil && b.grow(min(b.heap.size+max(units(n), min(b.heap.size, mostGrowth)), b.most)) == nil {
		at, ok = b.heap.take(n)
	}
	return at, ok
}

// settle clears what is to be zero.
func (b *Backend) settle(memory any) {
	if m := b.own(memory); m.fresh {
		m.fresh = false
		b.zero(m, 0, b.heap.used[m.at])
	}
}

// grow has a larger heap take the place of the heap, with all that is in it.
func (b *Backend) grow(size int) error {
	b.flush()
	if size <= b.heap.size {
		return nil
	}
	grown, err := await(context.Background(), b.gpu.Call("grow", 4*size)) // ends when the GPU is lost, too
	if err == nil && !grown.Bool() {
		err = errRefused
	}
	if err != nil {
		return fmt.Errorf("webgpu: %d bytes: %w", 4*size, err)
	}
	b.heap.grow(size)
	return nil
}

// errRefused is the error of a GPU that has less memory than it was asked for.
var errRefused = errors.New("the GPU refused so much memory")

// Reserve has the heap grow once, to hold so many bytes beside what it holds.
func (b *Backend) Reserve(sizes ...int64) (int64, error) {
	if b.space.Memory != nil { // it may stand between free places
		b.Free(b.space)
		b.space = compute.Buffer{}
	}
	b.flush()
	used := b.heap.inUse()
	most := within(4 * int64(b.most-used))
	fits := func(n int64) bool { return b.grow(min(used+units(int((n+beside(n)+3)/4)), b.most)) == nil }
	last := len(sizes) - 1
	for _, n := range sizes[:last] {
		if n <= most && fits(n) {
			return n, nil
		}
	}
	for n := min(sizes[last], most); n > 0 && b.lost == nil; n /= 2 {
		if fits(n) {
			return n, nil
		}
	}
	return 0, b.lost
}

// Free gives the memory back; a later use of it panics.
func (b *Backend) Free(x compute.Buffer)   { b.drop(b.own(x.Memory)) }
func (b *Backend) FreeSums(s compute.Sums) { b.drop(b.own(s.Memory)) }

// drop gives memory back when those who use it still are on their way: so who takes it, and
// writes to it, is behind them and has not to wait.
func (b *Backend) drop(m *memory) {
	if b.gpu.IsUndefined() { // closed
		return
	}
	b.freed = append(b.freed, m.at)
	b.calls.open = false
	if b.stream.empty() {
		b.releaseFreed()
	}
	delete(b.live, m)
	m.of = nil
}

// releaseFreed gives freed memory back to the heap, once no queued call uses it.
func (b *Backend) releaseFreed() {
	b.stream.clear()
	b.calls.open = false
	b.used = b.used[:0]
	for _, at := range b.freed {
		b.heap.give(at)
	}
	b.freed = b.freed[:0]
}

// Close gives the GPU back.
func (b *Backend) Close() {
	if b.gpu.IsUndefined() {
		return
	}
	b.fail(fmt.Errorf("webgpu: closed"))
	b.gpu.Call("close")
	b.gpu = js.Undefined()
	b.onFetched.Release()
	clear(b.live)
	b.heap, b.freed, b.space = heap{}, nil, compute.Buffer{}
}

func (b *Backend) own(x any) *memory {
	m, ok := x.(*memory)
	if !ok || m.of != b {
		panic(fmt.Sprintf("webgpu: a %T is not memory of this backend, or was freed", x))
	}
	return m
}

func (b *Backend) at(x any) uint32 { return uint32(b.own(x).at) }

func (b *Backend) Run(k *compute.Kernel, a compute.Args) {
	for _, x := range a.Buf {
		if x.Memory != nil {
			b.settle(x.Memory)
		}
	}
	if a.Sums.Memory != nil {
		b.settle(a.Sums.Memory)
	}
	p, c, joined := b.calls.next(k, a)
	if joined {
		b.stream.undo()
		b.stats.Commands--
		b.stats.Uploaded -= 4 * slot
	}
	if c.Space > 0 {
		c.Buf[4] = b.atLeast(c.Space)
	}
	for _, s := range c.Stages {
		if slices.Max(s.Groups[:]) > shader.MostGroups {
			b.fail(fmt.Errorf("webgpu: kernel %s: %s over %v workgroups, and there may be %d", k.Name, s.Entry, s.Groups, shader.MostGroups))
			return
		}
		b.command(p.id(s.Entry), s.Groups, c)
	}
	most := soon
	if len(b.missing) > 0 { // what is called next is compiled with them, side by side
		most = mostSlots - mostStages
	}
	if b.stream.slots() >= most {
		b.flush()
	}
}

// id returns the number of an entry point among those of all kernels.
func (p *program) id(entry string) int {
	for i, name := range p.entries {
		if name == entry {
			return p.first + i
		}
	}
	panic("webgpu: no entry point " + entry) // TestEveryKernelHasItsShader calls all
}

func (b *Backend) command(id int, groups [3]int, c *shader.Call) {
	if !b.compiled[id] {
		b.compiled[id], b.missing = true, append(b.missing, id)
	}
	many := 0
	if c.Sums.Memory != nil {
		many = b.own(c.Sums.Memory).sums
	}
	b.stream.run(id, groups, c, many, b.at)
	b.stats.Commands++
	b.stats.Uploaded += 4 * slot
	for _, x := range c.Buf { // and not the sums, as nobody writes to those
		if x.Memory != nil {
			b.use(x.Memory)
		}
	}
}

// use notes that something in stream uses memory.
func (b *Backend) use(memory any) {
	at := b.own(memory).at
	b.used = append(b.used, span{at, b.heap.used[at]})
}

// waits reports whether something in stream uses any of so many words.
func (b *Backend) waits(at, n int) bool {
	return slices.ContainsFunc(b.used, func(s span) bool { return at < s.at+s.n && s.at < at+n })
}

// zero clears words of a part of the heap.
func (b *Backend) zero(memory any, off, n int) {
	x := compute.Buffer{Memory: memory, Off: off, N: n}
	b.Run(b.fill, compute.Args{N: [5]int{n}, Buf: [5]compute.Buffer{x}})
}

// atLeast is space of so many words.
func (b *Backend) atLeast(n int) compute.Buffer {
	if b.space.N < n {
		if b.space.Memory != nil {
			b.Free(b.space)
		}
		b.space = b.New(n)
	}
	return b.space
}

// Write has what uses the same memory go first: WebGPU has it overtake what is not on its
// way yet.
func (b *Backend) Write(dst compute.Buffer, src []float32) {
	b.upload = append(b.upload[:0], src...)
	b.send(dst)
}

func (b *Backend) WriteBytes(dst compute.Buffer, src []byte) {
	n := (len(src) + 3) / 4
	b.upload = slices.Grow(b.upload[:0], n)[:n]
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b.upload))), 4*n), src)
	b.send(dst)
}

// send writes what is in upload.
func (b *Backend) send(dst compute.Buffer) {
	n := len(b.upload)
	dst = dst.Slice(0, n)
	m := b.own(dst.Memory)
	at := m.at + dst.Off
	if n == 0 || b.lost != nil {
		return
	}
	if all := b.heap.used[m.at]; m.fresh && dst.Off == 0 && units(n) == all {
		m.fresh = false
		b.upload = append(b.upload, make([]float32, all-n)...)
		n = all
	}
	b.settle(m)
	if b.waits(at, n) {
		b.flush()
	}
	b.write.Invoke(4*at, int(uintptr(unsafe.Pointer(unsafe.SliceData(b.upload)))), 4*n)
	b.stats.Uploaded += 4 * n
}

// pending is a part of what comes back from a submission.
type pending struct {
	of    *Backend
	batch *batch
	at, n int
}

func (b *Backend) Fetch(x compute.Buffer) compute.Pending {
	if x.N == 0 {
		return &pending{b, nothing, 0, 0}
	}
	b.settle(x.Memory)
	if b.stream.staged > 0 && b.stream.staged+x.N > mostStaged {
		b.flush()
	}
	if b.batch == nil {
		b.batch = &batch{done: make(chan struct{})}
	}
	b.use(x.Memory)
	b.calls.open = false
	p := &pending{b, b.batch, b.stream.fetch(b.at(x.Memory)+uint32(x.Off), x.N), x.N}
	b.batch.words = b.stream.staged
	b.stats.Fetched += 4 * x.N
	return p
}

// compile compiles what stream calls for the first time, side by side.
func (b *Backend) compile() {
	if len(b.missing) == 0 || b.lost != nil {
		return
	}
	began := time.Now()
	_, err := await(context.Background(), b.gpu.Call("compile", b.missing)) // ends when the GPU is lost, too
	if err != nil {
		b.fail(fmt.Errorf("webgpu: %w: %w", compute.ErrLost, err))
	}
	b.stats.Programs += len(b.missing)
	b.stats.Compiling += time.Since(began)
	b.missing = b.missing[:0]
}

// Compiled returns the number of programs that were compiled, and the time that it took.
func (b *Backend) Compiled() (programs int, took time.Duration) {
	return b.stats.Programs, b.stats.Compiling
}

// flush has everything that was called go on its way.
func (b *Backend) flush() {
	b.compile()
	if b.stream.empty() {
		return
	}
	going := b.batch
	if b.lost == nil {
		s := &b.stream
		number := b.submit.Invoke(int(uintptr(unsafe.Pointer(unsafe.SliceData(s.words)))), len(s.words),
			int(uintptr(unsafe.Pointer(unsafe.SliceData(s.args)))), len(s.args), s.staged).Int()
		b.stats.Submits++
		if going != nil {
			b.batches[number] = going
			b.going = append(b.going, going)
		}
	} else if going != nil {
		going.fail(b.lost)
	}
	b.batch = nil
	b.releaseFreed()
	// Or all of an epoch's uploads would be on their way at once. A GPU that is lost
	// meanwhile ends the waiting, too.
	for len(b.going) > 0 && (len(b.going) > mostGoing || b.going[0].isDone()) {
		<-b.going[0].done
		b.going = b.going[1:]
	}
}

func (t *batch) isDone() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

func (t *batch) fail(err error) {
	t.err = err
	close(t.done)
}

// hear is told that what a submission fetched is there, or why not; of submission -1,
// that the GPU is gone.
func (b *Backend) hear(number int, why string) {
	if number < 0 {
		b.fail(fmt.Errorf("webgpu: %w: %s", compute.ErrLost, why))
		return
	}
	t := b.batches[number]
	if t == nil {
		return
	}
	delete(b.batches, number)
	if why != "" {
		t.fail(fmt.Errorf("webgpu: %w: %s", compute.ErrLost, why))
		return
	}
	t.data = make([]float32, t.words)
	if !b.take.Invoke(number, int(uintptr(unsafe.Pointer(unsafe.SliceData(t.data)))), t.words).Bool() {
		t.fail(fmt.Errorf("webgpu: %w: it went before what it had computed was read", compute.ErrLost))
		return
	}
	close(t.done)
}

// fail ends what is on its way, and all that comes.
func (b *Backend) fail(err error) {
	if b.lost != nil {
		return
	}
	b.lost = err
	for number, t := range b.batches {
		delete(b.batches, number)
		t.fail(err)
	}
	if b.batch != nil {
		b.batch.fail(err)
		b.batch = nil
	}
	b.releaseFreed()
}

func (p *pending) Done() bool {
	if p.batch == p.of.batch {
		p.of.flush()
	}
	return p.batch.isDone()
}

func (p *pending) Wait(ctx context.Context, dst []float32) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("webgpu: read: %w", err)
	}
	if !p.batch.isDone() { // what was called since has something to run meanwhile
		p.of.flush()
		p.of.stats.Waits++
	}
	select {
	case <-p.batch.done:
	case <-ctx.Done():
		return fmt.Errorf("webgpu: read: %w", ctx.Err())
	}
	if p.batch.err != nil {
		return fmt.Errorf("webgpu: read: %w", p.batch.err)
	}
	copy(dst, p.batch.data[p.at:p.at+p.n])
	return nil
}
