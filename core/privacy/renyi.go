package privacy

import "math"

// A renyi is a Rényi curve that works out what it is asked for, and keeps it. Most orders
// are never asked for: (α−1)·ρ(α) is convex, and 0 at 1 (van Erven & Harremoës 2014,
// Corollary 2), so those that are known say how little the others could cost.
type renyi struct {
	value  func(i int) float64 // ρ at orders[i]
	known  rdpCurve            // NaN where it was not asked for
	convex float64             // the highest order up to which (α−1)·ρ(α) is, and beyond which ρ is no less than such a one; 0 where nothing is known of it
}

func newRenyi(value func(i int) float64, convex float64) *renyi {
	r := &renyi{value, make(rdpCurve, len(orders)), convex}
	for i := range r.known {
		r.known[i] = math.NaN()
	}
	return r
}

// renyi is rdp, order by order.
func (s *spent) renyi() *renyi {
	one := make([]*sampling, len(s.sampled))
	convex := math.Inf(1)
	for i, t := range s.sampled {
		one[i] = newSampling(t.one())
		convex = min(convex, one[i].highest())
	}
	if s.infinite || s.selected != nil { // bounds by other theorems have other shapes
		convex = 0
	}
	return newRenyi(func(i int) float64 { return s.rho(i, one) }, convex)
}

// plus is r with other added times times.
func (r *renyi) plus(other *renyi, times int) *renyi {
	if times == 0 {
		return r
	}
	return newRenyi(func(i int) float64 { return r.at(i) + float64(times)*other.at(i) }, min(r.convex, other.convex))
}

// at is ρ at orders[i], and +Inf, which is always true, should that be no number.
func (r *renyi) at(i int) float64 {
	if math.IsNaN(r.known[i]) {
		r.known[i] = r.value(i)
		if math.IsNaN(r.known[i]) {
			r.known[i] = math.Inf(1)
		}
	}
	return r.known[i]
}

// all is the whole curve.
func (r *renyi) all() rdpCurve {
	for i := range orders {
		r.at(i)
	}
	return r.known
}

// epsilon is [rdpCurve.epsilon].
func (r *renyi) epsilon(delta float64) float64 {
	epsilon, _ := r.least(delta)
	return epsilon
}

// order is the one at which epsilon has its minimum.
func (r *renyi) order(delta float64) float64 {
	_, order := r.least(delta)
	return order
}

// isFirst says of the order with index i that it is asked for in any case: the lowest, where
// ρ is least if it is no denormal number, and some whole ones, which take little time.
func isFirst(i int) bool {
	switch orders[i] {
	case 2, 4, 8, 16, 32:
		return true
	}
	return i == 0
}

// least is ε at delta and the order where it is.
//
// Guarantee: ε is an upper bound, as that of every order is; what was left out would be no
// less.
func (r *renyi) least(delta float64) (epsilon, order float64) {
	offset := rdpOffsets(delta)
	best, zero := math.Inf(1), false
	ask := func(i int) {
		rho := r.at(i)
		zero = zero || delta*delta+math.Expm1(-rho) > 0
		if e := rho + offset[i]; e < best {
			best, order = e, orders[i]
		}
	}
	whole := r.convex == 0 || delta < 1e-150 // whose square may be below a ρ that rounding has made fall
	for i, rho := range r.known {
		if whole || isFirst(i) || !math.IsNaN(rho) {
			ask(i)
		}
	}
	for i, ok := r.next(offset, best); ok; i, ok = r.next(offset, best) {
		ask(i)
	}
	if zero {
		return 0, order
	}
	return max(best, 0), order
}

// next is the order to ask for: that which could cost least, if that could be less than
// best. An order takes longer the higher it is, so none is more than twice as high as what
// is known, if that leaves one.
func (r *renyi) next(offset []float64, best float64) (at int, ok bool) {
	const unsure = 1e-7 // of what lines say: rounding is 2e-12 of what is known but at the highest orders, and lines magnify it a hundredfold
	highest := 0.0
	for i, rho := range r.known {
		if !math.IsNaN(rho) {
			highest = orders[i]
		}
	}
	least := math.Inf(1)
	var left, right [2]point // the nearest that are known
	left[0] = point{1, 0}
	for i, a := range orders {
		if !math.IsNaN(r.known[i]) {
			left = [2]point{r.point(i), left[0]}
			continue
		}
		if a > 2*highest && ok {
			break
		}
		if i == 0 || !math.IsNaN(r.known[i-1]) {
			right = r.above(i)
		}
		low := max(left[0].line(left[1], a), right[0].line(right[1], a), 0) / (a - 1)
		if left[0].order > r.convex {
			low = left[0].value / (left[0].order - 1) // ρ does not fall
		}
		low += offset[i] - unsure*(low+math.Abs(offset[i]))
		if low < min(best, least) {
			least, at, ok = low, i, true
		}
	}
	return at, ok
}

// A point is an order and (α−1)·ρ(α).
type point struct{ order, value float64 }

func (r *renyi) point(i int) point { return point{orders[i], (orders[i] - 1) * r.known[i]} }

// above are the two points above order i, as far as they are known and their line holds.
func (r *renyi) above(i int) (two [2]point) {
	n := 0
	for j := i; j < len(orders) && orders[j] <= r.convex && n < 2; j++ {
		if !math.IsNaN(r.known[j]) {
			two[n] = r.point(j)
			n++
		}
	}
	if n < 2 {
		return [2]point{}
	}
	return two
}

// line is the value at order a of the line through p and q, and 0, which says nothing, where
// there is none.
func (p point) line(q point, a float64) float64 {
	v := p.value + (p.value-q.value)/(p.order-q.order)*(a-p.order)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
