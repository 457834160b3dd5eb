package privacy

import (
	"fmt"
	"math"
)

// pldAccountant composes privacy loss distributions (Koskela, Jälkö & Honkela
// 2020; Doroshenko et al. 2022).
type pldAccountant struct{ spent spent }

func (a *pldAccountant) Compose(e Event) error {
	s, err := flatten(e, 1)
	if err != nil {
		return err
	}
	return a.spent.merge(s)
}

func (a *pldAccountant) Epsilon(delta float64) (float64, error) {
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	return a.spent.at(delta, func(delta float64) float64 {
		e, _ := a.spent.pld(delta)
		return e
	}), nil
}

// exact returns δ(ε) in closed form where there is one: Gaussians only, or one
// sampled release only. Otherwise it returns nil.
func (s *spent) exact() func(epsilon float64) float64 {
	switch {
	case s.infinite || s.selected != nil:
		return nil
	case len(s.sampled) == 0:
		mu := math.Sqrt(s.precision)
		return func(e float64) float64 { return gaussianDelta(mu, e) }
	case len(s.sampled) == 1 && s.sampled[0].count == 1 && s.sampled[0].group == nil && s.precision == 0:
		t := s.sampled[0]
		return func(e float64) float64 { return sampledDelta(t.sampleRate, t.noiseMultiplier, e) }
	}
	return nil
}

// pld is ε at delta, with a notice where it is not what PLD gives but the
// looser RDP bound.
//
// Guarantee: an upper bound, never above RDP's. A figure of the transform below
// the lower bound that low proves is not believed.
func (s *spent) pld(delta float64) (epsilon float64, notice string) {
	if s.infinite || s.exact() != nil {
		return s.pldOr(nil, delta)
	}
	return s.pldOr(s.renyi(), delta)
}

// by is ε at delta by the accountant of that name, PLD or RDP, for a caller who has the
// Rényi curve already.
func (s *spent) by(accountant string, rho *renyi, delta float64) float64 {
	if accountant == RDP {
		return rho.epsilon(delta)
	}
	e, _ := s.pldOr(rho, delta)
	return e
}

// pldOr is pld for a caller who has the Rényi curve already.
func (s *spent) pldOr(rho *renyi, delta float64) (epsilon float64, notice string) {
	if s.infinite {
		return math.Inf(1), ""
	}
	if exact := s.exact(); exact != nil {
		return smallestEpsilon(delta, exact), ""
	}
	loose := min(rho.epsilon(delta), s.unsampled(delta))
	if loose == 0 {
		return 0, ""
	}
	const instead = "ε is the RDP accountant's, which is looser, or that of the same releases without sampling where that is less"
	if why := s.beyond(delta); why != "" {
		return loose, fmt.Sprintf("the PLD accountant does not answer for %s: %s", why, instead)
	}
	e, ok := s.transformed(delta, loose)
	if !ok || !(e >= s.low(delta)) {
		return loose, fmt.Sprintf("the PLD accountant ran out of precision at δ = %g: %s", delta, instead)
	}
	return min(e, loose), ""
}

// unsampled is ε at delta with every release made of all rows, which is never
// less: a Gaussian's, in closed form; +Inf where there is none.
func (s *spent) unsampled(delta float64) float64 {
	if s.selected != nil {
		return math.Inf(1)
	}
	sum := s.precision
	for _, t := range s.sampled {
		shift := t.rows() / t.noiseMultiplier
		sum += float64(t.count) * shift * shift
	}
	mu := math.Sqrt(sum)
	return smallestEpsilon(delta, func(e float64) float64 { return gaussianDelta(mu, e) })
}

// transformed is ε at delta by the Fourier transform; ok is false where that
// shows nothing. RDP's ε says where to look.
func (s *spent) transformed(delta, loose float64) (epsilon float64, ok bool) {
	t := s.terms()
	m := newMoments(t, reach(t, delta, loose))
	e, ok := refine(t, remove, m.aim(remove, counts(t), delta), 0)
	if !ok {
		return 0, false
	}
	a := m.aim(add, counts(t), delta)
	if a.epsilon < e {
		return e, true // adding an example is the lesser of the two
	}
	f, ok := refine(t, add, a, e)
	return max(e, f), ok
}

