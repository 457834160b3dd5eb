package computetest

import (
	"context"
	"math"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/purego"
)

// The mutants below are the reference backend with one defect each, of a kind
// that a SIMD or GPU kernel may have. Each must fail the part of the suite
// named after the kernel it breaks; so the suite tests something. That the
// reference itself passes is a test of package purego.

func TestMutantsFail(t *testing.T) {
	run := map[string]func(*check){}
	for _, k := range kernels {
		run[k.name] = k.run
	}
	for _, m := range mutants {
		t.Run(m.kernel+"/"+m.defect, func(t *testing.T) {
			open := func() compute.Backend { return m.open(purego.New()) }
			if msgs := failures(run[m.kernel], open, 1); len(msgs) == 0 {
				t.Error("the suite passes")
			}
		})
	}
}

// get and set reach a buffer's values.
func get(b compute.Backend, x compute.Buffer, n int) []float32 {
	v := make([]float32, n)
	if err := b.Read(context.Background(), v, x); err != nil {
		panic(err)
	}
	return v
}

func edit(b compute.Backend, x compute.Buffer, n int, f func(v []float32)) {
	v := get(b, x, n)
	f(v)
	b.Write(x, v)
}

type (
	dirtyNew    struct{ compute.Backend }
	keepSrc     struct{ compute.Backend }
	deafRead    struct{ compute.Backend }
	pastFill    struct{ compute.Backend }
	shortCopy   struct{ compute.Backend }
	scaleZero   struct{ compute.Backend }
	axpySkip    struct{ compute.Backend }
	mulAlias    struct{ compute.Backend }
	gemmBetaNaN struct{ compute.Backend }
	gemmNoBeta  struct{ compute.Backend }
	gemmTrans   struct{ compute.Backend }
	gemmTail    struct{ compute.Backend }
	gemmSkip0   struct{ compute.Backend }
	gemmHalf    struct{ compute.Backend }
	gemmPast    struct{ compute.Backend }
	outerFloat  struct{ compute.Backend }
	outerWhole  struct{ compute.Backend }
	sumClamped  struct{ compute.Backend }
	sumRounded  struct{ compute.Backend }
	scaledFloat struct{ compute.Backend }
	settleTwice struct{ compute.Backend }
	clearSome   struct{ compute.Backend }
	rowOnce     struct{ compute.Backend }
	normsSquare struct{ compute.Backend }
	normsBelow  struct{ compute.Backend }
	normsLost   struct{ compute.Backend }
	joinNoBias  struct{ compute.Backend }
	joinLost    struct{ compute.Backend }
	joinAll     struct{ compute.Backend }
	rowsNaN     struct{ compute.Backend }
	reluNaN     struct{ compute.Backend }
	reluGradGE  struct{ compute.Backend }
	tanhRough   struct{ compute.Backend }
	tanhNaN     struct{ compute.Backend }
	tanhGradX   struct{ compute.Backend }
	softmaxRaw  struct{ compute.Backend }
	softmaxInf  struct{ compute.Backend }
	softmaxCut  struct{ compute.Backend }
	softmaxNeg  struct{ compute.Backend }
	bceMean     struct{ compute.Backend }
	bceRaw      struct{ compute.Backend }
	squaredFull struct{ compute.Backend }
	noiseKey    struct{ compute.Backend }
	noiseTail   struct{ compute.Backend }
	noiseAdd    struct{ compute.Backend }
	adamEps     struct{ compute.Backend }
	adamNoBias  struct{ compute.Backend }
	spreadNoise struct{ compute.Backend }
	spreadOff   struct{ compute.Backend }
	rescaleLin  struct{ compute.Backend }
	eager       struct {
		compute.Backend
		last compute.Buffer
	}
)

