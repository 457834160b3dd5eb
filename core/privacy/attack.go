package privacy

import (
	"errors"
	"math"

	"clipscope/core/run"
)

// Attack bounds what an attacker can tell about one row from all that the events release,
// with figures that hold except for releases of probability delta. The bounds are of PLD,
// or of RDP where PLD does not answer.
//
// # Guarantee
//
// Let P and Q be the laws of what is released with the row and without it, and δ(ε) bound
// P(S) − e^ε·Q(S) and Q(S) − e^ε·P(S) over every set S of releases and every ε ≥ 0, as
// [Profile] does.
//
//   - A test accuses on a set S. Its true-positive rate P(S) is at most e^ε·Q(S) + δ(ε) and,
//     by the complement of S, at most 1 − e^−ε·(1 − δ(ε) − Q(S)), for every ε (Kairouz, Oh &
//     Viswanath 2015, Theorem 2.1; Dong, Roth & Su 2022, Proposition 2.5). The least of
//     these over a grid of ε is a bound, whatever the grid.
//   - A guess from even odds is right with probability ½·P(S) + ½·(1 − Q(S)). By the two
//     bounds, weighed 1 : e^ε, P(S) − Q(S) ≤ (e^ε − 1 + 2δ(ε))/(e^ε + 1), so it is right
//     with at most (e^ε + δ(ε))/(e^ε + 1); at ε = 0 that is half of 1 + total variation.
//   - From even odds, the posterior odds of "in" are the likelihood ratio e^L. Let S be the
//     releases with L > x. There Q < e^−x·P, so δ(ε) ≥ P(S)·(1 − e^(ε−x)) for ε < x, and
//     P(S) ≤ p = delta/2 for x = ε − ln(1 − δ(ε)/p), for any ε with δ(ε) < p. Likewise with
//     P and Q exchanged. So with the row in the data the attacker is more than
//     e^x/(1 + e^x) sure of "in" with probability p at most, and as sure of "out" with
//     probability e^−x·p at most; without the row, the other way round. Both together have
//     a probability of at most delta, whichever is true.
//
// A grid that ends too soon makes the figures larger, never smaller.
func Attack(delta float64, events ...Event) (*run.Attack, error) {
	if !(delta > 0 && delta < 1) {
		return nil, errors.New("privacy: an attack with a probability of exceptions that is not in 0 … 1")
	}
	reach, err := Epsilon(RDP, min(delta/8, 1e-7), events...)
	if err != nil {
		return nil, err
	}
	epsilons := attackGrid(reach)
	deltas, err := Profile(PLD, epsilons, events...)
	if err != nil {
		return nil, err
	}
	a := &run.Attack{Except: delta}
	least, half, right := math.Inf(1), 0.0, 1.0
	for i, e := range epsilons {
		d := deltas[i]
		if p := delta / 2; d < p {
			least = min(least, e-math.Log1p(-d/p))
		}
		right = min(right, (1+d*exp(-e))/(1+exp(-e)))
		half = max(half, (0.5-d)*exp(-e), 1-d-0.5*exp(e))
	}
	a.Sure = run.Number(min(1, slack/(1+exp(-least))))
	a.Right = run.Number(min(1, right*slack))
	a.HalfCosts = run.Number(max(0, half/slack))
	for _, rate := range attackRates() {
		most := 1.0
		for i, e := range epsilons {
			d := deltas[i]
			most = min(most, exp(e)*rate+d, 1-exp(-e)*(1-d-rate))
		}
		a.FalsePositive = append(a.FalsePositive, run.Number(rate))
		a.TruePositive = append(a.TruePositive, run.Number(min(1, max(rate, most)*slack)))
	}
	return a, nil
}

// slack covers the rounding of a few float64 operations.
const slack = 1 + 1e-12

// attackGrid is the ε that bounds are taken at, from 0 to reach, closer together where δ
// falls fast. Without a finite reach there is nothing to find.
func attackGrid(reach float64) []float64 {
	const points = 160
	if !(reach > 0) || math.IsInf(reach, 1) {
		return []float64{0}
	}
	grid := make([]float64, points+1)
	for i := range grid {
		x := float64(i) / points
		grid[i] = reach * math.Pow(x, 1.5)
	}
	return grid
}

// attackRates are the false-positive rates that are listed: eight a decade, then twentieths.
func attackRates() []float64 {
	var rates []float64
	for i := range 33 {
		rates = append(rates, math.Pow(10, float64(i)/8-5))
	}
	for i := 3; i <= 20; i++ {
		rates = append(rates, float64(i)/20)
	}
	return rates
}
