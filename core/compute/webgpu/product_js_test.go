package webgpu_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"clipscope/core/compute"
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
				stages := []shader.Stage{{Entry: way.entry, Groups: [3]int{shader.Per(n, way.size), shader.Per(m, way.size), 1}}}
				if apart {
					call.F[1], space = 1, max(1, shader.Per(k, 64)*m*n)
					stages[0].Groups[2] = max(1, shader.Per(k, 64*way.pieces))
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