var mutants = []struct {
	kernel, defect string
	open           func(compute.Backend) compute.Backend
}{
	{"Memory", "New does not clear", func(b compute.Backend) compute.Backend { return dirtyNew{b} }},
	{"Memory", "Write of a part clears the rest", func(b compute.Backend) compute.Backend { return keepSrc{b} }},
	{"Memory", "Read ignores its context", func(b compute.Backend) compute.Backend { return deafRead{b} }},
	{"Order", "Fill overtakes a Copy", func(b compute.Backend) compute.Backend { return &eager{Backend: b} }},
	{"Fill", "runs past the size", func(b compute.Backend) compute.Backend { return pastFill{b} }},
	{"Copy", "leaves a tail of n mod 4", func(b compute.Backend) compute.Backend { return shortCopy{b} }},
	{"Scale", "a = 0 clears NaN", func(b compute.Backend) compute.Backend { return scaleZero{b} }},
	{"Axpy", "a = 0 skips NaN", func(b compute.Backend) compute.Backend { return axpySkip{b} }},
	{"Mul", "dst is cleared first", func(b compute.Backend) compute.Backend { return mulAlias{b} }},
	{"Gemm", "beta 0 keeps NaN", func(b compute.Backend) compute.Backend { return gemmBetaNaN{b} }},
	{"Gemm", "beta is 1 or 0", func(b compute.Backend) compute.Backend { return gemmNoBeta{b} }},
	{"Gemm", "tB is ignored", func(b compute.Backend) compute.Backend { return gemmTrans{b} }},
	{"Gemm", "last of many terms left out", func(b compute.Backend) compute.Backend { return gemmTail{b} }},
	{"Gemm", "k = 0 does nothing", func(b compute.Backend) compute.Backend { return gemmSkip0{b} }},
	{"Gemm", "half precision", func(b compute.Backend) compute.Backend { return gemmHalf{b} }},
	{"Gemm", "writes beyond the size", func(b compute.Backend) compute.Backend { return gemmPast{b} }},
	{"Sums", "Clear leaves the last", func(b compute.Backend) compute.Backend { return clearSome{b} }},
	{"AddOuter", "summed in float32", func(b compute.Backend) compute.Backend { return outerFloat{b} }},
	{"AddOuter", "pieces of 4096 rows in float32", func(b compute.Backend) compute.Backend { return outerWhole{b} }},
	{"AddClampedOuter", "the sum clamped, not its terms", func(b compute.Backend) compute.Backend { return sumClamped{b} }},
	{"AddRoundedOuter", "the sum rounded, not its terms", func(b compute.Backend) compute.Backend { return sumRounded{b} }},
	{"AddScaled", "in float32", func(b compute.Backend) compute.Backend { return scaledFloat{b} }},
	{"Settle", "the sum rounded before it is added", func(b compute.Backend) compute.Backend { return settleTwice{b} }},
	{"AddRow", "last row left out", func(b compute.Backend) compute.Backend { return rowOnce{b} }},
	{"RowNorms", "squares", func(b compute.Backend) compute.Backend { return normsSquare{b} }},
	{"RowNorms", "a unit in the last place too small", func(b compute.Backend) compute.Backend { return normsBelow{b} }},
	{"RowNorms", "squares lost to underflow", func(b compute.Backend) compute.Backend { return normsLost{b} }},
	{"JoinNorms", "without the bias", func(b compute.Backend) compute.Backend { return joinNoBias{b} }},
	{"JoinNorms", "squares lost to underflow", func(b compute.Backend) compute.Backend { return joinLost{b} }},
	{"JoinNorms", "inputs of any length", func(b compute.Backend) compute.Backend { return joinAll{b} }},
	{"ScaleRows", "0·NaN is NaN", func(b compute.Backend) compute.Backend { return rowsNaN{b} }},
	{"ReLU", "NaN becomes 0", func(b compute.Backend) compute.Backend { return reluNaN{b} }},
	{"ReLUGrad", "passes at 0", func(b compute.Backend) compute.Backend { return reluGradGE{b} }},
	{"Tanh", "off by 3e-6", func(b compute.Backend) compute.Backend { return tanhRough{b} }},
	{"Tanh", "NaN becomes 1", func(b compute.Backend) compute.Backend { return tanhNaN{b} }},
	{"TanhGrad", "of the input", func(b compute.Backend) compute.Backend { return tanhGradX{b} }},
	{"SoftmaxCE", "maximum not subtracted", func(b compute.Backend) compute.Backend { return softmaxRaw{b} }},
	{"SoftmaxCE", "NaN reaches the next row", func(b compute.Backend) compute.Backend { return softmaxInf{b} }},
	{"SoftmaxCE", "small losses are 0", func(b compute.Backend) compute.Backend { return softmaxCut{b} }},
	{"SoftmaxCE", "small losses are negative", func(b compute.Backend) compute.Backend { return softmaxNeg{b} }},
	{"SigmoidBCE", "mean, not sum", func(b compute.Backend) compute.Backend { return bceMean{b} }},
	{"SigmoidBCE", "exp(z) overflows", func(b compute.Backend) compute.Backend { return bceRaw{b} }},
	{"Squared", "without the half", func(b compute.Backend) compute.Backend { return squaredFull{b} }},
	{"Noise", "nonce ignored", func(b compute.Backend) compute.Backend { return noiseKey{b} }},
	{"Noise", "tail cut", func(b compute.Backend) compute.Backend { return noiseTail{b} }},
	{"Noise", "adds instead of setting", func(b compute.Backend) compute.Backend { return noiseAdd{b} }},
	{"Adam", "eps inside the root", func(b compute.Backend) compute.Backend { return adamEps{b} }},
	{"Adam", "no bias correction", func(b compute.Backend) compute.Backend { return adamNoBias{b} }},
	{"Spread", "its own noise counted as deviation", func(b compute.Backend) compute.Backend { return spreadNoise{b} }},
	{"Spread", "the greatest variance ignored", func(b compute.Backend) compute.Backend { return spreadOff{b} }},
	{"Rescale", "lin is 1/b²", func(b compute.Backend) compute.Backend { return rescaleLin{b} }},
}

