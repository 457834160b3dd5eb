package webgpu_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
	"clipscope/core/compute/webgpu"
)

// TestJoinedCallsGiveTheSameBits: calls that others do the work of, or that do not, as what they write is read
// elsewhere, leave the same bits in every buffer as when each is made alone.
func TestJoinedCallsGiveTheSameBits(t *testing.T) {
	b := open(t)
	defer b.Close()
	key := compute.NoiseKey{Key: [8]uint32{1, 2, 3}, Nonce: [3]uint32{1 << 16, 7, 0}}
	window := picture.Window{Height: 6, Width: 5, Channels: 3, High: 3, Wide: 3, Stride: 1, Pad: 1}
	strided := picture.Window{Height: 7, Width: 7, Channels: 5, High: 3, Wide: 3, Stride: 2, Pad: 1}
	groups := picture.Groups{Positions: 20, Channels: 6, Count: 2}
	const m = 9
	sums, few, many := b.NewSums(5000), b.NewSums(50*30), b.NewSums(70*100)
	kernel.Clear(b, sums)
	kernel.Clear(b, few)
	kernel.Clear(b, many)
	for _, c := range []struct {
		name  string
		sizes []int // of buffers
		saved int   // commands
		run   []func(x []compute.Buffer)
	}{
		{"product, bias, ReLU", []int{m * 40, 40 * 33, m * 33, 33, m * 33}, 2, []func([]compute.Buffer){
			func(x []compute.Buffer) {
				kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, m, 33, 40, x[0], x[1], 0, x[2])
			},
			func(x []compute.Buffer) { kernel.AddRow(b, m, 33, x[3], x[2]) },
			func(x []compute.Buffer) { kernel.Unary(b, kernel.ReLU, m*33, x[2], x[4]) },
		}},
		{"product on what is there, bias, ReLU in its place", []int{m * 40, 40 * 33, m * 33, 33}, 2, []func([]compute.Buffer){
			func(x []compute.Buffer) {
				kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, m, 33, 40, x[0], x[1], 0.5, x[2])
			},
			func(x []compute.Buffer) { kernel.AddRow(b, m, 33, x[3], x[2]) },
			func(x []compute.Buffer) { kernel.Unary(b, kernel.ReLU, m*33, x[2], x[2]) },
		}},
		{"product, back through a ReLU", []int{m * 40, 33 * 40, m * 33, m * 33, m * 33}, 1, []func([]compute.Buffer){
			func(x []compute.Buffer) {
				kernel.Gemm(b, kernel.NoTrans, kernel.Transpose, m, 33, 40, x[0], x[1], 0, x[2])
			},
			func(x []compute.Buffer) { kernel.UnaryGrad(b, kernel.ReLU, m*33, x[3], x[2], x[4]) },
		}},
		{"product, bias, and a ReLU where it is read", []int{m * 40, 40 * 40, m * 40, 40}, 1, []func([]compute.Buffer){
			func(x []compute.Buffer) {
				kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, m, 40, 40, x[0], x[1], 0, x[2])
			},
			func(x []compute.Buffer) { kernel.AddRow(b, m, 40, x[3], x[2]) },
			func(x []compute.Buffer) { kernel.Unary(b, kernel.ReLU, m*40, x[2], x[0]) },
		}},
		{"product, its own row as the bias", []int{m * 40, 40 * 33, m * 33}, 0, []func([]compute.Buffer){
			func(x []compute.Buffer) {
				kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, m, 33, 40, x[0], x[1], 0, x[2])
			},
			func(x []compute.Buffer) { kernel.AddRow(b, m-1, 33, x[2].Slice(0, 33), x[2].Slice(33, (m-1)*33)) },
		}},
		{"product, tanh", []int{m * 40, 40 * 33, m * 33, m * 33}, 0, []func([]compute.Buffer){
			func(x []compute.Buffer) {
				kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, m, 33, 40, x[0], x[1], 0, x[2])
			},
			func(x []compute.Buffer) { kernel.Unary(b, kernel.Tanh, m*33, x[2], x[3]) },
		}},
		{"product of pieces apart, bias", []int{8192 * 8, 8192 * 8, 64, 8}, 0, []func([]compute.Buffer){
			func(x []compute.Buffer) {
				kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, 8, 8, 8192, x[0], x[1], 0, x[2])
			},
			func(x []compute.Buffer) { kernel.AddRow(b, 8, 8, x[3], x[2]) },
		}},
		{"convolution, ReLU", []int{m * window.In(), window.Patch() * 8, 8, m * window.Places() * 8, m * window.Places() * 8}, 1, []func([]compute.Buffer){
			func(x []compute.Buffer) { picture.Conv(b, window, m, 8, x[0], x[1], x[2], x[3]) },
			func(x []compute.Buffer) { kernel.Unary(b, kernel.ReLU, m*window.Places()*8, x[3], x[4]) },
		}},
		{"convolution's gradient, back through a ReLU", []int{m * strided.Places() * 8, strided.Patch() * 8, m * strided.In(), m * strided.In(), m * strided.In()}, 1, []func([]compute.Buffer){
			func(x []compute.Buffer) { picture.ConvGrad(b, strided, m, 8, x[0], x[1], x[2]) },
			func(x []compute.Buffer) { kernel.UnaryGrad(b, kernel.ReLU, m*strided.In(), x[3], x[2], x[4]) },
		}},
		{"convolution, and back through a ReLU", []int{m * window.In(), window.Patch() * 8, 8, m * window.Places() * 8, m * window.Places() * 8, m * window.Places() * 8}, 0, []func([]compute.Buffer){
			func(x []compute.Buffer) { picture.Conv(b, window, m, 8, x[0], x[1], x[2], x[3]) },
			func(x []compute.Buffer) { kernel.UnaryGrad(b, kernel.ReLU, m*window.Places()*8, x[4], x[3], x[5]) },
		}},
		{"group norm, and back through a ReLU", []int{m * 120, 12, m * groups.Stats(), m * 120, m * 120, m * 120}, 0, []func([]compute.Buffer){
			func(x []compute.Buffer) { picture.GroupNorm(b, groups, m, x[0], x[1], x[2], x[3]) },
			func(x []compute.Buffer) { kernel.UnaryGrad(b, kernel.ReLU, m*120, x[4], x[3], x[5]) },
		}},
		{"product, bias, and back through a ReLU", []int{m * 40, 40 * 33, m * 33, 33, m * 33, m * 33}, 1, []func([]compute.Buffer){
			func(x []compute.Buffer) {
				kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, m, 33, 40, x[0], x[1], 0, x[2])
			},
			func(x []compute.Buffer) { kernel.AddRow(b, m, 33, x[3], x[2]) },
			func(x []compute.Buffer) { kernel.UnaryGrad(b, kernel.ReLU, m*33, x[4], x[2], x[5]) },
		}},
		{"group norm, ReLU", []int{m * 120, 12, m * groups.Stats(), m * 120, m * 120}, 1, []func([]compute.Buffer){
			func(x []compute.Buffer) { picture.GroupNorm(b, groups, m, x[0], x[1], x[2], x[3]) },
			func(x []compute.Buffer) { kernel.Unary(b, kernel.ReLU, m*120, x[3], x[4]) },
		}},
		{"sum, ReLU", []int{500, 500, 500, 500}, 2, []func([]compute.Buffer){
			func(x []compute.Buffer) { kernel.Copy(b, 500, x[0], x[1]) },
			func(x []compute.Buffer) { kernel.Axpy(b, 500, 0.75, x[2], x[0]) },
			func(x []compute.Buffer) { kernel.Unary(b, kernel.ReLU, 500, x[0], x[3]) },
		}},
		{"twice itself", []int{500, 500}, 0, []func([]compute.Buffer){
			func(x []compute.Buffer) { kernel.Copy(b, 500, x[0], x[1]) },
			func(x []compute.Buffer) { kernel.Axpy(b, 400, 1, x[1], x[0]) },
		}},
		{"rows scaled and dropped", []int{m, m * 30, m * 30, m * 50}, 1, []func([]compute.Buffer){
			func(x []compute.Buffer) { kernel.ScaleRows(b, m, 30, x[0], x[1], x[2]) },
			func(x []compute.Buffer) { kernel.DropRows(b, m, 50, x[0], x[3]) },
		}},
		{"rows scaled and dropped again", []int{m, m * 30, m * 30}, 0, []func([]compute.Buffer){
			func(x []compute.Buffer) { kernel.ScaleRows(b, m, 30, x[0], x[1], x[2]) },
			func(x []compute.Buffer) { kernel.DropRows(b, m, 30, x[0], x[1]) },
		}},
		{"rows scaled and dropped in a sum", []int{50 * 30, m * (1 + 30 + 50), m * 30}, 2, scaledSums(b, m, 50, 30, few)},
		{"rows scaled and dropped in a sum of blocks", []int{50 * 30, 300 * (1 + 30 + 50), 300 * 30}, 2, scaledSums(b, 300, 50, 30, few)},
		{"rows scaled and dropped in a sum of several tiles", []int{70 * 100, 70 * (1 + 100 + 70), 70 * 100}, 2, scaledSums(b, 70, 70, 100, many)},
		{"rows scaled and dropped in a sum of tiles and blocks apart", []int{70 * 100, 1100 * (1 + 100 + 70), 1100 * 100}, 2, scaledSums(b, 1100, 70, 100, many)},
		{"rows scaled in their place, and summed", []int{50 * 30, m * (1 + 30 + 50)}, 1, []func([]compute.Buffer){
			func([]compute.Buffer) { kernel.Clear(b, few) },
			func(x []compute.Buffer) {
				kernel.ScaleRows(b, m, 30, x[1].Slice(0, m), x[1].Slice(m, m*30), x[1].Slice(m, m*30))
			},
			func(x []compute.Buffer) { kernel.DropRows(b, m, 50, x[1].Slice(0, m), x[1].Slice(m*31, m*50)) },
			func(x []compute.Buffer) {
				kernel.AddOuter(b, m, 50, 30, kernel.Plain(), x[1].Slice(m*31, m*50), x[1].Slice(m, m*30), few)
			},
			func(x []compute.Buffer) { kernel.Settle(b, 50*30, few, x[0]) },
		}},
		{"sums settled and scaled", []int{5000, 5000, 1}, 1, []func([]compute.Buffer){
			func([]compute.Buffer) { kernel.Clear(b, sums) },
			func(x []compute.Buffer) { kernel.AddOuter(b, 1, 1, 5000, kernel.Plain(), x[2], x[1], sums) },
			func(x []compute.Buffer) { kernel.Settle(b, 5000, sums, x[0]) },
			func(x []compute.Buffer) { kernel.Scale(b, 5000, 0.3, x[0]) },
		}},
		{"noise", []int{60_000}, 22, func() (all []func([]compute.Buffer)) {
			at := 0
			for i := range 24 { // one more than a call has
				n := []int{1, 1023, 1024, 1025, 5000, 64, 3}[i%7]
				from, k := at, key
				k.Nonce[0] += uint32(i)
				all = append(all, func(x []compute.Buffer) { kernel.Noise(b, n, 1.5, k, x[0].Slice(from, n)) })
				at += n
			}
			return all
		}()},
		{"noise of other keys", []int{60}, 0, []func([]compute.Buffer){
			func(x []compute.Buffer) { kernel.Noise(b, 20, 1, key, x[0].Slice(0, 20)) },
			func(x []compute.Buffer) { kernel.Noise(b, 20, 1, key, x[0].Slice(20, 20)) },
			func(x []compute.Buffer) {
				k := key
				k.Nonce[0]++
				k.Nonce[1]++
				kernel.Noise(b, 20, 1, k, x[0].Slice(40, 20))
			},
		}},
	} {
		rng := rand.New(rand.NewPCG(40, 4))
		var before [][]float32
		for i, n := range c.sizes {
			v := make([]float32, n)
			for j := range v {
				v[j] = float32(rng.NormFloat64())
				if i != 1 && rng.IntN(60) == 0 { // weights and the like stay finite, or all is NaN
					v[j] = []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e30, -1e-30}[rng.IntN(7)]
				}
			}
			before = append(before, v)
		}
		ended := func(alone bool) (all [][]float32, commands int) {
			var x []compute.Buffer
			for _, v := range before {
				buf := b.New(len(v))
				b.Write(buf, v)
				x = append(x, buf)
			}
			commands = b.Stats().Commands
			b.Alone()
			for _, run := range c.run {
				if alone {
					b.Alone()
				}
				run(x)
			}
			commands = b.Stats().Commands - commands
			for _, buf := range x {
				v := make([]float32, buf.N)
				if err := compute.Read(context.Background(), b, v, buf); err != nil {
					t.Fatal(c.name, err)
				}
				all = append(all, v)
				b.Free(buf)
			}
			return all, commands
		}
		want, each := ended(true)
		got, fewer := ended(false)
		if each-fewer != c.saved {
			t.Errorf("%s: %d commands in the place of %d, want %d less", c.name, fewer, each, c.saved)
		}
		for i := range want {
			if !slices.EqualFunc(got[i], want[i], func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }) {
				j := slices.IndexFunc(want[i], func(w float32) bool { return w == w })
				t.Errorf("%s: buffer %d is other than where each call is made alone: %s", c.name, i, fmt.Sprint(got[i][j:j+5], want[i][j:j+5]))
			}
		}
	}
}

