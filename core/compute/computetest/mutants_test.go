package computetest

import (
	"context"
	"math"
	"slices"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/purego"
)

// The mutants below are the reference backend with one defect each, of a kind
// that a SIMD or GPU kernel may have. Each must fail the part of the suite
// named after the kernel it breaks; so the suite tests something. That the
// reference itself passes is a test of package purego.

func TestMutantsFail(t *testing.T) {
	run := map[string]func(*check){}
	for _, p := range parts {
		run[p.name] = p.run
	}
	for _, m := range mutants {
		t.Run(m.part+"/"+m.defect, func(t *testing.T) {
			open := func() compute.Backend { return m.open(purego.New()) }
			if msgs := failures(run[m.part], open, 1); len(msgs) == 0 {
				t.Error("the suite passes")
			}
		})
	}
}

// get and set reach a buffer's values.
func get(b compute.Backend, x compute.Buffer, n int) []float32 {
	v := make([]float32, n)
	if err := compute.Read(context.Background(), b, v, x); err != nil {
		panic(err)
	}
	return v
}

func edit(b compute.Backend, x compute.Buffer, n int, f func(v []float32)) {
	v := get(b, x, n)
	f(v)
	b.Write(x, v)
}

// faulty runs f in place of one kernel; run is that kernel.
type faulty struct {
	compute.Backend
	kernel string
	f      func(b compute.Backend, a compute.Args, run func(compute.Args))
}

func (m faulty) Run(k *compute.Kernel, a compute.Args) {
	run := func(a compute.Args) { m.Backend.Run(k, a) }
	if k.Name != m.kernel {
		run(a)
		return
	}
	m.f(m.Backend, a, run)
}

// in plants a fault in a kernel.
func in(name string, f func(b compute.Backend, a compute.Args, run func(compute.Args))) func(compute.Backend) compute.Backend {
	return func(b compute.Backend) compute.Backend { return faulty{b, name, f} }
}

// after changes values of the i-th buffer when the kernel has run, given what all
// of its buffers held before.
func after(name string, i int, f func(a compute.Args, was [][]float32, v []float32)) func(compute.Backend) compute.Backend {
	return in(name, func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		var was [][]float32
		for _, x := range a.Buf {
			if x.Memory == nil {
				break
			}
			was = append(was, get(b, x, x.Len()))
		}
		run(a)
		edit(b, a.Buf[i], a.Buf[i].Len(), func(v []float32) { f(a, was, v) })
	})
}

// with changes a kernel's arguments.
func with(name string, f func(a *compute.Args)) func(compute.Backend) compute.Backend {
	return in(name, func(_ compute.Backend, a compute.Args, run func(compute.Args)) {
		f(&a)
		run(a)
	})
}

// wider is x with n more of its memory.
func wider(x compute.Buffer, n int) compute.Buffer {
	return compute.Buffer{Memory: x.Memory, Off: x.Off, N: x.N + n}
}

type (
	dirtyNew struct{ compute.Backend }
	keepSrc  struct{ compute.Backend }
	deafRead struct{ compute.Backend }
	deaf     struct{ compute.Pending }
	lateRead struct{ compute.Backend }
	late     struct {
		b compute.Backend
		x compute.Buffer
	}
)

type mutant struct {
	part, defect string
	open         func(compute.Backend) compute.Backend
}