func (m dirtyNew) New(n int) compute.Buffer {
	x := m.Backend.New(n)
	if n > 0 {
		m.Backend.Fill(1, 1e-3, x)
	}
	return x
}

func (m keepSrc) Write(dst compute.Buffer, src []float32) {
	m.Backend.Fill(dst.Len(), 0, dst)
	m.Backend.Write(dst, src)
}

func (m deafRead) Read(_ context.Context, dst []float32, src compute.Buffer) error {
	return m.Backend.Read(context.Background(), dst, src)
}

func (m *eager) Copy(n int, dst, src compute.Buffer) {
	m.Backend.Copy(n, dst, src)
	m.last = dst
}

func (m *eager) Fill(n int, v float32, x compute.Buffer) {
	m.Backend.Fill(n, v, x)
	if m.last != nil {
		m.Backend.Copy(n, m.last, x)
	}
}

func (m pastFill) Fill(n int, v float32, x compute.Buffer) {
	m.Backend.Fill(min((n+3)/4*4, x.Len()), v, x)
}

func (m shortCopy) Copy(n int, dst, src compute.Buffer) { m.Backend.Copy(n/4*4, dst, src) }

func (m scaleZero) Scale(n int, a float32, x compute.Buffer) {
	if a == 0 {
		m.Backend.Fill(n, 0, x)
		return
	}
	m.Backend.Scale(n, a, x)
}

func (m axpySkip) Axpy(n int, a float32, x, y compute.Buffer) {
	if a != 0 {
		m.Backend.Axpy(n, a, x, y)
	}
}

func (m mulAlias) Mul(n int, dst, x, y compute.Buffer) {
	m.Backend.Fill(n, 0, dst)
	m.Backend.Mul(n, dst, x, y)
}

func (g gemmBetaNaN) Gemm(tA, tB compute.Trans, m, n, k int, a, b compute.Buffer, beta float32, c compute.Buffer) {
	if beta == 0 {
		g.Backend.Scale(m*n, 0, c)
		beta = 1
	}
	g.Backend.Gemm(tA, tB, m, n, k, a, b, beta, c)
}

func (g gemmNoBeta) Gemm(tA, tB compute.Trans, m, n, k int, a, b compute.Buffer, beta float32, c compute.Buffer) {
	if beta != 0 {
		beta = 1
	}
	g.Backend.Gemm(tA, tB, m, n, k, a, b, beta, c)
}

func (g gemmTrans) Gemm(tA, tB compute.Trans, m, n, k int, a, b compute.Buffer, beta float32, c compute.Buffer) {
	g.Backend.Gemm(tA, compute.NoTrans, m, n, k, a, b, beta, c)
}