// scaledSums calls what sums the outer products of m rows of n and k values by their factors, of which some are 0, as of
// rows that have NaN.
func scaledSums(b *webgpu.Backend, m, n, k int, sums compute.Sums) []func([]compute.Buffer) {
	factors := func(x []compute.Buffer) compute.Buffer { return x[1].Slice(0, m) }
	d := func(x []compute.Buffer) compute.Buffer { return x[1].Slice(m, m*k) }
	h := func(x []compute.Buffer) compute.Buffer { return x[1].Slice(m*(1+k), m*n) }
	return []func([]compute.Buffer){
		func(x []compute.Buffer) {
			kernel.Clear(b, sums)
			kernel.Fill(b, 3, 0, factors(x).Slice(m-4, 3))
			kernel.Fill(b, 2*n, float32(math.NaN()), h(x).Slice((m-4)*n, 2*n))
			kernel.Fill(b, 2*k, float32(math.Inf(1)), d(x).Slice((m-3)*k, 2*k))
			kernel.Fill(b, 1, 0x1p-140, factors(x).Slice(0, 1))
		},
		func(x []compute.Buffer) { kernel.ScaleRows(b, m, k, factors(x), d(x), x[2]) },
		func(x []compute.Buffer) { kernel.DropRows(b, m, n, factors(x), h(x)) },
		func(x []compute.Buffer) { kernel.AddOuter(b, m, n, k, kernel.Plain(), h(x), x[2], sums) },
		func(x []compute.Buffer) { kernel.Settle(b, n*k, sums, x[0]) },
	}
}
