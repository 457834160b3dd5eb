package plan

import "clipscope/core/privacy"

// Float is noise in floating point.
type Float struct{}

func init() { noises["float"] = Float{} }

// Discrete reports false.
func (Float) Discrete() bool { return false }

func (n Float) settleTerms(*Terms) (Noise, error) { return n, nil }

func (Float) ended(e privacy.Event, values int) privacy.Event {
	return privacy.FloatNoise{Of: e, Values: values}
}

func (Float) values(n int) int { return n }

func (Float) distance(int) float64 { return 0 }

func (n Float) exactly() Noise { return n }

func (Float) memory() footprint { return footprint{} }

func (Float) fixedReason() string { return "" }

func (Float) guarantee() string {
	return "Noise is floating-point: an attacker who sees the exact bits of a release may learn more than ε states."
}
