package data

import "math"

// UnitRows divides every row of x [n×width] by its L2 norm; rows of zeros stay.
func UnitRows(x []float32, width int) {
	eachRow(x, width, func(norm float64) float64 { return norm })
}

// LimitRows scales every row of x [n×width] that is longer than limit down to it.
func LimitRows(x []float32, width int, limit float64) {
	eachRow(x, width, func(norm float64) float64 { return max(1, norm/limit) })
}

// eachRow divides each row by the number that by gives for its norm, unless that number is 0 or 1. No row
// depends on another.
func eachRow(x []float32, width int, by func(norm float64) float64) {
	for ; len(x) > 0; x = x[width:] {
		row, sum := x[:width], 0.0
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		d := by(math.Sqrt(sum))
		if d == 0 || d == 1 {
			continue
		}
		for i, v := range row {
			row[i] = float32(float64(v) / d)
		}
	}
}
