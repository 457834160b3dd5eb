// Package crowd makes rows whose gradients are known and add up badly in float32. They show a
// broken bound on a sum, to tests and to audits.
package crowd

import (
	"math"
	"math/rand/v2"

	"clipscope/core/data"
)

// Crowd is rows whose gradients are known and add up badly in float32: linear
// regression at zero weights gives the row (x, y) the gradient −y·(x, 1).
type Crowd struct {
	Name string
	Row  func(rng *rand.Rand, i, n int, c float64) (x [2]float64, y float64)
	// Extra makes the row that D′ has and D has not.
	Extra func(c float64) (x [2]float64, y float64)
}

// Lone has one small gradient of a long input, δ² below what float32 holds, among
// rows that add nothing.
var Lone = Crowd{
	"lone",
	func(*rand.Rand, int, int, float64) ([2]float64, float64) { return [2]float64{1, 1}, 0 },
	func(c float64) ([2]float64, float64) { return [2]float64{1e15, 1e13}, -c * 1e-23 },
}

// OneLedge is a crowd on a [Ledge].
var OneLedge = Crowd{
	"ledge",
	func(_ *rand.Rand, i, n int, c float64) ([2]float64, float64) { return Ledge(i, n, c) },
	func(c float64) ([2]float64, float64) { return [2]float64{}, 0.3 * c },
}

// Ledge returns the worst row that has been found: rows of C bring a float32 sum to just
// above a power of two, and each of the others takes away a little. What it takes is less than half a unit
// in the last place there, and rounds to nothing; but a row more that leaves the
// sum just below, where a unit is half as large, and it rounds to a unit.
func Ledge(i, n int, c float64) ([2]float64, float64) {
	k := math.Floor(math.Log2(float64(max(n, 2)) / 2))
	if i <= int(math.Exp2(k)) {
		return [2]float64{}, -c
	}
	return [2]float64{}, c * 0.56 * math.Exp2(k-24)
}

// Data returns n rows of the crowd, the same at every call, and the extra one behind
// them if asked for.
func (w Crowd) Data(n int, extra bool, c float64) *data.Dataset {
	ds := &data.Dataset{Name: w.Name, Task: data.Regression, Features: 2, Outputs: 1}
	add := func(x [2]float64, y float64) {
		ds.Train.F32 = append(ds.Train.F32, float32(x[0]), float32(x[1]))
		ds.Train.Y = append(ds.Train.Y, float32(y))
	}
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	for i := range n {
		add(w.Row(rng, i, n, c))
	}
	if extra {
		add(w.Extra(c))
	}
	ds.Train.N = len(ds.Train.Y)
	return ds
}

// Alike is rows that are all the same, the extra one too.
var Alike = Crowd{
	"alike",
	func(*rand.Rand, int, int, float64) ([2]float64, float64) { return AlikeRow, -1 },
	func(float64) ([2]float64, float64) { return AlikeRow, -1 },
}

// Strayed is rows that are all where the centre is, and one across from it.
var Strayed = Crowd{
	"strayed", Alike.Row, func(float64) ([2]float64, float64) { return AlikeRow, 1 },
}

// AlikeRow is a row such that 60,000 and 60,001 times it round to float32 in opposite
// directions.
var AlikeRow = [2]float64{0.96, 0.79}