var mutants = []mutant{
	{"Memory", "New does not clear", func(b compute.Backend) compute.Backend { return dirtyNew{b} }},
	{"Memory", "Write of a part clears the rest", func(b compute.Backend) compute.Backend { return keepSrc{b} }},
	{"Memory", "Wait ignores its context", func(b compute.Backend) compute.Backend { return deafRead{b} }},
	{"Order", "Fetch reads when it is waited for", func(b compute.Backend) compute.Backend { return lateRead{b} }},
	{"Order", "a Copy waits for the next Fill", func(b compute.Backend) compute.Backend {
		var last *compute.Args
		return in("copy", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
			run(a)
			last = &a
		})(in("fill", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
			run(a)
			if last != nil {
				kernel.Copy(b, a.Buf[0].Len(), last.Buf[0], a.Buf[0])
			}
		})(b))
	}},
	{"Fill", "runs past the size", with("fill", func(a *compute.Args) { a.Buf[0] = wider(a.Buf[0], -a.Buf[0].N&3) })},
	{"Copy", "leaves a tail of n mod 4", with("copy", func(a *compute.Args) { a.Buf[0].N &^= 3; a.Buf[1].N &^= 3 })},
	{"Scale", "a = 0 clears NaN", in("scale", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		run(a)
		if a.F[0] == 0 {
			kernel.Fill(b, a.N[0], 0, a.Buf[0])
		}
	})},
	{"Axpy", "a = 0 skips NaN", in("axpy", func(_ compute.Backend, a compute.Args, run func(compute.Args)) {
		if a.F[0] != 0 {
			run(a)
		}
	})},
	{"Mul", "dst is cleared first", in("mul", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		kernel.Fill(b, a.N[0], 0, a.Buf[0])
		run(a)
	})},
	{"Gemm", "beta 0 keeps NaN", in("gemm", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		if a.F[0] == 0 {
			kernel.Scale(b, a.Buf[2].Len(), 0, a.Buf[2])
			a.F[0] = 1
		}
		run(a)
	})},
	{"Gemm", "beta is 1 or 0", with("gemm", func(a *compute.Args) {
		if a.F[0] != 0 {
			a.F[0] = 1
		}
	})},
	{"Gemm", "tB is ignored", with("gemm", func(a *compute.Args) { a.N[1] = 0 })},
	{"Gemm", "last of many terms left out", with("gemm", func(a *compute.Args) {
		if a.N[4] > 100 && a.N[2] == 1 && a.N[3] == 1 {
			a.N[4]--
		}
	})},
	{"Gemm", "k = 0 does nothing", in("gemm", func(_ compute.Backend, a compute.Args, run func(compute.Args)) {
		if a.N[4] > 0 {
			run(a)
		}
	})},
	{"Gemm", "half precision", after("gemm", 2, func(_ compute.Args, _ [][]float32, v []float32) {
		for i, x := range v {
			v[i] = math.Float32frombits(math.Float32bits(x) &^ 0xfff)
		}
	})},
	{"Gemm", "writes beyond the size", in("gemm", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		run(a)
		if n := a.Buf[2].N; n%4 != 0 {
			edit(b, wider(a.Buf[2], 1), n+1, func(v []float32) { v[n] = 0 })
		}
	})},
	{"Sums", "Clear leaves the last", in("clear", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		run(a)
		if n := a.Sums.Len(); n > 0 {
			one := b.New(n)
			edit(b, one, n, func(v []float32) { v[0] = 1 })
			kernel.AddScaled(b, n, 1, one, a.Sums)
		}
	})},
	{"AddOuter", "summed in float32", in("addOuter", func(b compute.Backend, a compute.Args, _ func(compute.Args)) {
		inFloat(b, a, max(a.N[0], 1))
	})},
	{"AddOuter", "pieces of 4096 rows in float32", in("addOuter", func(b compute.Backend, a compute.Args, _ func(compute.Args)) {
		inFloat(b, a, 4096)
	})},
	{"AddClampedOuter", "the sum clamped, not its terms", with("addOuter", func(a *compute.Args) { a.N[3] = 0 })},
	{"AddRoundedOuter", "the sum rounded, not its terms", in("addOuter", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		a.N[3] = 0
		run(a)
		editSums(b, a.Sums, a.N[1]*a.N[2], func(v []float64) {
			for i := range v {
				v[i] = math.RoundToEven(v[i])
			}
		})
	})},
	{"AddScaled", "in float32", with("addScaled", func(a *compute.Args) { a.F[0] = float64(float32(a.F[0])) })},
	{"Settle", "the sum rounded before it is added", in("settle", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		n := a.N[0]
		before := get(b, a.Buf[0], n)
		kernel.Fill(b, n, 0, a.Buf[0])
		run(a)
		edit(b, a.Buf[0], n, func(v []float32) {
			for i := range v {
				v[i] = float32(float64(v[i]) + 1.0000005*float64(before[i]))
			}
		})
	})},
	{"Split", "the low part left out", after("split", 1, func(_ compute.Args, _ [][]float32, v []float32) { clear(v) })},
	{"AddRow", "last row left out", with("addRow", func(a *compute.Args) { a.N[0] = max(a.N[0]-1, 0) })},
	{"RowNorms", "squares", after("rowNorms", 1, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			v[i] *= v[i]
		}
	})},
	{"RowNorms", "a unit in the last place too small", after("rowNorms", 1, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			v[i] *= 1 - 0x1p-23
		}
	})},
	{"RowNorms", "squares lost to underflow", after("rowNorms", 1, func(_ compute.Args, _ [][]float32, v []float32) { lost(v) })},
	{"RowNorms", "parts far below the largest left out", after("rowNorms", 1, func(a compute.Args, was [][]float32, v []float32) {
		for i, n := 0, a.N[1]; i < len(v) && n > 4096; i++ {
			v[i] = kernel.Above(nearLength(was[0][i*n : (i+1)*n]))
		}
	})},
	{"RowNorms", "joins", with("rowNorms", func(a *compute.Args) { a.N[2] = 1 })},
	{"JoinRowNorms", "does not join", with("rowNorms", func(a *compute.Args) { a.N[2] = 0 })},
	{"JoinRowNorms", "adds", in("rowNorms", func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		was := get(b, a.Buf[1], a.N[0])
		a.N[2] = 0
		run(a)
		edit(b, a.Buf[1], a.N[0], func(v []float32) {
			for i := range v {
				v[i] += was[i]
			}
		})
	})},
	{"JoinRowNorms", "a unit in the last place too small", after("rowNorms", 1, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			v[i] *= 1 - 0x1p-23
		}
	})},
	{"JoinRowNorms", "squares of norms lost to underflow", before("rowNorms", 1, lost)},
	{"JoinRowNorms", "an infinite norm is the largest finite one", after("rowNorms", 1, func(_ compute.Args, was [][]float32, v []float32) {
		for i := range v {
			if math.IsInf(float64(was[1][i]), 0) {
				v[i] = math.MaxFloat32
			}
		}
	})},
	{"JoinNorms", "without the bias", after("joinNorms", 2, func(_ compute.Args, was [][]float32, v []float32) {
		for i := range v {
			v[i] = float32(math.Hypot(float64(was[2][i]), float64(was[0][i])*float64(was[1][i])))
		}
	})},
	{"JoinNorms", "squares lost to underflow", before("joinNorms", 1, lost)},
	{"JoinNorms", "inputs of any length", before("joinNorms", 0, func(v []float32) {
		for i := range v {
			v[i] = min(v[i], compute.MaxInput)
		}
	})},
	{"ScaleRows", "0·NaN is NaN", after("scaleRows", 2, func(_ compute.Args, was [][]float32, v []float32) {
		for i, x := range was[1] {
			if x != x {
				v[i] = x
			}
		}
	})},
	{"DropRows", "other rows too", after("dropRows", 1, func(_ compute.Args, was [][]float32, v []float32) {
		if len(v) > 0 {
			v[len(v)-1] = 0
		}
	})},
	{"DropRows", "0·NaN is NaN", after("dropRows", 1, func(_ compute.Args, was [][]float32, v []float32) {
		for i, x := range was[1] {
			if x != x {
				v[i] = x
			}
		}
	})},
	{"ReLU", "NaN becomes 0", after("unary", 1, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			if v[i] != v[i] {
				v[i] = 0
			}
		}
	})},
	{"ReLUGrad", "passes at 0", after("unaryGrad", 2, func(_ compute.Args, was [][]float32, v []float32) {
		for i, y := range was[0] {
			if y == 0 {
				v[i] = was[1][i]
			}
		}
	})},
	{"Tanh", "off by 3e-6", after("unary", 1, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			v[i] *= 1 + 3e-6
		}
	})},
	{"Tanh", "NaN becomes 1", after("unary", 1, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			if v[i] != v[i] {
				v[i] = 1
			}
		}
	})},
	{"GELU", "off by 3e-6", after("unary", 1, func(a compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			if kernel.Function(a.N[0]) == kernel.GELU {
				v[i] *= 1 + 3e-6
			}
		}
	})},
	{"GELUGrad", "of the output", before("unaryGrad", 0, func(v []float32) {
		for i := range v {
			p, _ := normal(float64(v[i]))
			v[i] *= float32(p)
		}
	})},
	{"TanhGrad", "of the input", before("unaryGrad", 0, func(v []float32) {
		for i := range v {
			v[i] = float32(math.Tanh(float64(v[i])))
		}
	})},
	{"Root", "a unit in the last place too small", after("unary", 1, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			v[i] *= 1 - 0x1p-22
		}
	})},
	{"Finite", "lets an infinity pass", before("finite", 0, func(v []float32) {
		for i := range v {
			v[i] = min(v[i], math.MaxFloat32)
		}
	})},
	{"Hits", "the last row the other way round", after("hits", 2, func(_ compute.Args, _ [][]float32, v []float32) {
		if len(v) > 0 {
			v[len(v)-1] = 1 - v[len(v)-1]
		}
	})},
	{"Weigh", "believes its table", after("weigh", 3, func(a compute.Args, was [][]float32, v []float32) {
		for i, u := range was[0] {
			if v[i] > 0 {
				v[i] = float32(a.F[1]) / was[2][math.Float32bits(u)>>16]
			}
		}
	})},
	{"Weigh", "a unit in the last place above C/u", after("weigh", 3, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			v[i] *= 1 + 0x1p-23
		}
	})},
	{"Weigh", "a refused example weighs", with("weigh", func(a *compute.Args) { a.Buf[1] = a.Buf[0] })},
	{"Weigh", "the table's step, not between", before("weigh", 0, func(v []float32) {
		for i := range v {
			v[i] = math.Float32frombits(math.Float32bits(v[i]) &^ 0xffff)
		}
	})},
	{"Normalize", "by the norm itself", after("normalize", 0, func(_ compute.Args, was [][]float32, v []float32) {
		for i := range v {
			v[i] *= 0.7
		}
	})},
	{"SoftmaxCE", "maximum not subtracted", after("loss", 2, func(a compute.Args, was [][]float32, v []float32) {
		n := a.N[2]
		for i := range v {
			sum := float32(0)
			for _, x := range was[0][i*n : (i+1)*n] {
				sum += float32(math.Exp(float64(x)))
			}
			if label := int(was[1][i]); label >= 0 && label < n {
				v[i] = float32(math.Log(float64(sum))) - was[0][i*n+label]
			}
		}
	})},
	{"SoftmaxCE", "NaN reaches the next row", after("loss", 2, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := 1; i < len(v); i++ {
			v[i] += 0 * v[i-1]
		}
	})},
	{"SoftmaxCE", "small losses are 0", after("loss", 2, func(_ compute.Args, _ [][]float32, v []float32) {
		for i, x := range v {
			v[i] = (x + 1) - 1
		}
	})},
	{"SoftmaxCE", "small losses are negative", after("loss", 2, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			v[i] -= 0x1p-130 // within the tolerance
		}
	})},
	{"SigmoidBCE", "mean, not sum", after("loss", 2, func(a compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			v[i] /= float32(a.N[2])
		}
	})},
	{"SigmoidBCE", "exp(z) overflows", after("loss", 3, func(_ compute.Args, was [][]float32, v []float32) {
		for i := range v {
			e := float32(math.Exp(float64(was[0][i])))
			v[i] = e/(1+e) - was[1][i]
		}
	})},
	{"Squared", "without the half", after("loss", 2, func(_ compute.Args, _ [][]float32, v []float32) {
		for i := range v {
			v[i] *= 2
		}
	})},
	{"Noise", "nonce ignored", with("noise", func(a *compute.Args) { a.Key.Nonce[2] = 0 })},
	{"Noise", "tail cut", after("noise", 0, func(a compute.Args, _ [][]float32, v []float32) {
		limit := 4.5 * math.Abs(a.F[0])
		for i := range v {
			v[i] = float32(max(-limit, min(limit, float64(v[i]))))
		}
	})},
	{"Noise", "a small sine is 0", after("noise", 0, func(a compute.Args, _ [][]float32, v []float32) {
		for i, z := range v {
			if math.Abs(float64(z)) < 2e-7*math.Abs(a.F[0]) {
				v[i] = 0
			}
		}
	})},
	{"Noise", "the least radii are rounded", after("noise", 0, func(a compute.Args, _ [][]float32, v []float32) {
		for i := range v[:len(v)&^7] {
			if x, y := &v[i], &v[i^4]; i&4 == 0 && math.Hypot(float64(*x), float64(*y)) < 2e-4*math.Abs(a.F[0]) {
				*x, *y = *x*1.001, *y*1.001
			}
		}
	})},
	{"Noise", "adds instead of setting", after("noise", 0, func(_ compute.Args, was [][]float32, v []float32) {
		for i := range v {
			v[i] += was[0][i]
		}
	})},
	{"Adam", "eps inside the root", with("adam", func(a *compute.Args) { a.F[3] = math.Sqrt(a.F[3]) })},
	{"Adam", "the noise stays", with("adam", func(a *compute.Args) { a.F[4] = 0 })},
	{"Adam", "all of the noise in one step", with("adam", func(a *compute.Args) { a.F[4] /= 1 - a.F[2] })},
	{"Adam", "no floor", with("adam", func(a *compute.Args) { a.F[5] = 0 })},
}

