package simd_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall/js"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/simd"
)

// twins does everything twice, alone and with several threads, on memory of their
// own, and compares every bit of what a kernel was given after every call. What it
// shows is what several threads have made.
type twins struct {
	t       *testing.T
	threads int
	be      *simd.Backend
	share   js.Value
}

type pair struct{ alone, shared any } // compute.Buffer or compute.Sums

// gather has n threads share every call that can be cut, until the test ends. It
// returns what changes their number from call to call.
func gather(t *testing.T, n int) (share js.Value) {
	if os.Getenv("CLIPSCOPE_THREADS") == "0" {
		t.Skip("these kernels are for one thread")
	}
	loader := js.Global().Get("clipscopeWorker").Get("kernels")
	least, before := loader.Get("least"), open(t).Threads()
	loader.Set("least", 0)
	if got, why := simd.Share(n, false); got != n {
		t.Fatalf("%d threads of %d: %s", got, n, why)
	}
	share = loader.Get("share").Call("bind", loader)
	t.Cleanup(func() {
		loader.Set("least", least)
		share.Invoke(before)
	})
	return share
}

func (w *twins) Name() string { return "twins" }

func (w *twins) New(n int) compute.Buffer {
	return compute.Buffer{Memory: &pair{w.be.New(n), w.be.New(n)}, N: n}
}

func (w *twins) NewSums(n int) compute.Sums {
	return compute.Sums{Memory: &pair{w.be.NewSums(n), w.be.NewSums(n)}, N: n}
}

func (w *twins) Free(x compute.Buffer) {
	a, b := both(x)
	w.be.Free(a)
	w.be.Free(b)
}

func (w *twins) FreeSums(s compute.Sums) {
	p := s.Memory.(*pair)
	w.be.FreeSums(p.alone.(compute.Sums))
	w.be.FreeSums(p.shared.(compute.Sums))
}

// both are the two buffers that x stands for.
func both(x compute.Buffer) (alone, shared compute.Buffer) {
	if x.Memory == nil {
		return x, x
	}
	p := x.Memory.(*pair)
	return p.alone.(compute.Buffer).Slice(x.Off, x.N), p.shared.(compute.Buffer).Slice(x.Off, x.N)
}

func (w *twins) Write(dst compute.Buffer, src []float32) {
	a, b := both(dst)
	w.be.Write(a, src)
	w.be.Write(b, src)
}

func (w *twins) WriteBytes(dst compute.Buffer, src []byte) {
	a, b := both(dst)
	w.be.WriteBytes(a, src)
	w.be.WriteBytes(b, src)
}

func (w *twins) Fetch(x compute.Buffer) compute.Pending {
	_, b := both(x)
	return w.be.Fetch(b)
}

func (w *twins) Close() { w.be.Close() }

func (w *twins) Run(k *compute.Kernel, args compute.Args) {
	a, b := args, args
	for i, x := range args.Buf {
		a.Buf[i], b.Buf[i] = both(x)
	}
	if args.Sums.Memory != nil {
		p := args.Sums.Memory.(*pair)
		a.Sums, b.Sums = p.alone.(compute.Sums), p.shared.(compute.Sums)
	}
	w.share.Invoke(1)
	w.be.Run(k, a)
	w.share.Invoke(w.threads)
	w.be.Run(k, b)
	for i := range args.Buf {
		if i, alone, shared := w.differ(a.Buf[i], b.Buf[i]); i >= 0 {
			w.t.Fatalf("%s with sizes %v: value %d is %v alone, %v with %d threads", k.Name, args.N, i, alone, shared, w.threads)
		}
	}
}

// differ finds a value of which a bit differs, or −1.
func (w *twins) differ(a, b compute.Buffer) (at int, alone, shared float32) {
	if a.Memory == nil {
		return -1, 0, 0
	}
	x, y := make([]float32, a.N), make([]float32, b.N)
	for buffer, dst := range map[compute.Buffer][]float32{a: x, b: y} {
		if err := w.be.Fetch(buffer).Wait(context.Background(), dst); err != nil {
			w.t.Fatal(err)
		}
	}
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			return i, x[i], y[i]
		}
	}
	return -1, 0, 0
}

// TestThreadsChangeNoBit: whatever the suite asks is the same to the bit for every number of
// threads.
func TestThreadsChangeNoBit(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			share := gather(t, n)
			computetest.RunAll(t, func() compute.Backend { return &twins{t, n, open(t), share} })
		})
	}
}

// TestThreadsChangeNoBitOfLargeProducts has the sizes of training, at which the product packs
// several times and cuts its columns as well as its rows.
func TestThreadsChangeNoBitOfLargeProducts(t *testing.T) {
	w := &twins{t, 3, open(t), gather(t, 3)}
	defer w.Close()
	for _, s := range [][3]int{{128, 784, 128}, {128, 128, 784}, {784, 10, 600}, {200, 1100, 330}, {7, 1100, 340}, {1100, 7, 340}} {
		x, y, z := random(w, s[0]*s[2]), random(w, s[2]*s[1]), random(w, s[0]*s[1])
		for i, beta := range []float32{0, 1, 0.3} {
			kernel.Gemm(w, i == 1, i == 2, s[0], s[1], s[2], x, y, beta, z)
		}
		sums := w.NewSums(s[0] * s[1])
		for _, each := range []kernel.Each{kernel.Plain(), kernel.Clamped(0.5), kernel.Rounded()} {
			kernel.AddOuter(w, s[2], s[0], s[1], each, x, y, sums)
		}
		kernel.Settle(w, s[0]*s[1], sums, z)
		kernel.Noise(w, s[0]*s[1], 2, compute.NoiseKey{}, z)
	}
}

