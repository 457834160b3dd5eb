// Package computetest tests every kernel of a [compute.Backend]. Each is tried over sizes
// 0 to 67 and odd shapes, over ordinary values and over NaN, ±Inf, denormals and huge
// ones, against a float64 loop written here.
//
// # The tolerance rule
//
// A result is a sum of terms, each reached by some roundings. With n the number
// of terms and roundings (a function such as exp counts as 16), a result is
// right when
//
//	|got − want| ≤ n·(2⁻²⁴·Σ|term| + 2⁻¹²⁶)
//
// which float32 arithmetic keeps in any order of summation, fused or not (Higham
// 2002, "Accuracy and Stability of Numerical Algorithms", §4.2), and with
// denormals flushed to zero or not. A backend that takes denormal values for 0 where it
// reads them, too, gets none but where a kernel has to read their bits. NaN must be NaN and ±Inf must be that
// infinity; where the finite terms add up to 2¹²⁷, or a finite partial result
// reaches it, float32 may overflow on the way, and any result is right. What a kernel only moves (Copy,
// ReLU, a factor of exactly 0, what lies beyond the size, what is only read)
// must be exact. Noise has 10⁻⁵ standard deviations on top. Norms must not lie
// below the true ones, and sums keep the rule piece by piece.
package computetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// RunAll runs the suite; open returns a fresh backend at each call, which the
// suite closes.
func RunAll(t *testing.T, open func() compute.Backend) {
	tested := map[string]bool{}
	for _, p := range parts {
		tested[p.kernel] = true
		p.test(t, open)
	}
	for _, k := range compute.Kernels() {
		if !tested[k.Name] {
			t.Errorf("the suite has no part for the kernel %s", k.Name)
		}
	}
}

// RunKernel runs the suite's parts for one kernel: enough of a backend that has no other
// of its own.
func RunKernel(t *testing.T, kernel string, open func() compute.Backend) {
	tested := false
	for _, p := range parts {
		if p.kernel == kernel {
			tested = true
			p.test(t, open)
		}
	}
	if !tested {
		t.Errorf("the suite has no part for the kernel %s", kernel)
	}
}

// suitePart is a part of the suite. It is named after the kernel that it tests, or after one of its
// kind.
type suitePart struct {
	name, kernel string
	run          func(*check)
}

func (p suitePart) test(t *testing.T, open func() compute.Backend) {
	t.Run(p.name, func(t *testing.T) {
		for _, msg := range failures(p.run, open, 8) {
			t.Error(msg)
		}
	})
}

// parts holds the parts of the suite; a file with a part of its own appends it.
var parts = []suitePart{
	{"Memory", "", checkMemory},
	{"Order", "", checkOrder},
	{"Freed", "", checkFreed},
	{"Fill", "fill", checkFill},
	{"Copy", "copy", checkCopy},
	{"Scale", "scale", checkScale},
	{"Axpy", "axpy", checkAxpy},
	{"Mul", "mul", checkMul},
	{"Gemm", "gemm", checkGemm},
	{"Sums", "clear", checkSums},
	{"AddOuter", "addOuter", checkAddOuter},
	{"AddClampedOuter", "addOuter", checkAddClampedOuter},
	{"AddRoundedOuter", "addOuter", checkAddRoundedOuter},
	{"AddScaled", "addScaled", checkAddScaled},
	{"Settle", "settle", checkSettle},
	{"Split", "split", checkSplit},
	{"AddRow", "addRow", checkAddRow},
	{"RowNorms", "rowNorms", checkRowNorms},
	{"JoinRowNorms", "rowNorms", checkJoinRowNorms},
	{"JoinNorms", "joinNorms", checkJoinNorms},
	{"ScaleRows", "scaleRows", checkScaleRows},
	{"DropRows", "dropRows", checkDropRows},
	{"ReLU", "unary", checkReLU},
	{"ReLUGrad", "unaryGrad", checkReLUGrad},
	{"Tanh", "unary", checkTanh},
	{"TanhGrad", "unaryGrad", checkTanhGrad},
	{"GELU", "unary", checkGELU},
	{"GELUGrad", "unaryGrad", checkGELUGrad},
	{"Root", "unary", checkRoot},
	{"Finite", "finite", checkFinite},
	{"Hits", "hits", checkHits},
	{"Weigh", "weigh", checkWeigh},
	{"Normalize", "normalize", checkNormalize},
	{"SoftmaxCE", "loss", checkSoftmaxCE},
	{"SigmoidBCE", "loss", checkSigmoidBCE},
	{"Squared", "loss", checkSquared},
	{"Noise", "noise", checkNoise},
	{"Adam", "adam", checkAdam},
}

