package run

// AttackRequest asks what an attacker can tell about one row after a run. The answer is an
// [Attack].
type AttackRequest struct {
	EpsilonRequest
}

// Attack bounds what an attacker can tell about one row from everything that was released.
// The attacker knows every other row, and gives even odds (50 %) to the row being in the
// data. Every figure is an upper bound, or says that it is a lower one. package privacy
// has the theorems.
type Attack struct {
	// Sure bounds how sure the attacker is afterwards, that the row was in or that it was
	// not, except for releases of probability Except at most.
	Sure   Number  `json:"posterior_at_most"`
	Except float64 `json:"except_with_probability"`
	// Right bounds how often the attacker's best guess, in or out, is right.
	Right Number `json:"right_at_most"`
	// HalfCosts bounds from below the share of rows that were not in which a test accuses
	// that finds half of those that were.
	HalfCosts Number `json:"false_positive_rate_at_half"`
	// A test that accuses the share FalsePositive[i] of rows that were not in finds at most
	// the share TruePositive[i] of those that were. Rates rise from 10⁻⁵ to 1.
	FalsePositive []Number `json:"false_positive_rate"`
	TruePositive  []Number `json:"true_positive_rate"`
}

// TruePositiveAt bounds the share of rows that a test finds which accuses the share rate of
// those that were not in: the figure at the least listed rate that is no smaller, or 1.
func (a *Attack) TruePositiveAt(rate float64) float64 {
	for i, f := range a.FalsePositive {
		if float64(f) >= rate*(1-1e-12) {
			return float64(a.TruePositive[i])
		}
	}
	return 1
}

// AllButCertain reports whether the bound on the posterior is so near 1 that it tells a reader
// nothing.
func (a *Attack) AllButCertain() bool { return a.Sure > 0.9999 }
