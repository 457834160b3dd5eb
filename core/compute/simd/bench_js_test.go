package simd_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clipscope/core/chacha"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/simd"
	"clipscope/core/privacy"
)

// random returns a buffer of n normal values.
func random(b compute.Backend, n int) compute.Buffer {
	rng := rand.New(rand.NewPCG(1, 2))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	x := b.New(n)
	b.Write(x, v)
	return x
}

func BenchmarkGemm(b *testing.B) {
	be := open(b)
	const no, tr = kernel.NoTrans, kernel.Transpose
	for _, s := range []struct {
		name    string
		tA, tB  kernel.Trans
		m, n, k int
	}{
		{"square", no, no, 512, 512, 512},
		{"mlp/forward1", no, no, 128, 128, 784},
		{"mlp/forward2", no, no, 128, 10, 128},
		{"mlp/input2", no, tr, 128, 128, 10},
		{"mlp/weights2", tr, no, 128, 10, 128},
		{"mlp/weights1", tr, no, 784, 128, 128},
		{"softmax/forward", no, no, 600, 10, 784},
		{"softmax/weights", tr, no, 784, 10, 600},
		{"gram", no, tr, 128, 128, 784},
		{"gram/input", tr, no, 128, 128, 784},
		{"gram/squaring", no, tr, 128, 128, 128},
		{"vector/forward", no, no, 128, 1, 784},
		{"vector/weights", tr, no, 784, 1, 128},
	} {
		b.Run(s.name, func(b *testing.B) {
			x, y, z := random(be, s.m*s.k), random(be, s.k*s.n), be.New(s.m*s.n)
			if strings.HasPrefix(s.name, "gram") {
				y = x
			}
			for b.Loop() {
				kernel.Gemm(be, s.tA, s.tB, s.m, s.n, s.k, x, y, 0, z)
			}
			flops := 2 * float64(s.m*s.n*s.k) * float64(b.N)
			b.ReportMetric(flops/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}

func BenchmarkAddOuter(b *testing.B) {
	be := open(b)
	for _, s := range []struct {
		name    string
		m, n, k int
	}{
		{"mlp/weights1", 128, 784, 128},
		{"mlp/weights2", 128, 128, 10},
		{"mlp/bias1", 128, 1, 128},
		{"softmax/weights", 600, 784, 10},
	} {
		for name, each := range map[string]kernel.Each{"": kernel.Plain(), "/rounded": kernel.Rounded()} {
			b.Run(s.name+name, func(b *testing.B) {
				x, y, z := random(be, s.m*s.n), random(be, s.m*s.k), be.NewSums(s.n*s.k)
				for b.Loop() {
					kernel.AddOuter(be, s.m, s.n, s.k, each, x, y, z)
				}
				flops := 2 * float64(s.m*s.n*s.k) * float64(b.N)
				b.ReportMetric(flops/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}

func BenchmarkKernels(b *testing.B) {
	be := open(b)
	const n = 101_770
	const rows = 128
	x, y, z, w := random(be, n), random(be, n), random(be, n), random(be, n)
	labels, loss := be.New(rows), be.New(rows)
	sums, table := be.NewSums(n), be.New(chacha.TableLen)
	be.Write(table, privacy.Table())
	for _, k := range []struct {
		name string
		n    int
		run  func()
	}{
		{"Call", 1, func() { kernel.Fill(be, 0, 0, x) }},
		{"Fill", n, func() { kernel.Fill(be, n, 1, z) }},
		{"Copy", n, func() { kernel.Copy(be, n, z, x) }},
		{"Scale", n, func() { kernel.Scale(be, n, 1, z) }},
		{"Axpy", n, func() { kernel.Axpy(be, n, -1e-9, x, z) }},
		{"Mul", n, func() { kernel.Mul(be, n, z, x, y) }},
		{"Noise", n, func() { kernel.Noise(be, n, 1, compute.NoiseKey{}, z) }},
		{"Discrete/1", n, func() { kernel.Discrete(be, n, 1, []float64{1}, table, compute.NoiseKey{}, sums, z) }},
		{"Discrete/2", n, func() { kernel.Discrete(be, n, 1, []float64{1, 328}, table, compute.NoiseKey{}, sums, z) }},
		{"Adam", n, func() {
			kernel.Adam(be, n, kernel.AdamParams{Rate: 1, Beta1: .9, Beta2: .999, Eps: 1e-8}, x, y, w, z)
		}},
		{"AddRow", rows * 128, func() { kernel.AddRow(be, rows, 128, x, z) }},
		{"RowNorms", rows * 784, func() { kernel.RowNorms(be, rows, 784, x, loss) }},
		{"Clear", n, func() { kernel.Clear(be, sums) }},
		{"AddScaled", n, func() { kernel.AddScaled(be, n, 1e-9, x, sums) }},
		{"Settle", n, func() { kernel.Settle(be, n, sums, z) }},
		{"ScaleRows", rows * 128, func() { kernel.ScaleRows(be, rows, 128, labels, x, z) }},
		{"ReLU", rows * 128, func() { kernel.Unary(be, kernel.ReLU, rows*128, x, z) }},
		{"ReLUGrad", rows * 128, func() { kernel.UnaryGrad(be, kernel.ReLU, rows*128, x, y, z) }},
		{"Tanh", rows * 128, func() { kernel.Unary(be, kernel.Tanh, rows*128, x, z) }},
		{"TanhGrad", rows * 128, func() { kernel.UnaryGrad(be, kernel.Tanh, rows*128, x, y, z) }},
		{"SoftmaxCE", rows * 10, func() { kernel.Loss(be, kernel.SoftmaxCE, rows, 10, x, labels, loss, z) }},
		{"SigmoidBCE", rows * 10, func() { kernel.Loss(be, kernel.SigmoidBCE, rows, 10, x, y, loss, z) }},
		{"Squared", rows * 10, func() { kernel.Loss(be, kernel.Squared, rows, 10, x, y, loss, z) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				k.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(k.n), "ns/value")
		})
	}
}

// BenchmarkStep is one step of DP-SGD on an MLP 784-128-10 with 128 examples,
// by ghost norms and a weighted sum, without the nn package: what the kernels
// alone cost.
func BenchmarkStep(b *testing.B) {
	for _, private := range []bool{false, true} {
		b.Run(fmt.Sprintf("private=%t", private), func(b *testing.B) {
			s := newStep(open(b))
			for b.Loop() {
				s.run(private)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ms/step")
		})
	}
}

const batch, features, hidden, classes = 128, 784, 128, 10

type step struct {
	b                      *simd.Backend
	x, labels              compute.Buffer
	w1, b1, w2, b2         compute.Buffer
	h, z, dh, dz, loss     compute.Buffer
	norm, nX, nH, nDh, nDz compute.Buffer
	factors, ones          compute.Buffer
	s1, sb1, s2, sb2       compute.Sums
	g1, gb1, g2, gb2       compute.Buffer
	norms                  []float32
	key                    compute.NoiseKey
}

func newStep(b *simd.Backend) *step {
	r := func(n int) compute.Buffer { return random(b, n) }
	w1, w2 := r(features*hidden), r(hidden*classes)
	kernel.Scale(b, features*hidden, 0.05, w1)
	kernel.Scale(b, hidden*classes, 0.1, w2)
	return &step{
		b: b, x: r(batch * features), labels: b.New(batch),
		w1: w1, b1: b.New(hidden), w2: w2, b2: b.New(classes),
		h: b.New(batch * hidden), z: b.New(batch * classes), dh: b.New(batch * hidden), dz: b.New(batch * classes), loss: b.New(batch),
		norm: b.New(batch), nX: b.New(batch), nH: b.New(batch), nDh: b.New(batch), nDz: b.New(batch), factors: b.New(batch), ones: r(batch),
		s1: b.NewSums(features * hidden), sb1: b.NewSums(hidden), s2: b.NewSums(hidden * classes), sb2: b.NewSums(classes),
		g1: b.New(features * hidden), gb1: b.New(hidden), g2: b.New(hidden * classes), gb2: b.New(classes),
		norms: make([]float32, batch),
	}
}

func (s *step) run(private bool) {
	const no, tr = kernel.NoTrans, kernel.Transpose
	b := s.b
	kernel.Gemm(b, no, no, batch, hidden, features, s.x, s.w1, 0, s.h)
	kernel.AddRow(b, batch, hidden, s.b1, s.h)
	kernel.Unary(b, kernel.ReLU, batch*hidden, s.h, s.h)
	kernel.Gemm(b, no, no, batch, classes, hidden, s.h, s.w2, 0, s.z)
	kernel.AddRow(b, batch, classes, s.b2, s.z)
	kernel.Loss(b, kernel.SoftmaxCE, batch, classes, s.z, s.labels, s.loss, s.dz)
	kernel.Gemm(b, no, tr, batch, hidden, classes, s.dz, s.w2, 0, s.dh)
	kernel.UnaryGrad(b, kernel.ReLU, batch*hidden, s.h, s.dh, s.dh)
	if private {
		kernel.Fill(b, batch, 0, s.norm)
		kernel.RowNorms(b, batch, features, s.x, s.nX)
		kernel.RowNorms(b, batch, hidden, s.dh, s.nDh)
		kernel.JoinNorms(b, batch, s.nX, s.nDh, s.norm)
		kernel.RowNorms(b, batch, hidden, s.h, s.nH)
		kernel.RowNorms(b, batch, classes, s.dz, s.nDz)
		kernel.JoinNorms(b, batch, s.nH, s.nDz, s.norm)
		if err := compute.Read(context.Background(), b, s.norms, s.norm); err != nil {
			panic(err)
		}
		for i, v := range s.norms {
			s.norms[i] = 1 / max(1, v)
		}
		b.Write(s.factors, s.norms)
		kernel.ScaleRows(b, batch, hidden, s.factors, s.dh, s.dh)
		kernel.ScaleRows(b, batch, classes, s.factors, s.dz, s.dz)
	}
	for _, sums := range []compute.Sums{s.s1, s.sb1, s.s2, s.sb2} {
		kernel.Clear(b, sums)
	}
	kernel.AddOuter(b, batch, features, hidden, kernel.Plain(), s.x, s.dh, s.s1)
	kernel.AddOuter(b, batch, 1, hidden, kernel.Plain(), s.ones, s.dh, s.sb1)
	kernel.AddOuter(b, batch, hidden, classes, kernel.Plain(), s.h, s.dz, s.s2)
	kernel.AddOuter(b, batch, 1, classes, kernel.Plain(), s.ones, s.dz, s.sb2)
	for i, p := range []struct {
		n    int
		s    compute.Sums
		g, w compute.Buffer
	}{{features * hidden, s.s1, s.g1, s.w1}, {hidden, s.sb1, s.gb1, s.b1}, {hidden * classes, s.s2, s.g2, s.w2}, {classes, s.sb2, s.gb2, s.b2}} {
		std := float32(0)
		if private {
			std = 1e-3
		}
		s.key.Key[0]++
		s.key.Nonce[2] = uint32(i)
		kernel.Noise(b, p.n, std, s.key, p.g)
		kernel.Settle(b, p.n, p.s, p.g)
		kernel.Axpy(b, p.n, -1e-4, p.g, p.w)
	}
}
