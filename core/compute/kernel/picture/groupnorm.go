package picture

import (
	"cmp"
	"math"

	"clipscope/core/compute"
)

// Groups partitions the channels of pictures: into Count groups of
// neighbours, equally many in each. Apart has a group at each position by itself. Epsilon is added to their variances;
// 0 stands for 10⁻⁵, as Wu & He 2018 and others have it.
type Groups struct {
	Positions, Channels, Count int
	Apart                      bool
	Epsilon                    float64
}

func (g Groups) in() int { return g.Positions * g.Channels }

// Stats is the number of values that [GroupNorm] leaves of a picture.
func (g Groups) Stats() int {
	if g.Apart {
		return 2 * g.Count * g.Positions
	}
	return 2 * g.Count
}

// spread returns the groups of m pictures, those that are apart as of pictures of one position.
func (g Groups) spread(m int) (Groups, int) {
	if g.Apart {
		return Groups{Positions: 1, Channels: g.Channels, Count: g.Count, Epsilon: g.Epsilon}, m * g.Positions
	}
	return g, m
}

func (g Groups) args(m int, buf ...compute.Buffer) compute.Args {
	a := compute.Args{N: [5]int{m, g.Positions, g.Channels, g.Count}}
	if g.Apart {
		a.N[4] = 1
	}
	copy(a.Buf[:], buf)
	return a
}

func groupsOf(o *compute.Operands) Groups {
	return Groups{Positions: o.N[1], Channels: o.N[2], Count: o.N[3], Apart: o.N[4] == 1}
}

// values calls f for every value of a picture, with its group and its channel.
func (g Groups) values(f func(at, group, channel int)) {
	for at := range g.in() {
		c := at % g.Channels
		group := c / (g.Channels / g.Count)
		if g.Apart {
			group += at / g.Channels * g.Count
		}
		f(at, group, c)
	}
}

// GroupNorm brings each group of each of m pictures x [m×positions×channels] to mean 0 and
// variance 1, and then multiplies channels with the first half of p [2×channels] and
// adds the second (Wu & He 2018). What it took away and multiplied with goes to
// stats [m×groups×2], or [m×positions×groups×2] where they are apart: then it is what layer
// normalisation does (Ba et al. 2016), in one group.
//
//	for i := range m { for g := range groups {
//		mean, r := Σx/count, 1/√(Σ(x − mean)²/count + epsilon)   over the group's values
//		stats[i][g] = mean, r
//		y = p[c]*(x − mean)*r + p[channels+c]
//	} }
func GroupNorm(q compute.Queue, g Groups, m int, x, p, stats, y compute.Buffer) {
	g, m = g.spread(m)
	a := g.args(m, x.Matrix(m, g.in()), p.Slice(0, 2*g.Channels), stats.Matrix(m, 2*g.Count), y.Matrix(m, g.in()))
	a.F[0] = cmp.Or(g.Epsilon, 1e-5)
	q.Run(groupNorm, a)
}

var groupNorm = compute.Define(compute.Kernel{Name: "groupNorm", Loop: func(o *compute.Operands) {
	g, p := groupsOf(o), o.Buf[1]
	count := float64(g.in() / g.Count)
	mean, square := make([]float64, g.Count), make([]float64, g.Count)
	for i := range o.N[0] {
		x, y := o.Buf[0][i*g.in():(i+1)*g.in()], o.Buf[3][i*g.in():(i+1)*g.in()]
		stats := o.Buf[2][i*2*g.Count : (i+1)*2*g.Count]
		clear(mean)
		clear(square)
		g.values(func(at, group, _ int) { mean[group] += float64(x[at]) / count })
		g.values(func(at, group, _ int) {
			d := float64(x[at]) - mean[group]
			square[group] += d * d / count
		})
		for j, s := range square {
			stats[2*j], stats[2*j+1] = float32(mean[j]), float32(1/math.Sqrt(s+o.F[0]))
		}
		g.values(func(at, group, c int) {
			d := (float64(x[at]) - float64(stats[2*group])) * float64(stats[2*group+1])
			y[at] = float32(float64(p[c])*d + float64(p[g.Channels+c]))
		})
	}
}})
