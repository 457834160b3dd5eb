package privacy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRenyiIsTheWholeCurve: the ε and the order that are found are those of all orders, to
// the bit, of one release, of several kinds together and of some beside others, and most
// orders are not asked for.
func TestRenyiIsTheWholeCurve(t *testing.T) {
	points := 120
	if testing.Short() {
		points = 20
	}
	rng := rand.New(rand.NewPCG(21, 22))
	drawn := func() Event {
		p := drawSetting(rng)
		q := p.q
		if rng.IntN(8) == 0 {
			q = 1
		}
		return SelfComposed{PoissonSampled{q, Gaussian{p.sigma}}, 1 + rng.IntN(p.steps)}
	}
	asked := 0
	for range points {
		var spents [2]spent
		for i := range spents {
			parts := []Event{drawn()}
			for rng.IntN(3) == 0 {
				parts = append(parts, drawn())
			}
			if rng.IntN(4) == 0 {
				parts = append(parts, Gaussian{math.Exp(6*rng.Float64() - 1)})
			}
			if rng.IntN(8) == 0 {
				parts = append(parts, Selected{Runs: 1 + 20*rng.Float64(), Parts: []Event{drawn()}})
			}
			s, err := flatten(Composed{parts}, 1)
			if err != nil {
				t.Fatal(err)
			}
			spents[i] = s
		}
		steps := rng.IntN(1000)
		one, all := spents[0].renyi(), spents[0].rdp()
		sum, whole := one.plus(spents[1].renyi(), steps), make(rdpCurve, len(orders))
		for i, r := range spents[1].rdp() {
			whole[i] = all[i]
			if steps > 0 {
				whole[i] += float64(steps) * r
			}
		}
		for _, c := range []struct {
			r     *renyi
			whole rdpCurve
		}{{one, all}, {sum, whole}} {
			for range 3 { // what was asked for before is still there
				delta := math.Pow(10, -16*rng.Float64()*float64(1+9*rng.IntN(2)))
				e, order := c.r.least(delta)
				if want, at := c.whole.epsilon(delta), orderOf(c.whole, delta); e != want || e > 0 && order != at {
					t.Errorf("%+v at δ = %g: ε = %v at order %v, of all orders %v at %v", spents, delta, e, order, want, at)
				}
			}
		}
		for _, r := range one.known {
			if !math.IsNaN(r) {
				asked++
			}
		}
	}
	t.Logf("%.1f of %d orders were asked for", float64(asked)/float64(points), len(orders))
	if asked > points*len(orders)/2 {
		t.Errorf("%d of %d orders were asked for", asked/points, len(orders))
	}
}

// orderOf is the order at which a curve has its ε.
func orderOf(rho rdpCurve, delta float64) float64 {
	best, at := math.Inf(1), 0.0
	for i, r := range rho {
		if e := r + rdpOffset(orders[i], delta); e < best {
			best, at = e, orders[i]
		}
	}
	return at
}