func (g gemmTail) Gemm(tA, tB compute.Trans, m, n, k int, a, b compute.Buffer, beta float32, c compute.Buffer) {
	if k > 100 && m == 1 && n == 1 {
		k--
	}
	g.Backend.Gemm(tA, tB, m, n, k, a, b, beta, c)
}

func (g gemmSkip0) Gemm(tA, tB compute.Trans, m, n, k int, a, b compute.Buffer, beta float32, c compute.Buffer) {
	if k > 0 {
		g.Backend.Gemm(tA, tB, m, n, k, a, b, beta, c)
	}
}

func (g gemmHalf) Gemm(tA, tB compute.Trans, m, n, k int, a, b compute.Buffer, beta float32, c compute.Buffer) {
	g.Backend.Gemm(tA, tB, m, n, k, a, b, beta, c)
	edit(g.Backend, c, m*n, func(v []float32) {
		for i, x := range v {
			v[i] = math.Float32frombits(math.Float32bits(x) &^ 0xfff)
		}
	})
}

func (g gemmPast) Gemm(tA, tB compute.Trans, m, n, k int, a, b compute.Buffer, beta float32, c compute.Buffer) {
	g.Backend.Gemm(tA, tB, m, n, k, a, b, beta, c)
	if m*n%4 != 0 {
		edit(g.Backend, c, m*n+1, func(v []float32) { v[m*n] = 0 })
	}
}

// editSums changes the first n of s.
func editSums(b compute.Backend, s compute.Sums, n int, f func(v []float64)) {
	v := make([]float64, n)
	if err := b.ReadSums(context.Background(), v, s); err != nil {
		panic(err)
	}
	f(v)
	b.Clear(s)
	x := b.New(n)
	for _, scale := range []float64{1, 0x1p-25} { // in two parts, as buffers are float32
		part := make([]float32, n)
		for i := range v {
			part[i] = float32(v[i] / scale)
			v[i] -= float64(part[i]) * scale
		}
		b.Write(x, part)
		b.AddScaled(n, scale, x, s)
	}
}

func (s clearSome) Clear(x compute.Sums) {
	if x.Len() > 0 {
		one := s.Backend.New(x.Len())
		edit(s.Backend, one, x.Len(), func(v []float32) { v[0] = 1 })
		s.Backend.Clear(x)
		s.Backend.AddScaled(x.Len(), 1, one, x)
	}
}

// inFloat adds outer products as float32 does, rows rows at a time.
func inFloat(b compute.Backend, m, n, k, rows int, h, d compute.Buffer, dst compute.Sums) {
	hv, dv := get(b, h, m*n), get(b, d, m*k)
	for lo := 0; lo < m; lo += rows {
		part := b.New(n * k)
		edit(b, part, n*k, func(v []float32) {
			for i := lo; i < min(m, lo+rows); i++ {
				for p := range v {
					v[p] += hv[i*n+p/k] * dv[i*k+p%k]
				}
			}
		})
		b.AddScaled(n*k, 1, part, dst)
	}
}

func (s outerFloat) AddOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	inFloat(s.Backend, m, n, k, max(m, 1), h, d, dst)
}

func (s outerWhole) AddOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	inFloat(s.Backend, m, n, k, 4096, h, d, dst)
}

func (s sumClamped) AddClampedOuter(m, n, k int, c float32, h, d compute.Buffer, dst compute.Sums) {
	s.Backend.AddOuter(m, n, k, h, d, dst)
}

func (s sumRounded) AddRoundedOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	s.Backend.AddOuter(m, n, k, h, d, dst)
	editSums(s.Backend, dst, n*k, func(v []float64) {
		for i := range v {
			v[i] = math.RoundToEven(v[i])
		}
	})
}

func (s scaledFloat) AddScaled(n int, a float64, x compute.Buffer, dst compute.Sums) {
	s.Backend.AddScaled(n, float64(float32(a)), x, dst)
}

func (s settleTwice) Settle(n int, src compute.Sums, dst compute.Buffer) {
	before := get(s.Backend, dst, n)
	s.Backend.Fill(n, 0, dst)
	s.Backend.Settle(n, src, dst)
	edit(s.Backend, dst, n, func(v []float32) {
		for i := range v {
			v[i] = float32(float64(v[i]) + 1.0000005*float64(before[i]))
		}
	})
}

