package privacy

import (
	"fmt"
	"math"
)

// Shares divides the noise of a release among parties of which each draws a part: Needed of
// them add up to the whole.
//
// # Guarantee
//
// A share is [GridNoise] of deviation σ/√Needed, drawn on a unit at most half of that. The sum
// of m shares costs no more than Gaussian noise of deviation σ·√(m/Needed), whoever knows the
// others. So with Needed shares that nobody else knows a release costs what noise of
// deviation σ costs, and with a single one what σ/√Needed does.
//
// For in units a share is discrete Gaussian with variance v = σ²/Needed + r², at least 2r². The sum
// of one of variance a and one of variance b has at each integer x a density in proportion to
//
//	Σ_y exp(−y²/2a)·exp(−(x−y)²/2b) = exp(−x²/2(a+b))·Σ_y exp(−(y−xa/(a+b))²/2c),  c = ab/(a+b)
//
// and as c ≥ r² the last sum is √(2πc)·(1 ± ε) for every x, ε < 2⁻¹¹²: see [GridNoise]. So m
// shares are discrete Gaussian with variance mσ²/Needed + m·r² but for a factor of e^±2mε, and that
// variance is at least what GridNoise of deviation σ·√(m/Needed) has. Factors of all numbers of a
// run move ε by less than 2⁻⁵⁰ where numbers, steps and shares are below 2⁶⁰ together.
type Shares struct {
	// Parties draw a share each. Tolerance is how many of those may be missing or known.
	Parties, Tolerance int
}

// MostParties bounds the parties of a run.
const MostParties = 1 << 12

// Check refuses shares that are none.
func (s Shares) Check() error {
	switch {
	case s.Parties < 2 || s.Parties > MostParties:
		return fmt.Errorf("privacy: noise shared among %d parties: 2 … %d can", s.Parties, MostParties)
	case s.Tolerance < 0 || s.Tolerance >= s.Parties:
		return fmt.Errorf("privacy: %d of %d shares of noise may not all be missing: 0 … %d may", s.Tolerance, s.Parties, s.Parties-1)
	}
	return nil
}

// Needed is the number of shares that add up to the whole.
func (s Shares) Needed() int { return s.Parties - s.Tolerance }

// Of returns the deviation of so many shares together, where sigma is that of the whole: a lower
// bound on what they are worth.
func (s Shares) Of(sigma float64, shares int) float64 {
	return sigma * math.Sqrt(float64(shares)/float64(s.Needed())) * (1 - 0x1p-50)
}

// Noise returns the noise of one share of a release that is a multiple of unit, sigma being the deviation
// of the whole. It refuses a unit that is coarse beside that.
func (s Shares) Noise(sigma, unit float64) (*GridNoise, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	share := sigma / math.Sqrt(float64(s.Needed())) * (1 + 0x1p-50)
	if !(share >= CoarsestShare*unit) {
		return nil, fmt.Errorf("privacy: a share of noise of deviation %.3g is too small for multiples of %.3g", share, unit)
	}
	return NewGridNoise(share, unit)
}

// CoarsestShare is the least deviation of a share in units: of variance r² beside r².
const CoarsestShare = 2