// failures runs one part of the suite on a fresh backend, until there are limit
// failures.
func failures(run func(*check), open func() compute.Backend, limit int) []string {
	c := &check{b: open(), rng: rand.New(rand.NewPCG(1, 2)), limit: limit}
	defer c.b.Close()
	c.probe()
	run(c)
	c.judge()
	return c.failed
}

// check is a part of the suite while it runs.
type check struct {
	b      compute.Backend
	rng    *rand.Rand
	args   []*arg
	judges []func()
	failed []string
	limit  int // of failed

	flushes   bool // the backend takes denormal values for 0 in arithmetic
	denormals bool // this part has them all the same: its kernel reads bits
}

// probe learns whether the backend takes denormal values for 0.
func (c *check) probe() {
	x := c.b.New(1)
	defer c.b.Free(x)
	c.b.Write(x, []float32{0x1p-130})
	kernel.Scale(c.b, 1, 0x1p30, x)
	var got [1]float32
	if err := compute.Read(context.Background(), c.b, got[:], x); err != nil {
		c.errorf("Read: %v", err)
	}
	c.flushes = got[0] == 0
}

func (c *check) errorf(format string, args ...any) {
	if !c.full() {
		c.failed = append(c.failed, fmt.Sprintf(format, args...))
	}
}

// pad is the number of values behind the data in each buffer. Each holds a
// sentinel that no kernel may touch.
const pad = 5

var sentinel = math.Float32frombits(0x7fc0beef) // a NaN, so that reading it shows too

// arg is a buffer under test and what it must hold afterwards.
type arg struct {
	name string
	buf  compute.Buffer
	data []float32 // before the call
	want []value   // after it; nil for the same data
}

// arg makes a buffer that holds data, and the padding.
func (c *check) arg(name string, data []float32) *arg {
	a := &arg{name: name, buf: c.b.New(len(data) + pad), data: data}
	all := make([]float32, len(data)+pad)
	for i := range all {
		all[i] = sentinel
	}
	copy(all, data)
	c.b.Write(a.buf, all)
	c.args = append(c.args, a)
	return a
}

// verify compares every arg made since the last verify with what is wanted of
// it, when that has come, and frees them. What it was about is told by format and args.
func (c *check) verify(format string, args ...any) {
	all := c.args
	c.args = nil
	coming := make([]compute.Pending, len(all))
	for i, a := range all {
		coming[i] = c.b.Fetch(a.buf)
		c.b.Free(a.buf)
	}
	c.later(func() {
		for i, a := range all {
			got := make([]float32, len(a.data)+pad)
			if err := coming[i].Wait(context.Background(), got); err != nil {
				c.errorf("%s: reading %s: %v", fmt.Sprintf(format, args...), a.name, err)
			}
			if msg := a.compare(got); msg != "" {
				c.errorf("%s: %s", fmt.Sprintf(format, args...), msg)
			}
		}
	})
}

// later has judge called when some more calls have been made: a backend that is far away
// is then waited for once for all of them.
func (c *check) later(judge func()) {
	if c.judges = append(c.judges, judge); len(c.judges) >= 50 {
		c.judge()
	}
}

func (c *check) judge() {
	judges := c.judges
	c.judges = nil
	for _, f := range judges {
		f()
	}
}