func (r rowOnce) AddRow(m, n int, b, y compute.Buffer) { r.Backend.AddRow(max(m-1, 0), n, b, y) }

func (s normsSquare) RowNorms(m, n int, x, dst compute.Buffer) {
	s.Backend.RowNorms(m, n, x, dst)
	s.Backend.Mul(m, dst, dst, dst)
}

func (s normsBelow) RowNorms(m, n int, x, dst compute.Buffer) {
	s.Backend.RowNorms(m, n, x, dst)
	s.Backend.Scale(m, 1-0x1p-23, dst)
}

func (s normsLost) RowNorms(m, n int, x, dst compute.Buffer) {
	s.Backend.RowNorms(m, n, x, dst)
	edit(s.Backend, dst, m, func(v []float32) {
		for i, f := range v {
			if f < 1e-19 {
				v[i] = 0
			}
		}
	})
}

func (s joinNoBias) JoinNorms(n int, h, d, dst compute.Buffer) {
	hv, dv := get(s.Backend, h, n), get(s.Backend, d, n)
	edit(s.Backend, dst, n, func(v []float32) {
		for i := range v {
			v[i] = float32(math.Hypot(float64(v[i]), float64(hv[i])*float64(dv[i])))
		}
	})
}

func (s joinLost) JoinNorms(n int, h, d, dst compute.Buffer) {
	small := get(s.Backend, d, n)
	edit(s.Backend, d, n, func(v []float32) {
		for i, f := range v {
			if f < 1e-19 {
				v[i] = 0
			}
		}
	})
	s.Backend.JoinNorms(n, h, d, dst)
	s.Backend.Write(d, small)
}

func (s joinAll) JoinNorms(n int, h, d, dst compute.Buffer) {
	long := get(s.Backend, h, n)
	edit(s.Backend, h, n, func(v []float32) {
		for i := range v {
			v[i] = min(v[i], compute.MaxInput)
		}
	})
	s.Backend.JoinNorms(n, h, d, dst)
	s.Backend.Write(h, long)
}

func (s rowsNaN) ScaleRows(m, n int, f, x, dst compute.Buffer) {
	nan := get(s.Backend, x, m*n)
	s.Backend.ScaleRows(m, n, f, x, dst)
	edit(s.Backend, dst, m*n, func(v []float32) {
		for i := range v {
			if nan[i] != nan[i] {
				v[i] = nan[i]
			}
		}
	})
}

func (r reluNaN) ReLU(n int, x, y compute.Buffer) {
	r.Backend.ReLU(n, x, y)
	edit(r.Backend, y, n, func(v []float32) {
		for i := range v {
			if v[i] != v[i] {
				v[i] = 0
			}
		}
	})
}

func (r reluGradGE) ReLUGrad(n int, y, dy, dx compute.Buffer) {
	yv, dyv := get(r.Backend, y, n), get(r.Backend, dy, n)
	r.Backend.ReLUGrad(n, y, dy, dx)
	edit(r.Backend, dx, n, func(v []float32) {
		for i := range v {
			if yv[i] == 0 {
				v[i] = dyv[i]
			}
		}
	})
}

func (r tanhRough) Tanh(n int, x, y compute.Buffer) {
	r.Backend.Tanh(n, x, y)
	r.Backend.Scale(n, 1+3e-6, y)
}

func (r tanhNaN) Tanh(n int, x, y compute.Buffer) {
	r.Backend.Tanh(n, x, y)
	edit(r.Backend, y, n, func(v []float32) {
		for i := range v {
			if v[i] != v[i] {
				v[i] = 1
			}
		}
	})
}

func (r tanhGradX) TanhGrad(n int, y, dy, dx compute.Buffer) {
	t := r.Backend.New(n)
	r.Backend.Tanh(n, y, t)
	r.Backend.TanhGrad(n, t, dy, dx)
}

func (s softmaxRaw) SoftmaxCE(m, n int, z, labels, loss, dz compute.Buffer) {
	zv, lv := get(s.Backend, z, m*n), get(s.Backend, labels, m)
	s.Backend.SoftmaxCE(m, n, z, labels, loss, dz)
	edit(s.Backend, loss, m, func(v []float32) {
		for i := range v {
			sum := float32(0)
			for _, x := range zv[i*n : (i+1)*n] {
				sum += float32(math.Exp(float64(x)))
			}
			v[i] = float32(math.Log(float64(sum))) - zv[i*n+int(lv[i])]
		}
	})
}

