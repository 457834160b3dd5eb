package webgpu_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
	"clipscope/core/compute/shader"
)

// tiles holds the entry points of products: the rows and columns that a workgroup has, and
// the pieces of the terms that it takes side by side.
var tiles = []struct {
	entry        string
	size, pieces int
}{{"tile16", 16, 16}, {"tile32", 32, 4}, {"tile64", 64, 1}, {"tile128", 128, 1}}

// TestTilesGiveTheSameBits: every tile gives each result of a product the same bits, right ones,
// and twice. So the choice of a tile may depend on the number of rows, and no row does.
func TestTilesGiveTheSameBits(t *testing.T) {
	b := open(t)
	defer b.Close()
	rng := rand.New(rand.NewPCG(40, 1))
	sizes := []int{1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}
	terms := []int{0, 1, 3, 4, 7, 8, 15, 16, 17, 63, 64, 65, 127, 129, 257, 1025, 1090}
	hostile := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, 1e30, -1e30, 0, 0x1p-126}
	values := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	for trial := range 2 * len(sizes) {
		m, n, k := sizes[trial%len(sizes)], sizes[(trial*trial+3)%len(sizes)], terms[(5*trial+1)%len(terms)]
		x, y, before := values(m*k), values(k*n), values(m*n)
		for range trial % 3 { // rows and columns that are not finite, among others
			if k > 0 {
				x[rng.IntN(m*k)], y[rng.IntN(k*n)] = hostile[rng.IntN(len(hostile))], hostile[rng.IntN(len(hostile))]
			}
		}
		transA, transB := trial&1 != 0, trial&2 != 0
		a := compute.Args{N: [5]int{trial & 1, trial >> 1 & 1, m, n, k}, F: [6]float64{[]float64{0, -0.75}[trial%2]}}
		bx, by, bz := b.New(m*k+3), b.New(k*n+3), b.New(m*n)
		skip := trial % 4 // the first values stand anywhere
		a.Buf[0], a.Buf[1], a.Buf[2] = bx.Slice(skip, m*k), by.Slice(3-skip, k*n), bz
		b.Write(a.Buf[0], x)
		b.Write(a.Buf[1], y)
		var want []float32
		for range 2 {
			for i := range 2 * len(tiles) {
				way, apart := tiles[i/2], i%2 == 1
				call, space := a, 0
				stages := []shader.Stage{{Entry: way.entry, Groups: [3]int{shader.Per(n, way.size) * shader.Per(m, way.size), 1, 1}}}
				if apart {
					call.F[1], space = 1, max(1, shader.Per(k, 64)*m*n)
					stages[0].Groups[0] *= max(1, shader.Per(k, 64*way.pieces))
					stages = append(stages, shader.Stage{Entry: "join", Groups: [3]int{shader.Per(m*n, 64), 1, 1}})
				}
				b.Write(bz, before)
				b.RunStages("gemm", call, space, stages...)
				got := make([]float32, m*n)
				if err := compute.Read(context.Background(), b, got, bz); err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				for i, v := range got {
					if w := want[i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
						t.Fatalf("%d×%d, %d terms, transposed: %t, %t: %s, apart: %t: result %d is %v, and %v by %s", m, n, k, transA, transB, way.entry, apart, i, v, w, tiles[0].entry)
					}
				}
			}
		}
		for i, got := range want {
			sum, size := a.F[0]*float64(before[i]), math.Abs(a.F[0]*float64(before[i]))
			for l := range k {
				at, to := i/n*k+l, l*n+i%n
				if transA {
					at = l*m + i/n
				}
				if transB {
					to = i%n*k + l
				}
				p := float64(x[at]) * float64(y[to])
				sum, size = sum+p, size+math.Abs(p)
			}
			switch {
			case math.IsNaN(sum) && got == got, math.IsInf(sum, 0) && float64(got) != sum:
			case size > math.MaxFloat32/2, math.IsNaN(sum), math.IsInf(sum, 0), math.Abs(float64(got)-sum) <= float64(k+1)*(0x1p-24*size+0x1p-126):
				continue
			}
			t.Fatalf("%d×%d, %d terms, transposed: %t, %t: result %d is %v, want %v", m, n, k, transA, transB, i, got, sum)
		}
		b.Free(bx)
		b.Free(by)
		b.Free(bz)
	}
}