// TestThreadsNeverAddToOneBlockTogether: where blocks of rows are mostly zeros and others are not,
// or are too few for that to matter, no thread adds to what another adds to at the same time.
func TestThreadsNeverAddToOneBlockTogether(t *testing.T) {
	const n, k = 34, 65
	b := open(t)
	defer b.Close()
	share := gather(t, 3)
	rng := rand.New(rand.NewPCG(7, 8))
	for _, m := range []int{256 + 15, 256 + 40} {
		h, d := make([]float32, m*n), make([]float32, m*k)
		for i := range h {
			if i >= 256*n || rng.IntN(8) == 0 {
				h[i] = float32(rng.NormFloat64())
			}
		}
		for i := range d {
			d[i] = float32(rng.NormFloat64())
		}
		x, y, s, dst := b.New(len(h)), b.New(len(d)), b.NewSums(n*k), b.New(n*k)
		b.Write(x, h)
		b.Write(y, d)
		add := func(threads int) []float32 {
			share.Invoke(threads)
			kernel.Clear(b, s)
			kernel.Fill(b, n*k, 0, dst)
			kernel.AddOuter(b, m, n, k, kernel.Plain(), x, y, s)
			kernel.Settle(b, n*k, s, dst)
			return read(t, b, dst)
		}
		want := add(1)
		for range 4000 {
			for i, v := range add(3) {
				if v != want[i] {
					t.Fatalf("%d rows: value %d is %v alone, %v with 3 threads", m, i, want[i], v)
				}
			}
		}
	}
}

// TestThreadsTakeHalvesAsOneWould: a product of two blocks of terms, of which threads take one
// each where about as much is in both, is what one thread makes of it: also where a block is not
// finite, and zeros count.
func TestThreadsTakeHalvesAsOneWould(t *testing.T) {
	b := open(t)
	defer b.Close()
	share := gather(t, 4)
	rng := rand.New(rand.NewPCG(9, 10))
	inf := float32(math.Inf(1))
	for _, s := range []struct {
		m, n, k, rounds int
		beta            float32
		spoil           func(a, b []float32) // b is [k×n]
	}{
		{37, 33, 401, 2000, 0.3, func(_, _ []float32) {}}, // what is laid grows from here on
		{128, 128, 784, 500, 0, func(_, _ []float32) {}},
		{2055, 32, 404, 20, 0, func(_, _ []float32) {}},
		{50, 40, 800, 500, 1, func(_, b []float32) { b[3*40] = inf }},
		{50, 40, 800, 500, 1, func(_, b []float32) { b[799*40+39] = -inf }},
		{33, 32, 701, 500, 0, func(a, b []float32) { a[32*701+700], b[5] = inf, float32(math.NaN()) }},
		{40, 32, 600, 500, 0, func(a, _ []float32) { // the first halves of rows have nothing
			for i := range a {
				if i%600 < 300 {
					a[i] = 0
				}
			}
		}},
	} {
		x, y, z := make([]float32, s.m*s.k), make([]float32, s.k*s.n), make([]float32, s.m*s.n)
		for i := range x {
			if rng.IntN(5) == 0 {
				x[i] = float32(rng.NormFloat64())
			}
		}
		for _, v := range [][]float32{y, z} {
			for i := range v {
				v[i] = float32(rng.NormFloat64())
			}
		}
		s.spoil(x, y)
		left, right, dst := b.New(len(x)), b.New(len(y)), b.New(len(z))
		b.Write(left, x)
		b.Write(right, y)
		product := func(threads int) []float32 {
			share.Invoke(threads)
			b.Write(dst, z)
			kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, s.m, s.n, s.k, left, right, s.beta, dst)
			return read(t, b, dst)
		}
		want := product(1)
		for round := range s.rounds {
			threads := 2 + round%3
			for i, v := range product(threads) {
				if math.Float32bits(v) != math.Float32bits(want[i]) && (v == v || want[i] == want[i]) {
					t.Fatalf("%d×%d×%d: value %d is %v alone, %v with %d threads", s.m, s.n, s.k, i, want[i], v, threads)
				}
			}
		}
		for _, x := range []compute.Buffer{left, right, dst} {
			b.Free(x)
		}
	}
}