// before changes what a kernel reads from its i-th buffer.
func before(name string, i int, f func(v []float32)) func(compute.Backend) compute.Backend {
	return in(name, func(b compute.Backend, a compute.Args, run func(compute.Args)) {
		n := a.Buf[i].Len()
		kept := get(b, a.Buf[i], n)
		edit(b, a.Buf[i], n, f)
		run(a)
		b.Write(a.Buf[i], kept)
	})
}

// nearLength returns the norm of the parts of a row, of 4096 values each, whose largest value is not
// far below that of all.
func nearLength(row []float32) float64 {
	var largest []float64
	for at := range row {
		if at%4096 == 0 {
			largest = append(largest, 0)
		}
		largest[at/4096] = max(largest[at/4096], math.Abs(float64(row[at])))
	}
	s := 0.0
	for at, v := range row {
		if !(largest[at/4096] < 0x1p-10*slices.Max(largest)) {
			s += float64(v) * float64(v)
		}
	}
	return math.Sqrt(s)
}

// lost is what becomes of values whose squares float32 does not hold.
func lost(v []float32) {
	for i, f := range v {
		if f < 1e-19 {
			v[i] = 0
		}
	}
}

func (m dirtyNew) New(n int) compute.Buffer {
	x := m.Backend.New(n)
	if n > 0 {
		kernel.Fill(m.Backend, 1, 1e-3, x)
	}
	return x
}