// TestConvolutionsGiveTheSameBitsInAllTiles: a convolution, and both of its gradients, are the same to
// the bit in every tile, around whose edges there are pictures, places, channels and windows.
// What they should be is known to the suite, which has them in one of the tiles.
func TestConvolutionsGiveTheSameBitsInAllTiles(t *testing.T) {
	b := open(t)
	defer b.Close()
	rng := rand.New(rand.NewPCG(40, 2))
	values := func(n int) compute.Buffer {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		x := b.New(n)
		b.Write(x, v)
		return x
	}
	for _, s := range []struct {
		picture.Window
		m, k int
	}{
		{picture.Window{Height: 3, Width: 5, Channels: 1, High: 3, Wide: 3, Stride: 1, Pad: 1}, 1, 1},
		{picture.Window{Height: 4, Width: 4, Channels: 7, High: 3, Wide: 3, Stride: 1, Pad: 1}, 8, 16}, // 128 places, a window of 63 values and the bias
		{picture.Window{Height: 9, Width: 7, Channels: 17, High: 4, Wide: 2, Stride: 2, Pad: 1}, 11, 33},
		{picture.Window{Height: 8, Width: 8, Channels: 16, High: 8, Wide: 8, Stride: 3, Pad: 3}, 3, 15},
		{picture.Window{Height: 7, Width: 1, Channels: 65, High: 2, Wide: 1, Stride: 1}, 3, 65},
		{picture.Window{Height: 5, Width: 6, Channels: 32, High: 1, Wide: 1, Stride: 2}, 43, 127}, // 387 places; a window that leaves positions out
		{picture.Window{Height: 9, Width: 9, Channels: 3, High: 2, Wide: 3, Stride: 4, Pad: 1}, 5, 129},
		{picture.Window{Height: 33, Width: 31, Channels: 1, High: 5, Wide: 5, Stride: 1, Pad: 2}, 2, 10}, // 1,023 places
	} {
		w := s.Window
		in, out, weights, stride := w.In(), w.Places()*s.k, w.Patch()*s.k, w.Stride
		x, dy, parameters := values(s.m*in), values(s.m*out), values(weights+s.k)
		for _, c := range []struct {
			kernel     string
			operands   []compute.Buffer // and the result
			size       int              // of the result
			m, n, many int              // of products
		}{
			{"conv", []compute.Buffer{x, parameters.Slice(0, weights), parameters.Slice(weights, s.k)}, s.m * out, s.m * w.Places(), s.k, 1},
			{"convGrad", []compute.Buffer{dy, parameters.Slice(0, weights)}, s.m * in, s.m * shader.Per(w.Height, stride) * shader.Per(w.Width, stride), w.Channels, stride * stride},
			{"convWeights", []compute.Buffer{x, dy}, s.m * (w.Patch() + 1) * s.k, w.Patch() + 1, s.k, s.m},
		} {
			a := compute.Args{N: [5]int{s.m, w.Height, w.Width, w.Channels, s.k}, F: [6]float64{float64(w.High), float64(w.Wide), float64(stride), float64(w.Pad)}}
			copy(a.Buf[:], c.operands)
			var want []float32
			for _, way := range tiles[1:3] {
				result := values(c.size)
				a.Buf[len(c.operands)] = result
				b.RunStages(c.kernel, a, 0, shader.Stage{Entry: way.entry, Groups: [3]int{c.many * shader.Per(c.m, way.size) * shader.Per(c.n, way.size), 1, 1}})
				got := make([]float32, c.size)
				if err := compute.Read(context.Background(), b, got, result); err != nil {
					t.Fatal(err)
				}
				b.Free(result)
				if want == nil {
					want = got
				}
				for i, v := range got {
					if math.Float32bits(v) != math.Float32bits(want[i]) {
						t.Fatalf("%s of %d pictures, %d channels out, %+v: %s: result %d is %v, and %v by %s", c.kernel, s.m, s.k, w, way.entry, i, v, want[i], tiles[1].entry)
					}
				}
			}
		}
		b.Free(x)
		b.Free(dy)
		b.Free(parameters)
	}
}

