package sequence

import (
	"math"

	"clipscope/core/compute"
)

// Heads partitions the d channels of a place among Count heads, equally many for each. A place
// has 3d values: its query, its key and its value, of all heads each.
type Heads struct{ Count, Channels int }

// width is the number of channels of a head, scale what its products are multiplied with.
func (h Heads) width() int     { return h.Channels / h.Count }
func (h Heads) scale() float64 { return 1 / math.Sqrt(float64(h.width())) }

// Attend has each place of n rows of t places a [n×t×3d] look at the places of its row where x [n×t]
// has a token, of v (Vaswani et al. 2017): p [n×heads×t×t] is how much of each it takes, and y [n×t×d]
// what it sees. In a row without tokens both are 0. Where a product of a query and a token's key is
// not finite, what it takes of tokens, and sees, is NaN.
//
//	for i := range n { for h := range heads { for j := range t {
//		p[i][h][j] = softmax(⟨query j, key k⟩/√width over the tokens k), 0 elsewhere
//		y[i][j][h] = Σ p[i][h][j][k]*value k
//	} } }
func Attend(q compute.Queue, n, t, v int, h Heads, x, a, p, y compute.Buffer) {
	q.Run(attend, compute.Args{
		N:   [5]int{n, t, v, h.Count, h.Channels},
		Buf: [5]compute.Buffer{x.Matrix(n, t), a.Matrix(n, t*3*h.Channels), p.Matrix(n, h.Count*t*t), y.Matrix(n, t*h.Channels)},
	})
}

// seen holds the queries, keys and values of one head at the places of a row.
type seen struct {
	values   []float32 // [t×3d]
	d, width int
	head     int
}

// of returns a part of a place.
func (s seen) of(place, part int) []float32 {
	at := (3*place+part)*s.d + s.head*s.width
	return s.values[at : at+s.width]
}

func dot(a, b []float32) (s float64) {
	for i, v := range a {
		s += float64(v) * float64(b[i])
	}
	return s
}

var attend = compute.Define(compute.Kernel{Name: "attend", Loop: func(o *compute.Operands) {
	t, v, h := o.N[1], o.N[2], Heads{o.N[3], o.N[4]}
	for i := range o.N[0] {
		x := o.Buf[0][i*t : (i+1)*t]
		for head := range h.Count {
			s := seen{o.Buf[1][i*t*3*h.Channels:], h.Channels, h.width(), head}
			for j := range t {
				p := o.Buf[2][((i*h.Count+head)*t+j)*t:][:t]
				takes(p, s, j, h.scale(), func(k int) bool { return token(x[k], v) >= 0 })
				y := o.Buf[3][(i*t+j)*h.Channels+head*h.width():][:h.width()]
				for c := range y {
					sum := 0.0
					for k, share := range p {
						if share != 0 {
							sum += float64(share) * float64(s.of(k, 2)[c])
						}
					}
					y[c] = float32(sum)
				}
			}
		}
	}
}})

// takes writes how much a place takes of each to p.
func takes(p []float32, s seen, place int, scale float64, there func(int) bool) {
	products, most, lost := make([]float64, len(p)), math.Inf(-1), false
	for k := range p {
		if !there(k) {
			continue
		}
		products[k] = dot(s.of(place, 0), s.of(k, 1)) * scale
		most = max(most, products[k])
		lost = lost || math.IsNaN(products[k]) || math.IsInf(float64(float32(products[k])), 0)
	}
	sum := 0.0
	for k := range p {
		if there(k) {
			products[k] = math.Exp(products[k] - most)
			sum += products[k]
		}
	}
	for k := range p {
		switch {
		case !there(k):
			p[k] = 0
		case lost:
			p[k] = float32(math.NaN())
		default:
			p[k] = float32(products[k] / sum)
		}
	}
}