func (m keepSrc) Write(dst compute.Buffer, src []float32) {
	kernel.Fill(m.Backend, dst.Len(), 0, dst)
	m.Backend.Write(dst, src)
}

func (m deafRead) Fetch(x compute.Buffer) compute.Pending { return deaf{m.Backend.Fetch(x)} }

func (p deaf) Wait(_ context.Context, dst []float32) error {
	return p.Pending.Wait(context.Background(), dst)
}

func (m lateRead) Fetch(x compute.Buffer) compute.Pending { return late{m.Backend, x} }

func (p late) Done() bool { return true }

func (p late) Wait(ctx context.Context, dst []float32) error {
	return compute.Read(ctx, p.b, dst, p.x)
}

// editSums changes the first n of s.
func editSums(b compute.Backend, s compute.Sums, n int, f func(v []float64)) {
	v := make([]float64, n)
	if err := kernel.ReadSums(context.Background(), b, v, s); err != nil {
		panic(err)
	}
	f(v)
	kernel.Clear(b, s)
	x := b.New(n)
	for _, scale := range []float64{1, 0x1p-25} { // in two parts, as buffers are float32
		part := make([]float32, n)
		for i := range v {
			part[i] = float32(v[i] / scale)
			v[i] -= float64(part[i]) * scale
		}
		b.Write(x, part)
		kernel.AddScaled(b, n, scale, x, s)
	}
}

// inFloat adds outer products as float32 does, rows rows at a time.
func inFloat(b compute.Backend, a compute.Args, rows int) {
	m, n, k := a.N[0], a.N[1], a.N[2]
	hv, dv := get(b, a.Buf[0], m*n), get(b, a.Buf[1], m*k)
	for lo := 0; lo < m; lo += rows {
		part := b.New(n * k)
		edit(b, part, n*k, func(v []float32) {
			for i := lo; i < min(m, lo+rows); i++ {
				for p := range v {
					v[p] += hv[i*n+p/k] * dv[i*k+p%k]
				}
			}
		})
		kernel.AddScaled(b, n*k, 1, part, a.Sums)
	}
}