// get32 reads an argument as it is now.
func get32(c *check, a *arg) []float32 {
	got := make([]float32, len(a.data))
	if err := compute.Read(context.Background(), c.b, got, a.buf); err != nil {
		c.errorf("reading %s: %v", a.name, err)
	}
	return got
}

func (a *arg) compare(got []float32) string {
	n := len(a.data)
	if a.want != nil && len(a.want) != n {
		return fmt.Sprintf("the suite wants %d values of %s, which has %d", len(a.want), a.name, n)
	}
	for i, g := range got[:n] {
		w := exactly(a.data[i])
		if a.want != nil {
			w = a.want[i]
		}
		if !w.accepts(g) {
			return fmt.Sprintf("%s[%d] = %v, want %v", a.name, i, g, w)
		}
	}
	for i, g := range got[n:] {
		if !exactly(sentinel).accepts(g) {
			return fmt.Sprintf("%s[%d] beyond the size %d was overwritten with %v", a.name, n+i, n, g)
		}
	}
	return ""
}

// full reports that there is no use in going on.
func (c *check) full() bool { return len(c.failed) >= c.limit }

// normals returns n values from the standard normal distribution.
func (c *check) normals(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(c.rng.NormFloat64())
	}
	return v
}

var edges = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1e-40, -1e-40, 0x1p-126,
	math.MaxFloat32, -math.MaxFloat32, 1e30, -1e30, 1e-30, 1, -1, 88.8, -104,
}

// edgy returns n values, one in every about every of which is an edge value.
func (c *check) edgy(n, every int) []float32 {
	v := c.normals(n)
	for i := range v {
		if c.rng.IntN(every) != 0 {
			continue
		}
		v[i] = edges[c.rng.IntN(len(edges))]
		if tiny := v[i] != 0 && v[i] < 0x1p-126 && v[i] > -0x1p-126; tiny && c.flushes && !c.denormals {
			v[i] = 0
		}
	}
	return v
}

// sparse returns n values of which most are 0, or −0: four in five for a kind of 0,
// nine in ten with edge values among the others for 1, and all for 2.
func (c *check) sparse(n, kind int) []float32 {
	v := c.normals(n)
	if kind == 1 {
		v = c.edgy(n, 30)
	}
	for i := range v {
		if c.rng.IntN(5*(1+kind)) != 0 || kind == 2 {
			v[i] = float32(math.Copysign(0, float64(v[i])))
		}
	}
	return v
}

// finite replaces what is not finite, and what is far from 1, by 1.
func finite(v []float32) []float32 {
	for i, x := range v {
		if a := math.Abs(float64(x)); x != 0 && (a < 0x1p-20 || !(a < 0x1p20)) {
			v[i] = 1
		}
	}
	return v
}

// pictured returns edgy values, mostly zeros that stand side by side, as in pictures: so
// what is not finite meets zeros, too.
func (c *check) pictured(n, every int) []float32 {
	v := c.edgy(n, every)
	for at := 0; at < n; at += 24 {
		clear(v[at:min(at+1+c.rng.IntN(24), n)])
	}
	return v
}

// vectors calls f for each size with a maker of ordinary vectors, then with one
// of vectors full of edge values.
func (c *check) vectors(f func(n int, data func() []float32)) {
	for n := range 68 {
		f(n, func() []float32 { return c.normals(n) })
		f(n, func() []float32 { return c.edgy(n, 3) })
		if c.full() {
			return
		}
	}
	f(1021, func() []float32 { return c.edgy(1021, 20) })
}

// shapes calls f for each shape, with a maker of ordinary vectors and with one
// of vectors in which edge values are rare enough to leave some rows alone.
func (c *check) shapes(f func(m, n int, data func(n int) []float32)) {
	edgy := func(n int) []float32 { return c.edgy(n, 24) }
	for d := range 68 {
		for _, s := range [][2]int{{d, 3}, {2, d}, {d, d}, {5, d}, {d, 10}} {
			f(s[0], s[1], c.normals)
			f(s[0], s[1], edgy)
		}
		if c.full() {
			return
		}
	}
	f(3, 1021, c.normals)
	f(131, 37, edgy)
}
