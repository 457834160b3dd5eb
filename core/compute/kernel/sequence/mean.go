package sequence

import "clipscope/core/compute"

// Over says which of a row's tokens are meant.
type Over int

const (
	All Over = iota
	First
	Last
)

// of returns where these tokens of a row stand, of so many: from the first of them to before to. Between
// All are places without one.
func (o Over) of(row []float32, many int) (from, to int) {
	for j, x := range row {
		if token(x, many) < 0 {
			continue
		}
		if o == Last || to == 0 {
			from = j
		}
		if to = j + 1; o == First {
			break
		}
	}
	return from, to
}

// Mean gives each of n rows the mean of its values e [n×p×d] over those of its first p ≤ t places
// where x [n×t] has a token, of v, or over the first or last of these alone: y [n×d], and 0 where it
// has none.
//
//	for i := range n { y[i] = Σ e[i][j] over j < p where x[i][j] is a token, divided by their number }
func Mean(q compute.Queue, n, t, p, v, d int, over Over, x, e, y compute.Buffer) {
	q.Run(mean, compute.Args{
		N: [5]int{n, t, p, v, d}, F: [6]float64{float64(over)},
		Buf: [5]compute.Buffer{x.Matrix(n, t), e.Matrix(n, p*d), y.Matrix(n, d)},
	})
}

// tokens returns the number of places of a row that have a token, of so many.
func tokens(row []float32, many int) (n int) {
	for _, x := range row {
		if token(x, many) >= 0 {
			n++
		}
	}
	return n
}

var mean = compute.Define(compute.Kernel{Name: "mean", Loop: func(o *compute.Operands) {
	t, p, v, d := o.N[1], o.N[2], o.N[3], o.N[4]
	for i := range o.N[0] {
		row := o.Buf[0][i*t : i*t+p]
		from, to := Over(o.F[0]).of(row, v)
		n := max(tokens(row[from:to], v), 1)
		for c := range d {
			s := 0.0
			for j := from; j < to; j++ {
				if token(row[j], v) >= 0 {
					s += float64(o.Buf[1][(i*p+j)*d+c])
				}
			}
			o.Buf[2][i*d+c] = float32(s / float64(n))
		}
	}
}})