func (s softmaxInf) SoftmaxCE(m, n int, z, labels, loss, dz compute.Buffer) {
	s.Backend.SoftmaxCE(m, n, z, labels, loss, dz)
	edit(s.Backend, loss, m, func(v []float32) {
		for i := 1; i < m; i++ {
			v[i] += 0 * v[i-1]
		}
	})
}

func (s softmaxCut) SoftmaxCE(m, n int, z, labels, loss, dz compute.Buffer) {
	s.Backend.SoftmaxCE(m, n, z, labels, loss, dz)
	edit(s.Backend, loss, m, func(v []float32) {
		for i, x := range v {
			v[i] = (x + 1) - 1
		}
	})
}

func (s softmaxNeg) SoftmaxCE(m, n int, z, labels, loss, dz compute.Buffer) {
	s.Backend.SoftmaxCE(m, n, z, labels, loss, dz)
	edit(s.Backend, loss, m, func(v []float32) {
		for i := range v {
			v[i] -= 0x1p-130 // within the tolerance
		}
	})
}

func (s bceMean) SigmoidBCE(m, n int, z, t, loss, dz compute.Buffer) {
	s.Backend.SigmoidBCE(m, n, z, t, loss, dz)
	s.Backend.Scale(m, 1/float32(n), loss)
}

func (s bceRaw) SigmoidBCE(m, n int, z, t, loss, dz compute.Buffer) {
	zv, tv := get(s.Backend, z, m*n), get(s.Backend, t, m*n)
	s.Backend.SigmoidBCE(m, n, z, t, loss, dz)
	edit(s.Backend, dz, m*n, func(v []float32) {
		for i := range v {
			e := float32(math.Exp(float64(zv[i])))
			v[i] = e/(1+e) - tv[i]
		}
	})
}

func (s squaredFull) Squared(m, n int, z, t, loss, dz compute.Buffer) {
	s.Backend.Squared(m, n, z, t, loss, dz)
	s.Backend.Scale(m, 2, loss)
}

func (s noiseKey) Noise(n int, std float32, key compute.NoiseKey, dst compute.Buffer) {
	key.Nonce[2] = 0
	s.Backend.Noise(n, std, key, dst)
}

func (s noiseTail) Noise(n int, std float32, key compute.NoiseKey, dst compute.Buffer) {
	s.Backend.Noise(n, std, key, dst)
	edit(s.Backend, dst, n, func(v []float32) {
		limit := 4.5 * math.Abs(float64(std))
		for i := range v {
			v[i] = float32(max(-limit, min(limit, float64(v[i]))))
		}
	})
}

func (s noiseAdd) Noise(n int, std float32, key compute.NoiseKey, dst compute.Buffer) {
	before := s.New(n)
	defer s.Free(before)
	s.Axpy(n, 1, dst, before)
	s.Backend.Noise(n, std, key, dst)
	s.Axpy(n, 1, before, dst)
}

func (s adamEps) Adam(n int, p compute.AdamParams, g, m, v, w compute.Buffer) {
	p.Eps = float32(math.Sqrt(float64(p.Eps)))
	s.Backend.Adam(n, p, g, m, v, w)
}

func (s adamNoBias) Adam(n int, p compute.AdamParams, g, m, v, w compute.Buffer) {
	p.C1, p.C2 = 1, 1
	s.Backend.Adam(n, p, g, m, v, w)
}

func (s spreadNoise) Spread(n int, p compute.SpreadParams, g, m, r compute.Buffer) {
	p.Noise = 0
	s.Backend.Spread(n, p, g, m, r)
}

func (s spreadOff) Spread(n int, p compute.SpreadParams, g, m, r compute.Buffer) {
	p.Greatest = math.MaxFloat32
	s.Backend.Spread(n, p, g, m, r)
}

func (s rescaleLin) Rescale(n int, scale float32, m, r, b, inv, lin compute.Buffer) {
	s.Backend.Rescale(n, scale, m, r, b, inv, lin)
	s.Backend.Copy(n, lin, inv)
}
