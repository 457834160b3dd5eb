package privacy

import (
	"clipscope/core/run"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func mustGroup(t *testing.T, accountant string, rows int, delta float64, events ...Event) float64 {
	t.Helper()
	e, err := GroupEpsilon(accountant, rows, delta, events...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// mixtureDelta is δ(ε) of steps releases, 1 or 2, for a group: the hockey-stick
// divergence summed over a grid of outputs, in both directions, with nothing of
// the accountants in it.
func mixtureDelta(q, sigma float64, rows, steps int, epsilon float64) float64 {
	h := sigma / 400
	if steps == 2 {
		h = sigma / 25
	}
	var p, n []float64
	for z := -9 * sigma; z < float64(rows)+9*sigma; z += h {
		at := func(mean float64) float64 {
			return h / sigma / math.Sqrt(2*math.Pi) * math.Exp(-(z-mean)*(z-mean)/(2*sigma*sigma))
		}
		mix, choose := 0.0, 1.0
		for j := 0; j <= rows; j++ {
			mix += choose * math.Pow(q, float64(j)) * math.Pow(1-q, float64(rows-j)) * at(float64(j))
			choose *= float64(rows-j) / float64(j+1)
		}
		p, n = append(p, mix), append(n, at(0))
	}
	e := math.Exp(epsilon)
	removed, added := 0.0, 0.0
	for i := range p {
		if steps == 1 {
			removed += max(0, p[i]-e*n[i])
			added += max(0, n[i]-e*p[i])
			continue
		}
		for j := range p {
			removed += max(0, p[i]*p[j]-e*n[i]*n[j])
			added += max(0, n[i]*n[j]-e*p[i]*p[j])
		}
	}
	return max(removed, added)
}

// Never below the truth, and by PLD within a few per cent of δ of it.
func TestGroupIsNeverBelowBruteForce(t *testing.T) {
	for _, c := range []struct {
		q, sigma    float64
		rows, steps int
		delta       float64
	}{
		{0.1, 1, 2, 1, 1e-5},
		{0.1, 1, 5, 1, 1e-3},
		{0.5, 2, 3, 1, 1e-4},
		{0.9, 1.5, 4, 1, 1e-5},
		{0.01, 0.8, 10, 1, 1e-6},
		{0.02, 3, 100, 1, 1e-5},
		{0.999, 2, 3, 1, 0.1}, // adding counts for more at small ε
		{0.1, 1, 2, 2, 1e-4},
		{0.6, 2, 3, 2, 1e-2},
	} {
		if c.steps > 1 && testing.Short() {
			continue
		}
		run := SelfComposed{PoissonSampled{c.q, Gaussian{c.sigma}}, c.steps}
		for _, name := range Names() {
			e := mustGroup(t, name, c.rows, c.delta, run)
			d := mixtureDelta(c.q, c.sigma, c.rows, c.steps, e)
			if d > c.delta*1.001 {
				t.Errorf("%s %+v: at ε = %v the truth is δ = %v", name, c, e, d)
			}
			if name == PLD && d < c.delta*0.97 {
				t.Errorf("%s %+v: ε = %v is loose, the truth there is δ = %v", name, c, e, d)
			}
		}
	}
}

func TestGroupGivesKnownAnswers(t *testing.T) {
	run := SelfComposed{PoissonSampled{256. / 60000, Gaussian{1.1}}, 1000}
	joint := PoissonSampled{0.01, Joint{[]Gaussian{{2}, {5}}}}
	for _, name := range Names() {
		for _, events := range [][]Event{{run}, {joint, Gaussian{4}}, {NonPrivate{}}, {}} {
			if got, want := mustGroup(t, name, 1, 1e-5, events...), mustEpsilon(t, name, 1e-5, events...); got != want {
				t.Errorf("%s %v: one row costs %v, want %v", name, events, got, want)
			}
		}
		// On all rows a group of k is one row at σ/k.
		for _, k := range []int{2, 7, 100} {
			all := Composed{[]Event{Gaussian{300}, SelfComposed{PoissonSampled{1, Gaussian{500}}, 3}}}
			less := Composed{[]Event{Gaussian{300 / float64(k)}, SelfComposed{Gaussian{500 / float64(k)}, 3}}}
			if got, want := mustGroup(t, name, k, 1e-5, all), mustEpsilon(t, name, 1e-5, less); got > want*(1+1e-9) || got < want*(1-1e-9) && name == PLD {
				t.Errorf("%s: %d of all rows cost %v, want %v", name, k, got, want)
			}
		}
		if got := mustGroup(t, name, 5, 1e-5, NonPrivate{}); !math.IsInf(got, 1) {
			t.Errorf("%s: ε = %v without noise", name, got)
		}
		if got := mustGroup(t, name, 5, 1e-5); got != 0 {
			t.Errorf("%s: nothing costs ε = %v", name, got)
		}
	}
}

// ε rises with the group, PLD's is the smaller, and by PLD a group costs less than
// its rows one after the other, which is what multiplying would say.
func TestGroupCostRisesWithItsRows(t *testing.T) {
	sweep(t)
	for _, c := range []setting{
		{256. / 60000, 1.1, 3525, 1e-5},
		{0.2, 4, 100, 1e-5},
	} {
		last := map[string]float64{}
		line := ""
		for _, k := range []int{1, 2, 5, 10, 100} {
			pld, rdp := mustGroup(t, PLD, k, c.delta, c.event()), mustGroup(t, RDP, k, c.delta, c.event())
			line += fmt.Sprintf(" %d: %.4g (%.4g)", k, pld, rdp)
			if pld < last[PLD]*(1-1e-3) || rdp < last[RDP]*(1-1e-9) {
				t.Errorf("%v: ε falls at %d rows, PLD to %v, RDP to %v", c, k, pld, rdp)
			}
			if pld > rdp {
				t.Errorf("%v: %d rows cost %v by PLD, %v by RDP", c, k, pld, rdp)
			}
			last[PLD], last[RDP] = pld, rdp
		}
		t.Logf("%v: rows, ε by PLD (RDP):%s", c, line)
	}
}

// Every setting has an answer between what one row costs at least and RDP's.
func TestGroupAnswersLieBetweenOneRowAndRDP(t *testing.T) {
	points := 20
	if testing.Short() {
		points = 5
	}
	rng := rand.New(rand.NewPCG(9, 10))
	for range points {
		p := drawSetting(rng)
		p.delta = max(p.delta, 1e-300)
		rows := 2 + rng.IntN(99)
		pld, rdp := mustGroup(t, PLD, rows, p.delta, p.event()), mustGroup(t, RDP, rows, p.delta, p.event())
		if low := p.spent(t).low(p.delta); !(low <= pld && pld <= rdp) {
			t.Errorf("%v, %d rows: PLD %v, RDP %v, at least %v", p, rows, pld, rdp, low)
		}
	}
}

func TestGroupRefusesBadArguments(t *testing.T) {
	for _, rows := range []int{-1, 0, run.MaxGroup + 1} {
		if _, err := GroupEpsilon(PLD, rows, 1e-5, Gaussian{1}); err == nil || !strings.Contains(err.Error(), "group") {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
	for _, rows := range []int{1, 2} {
		if _, err := GroupEpsilon("moments", rows, 1e-5, Gaussian{1}); err == nil {
			t.Error("no error for an unknown accountant")
		}
		if _, err := GroupEpsilon(PLD, rows, 0, Gaussian{1}); err == nil {
			t.Error("no error for δ = 0")
		}
		if _, err := GroupEpsilon(PLD, rows, 1e-5, Gaussian{-1}); err == nil {
			t.Error("no error for σ < 0")
		}
	}
}

// lossPoint is the inverse of lossAt for a group, too.
func TestGroupLossPointInvertsLossAt(t *testing.T) {
	for _, c := range []struct {
		rows     int
		q, sigma float64
	}{{2, 1e-6, 0.5}, {5, 0.1, 1}, {100, 0.004, 1}, {30, 0.7, 10}, {3, 0.5, 0.05}, {11, 0.955, 0.173}, {2, 1 - 0x1p-40, 0.2}} {
		release := term{c.q, c.sigma, 1, newGroup(c.rows, c.q, 1e-15)}
		var near tangent
		inverse := func(z float64) {
			x := release.lossAt(z)
			back := release.lossAt(release.lossPoint(x, &near))
			if math.Abs(back-x) > 1e-12*(1+math.Abs(x)) {
				t.Errorf("%+v: the loss at z = %v is %v, and %v at its inverse", c, z, x, back)
			}
		}
		first, last := -4*c.sigma, 6+8*c.sigma
		for z := first; z < last; z += c.sigma / 3 { // from what is near
			inverse(z)
		}
		for z := first; z < last; z += c.sigma / 3 { // from afar
			inverse(z)
			inverse(first + last - z)
		}
		if low := release.lossPoint(release.group.logs[0]-1e-6, &near); !math.IsInf(low, -1) {
			t.Errorf("%+v: a loss below the least at %v", c, low)
		}
	}
}