// Where PLD is not attempted: there RDP's bound is all that this package says.
// The limits are far outside what any run can use, and each is on one side of
// one argument, so ε, which jumps up at them, stays monotone. Inside them every
// grid is bounded: see losses and span.
const (
	leastNoise = minNoise // one release with less costs ε > 1000, and its losses fill no grid
	leastDelta = 1e-30    // a tail that rare has to be told from the transform's rounding
	mostShift  = 200      // keeps losses below 60,000 nodes for groups, too
	mostCounts = maxSteps // rounding grows with the number of steps
)

// beyond says, in words, which limit is passed; it is empty where none is.
func (s *spent) beyond(delta float64) string {
	if s.selected != nil {
		return "a choice among several runs"
	}
	steps := 0.0
	for _, t := range s.terms() {
		if t.noiseMultiplier < leastNoise {
			return fmt.Sprintf("a noise_multiplier below %g, that of all releases on all rows together included", leastNoise)
		}
		if t.group != nil && t.shift() > mostShift*t.noiseMultiplier {
			return fmt.Sprintf("groups of which more than %d·noise_multiplier rows may enter one batch", mostShift)
		}
		steps += float64(t.count)
	}
	switch {
	case delta < leastDelta:
		return fmt.Sprintf("a δ below %g", leastDelta)
	case steps > mostCounts:
		return fmt.Sprintf("more than %d steps", mostCounts)
	}
	return ""
}

// pldLow is a lower bound on ε at delta; 0 is always one.
func (s *spent) pldLow(rho *renyi, delta float64) float64 {
	if s.infinite {
		return math.Inf(1)
	}
	best := s.low(delta)
	if s.exact() != nil || s.beyond(delta) != "" {
		return best
	}
	loose := rho.epsilon(delta)
	if loose == 0 {
		return 0
	}
	t := s.terms()
	m := newMoments(t, reach(t, delta, loose))
	for _, sd := range []side{remove, add} {
		a := m.aim(sd, counts(t), delta)
		if a.epsilon <= best {
			continue // it would be the lesser
		}
		w := a.window(0, max(1<<15, 2*startSize(t)))
		if e, ok := newSpectrum(t, sd, lower, w).compose(counts(t)).epsilon(lower, delta); ok {
			best = max(best, e)
		}
	}
	return best
}

// pldDelta is an upper bound on δ at epsilon ≥ 0.
func (s *spent) pldDelta(epsilon float64) float64 {
	if s.infinite {
		return 1
	}
	if exact := s.exact(); exact != nil {
		return exact(epsilon)
	}
	loose := s.rdp().delta(epsilon)
	if d, ok := s.transformedDelta(epsilon, loose); ok && d >= s.lowDelta(epsilon) {
		return d
	}
	return loose
}

// transformedDelta is δ at epsilon by the Fourier transform, at most loose; ok is
// false where that is not attempted.
func (s *spent) transformedDelta(epsilon, loose float64) (delta float64, ok bool) {
	best := loose
	// Each answer tells what is negligible to the next, which is exact to that;
	// where ε is above the window, it is about negligible times the one before.
	for range 20 {
		if s.beyond(best) != "" {
			return best, best < loose
		}
		d, ok := s.deltaNear(epsilon, best)
		if !ok || d >= best {
			return best, true
		}
		last := best
		if best = d; best > last/2 {
			break
		}
	}
	return best, true
}

// deltaNear is δ at epsilon in windows that suit a δ of about near.
func (s *spent) deltaNear(epsilon, near float64) (delta float64, ok bool) {
	t := s.terms()
	m := newMoments(t, reach(t, near, epsilon))
	for _, sd := range []side{remove, add} {
		a := m.aim(sd, counts(t), near)
		low := max(0, min(epsilon, a.epsilon)-0.6*a.spread)
		w := a.window(low, startSize(t)*4)
		d, ok := newSpectrum(t, sd, upper, w).compose(counts(t)).atMost(epsilon)
		if !ok {
			return 1, false
		}
		delta = max(delta, d)
	}
	return delta, true
}

const negligible = 1e-4 // of δ: what each truncation may cost