// TestThreadsDrawAheadWhatOneWould: noise that threads draw while others do something else is what
// it is alone, whatever comes between, and only then read, written to or given back.
func TestThreadsDrawAheadWhatOneWould(t *testing.T) {
	b := open(t)
	defer b.Close()
	share := gather(t, 3)
	const n, m = 20000, 64
	key := func(i int) compute.NoiseKey { return compute.NoiseKey{Key: [8]uint32{uint32(i), 7}} }
	x, y, z, sums, other, norm := random(b, m*m), random(b, m*m), b.New(m*m), b.NewSums(m*m), b.New(n), b.New(1)
	share.Invoke(1)
	kernel.Gemm(b, false, false, m, m, m, x, y, 0, z)
	product := read(t, b, z)
	var want [8][]float32
	for i := range want {
		kernel.Noise(b, n, 1, key(i), other)
		want[i] = read(t, b, other)
	}
	share.Invoke(3)
	same := func(round int, what string, got, want []float32) {
		for i, v := range want {
			if math.Float32bits(got[i]) != math.Float32bits(v) {
				t.Fatalf("round %d, %s: value %d is %v, want %v", round, what, i, got[i], v)
			}
		}
	}
	for round := range 400 {
		i := round % len(want)
		dst := b.New(n + 1)
		kernel.Noise(b, n, 1, key(i), dst)
		switch round % 5 {
		case 0: // read at once
		case 1: // calls that are cut, that are not, and with sums, on other memory
			kernel.Fill(b, m*m, 0, z)
			kernel.Gemm(b, false, false, m, m, m, x, y, 0, z)
			kernel.Clear(b, sums)
			kernel.AddOuter(b, m, m, m, kernel.Plain(), x, y, sums)
			kernel.RowNorms(b, 1, 3, x, norm)
			b.Write(y, read(t, b, y))
			same(round, "a product", read(t, b, z), product)
		case 2: // other noise, with another key, and memory that is made and given back
			kernel.Noise(b, n, 1, key((i+1)%len(want)), other)
			b.Free(b.New(100000))
			same(round, "other noise", read(t, b, other), want[(i+1)%len(want)])
		case 3: // a write where the noise is not yet
			b.Write(dst, []float32{1, 2, 3})
			same(round, "what was written", read(t, b, dst)[:3], []float32{1, 2, 3})
			b.Write(dst, want[i][:3])
		case 4: // given back, and had again
			b.Free(dst)
			dst = b.New(n + 1)
			kernel.Fill(b, n, 5, dst)
			five := read(t, b, dst)
			for _, v := range five[:n] {
				if v != 5 {
					t.Fatalf("round %d: %v is written to memory that was given back", round, v)
				}
			}
			b.Write(dst, want[i])
		}
		same(round, "noise", read(t, b, dst), want[i])
		b.Free(dst)
	}
}

// TestThreadsLeaveUncutNoiseAlone: noise that is too little to be cut leaves what is lent as it is,
// and who wants that still waits for it.
func TestThreadsLeaveUncutNoiseAlone(t *testing.T) {
	b := open(t)
	defer b.Close()
	share := gather(t, 3)
	const n = 200000
	key := compute.NoiseKey{Key: [8]uint32{1, 7}}
	large, little := b.New(n), b.New(5)
	share.Invoke(1)
	kernel.Noise(b, n, 1, key, large)
	want := read(t, b, large)
	for range 20 {
		kernel.Fill(b, n, 0, large)
		share.Invoke(3)
		kernel.Noise(b, n, 1, key, large)
		share.Invoke(1)
		kernel.Noise(b, 5, 1, key, little)
		got := read(t, b, large)
		for i, v := range want {
			if math.Float32bits(got[i]) != math.Float32bits(v) {
				t.Fatalf("value %d is %v, want %v", i, got[i], v)
			}
		}
	}
}

// TestThreadsThatDrawAreNoMoreThanShareCalls: of threads that have been started only as many draw
// what is lent as share calls, the first among them.
func TestThreadsThatDrawAreNoMoreThanShareCalls(t *testing.T) {
	b := open(t)
	defer b.Close()
	const started = 7 // more than other tests have, so that one is told where the team is
	loader := js.Global().Get("clipscopeWorker").Get("kernels")
	spawn := loader.Get("spawn")
	defer loader.Set("spawn", spawn)
	told := js.Global().Call("eval", `({ spawn(spawn) { return (text) => {
		const worker = spawn(text), post = worker.postMessage.bind(worker);
		worker.postMessage = (m) => { this.state = new Int32Array(m.memory.buffer, m.team, 48); post(m); };
		return worker;
	}; }, asleep() { return Atomics.load(this.state, 32); } })`)
	loader.Set("spawn", told.Call("spawn", spawn))
	share := gather(t, started)
	share.Invoke(2)
	asleep := func() int { return told.Call("asleep").Int() }
	for end := time.Now().Add(10 * time.Second); asleep() < started-1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d threads sleep where nothing is to be done", asleep())
		}
	}
	x := b.New(1 << 22)
	kernel.Noise(b, x.N, 1, compute.NoiseKey{}, x)
	least := started
	for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		least = min(least, asleep())
	}
	read(t, b, x)
	if awake := started - 1 - least; awake > 1 {
		t.Errorf("%d others draw noise where two threads share calls", awake)
	}
}