// TestWorkgroupsInRowsHaveTheirTiles: where workgroups stand in several rows, as more of them do than may stand
// side by side, each has a tile of its own, and those beyond the last have none.
func TestWorkgroupsInRowsHaveTheirTiles(t *testing.T) {
	b := open(t)
	defer b.Close()
	const n = 4*16 + 5 // five tiles, and six workgroups
	x, y, z := b.New(1), b.New(n), b.New(n)
	row := make([]float32, n)
	for i := range row {
		row[i] = float32(i)
	}
	b.Write(x, []float32{2})
	b.Write(y, row)
	kernel.Fill(b, n, 8, z)
	a := compute.Args{N: [5]int{0, 0, 1, n, 1}, F: [6]float64{0.5}, Buf: [5]compute.Buffer{x, y, z}} // a tile computed twice would halve twice
	b.RunStages("gemm", a, 0, shader.Stage{Entry: "tile16", Groups: [3]int{3, 2, 1}})
	got := make([]float32, n)
	if err := compute.Read(context.Background(), b, got, z); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if w := 2*row[i] + 4; v != w {
			t.Fatalf("result %d is %v, want %v", i, v, w)
		}
	}
}

// TestBlocksOfSumsGiveTheSameBits: a sum of outer products is the same to the bit in either tile, whether its blocks have
// workgroups of their own or not, and is right.
func TestBlocksOfSumsGiveTheSameBits(t *testing.T) {
	b := open(t)
	defer b.Close()
	rng := rand.New(rand.NewPCG(40, 3))
	values := func(n int) ([]float32, compute.Buffer) {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		x := b.New(n)
		b.Write(x, v)
		return v, x
	}
	for _, s := range [][3]int{{1, 2, 1}, {63, 15, 33}, {64, 65, 31}, {65, 32, 64}, {255, 129, 3}, {256, 3, 127}, {257, 33, 17}, {700, 64, 64}, {1025, 7, 66}} {
		m, n, k := s[0], s[1], s[2]
		h, x := values(m * n)
		d, y := values(m * k)
		before, start := values(n * k)
		sums := b.NewSums(n * k)
		var want []float64
		for _, way := range tiles[1:3] {
			for _, apart := range []bool{false, true} {
				blocks := shader.Per(m, compute.BlockRows)
				a, space := compute.Args{N: [5]int{m, n, k}, Buf: [5]compute.Buffer{x, y}, Sums: sums}, 0
				stages := []shader.Stage{{Entry: way.entry, Groups: [3]int{shader.Per(n, way.size) * shader.Per(k, way.size), 1, 1}}}
				if apart {
					a.F[1], space = 1, blocks*n*k
					stages[0].Groups[0] *= blocks
					stages = append(stages, shader.Stage{Entry: "join", Groups: [3]int{shader.Per(n*k, 64), 1, 1}})
				}
				kernel.Clear(b, sums)
				kernel.AddScaled(b, n*k, 1, start, sums)
				b.RunStages("addOuter", a, space, stages...)
				got := make([]float64, n*k)
				if err := kernel.ReadSums(context.Background(), b, got, sums); err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				for i, v := range got {
					if v != want[i] {
						t.Fatalf("%v: %s, apart: %t: sum %d is %v, and %v by %s", s, way.entry, apart, i, v, want[i], tiles[1].entry)
					}
				}
			}
		}
		for i, got := range want {
			sum, size := float64(before[i]), 0.0
			for l := range m {
				p := float64(h[l*n+i/k]) * float64(d[l*k+i%k])
				sum, size = sum+p, size+math.Abs(p)
			}
			if math.Abs(got-sum) > (compute.PieceRows+compute.BlockPieces)*0x1p-24*size {
				t.Fatalf("%v: sum %d is %v, want %v", s, i, got, sum)
			}
		}
		for _, buf := range []compute.Buffer{x, y, start} {
			b.Free(buf)
		}
		b.FreeSums(sums)
	}
}