// reach returns the number of standard deviations of a release that matter. An output beyond r
// that counts as infinite loss costs at most its own probability, which is that of
// a normal tail beyond r−1/σ (r−m/σ where up to m rows of a group enter a batch), and at most exp(ε)·Q(beyond) more than its loss is
// worth, and Q(beyond) ≤ exp(−r²/2): whichever is the nearer.
func reach(terms []term, delta, epsilon float64) float64 {
	n, shift := 0.0, 0.0
	for _, t := range terms {
		n += float64(t.count)
		shift = max(shift, t.shift()/t.noiseMultiplier)
	}
	little := math.Log(n) - math.Log(delta) - math.Log(negligible)
	return min(math.Sqrt(2*(little+epsilon)), shift+math.Sqrt(2*little))
}

// Moments holds ln E exp(s·loss) of each term for some exponents s, to choose
// where to look. Nothing rests on its values but time and precision.
type moments struct {
	reach     float64
	exponents []float64
	logs      [2][][]float64 // by side, term and exponent
}

// The exponents that are tried. The best is about √(−2 ln δ) over the standard
// deviation of the composed loss, which at leastNoise and a full sample may be
// 1e7 after 1e7 steps.
const (
	leastExponent = 1e-9
	fineExponent  = 1e-3 // from here on they are closer together
	mostExponent  = 1e6
)

func newMoments(terms []term, reach float64) *moments {
	m := &moments{reach: reach}
	for s := leastExponent; s < fineExponent; s *= 1.3 {
		m.exponents = append(m.exponents, s)
	}
	for s := fineExponent; s < mostExponent; s *= 1.15 {
		m.exponents = append(m.exponents, s)
	}
	for _, t := range terms {
		var byMass []weighted
		if t.sampleRate < 1 {
			byMass = t.losses(reach)
		}
		for _, sd := range []side{remove, add} {
			logs := make([]float64, len(m.exponents))
			for i, s := range m.exponents {
				logs[i] = logMoment(t, byMass, sd, s)
			}
			m.logs[sd] = append(m.logs[sd], logs)
		}
	}
	return m
}

// A weighted loss has the logarithm of its weight under Q of the remove side.
type weighted struct{ logWeight, loss float64 }

// losses are the nodes of the trapezium rule under N(0,σ²), as many as a few
// for each σ of the integrand's own scale: reach is at most 1/σ + 40, so there are
// never more than 25,000 with σ ≥ leastNoise and one row.
func (t term) losses(reach float64) []weighted {
	n := math.Ceil(2 * reach / (0.4 * min(1, t.noiseMultiplier)))
	step := 2 * reach / n
	var nodes []weighted
	for i := 0.0; i <= n; i++ {
		z := -reach + i*step
		nodes = append(nodes, weighted{
			-z*z/2 + math.Log(step/math.Sqrt(2*math.Pi)),
			t.lossAt(z * t.noiseMultiplier),
		})
	}
	return nodes
}

// logMoment is ln E exp(s·loss) over nodes, or in closed form without sampling.
func logMoment(t term, nodes []weighted, sd side, s float64) float64 {
	if t.sampleRate == 1 {
		return s * (s + 1) / (2 * t.noiseMultiplier * t.noiseMultiplier)
	}
	power := s + 1 // E_P exp(s·l) = E_Q exp((s+1)·l) for remove
	if sd == add {
		power = -s
	}
	var sum logSum
	for _, n := range nodes {
		sum.addLog(n.logWeight + power*n.loss)
	}
	return sum.log()
}

// An aim says where the tail of a composed loss is to be read.
type aim struct {
	delta     float64
	reach     float64
	epsilon   float64   // an upper bound by Chernoff
	lambda    float64   // the exponent that gave it
	exponents []float64 // as in moments
	logs      []float64 // log moments of the composition
	spread    float64   // the loss is above epsilon+spread with negligible probability
}

func (m *moments) aim(sd side, counts []float64, delta float64) aim {
	a := aim{
		delta: delta, reach: m.reach, exponents: m.exponents, logs: make([]float64, len(m.exponents)),
		epsilon: math.Inf(1), spread: math.Inf(1),
	}
	for i, s := range m.exponents {
		for t, c := range counts {
			a.logs[i] += c * m.logs[sd][t][i]
		}
		if e := a.logs[i]/s + rdpOffset(s+1, delta*(1-2*negligible)); e < a.epsilon {
			a.epsilon, a.lambda = e, s
		}
	}
	for i, s := range m.exponents {
		a.spread = min(a.spread, (a.logs[i]+a.little())/s-a.epsilon)
	}
	return a
}

// little is −ln of a negligible probability.
func (a *aim) little() float64 { return -math.Log(a.delta * negligible) }

// window places a grid of n points that begins at low. A transform of length L
// adds to the sum's probability at x that at x±L, x±2L …, times exp(∓λL) for
// the tilt λ:
//   - what lies below the window comes in with at most exp(−λL);
//   - what lies above comes in enlarged, with at most exp(k(s)−s·(low+L)+λL) for
//     any s > λ, k being the log moment (Chernoff).
//
// L and λ are such that both, and the mass above the window, are negligible
// beside δ, and L is as short as that allows. The tilt gives the tail beyond ε a
// share of about δ·exp(λε−k(λ)) of the sum, which is largest for the exponent that
// gave ε; a λ with which it comes near the transform's rounding is taken only where
// there is no other.
func (a *aim) window(low float64, n int) window {
	w := window{n: n, reach: a.reach}
	length := math.Inf(1)
	for _, least := range []float64{-16, math.Inf(-1)} { // a share of 1e-7, where the rounding is 1e-13
		for i, lambda := range a.exponents {
			if lambda > a.lambda {
				break
			}
			if lambda < a.lambda && math.Log(a.delta)+lambda*a.epsilon-a.logs[i] < least {
				continue
			}
			if l, chern := a.length(lambda, low); l < length {
				length, w.lambda, w.chern = l, lambda, chern
			}
		}
		if !math.IsInf(length, 1) {
			break
		}
	}
	length = max(length, a.spread)
	w.h = length / float64(n-4) // four to spare for rounding outwards
	w.top = index(math.Ceil((low+length)/w.h)) + 2
	return w
}

// length returns the length of the window for the tilt lambda, with the exponent of the
// bound above it.
func (a *aim) length(lambda, low float64) (length, chern float64) {
	above := math.Inf(1)
	for i, s := range a.exponents {
		// A larger s has to be worth it: rounding to the grid moves k(s) by s·h.
		if l := (a.logs[i] + a.little() - s*low) / (s - lambda); s > lambda && l < 0.97*above {
			above, chern = l, s
		}
	}
	return max(above, a.little()/lambda), chern
}

// The sizes of transform that are tried.
const (
	minSize = 1 << 12
	maxSize = 1 << 19
)

// startSize is about right: a grid step h raises each step's variance v by at
// most h²/4, and the window is some ten standard deviations √(vT) long.
func startSize(terms []term) int {
	steps := 0.0
	for _, c := range counts(terms) {
		steps += c
	}
	n := minSize
	for n < maxSize/4 && float64(n) < 100*math.Sqrt(steps) {
		n *= 2
	}
	return n
}

// terms lists the sampled releases and the Gaussian as one more.
func (s *spent) terms() []term {
	t := append([]term(nil), s.sampled...)
	if s.precision > 0 {
		t = append(t, term{1, 1 / math.Sqrt(s.precision), 1, nil})
	}
	return t
}

func counts(terms []term) []float64 {
	c := make([]float64, len(terms))
	for i, t := range terms {
		c[i] = float64(t.count)
	}
	return c
}

// refine doubles the grid until ε hardly moves: its excess falls as the square
// of the step. A bound of at most enough is fine enough.
func refine(terms []term, sd side, a aim, enough float64) (epsilon float64, ok bool) {
	low := max(0, a.epsilon-0.6*a.spread)
	back := 2 * a.spread
	last, best := math.Inf(1), math.Inf(1)
	for n := startSize(terms); n <= maxSize; {
		e, ok := newSpectrum(terms, sd, upper, a.window(low, n)).compose(counts(terms)).epsilon(upper, a.delta)
		switch {
		case ok:
			best = min(best, e)
			if e <= enough || last-e < 6e-4*e+3e-6 {
				return best, true
			}
			last = e
			n *= 2
		case low > 0:
			low = max(0, low-back)
			back *= 2
		default:
			n *= 2
		}
	}
	return best, !math.IsInf(best, 1)
}
